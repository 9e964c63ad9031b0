"""Room in the model's context: whether there is enough for an answer, and what makes some."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lookahead_cli.chat.context import SUMMARY_QUESTION, covered, fed_messages
from lookahead_cli.chat.prompts import Fed, Message, prompt_ids_of
from lookahead_cli.chat.said import Said
from lookahead_cli.errors import ContextFullError, InputError
from lookahead_cli.trace.events import Footer, Progress, StepEvent
from lookahead_cli.tui.talk import Report, WhenFull

if TYPE_CHECKING:
    from lookahead_cli.chat.answerer import Answerer
    from lookahead_cli.models.language_model import LanguageModel


@dataclass(frozen=True, slots=True)
class Room:
    """What a turn needs of a model's context.

    Attributes:
        model: The model.
        limit: Positions that it has.
        system: The system prompt.
        messages: The conversation without the question.
        question: The question.
        begun: Tokens of an answer that is gone on with.
        most_new: Most tokens that the answer may have.
    """

    model: LanguageModel
    limit: int
    system: str | None
    messages: Sequence[Said]
    question: str
    begun: int
    most_new: int

    @property
    def for_answer(self) -> int:
        """Positions that are kept free for the answer; a long answer may be cut, a question may not."""
        return min(self.most_new, self.limit // 4)

    @property
    def used(self) -> int:
        """Tokens up to where the answer goes on."""
        return self._tokens(self.messages)

    @property
    def candidates(self) -> list[int]:
        """How many messages may be left out: up to a question that is still fed, or all."""
        done = covered(self.messages)
        questions = (at for at, said in enumerate(self.messages) if said.role == "user")
        return [at for at in questions if at > done] + [len(self.messages)]

    @property
    def question_fits(self) -> bool:
        """False where the question alone is longer than the context."""
        return self._tokens(()) < self.limit

    @property
    def is_full(self) -> bool:
        """True where there is no room for the answer, and something could be left out for it."""
        return covered(self.messages) < len(self.messages) and not self._fits(self.messages, self.for_answer)

    def with_summary(self, summary: str) -> Said:
        """What makes room: a summary that covers as few messages as it may.

        A quarter of the context is left free where that can be, so that the next turns need not make room
        again: each time that is done the KV cache is of use for the system prompt alone.
        """
        candidates = self.candidates
        for free in (self.for_answer + self.limit // 4, self.for_answer):
            fits = bisect_left(
                candidates,
                True,
                key=lambda covers: self._fits(
                    [*self.messages, Said("summary", summary, covers=covers)], free
                ),
            )
            if fits < len(candidates):
                return Said("summary", summary, covers=candidates[fits])
        return Said("summary", summary, covers=len(self.messages))

    def to_summarise(self) -> list[Message] | None:
        """The conversation and the question for its summary: as much of it, from its beginning, as fits.

        None where not even the first turn does.
        """
        for end in reversed(self.candidates):
            asked = [
                *fed_messages(self.system, self.messages[:end]),
                {"role": "user", "content": SUMMARY_QUESTION},
            ]
            if len(prompt_ids_of(self.model, asked)) + self.for_answer <= self.limit:
                return asked
        return None

    def _fits(self, messages: Sequence[Said], free: int) -> bool:
        return self._tokens(messages) + free <= self.limit

    def _tokens(self, messages: Sequence[Said]) -> int:
        asked = [*fed_messages(self.system, messages), {"role": "user", "content": self.question}]
        return len(prompt_ids_of(self.model, asked)) + self.begun


def make_room(
    answerer: Answerer, room: Room, how: WhenFull, fed: Fed | None, cancel: threading.Event, report: Report
) -> Said | None:
    """What makes room for an answer; None where that was stopped.

    Args:
        answerer: Who writes a summary.
        room: Where there is none.
        how: What to do.
        fed: The turn before, whose ids a summary's prompt goes on from.
        cancel: Stops the summary within one step.
        report: Told how far it is.

    Raises:
        ContextFullError: Nothing is to be left out.
        InputError: The question alone does not fit.
    """
    if not room.question_fits:
        raise InputError(
            f"The question alone is longer than the model's context of {room.limit:,} tokens.", "Shorten it."
        )
    if how in ("ask", "stop"):
        raise ContextFullError(
            f"The conversation and its next answer do not fit the model's context: {room.used:,} of "
            f"{room.limit:,} tokens are used.",
            "Begin another conversation, or let room be made: --when-full drop, or summarise.",
        )
    summary = write_summary(answerer, room, fed, cancel, report) if how == "summarise" else ""
    return None if summary is None else room.with_summary(summary)


def write_summary(
    answerer: Answerer, room: Room, fed: Fed | None, cancel: threading.Event, report: Report
) -> str | None:
    """The model's own summary, None where that was stopped; empty where not even one turn fits."""
    asked = room.to_summarise()
    if asked is None:
        return ""
    label, tokens = "summarising what was said", 0
    report(Progress(label))
    # A stop may be raised out of `report`: the next run needs the model at once.
    with closing(answerer.run(prompt_ids_of(room.model, asked, fed), cancel, report)) as run:
        for event in run:
            if isinstance(event, StepEvent):
                tokens += len(event.step.token_ids)
                report(Progress(label, tokens, unit="tokens"))
            elif isinstance(event, Footer) and event.finish_reason != "cancelled":
                return event.text.strip()
    return None
