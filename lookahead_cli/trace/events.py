"""A run is a stream of events: one `Header`, a `StepEvent` a step, one `Footer`.

The running model, a recorded trace and a test all produce this same stream; the screen, the plain printer,
the JSON writer and the benchmark all consume it. Before the header a live run may yield `Progress`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lookahead_cli.decoding.records import FinishReason, Step


@dataclass(frozen=True, slots=True)
class TokenText:
    """How one token reads.

    Attributes:
        text: The token's text; `�` stands for bytes that are no character by themselves.
        data: The token's bytes, where they are not valid UTF-8 by themselves; None where `text` says all.
        special: True for a control token such as an end-of-sequence marker.
    """

    text: str
    data: bytes | None = None
    special: bool = False

    @property
    def raw(self) -> bytes:
        """The token's bytes in the output text."""
        return self.text.encode("utf-8", "surrogatepass") if self.data is None else self.data


@dataclass(frozen=True, slots=True)
class Progress:
    """Work that goes on before the first step.

    Attributes:
        label: What is being done, such as `fetching SmolLM2-135M-Instruct`.
        done: Amount done, in `unit`.
        total: Amount to do, None when it is not known.
        unit: `bytes`, `tokens`, `tensors`, ...
    """

    label: str
    done: float = 0.0
    total: float | None = None
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """What was run: everything that is known before the first step.

    Attributes:
        model: Name for people, such as `SmolLM2-135M-Instruct`.
        config: The settings: `method`, `window_size`, `ngram_size`, `guess_set_size`, `max_new_tokens`,
            `seed`, ...
        dtype: `float32`, `bfloat16` or `float16`.
        device: `cpu`, `cuda`, `mps`.
        prompt: The prompt as the model saw it, chat template included.
        prompt_ids: Its token ids.
        tokens: Text of each id in `prompt_ids`.
        prefill_seconds: Seconds to feed the prompt.
        ranks: Processes that decoded together.
        extra: Fields of a newer schema, kept as they are.
    """

    model: str
    config: Mapping[str, Any]
    dtype: str
    device: str
    prompt: str
    prompt_ids: tuple[int, ...]
    tokens: Mapping[int, TokenText]
    prefill_seconds: float = 0.0
    ranks: int = 1
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """Where it ran, such as `cpu`, or `cpu × 2` for two processes."""
        return self.device if self.ranks == 1 else f"{self.device} × {self.ranks}"


@dataclass(frozen=True, slots=True)
class StepEvent:
    """One step, with the text of each token id first seen in it."""

    step: Step
    tokens: Mapping[int, TokenText]
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GreedyRun:
    """A real greedy run on the same prompt.

    Attributes:
        steps: Decoding steps, one a token.
        seconds: Decode seconds, prefill apart.
        ids_equal: True when the ids are those of the run beside it.
        first_difference: Output position of the first differing id, None when equal.
        expected: Greedy's token id there.
        got: The run's token id there.
        top_two_gap: Greedy's logit gap between its first and second choice there.
    """

    steps: int
    seconds: float
    ids_equal: bool
    first_difference: int | None = None
    expected: int | None = None
    got: int | None = None
    top_two_gap: float | None = None


@dataclass(frozen=True, slots=True)
class Footer:
    """How the run ended.

    Attributes:
        output_ids: Every emitted id.
        text: The output text, without special tokens.
        steps: Decoding steps.
        compression_ratio: Emitted tokens / steps; 0.0 for a run without a step.
        seconds: Decode seconds (sum of the steps'), prefill apart.
        finish_reason: Why it ended; `cancelled` when a person stopped it, `failed` when one of its
            processes ended, `cut` where a trace has no end.
        greedy: The greedy run beside it, where one was asked for.
        tokens: Text of ids first seen here, such as greedy's at the first difference.
        extra: Fields of a newer schema, kept as they are.
    """

    output_ids: tuple[int, ...]
    text: str
    steps: int
    compression_ratio: float
    seconds: float
    finish_reason: FinishReason | Literal["cut"]
    greedy: GreedyRun | None = None
    tokens: Mapping[int, TokenText] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


Event = Progress | Header | StepEvent | Footer
