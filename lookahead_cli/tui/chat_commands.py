"""The commands of the chat: what a person may do besides asking."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from lookahead_cli.decoding.config import SOURCES
from lookahead_cli.errors import LookaheadError, UsageError
from lookahead_cli.sessions.words import total_words
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.trace.words import counted
from lookahead_cli.tui.chat_settings import cost_words, settings_rows, with_setting
from lookahead_cli.tui.clipboard import copy, part_to_copy
from lookahead_cli.tui.paths import paths_from
from lookahead_cli.tui.picker import PickScreen, Row
from lookahead_cli.tui.slash import Command, explained, nearest
from lookahead_cli.tui.talk import ModelChoice, WhenFull
from lookahead_cli.tui.thinking import divided
from lookahead_cli.tui.token_text import plain_text

if TYPE_CHECKING:
    from lookahead_cli.tui.chat import ChatApp

_POOL_WORDS = {"clear": "forget every n-gram", "save ": "into a FILE", "load ": "from a FILE"}
_ROOM: Mapping[WhenFull, str] = {
    "drop": "all turns but the last are no longer fed",
    "summarise": "the same, and the model's own summary is fed in their place",
}
_METHODS = {
    "greedy": "nobody guesses: one token a step",
    "jacobi": "one chain of W tokens, refined by every pass",
    "prompt-lookup": "what followed the last tokens where they stood before",
    "lookahead": "the 2D window and the n-gram pool",
    "lookahead-reference": "the published implementation's rules",
    "draft": "a smaller model, which --draft-model loads at the start",
}


def _always(app: ChatApp, behind: str) -> bool:
    return True


def _to_change_it(app: ChatApp, behind: str) -> bool:
    """What is asked alone is said at once."""
    return bool(behind)


def _to_count_it(app: ChatApp, how: str) -> bool:
    """An answer that comes is counted too, but without a model nothing is."""
    loading: bool = app.turns.loading
    return loading or bool(how)


def _help(app: ChatApp, _: str) -> None:
    app.column.tell_rows(explained(COMMANDS))


def _model(app: ChatApp, spec: str) -> None:
    if spec:
        app.change_model(spec)
        return
    choices = cache(app.talk.answerer.models)

    def find(text: str) -> list[Row]:
        wanted = text.lower()
        return [
            _model_row(app, choice)
            for choice in choices()
            if wanted in choice.spec.lower() or wanted in choice.title.lower()
        ]

    def chosen(spec: str | None) -> None:
        if spec is not None:
            app.command(f"/model {spec}")

    app.push_screen(
        PickScreen("MODELS", ("model", "here", "files", "dtype", "weights", "fits"), find), chosen
    )


def _model_row(app: ChatApp, choice: ModelChoice) -> Row:
    style = app.colours.style
    name = Text(choice.spec, style("accent") if choice.current else style("foreground"))
    if choice.current:
        name.append("  answers now", style("muted"))
    return Row(
        choice.spec,
        (
            name,
            Text("✓" if choice.here else "·", style("accepted" if choice.here else "muted")),
            Text(_size(choice.download_bytes), style("muted")),
            Text(choice.dtype, style("muted")),
            Text(_size(choice.memory_bytes), style("foreground")),
            Text("✓" if choice.fits else "✗ memory", style("accepted" if choice.fits else "rejected")),
        ),
    )


def _system(app: ChatApp, text: str) -> None:
    if text:
        app.talk.set_system(None if text == "none" else text)
    system = app.talk.system
    app.tell(
        "There is no system prompt. /system TEXT sets one." if system is None else f"System prompt: {system}"
    )


def _set(app: ChatApp, asked: str) -> None:
    answerer = app.talk.answerer
    if not asked:
        app.tell(cost_words(answerer.config))
        app.column.tell_rows(settings_rows(answerer.config))
    else:
        answerer.change(with_setting(answerer.config, asked))
        app.tell(
            f"From now on: {settings_words(answerer.config.as_mapping())}. {cost_words(answerer.config)}"
        )
        app.show_title()


def _method(app: ChatApp, name: str) -> None:
    if name not in _METHODS:
        hint = nearest(name, list(_METHODS)) or f"Choose one of {', '.join(_METHODS)}."
        raise UsageError(f"There is no method called '{name}'.", hint)
    _set(app, f"method {name}")


def _pool(app: ChatApp, asked: str) -> None:
    answerer = app.talk.answerer
    word, _, name = asked.partition(" ")
    file = Path(name.strip()).expanduser()
    words = [each.strip() for each in _POOL_WORDS]
    if word not in ("", *words):
        raise UsageError(f"/pool cannot '{word}'.", nearest(word, words) or "Say /pool clear, save or load.")
    if word in ("save", "load") and not name:
        raise UsageError(f"/pool {word} needs a file.", f"Say /pool {word} FILE.")
    if word == "clear":
        answerer.clear_pool()
    elif word == "save":
        answerer.save_pool(file)
        app.tell(f"The pool is in '{file}'.")
    elif word == "load":
        answerer.load_pool(file)
    figures = answerer.pool_figures()
    by_source = ", ".join(f"{count:,} {source}" for source, count in figures.sources.most_common())
    app.tell(
        f"The pool holds {figures.ngrams:,} n-grams of {figures.ngram_size} tokens under {figures.keys:,} "
        f"keys, at most {figures.guess_set_size} a key" + (f": {by_source}." if by_source else ".")
    )


def _sessions(app: ChatApp, text: str) -> None:
    talk = app.talk
    talk.sessions()

    def find(text: str) -> list[Row]:
        style = app.colours.style
        return [
            Row(
                info.name,
                (
                    Text(plain_text(info.name), style("foreground")),
                    Text(counted(info.messages, "message"), style("muted")),
                    Text(info.model.rpartition("/")[2], style("muted")),
                    Text(time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated)), style("muted")),
                ),
            )
            for info in talk.sessions(text)
        ]

    def chosen(name: str | None) -> None:
        if name is not None:
            app.command(f"/load {name}")

    app.push_screen(PickScreen("SESSIONS", ("session", "said", "model", "last"), find), chosen)


def _load(app: ChatApp, name: str) -> None:
    copied_from = app.talk.go_to(name)
    said = f"'{copied_from}' is open in another chat: this is a copy." if copied_from else ""
    app.show_conversation(f"Gone on with a session. {said}".strip())


def _clear(app: ChatApp, _: str) -> None:
    app.talk.begin_anew()
    app.show_conversation("A new conversation. The one before is in /sessions, where it was kept.")


def _save(app: ChatApp, name: str) -> None:
    app.tell(f"The session is called '{app.talk.rename(name)}'.")


def _export(app: ChatApp, name: str) -> None:
    file = Path(name or "conversation.md").expanduser()
    app.talk.export(file)
    app.tell(f"The conversation is in '{file}'.")


def _copy(app: ChatApp, what: str) -> None:
    answers = [divided(said.content).answer for said in app.talk.messages if said.role == "assistant"]
    text, named = part_to_copy(answers[-1] if answers else None, what)
    copy(app, text)
    app.notify(f"Copied {named}: {counted(len(text), 'character')}.", markup=False)


def _stats(app: ChatApp, _: str) -> None:
    figures = [said.figures for said in app.talk.messages if said.figures is not None]
    app.tell(total_words(figures) or "Nothing was answered yet.")


def _context(app: ChatApp, how: str) -> None:
    chosen = next((each for each in _ROOM if each == how), None)
    if chosen is not None:
        app.turns.make_room(chosen)
    elif how:
        raise UsageError(f"/context cannot '{how}'.", nearest(how, list(_ROOM)) or "Say /context drop.")
    else:
        use = app.turns.context
        limit = "" if use is None or use.limit is None else f" of {use.limit:,}"
        app.tell(f"{use.used if use else 0:,}{limit} tokens of the model's context are used.")


def _thoughts(app: ChatApp, _: str) -> None:
    app.column.unfolded = not app.column.unfolded


def _file(app: ChatApp, name: str) -> None:
    if name == "none":
        app.turns.detach()
    else:
        app.turns.attach(Path(name).expanduser())


def _session_names(app: ChatApp, _: str) -> Mapping[str, str]:
    with suppress(LookaheadError):
        return {info.name: counted(info.messages, "message") for info in app.talk.sessions()}
    return {}


def _setting_values(app: ChatApp, begun: str) -> Mapping[str, str]:
    """Settings as they are; behind some of them the values that they may have."""
    values: dict[str, Mapping[str, str]] = {"method": _METHODS, "sources": dict.fromkeys(SOURCES, "")}
    name, space, _ = begun.partition(" ")
    if space:
        return {f"{name} {value}": says for value, says in values.get(name, {}).items()}
    return {f"{name} ": value for name, value in settings_rows(app.talk.answerer.config)}


COMMANDS = (
    Command("help", "these commands", _help),
    Command(
        "model",
        "another model goes on with the conversation; alone it lists them",
        _model,
        "[NAME]",
        waits=_to_change_it,
        values=lambda app, _: dict.fromkeys(app.talk.answerer.model_names(), ""),
    ),
    Command("system", "the system prompt: see it, set it, or none", _system, "[TEXT]", waits=_to_change_it),
    Command(
        "set",
        "the settings with their cost, or another value of one",
        _set,
        "[NAME VALUE]",
        waits=_to_change_it,
        values=_setting_values,
    ),
    Command("method", "who guesses", _method, "NAME", values=lambda app, _: _METHODS, waits=_to_change_it),
    Command("stats", "tokens, speed, S and memory of all answers", _stats),
    Command(
        "check",
        "decode the last answer again greedily, and compare the ids",
        lambda app, _: app.turns.check(),
        waits=_always,
    ),
    Command(
        "context",
        "what the conversation uses of the model's context; drop or summarise makes room",
        _context,
        "[WORD]",
        waits=_to_count_it,
        values=lambda app, _: {str(how): says for how, says in _ROOM.items()},
    ),
    Command(
        "pool",
        "what the n-gram pool holds; clear it, save FILE, load FILE",
        _pool,
        "[WORD]",
        waits=_always,
        values=lambda app, _: _POOL_WORDS,
    ),
    Command("sessions", "the conversations that were kept, to choose from", _sessions),
    Command("load", "go on with another session", _load, "NAME", values=_session_names, waits=_always),
    Command("save", "give the session a name", _save, "NAME"),
    Command("clear", "a new conversation; this one stays in the sessions", _clear, waits=_always),
    Command("export", "write it as Markdown, or JSON for *.json", _export, "[FILE]"),
    Command(
        "file",
        "a text file goes with the next question; none takes it away",
        _file,
        "PATH",
        values=lambda _, begun: paths_from(begun),
    ),
    Command(
        "retry", "answer the last question again", lambda app, _: app.retry(), key="ctrl+r", waits=_always
    ),
    Command("continue", "go on with a cut answer", lambda app, _: app.go_on(), key="ctrl+g", waits=_always),
    Command(
        "undo",
        "take the last turn back: its question is in the line, to be changed",
        lambda app, _: app.undo(),
        waits=_always,
        key="ctrl+t",
    ),
    Command(
        "copy",
        "the last answer, its code, or one block of it",
        _copy,
        "[code [NUMBER]]",
        key="ctrl+o",
        values=lambda app, _: {"code": "its blocks of code; a number behind it takes one"},
    ),
    Command("edit", "write the question in your own editor", lambda app, _: app.action_editor(), key="F4"),
    Command("tokens", "the answers' tokens, a colour a step", lambda app, _: app.action_raw(), key="F3"),
    Command(
        "thoughts",
        "unfold what the model thought before it answered",
        _thoughts,
        key="F9",
    ),
    Command(
        "panels",
        "show or hide the decoding panels; F5 to F8 one each",
        lambda app, _: app.action_panels(),
        key="F2",
    ),
    Command("quit", "leave", lambda app, _: app.action_leave(), key="ctrl+q"),
)


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
