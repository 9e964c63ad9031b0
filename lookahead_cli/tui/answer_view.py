"""An answer in a conversation: rendered Markdown, or its tokens as they came, a colour a step."""

from __future__ import annotations

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Markdown, Static


class AnswerView(Vertical):
    """One answer; with the class `-raw` it shows the tokens.

    Args:
        who: Who speaks.
        text: What is there already.
        figures: How it was decoded, None while it comes.

    Attributes:
        text: What is shown so far.
        figures: How it was decoded.
    """

    DEFAULT_CSS = """
    AnswerView { height: auto; }
    AnswerView Markdown { height: auto; padding: 0; background: transparent; }
    AnswerView Static { height: auto; }
    AnswerView .tokens { display: none; margin-bottom: 1; }
    AnswerView .figures { display: none; margin-bottom: 1; }
    AnswerView.-ended .figures { display: block; }
    AnswerView.-raw .tokens { display: block; }
    AnswerView.-raw Markdown { display: none; }
    """

    def __init__(self, who: Text, text: str = "", figures: Text | None = None) -> None:
        super().__init__(classes="-ended" if figures is not None else None)
        self.text = text
        self.figures = figures
        self._who = who

    def compose(self) -> ComposeResult:
        """Who speaks, the text, its tokens, and how they were decoded."""
        yield Static(self._who, classes="name", markup=False)
        yield Markdown(self.text, open_links=False)
        yield Static(Text(self.text), classes="tokens", markup=False)
        yield Static(self.figures or "", classes="figures", markup=False)

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

    def end(self, figures: Text) -> None:
        """Say how the whole answer was decoded."""
        self.figures = figures
        self.query_one(".figures", Static).update(figures)
        self.add_class("-ended")
