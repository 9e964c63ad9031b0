"""The compression meter: steps saved, and time where it was measured."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual.renderables.digits import Digits

from lookahead_cli.trace.events import Footer, GreedyRun
from lookahead_cli.trace.words import ENDINGS, number
from lookahead_cli.tui.lines import Line, flow
from lookahead_cli.tui.marks import BARS, MATCHED, REJECTED
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.token_text import visible

_LABEL_CELLS = 10


class MeterPanel(Panel):
    """S in large digits, greedy beside it, the histogram of accepted tokens, nodes and phase times."""

    TITLE = "COMPRESSION"
    LEGEND = (
        ("S", "accent", "= tokens / steps"),
        ("█", "free", "steps with several tokens"),
    )
    HELP = (
        "S, the compression ratio, is the number of tokens divided by the number of steps; greedy "
        "decoding has exactly 1. Steps saved and time saved are two things: a step here feeds many nodes "
        "(window cells and candidates) where greedy feeds one. Where arithmetic is scarce, as on a CPU, "
        "those nodes take time, and a larger S can still be slower; on a GPU that waits for memory they "
        "are almost free. So the time ratio is shown only when greedy was really run beside it, with "
        "--greedy."
    )

    def lines(self, view: RunView, width: int, height: int) -> list[Line]:
        """The figures up to the step that is looked at, as many as there is room for."""
        if view.step is None:
            return self.waiting(view, width, "output")
        return self._small(view, width, height) if height < 8 else self._large(view, width, height)

    # Where there is room.

    def _large(self, view: RunView, width: int, height: int) -> list[Line]:
        lines = [*self._digits(view, width), *self._time(view, width), *self._free(view, width)]
        tail = self._work(view, width)
        room = height - len(lines) - len(tail)
        bars = len(view.total.histogram)
        if room >= bars + 2:
            lines += [Line(width), *self._bars(view, width), Line(width)]
        elif room >= bars:
            lines += self._bars(view, width)
        else:
            lines.append(self._histogram_line(view, width))
        return lines + tail

    def _digits(self, view: RunView, width: int) -> list[Line]:
        """S in large digits, and beside it the steps that it stands for."""
        style = self.style
        total = view.total
        saved = total.emitted - total.steps
        beside = (
            (f"{_counted(total.emitted, 'token')} in {_counted(total.steps, 'step')}", "foreground"),
            (f"greedy takes {_counted(total.emitted, 'step')}", "muted"),
            (f"{100 * saved / total.emitted:.0f} % of them saved" if saved else "none saved yet", "free"),
        )
        lines: list[Line] = []
        for row, (text, role) in zip(digit_rows(f"{total.compression_ratio:.2f}×"), beside, strict=True):
            line = Line(width).add(row, style("accent")).add("  ", style("muted"))
            lines.append(line.add(text, style(role)))
        return lines

    def _time(self, view: RunView, width: int) -> list[Line]:
        """Seconds, apart from the steps: compared with greedy's only where greedy was run."""
        style = self.style
        line = self._label("time", width).add(f"{view.total.seconds:.1f} s", style("foreground"))
        footer = view.footer if view.at_end else None
        if footer is None:
            if view.progress is None:
                return [line]
            return [line, self._label("", width).add(progress_words(view), style("bonus"))]
        lines = [line.add(f", {ENDINGS[footer.finish_reason]}", style("muted"))]
        if footer.greedy is not None:
            greedy = footer.greedy
            beside = self._label("greedy", width).add(f"{greedy.seconds:.1f} s: ", style("muted"))
            lines += [beside.add(_time_ratio(footer, greedy), style("foreground"))]
            lines += self._ids(view, greedy, width)
        return lines

    def _free(self, view: RunView, width: int) -> list[Line]:
        """Who guessed the tokens that came free of charge."""
        style = self.style
        credits = view.total.credits
        if not credits:
            return []
        line = self._label("free", width).add(f"{sum(credits.values())}", style("free"))
        parts = [f"{who} {count}" for who, count in sorted(credits.items(), key=lambda item: -item[1])]
        lines = [line.add(": ", style("muted"))]
        for index, part in enumerate(parts):
            comma = ", " if index < len(parts) - 1 else ""
            if lines[-1].width + len(part) + len(comma) > width:
                lines.append(self._label("", width))
            lines[-1].add(part + comma, style("muted"))
        return lines

    def _ids(self, view: RunView, greedy: GreedyRun, width: int) -> list[Line]:
        style = self.style
        line = self._label("ids", width)
        if greedy.ids_equal:
            return [line.add(f"{MATCHED} equal to greedy's, every one", style("accepted"))]
        assert greedy.first_difference is not None
        line.add(
            f"{REJECTED} differ first at output token {number(greedy.first_difference)}", style("rejected")
        )
        why = self._label("", width)
        why.add("greedy ", style("muted")).add(_named(view, greedy.expected), style("wanted"))
        why.add(", here ", style("muted")).add(_named(view, greedy.got), style("rejected"))
        if greedy.top_two_gap is not None:
            why.add(f", top two logits {greedy.top_two_gap:.2g} apart", style("muted"))
        return [line, why]

    def _bars(self, view: RunView, width: int) -> list[Line]:
        """One bar a number of tokens that a step accepted."""
        style = self.style
        counts = view.total.histogram
        most = max(counts)
        room = max(4, min(24, width - _LABEL_CELLS - 12))
        lines = []
        for tokens, count in enumerate(counts, start=1):
            line = self._label(_counted(tokens, "token"), width)
            cells = max(1, round(room * count / most)) if count else 0
            line.add("█" * cells, style("free" if tokens > 1 else "foreground"))
            lines.append(line.add(f" {_counted(count, 'step')}", style("muted")))
        return lines

    def _histogram_line(self, view: RunView, width: int) -> Line:
        style = self.style
        line = Line(width).add("accepted a step", style("muted"))
        counts = view.total.histogram
        most = max(counts)
        for tokens, count in enumerate(counts, start=1):
            bar = BARS[round((len(BARS) - 1) * count / most)] if count else " "
            line.add(f"  {tokens}", style("muted")).add(bar, style("free" if tokens > 1 else "foreground"))
            line.add(f"{count}", style("muted"))
        return line

    def _work(self, view: RunView, width: int) -> list[Line]:
        style = self.style
        total, step = view.total, view.step
        assert step is not None
        nodes = self._label("nodes", width).add(
            f"{total.nodes / total.steps:.1f} a step", style("foreground")
        )
        merged = f", {step.merged} merged" if step.merged else ""
        nodes.add(f" · now {len(step.nodes)}{merged}", style("muted"))
        seconds = step.seconds
        time = self._label("step", width).add(_milliseconds(seconds.total), style("foreground"))
        time.add(f": forward {_bare(seconds.forward)}, read-out {_bare(seconds.readout)},", style("muted"))
        rest = f"propose {_bare(seconds.propose)}, verify {_bare(seconds.verify)}, "
        rest += f"commit {_bare(seconds.commit)}"
        return [nodes, time, self._label("", width).add(rest, style("muted"))]

    # Where there is little room.

    def _small(self, view: RunView, width: int, height: int) -> list[Line]:
        """Everything close together: each group begins a line, and more lines where there is room."""
        muted = self.style("muted")
        footer = view.footer if view.at_end else None
        ids = [] if footer is None or footer.greedy is None else self._ids(view, footer.greedy, width)
        groups = [
            self._ratio_parts(view, width),
            self._work_parts(view, width),
            self._phase_parts(view, width),
        ]
        first, second, third = (flow(parts, width, muted) for parts in groups)
        if len(first) + len(second) + len(third) + len(ids) > height:
            first, second, third = ([_joined(parts, width, muted)] for parts in groups)
        return [*first, *ids, *second, *third][:height]

    def _ratio_parts(self, view: RunView, width: int) -> list[Line]:
        total = view.total
        first = self._words(f"{total.compression_ratio:.2f}×", "accent", width)
        counts = f"  {_counted(total.emitted, 'token')} in {_counted(total.steps, 'step')}"
        parts = [first.add(counts, self.style("foreground"))]
        parts.append(self._words(f"greedy {total.emitted}", "muted", width))
        footer = view.footer if view.at_end else None
        if footer is not None and footer.greedy is not None:
            parts.append(self._words(_time_ratio(footer, footer.greedy), "foreground", width))
        elif view.progress is not None:
            parts.append(self._words(progress_words(view), "bonus", width))
        else:
            ended = f", {ENDINGS[footer.finish_reason]}" if footer is not None else ""
            parts.append(self._words(f"{total.seconds:.1f} s{ended}", "muted", width))
        return parts

    def _work_parts(self, view: RunView, width: int) -> list[Line]:
        total, step = view.total, view.step
        assert step is not None
        merged = f", {step.merged} merged" if step.merged else ""
        nodes = f"{total.nodes / total.steps:.1f} nodes a step{merged}"
        return [self._histogram_line(view, width), self._words(nodes, "muted", width)]

    def _phase_parts(self, view: RunView, width: int) -> list[Line]:
        assert view.step is not None
        seconds = view.step.seconds
        rest = f"propose {_bare(seconds.propose)} read-out {_bare(seconds.readout)} "
        rest += f"commit {_bare(seconds.commit)}"
        words = (f"step {_milliseconds(seconds.total)}", f"forward {_milliseconds(seconds.forward)}", rest)
        return [self._words(text, "muted", width) for text in words]

    def _words(self, text: str, role: str, width: int) -> Line:
        return Line(width).add(text, self.style(role))

    def _label(self, text: str, width: int) -> Line:
        return Line(width).add(text, self.style("muted"), cells=_LABEL_CELLS)


