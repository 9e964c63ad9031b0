"""`lookahead sessions`: the conversations that were kept."""

from __future__ import annotations

import io
import json as json_module
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from lookahead_cli.cli import checks
from lookahead_cli.cli.console import note, output_console
from lookahead_cli.cli.options import Compact, Plain, Theme
from lookahead_cli.errors import ExitCode, InputError, UsageError

if TYPE_CHECKING:
    from lookahead_cli.sessions.records import SavedMessage, SessionInfo
    from lookahead_cli.sessions.store import SessionStore

sessions = typer.Typer(
    help="Conversations that were kept: list, search, read, rename, delete, export.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def names(incomplete: str) -> list[str]:
    """Names for completion; what cannot be read completes nothing."""
    try:
        with _store() as store:
            return [info.name for info in store.sessions() if info.name.startswith(incomplete)]
    except InputError:
        return []


Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A session's name, or its beginning.", autocompletion=names, show_default=False
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write it as JSON.")]


@sessions.callback(invoke_without_command=True)
def _root(context: typer.Context, json: AsJson = False) -> None:
    if context.invoked_subcommand is None:
        _list("", as_json=json)


@sessions.command("list")
def list_sessions(json: AsJson = False) -> None:
    """List the sessions, the newest first."""
    _list("", as_json=json)


@sessions.command()
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Part of a name or of a message.")],
    json: AsJson = False,
) -> None:
    """List the sessions in which a text was said."""
    _list(text, as_json=json)


@sessions.command()
def show(name: Name) -> None:
    """Print a session, its messages numbered."""
    from rich.text import Text

    from lookahead_cli.sessions.words import summary_words

    with _store() as store:
        info = store.find(name)
        console = output_console()
        for number, message in enumerate(store.messages(info.id), start=1):
            who = {"user": "you", "assistant": info.model}.get(message.role, "summary")
            console.print(Text(f"{number}  {who}", "bold"))
            if message.role == "summary":
                console.print(Text(summary_words(message.content, message.covers), "italic"))
            console.print(Text(message.content), soft_wrap=True)
            console.print()


@sessions.command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(metavar="NEW", help="What to call it from now on.")],
) -> None:
    """Call a session something else."""
    with _store() as store:
        note(f"It is called '{store.rename(store.find(name).id, new)}' now.")


@sessions.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> int:
    """Delete a session with its traces; this cannot be undone."""
    with _store() as store:
        info = store.find(name)
        if not yes:
            if not sys.stdin.isatty():
                raise UsageError("Deleting asks first, and nobody can answer here.", "Add --yes.")
            typer.confirm(f"Delete '{info.name}' with {info.messages} messages?", abort=True, err=True)
        store.delete(info.id)
        note(f"'{info.name}' is deleted.")
    return ExitCode.OK


@sessions.command()
def export(
    name: Name,
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write it there, not to the output.")
    ] = None,
    form: Annotated[
        Literal["markdown", "json"] | None,
        typer.Option("--format", help="Default: json for a file named so, else markdown."),
    ] = None,
) -> None:
    """Write a session as Markdown or JSON."""
    from lookahead_cli.sessions.export import as_json, as_markdown

    checks.check_writable(to)
    with _store() as store:
        info = store.find(name)
        messages = store.messages(info.id)
    is_json = form == "json" or (form is None and to is not None and to.suffix == ".json")
    text = (as_json if is_json else as_markdown)(info, messages)
    if to is None:
        sys.stdout.write(text)
    else:
        to.write_text(text, encoding="utf-8")
        note(f"'{info.name}' is in '{to}'.")


@sessions.command("open")
def open_answer(
    name: Name,
    message: Annotated[
        int | None,
        typer.Option("--message", "-n", metavar="NUMBER", help="Which message; default: the last answer."),
    ] = None,
    plain: Plain = False,
    compact: Compact = False,
    json: Annotated[bool, typer.Option("--json", help="Write the trace to standard output.")] = False,
    theme: Theme = None,
) -> int:
    """Show how an answer was decoded, step by step."""
    from lookahead_cli.cli.output import Output, choose_view
    from lookahead_cli.cli.output import show as show_run
    from lookahead_cli.tui.source import TraceSource

    view = choose_view(plain=plain, compact=compact, json=json)
    checks.check_theme(theme)
    with _store() as store:
        info = store.find(name)
        lines = store.trace_lines(_answer_of(store.messages(info.id), message, info).id)
    if not lines:
        raise InputError("Nothing of that answer was decoded.", "Choose another one with --message.")
    return show_run(TraceSource(io.StringIO("".join(lines)), info.name), Output(view, theme))


def _answer_of(messages: list[SavedMessage], number: int | None, info: SessionInfo) -> SavedMessage:
    answers = {at: each for at, each in enumerate(messages, start=1) if each.role == "assistant"}
    if not answers:
        raise InputError(f"'{info.name}' has no answer.", "Choose another session.")
    chosen = max(answers) if number is None else number
    if chosen not in answers:
        raise UsageError(
            f"Message {chosen} of '{info.name}' is no answer.",
            f"Choose one of {', '.join(map(str, list(answers)[-8:]))}.",
        )
    return answers[chosen]


@contextmanager
def _store() -> Iterator[SessionStore]:
    from lookahead_cli.locations import data_folder
    from lookahead_cli.sessions.store import SessionStore

    store = SessionStore(data_folder())
    try:
        yield store
    finally:
        store.close()


def _list(text: str, *, as_json: bool) -> None:
    with _store() as store:
        found = store.sessions(text)
    if as_json:
        rows = [
            {
                "name": info.name,
                "model": info.model,
                "messages": info.messages,
                "created": info.created,
                "updated": info.updated,
            }
            for info in found
        ]
        print(json_module.dumps(rows, indent=2, ensure_ascii=False))
        return
    if not found:
        print(
            f"No session has '{text}'." if text else "No session was kept yet. `lookahead chat` begins one."
        )
        return
    from rich import box
    from rich.table import Table

    table = Table("session", "messages", "model", "last", box=box.SIMPLE_HEAD)
    for info in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.updated))
        table.add_row(info.name, str(info.messages), info.model, when)
    output_console().print(table)
