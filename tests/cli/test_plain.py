"""The plain printer tells a step's whole story, as text and within the terminal's width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.style import Style

from lookahead_cli.cli.plain import PlainPrinter
from lookahead_cli.decoding.records import (
    Accepted,
    Candidate,
    Node,
    Origin,
    PoolChange,
    PoolRecord,
    Seconds,
    Step,
    WindowRecord,
)
from lookahead_cli.trace.events import Footer, Header, StepEvent, TokenText

ROOT, WINDOW = Origin("root"), Origin("window", row=0, column=1)
POOL = Origin("pool", source="window", born=3)
TOKENS = {
    1: TokenText(" return"),
    2: TokenText(" a"),
    3: TokenText(" +"),
    4: TokenText(" b"),
    5: TokenText(" n"),
    6: TokenText("\x1b[2J[bold]\r\n"),
    7: TokenText("漢字"),
}
HEADER = Header(
    model="a-model\x1b[31m",
    config={"method": "lookahead", "window_size": 3, "ngram_size": 4, "guess_set_size": 5},
    dtype="float32",
    device="cpu",
    prompt="def f():\n\t\x1b[2J[red]return",
    prompt_ids=(1,),
    tokens=TOKENS,
    prefill_seconds=0.5,
)
STEP = Step(
    index=4,
    position=10,
    emitted_before=6,
    nodes=(
        Node(1, -1, 10, (ROOT,), choice=2, matched=True),
        Node(2, 0, 11, (POOL,), choice=3, matched=True),
        Node(3, 1, 12, (POOL,), choice=5, matched=True),
        Node(4, 2, 13, (POOL,), choice=1),
        Node(6, 0, 11, (WINDOW,), choice=1),
    ),
    path=(0, 1, 2),
    accepted=(Accepted(2, POOL, 0.9), Accepted(3, POOL, 0.8), Accepted(5, None, 0.81)),
    candidates=(
        Candidate(
            tokens=(2, 3, 4),
            nodes=(1, 2, 3),
            matched=2,
            source="window",
            born=3,
            wanted=5,
            wanted_probability=0.81,
            got_probability=0.02,
        ),
        Candidate(tokens=(2, 3, 5), nodes=(1, 2), matched=2, source="prompt", born=-1),
    ),
    window=WindowRecord(
        rows=((1, 6, 7), (2, 3, None), (4, 4, 4)),
        nodes=((0, 4, None), (1, 2, None), (None, None, None)),
        new=(5, 6, 7),
    ),
    pool=PoolRecord(size=12, keys=5, changes=(PoolChange("insert", (1, 2, 3, 4), "window", 0),)),
    merged=2,
    seconds=Seconds(forward=0.123),
)
FOOTER = Footer((2, 3, 5), "a + n\x9b2J", 5, 1.8, 1.5, "length")


def printed(*, compact: bool = False, colour: bool = False, width: int = 80) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        no_color=False,
    )
    printer = PlainPrinter(console, lambda role: Style(color="green"), compact=compact)
    for event in (HEADER, StepEvent(STEP, {}), FOOTER):
        printer.show(event)
    return stream.getvalue()


def test_a_rejection_says_what_the_model_wanted_instead() -> None:
    output = printed()
    assert "✓✓✗ ␣a ␣+ ␣b" in output
    assert "wanted ␣n (0.81), not ␣b (0.02)" in output
    assert "window, step 4" in output


def test_a_candidate_that_was_not_walked_to_its_end_is_not_called_rejected() -> None:
    line = next(line for line in printed().splitlines() if "prompt" in line and "␣a" in line)
    assert line.strip().startswith("✓✓·")
    assert "✗" not in line


def test_free_tokens_are_marked_by_a_glyph_and_the_models_own_is_not() -> None:
    assert "★␣a ★␣+ ␣n" in printed()


def test_the_window_shows_all_rows_and_the_new_one() -> None:
    output = printed()
    rows = [line.split()[0] for line in output.splitlines() if line.startswith("  r") or "  new" in line]
    assert rows == ["r0", "r1", "r2", "new"]
    assert "␣a✓" in output


def test_steps_count_towards_the_ratio_so_far() -> None:
    assert "1.80  (9 tokens in 5 steps)" in printed()
    assert "5 nodes, 2 saved by merging · 123 ms" in printed()


def test_the_last_line_names_the_compression_ratio() -> None:
    assert printed().splitlines()[-1].startswith("compression ratio S = 1.80")


@pytest.mark.parametrize("compact", [True, False])
def test_no_control_sequence_and_no_markup_of_the_texts_is_obeyed(compact: bool) -> None:
    output = printed(compact=compact)
    assert "[red]return" in output
    assert all(character.isprintable() or character == "\n" for character in output)


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_fit_the_width(width: int) -> None:
    from lookahead_cli.tui.token_text import cell_width

    assert max(cell_width(line) for line in printed(width=width).splitlines()) <= width


def test_colours_are_used_where_the_terminal_has_them() -> None:
    assert "\x1b[32m" in printed(colour=True)
    assert "\x1b" not in printed(colour=False)


def test_the_compact_form_is_one_line_a_step() -> None:
    lines = printed(compact=True).splitlines()
    assert [line for line in lines if "★␣a ★␣+ ␣n" in line] == ["   5  S 1.80     5 nodes  ★␣a ★␣+ ␣n"]
