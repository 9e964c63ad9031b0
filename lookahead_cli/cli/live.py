"""A live run as a source of events: loads the model where the events are asked for, then decodes."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.cli.prompts import Prompt, PromptStyle, encode
from lookahead_cli.cli.torchrun import under_torchrun
from lookahead_cli.decoding.config import LookaheadConfig, Method
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent

if TYPE_CHECKING:
    from lookahead_cli.models.language_model import LanguageModel
    from lookahead_cli.models.parallel.ranks import Ranks
    from lookahead_cli.models.pools import PoolRequest
    from lookahead_cli.tui.source import Rival


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Everything that was asked for on the command line, checked as far as it can be without a model.

    Attributes:
        model: Which model, and where.
        prompt: The prompt.
        style: How the prompt is fed.
        config: The settings.
        pools: N-grams that are there before the first step.
        greedy: True to run real greedy decoding beside it.
        record: Trace file to write while decoding, None for none.
        race_with: Methods that race beside it, besides greedy.
    """

    model: ModelOptions
    prompt: Prompt
    style: PromptStyle
    config: LookaheadConfig
    pools: PoolRequest
    greedy: bool = False
    record: Path | None = None
    race_with: tuple[Method, ...] = ()


def rival_configs(config: LookaheadConfig, race_with: Sequence[Method]) -> list[LookaheadConfig]:
    """The settings of a run's rivals: greedy first, the run's own method never.

    A greedy run without others races lookahead decoding.

    Raises:
        UsageError: Settings that cannot work with one of the methods.
    """
    asked: tuple[Method, ...] = ("greedy", *race_with)
    methods = [method for method in dict.fromkeys(asked) if method != config.method] or ["lookahead"]
    return [replace(config, method=method) for method in methods]


def load_models(
    options: ModelOptions,
    prefer: Literal["float32", "bfloat16"],
    config: LookaheadConfig,
    report: Callable[[Progress], None],
    ranks: Ranks | None = None,
) -> tuple[LanguageModel, LanguageModel | None]:
    """The model, and the draft model where one was asked for.

    Args:
        options: Which model, and where.
        prefer: What `--dtype auto` means on a CPU that has both.
        config: Settings of the runs to come.
        report: Told what is being done.
        ranks: Processes of an earlier model, which load this one too; None to start those that were asked
            for.

    Raises:
        ModelError: One cannot be found, fetched, read, or decoded exactly.
        MemoryLimitError: One does not fit.
    """
    from lookahead_cli.models.language_model import load_model

    if ranks is None:
        ranks = _ranks(options, report)
    loaded = [
        load_model(
            spec,
            device=options.device,
            dtype=options.dtype,
            prefer=prefer,
            compile_layers=options.compile,
            config=config,
            ranks=ranks,
            on_progress=report,
        )
        for spec in (options.spec, options.draft_model)
        if spec is not None
    ]
    settle_memory()
    return loaded[0], loaded[1] if len(loaded) > 1 else None


def _ranks(options: ModelOptions, report: Callable[[Progress], None]) -> Ranks | None:
    """The processes that decode together: those of torchrun, or as many as were asked for."""
    if under_torchrun():
        from lookahead_cli.models.parallel.workers import join_torchrun

        return join_torchrun()
    if options.parallel == 1:
        return None
    from lookahead_cli.models.parallel.workers import start_ranks

    return start_ranks(options.parallel, report)


def settle_memory() -> None:
    """Leave what was loaded out of later garbage collections: torch and transformers are many objects.

    Without this, collections take longer than drawing the screen does. What was left out before and is of no
    use any more, such as a model in whose place another one came, is given back.
    """
    gc.unfreeze()
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
        self._models: tuple[LanguageModel, LanguageModel | None] | None = None
        self._runs = 0

    @property
    def title(self) -> str:
        """What is run, as known before the model is loaded."""
        return f"{self.request.model.spec} · {self.request.prompt.name}"

    @property
    def config(self) -> LookaheadConfig:
        """The settings of the next run."""
        return self.request.config

    def change(self, config: LookaheadConfig) -> None:
        """Take settings for the next run."""
        self.request = replace(self.request, config=config)

    def rivals(self) -> Sequence[Rival]:
        """Greedy decoding and the other methods that were asked for, with the settings of this run."""
        from lookahead_cli.trace.settings import settings_words
        from lookahead_cli.tui.source import Rival

        return [
            Rival(config.method, settings_words(config.as_mapping()), _Lane(self, config), _essence(config))
            for config in rival_configs(self.request.config, self.request.race_with)
        ]

    @property
    def _record(self) -> Path | None:
        """Where this run is recorded: the second one into `run-2.jsonl`, so that none is lost."""
        path = self.request.record
        if path is None or self._runs < 2:
            return path
        return path.with_stem(f"{path.stem}-{self._runs}")

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
        self._runs += 1
        report(Progress("importing torch and transformers"))
        from lookahead_cli.models.pools import open_pool, save_pool
        from lookahead_cli.trace.writer import record

        request = self.request
        model, draft = self._loaded(request.config, report)
        prompt_ids = encode(model, request.prompt, request.style)
        pool = open_pool(model, request.config, request.pools)
        run = model.run(
            prompt_ids,
            request.config,
            greedy=request.greedy,
            pool=pool,
            draft=draft,
            cancel=cancel,
            on_progress=report,
        )
        file = self._record
        yield from run if file is None else record(run, file, self._recording_stopped)
        if pool is not None and request.pools.file is not None:
            save_pool(model, pool, request.pools.file)

    def lane(
        self,
        config: LookaheadConfig,
        cancel: threading.Event,
        report: Callable[[Progress], None],
    ) -> Iterator[Header | StepEvent | Footer]:
        """The same prompt on the model that is loaded; nothing is recorded, and no pool is saved.

        Raises:
            LookaheadError: The model cannot be used, or the prompt does not fit it.
        """
        from lookahead_cli.models.pools import PoolRequest, open_pool

        request = self.request
        model, draft = self._loaded(config, report)
        return model.run(
            encode(model, request.prompt, request.style),
            config,
            # Without the file: by now it may hold the n-grams of the run itself.
            pool=open_pool(model, config, PoolRequest(texts=request.pools.texts)),
            draft=draft if config.method == "draft" else None,
            cancel=cancel,
            on_progress=report,
        )

    def _loaded(
        self, config: LookaheadConfig, report: Callable[[Progress], None]
    ) -> tuple[LanguageModel, LanguageModel | None]:
        if self._models is None:
            self._models = load_models(self.request.model, "float32", config, report)
            remark = self._models[0].remark
            self.warnings += [] if remark is None else [remark]
        return self._models

    def _recording_stopped(self, error: OSError) -> None:
        reason = error.strerror or str(error)
        self.warnings.append(f"Recording to '{self._record}' stopped ({reason}); decoding went on.")


class _Lane:
    """A rival of a live run, on its model."""

    def __init__(self, source: LiveSource, config: LookaheadConfig) -> None:
        self._source = source
        self._config = config

    def events(
        self, cancel: threading.Event, report: Callable[[Progress], None]
    ) -> Iterator[Header | StepEvent | Footer]:
        """The rival's run."""
        return self._source.lane(self._config, cancel, report)


def _essence(config: LookaheadConfig) -> LookaheadConfig:
    """The settings without those that the method does not look at, so that they tell equal runs."""
    if config.method != "greedy":
        return config
    return replace(config, window_size=1, ngram_size=2, guess_set_size=0, sources=(), node_budget=1)
