"""What a race shows: ids compared, and steps and time as two numbers in plain words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lookahead_cli.decoding.records import Choice, Seconds
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.tui.race.result import LaneResult, compare
from lookahead_cli.tui.run_view import RunView
from tests.tui.runs import VOCABULARY, Language, run_events, settings


def lane(
    method: str = "lookahead",
    *,
    seconds: float = 1.0,
    tokens: int = 40,
    dtype: str = "float32",
    **more: object,
) -> RunView:
    """A whole run whose steps took `seconds` each."""
    view = RunView()
    sizes = {name: more.pop(name) for name in ("temperature", "seed") if name in more}
    for event in run_events(settings(method=method, tokens=tokens, **sizes), **more):
        if isinstance(event, StepEvent):
            event = replace(event, step=replace(event.step, seconds=Seconds(forward=seconds)))
        elif isinstance(event, Header):
            event = replace(event, dtype=dtype)
        view.take(event)
    return view


def beside_greedy(view: RunView, greedy: RunView | None = None) -> LaneResult:
    result = compare("lookahead", view, "greedy", greedy or lane("greedy"))
    assert result is not None
    return result


def named(token: int) -> str:
    return VOCABULARY[token].text


def test_equal_ids_are_said_and_steps_and_time_are_two_numbers():
    view = lane(seconds=4.0)
    result = beside_greedy(view)
    steps = len(view.steps)
    assert result.ids_words(named) == "ids equal to greedy's, every one"
    assert result.meaning() == ""
    assert result.step_ratio == pytest.approx(40 / steps)
    assert result.time_ratio == pytest.approx(40 / (4 * steps))
    assert result.ratio_words() == f"steps {40 / steps:.2f}× · time {40 / (4 * steps):.2f}×"


@pytest.mark.parametrize(
    ("times", "said"),
    [
        (2.0, "fewer steps, but 2.0 times the time: {nodes:.0f} nodes a step cost more than one here"),
        (1.0, "fewer steps, in about the same time: {nodes:.0f} nodes a step cost about as much as one here"),
        (
            0.5,
            "fewer steps, and 2.00 times as quick: the {nodes:.0f} nodes of a step are worth their cost here",
        ),
    ],
)
def test_what_the_steps_cost_is_said_in_plain_words(times, said):
    greedy = lane("greedy", seconds=1.0)
    steps = len(lane().steps)
    view = lane(seconds=times * 40 / steps)
    nodes = sum(len(step.nodes) for step in view.steps) / steps
    assert beside_greedy(view, greedy).cost_words() == said.format(nodes=nodes)


def test_nothing_is_said_of_time_that_was_not_measured():
    result = beside_greedy(lane(seconds=0.0))
    assert result.time_ratio is None
    assert "not measured" in result.ratio_words()
    assert result.cost_words() == ""


def test_the_first_difference_is_named_with_both_tokens_and_the_gap():
    greedy, view = lane("greedy"), lane(language=Language((0, 1, 2, 3, 4, 5)))
    ids, others = greedy.footer.output_ids, view.footer.output_ids
    at = next(at for at in range(40) if ids[at] != others[at])
    result = beside_greedy(view, greedy)
    gap = Choice(0.81, 0, 0.1).logit_gap
    words = f"ids differ first at output token {at + 1}: greedy {named(ids[at])}, here {named(others[at])}"
    assert result.ids_words(named) == f"{words}, top two logits {gap:.2g} apart"
    assert "In float32 ids must be equal" in result.meaning()
    assert result.mismatch


def test_in_16_bits_a_difference_is_explained_and_is_no_fault():
    view = lane(language=Language((0, 1, 2, 3, 4, 5)), dtype="bfloat16")
    result = beside_greedy(view, lane("greedy", dtype="bfloat16"))
    assert "In bfloat16 products of different widths round differently" in result.meaning()
    assert not result.mismatch


def test_lanes_that_draw_otherwise_need_not_be_equal():
    view = lane(language=Language((0, 1, 2, 3)), temperature=0.7, seed=1)
    result = beside_greedy(view, lane("greedy", temperature=0.7, seed=2))
    assert "other sampling settings" in result.meaning()
    assert not result.mismatch


def test_a_lane_that_was_cut_is_compared_as_far_as_both_go():
    result = beside_greedy(lane(tokens=30))
    assert result.ids_words(named) == "ids equal to greedy's as far as both go, 30 tokens"
    assert result.ratio_words().endswith(", a token")
    assert result.step_ratio == pytest.approx(30 / len(lane(tokens=30).steps))


def test_a_lane_that_ended_by_itself_and_sooner_differs_there():
    greedy, view = lane("greedy"), lane(tokens=30)
    assert isinstance(view.footer, Footer)
    view.footer = replace(view.footer, finish_reason="eos")
    result = beside_greedy(view, greedy)
    assert result.first_difference == 30
    assert "here the end" in result.ids_words(named)


def test_a_lane_without_an_end_is_not_compared():
    assert compare("lookahead", RunView(), "greedy", lane("greedy")) is None
