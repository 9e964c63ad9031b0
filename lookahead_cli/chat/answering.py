"""One answer: its run, on disk step by step, and what came of it."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.chat.prompts import Fed, Message
from lookahead_cli.chat.said import Said
from lookahead_cli.sessions.records import Figures
from lookahead_cli.trace.events import Footer, StepEvent
from lookahead_cli.tui.talk import Events, Report

if TYPE_CHECKING:
    from lookahead_cli.chat.answerer import Answerer
    from lookahead_cli.models.language_model import LanguageModel
    from lookahead_cli.sessions.session import Answer, Session


@dataclass(slots=True)
class Answering:
    """Runs a model on a prompt, and keeps every event before the next one is there.

    Attributes:
        answerer: Who answers.
        session: Where it is kept, None for nowhere.
        messages: What is fed, up to the question.
        prompt_ids: The same as ids.
        begun: The beginning of an answer that is gone on with.
        asked: When the question was asked, on the clock of `time.perf_counter`.
        said: The answer, once the run has ended; None where nothing came.
        fed: What was fed and what came of it.
    """

    answerer: Answerer
    session: Session | None
    messages: tuple[Message, ...]
    prompt_ids: tuple[int, ...]
    begun: Fed | None
    asked: float
    said: Said | None = None
    fed: Fed | None = None

    def events(self, cancel: threading.Event, report: Report) -> Events:
        """The run."""
        model = self.answerer.load(report)
        before, beginning = ((), "") if self.begun is None else (self.begun.output_ids, self.begun.text)
        keeping: Answer | None = None
        if self.session is not None:
            keeping = self.session.answer(self.answerer.spec, beginning, before)
        first_seconds = 0.0
        ids, steps, seconds = list(before), 0, 0.0
        text, finish_reason = None, "cut"
        try:
            for event in self.answerer.run((*self.prompt_ids, *before), cancel, report):
                if isinstance(event, StepEvent):
                    first_seconds = first_seconds or time.perf_counter() - self.asked
                    ids += event.step.token_ids
                    steps += 1
                    seconds += event.step.seconds.total
                elif isinstance(event, Footer):
                    text, finish_reason = event.text, event.finish_reason
                if keeping is not None:
                    keeping.write(event)
                yield event
        finally:
            # What a run that failed half-way had emitted is kept too.
            if steps:
                text = _whole_text(model, ids, len(before), text)
                figures = Figures(len(ids) - len(before), steps, seconds, first_seconds, _peak_bytes(model))
                if keeping is not None:
                    keeping.finish(text, ids, finish_reason, figures)
                id = None if keeping is None else keeping.id
                self.said = Said("assistant", text, finish_reason, figures, id)
                self.fed = Fed(self.messages, self.prompt_ids, tuple(ids), text)
            elif keeping is not None:
                keeping.discard()


def _whole_text(model: LanguageModel, ids: list[int], before: int, text: str | None) -> str:
    """The text of an answer, the part that it had `before` included.

    Args:
        model: Whose ids they are.
        ids: All of them.
        before: How many there were before this run.
        text: What this run said; None where it failed half-way.
    """
    if text is None:
        return model.text(ids)
    if not before:
        return text
    # Decoded together: a character may begin before and end here. What a stop cut stays cut.
    whole, alone = model.text(ids), model.text(ids[before:])
    return whole[: len(whole) - (len(alone) - len(text))]


def _peak_bytes(model: LanguageModel) -> int:
    """Most memory that the device, or the process, ever held; or holds now where the system does not tell."""
    if model.device == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated())
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        import psutil

        return int(psutil.Process().memory_info().rss)
