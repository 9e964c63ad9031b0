"""How each token reads: its text, and its bytes where it is a part of a character."""

from __future__ import annotations

import json
from functools import cached_property, lru_cache
from typing import Any

from lookahead_cli.trace.events import TokenText


@lru_cache(maxsize=1)
def _byte_of_symbol() -> dict[str, int]:
    """The byte that each symbol of a byte-level vocabulary stands for (GPT-2's published table)."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    table.update({chr(256 + offset): byte for offset, byte in enumerate(others)})
    return table


class TokenTexts:
    """Text of single tokens of a tokenizer, remembered.

    Args:
        tokenizer: A transformers tokenizer.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._special = frozenset(tokenizer.all_special_ids)
        added = getattr(tokenizer, "added_tokens_decoder", {})
        self._added = {int(token): str(entry.content) for token, entry in added.items()}
        self._special |= {int(token) for token, entry in added.items() if entry.special}
        self._kind = self._decoder_kind()
        self._known: dict[int, TokenText] = {}

    def _decoder_kind(self) -> str:
        """`bytes` for byte-level vocabularies, `pieces` for ▁ and <0xNN> ones, `decode` for any other."""
        backend = getattr(self._tokenizer, "backend_tokenizer", None)
        if backend is None:
            return "decode"
        decoder = json.dumps(json.loads(backend.to_str()).get("decoder"))
        if '"ByteLevel"' in decoder:
            return "bytes"
        if '"ByteFallback"' in decoder or '"Metaspace"' in decoder or "\\u2581" in decoder:
            return "pieces"
        return "decode"

    def __call__(self, token: int) -> TokenText:
        """How `token` reads."""
        known = self._known.get(token)
        if known is None:
            known = self._known[token] = self._read(token)
        return known

    def _read(self, token: int) -> TokenText:
        special = token in self._special
        if token in self._added:
            return TokenText(self._added[token], special=special)
        piece = self._tokenizer.convert_ids_to_tokens(token)
        if piece is None:
            return TokenText(f"<{token}>", special=True)
        if self._kind == "bytes":
            table = _byte_of_symbol()
            if all(symbol in table for symbol in piece):
                return _from_bytes(bytes(table[symbol] for symbol in piece), special)
        elif self._kind == "pieces":
            if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
                return _from_bytes(bytes([int(piece[3:5], 16)]), special)
            return TokenText(piece.replace("\u2581", " "), special=special)
        return TokenText(self._behind_a_word(token), special=special)

    def _behind_a_word(self, token: int) -> str:
        """What a token adds to a text: decoders such as WordPiece's set words apart by what stands before."""
        before = self._decode([self._word])
        both = self._decode([self._word, token])
        return both.removeprefix(before) if both.startswith(before) else self._decode([token])

    def _decode(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode(ids, clean_up_tokenization_spaces=False))

    @cached_property
    def _word(self) -> int:
        """Some token that is a word by itself."""
        vocabulary: dict[str, int] = self._tokenizer.get_vocab()
        words = (token for text, token in vocabulary.items() if text.isalpha() and token not in self._added)
        return min(words, default=0)


def _from_bytes(data: bytes, special: bool) -> TokenText:
    try:
        return TokenText(data.decode("utf-8"), special=special)
    except UnicodeDecodeError:
        return TokenText(data.decode("utf-8", errors="replace"), data, special)
