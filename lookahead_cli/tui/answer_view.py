"""An answer in a conversation: rendered Markdown, or its tokens as they came, a colour a step."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Markdown, Static


class AnswerView(Vertical):
    """One answer; with the class `-raw` it shows the tokens.

    Attributes:
        text: What is shown so far.
    """

    DEFAULT_CSS = """
    AnswerView { height: auto; }
    AnswerView Markdown { height: auto; padding: 0; background: transparent; }
    AnswerView Static { height: auto; }
    AnswerView .tokens { display: none; margin-bottom: 1; }
    AnswerView.-raw .tokens { display: block; }
    AnswerView.-raw Markdown { display: none; }
    """

    def __init__(self, who: Text, text: str = "") -> None:
        super().__init__()
        self.text = text
        self._who = who

    def compose(self) -> ComposeResult:
        """Who speaks, the text, and its tokens."""
        yield Static(self._who, classes="name", markup=False)
        yield Markdown(self.text, open_links=False)
        yield Static(Text(self.text), classes="tokens", markup=False)

    def waits(self, why: Text) -> None:
        """Say what is done before the first token."""
        self.query_one(".name", Static).update(Text.assemble(self._who, " ", why))

    def show(self, text: str, tokens: Text | None) -> None:
        """Show the answer so far; what goes on at its end is added, so that nothing above is drawn again.

        Args:
            text: The text.
            tokens: Its tokens; None leaves those that are there.
        """
        self.query_one(".name", Static).update(self._who)
        markdown = self.query_one(Markdown)
        if text.startswith(self.text):
            if text != self.text:
                markdown.append(text[len(self.text) :])
        else:
            markdown.update(text)
        self.text = text
        if tokens is not None:
            self.query_one(".tokens", Static).update(tokens)
