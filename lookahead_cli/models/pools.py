"""N-gram pools that live longer than a run: from text files, and on disk, tied to a tokenizer."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.records import NGramSource
from lookahead_cli.errors import InputError

if TYPE_CHECKING:
    from lookahead_cli.models.language_model import LanguageModel

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class PoolRequest:
    """Where a pool comes from, and where it goes.

    Attributes:
        texts: Texts whose n-grams go into it.
        file: A file that it is taken from, where there is one, and saved to.
    """

    texts: tuple[str, ...] = ()
    file: Path | None = None


def open_pool(model: LanguageModel, config: LookaheadConfig, request: PoolRequest) -> NGramPool | None:
    """The pool to begin with; None where nobody asked for one and the settings do without.

    A file's n-grams are all kept, more than G a key too: a step takes the newest G.

    Raises:
        InputError: The file is no pool, or one of another tokenizer or another N.
    """
    if request == PoolRequest() and not config.proposes_from_pool:
        return None
    stored: Sequence[tuple[list[int], NGramSource]] = ()
    if request.file is not None and request.file.exists():
        stored = _read(request.file, model, config.ngram_size)
    most = max(Counter(tokens[0] for tokens, _ in stored).values(), default=0)
    pool = NGramPool(config.ngram_size, max(config.guess_set_size, most))
    for tokens, source in stored:
        pool.insert(tokens, source, -1)
    for text in request.texts:
        pool.insert_text(model.encode(text, special_tokens=False), "file")
    return pool


def save_pool(model: LanguageModel, pool: NGramPool, path: Path) -> None:
    """Write a pool; the old file is replaced at once or not at all.

    Raises:
        InputError: The file cannot be written.
    """
    body = {
        "type": "lookahead-pool",
        "format": _FORMAT,
        "tokenizer": fingerprint(model.tokenizer),
        "ngram_size": pool.ngram_size,
        "ngrams": [[list(tokens), source] for tokens, source in pool.entries()],
    }
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(body, separators=(",", ":")), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise InputError(
            f"The pool '{path}' cannot be written ({error.strerror or error}).", "Choose another file."
        ) from error


def fingerprint(tokenizer: Any) -> str:
    """The same for two tokenizers exactly when they mean the same tokens by their ids."""
    vocabulary = sorted((token, text) for text, token in tokenizer.get_vocab().items())
    return hashlib.sha256(json.dumps(vocabulary).encode()).hexdigest()


def _read(path: Path, model: LanguageModel, ngram_size: int) -> Sequence[tuple[list[int], NGramSource]]:
    try:
        body = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"The pool '{path}' cannot be read ({error.strerror or error}).", "Check its permissions."
        ) from error
    except ValueError:
        body = None
    if not isinstance(body, dict) or body.get("type") != "lookahead-pool":
        raise InputError(f"'{path}' is no saved pool.", "For the n-grams of a text, use --pool-from.")
    if body.get("format") != _FORMAT:
        raise InputError(f"The pool '{path}' has another format.", "Update lookahead, or start a new file.")
    if body.get("tokenizer") != fingerprint(model.tokenizer):
        raise InputError(
            f"The pool '{path}' belongs to another tokenizer: its numbers mean other tokens here.",
            "Keep one pool file a model family.",
        )
    damaged = InputError(f"The pool '{path}' is damaged.", "Remove it: it is made anew.")
    stored = body.get("ngram_size")
    if not isinstance(stored, int) or stored < 2:
        raise damaged
    if stored != ngram_size:
        raise InputError(
            f"The pool '{path}' holds n-grams of {stored} tokens, and N is {ngram_size}.",
            f"Add -N {stored}, or start a new file.",
        )
    try:
        return [_entry(entry, ngram_size, words=model.vocabulary_size) for entry in body["ngrams"]]
    except (KeyError, TypeError, ValueError):
        raise damaged from None


def _entry(entry: Any, ngram_size: int, *, words: int) -> tuple[list[int], NGramSource]:
    tokens, source = entry
    if len(tokens) != ngram_size or source not in get_args(NGramSource):
        raise ValueError
    if not all(type(token) is int and 0 <= token < words for token in tokens):
        raise ValueError
    return tokens, source
