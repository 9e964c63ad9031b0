"""The settings of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from lookahead_cli.errors import UsageError

Method = Literal["greedy", "lookahead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookaheadConfig:
    """Settings of a run (Fu et al., arXiv 2402.02057, table 1 for the names).

    Attributes:
        method: Who proposes: `greedy` (nobody) or `lookahead`.
        window_size: W, columns of the 2D window: how far ahead is guessed.
        ngram_size: N, length of an n-gram; the window has N-1 rows.
        guess_set_size: G, most candidates verified in one step; 0 verifies window cells only.
        max_new_tokens: Most tokens emitted.
        seed: Seed of the random tokens that fill the window. It changes S, never the output.
        temperature: 0.0 for greedy choices.
        paper_strict: Verify nodes of the pool only, as the paper does; window cells are then never accepted.

    Raises:
        UsageError: A value that cannot work.
    """

    method: Method = "lookahead"
    window_size: int = 15
    ngram_size: int = 5
    guess_set_size: int = 15
    max_new_tokens: int = 256
    seed: int = 0
    temperature: float = 0.0
    paper_strict: bool = False

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise UsageError(
                f"There is no method called '{self.method}'.", f"Choose one of {', '.join(get_args(Method))}."
            )
        self._at_least("window_size", "W", 1, "the window needs a column")
        self._at_least("ngram_size", "N", 2, "an n-gram is a key and at least one guess")
        self._at_least("guess_set_size", "G", 0, "use 0 for no pool candidates")
        self._at_least("max_new_tokens", "max-new-tokens", 1, "a run emits at least one token")
        if self.temperature != 0.0:
            raise UsageError(
                f"Sampling (temperature {self.temperature:g}) is not there yet.",
                "Leave the temperature at 0: decoding is greedy and exact.",
            )

    def _at_least(self, field: str, name: str, least: int, reason: str) -> None:
        value = getattr(self, field)
        if value < least:
            raise UsageError(f"{name} = {value} cannot work: {reason}.", f"Give {name} = {least} or more.")

    def as_mapping(self) -> Mapping[str, Any]:
        """The settings as plain values, for a trace's header."""
        return asdict(self)
