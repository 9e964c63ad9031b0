"""`lookahead chat`: a conversation, on the whole terminal or through standard input and output."""

from __future__ import annotations

import json as json_module
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lookahead_cli.cli import checks, options
from lookahead_cli.cli.attachments import attachment
from lookahead_cli.cli.chat_model import ChatModel
from lookahead_cli.cli.console import note, writing_output
from lookahead_cli.cli.groups import option, with_groups
from lookahead_cli.cli.output import can_show_a_screen, in_browser, interrupt_sets
from lookahead_cli.cli.prompts import read_standard_input
from lookahead_cli.cli.sessions import names as session_names
from lookahead_cli.errors import ContextFullError, ExitCode, UsageError
from lookahead_cli.tui.talk import WhenFull

if TYPE_CHECKING:
    from lookahead_cli.chat.conversation import Conversation
    from lookahead_cli.cli.console import StderrProgress
    from lookahead_cli.sessions.records import SessionInfo
    from lookahead_cli.sessions.session import Session
    from lookahead_cli.sessions.store import SessionStore
    from lookahead_cli.trace.events import Footer, Header, StepEvent, TokenText
    from lookahead_cli.tui.talk import Checked, Events

Form = Literal["text", "json", "jsonl"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """Which conversation, and what is asked first."""

    resume: Annotated[
        bool, option("--resume", "-r", panel="Conversation", help="Go on with the newest session.")
    ] = False
    session: Annotated[
        str | None,
        option(
            "--session",
            metavar="NAME",
            panel="Conversation",
            complete=session_names,
            help="Go on with the session of that name, or begin one.",
        ),
    ] = None
    save: Annotated[
        bool,
        option(
            "--save/--no-save",
            panel="Conversation",
            help="Keep the conversation (see `lookahead sessions`). Default: what is typed is kept, what "
            "is piped in or given with --prompt is not, unless a session is named.",
        ),
    ] = True
    prompt: Annotated[
        str | None,
        option(
            "--prompt", "-p", metavar="TEXT", panel="Conversation", help="Ask this, print the answer, leave."
        ),
    ] = None
    file: Annotated[
        list[Path] | None,
        option(
            "--file",
            "-f",
            metavar="FILE",
            panel="Conversation",
            help="Attach a text file to the first question; may be given several times.",
        ),
    ] = None
    system: Annotated[
        str | None, option("--system", panel="Conversation", metavar="TEXT", help="A system prompt.")
    ] = None
    when_full: Annotated[
        WhenFull,
        option(
            "--when-full",
            panel="Conversation",
            shown=True,
            help="What to do when the model's context is full: ask, drop the oldest turns, let the model "
            "summarise them, or stop. Without a terminal ask means stop.",
        ),
    ] = "ask"


@with_groups
def chat(
    context: typer.Context,
    model: options.ModelOptions,
    setting: options.SettingOptions,
    sampling: options.SamplingOptions,
    pools: options.PoolOptions,
    talk: SessionOptions,
    method: options.DecodingMethod = "lookahead",
    max_new_tokens: options.MaxNewTokens = 256,
    plain: Annotated[
        bool,
        option(
            "--plain", panel="Output", help="Read questions from standard input, write answers to output."
        ),
    ] = False,
    json: Annotated[bool, option("--json", panel="Output", help="Write one JSON object an answer.")] = False,
    jsonl: Annotated[
        bool,
        option("--jsonl", panel="Output", help="Write a JSON line a step as it comes, and one an answer."),
    ] = False,
    greedy_check: Annotated[
        bool,
        option(
            "--greedy-check",
            panel="Conversation",
            help="Decode each answer again greedily while nothing else is asked, and compare the ids.",
        ),
    ] = False,
    theme: options.Theme = None,
) -> int:
    """Talk with a model, and watch how it decodes."""
    if json and jsonl:
        raise UsageError("--json and --jsonl both want standard output.", "Choose one of them.")
    if talk.resume and talk.session is not None:
        raise UsageError("--resume and --session name two conversations.", "Choose one of them.")
    named = talk.resume or talk.session is not None
    if named and not talk.save:
        raise UsageError("--no-save keeps nothing, and a session is kept.", "Add --save, or name no session.")
    on_screen = not (plain or json or jsonl) and talk.prompt is None and _has_screen()
    typed = on_screen or (talk.prompt is None and sys.stdin.isatty())
    with ExitStack() as stack:
        store = _store(stack) if talk.save and (typed or named) else None
        known = None if store is None else _known(store, talk)
        if known is not None:
            # A session's own model and system prompt: stronger than settings that stay, weaker than flags.
            if not _is_flag(context, "model"):
                model = replace(model, model=known.model)
            if not _is_flag(context, "system"):
                talk = replace(talk, system=None)
        config = options.config_of(
            model.spec, setting, sampling, max_new_tokens=max_new_tokens, method=method
        )
        checks.check_theme(theme)
        model.check(method)
        attached = "".join(attachment(file) for file in talk.file or ())
        backend = ChatModel(model, config, checks.read_pools(pools, config), sizes=setting)
        stack.callback(_tell, backend.remarks)
        stack.callback(backend.close)
        session = None if store is None else _session(store, known, talk, model.spec)
        from lookahead_cli.chat.conversation import Conversation

        conversation = Conversation(backend, session, talk.system, talk.when_full)
        stack.callback(conversation.close)
        if not on_screen:
            questions = iter([talk.prompt]) if talk.prompt is not None else _questions()
            form: Form = "json" if json else "jsonl" if jsonl else "text"
            return _plain(conversation, questions, attached, form, checks=greedy_check)
        from lookahead_cli.locations import data_folder
        from lookahead_cli.tui.chat import run_chat
        from lookahead_cli.tui.kept import Kept

        kept = Kept(data_folder(), questions=talk.save)
        interrupted = run_chat(
            conversation, theme=theme, attach=attachment, attached=attached, kept=kept, checks=greedy_check
        )
    return ExitCode.INTERRUPTED if interrupted else ExitCode.OK


def _is_flag(context: typer.Context, parameter: str) -> bool:
    """True for what was said on the command line, and not by a settings file or the environment."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def _has_screen() -> bool:
    return can_show_a_screen() and (in_browser() or sys.stdin.isatty())


def _tell(remarks: Sequence[str]) -> None:
    for remark in remarks:
        note(remark)


def _store(stack: ExitStack) -> SessionStore:
    from lookahead_cli.locations import data_folder
    from lookahead_cli.sessions.store import SessionStore

    store = SessionStore(data_folder())
    stack.callback(store.close)
    return store


def _known(store: SessionStore, talk: SessionOptions) -> SessionInfo | None:
    """The session that is gone on with, None where one begins."""
    known = store.sessions()
    if talk.session is not None:
        return next((info for info in known if info.name == talk.session), None)
    if talk.resume and not known:
        note("There is no session to resume; a new one begins.")
    return known[0] if talk.resume and known else None


def _session(store: SessionStore, known: SessionInfo | None, talk: SessionOptions, spec: str) -> Session:
    session = store.create(spec, talk.system, talk.session) if known is None else store.open(known.id)
    if session.copied_from is not None:
        note(f"'{session.copied_from}' is open in another chat: this is a copy, '{session.info.name}'.")
    return session


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


def _plain(
    conversation: Conversation, questions: Iterator[str], attached: str, form: Form, *, checks: bool
) -> int:
    """Answer question by question; Ctrl+C stops an answer, keeps what came, and ends."""
    from lookahead_cli.cli.console import StderrProgress
    from lookahead_cli.trace.events import Header

    if conversation.unanswered is not None:
        note(f"Not answered before: {conversation.unanswered}")
    for question in questions:
        cancel = threading.Event()
        with StderrProgress() as progress, interrupt_sets(cancel), writing_output():
            writer = _AnswerWriter(form)
            for event in _answer(conversation, attached + question, cancel, progress):
                if isinstance(event, Header):
                    _say_what_made_room(conversation)
                progress.clear()
                writer.write(event)
            progress.clear()
            is_whole = checks and writer.has_answer and not cancel.is_set()
            checked = conversation.check(cancel, progress) if is_whole else None
            progress.clear()
            writer.end(conversation, question, checked)
        attached = ""
        if cancel.is_set():
            return ExitCode.INTERRUPTED
    return ExitCode.OK


def _answer(
    conversation: Conversation, question: str, cancel: threading.Event, progress: StderrProgress
) -> Events:
    """The run that answers; a person at a terminal is asked what to do where the context is full."""
    try:
        yield from conversation.ask(question, cancel, progress)
    except ContextFullError as full:
        if conversation.when_full != "ask" or not sys.stdin.isatty():
            raise
        progress.clear()
        note(full.message)
        print(
            "Drop the oldest turns, summarise them, or stop? [d/s/stop] ", end="", file=sys.stderr, flush=True
        )
        chosen: dict[str, WhenFull] = {
            "d": "drop",
            "drop": "drop",
            "s": "summarise",
            "summarise": "summarise",
        }
        how = chosen.get(sys.stdin.readline().strip().lower())
        if how is None:
            raise
        yield from conversation.ask(question, cancel, progress, how)


def _say_what_made_room(conversation: Conversation) -> None:
    """Say what is no longer fed, where that came about with the last question."""
    from lookahead_cli.sessions.words import summary_words

    made = conversation.messages[-2] if len(conversation.messages) > 1 else None
    if made is not None and made.role == "summary":
        note(summary_words(made.content, made.covers))
        if made.content:
            note(made.content)


class _AnswerWriter:
    """Writes one answer as it comes.

    Args:
        form: `text`, `json` or `jsonl`.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._tokens: dict[int, TokenText] = {}
        self._ids: list[int] = []
        self._prompt_tokens = 0
        self._written = ""

    def write(self, event: Header | StepEvent | Footer) -> None:
        """Write what an event brings."""
        from lookahead_cli.trace.events import Header, StepEvent
        from lookahead_cli.tui.token_text import plain_text, text_of

        self._tokens.update(event.tokens)
        if isinstance(event, Header):
            self._prompt_tokens = len(event.prompt_ids)
        if not isinstance(event, StepEvent):
            return
        self._ids += event.step.token_ids
        # A character whose bytes are still coming reads as � and is held back.
        text = text_of((self._tokens[token] for token in self._ids), event.step.overrun)
        text = text if self._form == "jsonl" else plain_text(text)
        text = text.rstrip("\ufffd")
        if not text.startswith(self._written):
            return
        new, self._written = text[len(self._written) :], text
        if self._form == "text":
            print(new, end="", flush=True)
        elif self._form == "jsonl":
            line = {"type": "step", "step": event.step.index, "ids": list(event.step.token_ids), "text": new}
            print(json_module.dumps(line, ensure_ascii=False), flush=True)

    @property
    def has_answer(self) -> bool:
        """True once a token came."""
        return bool(self._ids)

    def end(self, conversation: Conversation, question: str, checked: Checked | None) -> None:
        """Write what there is to say of the whole answer."""
        from lookahead_cli.sessions.words import answer_words

        answer = conversation.messages[-1] if conversation.messages else None
        if answer is None or answer.figures is None or not self._ids:
            note("Nothing was answered.")
            return
        if self._form == "text":
            print(flush=True)
            note(answer_words(answer.figures, answer.finish_reason))
            if checked is not None:
                note(checked.words)
            return
        figures = answer.figures
        session = conversation.session
        body: dict[str, Any] = {
            "type": "answer",
            "model": conversation.answerer.spec,
            "session": None if session is None else session.info.name,
            "question": question,
            "answer": answer.content,
            "ids": self._ids,
            "finish_reason": answer.finish_reason,
            "prompt_tokens": self._prompt_tokens,
            "compression_ratio": figures.tokens / figures.steps,
            "tokens_per_second": figures.tokens / figures.seconds if figures.seconds else None,
            **asdict(figures),
            "greedy_ids_equal": None if checked is None else checked.ids_equal,
        }
        print(json_module.dumps(body, ensure_ascii=False), flush=True)
