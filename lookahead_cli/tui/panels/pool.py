"""The n-gram pool: this step's candidates, how far each came, and why it went no further."""

from __future__ import annotations

from collections import Counter

from lookahead_cli.decoding.records import Candidate, PoolRecord, Step
from lookahead_cli.trace.words import provenance
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import GONE, MATCHED, NEW, REJECTED, UNREACHED
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.token_text import visible

LOW = 8
_SOURCE_CELLS = 17
_REASON_CELLS = 46
_WIDE = 64
_WITHOUT_CANDIDATES = frozenset({"greedy", "jacobi"})


class PoolPanel(Panel):
    """Candidates for the current token, and what the pool holds."""

    TITLE = "N-GRAM POOL"
    LEGEND = (
        (MATCHED, "accepted", "the model agrees"),
        (REJECTED, "rejected", "wants another"),
        (UNREACHED, "muted", "not reached"),
    )
    HELP = (
        "The pool keeps n-grams of N tokens by their first one: those of the prompt, one a window column "
        "each step, and one for each accepted token. For each first token it holds the newest G; the one "
        "that was seen longest ago makes room. The candidates are those that begin with the current "
        "token, the key: their other N-1 tokens are all checked in the same pass of the model, common "
        "beginnings once. ✓ is a token that the model would have said itself; at the first ✗ the panel "
        "says what it wanted instead, and the rest was not reached. 'window, step 31' is where and when "
        "the n-gram was first seen. Below them, where there is room, the n-grams that this step put into the "
        f"pool ({NEW}) and those that made room ({GONE})."
    )

    def lines(self, view: RunView, width: int, height: int) -> list[Line]:
        """The key, the candidates, the best first, and the totals on the last line."""
        step = view.step
        if step is None or (step.pool is None and view.method in _WITHOUT_CANDIDATES):
            return self.waiting(view, width, "n-gram pool")
        key = self._key(view, step, width)
        if height < LOW:
            # The hits come first here: what does not fit is cut at the end.
            key.add(" · ", self.style("muted")).add_line(self._hits(view, width))
            if step.pool is not None:
                key.add(f" · {step.pool.size} n-grams · {step.pool.keys} keys", self.style("muted"))
            return [key, *self._candidates(view, step, width, height - 1)]
        ending = self._ending(view, step.pool, width)
        room = height - 1 - len(ending)
        candidates = self._candidates(view, step, width, room)
        left = room - len(candidates) - 1
        changes = [] if step.pool is None else self._changes(view, step.pool, width, left)
        between = [Line(width)] * (room - len(candidates) - len(changes))
        return [key, *candidates, *between[:1], *changes, *between[1:], *ending]

    def _changes(self, view: RunView, pool: PoolRecord, width: int, room: int) -> list[Line]:
        """The n-grams that came in this step, and those that made room, as far as there is room."""
        muted = self.style("muted")
        changes = [
            change for event in ("insert", "evict") for change in pool.changes if change.event == event
        ]
        if not changes or room < 2:
            return []
        lines = [Line(width).add("this step", muted)]
        shown = changes[: room - 1] if len(changes) < room else changes[: room - 2]
        for change in shown:
            is_new = change.event == "insert"
            line = Line(width).add(NEW if is_new else GONE, self.style("pool_hit" if is_new else "rejected"))
            cells = max(5, min(12, (width - 2 - _SOURCE_CELLS) // len(change.tokens)))
            line.add(" ", muted)
            for token in change.tokens:
                line.add(
                    visible(view.token(token), cells - 1),
                    self.style("foreground" if is_new else "muted"),
                    cells=cells,
                )
            column = "" if change.column is None else f" +{change.column}"
            words = f"{change.source}{column}" if is_new else "dropped"
            lines.append(line.add(f" {words}", muted))
        if len(shown) < len(changes):
            lines.append(Line(width).add(f"and {len(changes) - len(shown)} more", muted))
        return lines

    def _key(self, view: RunView, step: Step, width: int) -> Line:
        style = self.style
        line = Line(width).add("key ", style("muted"))
        line.add(visible(view.token(step.nodes[0].token), 16), style("accent"))
        count = len(step.candidates)
        if count == 0:
            words = "no n-gram begins with it" if step.pool is not None else "nothing known after it"
            return line.add(f"  {words}", style("muted"))
        line.add(f"  {count} candidate{'s' if count > 1 else ''}", style("foreground"))
        matched = max(candidate.matched for candidate in step.candidates)
        return line.add(
            f", best {MATCHED * matched}" if matched else ", none matched",
            style("pool_hit" if matched else "muted"),
        )

    def _candidates(self, view: RunView, step: Step, width: int, room: int) -> list[Line]:
        ordered = sorted(step.candidates, key=lambda candidate: -candidate.matched)
        length = max((len(candidate.tokens) for candidate in ordered), default=1)
        # All are laid out alike: the reason in a column of its own, or on a line of its own, or behind
        # the candidate where lines are scarce.
        named = max((len(provenance(candidate)) for candidate in ordered), default=0)
        source = max(_SOURCE_CELLS, named + 2)  # A blank on either side.
        beside = (width - length - 2 - source - _REASON_CELLS) // length
        alone = (width - length - 2 - source) // length
        muted = self.style("muted")
        lines: list[Line] = []
        for index, candidate in enumerate(ordered):
            if beside >= 6:
                line = self._candidate(view, candidate, width, min(14, beside))
                block = [self._reason(view, candidate, line.pad(width - _REASON_CELLS, muted))]
            elif room < LOW - 1 and width >= _WIDE:
                line = self._candidate(view, candidate, width, 0)
                block = [self._reason(view, candidate, line.add("  ", muted))]
            else:
                block = [self._candidate(view, candidate, width, max(5, min(12, alone)))]
                why = self._reason(view, candidate, Line(width).pad(length + 2, muted))
                block += [why] if why.width > length + 2 else []
            left = len(ordered) - index
            if len(lines) + len(block) > room - (1 if left > 1 else 0):
                if left == 1 or room <= len(lines):
                    break
                if not lines:
                    return block[:room]
                words = f"and {left} more, none better"
                lines.append(Line(width).add(words, muted))
                break
            lines += block
        return lines

    def _candidate(self, view: RunView, candidate: Candidate, width: int, cell: int) -> Line:
        """Marks, tokens (in cells of their own, or close together for `cell` 0), and where it is from."""
        style = self.style
        line = Line(width)
        failed_at = candidate.matched if candidate.wanted is not None else -1
        roles = [
            "pool_hit" if place < candidate.matched else "rejected" if place == failed_at else "muted"
            for place in range(len(candidate.tokens))
        ]
        for role in roles:
            mark = MATCHED if role == "pool_hit" else REJECTED if role == "rejected" else UNREACHED
            line.add(mark, style("accepted" if role == "pool_hit" else role))
        line.add("  ", style("muted"))
        for token, role in zip(candidate.tokens, roles, strict=True):
            text = visible(view.token(token), cell - 1 if cell else 7)
            line.add(text if cell else f"{text} ", style(role), cells=cell or None)
        return line.add(f" {provenance(candidate)}", style("muted"))

    def _reason(self, view: RunView, candidate: Candidate, line: Line) -> Line:
        """What the model wanted instead; nothing where all of the candidate matched."""
        if candidate.wanted is None or candidate.matched >= len(candidate.tokens):
            return line
        style = self.style
        room = line.room - line.width
        cells = max(5, min(12, (room - len("model wanted  (0.00), not  (0.00)")) // 2))
        wanted = visible(view.token(candidate.wanted), cells)
        got = visible(view.token(candidate.tokens[candidate.matched]), cells)
        line.add("model wanted " if room >= 43 else "wanted ", style("muted")).add(wanted, style("wanted"))
        line.add(f"{_probability(candidate.wanted_probability)}, not ", style("muted"))
        line.add(got, style("rejected"))
        return line.add(_probability(candidate.got_probability), style("muted"))

    def _totals(self, view: RunView, pool: PoolRecord, width: int) -> Line:
        total = view.total
        line = Line(width).add(f"{pool.size} n-grams · {pool.keys} keys · ", self.style("muted"))
        line.add_line(self._hits(view, width))
        share = f" ({100 * total.hits / total.steps:.0f} %)" if total.steps else ""
        return line.add(share, self.style("muted")) if line.width + len(share) <= width else line

    def _hits(self, view: RunView, width: int) -> Line:
        total = view.total
        role = "pool_hit" if total.hits else "muted"
        return Line(width).add(f"hit {total.hits} of {total.steps} steps", self.style(role))

    def _ending(self, view: RunView, pool: PoolRecord | None, width: int) -> list[Line]:
        if pool is None:
            return [self._hits(view, width)]
        events = Counter(change.event for change in pool.changes)
        changes = f"{events['insert']} new, {events['refresh']} seen again, {events['evict']} dropped"
        totals = self._totals(view, pool, width)
        style = self.style("muted")
        if totals.width + len(changes) + 3 <= width:
            return [totals.add(f" · {changes}", style)]
        return [Line(width).add(f"this step {changes}", style), totals]


def _probability(value: float | None) -> str:
    return "" if value is None else f" ({value:.2f})"
