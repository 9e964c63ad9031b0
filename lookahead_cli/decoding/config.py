"""The settings of one run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from math import isfinite
from numbers import Integral, Real
from typing import Any, Literal, get_args

from lookahead_cli.errors import UsageError

Method = Literal["greedy", "jacobi", "prompt-lookup", "lookahead", "lookahead-reference", "draft"]
Source = Literal["window", "prompt", "recycled"]
SOURCES: tuple[Source, ...] = get_args(Source)
_LOWEST_TEMPERATURE = 1e-5
_LOWEST_PENALTY = 1e-5


@dataclass(frozen=True, slots=True, kw_only=True)
class LookaheadConfig:
    """Settings of a run (Fu et al., arXiv 2402.02057, table 1 for the names).

    Attributes:
        method: Who proposes: `greedy` (nobody), `jacobi` (one chain, refined each step), `prompt-lookup`
            (what followed the last tokens earlier in the text), `lookahead` (window and n-gram pool),
            `lookahead-reference` (the published implementation's rules, to compare with), `draft` (a
            smaller model).
        window_size: W, columns of the 2D window: how far ahead is guessed. Length of the chain of `jacobi`,
            `prompt-lookup` and `draft`.
        ngram_size: N, length of an n-gram; the window has N-1 rows. Longest match of `prompt-lookup`.
        guess_set_size: G, most candidates verified in one step; 0 verifies window cells only.
        sources: Where `lookahead` takes guesses from: `window`, `prompt` (n-grams of the prompt and of the
            output), `recycled` (the likeliest tokens that earlier steps saw after each token).
        node_budget: Nodes of a step that `recycled` fills the tree up to.
        max_new_tokens: Most tokens emitted.
        seed: Seed of the draws, and of the random tokens that fill the window; those change S, never the
            output.
        temperature: 0.0 for the likeliest token, else draws from the logits divided by it.
        top_k: Draw from the k likeliest tokens; 0 for all.
        top_p: Draw from the smallest set of tokens with this probability; 1.0 for all.
        min_p: Least probability, as a share of the likeliest token's; 0.0 for none.
        typical_p: Locally typical sampling with this mass; 1.0 for all.
        repetition_penalty: Divides the logits of tokens that the text has; 1.0 for none.
        no_repeat_ngram_size: No n-gram of this size comes twice; 0 for no limit.
        stop: Strings that end the text; special tokens, such as an end-of-sequence marker, are no part of
            it.
        paper_strict: Verify nodes of the pool only, as the paper does; window cells are then never accepted.

    Raises:
        UsageError: A value that cannot work.
    """

    method: Method = "lookahead"
    window_size: int = 15
    ngram_size: int = 5
    guess_set_size: int = 15
    sources: tuple[Source, ...] = ("window", "prompt")
    node_budget: int = 32
    max_new_tokens: int = 256
    seed: int = 0
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    typical_p: float = 1.0
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    stop: tuple[str, ...] = ()
    paper_strict: bool = False

    def __post_init__(self) -> None:
        self._check_types()
        self._one_of("method", (self.method,), get_args(Method))
        self._at_least("window_size", "W", 1, "the window needs a column")
        self._at_least("ngram_size", "N", 2, "an n-gram is a key and at least one guess")
        self._at_least("guess_set_size", "G", 0, "use 0 for no pool candidates")
        self._at_least("node_budget", "node-budget", 1, "a step feeds at least the current token")
        self._at_least("max_new_tokens", "max-new-tokens", 1, "a run emits at least one token")
        self._at_least("temperature", "temperature", 0, "use 0 for the likeliest token")
        if 0.0 < self.temperature < _LOWEST_TEMPERATURE:
            raise UsageError(
                f"temperature = {self.temperature:g} is too low to divide logits by.",
                "Use 0 for the likeliest token.",
            )
        self._at_least("top_k", "top-k", 0, "use 0 for all tokens")
        self._at_least("no_repeat_ngram_size", "no-repeat-ngram", 0, "use 0 for no limit")
        self._one_of("source", self.sources, SOURCES)
        if self.method == "lookahead" and not self.sources:
            raise UsageError("Lookahead decoding without any source has no guesses.", "Use --method greedy.")
        for name, value, low in (("top-p", self.top_p, 0.0), ("typical-p", self.typical_p, 0.0)):
            if not low < value <= 1.0:
                raise UsageError(
                    f"{name} = {value:g} is no share.", "Give more than 0, and at most 1 for all."
                )
        if not 0.0 <= self.min_p <= 1.0:
            raise UsageError(f"min-p = {self.min_p:g} is no share.", "Give 0 for none, and at most 1.")
        if not _LOWEST_PENALTY <= self.repetition_penalty <= 1 / _LOWEST_PENALTY:
            raise UsageError(
                f"repetition-penalty = {self.repetition_penalty:g} cannot work.", "Give 1 for none, or more."
            )
        if "" in self.stop:
            raise UsageError("An empty stop string would end every text at once.", "Leave it out.")
        if any("\ud800" <= character <= "\udfff" for text in self.stop for character in text):
            raise UsageError("A stop string holds half a character, which no text has.", "Leave it out.")

    @property
    def samples(self) -> bool:
        """True where tokens are drawn."""
        return self.temperature > 0.0

    @property
    def proposes_from_pool(self) -> bool:
        """True where each step takes candidates from an n-gram pool, and keeps one for that."""
        if self.method == "lookahead":
            return "window" in self.sources or "recycled" not in self.sources
        return self.method == "lookahead-reference"

    @property
    def nodes_per_step(self) -> int:
        """Most nodes of a step."""
        match self.method:
            case "greedy":
                return 1
            case "jacobi" | "prompt-lookup" | "draft":
                return self.window_size + 1
            case _:
                recycled = self.node_budget if "recycled" in self.sources else 0
                if recycled and "window" not in self.sources:
                    return recycled
                return recycled + (self.ngram_size - 1) * (self.window_size + self.guess_set_size)

    def _check_types(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            said = f"{field.name.replace('_', '-')} = {value}"
            # Numbers and lists of any kind do, and become plain ones.
            if field.type == "int":
                if isinstance(value, bool) or not isinstance(value, Integral):
                    raise UsageError(f"{said} is no whole number.", "Give one such as 5.")
                object.__setattr__(self, field.name, int(value))
            elif field.type == "float":
                if not (isinstance(value, Real) and isfinite(value)):
                    raise UsageError(f"{said} is no finite number.", "Give one such as 0.7.")
                object.__setattr__(self, field.name, float(value))
            elif str(field.type).startswith("tuple"):
                listed = None if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
                if listed is None or not all(isinstance(one, str) for one in listed):
                    raise UsageError(f"{said} is no list of texts.", f"Give ({value!r},) for one.")
                object.__setattr__(self, field.name, listed)

    def _one_of(self, what: str, values: tuple[str, ...], known: tuple[str, ...]) -> None:
        for value in values:
            if value not in known:
                raise UsageError(
                    f"There is no {what} called '{value}'.", f"Choose one of {', '.join(known)}."
                )

    def _at_least(self, field: str, name: str, least: int, reason: str) -> None:
        value = getattr(self, field)
        if not value >= least:
            raise UsageError(f"{name} = {value:g} cannot work: {reason}.", f"Give {name} = {least} or more.")

    def as_mapping(self) -> Mapping[str, Any]:
        """The settings as plain values, for a trace's header."""
        plain = asdict(self)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}
