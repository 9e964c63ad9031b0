"""The n-gram pool: continuations seen so far, by their first token (section 3.2 of the paper).

Each key holds at most G n-grams in least-recently-used order; seeing one again moves it to the newest end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from lookahead_cli.decoding.records import NGramSource, PoolChange


@dataclass(frozen=True, slots=True)
class NGram:
    """A continuation in the pool.

    Attributes:
        tokens: The N-1 tokens after the key.
        source: Where it was last seen.
        born: Index of the step in which it was first seen, -1 for before step 0.
    """

    tokens: tuple[int, ...]
    source: NGramSource
    born: int


class NGramPool:
    """N-grams by first token, at most `guess_set_size` a key, oldest first.

    Args:
        ngram_size: N; every n-gram has this many tokens, its key included.
        guess_set_size: G; 0 keeps nothing.
    """

    def __init__(self, ngram_size: int, guess_set_size: int) -> None:
        self.ngram_size = ngram_size
        self.guess_set_size = guess_set_size
        self._by_key: dict[int, dict[tuple[int, ...], NGram]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def keys(self) -> int:
        """Distinct first tokens."""
        return len(self._by_key)

    def entries(self) -> Iterator[tuple[tuple[int, ...], NGramSource]]:
        """Every n-gram, all N tokens, with its source; those of one key oldest first."""
        for key, ngrams in self._by_key.items():
            for continuation, ngram in ngrams.items():
                yield (key, *continuation), ngram.source

    def start_run(self) -> None:
        """Count every n-gram as there before step 0, for a pool that outlives a run."""
        for ngrams in self._by_key.values():
            for continuation, ngram in ngrams.items():
                ngrams[continuation] = replace(ngram, born=-1)

    def candidates(self, key: int) -> list[NGram]:
        """The continuations of `key`, newest first."""
        return list(reversed(self._by_key.get(key, {}).values()))

    def insert(
        self, tokens: Sequence[int], source: NGramSource, step: int, column: int | None = None
    ) -> list[PoolChange]:
        """Put an n-gram at the newest end of its key, dropping the key's oldest where there are G already."""
        if self.guess_set_size == 0:
            return []
        key, continuation = tokens[0], tuple(tokens[1:])
        ngrams = self._by_key.setdefault(key, {})
        known = ngrams.pop(continuation, None)
        # Something the text really contained stays the stronger provenance than a guess of the window.
        kept_source = known.source if known is not None and source == "window" else source
        ngrams[continuation] = NGram(continuation, kept_source, step if known is None else known.born)
        if known is not None:
            return [PoolChange("refresh", tuple(tokens), source, column)]
        self._size += 1
        changes = [PoolChange("insert", tuple(tokens), source, column)]
        if len(ngrams) > self.guess_set_size:
            oldest = next(iter(ngrams))
            evicted = ngrams.pop(oldest)
            self._size -= 1
            changes.append(PoolChange("evict", (key, *oldest), evicted.source))
        return changes

    def insert_text(self, ids: Sequence[int], source: NGramSource, step: int = -1) -> list[PoolChange]:
        """Insert every n-gram of `ids`, in order."""
        return [
            change
            for start in range(len(ids) - self.ngram_size + 1)
            for change in self.insert(ids[start : start + self.ngram_size], source, step)
        ]

    def insert_all(
        self, ngrams: Iterable[tuple[int, Sequence[int]]], source: NGramSource, step: int
    ) -> list[PoolChange]:
        """Insert n-grams given as (column, tokens)."""
        return [change for column, tokens in ngrams for change in self.insert(tokens, source, step, column)]
