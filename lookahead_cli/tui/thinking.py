"""What a model thinks before it answers: the section between its marks, apart from the answer."""

from __future__ import annotations

from dataclasses import dataclass

_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
)


@dataclass(frozen=True, slots=True)
class Divided:
    """An answer's text in its two parts.

    Attributes:
        thought: What stands between the marks, empty for nothing.
        answer: What stands behind them, or the whole text where there are none.
        has_ended: False while the section is still open.
    """

    thought: str
    answer: str
    has_ended: bool = True


def divided(text: str, *, is_begun: bool = False) -> Divided:
    """A text's thinking section, if it begins with one, and the answer behind it.

    Args:
        text: The text, as far as it came.
        is_begun: True where the prompt ended with the opening mark, as some chat templates have it.
    """
    bare = text.lstrip()
    for opening, closing in _MARKS:
        opens = bare.startswith(opening)
        thought, closes, answer = bare.removeprefix(opening).partition(closing)
        if closes and (opens or opening not in thought):
            # Without an opening mark the prompt had it.
            return Divided(thought.strip(), answer.lstrip())
        if opens:
            return Divided(thought.strip(), "", has_ended=False)
    return Divided(bare, "", has_ended=False) if is_begun else Divided("", text)


def opens_thinking(prompt: str) -> bool:
    """True for a prompt whose end lets the model begin by thinking."""
    return prompt.rstrip().endswith(tuple(opening for opening, _ in _MARKS))
