"""The keys of the chat screen."""

from __future__ import annotations

from textual.binding import Binding, BindingType

CHAT_KEYS: list[BindingType] = [
    Binding("escape", "stop", "Stop", id="chat.stop", tooltip="End the answer within one step; it is kept"),
    Binding(
        "ctrl+r", "retry", "Again", id="chat.retry", show=False, tooltip="Answer the last question again"
    ),
    Binding("ctrl+g", "go_on", "Go on", id="chat.go_on", show=False, tooltip="Go on with a cut answer"),
    Binding("ctrl+t", "undo", "Undo", id="chat.undo", show=False, tooltip="Take the last turn back"),
    Binding("ctrl+o", "copy", "Copy", id="chat.copy", show=False, tooltip="Copy the last answer"),
    Binding("f3", "raw", "Tokens", id="chat.raw", tooltip="The answers' tokens, a colour a step"),
    Binding("f2", "panels", "Panels", id="chat.panels", tooltip="Show or hide the decoding panels"),
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
