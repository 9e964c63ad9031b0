"""The lesson says what its recorded runs say, to the figure."""

from __future__ import annotations

import re

import pytest

from lookahead_cli.trace.reader import read_trace
from lookahead_cli.tui.theme import load_theme
from lookahead_cli.tui.token_text import cell_width
from lookahead_cli.tui.tour import steps
from lookahead_cli.tui.tour.lesson import STOPS, Stop
from lookahead_cli.tui.tour.traces import TRACES, TourRuns, open_trace, trace_file
from lookahead_cli.tui.wrapping import wrapped
from tests.tui.tour.recomputed import FIGURES, mask, trace

NAMES = [stop.name for stop in STOPS]


def looked_at(stop: Stop):
    view = TourRuns().view(stop.trace)
    stop.look(view)
    return view


@pytest.mark.parametrize("stop", STOPS, ids=NAMES)
def test_every_figure_is_the_one_in_the_trace(stop):
    view = looked_at(stop)
    run = trace(stop.trace)
    run.shown = view.shown
    said = dict(stop.figures(view))
    expected = mask(run, said) if stop.name == "Mask" else FIGURES[stop.name](run)
    assert said == expected
    assert set(re.findall(r"\{(\w+)\}", stop.text)) == set(said)


@pytest.mark.parametrize("stop", STOPS, ids=NAMES)
def test_no_figure_is_typed_into_a_text(stop):
    numbers = set(re.findall(r"\d+", re.sub(r"\{\w+\}", "", stop.text)))
    assert numbers <= {"0", "1"}


@pytest.mark.parametrize("stop", STOPS, ids=NAMES)
def test_a_text_is_as_long_as_a_stop_can_be_read(stop):
    words = "".join(text for text, _ in stop.parts(looked_at(stop))).split()
    assert 60 <= len(words) <= 112


@pytest.mark.parametrize("width", [36, 60, 76])
@pytest.mark.parametrize("stop", STOPS, ids=NAMES)
def test_a_wrapped_text_loses_no_word(stop, width):
    parts = stop.parts(looked_at(stop))
    lines = wrapped(parts, width, load_theme("dark").style)
    assert " ".join(map(str, lines)).split() == "".join(text for text, _ in parts).split()
    assert all(cell_width(str(line)) <= width for line in lines)


def test_the_stops_show_what_they_are_about():
    view = TourRuns().view("lookahead")
    by_name = {stop.name: stop for stop in STOPS}

    def step_of(name):
        by_name[name].look(view)
        return view.step

    hit = step_of("Hit")
    assert max(one.matched for one in hit.candidates) >= 3
    assert len(hit.accepted) == len(hit.path)
    miss = step_of("Miss")
    assert len(miss.accepted) == 1
    assert not any(one.matched for one in miss.candidates)
    bonus = step_of("Bonus")
    assert bonus.accepted[-1].origin is None
    assert len(bonus.path) > 2
    pool = step_of("Pool")
    assert steps.changes(pool, "evict")
    assert steps.collected(view) < steps.full_hit(view)
    assert view.steps[steps.collected(view)].window is not None


def test_there_are_as_many_stops_as_a_lesson_holds_and_no_two_are_called_alike():
    assert 10 <= len(STOPS) <= 15
    assert len(set(NAMES)) == len({stop.title for stop in STOPS}) == len(STOPS)


def test_the_recorded_runs_are_whole_small_and_in_float32():
    assert sum(trace_file(name).stat().st_size for name in TRACES) < 400_000
    for name in TRACES:
        with open_trace(name) as stream:
            header, *_, footer = read_trace(stream)
        assert header.dtype == "float32"
        assert footer.finish_reason == "length"


def test_one_run_is_slower_than_greedy_and_ids_are_equal():
    for name in ("lookahead", "costly"):
        greedy = TourRuns().view(name).footer.greedy
        assert greedy is not None
        assert greedy.ids_equal
    footer = TourRuns().view("costly").footer
    assert footer.compression_ratio > 1
    assert footer.greedy.seconds < footer.seconds
