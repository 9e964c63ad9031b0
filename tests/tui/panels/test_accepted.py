"""The accepted panel shows the output, and which of it came free of charge."""

from __future__ import annotations

from lookahead_cli.tui.panels import AcceptedPanel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import load_theme
from tests.tui.panels.drawing import decoded, drawn
from tests.tui.runs import settings


def test_free_tokens_have_a_star_and_only_those():
    view = decoded(settings())
    text = "".join(drawn(AcceptedPanel, view, width=200, height=50))
    free = [token for step in view.steps for token in step.accepted[:-1]]
    # The first half of a split character says nothing by itself.
    whole = [token for token in free if token.token != 15]
    assert text.count("★") == len(whole) > 0


def test_each_step_has_a_ground_of_its_own():
    theme = load_theme("dark")
    view = decoded(settings())
    lines = AcceptedPanel(theme).lines(view, 200, 50)
    grounds = {
        segment.style.bgcolor.name
        for line in lines
        for segment in line.segments
        if segment.style is not None and segment.style.bgcolor is not None
    }
    assert grounds == {*theme.shades, theme.panel}


def test_a_new_run_starts_an_empty_output():
    panel = AcceptedPanel(load_theme("dark"))
    view = decoded(settings(tokens=40))
    first = panel.lines(view, 60, 20)
    again = decoded(settings(tokens=5))
    assert len(panel.lines(again, 60, 20)) < len(first)


def test_before_the_first_step_it_says_so():
    assert drawn(AcceptedPanel, RunView()) == ["waiting for the first step"]
