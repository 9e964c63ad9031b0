"""Answers and sessions in a line of words."""

from __future__ import annotations

from collections.abc import Iterable

from lookahead_cli.sessions.records import Figures
from lookahead_cli.trace.words import ENDINGS, counted

# An answer that ends before its end is one that can be gone on with.
_ENDINGS = ENDINGS | {"length": "cut by --max-new-tokens"}


def answer_words(figures: Figures, finish_reason: str | None) -> str:
    """The line at the end of an answer; an end that the model did not choose is said."""
    rate = f", {figures.tokens / figures.seconds:.1f} tokens/s" if figures.seconds else ""
    ratio = f", S {figures.tokens / figures.steps:.2f}" if figures.steps else ""
    first = f", first token after {figures.first_seconds:.1f} s" if figures.first_seconds else ""
    memory = f", peak {_gigabytes(figures.peak_bytes)}" if figures.peak_bytes else ""
    ending = "" if finish_reason in ("eos", None) else f"; {_ENDINGS[finish_reason]}"
    run = f"{counted(figures.tokens, 'token')} in {counted(figures.steps, 'step')}"
    return f"{run}{rate}{ratio}{first}{memory}{ending}"


def summary_words(content: str, covers: int) -> str:
    """What stands above a summary, or in its place where messages are only left out."""
    stands = (
        "what stands below was written by the model, and stands for them"
        if content
        else "nothing stands for them"
    )
    first = "The first message is" if covers == 1 else f"The first {covers} messages are"
    return f"{first} no longer fed; {stands}."


def total_words(answers: Iterable[Figures]) -> str:
    """All answers of a conversation together; empty where there is none."""
    listed = list(answers)
    tokens, steps = sum(each.tokens for each in listed), sum(each.steps for each in listed)
    seconds, peak = sum(each.seconds for each in listed), max((each.peak_bytes for each in listed), default=0)
    if not steps:
        return ""
    rate = f", {tokens / seconds:.1f} tokens/s" if seconds else ""
    memory = f", peak {_gigabytes(peak)}" if peak else ""
    return f"{counted(len(listed), 'answer')}, {tokens:,} tokens{rate}, S {tokens / steps:.2f}{memory}"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"
