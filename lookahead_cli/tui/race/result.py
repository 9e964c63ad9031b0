"""What a race shows: ids compared, steps saved and time saved as two numbers, in figures and in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lookahead_cli.trace.words import counted, difference_meaning, number
from lookahead_cli.tui.run_view import RunView, Totals

_UNFINISHED = {"length", "context", "cancelled", "failed", "cut"}
# Settings that decide which token is drawn: lanes that differ in one of them need not say the same.
_DRAWING = (
    "temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "no_repeat_ngram_size",
)  # fmt: skip
_SAME_TIME = 0.03
"""Two times so close are called the same."""


@dataclass(frozen=True, slots=True)
class LaneResult:
    """A lane beside the lane that it is compared with.

    Attributes:
        name: The lane's method and settings.
        reference: Those of the lane that it is compared with.
        total: The lane's figures.
        reference_total: The other lane's figures.
        first_difference: Output position of the first differing id, None where there is none.
        expected: The other lane's token id there, None where its text ended before.
        got: The lane's token id there, None where its text ended before.
        top_two_gap: The logit gap between the other lane's first and second choice there, where it was read.
        compared: Ids that both lanes have.
        whole: True where the lanes have equally many ids.
        dtype: The number type.
        same_draws: False where the two were told to draw from other distributions.
    """

    name: str
    reference: str
    total: Totals
    reference_total: Totals
    first_difference: int | None
    expected: int | None
    got: int | None
    top_two_gap: float | None
    compared: int
    whole: bool
    dtype: str
    same_draws: bool

    @property
    def step_ratio(self) -> float:
        """The other lane's steps / these, of as many tokens."""
        other = self.reference_total
        return (other.steps / other.emitted) / (self.total.steps / self.total.emitted)

    @property
    def time_ratio(self) -> float | None:
        """The other lane's seconds / these, of as many tokens; above 1 is quicker, None is not measured."""
        other = self.reference_total
        if self.total.seconds <= 0 or other.seconds <= 0:
            return None
        return (other.seconds / other.emitted) / (self.total.seconds / self.total.emitted)

    @property
    def mismatch(self) -> bool:
        """True where ids differ that must be equal."""
        return self.first_difference is not None and self.same_draws and self.dtype == "float32"

    def ids_words(self, token: Callable[[int], str]) -> str:
        """Whether the ids are the other lane's, or where they first differ.

        Args:
            token: The visible text of a token id.
        """
        if self.first_difference is None:
            if self.whole:
                return f"ids equal to {self.reference}'s, every one"
            return f"ids equal to {self.reference}'s as far as both go, {counted(self.compared, 'token')}"
        expected, got = ("the end" if each is None else token(each) for each in (self.expected, self.got))
        words = f"ids differ first at output token {number(self.first_difference)}: "
        words += f"{self.reference} {expected}, here {got}"
        return words if self.top_two_gap is None else f"{words}, top two logits {self.top_two_gap:.2g} apart"

    def meaning(self) -> str:
        """What a difference of ids means, empty where there is none."""
        if self.first_difference is None:
            return ""
        if not self.same_draws:
            return "The lanes draw with other sampling settings, so their texts need not be equal."
        return difference_meaning(self.dtype)

    def ratio_words(self) -> str:
        """Steps and time against the other lane, two numbers."""
        time = "not measured" if self.time_ratio is None else f"{self.time_ratio:.2f}×"
        each = "" if self.whole else ", a token"
        return f"steps {self.step_ratio:.2f}× · time {time}{each}"

    def cost_words(self) -> str:
        """What the steps cost, in plain words."""
        ratio = self.time_ratio
        if ratio is None:
            return ""
        fewer = self.step_ratio > 1
        steps = "fewer steps" if fewer else "as many steps" if self.step_ratio == 1 else "more steps"
        nodes = self.total.nodes / self.total.steps
        others = self.reference_total.nodes / self.reference_total.steps
        beside = "one" if others == 1 else f"{others:.0f}"
        if abs(ratio - 1) <= _SAME_TIME:
            why = f"{nodes:.0f} nodes a step cost about as much as {beside} here"
            return f"{steps}, in about the same time: {why}"
        if ratio < 1:
            but = "but" if fewer else "and"
            why = f": {nodes:.0f} nodes a step cost more than {beside} here" if nodes > others else ""
            return f"{steps}, {but} {1 / ratio:.1f} times the time{why}"
        why = f": the {nodes:.0f} nodes of a step are worth their cost here" if fewer else ""
        return f"{steps}, {'and' if fewer else 'but'} {ratio:.2f} times as quick{why}"


def compare(name: str, view: RunView, reference: str, other: RunView) -> LaneResult | None:
    """A lane beside another one, both at their ends; None where one has no step or no end.

    Args:
        name: The lane's method and settings.
        view: The lane.
        reference: Those of the lane that it is compared with, in a word or two.
        other: The lane that it is compared with.
    """
    if view.footer is None or other.footer is None or view.header is None or other.header is None:
        return None
    if not view.totals or not other.totals:
        return None
    got, expected = view.footer.output_ids, other.footer.output_ids
    shorter = min(len(got), len(expected))
    position: int | None = next((at for at in range(shorter) if got[at] != expected[at]), None)
    if position is None and len(got) != len(expected):
        short = view.footer if len(got) < len(expected) else other.footer
        # A lane that was cut off has no end of its own to compare.
        position = None if short.finish_reason in _UNFINISHED else shorter
    at = position if position is not None else len(got) + len(expected)
    one, two = view.header.config, other.header.config
    drawn = (*_DRAWING, "seed") if one.get("temperature") else _DRAWING
    return LaneResult(
        name=name,
        reference=reference,
        total=view.totals[-1],
        reference_total=other.totals[-1],
        first_difference=position,
        expected=expected[at] if at < len(expected) else None,
        got=got[at] if at < len(got) else None,
        top_two_gap=None if position is None else _gap(other, position),
        compared=shorter,
        whole=len(got) == len(expected),
        dtype=view.header.dtype if view.header.dtype != "float32" else other.header.dtype,
        same_draws=all(one.get(setting) == two.get(setting) for setting in drawn),
    )


def _gap(view: RunView, position: int) -> float | None:
    """The logit gap between the first and the second choice at an output position, where it was read."""
    for step in view.steps:
        offset = position - step.emitted_before
        if 0 <= offset < len(step.accepted) and offset < len(step.path):
            detail = step.nodes[step.path[offset]].detail
            return None if detail is None else detail.logit_gap
    return None
