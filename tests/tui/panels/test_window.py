"""The window panel shows the record's cells, and says which came true."""

from __future__ import annotations

from lookahead_cli.decoding.records import WindowRecord
from lookahead_cli.tui.panels import WindowPanel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import load_theme
from lookahead_cli.tui.token_text import cell_width, visible
from tests.tui.panels.drawing import colours_of, decoded, drawn
from tests.tui.runs import settings


def window_of(view: RunView) -> WindowRecord:
    assert view.step is not None
    assert view.step.window is not None
    return view.step.window


def test_every_row_and_the_new_one_are_there_oldest_first():
    view = decoded(settings())
    lines = drawn(WindowPanel, view)
    assert [line[:4].strip() for line in lines[:5]] == ["", "r0", "r1", "r2", "new"]
    window = window_of(view)
    for row, line in zip((*window.rows, window.new), lines[1:5], strict=True):
        assert all(visible(view.token(token), 5).rstrip("…") in line for token in row if token is not None)


def test_cells_that_came_true_have_a_mark_and_the_current_token_has_none():
    view = decoded(settings())
    for index, step in enumerate(view.steps):
        view.look_at(index)
        assert step.window is not None
        true = sum(node is not None and step.nodes[node].matched for row in step.window.nodes for node in row)
        body = "".join(drawn(WindowPanel, view)[1:5])
        assert body.count("✓") == true - 1


def test_cells_that_the_text_proved_right_have_a_mark_once_it_is_there():
    view = decoded(settings())
    output = [token for step in view.steps for token in step.token_ids]
    marked = 0
    for index, step in enumerate(view.steps):
        view.look_at(index)
        window = window_of(view)
        expected = 0
        for row, tokens in enumerate((*window.rows, window.new)):
            for column, token in enumerate(tokens):
                place = step.emitted_before + row + column - 1
                node = window.nodes[row][column] if row < len(window.rows) else None
                used = node is not None and step.nodes[node].matched
                expected += not used and place < len(output) and token is not None and output[place] == token
        assert "".join(drawn(WindowPanel, view)[1:5]).count("○") == expected
        marked += expected
    assert marked
    live = decoded(settings())
    live.look_at(3)
    del live.output[live.steps[3].emitted_before :]
    assert "○" not in "".join(drawn(WindowPanel, live)[1:5])


def test_the_columns_whose_n_gram_is_new_are_marked():
    view = decoded(settings())
    for index, step in enumerate(view.steps):
        view.look_at(index)
        head = drawn(WindowPanel, view)[0]
        assert step.pool is not None
        changes = [change for change in step.pool.changes if change.column is not None]
        assert head.count("▾") == sum(change.event == "insert" for change in changes)
        assert head.count("↻") == sum(change.event == "refresh" for change in changes)


def test_collected_n_grams_are_spelled_out_where_there_is_room():
    view = decoded(settings())
    lines = drawn(WindowPanel, view, height=20)
    at = next(index for index, line in enumerate(lines) if line.startswith("n-grams collected"))
    window = window_of(view)
    first = [row[0] for row in window.rows] + [window.new[0]]
    assert all(visible(view.token(token)) in lines[at + 1] for token in first)
    assert not any("collected" in line for line in drawn(WindowPanel, view, height=5))


def test_each_row_has_the_colour_of_its_age_and_the_new_row_is_the_models_own():
    theme = load_theme("dark")
    view = decoded(settings(window=5, ngram=4))
    view.look_at(1)
    allowed = {theme.colour(role) for role in ("muted", "accent", "accepted")}
    for row, role in enumerate(("age_2", "age_1", "age_0", "bonus"), start=1):
        colours = colours_of(WindowPanel, view, row)
        assert theme.colour(role) in colours
        assert colours <= allowed | {theme.colour(role)}


def test_the_first_step_shows_which_cells_are_random():
    theme = load_theme("dark")
    view = decoded(settings(window=5, ngram=4))
    view.look_at(0)
    for row in (1, 2, 3):
        assert theme.colour("refilled") in colours_of(WindowPanel, view, row)


def test_columns_that_do_not_fit_are_counted():
    view = decoded(settings(window=15, ngram=5, guesses=15))
    lines = drawn(WindowPanel, view, width=76, height=6)
    assert "(+4)" in lines[0]
    assert all(cell_width(line) <= 76 for line in lines)


def test_rows_that_do_not_fit_are_counted_and_the_ends_are_kept():
    view = decoded(settings(window=3, ngram=12))
    lines = drawn(WindowPanel, view, height=6)
    assert len(lines) == 6
    assert [line[:4].strip() for line in (lines[1], lines[3], lines[4], lines[5])] == [
        "r0",
        "r9",
        "r10",
        "new",
    ]
    assert "8 more rows" in lines[2]


def test_a_window_of_one_column_and_one_row_is_shown():
    lines = drawn(WindowPanel, decoded(settings(window=1, ngram=2, guesses=0)))
    assert lines[1].startswith("r0")
    assert lines[2].startswith("new")


def test_greedy_decoding_has_no_window():
    assert drawn(WindowPanel, decoded(settings(method="greedy"))) == ["greedy decoding has no window"]


def test_before_the_first_step_it_says_so():
    assert drawn(WindowPanel, RunView()) == ["waiting for the first step"]
