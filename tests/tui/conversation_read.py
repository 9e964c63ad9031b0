"""Read a conversation off the screen, as a person does: the panels are hidden, and it is all there."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FIGURES = re.compile(r"^ *[\d,]+ tokens? in [\d,]+ steps?")
_SPEAKER = re.compile(r"^ (you|model):(.*)")


@dataclass(frozen=True, slots=True)
class Read:
    """What one speaker said.

    Attributes:
        role: `you` or `model`.
        text: Its words, with one space between them.
        figures: The line under an answer that has ended.
    """

    role: str
    text: str
    figures: str = ""


def words(text: str) -> str:
    """The text with one space between its words, whatever the lines are."""
    return " ".join(text.split())


def read_conversation(screen: str) -> list[Read]:
    """What was said, from the first line that is shown to the input line.

    Sentences of the program's own that stand between the messages belong to nobody and are left out: each
    message ends at an empty line behind its last paragraph, and an answer at its figures.
    """
    lines = screen.splitlines()[1:-2]
    said: list[Read] = []
    role, text, figures = "", [], []

    def end() -> None:
        nonlocal role, text, figures
        if role:
            said.append(Read(role, words(" ".join(text)), words(" ".join(figures))))
        role, text, figures = "", [], []

    for line in lines:
        speaker = _SPEAKER.match(line)
        if speaker:
            end()
            # Behind the model's name stands what is done before its first token.
            role, text = speaker[1], [speaker[2]] if speaker[1] == "you" else []
        elif figures or (role == "model" and _FIGURES.match(line)):
            if line.strip():
                figures.append(line)
            else:
                end()
        elif role == "you" and not line.strip():
            end()
        elif role:
            text.append(line)
    end()
    return said
