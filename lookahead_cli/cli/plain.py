"""The plain printer: the same story as the full screen, one step after the other, with Rich."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text

from lookahead_cli.cli.console import without_controls, writing_output
from lookahead_cli.cli.summary import summary_lines
from lookahead_cli.decoding.records import Accepted, Candidate, Step, WindowRecord
from lookahead_cli.trace.events import Footer, Header, StepEvent, TokenText
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.trace.words import counted, number, provenance
from lookahead_cli.tui.token_text import cell_width, visible

MATCHED, MISMATCHED, UNREACHED, FREE = "✓", "✗", "·", "★"
_LABEL = 10
_NARROWEST_CELL, _WIDEST_CELL = 6, 11

StyleOf = Callable[[str], Style]


class PlainPrinter:
    """Prints a run's events as they come.

    Args:
        console: Where to print.
        style_of: The style of a semantic role of the theme, such as `accepted` or `rejected`.
        compact: One line a step instead of the whole story.
    """

    def __init__(self, console: Console, style_of: StyleOf, *, compact: bool = False) -> None:
        self._console = console
        self._style_of = style_of
        self._compact = compact
        self._tokens: dict[int, TokenText] = {}

    def show(self, event: Header | StepEvent | Footer) -> None:
        """Print one event.

        Raises:
            OutputError: Standard output cannot be written.
        """
        self._tokens.update(event.tokens)
        lines = (
            self._header(event)
            if isinstance(event, Header)
            else self._footer(event)
            if isinstance(event, Footer)
            else self._compact_step(event.step)
            if self._compact
            else self._step(event.step)
        )
        with writing_output():
            for line in lines:
                line.rstrip()
                self._console.print(line, soft_wrap=self._compact)

    # The three kinds of events.

    def _header(self, header: Header) -> list[Text]:
        title = f"{header.model} · {header.dtype} · {header.place} · {settings_words(header.config)}"
        count = len(header.prompt_ids)
        lines = [
            Text(without_controls(title), style="bold"),
            Text(f"prompt, {count} tokens, fed in {header.prefill_seconds:.2f} s:", style="dim"),
            *self._quoted(header.prompt),
        ]
        if header.config.get("method") == "lookahead":
            legend = Text(style="dim")
            legend.append(MATCHED, self._style_of("accepted")).append(" confirmed by the model  ")
            legend.append(MISMATCHED, self._style_of("rejected")).append(" not what it wants  ")
            legend.append(f"{UNREACHED} not reached  ")
            legend.append(FREE, self._style_of("free")).append(" free of charge")
            lines.append(legend)
        return lines

    def _step(self, step: Step) -> list[Text]:
        lines = [Text(), self._rule(step)]
        if step.window is not None:
            lines.extend(self._window(step, step.window))
        if step.pool is not None or step.candidates:
            lines.extend(self._pool(step))
        lines.append(self._labelled("accepted", self._accepted(step.accepted)))
        lines.append(self._labelled("S so far", self._ratio(step)))
        return lines

    def _compact_step(self, step: Step) -> list[Text]:
        line = Text().append(f"{number(step.index):>4}  ", "dim")
        nodes = f"{len(step.nodes):>4} {'node ' if len(step.nodes) == 1 else 'nodes'}"
        line.append(f"S {_emitted(step) / (step.index + 1):.2f}  {nodes}  ")
        return [line.append_text(self._accepted(step.accepted))]

    def _footer(self, footer: Footer) -> list[Text]:
        lines = [Text(), Text("output:", style="dim"), *self._quoted(footer.text), Text()]
        lines.extend(Text(line) for line in summary_lines(footer, self._plain_token))
        lines[-1].stylize("bold")
        return lines

    # The parts of a step.

    def _rule(self, step: Step) -> Text:
        left = f"── step {number(step.index)} "
        right = f" {counted(len(step.nodes), 'node')}"
        right += f", {step.merged} saved by merging" if step.merged else ""
        right += f" · {step.seconds.total * 1000:.0f} ms"
        line = Text(left, style="bold")
        line.append("─" * max(2, self._console.width - cell_width(left) - cell_width(right)), "dim")
        return line.append(right, "dim")

    def _window(self, step: Step, window: WindowRecord) -> list[Text]:
        width = max(len(row) for row in window.rows)
        space = self._console.width - _LABEL
        cell = max(_NARROWEST_CELL, min(_WIDEST_CELL, space // width))
        shown = min(width, space // cell)
        more = f"  (+{width - shown} columns)" if shown < width else ""
        head = "".join(f"+{column}".ljust(cell) for column in range(shown)).rstrip()
        if cell_width(head + more) > space:
            more = ""
        lines = [self._labelled("window", Text(head + more, style="dim"))]
        refilled = frozenset(window.refilled)
        last = len(window.rows) - 1
        for row, tokens in enumerate(window.rows):
            line = Text()
            for column, token in enumerate(tokens[:shown]):
                node = window.nodes[row][column]
                confirmed = node is not None and step.nodes[node].matched and (row, column) != (0, 0)
                if confirmed:
                    role = "accepted"
                elif (row, column) in refilled:
                    role = "refilled"
                else:
                    role = f"age_{min(3, last - row)}"
                mark = MATCHED if confirmed else " "
                line.append_text(self._cell(token, cell, mark, role))
            lines.append(self._labelled(f"  r{row}", line))
        new = Text()
        for token in window.new[:shown]:
            new.append_text(self._cell(token, cell, " ", "wanted"))
        lines.append(self._labelled("  new", new))
        return lines

    def _pool(self, step: Step) -> list[Text]:
        root = self._token(step.nodes[0].token, 14)
        line = Text(f"key {root} · {counted(len(step.candidates), 'candidate')}")
        if step.pool is not None:
            changes = [change.event for change in step.pool.changes]
            held = f"{step.pool.size} n-grams, {changes.count('insert')} new"
            line.append(f" · {held}, {changes.count('evict')} dropped", "dim")
        lines = [self._labelled("pool", line)]
        for candidate in step.candidates:
            lines.extend(self._candidate(candidate))
        return lines

    def _candidate(self, candidate: Candidate) -> list[Text]:
        line = Text("  ")
        rejected_at = candidate.matched if candidate.wanted is not None else None
        for index in range(len(candidate.tokens)):
            if index < candidate.matched:
                line.append(MATCHED, self._style_of("accepted"))
            elif index == rejected_at:
                line.append(MISMATCHED, self._style_of("rejected"))
            else:
                line.append(UNREACHED, "dim")
        for index, token in enumerate(candidate.tokens):
            role = (
                "accepted"
                if index < candidate.matched
                else "rejected"
                if index == rejected_at
                else "pool_hit"
            )
            line.append(" ").append(self._token(token, 14), self._style_of(role))
        line.append(f"  {provenance(candidate)}", "dim")
        if candidate.wanted is None or rejected_at is None or rejected_at >= len(candidate.tokens):
            return [line]
        why = Text("wanted ")
        why.append(self._token(candidate.wanted, 14), self._style_of("wanted"))
        why.append(_probability(candidate.wanted_probability))
        why.append(", not ").append(
            self._token(candidate.tokens[rejected_at], 14), self._style_of("rejected")
        )
        why.append(_probability(candidate.got_probability))
        if line.cell_len + 2 + why.cell_len <= self._console.width:
            return [line.append("  ").append_text(why)]
        return [line, Text(" " * (2 + len(candidate.tokens) + 1)).append_text(why)]

    def _accepted(self, accepted: Sequence[Accepted]) -> Text:
        line = Text()
        for token in accepted[:-1]:
            line.append(f"{FREE}{self._token(token.token)}", self._style_of("free")).append(" ")
        for token in accepted[-1:]:
            line.append(self._token(token.token), self._style_of("accepted")).append(" ")
        return line

    def _ratio(self, step: Step) -> Text:
        emitted, steps = _emitted(step), step.index + 1
        line = Text().append(f"{emitted / steps:.2f}", "bold")
        return line.append(f"  ({counted(emitted, 'token')} in {counted(steps, 'step')})", "dim")

    # Text.

    def _labelled(self, label: str, content: Text) -> Text:
        return Text().append(label.ljust(_LABEL), "dim").append_text(content)

    def _cell(self, token: int | None, width: int, mark: str, role: str) -> Text:
        text = "" if token is None else self._token(token, width - 2)
        padded = text + mark + " " * (width - cell_width(text) - 1)
        return Text(padded, style=self._style_of(role))

    def _token(self, token: int, width: int | None = None) -> str:
        known = self._tokens.get(token)
        return f"#{token}" if known is None else visible(known, width)

    def _plain_token(self, token: int) -> str:
        return f"'{self._token(token)}'"

    def _quoted(self, text: str) -> list[Text]:
        lines = [Text(line) for line in _safe_lines(text)]
        if not self._compact:
            lines = [part for line in lines for part in line.wrap(self._console, self._console.width - 2)]
        return [Text().append("│ ", "dim").append_text(line) for line in lines]


def _safe_lines(text: str) -> list[str]:
    """Lines of model or file text that cannot steer a terminal."""
    return [without_controls(line.expandtabs(4)) for line in text.split("\n")]


def _emitted(step: Step) -> int:
    """Tokens emitted up to the end of the step."""
    return step.emitted_before + len(step.accepted)


def _probability(value: float | None) -> str:
    return "" if value is None else f" ({value:.2f})"


def style_table(styles: Mapping[str, Style]) -> StyleOf:
    """A lookup of styles by role that leaves an unknown role unstyled."""
    nothing = Style()
    return lambda role: styles.get(role, nothing)
