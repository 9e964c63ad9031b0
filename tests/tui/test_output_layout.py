"""The output in lines: complete, in width, and at every step what it was then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.cells import cell_len

from lookahead_cli.decoding.records import Accepted, Node, Origin, Step
from lookahead_cli.trace.events import StepEvent, TokenText
from lookahead_cli.tui.output_layout import OutputLayout
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import load_theme
from lookahead_cli.tui.token_text import visible
from tests.tui.runs import PROMPT_IDS, VOCABULARY, header, run_events, settings

GUESS = Origin("pool", source="prompt", born=-1)


def view_of(*steps: list[str | bytes], prompt_ids: tuple[int, ...] = ()) -> RunView:
    """A run that emitted these tokens; all but each step's last were guessed."""
    view = RunView()
    view.take(replace(header(settings()), prompt_ids=prompt_ids))
    ids = iter(range(1000, 2000))
    emitted = 0
    for index, texts in enumerate(steps):
        tokens = {
            next(ids): TokenText("�", text) if isinstance(text, bytes) else TokenText(text) for text in texts
        }
        accepted = tuple(
            Accepted(token, None if place == len(texts) - 1 else GUESS) for place, token in enumerate(tokens)
        )
        root = Node(0, -1, 9, (Origin("root"),), 0)
        view.take(StepEvent(Step(index, 9 + emitted, emitted, (root,), (0,), accepted), tokens))
        emitted += len(texts)
    return view


def drawn(view: RunView, shown: int, width: int = 40, height: int = 10) -> list[str]:
    layout = OutputLayout(load_theme("dark"), width)
    layout.extend(view)
    return [str(line) for line in layout.lines(shown, height)]


def test_line_breaks_are_seen_and_break_the_line():
    view = view_of(["def", " f():"], ["\n    "], ["return"])
    assert drawn(view, 2) == ["★def␣f():↵", "␣␣␣␣return"]


def test_each_step_is_shown_as_it_was_then():
    view = view_of(["a", "\n", "b"], [" c"], ["\n\n", " d"])
    assert drawn(view, 0) == ["★a★↵", "b"]
    assert drawn(view, 1) == ["★a★↵", "b␣c"]
    assert drawn(view, 2) == ["★a★↵", "b␣c★↵", "↵", "␣d"]
    assert drawn(view, -1) == [""]
    assert drawn(view, 3) == []


def test_the_output_stands_behind_the_dimmed_end_of_its_prompt():
    view = view_of(["a"], ["b"], prompt_ids=PROMPT_IDS)
    prompt = drawn(view, -1)[0]
    assert prompt == "".join(visible(VOCABULARY[token]) for token in PROMPT_IDS)
    assert drawn(view, 1) == [f"{prompt}ab"]
    layout = OutputLayout(load_theme("dark"), 40)
    layout.extend(view)
    *before, own = layout.lines(0, 9)[0].segments
    assert (own.text, own.style.underline) == ("a", True)
    assert not any(segment.style.underline for segment in before)


def test_a_character_split_over_tokens_is_bytes_until_it_is_complete():
    smile = "🙂".encode()
    view = view_of(["a"], [smile[:2]], [smile[2:]], ["b"])
    assert drawn(view, 1) == ["a<F0><9F>"]
    assert drawn(view, 2) == ["a🙂"]
    assert drawn(view, 3) == ["a🙂b"]


@pytest.mark.parametrize("width", [1, 2, 3, 7, 20])
def test_no_line_is_wider_than_the_panel_and_nothing_is_lost(width):
    view = view_of(["日本語", "x" * 30], ["e\u0301", " word"], ["\u0301"], ["🙂🙂"], ["[bold]"])
    lines = drawn(view, 4, width=width, height=1000)
    assert all(cell_len(line) <= width for line in lines)
    if width > 1:
        assert "".join(lines) == "★日本語" + "x" * 30 + "★e\u0301␣word◌\u0301🙂🙂[bold]"


def test_only_the_last_lines_are_drawn():
    view = view_of(*([f"{index}\n"] for index in range(100)))
    assert drawn(view, 99, height=4) == ["97↵", "98↵", "99↵", ""]


def test_the_tokens_of_the_step_looked_at_are_underlined():
    view = view_of(["a"], ["b", "\n", "c"], ["d"])
    layout = OutputLayout(load_theme("dark"), 40)
    layout.extend(view)
    marked = [
        segment.text for line in layout.lines(1, 9) for segment in line.segments if segment.style.underline
    ]
    assert "".join(marked) == "★b★↵c"


def test_a_layout_that_grows_step_by_step_is_the_one_made_at_once():
    events = list(run_events(settings(tokens=80)))
    view, layout = RunView(), OutputLayout(load_theme("dark"), 30)
    for event in events:
        view.take(event)
        layout.extend(view)
    whole = OutputLayout(load_theme("dark"), 30)
    whole.extend(view)
    for shown in range(len(view.steps)):
        assert list(map(str, layout.lines(shown, 8))) == list(map(str, whole.lines(shown, 8)))
