"""What every view says in the same words: how a run ended, where an n-gram is from, how ids may differ."""

from __future__ import annotations

from lookahead_cli.decoding.records import Candidate

ENDINGS = {
    "eos": "ended by the model",
    "stop": "stop string reached",
    "length": "token limit",
    "context": "context full",
    "cancelled": "stopped",
    "cut": "the trace breaks off here",
}
"""Finish reasons for people."""


def number(index: int) -> int:
    """The number of a step or a token for people, who count from 1; traces hold its index, from 0."""
    return index + 1


def counted(count: int, noun: str) -> str:
    """A number with its noun: `1 step`, `2 steps`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


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
