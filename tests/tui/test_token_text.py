"""Token text: visible, harmless, and as wide as it says."""

from __future__ import annotations

import random
import unicodedata

import pytest

from lookahead_cli.trace.events import TokenText
from lookahead_cli.tui.token_text import (
    ByteJoiner,
    cell_width,
    join_tokens,
    plain_text,
    screen_text,
    take_cells,
    text_of,
    truncate,
    visible,
    visible_text,
)

NASTY = (
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\r\n",
    "\t\x00\x7f\x85",
    "\u202eright to left\u202c",
    "\u2028\u2029\ufeff\u200b\u2060",
    "\U000e0041\U000e007f",
    "\ud800",
    "\udcff",
    "שלום",
    "مرحبا",
    "日本語テキスト",
    "e\u0301\u0301\u0301",
    "\u0301",
    "👨\u200d👩\u200d👧",
    "👍🏽",
    "❤\ufe0f",
    "🇩🇪",
    "नमस्ते",
    "[bold]not bold[/bold]",
    "\u115f\u3164",
    "\u00a0\u2003\u3000",
    "﷽",
)


def is_harmless(text: str) -> bool:
    return all(unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in text)


def random_texts() -> list[str]:
    made = random.Random(7)
    ranges = (
        *((0, 0x7F), (0x80, 0x3FF), (0x590, 0x6FF), (0x900, 0x97F), (0x2000, 0x2BFF), (0x4E00, 0x4EFF)),
        *((0xD7F0, 0xE010), (0xFE00, 0xFEFF), (0x1F1E6, 0x1F1FF), (0x1F300, 0x1F9FF), (0xE0000, 0xE01EF)),
    )
    texts = []
    for _ in range(400):
        parts = [made.choice(ranges) for _ in range(made.randint(1, 8))]
        texts.append("".join(chr(made.randint(*part)) for part in parts))
    return texts


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        (" return", "␣return"),
        ("\n    ", "↵␣␣␣␣"),
        ("\t", "⇥"),
        ("\x1b[31m", "␛[31m"),
        ("\r\x00\x7f", "␍␀␡"),
        ("\x9b", "\\u009b"),
        ("\u202e", "\\u202e"),
        ("\ud800", "\\ud800"),
        ("[bold]", "[bold]"),
        ("\u0301", "◌\u0301"),
        ("e\u0301", "e\u0301"),
        ("日本", "日本"),
        ("\u00a0", "⍽"),
        ("\u200d", "\\u200d"),
        ("👨\u200d👩", "👨👩"),
        ("❤\ufe0f", "❤"),
        ("👍🏽", "👍"),
        ("🏽", "\\U0001f3fd"),
        ("🇩🇪", "ⒹⒺ"),
        ("", ""),
    ],
)
def test_a_text_is_drawn_as_what_it_is(text, drawn):
    assert visible_text(text) == drawn


@pytest.mark.parametrize("texts", [NASTY, random_texts()], ids=["nasty", "random"])
def test_nothing_that_steers_a_terminal_comes_through(texts):
    for text in texts:
        assert is_harmless(visible_text(text)), text
        assert is_harmless(visible(TokenText(text), 7)), text
        # Joiners shape the letters beside them, as prose needs it.
        assert is_harmless(plain_text(text).translate({0x0A: "", 0x200C: "", 0x200D: ""})), text


@pytest.mark.parametrize("texts", [NASTY, random_texts()], ids=["nasty", "random"])
@pytest.mark.parametrize("width", [0, 1, 2, 3, 5, 8])
def test_a_truncated_text_fits_and_says_that_it_was_cut(texts, width):
    for text in texts:
        drawn = visible_text(text)
        cut = truncate(drawn, width)
        assert cell_width(cut) <= width, text
        if cell_width(drawn) > width > 0:
            assert cut.endswith("…"), text
        else:
            assert cut == drawn or width == 0


@pytest.mark.parametrize("text", NASTY)
def test_taken_cells_and_the_rest_are_the_whole_text(text):
    drawn = visible_text(text)
    for width in range(12):
        kept, rest = take_cells(drawn, width)
        assert kept + rest == drawn
        assert cell_width(kept) <= width


def test_a_mark_stays_with_the_letter_it_stands_on():
    assert take_cells("ae\u0301o", 2) == ("ae\u0301", "o")


def test_bytes_that_are_no_character_are_shown_as_bytes():
    assert visible(TokenText("��", b"\xf0\x9f")) == "<F0><9F>"
    assert visible(TokenText("a�", b"a\xe2")) == "a<E2>"


def test_no_token_is_a_dot():
    assert visible(None) == "·"


def test_bytes_split_over_tokens_become_their_character():
    smile = "🙂".encode()
    tokens = [
        TokenText("hi "),
        TokenText("�", smile[:1]),
        TokenText("�", smile[1:3]),
        TokenText("�", smile[3:]),
    ]
    assert join_tokens(tokens) == ["hi ", "", "", "🙂"]
    assert text_of(tokens) == "hi 🙂"


def test_bytes_that_never_become_a_character_are_replaced():
    assert join_tokens([TokenText("�", b"\xf0\x9f"), TokenText("a")]) == ["", "�a"]
    assert join_tokens([TokenText("�", b"\xe2\x82")]) == ["�"]
    assert join_tokens([]) == []


def test_a_joiner_knows_which_bytes_are_pending():
    joiner = ByteJoiner()
    assert joiner.add(TokenText("�", b"\xe2\x82")) == ""
    assert joiner.pending == b"\xe2\x82"
    assert joiner.add(TokenText("�", b"\xac")) == "€"
    assert joiner.pending == b""


@pytest.mark.parametrize("cut", range(1, 12))
def test_any_cut_of_a_text_into_two_tokens_joins_to_the_text(cut):
    text = "a€🙂é漢"
    raw = text.encode()
    tokens = [TokenText("", raw[:cut]), TokenText("", raw[cut:])]
    assert "".join(join_tokens(tokens)) == text


def test_special_tokens_are_no_output_text():
    assert text_of([TokenText("a"), TokenText("<|im_end|>", special=True)]) == "a"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a 👨\u200d👩\u200d👧 b\n\tc", "a 👨👩👧 b\n    c"),
        ("❤\ufe0f 👍🏽 🇩🇪", "❤ 👍 ⒹⒺ"),
        ("می\u200cخواهم क्\u200dष", "می\u200cخواهم क्\u200dष"),
        ("\u200d\x1b[31m", "␛[31m"),
    ],
)
def test_a_screen_keeps_the_joiners_of_letters_and_shows_emoji_as_their_parts(text, shown):
    assert screen_text(text) == shown


def test_plain_text_keeps_lines_and_spaces():
    assert plain_text("a b\n\tc\x1b") == "a b\n    c␛"


@pytest.mark.parametrize("width", [5, 8, 10])
def test_special_tokens_that_begin_alike_are_told_apart(width):
    start, end = (
        visible(TokenText(text, special=True), width) for text in ("<|im_start|>", "<|im_end|>" + "x")
    )
    assert start != end
    assert max(cell_width(start), cell_width(end)) <= width
