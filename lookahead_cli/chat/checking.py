"""Whether an answer's ids are those of greedy decoding, found out by really running it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lookahead_cli.trace.events import Progress, StepEvent
from lookahead_cli.trace.words import counted, difference_meaning, number

if TYPE_CHECKING:
    from lookahead_cli.chat.answerer import Answerer
    from lookahead_cli.chat.prompts import Fed
    from lookahead_cli.decoding.config import LookaheadConfig
    from lookahead_cli.tui.talk import Report


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer beside greedy decoding of the same prompt.

    Attributes:
        ids_equal: True when every id is the same.
        words: The same for people, with the place of the first difference.
    """

    ids_equal: bool
    words: str


def check_greedily(
    answerer: Answerer, fed: Fed, config: LookaheadConfig, cancel: threading.Event, report: Report
) -> Checked | None:
    """Decode an answer again, one token a step; None where that was stopped.

    Args:
        answerer: Whose answer it is.
        fed: The prompt and the answer.
        config: The answer's settings; where it was sampled the same seed is drawn from.
        cancel: Stops it within one step.
        report: Told how far it is.

    Raises:
        LookaheadError: The model cannot be used.
    """
    wanted = fed.output_ids
    config = replace(config, method="greedy", max_new_tokens=max(1, len(wanted)))
    ids: list[int] = []
    ended = False
    # A stop may be raised out of `report`: the next run needs the model at once.
    with closing(answerer.run(fed.prompt_ids, cancel, report, config)) as run:
        for event in run:
            if isinstance(event, StepEvent):
                ids += event.step.token_ids
                ended = event.step.finish_reason is not None
                report(Progress("checking with greedy decoding", len(ids), len(wanted), "tokens"))
    return _compared(answerer, wanted, ids) if ended else None


def _compared(answerer: Answerer, got: Sequence[int], greedy: Sequence[int]) -> Checked:
    if list(got) == list(greedy):
        return Checked(True, f"checked: greedy decoding gives the same {counted(len(got), 'token id')}")
    model = answerer.loaded
    assert model is not None
    shorter = min(len(got), len(greedy))
    at = next((index for index in range(shorter) if got[index] != greedy[index]), shorter)
    here, there = (
        f"'{model.token_text(ids[at]).text}'" if at < len(ids) else "the end" for ids in (got, greedy)
    )
    return Checked(
        False,
        f"checked: greedy decoding differs from token {number(at)} on, where it has {there} and not {here}. "
        f"{difference_meaning(model.dtype)}",
    )
