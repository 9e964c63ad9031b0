"""The line above a conversation: what answers, how it decodes, and what is done before the first step."""

from __future__ import annotations

from rich.text import Text

from lookahead_cli.trace.events import Progress
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.trace.words import amount
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme


def title_line(view: RunView, status: str, title: str, colours: Theme) -> Text:
    """What is done before a first step; else the run's model, settings and S, or what answers.

    Args:
        view: The run.
        status: What is done, empty for nothing.
        title: What answers.
        colours: The colours.
    """
    header = view.header
    text = Text(no_wrap=True, overflow="ellipsis")
    if status or header is None:
        return text.append(status or title, colours.style("accent"))
    text.append(header.model, colours.style("accent"))
    text.append(f" · {header.dtype} · {header.place}", colours.style("muted"))
    text.append(f" · {settings_words(header.config).removeprefix('lookahead ')}")
    return text.append(f" · S {view.total.compression_ratio:.2f}", colours.style("free"))


def doing(progress: Progress) -> str:
    """Work before the first step, and how far it is."""
    far = amount(progress)
    return f"{progress.label}, {far}" if far else progress.label
