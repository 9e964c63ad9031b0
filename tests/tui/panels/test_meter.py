"""The meter keeps steps saved and time saved apart."""

from __future__ import annotations

import pytest

from lookahead_cli.trace.events import GreedyRun, Progress
from lookahead_cli.tui.panels import MeterPanel
from lookahead_cli.tui.panels.meter import digit_rows
from lookahead_cli.tui.token_text import cell_width
from tests.tui.panels.drawing import decoded, drawn
from tests.tui.runs import settings

EQUAL = GreedyRun(steps=40, seconds=3.0, ids_equal=True)
DIFFERENT = GreedyRun(
    steps=40, seconds=1.0, ids_equal=False, first_difference=12, expected=0, got=1, top_two_gap=0.0123
)


def test_the_ratio_is_in_large_digits_beside_its_tokens_and_steps():
    view = decoded(settings())
    lines = drawn(MeterPanel, view, width=54, height=15)
    for line, digits in zip(lines, digit_rows(f"{view.total.compression_ratio:.2f}×"), strict=False):
        assert line.startswith(digits)
    assert f"{view.total.emitted} tokens in {view.total.steps} steps" in lines[0]
    assert f"greedy takes {view.total.emitted} steps" in lines[1]


@pytest.mark.parametrize("size", [(54, 15), (80, 3)])
def test_a_time_ratio_is_shown_only_where_greedy_was_run(size):
    assert "measured" not in "\n".join(drawn(MeterPanel, decoded(settings()), *size))
    text = "\n".join(drawn(MeterPanel, decoded(settings(), greedy=EQUAL), *size))
    assert "time 1.50× (measured)" in text
    assert "equal to greedy's, every one" in text


def test_the_first_difference_is_named():
    text = "\n".join(drawn(MeterPanel, decoded(settings(), greedy=DIFFERENT), 60, 15))
    assert "time 0.50× (measured)" in text
    assert "✗ differ first at output token 13" in text
    assert "greedy ␣the, here ␣fox, top two logits 0.012 apart" in text


def test_the_past_has_no_time_ratio():
    view = decoded(settings(), greedy=EQUAL)
    view.look_at(0)
    assert "measured" not in "\n".join(drawn(MeterPanel, view, 54, 15))


def test_the_histogram_counts_steps_by_their_tokens():
    view = decoded(settings(tokens=80))
    lines = drawn(MeterPanel, view, width=54, height=20)
    start = next(index for index, line in enumerate(lines) if line.startswith("1 token "))
    counts = [line.split() for line in lines[start : start + len(view.total.histogram)]]
    assert [int(parts[0]) for parts in counts] == list(range(1, len(counts) + 1))
    assert [int(parts[-2]) for parts in counts] == list(view.total.histogram)
    assert all(
        "█" in "".join(parts) for parts, count in zip(counts, view.total.histogram, strict=True) if count
    )


def test_nodes_merging_and_phases_are_named():
    view = decoded(settings(tokens=80))
    index = next(index for index, step in enumerate(view.steps) if step.merged)
    view.look_at(index)
    text = "\n".join(drawn(MeterPanel, view, width=54, height=15))
    assert f"now {len(view.steps[index].nodes)}, {view.steps[index].merged} merged" in text
    assert all(phase in text for phase in ("forward", "read-out", "propose", "verify", "commit"))


def test_who_guessed_the_free_tokens_is_credited():
    view = decoded(settings(tokens=80))
    text = "\n".join(drawn(MeterPanel, view, width=54, height=15))
    assert all(f"{who} {count}" in text for who, count in view.total.credits.items())


def test_greedy_running_beside_it_is_shown():
    view = decoded(settings())
    view.footer = None
    view.take(Progress("greedy, to compare", 12, 40))
    assert "greedy, to compare 12 of 40" in "\n".join(drawn(MeterPanel, view, 54, 15))
    assert "greedy, to compare 12 of 40" in "\n".join(drawn(MeterPanel, view, 80, 3))


@pytest.mark.parametrize("height", [1, 2, 3, 7, 8, 11, 15, 30])
@pytest.mark.parametrize("width", [30, 54, 80])
def test_it_keeps_to_its_size(width, height):
    for greedy in (None, EQUAL, DIFFERENT):
        view = decoded(settings(window=7, ngram=7, tokens=80), greedy=greedy)
        lines = drawn(MeterPanel, view, width=width, height=height)
        assert all(cell_width(line) <= width for line in lines)
        assert "×" in "\n".join(lines[:3])
        if height < 8:
            assert len(lines) <= height