def digit_rows(text: str) -> list[str]:
    """A number in the large digits of Textual, three rows high."""
    parts = Digits(text.replace("×", "x")).render(Style(bold=True))
    return [part.text for part in parts if isinstance(part, Segment) and part.text != "\n"]


def _joined(parts: Sequence[Line], width: int, style: Style) -> Line:
    """The parts on one line, cut where it ends."""
    line = Line(width)
    for part in parts:
        line = (line.add(" · ", style) if line.width else line).add_line(part)
    return line


def progress_words(view: RunView) -> str:
    """The work beside the steps, such as `greedy, to compare 12 of 40`."""
    progress = view.progress
    if progress is None:
        return ""
    amount = f" {progress.done:.0f} of {progress.total:.0f}" if progress.total else ""
    return progress.label + amount


def _time_ratio(footer: Footer, greedy: GreedyRun) -> str:
    if footer.seconds <= 0:
        return "time not measured"
    ratio = greedy.seconds / footer.seconds
    return f"time {ratio:.2f}× (measured)"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _named(view: RunView, token: int | None) -> str:
    return "the end" if token is None else visible(view.token(token), 12)


def _bare(seconds: float) -> str:
    return f"{1000 * seconds:.0f}" if seconds >= 0.01 else f"{1000 * seconds:.1f}"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds >= 0.1 else f"{1000 * seconds:.1f} ms"
