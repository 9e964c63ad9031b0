"""What every view says in the same words: how a run ended, and where an n-gram is from."""

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
