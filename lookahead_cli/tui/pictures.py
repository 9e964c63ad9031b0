"""What each panel says, as Rich text: pure functions of a `RunView`, a theme and a size in cells."""

from __future__ import annotations

import re
from collections import Counter

from rich.style import Style
from rich.text import Text

from lookahead_cli.decoding.records import Candidate, Step, WindowRecord
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import cell_width, visible

BARS = "▁▂▃▄▅▆▇█"
MATCHED, REJECTED, UNREACHED, FREE = "✓", "✗", "·", "★"
_LABEL = 4


def waiting(view: RunView, what: str) -> Text:
    """What a panel says that has nothing to show."""
    method = view.header.config.get("method", "") if view.header else ""
    if view.step is not None:
        return Text(f"{method} decoding has no {what}.", style="dim")
    return Text("Waiting for the first step.", style="dim")


def window_picture(view: RunView, theme: Theme, width: int, height: int) -> Text:
    """The window's rows, oldest first, and the new one; columns whose n-gram is new in the pool marked."""
    step = view.step
    if step is None or step.window is None:
        return waiting(view, "window")
    window = step.window
    columns = len(window.rows[0])
    cell = max(5, min(11, (width - _LABEL) // columns))
    shown = max(1, min(columns, (width - _LABEL) // cell))
    inserted = {
        change.column for change in (step.pool.changes if step.pool else ()) if change.event == "insert"
    }
    text = Text(no_wrap=True, overflow="crop")
    text.append(" " * _LABEL)
    for column in range(shown):
        mark = "▾" if column in inserted else ""
        text.append(f"+{column}{mark}".ljust(cell), theme.style("pool_hit" if mark else "muted"))
    last = len(window.rows) - 1
    for row in range(last + 1):
        text.append(f"\nr{row}".ljust(_LABEL + 1), theme.style("muted"))
        for column in range(shown):
            text.append(*_cell(view, step, window, theme, row, column, cell))
    text.append("\nnew ", theme.style("muted"))
    for token in window.new[:shown]:
        text.append(_padded(visible(view.token(token), cell - 2), cell), theme.style("wanted"))
    spare = height - (last + 3)
    if spare >= 1:
        text.append("\n" * (1 if spare == 1 else 2))
        more = f"{columns - shown} more columns  " if shown < columns else ""
        text.append(
            f"{more}✓ came true  italic refilled  ▾ n-gram new in pool (read down a column)",
            theme.style("muted"),
        )
    return text


def _cell(
    view: RunView, step: Step, window: WindowRecord, theme: Theme, row: int, column: int, cell: int
) -> tuple[str, Style]:
    node = window.nodes[row][column]
    came_true = node is not None and step.nodes[node].matched and (row, column) != (0, 0)
    label = visible(view.token(window.rows[row][column]), cell - 2) + (MATCHED if came_true else "")
    if (row, column) == (0, 0):
        return _padded(label, cell), theme.style("accent")
    if came_true:
        return _padded(label, cell), theme.style("accepted")
    role = "refilled" if (row, column) in window.refilled else f"age_{len(window.rows) - 1 - row}"
    return _padded(label, cell), theme.style(role)


def _padded(label: str, cell: int) -> str:
    return label + " " * max(0, cell - cell_width(label))


def pool_picture(view: RunView, theme: Theme, width: int, height: int) -> Text:
    """The current token's candidates, how far each came, and why it failed; then what the pool holds."""
    step = view.step
    if step is None or step.pool is None:
        return waiting(view, "n-gram pool")
    text = Text(no_wrap=True, overflow="ellipsis")
    text.append("key ", theme.style("muted")).append(
        visible(view.token(step.nodes[0].token), 16), theme.style("accent")
    )
    events = Counter(change.event for change in step.pool.changes)
    total = view.total
    text.append(
        f" · {step.pool.size} n-grams, {step.pool.keys} keys · hit {total.hits} of {total.steps} steps",
        theme.style("muted"),
    )
    if not step.candidates:
        text.append("\nno candidate: this token is not a key yet", theme.style("muted"))
    # A small panel keeps its room for the best candidate and why it failed.
    room = height - 2 if height > 4 else height - 1
    ordered = sorted(step.candidates, key=lambda candidate: -candidate.matched)
    for index, candidate in enumerate(ordered):
        lines = _candidate_lines(view, theme, candidate, width)
        if room < len(lines) and not (index == 0 and room > 0):
            if room > 0:
                text.append(f"\n{len(ordered) - index} more candidates", theme.style("muted"))
                room -= 1
            break
        lines = lines[:room]
        room -= len(lines)
        for line in lines:
            text.append("\n").append_text(line)
    if room > 0:
        text.append(
            f"\nthis step: {events['insert']} new, {events['refresh']} seen again, {events['evict']} dropped",
            theme.style("muted"),
        )
    return text


def _candidate_lines(view: RunView, theme: Theme, candidate: Candidate, width: int) -> list[Text]:
    line = Text(no_wrap=True)
    failed = candidate.wanted is not None and candidate.matched < len(candidate.tokens)
    marks = MATCHED * candidate.matched + (REJECTED if failed else "")
    for mark in marks.ljust(len(candidate.tokens), UNREACHED):
        line.append(mark, theme.style({MATCHED: "accepted", REJECTED: "rejected"}.get(mark, "muted")))
    for at, token in enumerate(candidate.tokens):
        role = (
            "pool_hit"
            if at < candidate.matched
            else "rejected"
            if failed and at == candidate.matched
            else "muted"
        )
        line.append(" ").append(visible(view.token(token), 10), theme.style(role))
    line.append(f"  {candidate.source}", theme.style("muted"))
    if candidate.born >= 0:
        line.append(f", step {candidate.born}", theme.style("muted"))
    if not failed:
        return [line]
    why = Text(no_wrap=True)
    why.append("wanted ", theme.style("muted")).append(
        visible(view.token(candidate.wanted), 12), theme.style("wanted")
    )
    why.append(f" ({candidate.wanted_probability or 0:.2f}), not ", theme.style("muted"))
    why.append(visible(view.token(candidate.tokens[candidate.matched]), 12), theme.style("rejected"))
    why.append(f" ({candidate.got_probability or 0:.2f})", theme.style("muted"))
    if line.cell_len + 2 + why.cell_len <= width:
        return [line.append("  ").append_text(why)]
    return [line, Text("  ").append_text(why)]


def accepted_picture(view: RunView, theme: Theme, width: int, height: int) -> Text:
    """The newest lines of the output, one ground a step in turn, free tokens with ★."""
    if view.step is None:
        return waiting(view, "tokens")
    pieces: list[tuple[str, Style]] = []
    budget = width * height
    for step in reversed(view.steps[: view.shown + 1]):
        ground = theme.shades[step.index % len(theme.shades)]
        marked: list[tuple[str, Style]] = []
        for token in step.accepted:
            label = visible(view.token(token.token))
            free = token.origin is not None
            style = theme.style("free" if free else "foreground") + Style(bgcolor=ground)
            marked.append(((FREE if free else "") + label, style))
            budget -= cell_width(label) + 1 + (width // 2 if "↵" in label else 0)
        pieces = marked + pieces
        if budget < 0:
            break
    lines = [Text(no_wrap=True)]
    for label, style in pieces:
        for part in re.split("(?<=↵)", label):
            if lines[-1].cell_len + cell_width(part) > width:
                lines.append(Text(no_wrap=True))
            lines[-1].append(part, style)
            if part.endswith("↵"):
                lines.append(Text(no_wrap=True))
    room = height - 1 if height > 4 else height
    text = Text("\n", no_wrap=True).join(lines[-room:])
    if height > 4:
        text.append(
            f"\n{FREE} free: guessed right, it cost no step · one ground a step", theme.style("muted")
        )
    return text


def meter_picture(view: RunView, theme: Theme, width: int, height: int, *, with_ratio: bool) -> Text:
    """Steps against greedy's, nodes, the acceptance histogram, seconds by phase."""
    total = view.total
    text = Text(no_wrap=True, overflow="ellipsis")
    if with_ratio:
        text.append(f"S = {total.compression_ratio:.2f}×  ", theme.style("accent"))
    text.append(f"{total.emitted} tokens in {total.steps} steps", theme.style("foreground"))
    lines = [f"greedy needs {total.emitted} steps · time ratio: {_time_ratio(view)}"]
    lines.append(_histogram(view))
    if total.steps:
        saved = f", {total.merged / total.steps:.1f} saved by merging" if total.merged else ""
        lines.append(f"{total.nodes / total.steps:.1f} nodes a step{saved}")
    if view.step is not None:
        seconds = view.step.seconds
        lines.append(
            f"step {1000 * seconds.total:.0f} ms: forward {1000 * seconds.forward:.0f}, "
            f"read-out {1000 * seconds.readout:.0f}, propose {1000 * seconds.propose:.1f}, "
            f"commit {1000 * seconds.commit:.1f}"
        )
    for line in lines[: max(0, height - 1)]:
        text.append("\n").append(line, theme.style("muted"))
    return text


def _time_ratio(view: RunView) -> str:
    footer = view.footer
    if footer is None or footer.greedy is None:
        return "not measured (--greedy)"
    greedy = footer.greedy
    equal = "ids equal" if greedy.ids_equal else f"ids differ at {greedy.first_difference}"
    return f"{greedy.seconds / footer.seconds:.2f}× (measured), {equal}" if footer.seconds else equal


def _histogram(view: RunView) -> str:
    counts = Counter(len(step.accepted) for step in view.steps[: view.shown + 1])
    if not counts:
        return ""
    most = max(counts.values())
    bars = [
        f"{number}{BARS[round((len(BARS) - 1) * counts[number] / most)]}{counts[number]}"
        for number in range(1, max(counts) + 1)
    ]
    return "accepted a step: " + " ".join(bars)


def timeline_picture(view: RunView, theme: Theme, width: int) -> Text:
    """One bar a step, as high as the tokens it emitted; the step looked at stands out."""
    text = Text(no_wrap=True, overflow="crop")
    if not view.steps:
        return text
    first = max(0, min(view.shown - width // 2, len(view.steps) - width))
    for step in view.steps[first : first + width]:
        bar = BARS[min(len(BARS) - 1, len(step.accepted) - 1)]
        here = step.index == view.shown
        role = "accent" if here else "free" if len(step.accepted) > 1 else "muted"
        text.append(bar, theme.style(role) + Style(reverse=here))
    return text
