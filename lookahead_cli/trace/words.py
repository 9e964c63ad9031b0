"""What every view says in the same words: how a run ended, where an n-gram is from, how ids may differ."""

from __future__ import annotations

from lookahead_cli.decoding.records import Candidate
from lookahead_cli.trace.events import Progress

_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))

ENDINGS = {
    "eos": "ended by the model",
    "stop": "stop string reached",
    "length": "token limit",
    "context": "context full",
    "cancelled": "stopped",
    "failed": "broken off",
    "cut": "the trace breaks off here",
}
"""Finish reasons for people."""


def number(index: int) -> int:
    """The number of a step or a token for people, who count from 1; traces hold its index, from 0."""
    return index + 1


def counted(count: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun: `1 step`, `2 steps`; `nouns` where it is not the noun with an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {nouns or noun + 's'}"


def amount(progress: Progress) -> str:
    """How far work is, such as `12.3 of 93.0 MB` or `64 of 300 tokens`; empty where nothing is known."""
    done, total, unit = progress.done, progress.total, progress.unit
    if not total and not done:
        return ""
    digits = 0
    if unit == "bytes":
        scale, unit = next(
            ((scale, name) for scale, name in _UNITS if (total or done) >= scale), (1.0, "bytes")
        )
        done, total, digits = done / scale, (total or 0) / scale, 1
    words = f"{done:.{digits}f} of {total:.{digits}f}" if total else f"{done:.{digits}f}"
    return f"{words} {unit}".rstrip()


def provenance(candidate: Candidate) -> str:
    """Who gave a candidate, and in which step it was first seen: `window, step 31`."""
    if candidate.born < 0:
        return candidate.source
    return f"{candidate.source}, step {number(candidate.born)}"


def difference_meaning(dtype: str) -> str:
    """What it means that a run's ids differ from greedy decoding's.

    Args:
        dtype: `float32`, `bfloat16` or `float16`.
    """
    if dtype == "float32":
        return "In float32 ids must be equal: a difference with a gap that is not tiny is a fault."
    return (
        f"In {dtype} products of different widths round differently, and where the two likeliest tokens are "
        "so close, either may come first; from there on the texts go their own ways. Float32 gives equal ids."
    )
