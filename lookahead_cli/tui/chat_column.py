"""The conversation's column: what was said, what is said beside it, and the answer that comes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text
from textual.containers import VerticalScroll
from textual.widget import Widget
from textual.widgets import Static

from lookahead_cli.sessions.words import answer_words, summary_words, total_words
from lookahead_cli.trace.words import counted
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.marks import MATCHED, REJECTED
from lookahead_cli.tui.talk import Said
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import screen_text

_SHOWN_AT_FIRST = 10


class Rows(Static):
    """Pairs, one below the other; what is too long goes on in its own column.

    Attributes:
        pairs: What they say.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], theme: Theme) -> None:
        self.pairs = tuple(pairs)
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(no_wrap=True, style=theme.style("accent"))
        table.add_column(style=theme.style("muted"))
        for left, right in self.pairs:
            table.add_row(Text(left), Text(right))
        super().__init__(table, markup=False)


class ConversationColumn(VerticalScroll):
    """Shows messages, and follows its end until somebody looks back.

    Args:
        theme: The colours.
    """

    DEFAULT_CSS = """
    ConversationColumn { width: 3fr; padding: 0 1; scrollbar-size-vertical: 1; scrollbar-color: $primary 50%;
                         scrollbar-background: $background; }
    ConversationColumn > Rows { margin-bottom: 1; height: auto; }
    ConversationColumn > Static { margin-bottom: 1; height: auto; }
    ConversationColumn > .summary { border-left: outer $primary; padding-left: 1; }
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(id="talk", can_focus=False)
        self._colours = theme
        self._messages: Sequence[Said] = ()
        self._earlier = 0
        self._earlier_line = self._line(Text())
        self._raw = False
        self._unfolded = False

    @property
    def raw(self) -> bool:
        """True where the answers' tokens are shown instead of the answers as they read."""
        return self._raw

    @raw.setter
    def raw(self, raw: bool) -> None:
        self._raw = raw
        self.query(AnswerView).set_class(raw, "-raw")

    @property
    def unfolded(self) -> bool:
        """True where what the model thought is shown too."""
        return self._unfolded

    @unfolded.setter
    def unfolded(self, unfolded: bool) -> None:
        self._unfolded = unfolded
        self.query(AnswerView).set_class(unfolded, "-unfolded")

    def show_messages(self, messages: Sequence[Said]) -> None:
        """Show the end of a conversation; page up at its top shows more of it."""
        self._messages = tuple(messages)
        self.mount_all(self._part_before(len(self._messages)))
        self._show_total(messages)
        self.anchor()

    def show_instead(self, messages: Sequence[Said]) -> None:
        """Show a conversation and nothing of what was here."""
        self.remove_children()
        self.show_messages(messages)

    def _show_more(self) -> None:
        """What was said before the first message that is shown."""
        line = self._earlier_line
        self.mount_all(self._part_before(self._earlier), before=line)
        line.remove()

    def _part_before(self, end: int) -> list[Widget]:
        """Widgets of the messages before one, and of how many there are before those."""
        begin = max(0, end - _SHOWN_AT_FIRST)
        widgets = [self._message(said) for said in self._messages[begin:end]]
        self._earlier = begin
        if begin:
            words = f"… {counted(begin, 'message')} before; page up shows them."
            self._earlier_line = self._line(Text(words, self._colours.style("muted")))
            widgets.insert(0, self._earlier_line)
        return widgets

    def _message(self, said: Said) -> Widget:
        if said.role == "user":
            return self._line(self._by("you", Text(screen_text(said.content))))
        if said.role == "summary":
            return self._summary(said)
        return self._answer(screen_text(said.content), self._figures(said))

    def _summary(self, said: Said) -> Static:
        colours = self._colours
        text = Text(summary_words(said.content, said.covers), colours.style("accent"))
        if said.content:
            text.append(f"\n{screen_text(said.content)}", colours.style("foreground"))
        summary = self._line(text)
        summary.add_class("summary")
        return summary

    def _figures(self, said: Said) -> Text | None:
        if said.figures is None:
            return None
        return Text(answer_words(said.figures, said.finish_reason), self._colours.style("muted"))

    def _answer(self, text: str, figures: Text | None = None) -> AnswerView:
        view = AnswerView(
            Text("model:", self._colours.style("foreground")), text, figures, self._colours.style("muted")
        )
        view.set_class(self._raw, "-raw")
        view.set_class(self._unfolded, "-unfolded")
        return view

    def _line(self, text: Text) -> Static:
        return Static(text, markup=False)

    def _by(self, who: str, text: Text) -> Text:
        return Text.assemble((f"{who}: ", self._colours.style("accent")), text)

    def question(self, text: str) -> Static:
        """Show what the person asked."""
        return self._say(self._by("you", Text(screen_text(text))))

    def complain(self, message: str) -> None:
        """Say what went wrong."""
        self._say(self._by("lookahead", Text(screen_text(message), self._colours.style("rejected"))))

    def tell(self, message: str) -> Static:
        """Say something that is no part of the conversation."""
        return self._say(Text(screen_text(message), self._colours.style("muted")))

    def tell_rows(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Say several things, each with its name."""
        self._mount(Rows(pairs, self._colours))

    def show_summary(self, said: Said, before: Widget | None) -> Static:
        """Show what is no longer fed from here on, above what needed the room."""
        summary = self._summary(said)
        self.mount(summary, before=before)
        self.anchor()
        return summary

    def begin_answer(self, begun: str) -> AnswerView:
        """An answer that comes, behind the beginning that it has already."""
        answer = self._answer(begun)
        self._mount(answer)
        return answer

    def end_answer(self, answer: AnswerView, messages: Sequence[Said]) -> None:
        """Say below the last answer how it was decoded, and how all of them were."""
        figures = self._figures(messages[-1])
        if figures is not None:
            answer.end(figures)
            self._show_total(messages)
            self.anchor()

    def show_check(self, answer: AnswerView, words: str, is_equal: bool) -> None:
        """Say below an answer what a check of it showed."""
        mark, style = (MATCHED, "accepted") if is_equal else (REJECTED, "rejected")
        figures = answer.figures or Text()
        answer.end(Text.assemble(figures, "\n", (f"{mark} {screen_text(words)}", self._colours.style(style))))
        self.anchor()

    def _show_total(self, messages: Sequence[Said]) -> None:
        """The running total; of one answer its own line says it all."""
        self.query(".total").remove()
        listed = [said.figures for said in messages if said.figures is not None]
        if len(listed) > 1:
            total = self._line(Text(f"In all: {total_words(listed)}", self._colours.style("muted")))
            total.add_class("total")
            self._mount(total)

    def last_answer(self) -> AnswerView:
        """The newest answer that is shown."""
        return self.query(AnswerView).last()

    def show_answer_again(self, said: Said) -> None:
        """Show an answer that was taken away for another one which did not come."""
        self._mount(self._message(said))

    def _say(self, text: Text) -> Static:
        line = self._line(text)
        self._mount(line)
        return line

    def _mount(self, widget: Widget) -> None:
        self.mount(widget)
        self.anchor()

    def page(self, by: int) -> None:
        """Look at what was said earlier or later."""
        if by < 0 and self.scroll_y == 0 and self._earlier:
            self._show_more()
        self.scroll_relative(y=by * max(1, self.size.height - 2), animate=False)
