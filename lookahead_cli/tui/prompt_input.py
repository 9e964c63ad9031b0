"""The line where a question is typed: several lines if need be, and the questions before."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from lookahead_cli.tui.slash import Offer
from lookahead_cli.tui.suggestions import Suggestions
from lookahead_cli.tui.theme import Theme


class PromptInput(TextArea):
    """Enter sends; Shift+Enter or Ctrl+J begins a new line; up and down go through what was sent before.

    Tab finishes a command, and a list of what it may become is there while one is typed.

    Args:
        theme: The colours.
        suggestions: The list.
        offers: The ways to finish a line.
        sent: What was sent before, the newest last.
    """

    DEFAULT_CSS = """
    PromptInput { height: auto; max-height: 8; border: none; padding: 0 1; scrollbar-size-vertical: 1; }
    PromptInput:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Send", id="prompt.send", tooltip="Send what was typed"),
        Binding(
            "shift+enter,ctrl+j",
            "newline",
            "New line",
            id="prompt.newline",
            show=False,
            tooltip="Begin a new line",
        ),
    ]

    class Submitted(Message):
        """A text was sent.

        Args:
            text: The text, without blanks around it.
        """

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class EditorWanted(Message):
        """The text is to be edited outside."""

    def __init__(
        self,
        theme: Theme,
        suggestions: Suggestions,
        offers: Callable[[str], list[Offer]],
        *,
        placeholder: str,
        sent: Iterable[str] = (),
    ) -> None:
        super().__init__(
            soft_wrap=True, compact=True, highlight_cursor_line=False, placeholder=placeholder, id="prompt"
        )
        self.styles.background = theme.panel
        self.sent = list(sent)
        self._suggestions = suggestions
        self._offers = offers
        self._put: str | None = None
        self._chord = False
        self._looked_at: int | None = None
        self._draft = ""

    def put(self, text: str) -> None:
        """Fill the line with a text, the cursor behind it; what was not typed is not finished either."""
        self._put = text
        self._suggestions.offer([])
        self.text = text
        self.move_cursor(self.document.end)

    def take(self, text: str) -> None:
        """The text was sent: remember it, and begin anew with what was typed since."""
        if not self.sent or self.sent[-1] != text:
            self.sent.append(text)
        self._looked_at = None
        self.put(self.text.partition(text)[2].lstrip())

    def action_submit(self) -> None:
        """Send what was typed; whoever takes it empties the line."""
        text = self.text.strip()
        if text:
            self.post_message(self.Submitted(text))

    def action_newline(self) -> None:
        """Begin a new line."""
        self.insert("\n")

    def action_complete(self) -> None:
        """Take the line that was chosen from the list, or as much as all of them begin with."""
        # Typed text may be newer than the list.
        self._suggestions.offer(self._offers(self.text))
        line = self._suggestions.chosen or self._suggestions.common
        if len(line) > len(self.text):
            self.finish(line)

    def finish(self, line: str) -> None:
        """Fill the line, and offer what may follow."""
        self.put(line)
        self._put = None
        self._suggestions.offer(self._offers(line))

    def action_close_list(self) -> None:
        """Close the list."""
        self._put = self.text
        self._suggestions.offer([])

    @on(TextArea.Changed)
    def offer(self) -> None:
        """Show the ways to finish what was typed."""
        self._suggestions.offer([] if self.text == self._put else self._offers(self.text))

    def action_cursor_up(self, select: bool = False) -> None:
        """The line above, and above the first one the question before."""
        if not select and self.cursor_at_first_line and self.sent:
            self._look_back()
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """The line below, and below the last one the question after."""
        if not select and self.cursor_at_last_line and self._looked_at is not None:
            self._look_forward()
        else:
            super().action_cursor_down(select)

    async def _on_key(self, event: events.Key) -> None:
        # In the queue of the typed characters: a binding would be looked up past those that still wait there.
        action: dict[str, Callable[[], object]] = {
            "enter": self.action_submit,
            "shift+enter": self.action_newline,
            "ctrl+j": self.action_newline,
            "tab": self.action_complete,
        }
        if self._suggestions.is_open:
            action |= {
                "up": lambda: self._suggestions.move(-1),
                "down": lambda: self._suggestions.move(1),
                "escape": self.action_close_list,
            }
            if self._suggestions.chosen is not None:
                action["enter"] = self.action_complete
        # Ctrl+X cuts a selection; alone it begins the shell's chord for an editor.
        if event.key == "ctrl+x" and self.selection.is_empty:
            action["ctrl+x"] = lambda: None
        elif event.key == "ctrl+e" and self._chord:
            action["ctrl+e"] = lambda: self.post_message(self.EditorWanted())
        self._chord = event.key == "ctrl+x" and self.selection.is_empty
        if event.key in action:
            event.stop()
            event.prevent_default()
            action[event.key]()

    async def _on_paste(self, event: events.Paste) -> None:
        # Terminals send a pasted line break as a carriage return.
        event.text = event.text.replace("\r\n", "\n").replace("\r", "\n")

    def _look_back(self) -> None:
        if self._looked_at is None:
            self._draft = self.text
            self._looked_at = len(self.sent)
        if self._looked_at > 0:
            self._looked_at -= 1
            self.put(self.sent[self._looked_at])

    def _look_forward(self) -> None:
        assert self._looked_at is not None
        self._looked_at += 1
        if self._looked_at < len(self.sent):
            self.put(self.sent[self._looked_at])
        else:
            self._looked_at = None
            self.put(self._draft)
