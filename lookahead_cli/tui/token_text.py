"""Tokens as safe, visible text: what a model says is shown as text, never obeyed.

Whitespace is drawn (␣ ↵ ⇥), control characters are named, and widths are in terminal cells.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from wcwidth import wcswidth, wcwidth

from lookahead_cli.trace.events import TokenText

_DRAWN = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍", "\x1b": "␛", "\x7f": "␡"}
# Format characters that turn or hide the text around them; joiners between emoji are harmless and stay.
_KEPT_FORMATS = {"\u200d", "\ufe0f", "\ufe0e"}


def _drawn(character: str) -> str:
    if character in _DRAWN:
        return _DRAWN[character]
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    kind = unicodedata.category(character)
    if kind in {"Cc", "Cs", "Zl", "Zp"} or (kind == "Cf" and character not in _KEPT_FORMATS):
        return f"\\u{code:04x}"
    return "·" if kind == "Zs" else character


def visible_text(text: str) -> str:
    """`text` with whitespace drawn and control characters named."""
    return "".join(map(_drawn, text))


def cell_width(text: str) -> int:
    """Width of a text in terminal cells."""
    width = wcswidth(text)
    return width if width >= 0 else sum(max(0, wcwidth(character)) for character in text)


def truncate(text: str, width: int) -> str:
    """`text` in at most `width` cells, with … where something was cut."""
    if cell_width(text) <= width:
        return text
    kept = ""
    for character in text:
        if cell_width(kept + character) > width - 1:
            break
        kept += character
    return kept + "…" if width > 0 else ""


def visible(token: TokenText | None, width: int | None = None) -> str:
    """One token as visible text; bytes that are no character by themselves as <E2><80>."""
    if token is None:
        text = "·"
    elif token.data is not None:
        text = "".join(f"<{byte:02X}>" for byte in token.data)
    else:
        text = visible_text(token.text)
    # A mark that combines with the letter before needs something to stand on.
    if text and cell_width(text[0]) == 0:
        text = "◌" + text
    return text if width is None else truncate(text, width)


def plain_text(text: str) -> str:
    """`text` with its line breaks and spaces kept, and every other control character named."""
    return "".join(
        character if character in " \n" else "    " if character == "\t" else _drawn(character)
        for character in text
    )


def join_tokens(tokens: Sequence[TokenText]) -> list[str]:
    """The text of each token, where bytes split over tokens are joined.

    A character whose bytes lie in several tokens is given to the last of them; bytes that never become a
    character read as �.
    """
    pieces: list[str] = []
    pending = b""
    for token in tokens:
        raw = pending + token.raw
        try:
            text, pending = raw.decode("utf-8"), b""
        except UnicodeDecodeError as error:
            complete = error.reason != "unexpected end of data"
            text = (
                raw.decode("utf-8", "replace") if complete else raw[: error.start].decode("utf-8", "replace")
            )
            pending = b"" if complete else raw[error.start :]
        pieces.append(text)
    if pending and pieces:
        pieces[-1] += "\ufffd"
    return pieces


def text_of(tokens: Iterable[TokenText]) -> str:
    """The output text of tokens, without special ones."""
    return "".join(join_tokens([token for token in tokens if not token.special]))
