"""A live run as a source of events: loads the model where the events are asked for, then decodes."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lookahead_cli.cli.prompts import Prompt, PromptStyle, encode
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Everything that was asked for on the command line, checked as far as it can be without a model.

    Attributes:
        model: Alias, hub id, folder or `.gguf` file.
        device: `auto`, `cpu`, `cuda`, `mps`.
        dtype: `auto`, `float32`, `bfloat16`, `float16`.
        prompt: The prompt.
        style: How the prompt is fed.
        config: The settings.
        greedy: True to run real greedy decoding beside it.
        record: Trace file to write while decoding, None for none.
    """

    model: str
    device: str
    dtype: str
    prompt: Prompt
    style: PromptStyle
    config: LookaheadConfig
    greedy: bool = False
    record: Path | None = None


def settle_memory() -> None:
    """Leave what was loaded out of later garbage collections: torch and transformers are many objects.

    Without this, collections take longer than drawing the screen does.
    """
    gc.collect()
    gc.freeze()


class LiveSource:
    """A `RunSource` that loads a model and decodes one prompt with it.

    Everything heavy happens inside `events`, in the thread that iterates over it.

    Attributes:
        recorded: False; the next step is computed when it is asked for.
        warnings: Sentences for the person once the screen is free, such as a recording that stopped.
    """

    recorded = False

    def __init__(self, request: RunRequest) -> None:
        self.request = request
        self.warnings: list[str] = []

    @property
    def title(self) -> str:
        """What is run, as known before the model is loaded."""
        return f"{self.request.model} · {self.request.prompt.name}"

    def events(
        self, cancel: threading.Event, report: Callable[[Progress], None]
    ) -> Iterator[Header | StepEvent | Footer]:
        """Load, prefill and decode.

        Args:
            cancel: Set from another thread to stop within one step.
            report: Called with the progress of loading, prefilling and the greedy run.

        Yields:
            The header, a step event a step, the footer.

        Raises:
            LookaheadError: The model cannot be used, or the prompt does not fit it.
        """
        report(Progress("importing torch and transformers"))
        from lookahead_cli.models.language_model import load_model
        from lookahead_cli.trace.writer import record

        request = self.request
        model = load_model(
            request.model,
            device=request.device,
            dtype=request.dtype,
            prefer="float32",
            config=request.config,
            on_progress=report,
        )
        settle_memory()
        prompt_ids = encode(model, request.prompt, request.style)
        run = model.run(prompt_ids, request.config, greedy=request.greedy, cancel=cancel, on_progress=report)
        yield from run if request.record is None else record(run, request.record, self._recording_stopped)

    def _recording_stopped(self, error: OSError) -> None:
        reason = error.strerror or str(error)
        self.warnings.append(f"Recording to '{self.request.record}' stopped ({reason}); decoding went on.")
