"""`lookahead chat`: a conversation, on the whole terminal or through standard input and output."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from lookahead_cli.cli import options
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent, TokenText

if TYPE_CHECKING:
    from lookahead_cli.models.language_model import LanguageModel


@dataclass(slots=True)
class ChatModel:
    """Answers with a model that is loaded when it is first needed.

    Attributes:
        spec: Alias, hub id, folder or `.gguf` file.
        device: `auto`, `cpu`, `cuda`, `mps`.
        dtype: `auto`, `float32`, `bfloat16`, `float16`.
        config: The settings.
    """

    spec: str
    device: str
    dtype: str
    config: LookaheadConfig
    _model: LanguageModel | None = None

    @property
    def title(self) -> str:
        """What answers."""
        if self._model is None:
            return self.spec
        return f"{self._model.name} · {self._model.dtype} · {self._model.device}"

    def load(self, report: Callable[[Progress], None]) -> LanguageModel:
        """Load the model, if that was not done."""
        if self._model is None:
            report(Progress("importing torch and transformers"))
            from lookahead_cli.cli.live import settle_memory
            from lookahead_cli.models.language_model import load_model

            self._model = load_model(
                self.spec,
                device=self.device,
                dtype=self.dtype,
                prefer="bfloat16",
                config=self.config,
                on_progress=report,
            )
            settle_memory()
        return self._model

    def answer(
        self,
        messages: Sequence[dict[str, str]],
        cancel: threading.Event,
        report: Callable[[Progress], None],
    ) -> Iterator[Header | StepEvent | Footer]:
        """The run that answers the last message; the KV cache of earlier turns is used again."""
        model = self.load(report)
        yield from model.run(model.encode_chat(messages), self.config, cancel=cancel, on_progress=report)


def chat(
    model: options.Model = None,
    device: options.Device = "auto",
    dtype: options.DType = "auto",
    window_size: options.WindowSize = None,
    ngram_size: options.NGramSize = None,
    guess_set_size: options.GuessSetSize = None,
    max_new_tokens: options.MaxNewTokens = 256,
    seed: options.Seed = 0,
    temperature: Annotated[float, typer.Option("--temperature", help="0 for greedy choices.")] = 0.0,
    system: Annotated[str | None, typer.Option("--system", help="A system prompt.")] = None,
    plain: Annotated[
        bool, typer.Option("--plain", help="Read questions from standard input, write answers to output.")
    ] = False,
    theme: options.Theme = None,
) -> int:
    """Talk with a model, and watch how it decodes."""
    spec = options.model_or_default(model)
    config = options.settings(
        spec,
        window_size,
        ngram_size,
        guess_set_size,
        max_new_tokens=max_new_tokens,
        seed=seed,
        method="lookahead",
        temperature=temperature,
    )
    options.check_theme(theme)
    options.check_model(spec)
    backend = ChatModel(spec, device, dtype, config)
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return _plain(backend, system)
    from lookahead_cli.tui.chat import run_chat

    run_chat(backend, theme=theme, system=system)
    return 0


def _questions() -> Iterator[str]:
    """One question from a pipe, or line by line from a terminal."""
    if not sys.stdin.isatty():
        question = sys.stdin.read().strip()
        if not question:
            raise InputError("There is no question.", "Pipe one in: echo question | lookahead chat --plain")
        yield question
        return
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            return
        if line.strip():
            yield line.strip()


def _plain(backend: ChatModel, system: str | None) -> int:
    from lookahead_cli.cli.console import StderrProgress, note
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
                    text = plain_text(text_of(tokens[token] for token in ids)).rstrip("\ufffd")
                    if text.startswith(written):
                        print(text[len(written) :], end="", flush=True)
                        written = text
                elif isinstance(event, Footer):
                    messages.append({"role": "assistant", "content": event.text})
                    print(flush=True)
                    note(answer_line(event))
    return 0
