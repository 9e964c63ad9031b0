"""The pool panel shows each candidate, how far it came, and why it went no further."""

from __future__ import annotations

import pytest

from lookahead_cli.tui.panels import PoolPanel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.token_text import cell_width, visible
from tests.tui.panels.drawing import decoded, drawn
from tests.tui.runs import settings


def steps_with_candidates(view: RunView) -> list[int]:
    return [index for index, step in enumerate(view.steps) if step.candidates]


def test_marks_say_how_far_each_candidate_came():
    view = decoded(settings(tokens=80))
    for index in steps_with_candidates(view):
        view.look_at(index)
        text = "\n".join(drawn(PoolPanel, view, height=30))
        assert view.step is not None
        for candidate in view.step.candidates:
            rest = len(candidate.tokens) - candidate.matched
            marks = "✓" * candidate.matched + ("✗" + "·" * (rest - 1) if rest else "")
            assert f"{marks}  " in text


@pytest.mark.parametrize("width", [54, 116])
def test_a_rejection_names_what_the_model_wanted_and_both_probabilities(width):
    view = decoded(settings(tokens=80))
    index = next(
        index
        for index in steps_with_candidates(view)
        if any(candidate.wanted is not None for candidate in view.steps[index].candidates)
    )
    view.look_at(index)
    assert view.step is not None
    text = "\n".join(drawn(PoolPanel, view, width=width, height=30))
    for candidate in view.step.candidates:
        if candidate.wanted is not None:
            got = visible(view.token(candidate.tokens[candidate.matched]))
            assert f"model wanted {visible(view.token(candidate.wanted))} (0.81), not {got} (0.02)" in text


def test_each_candidate_says_where_and_when_it_was_first_seen():
    view = decoded(settings(tokens=80))
    for index in steps_with_candidates(view):
        view.look_at(index)
        text = "\n".join(drawn(PoolPanel, view, width=116, height=30))
        assert view.step is not None
        for candidate in view.step.candidates:
            born = f", step {candidate.born + 1}" if candidate.born >= 0 else ""
            assert f"{candidate.source}{born}" in text


def test_the_best_candidate_comes_first():
    view = decoded(settings(tokens=80))
    index = max(steps_with_candidates(view), key=lambda at: max(c.matched for c in view.steps[at].candidates))
    view.look_at(index)
    assert view.step is not None
    best = max(candidate.matched for candidate in view.step.candidates)
    assert best > 0
    lines = drawn(PoolPanel, view, height=30)
    assert lines[1].startswith("✓" * best)
    assert f"best {'✓' * best}" in lines[0]


def test_the_last_line_counts_the_pool_and_its_hits():
    view = decoded(settings(tokens=80))
    assert view.step is not None
    assert view.step.pool is not None
    hits = sum(any(candidate.matched for candidate in step.candidates) for step in view.steps)
    last = drawn(PoolPanel, view)[-1]
    assert f"{view.step.pool.size} n-grams · {view.step.pool.keys} keys" in last
    assert f"hit {hits} of {len(view.steps)} steps" in last


@pytest.mark.parametrize("height", [1, 2, 3, 4, 5, 8, 14])
@pytest.mark.parametrize("width", [40, 54, 80, 116])
def test_it_keeps_to_its_size_and_always_shows_a_candidate_where_there_is_a_line_for_one(width, height):
    view = decoded(settings(window=7, ngram=5, guesses=15, tokens=80))
    for index in steps_with_candidates(view):
        view.look_at(index)
        lines = drawn(PoolPanel, view, width=width, height=height)
        assert len(lines) <= height
        assert all(cell_width(line) <= width for line in lines)
        assert lines[0].startswith("key ")
        if height >= 3:
            assert lines[1][0] in "✓✗"
        if width >= 80:
            assert f"hit {view.total.hits} of {index + 1} steps" in "\n".join(lines)


def test_candidates_that_do_not_fit_are_counted():
    view = decoded(settings(window=7, ngram=3, guesses=15, tokens=80))
    index = max(range(len(view.steps)), key=lambda at: len(view.steps[at].candidates))
    view.look_at(index)
    count = len(view.steps[index].candidates)
    assert count >= 4
    assert drawn(PoolPanel, view, width=80, height=4)[-1] == f"and {count - 2} more, none better"


def test_a_key_without_n_grams_says_so():
    view = decoded(settings(guesses=0))
    assert "no n-gram begins with it" in drawn(PoolPanel, view)[0]


def test_greedy_decoding_has_no_pool():
    assert drawn(PoolPanel, decoded(settings(method="greedy"))) == ["greedy decoding has no n-gram pool"]
