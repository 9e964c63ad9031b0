"""Tokens of every kind on a real terminal: each is shown as text, and moves nothing that stands beside it."""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.events import Header, TokenText
from lookahead_cli.trace.writer import record
from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.theme import load_theme
from tests.terminal import Terminal
from tests.tiny import save_tiny_model
from tests.tui.pilots import at_end, press
from tests.tui.runs import Language, run_events, settings
from tests.tui.snapshots.picture import cells_of

# What a model says, and how it reads on the screen; the last two are the bytes of one character.
KINDS = (
    (" 日本語", "␣日本語"),
    ("👨\u200d👩\u200d👧", "👨👩👧"),
    ("👍🏽", "👍"),
    ("🇩🇪", "ⒹⒺ"),
    ("❤\ufe0f", "❤"),
    (" שלום", "␣שלום"),
    ("مرحبا", "مرحبا"),
    ("e\u0301o\u0308", "éö"),
    ("\u0301", "◌\u0301"),
    ("\t", "⇥"),
    ("\n", "↵"),
    ("\x1b[31m", "␛[31m"),
    ("\x07\x00", "␇␀"),
    ("\u202e\u200b", "\\u202e\\u200b"),
    ("[bold]", "[bold]"),
)
SPLIT = (b"\xf0\x9f", b"\x99\x82")


def vocabulary() -> dict[int, TokenText]:
    whole = [TokenText(said) for said, _ in KINDS]
    return dict(enumerate([*whole, *(TokenText("\ufffd", data) for data in SPLIT)]))


class InOrder(Language):
    """Says one kind after another, and the two halves of a character behind each other."""

    def next(self, context: Sequence[int]) -> int:
        before, last = context[-2:]
        is_in_order = last == before + 1 or last == len(KINDS)
        return last + 1 if is_in_order and last <= len(KINDS) else super().next(context)


@pytest.fixture(scope="module")
def trace(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("kinds") / "trace.jsonl"
    events = run_events(settings(window=4, ngram=4, guesses=4, tokens=60), language=InOrder())
    told = (replace(each, tokens=vocabulary()) if isinstance(each, Header) else each for each in events)
    for _ in record(told, path, lambda error: None):
        pass
    return path


def program(columns: int, lines: int, *arguments: str, **environment: str) -> Terminal:
    said = {**os.environ, "TERM": "xterm-256color", "OMP_NUM_THREADS": "1", **environment}
    return Terminal([sys.executable, "-m", "lookahead_cli", *arguments], columns, lines, said)


def rows_of(terminal: Terminal) -> list[list[str]]:
    """What each cell of the terminal says; the second one of a wide character says nothing."""
    return [[cell.data for cell in row] for row in terminal.cells]


def composed(rows: list[list[str]]) -> list[list[str]]:
    """A terminal puts a letter and its mark into one character, where there is one."""
    return [[unicodedata.normalize("NFC", cell) for cell in row] for row in rows]


async def what_stands_where(trace: Path, size: tuple[int, int], count: int) -> list[list[list[str]]]:
    """The cells of the first steps as the program means them; the key bar is the terminal's last line."""
    app = VisualizeApp(TraceSource(trace, trace.name), load_theme("dark"), speed=math.inf)
    screens = []
    async with app.run_test(size=size) as pilot:
        await at_end(pilot)
        await press(pilot, "home")
        for _ in range(count):
            screens.append([[text for text, _ in row] for row in cells_of(app)])
            await press(pilot, "right")
    return screens


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_every_kind_is_where_it_belongs_in_window_pool_and_output(trace, size):
    meant = await what_stands_where(trace, size, 20)
    terminal = program(*size, "replay", str(trace), "--speed", "1000")
    terminal.read_until(lambda text: "token limit · recorded" in text)
    terminal.press("\x1b[H")
    seen = ""
    for screen in map(composed, meant):
        terminal.read_until(
            lambda text, screen=screen: composed(rows_of(terminal))[:-1] == screen[:-1], seconds=20
        )
        seen += "\n".join("".join(row) for row in screen)
        terminal.press("\x1b[C")
    drawn = [unicodedata.normalize("NFC", drawn) for _, drawn in KINDS]
    assert [each for each in drawn if each not in seen] == []
    # The output has the character itself, the window its bytes.
    assert "🙂" in seen
    assert "<F0><9F>" in seen
    terminal.press("q")
    assert terminal.exit_code() == 0


def test_every_kind_is_where_it_belongs_in_a_conversation(tmp_path):
    said = " ".join(text.strip("\n\t") for text, _ in KINDS)
    session = SessionStore(tmp_path / "data").create("tiny", name="kinds")
    session.ask(f"{said} asked")
    session.answer("tiny").finish(
        f"{said}\n\n- 日本 [bold] 👨\u200d👩 end\n", (5,), "eos", Figures(4, 2, 0.5)
    )
    session.close()
    folder = save_tiny_model(tmp_path / "model")
    arguments = ("chat", "--model", str(folder), "--dtype", "float32", "--session", "kinds")
    terminal = program(120, 36, *arguments, LOOKAHEAD_DATA=str(tmp_path / "data"))
    shown = [drawn.strip("␣") for said, drawn in KINDS if said.strip() and said != "\u0301"]
    terminal.read_until(
        lambda text: (
            "model · float32 · cpu" in text
            and "4 tokens in 2 steps" in text
            and all(text.count(unicodedata.normalize("NFC", each)) >= 2 for each in shown)
        ),
        seconds=60,
    )
    text = terminal.text
    rows = rows_of(terminal)
    border = next(row.index("╭") for row in rows if "╭" in row)
    beside = "".join(row[border] for row in rows[1:-3])
    assert set(beside) <= set("╭│╰"), text
    assert {row[119] for row in rows[1:-3]} <= set("╮│╯"), text
    terminal.press("\x11")
    assert terminal.exit_code() == 0
