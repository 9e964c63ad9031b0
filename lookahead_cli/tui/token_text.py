"""Tokens as safe, visible text: what a model says is shown as text, never obeyed.

Whitespace is drawn (␣ ↵ ⇥), control characters are named, and widths are in terminal cells. Nothing here
needs textual.
"""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from wcwidth import wcswidth, wcwidth

from lookahead_cli.trace.events import TokenText

SPACE, LINE_BREAK, TAB = "␣", "↵", "⇥"
ELLIPSIS = "…"
_DRAWN = {" ": SPACE, "\n": LINE_BREAK, "\t": TAB, "\r": "␍", "\x7f": "␡", "\u00a0": "⍽"}
# Terminals disagree on the width of what these join or change, and agree on the parts: joiners, variation
# selectors, skin tones, and letters that make a flag in pairs.
_JOINERS = {"\u200c", "\u200d", "\ufe0e", "\ufe0f", *map(chr, range(0x1F3FB, 0x1F400))}
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_CIRCLED_A = 0x24B6
# Invisible although their category is that of a letter or a mark.
_FILLERS = {"\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u3164", "\uffa0"}


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _is_unsafe(character: str) -> bool:
    """True for what steers a terminal, turns the text around it, or cannot be seen."""
    kind = unicodedata.category(character)
    return kind in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} or character in _FILLERS


def _drawn(character: str) -> str:
    if " " < character < "\x7f":
        return character
    drawn = _DRAWN.get(character)
    if drawn is not None:
        return drawn
    if character < " ":
        return chr(0x2400 + ord(character))
    if ord(character) in _FLAG_LETTERS:
        return chr(_CIRCLED_A + ord(character) - _FLAG_LETTERS.start)
    if "\udc80" <= character <= "\udcff":
        return f"<{ord(character) - 0xDC00:02X}>"
    if _is_unsafe(character) or unicodedata.category(character) == "Zs":
        return _escaped(character)
    return character


@lru_cache(maxsize=16384)
def visible_text(text: str) -> str:
    """`text` with whitespace drawn and control characters named.

    Joined emoji are shown as their parts, and flags as circled letters, so that every terminal gives them the
    same width. A mark that combines with a letter before it gets a circle to stand on where there is none.
    """
    if text.isascii() and text.isprintable():
        return text.replace(" ", SPACE)
    joined = "".join(character for character in text if character not in _JOINERS) or text
    drawn = "".join(_escaped(c) if c in _JOINERS else _drawn(c) for c in joined)
    return "◌" + drawn if drawn and wcwidth(drawn[0]) == 0 else drawn


@lru_cache(maxsize=16384)
def cell_width(text: str) -> int:
    """Width of a text in terminal cells."""
    if text.isascii() and text.isprintable():
        return len(text)
    width = wcswidth(text)
    return width if width >= 0 else sum(max(0, wcwidth(character)) for character in text)


def _clusters(text: str) -> Iterator[str]:
    """Characters with the marks that stand on them."""
    cluster = ""
    for character in text:
        if cluster and (wcwidth(character) == 0 or cell_width(cluster + character) <= cell_width(cluster)):
            cluster += character
        else:
            if cluster:
                yield cluster
            cluster = character
    if cluster:
        yield cluster


def take_cells(text: str, width: int) -> tuple[str, str]:
    """The longest beginning of `text` that fits `width` cells, and the rest."""
    if cell_width(text) <= width:
        return text, ""
    kept = ""
    for cluster in _clusters(text):
        if cell_width(kept + cluster) > width:
            break
        kept += cluster
    return kept, text[len(kept) :]


def truncate(text: str, width: int) -> str:
    """`text` in at most `width` cells, with … where something was cut."""
    if cell_width(text) <= width:
        return text
    return take_cells(text, width - 1)[0] + ELLIPSIS if width > 0 else ""


def truncate_middle(text: str, width: int) -> str:
    """`text` in at most `width` cells, with … where its middle was cut."""
    if cell_width(text) <= width or width < 4:
        return truncate(text, width)
    head, _ = take_cells(text, width // 2 - 1)
    tail = ""
    for cluster in reversed(list(_clusters(text))):
        if cell_width(cluster + tail) > width - cell_width(head) - 1:
            break
        tail = cluster + tail
    return head + ELLIPSIS + tail


@lru_cache(maxsize=16384)
def visible(token: TokenText | None, width: int | None = None) -> str:
    """One token as visible text, in at most `width` cells.

    Bytes that are no character by themselves read as <E2><80>; no token at all as ·.
    """
    if token is None:
        text = "·"
    elif token.data is not None:
        text = visible_text(token.data.decode("utf-8", "surrogateescape"))
    else:
        text = visible_text(token.text)
    if width is None or cell_width(text) <= width:
        return text
    # Special tokens begin alike, <|im_start|> and <|im_end|>: their ends tell them apart.
    return truncate_middle(text, width) if token is not None and token.special else truncate(text, width)


def visible_bytes(data: bytes) -> str:
    """Bytes that are no character, such as <E2><80>."""
    return "".join(f"<{byte:02X}>" for byte in data)


def plain_text(text: str) -> str:
    """`text` with its line breaks and spaces kept, and every other control character named."""
    return "".join(
        character
        if character in " \n\u00a0" or character in _JOINERS
        else "    "
        if character == "\t"
        else _drawn(character)
        for character in text
    )


def screen_text(text: str) -> str:
    """The same for a screen, where what stands beside it must not move.

    Joined emoji are shown as their parts, and flags as circled letters; the joiners of letters stay.
    """
    if text.isascii():
        return plain_text(text)
    kept: list[str] = []
    before = ""
    for character in text:
        joins_letters = character in "\u200c\u200d" and unicodedata.category(before or " ")[0] in "LM"
        if character not in _JOINERS or joins_letters:
            kept.append(_drawn(character) if ord(character) in _FLAG_LETTERS else character)
        before = character
    return plain_text("".join(kept))


class ByteJoiner:
    """Puts characters together whose bytes are split over tokens, token by token."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def add(self, token: TokenText) -> str:
        """The text that is complete with this token; bytes that can never be a character read as �."""
        return self._decoder.decode(token.raw)

    @property
    def pending(self) -> bytes:
        """Bytes of a character that is not complete yet."""
        return self._decoder.getstate()[0]

    def finish(self) -> str:
        """What is left at the end: � for an incomplete character."""
        return self._decoder.decode(b"", True)


def join_tokens(tokens: Sequence[TokenText]) -> list[str]:
    """The text of each token, where bytes split over tokens are joined.

    A character whose bytes lie in several tokens is given to the last of them; bytes that never become a
    character read as �.
    """
    joiner = ByteJoiner()
    pieces = [joiner.add(token) for token in tokens]
    if pieces:
        pieces[-1] += joiner.finish()
    return pieces


def text_of(tokens: Iterable[TokenText], overrun: int = 0) -> str:
    """The output text of tokens, without special ones, and without the last `overrun` bytes."""
    text = "".join(join_tokens([token for token in tokens if not token.special]))
    return text.encode()[:-overrun].decode(errors="ignore") if overrun else text
