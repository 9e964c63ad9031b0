"""Who answers in a conversation."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Protocol

from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.tui import talk
from lookahead_cli.tui.talk import Report

if TYPE_CHECKING:
    from lookahead_cli.decoding.config import LookaheadConfig
    from lookahead_cli.models.language_model import LanguageModel


class Answerer(talk.Answerer, Protocol):
    """Decodes prompts, with a model that it loads when it is first needed."""

    @property
    def loaded(self) -> LanguageModel | None:
        """The model, None until it is loaded."""
        ...

    def load(self, report: Report) -> LanguageModel:
        """The model, loaded if that was not done.

        Raises:
            LookaheadError: It cannot be used.
        """
        ...

    def change_model(self, spec: str, report: Report) -> None:
        """Load another model in place of this one; where that fails, this one stays.

        Raises:
            LookaheadError: The other one cannot be used.
        """
        ...

    def run(
        self,
        prompt_ids: Sequence[int],
        cancel: threading.Event,
        report: Report,
        config: LookaheadConfig | None = None,
    ) -> Generator[Header | StepEvent | Footer, None, None]:
        """The run on a prompt, with other settings than its own where some are given.

        Raises:
            LookaheadError: The prompt does not fit.
        """
        ...
