"""An answer in a conversation: rendered Markdown, or its tokens as they came, a colour a step."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Markdown, Static

from lookahead_cli.trace.words import counted
from lookahead_cli.tui.thinking import divided


class AnswerView(Vertical):
    """One answer; with the class `-raw` it shows the tokens, with `-unfolded` what the model thought.

    Args:
        who: Who speaks.
        text: What is there already.
        figures: How it was decoded, None while it comes.
        thought_style: How what the model thought looks.

    Attributes:
        text: The text so far, thoughts included.
        figures: How it was decoded.
        thinks_first: True where the prompt had the answer begin with thoughts.
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
    AnswerView .fold, AnswerView .thought { display: none; }
    AnswerView .thought { border-left: outer $primary; padding-left: 1; margin: 0 0 1 0; }
    AnswerView.-thinks .fold { display: block; }
    AnswerView.-thinks.-unfolded .thought { display: block; }
    AnswerView.-raw .fold, AnswerView.-thinks.-unfolded.-raw .thought { display: none; }
    """

    def __init__(
        self,
        who: Text,
        text: str = "",
        figures: Text | None = None,
        thought_style: Style | None = None,
    ) -> None:
        super().__init__(classes="-ended" if figures is not None else None)
        self.text = text
        self.figures = figures
        self.thinks_first = False
        self._who = who
        self._thought_style = thought_style or Style()
        self._shown = divided(text)

    def compose(self) -> ComposeResult:
        """Who speaks, the text, its tokens, and how they were decoded."""
        yield Static(self._who, classes="name", markup=False)
        thought = self._shown.thought
        self.set_class(bool(thought), "-thinks")
        yield Static(self._fold(), classes="fold", markup=False)
        yield Static(Text(thought, self._thought_style), classes="thought", markup=False)
        yield Markdown(self._shown.answer, open_links=False)
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
        before, self._shown = self._shown.answer, divided(text, is_begun=self.thinks_first)
        answer = self._shown.answer
        if answer.startswith(before):
            if answer != before:
                markdown.append(answer[len(before) :])
        else:
            markdown.update(answer)
        if self._shown.thought:
            self.add_class("-thinks")
            self.query_one(".fold", Static).update(self._fold())
            self.query_one(".thought", Static).update(Text(self._shown.thought, self._thought_style))
        self.text = text
        if tokens is not None:
            self.query_one(".tokens", Static).update(tokens)

    def _fold(self) -> Text:
        """How much was thought; it stands for the thoughts while they are folded."""
        words = counted(len(self._shown.thought.split()), "word")
        doing = "thought" if self._shown.has_ended else "thinking"
        return Text(f"▸ {doing}, {words}; F9 folds and unfolds", self._thought_style)

    def end(self, figures: Text) -> None:
        """Say how the whole answer was decoded."""
        self.figures = figures
        self.query_one(".figures", Static).update(figures)
        self.add_class("-ended")
