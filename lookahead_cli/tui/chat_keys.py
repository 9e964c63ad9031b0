"""The keys of the chat screen."""

from __future__ import annotations

from textual.binding import Binding, BindingType

_PANELS = (
    ("f5", "window", "the 2D window"),
    ("f6", "pool", "the n-gram pool"),
    ("f7", "accepted", "the accepted tokens"),
    ("f8", "meter", "the compression meter"),
)
CHAT_NEEDED = ("f1", "escape", "ctrl+q", "f2", "f3", "f4")
"""The keys, the most needed first: a narrow key bar leaves out the last ones."""

CHAT_KEYS: list[BindingType] = [
    Binding("escape", "stop", "Stop", id="chat.stop", tooltip="End the answer within one step; it is kept"),
    Binding(
        "ctrl+r",
        "command('retry')",
        "Again",
        id="chat.retry",
        show=False,
        tooltip="Answer the last question again",
    ),
    Binding(
        "ctrl+g",
        "command('continue')",
        "Go on",
        id="chat.go_on",
        show=False,
        tooltip="Go on with a cut answer",
    ),
    Binding(
        "ctrl+t", "command('undo')", "Undo", id="chat.undo", show=False, tooltip="Take the last turn back"
    ),
    Binding("ctrl+o", "command('copy')", "Copy", id="chat.copy", show=False, tooltip="Copy the last answer"),
    Binding("f1", "command('help')", "Help", id="chat.help", tooltip="The commands"),
    Binding("f2", "panels", "Panels", id="chat.panels", tooltip="Show or hide the decoding panels"),
    Binding("f3", "raw", "Tokens", id="chat.raw", tooltip="The answers' tokens, a colour a step"),
    Binding("f4", "editor", "Editor", id="chat.editor", tooltip="Write the question in your own editor"),
    Binding(
        "f9",
        "command('thoughts')",
        "Thoughts",
        id="chat.thoughts",
        show=False,
        tooltip="Unfold what was thought",
    ),
    *(
        Binding(
            key,
            f"panels('{name}')",
            f"Panel: {words}",
            id=f"chat.{name}",
            show=False,
            priority=True,  # The input line has other uses for some of them.
            tooltip=f"Show or hide {words}",
        )
        for key, name, words in _PANELS
    ),
    Binding("pageup", "scroll(-1)", "Scroll up", id="chat.up", show=False, priority=True),
    Binding("pagedown", "scroll(1)", "Scroll down", id="chat.down", show=False, priority=True),
    Binding("ctrl+q", "leave", "Quit", id="chat.quit", tooltip="Leave", priority=True),
    Binding(
        "ctrl+c",
        "interrupt",
        "Empty the line",
        id="chat.close",
        show=False,
        priority=True,
        tooltip="Empty the input line, or leave",
    ),
]
IN_THE_TABLE = frozenset(
    {*(f"command('{word}')" for word in ("retry", "continue", "undo", "copy", "help", "thoughts"))}
    | {"panels", "raw", "editor", "leave"}
)
"""Actions that the table of commands has too; the palette names them once."""
