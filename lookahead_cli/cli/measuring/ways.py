"""Ways of decoding that can be measured: a method of ours with its settings, or a loop of transformers.

On both sides the clock of decoding starts when the first step's tokens are there: the first pass of
transformers reads the prompt as well, so the first token belongs to the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from lookahead_cli.cli.measuring.memory import forget_peak, peak_bytes
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.records import Choice
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.settings import settings_words

if TYPE_CHECKING:
    from lookahead_cli.models.language_model import LanguageModel
    from lookahead_cli.models.peers import PeerMethod

PHASES = ("propose", "forward", "readout", "verify", "commit")


@dataclass(frozen=True, slots=True)
class Run:
    """One prompt decoded once.

    Attributes:
        output_ids: Emitted ids.
        first_tokens: Of these, those of the first step.
        first_seconds: Seconds until they were there, the prompt read from its beginning.
        seconds: Seconds from there to the end.
        steps: Decoding steps: passes of the model.
        nodes: Tokens fed, over all steps, the prompt before its last token left out.
        phases: Seconds of all steps by phase, empty where nobody tells them.
        peak_bytes: Most memory during the run.
        details: The model's choice at each emitted token, None where nobody tells it.
    """

    output_ids: tuple[int, ...]
    first_tokens: int
    first_seconds: float
    seconds: float
    steps: int
    nodes: int
    phases: Mapping[str, float]
    peak_bytes: int
    details: tuple[Choice | None, ...] = ()

    @property
    def later_tokens(self) -> int:
        """Tokens emitted in `seconds`."""
        return len(self.output_ids) - self.first_tokens


class Way(Protocol):
    """A way of decoding."""

    @property
    def method(self) -> str:
        """Its name, such as `lookahead` or `transformers-greedy`."""

    @property
    def words(self) -> str:
        """Method and settings for people."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was set, as plain values."""

    def run(self, prompt_ids: Sequence[int], max_new_tokens: int) -> Run:
        """Decode one prompt."""


class Decoder(Protocol):
    """What a measurement needs from a language model."""

    device: str

    def run(
        self, prompt_ids: Sequence[int], config: LookaheadConfig, *, draft: Any = None
    ) -> Iterator[Header | StepEvent | Footer]:
        """Decode one prompt."""


@dataclass(frozen=True)
class OwnWay:
    """A method of ours.

    Attributes:
        model: The model.
        config: The settings.
        draft: The draft model, for method `draft`.
    """

    model: Decoder
    config: LookaheadConfig
    draft: Any = None

    @property
    def method(self) -> str:
        """Its name."""
        return self.config.method

    @property
    def words(self) -> str:
        """Method and settings for people."""
        return settings_words(self.config.as_mapping())

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was set, the method aside."""
        return {name: value for name, value in self.config.as_mapping().items() if name != "method"}

    def run(self, prompt_ids: Sequence[int], max_new_tokens: int) -> Run:
        """Decode one prompt, read from its beginning."""
        config = replace(self.config, max_new_tokens=max_new_tokens)
        draft = self.draft if config.method == "draft" else None
        for model in (self.model, draft):
            runner = getattr(model, "runner", None)
            if runner is not None:
                # What is left in the KV cache of the run before would save reading the prompt.
                runner.prefill(())
        forget_peak(self.model.device)
        nodes = 0
        phases = dict.fromkeys(PHASES, 0.0)
        details: list[Choice | None] = []
        first_seconds, first_tokens, header, footer = 0.0, 0, None, None
        for event in self.model.run(prompt_ids, config, draft=draft):
            if isinstance(event, StepEvent):
                step = event.step
                nodes += len(step.nodes)
                details += [step.nodes[node].detail for node in step.path]
                for phase in PHASES:
                    phases[phase] += getattr(step.seconds, phase)
                if step.index == 0:
                    first_seconds, first_tokens = step.seconds.total, len(step.accepted)
            elif isinstance(event, Header):
                header = event
            else:
                footer = event
        assert footer is not None, "a run ends with its footer"
        return Run(
            output_ids=footer.output_ids,
            first_tokens=first_tokens,
            first_seconds=first_seconds + (0.0 if header is None else header.prefill_seconds),
            seconds=footer.seconds - first_seconds,
            steps=footer.steps,
            nodes=nodes,
            phases=phases,
            peak_bytes=peak_bytes(self.model.device),
            details=tuple(details),
        )


@dataclass(frozen=True)
class PeerWay:
    """A loop of transformers on the same model.

    Attributes:
        model: The model.
        method: Which loop.
    """

    model: LanguageModel
    method: PeerMethod

    @property
    def words(self) -> str:
        """The loop for people."""
        looks_up = self.settings.get("prompt_lookup_num_tokens")
        return f"{self.method} {looks_up}" if looks_up else self.method

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was set."""
        from lookahead_cli.models.peers import LOOKUP_TOKENS

        lookup = {"prompt_lookup_num_tokens": LOOKUP_TOKENS}
        return {"do_sample": False, **(lookup if self.method == "transformers-prompt-lookup" else {})}

    def run(self, prompt_ids: Sequence[int], max_new_tokens: int) -> Run:
        """Decode one prompt."""
        from lookahead_cli.models.peers import run_peer

        forget_peak(self.model.device)
        run = run_peer(self.model, self.method, prompt_ids, max_new_tokens)
        return Run(
            output_ids=run.output_ids,
            first_tokens=run.first_tokens,
            first_seconds=run.first_seconds,
            seconds=run.seconds,
            steps=len(run.nodes),
            nodes=sum(run.nodes),
            phases={},
            peak_bytes=peak_bytes(self.model.device),
        )
