"""`lookahead chat`: a conversation, on the whole terminal or through standard input and output."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from lookahead_cli.cli import checks, options
from lookahead_cli.cli.console import note
from lookahead_cli.cli.groups import option, with_groups
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.cli.output import can_show_a_screen, in_browser
from lookahead_cli.cli.prompts import read_standard_input
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import ExitCode

if TYPE_CHECKING:
    from lookahead_cli.decoding.pool import NGramPool
    from lookahead_cli.models.language_model import LanguageModel
    from lookahead_cli.models.pools import PoolRequest
    from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent, TokenText


@dataclass(slots=True)
class ChatModel:
    """Answers with a model that is loaded when it is first needed.

    Attributes:
        options: Which model, and where.
        config: The settings.
        pools: N-grams that are there before the first question.
        remarks: Sentences for the person once the screen is free.
    """

    options: ModelOptions
    config: LookaheadConfig
    pools: PoolRequest
    remarks: list[str] = field(default_factory=list)
    _model: LanguageModel | None = None
    _draft: LanguageModel | None = None
    _pool: NGramPool | None = None

    @property
    def title(self) -> str:
        """What answers."""
        if self._model is None:
            return self.options.spec
        return f"{self._model.name} · {self._model.dtype} · {self._model.device}"

    def load(self, report: Callable[[Progress], None]) -> LanguageModel:
        """Load the model, if that was not done."""
        if self._model is None:
            from lookahead_cli.trace.events import Progress

            report(Progress("importing torch and transformers"))
            from lookahead_cli.cli.live import load_models
            from lookahead_cli.models.pools import open_pool

            model, self._draft = load_models(self.options, "bfloat16", self.config, report)
            if model.remark is not None:
                self.remarks.append(model.remark)
            self._pool = open_pool(model, self.config, self.pools)
            self._model = model
        return self._model

    def close(self) -> None:
        """Save the pool, where a file was named."""
        if self._model is not None and self._pool is not None and self.pools.file is not None:
            from lookahead_cli.models.pools import save_pool

            save_pool(self._model, self._pool, self.pools.file)

    def answer(
        self,
        messages: Sequence[dict[str, str]],
        cancel: threading.Event,
        report: Callable[[Progress], None],
    ) -> Iterator[Header | StepEvent | Footer]:
        """The run that answers the last message; KV cache and pool of earlier turns are used again."""
        model = self.load(report)
        yield from model.run(
            model.encode_chat(messages),
            self.config,
            pool=self._pool,
            draft=self._draft,
            cancel=cancel,
            on_progress=report,
        )


@with_groups
def chat(
    model: options.ModelOptions,
    setting: options.SettingOptions,
    sampling: options.SamplingOptions,
    pools: options.PoolOptions,
    method: options.DecodingMethod = "lookahead",
    max_new_tokens: options.MaxNewTokens = 256,
    system: Annotated[
        str | None, option("--system", panel="Conversation", metavar="TEXT", help="A system prompt.")
    ] = None,
    plain: Annotated[
        bool,
        option(
            "--plain", panel="Output", help="Read questions from standard input, write answers to output."
        ),
    ] = False,
    theme: options.Theme = None,
) -> int:
    """Talk with a model, and watch how it decodes."""
    config = options.config_of(model.spec, setting, sampling, max_new_tokens=max_new_tokens, method=method)
    checks.check_theme(theme)
    model.check(method)
    backend = ChatModel(model, config, checks.read_pools(pools, config))
    try:
        if plain or not (can_show_a_screen() and (in_browser() or sys.stdin.isatty())):
            return _plain(backend, system)
        from lookahead_cli.tui.chat import run_chat

        interrupted = run_chat(backend, theme=theme, system=system)
    finally:
        backend.close()
        for remark in backend.remarks:
            note(remark)
    return ExitCode.INTERRUPTED if interrupted else ExitCode.OK


def _questions() -> Iterator[str]:
    """One question from a pipe, or line by line from a terminal."""
    if not sys.stdin.isatty():
        yield read_standard_input("question").strip()
        return
    note("A question a line; Ctrl+D leaves.")
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip()


def _plain(backend: ChatModel, system: str | None) -> int:
    from lookahead_cli.cli.console import StderrProgress
    from lookahead_cli.trace.events import Footer, StepEvent
    from lookahead_cli.tui.run_view import answer_line
    from lookahead_cli.tui.token_text import plain_text, text_of

    messages = [{"role": "system", "content": system}] if system else []
    for question in _questions():
        messages.append({"role": "user", "content": question})
        tokens: dict[int, TokenText] = {}
        ids: list[int] = []
        written = ""
        with StderrProgress() as progress:
            for event in backend.answer(messages, threading.Event(), progress):
                tokens.update(event.tokens)
                progress.clear()
                if isinstance(event, StepEvent):
                    ids += event.step.token_ids
                    # A character whose bytes are still coming reads as � and is held back.
                    text = text_of((tokens[token] for token in ids), event.step.overrun)
                    text = plain_text(text).rstrip("\ufffd")
                    if text.startswith(written):
                        print(text[len(written) :], end="", flush=True)
                        written = text
                elif isinstance(event, Footer):
                    messages.append({"role": "assistant", "content": event.text})
                    print(flush=True)
                    note(answer_line(event))
    return 0
