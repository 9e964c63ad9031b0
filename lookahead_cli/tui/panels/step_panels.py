"""One step from inside: its attention mask, and its token tree; each with a cursor."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.events import MouseMove
from textual.message import Message

from lookahead_cli.decoding.records import Step
from lookahead_cli.trace.words import counted, number
from lookahead_cli.tui.lines import Line
from lookahead_cli.tui.marks import MATCHED
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.step_tree import CACHE, StepTree
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.token_text import visible

_HERE = Style(reverse=True)
_SEES, _ITSELF, _BLIND = "■", "◆", "·"
_CELLS = 3  # Of a column: an index of two digits and a blank.
_CACHE_CELLS = 6
_TOKEN_CELLS = 10


class StepPanel(Panel):
    """What the mask and the tree share: the step, the cursor, and what is said of the node under it.

    Args:
        theme: The colours.
        id: The widget's id.

    Attributes:
        index: Index of the step.
        node: The node under the cursor.
        key: The node, or the `CACHE`, that is asked about.
    """

    class Pointed(Message):
        """The mouse is on a node.

        Args:
            node: The node, None to leave it.
            key: What is asked about, None to leave it.
        """

        def __init__(self, node: int | None, key: int | None) -> None:
            super().__init__()
            self.node = node
            self.key = key

    def __init__(self, theme: Theme, *, id: str | None = None) -> None:
        super().__init__(theme, id=id)
        self.index = 0
        self.node = 0
        self.key = CACHE
        self._tree: StepTree | None = None
        self._first_row = self._first_column = 0
        self._rows = self._columns = 0
        self._label_cells = 0

    def tree_of(self, view: RunView) -> StepTree:
        """The tree of the step."""
        step = view.steps[self.index]
        if self._tree is None or self._tree.step is not step:
            self._tree = StepTree(step)
        return self._tree

    def _headline(self, view: RunView, step: Step, width: int) -> Line:
        style = self.style
        line = Line(width).add(f"step {number(self.index)} of {len(view.steps)}", style("accent"))
        line.add(f" · {counted(len(step.nodes), 'node')}", style("foreground"))
        if step.merged:
            line.add(f", {step.merged} saved by merging", style("muted"))
        return line.add(f" · emits {counted(len(step.accepted), 'token')}", style("muted"))

    def _node(self, view: RunView, tree: StepTree, node: int, width: int) -> Line:
        """A node in words."""
        style = self.style
        one = tree.step.nodes[node]
        line = Line(width).add(f"{node} ", style("muted"))
        line.add(visible(view.token(one.token)), style("accepted" if one.matched else "foreground"))
        return line.add(f"  {tree.name(node)}, position {one.position}", style("muted"))

    def _window(self, at: int, first: int, room: int, count: int) -> int:
        """The first of `room` rows or columns, so that the one under the cursor is among them."""
        first = min(max(first, at - room + 1), at)
        return max(0, min(first, count - room))


class MaskPanel(StepPanel):
    """The attention mask of a step: a row for each node that looks, a column for each that is seen."""

    TITLE = "ATTENTION MASK"
    LEGEND = (
        (_SEES, "accepted", "may see"),
        (_ITSELF, "accent", "itself"),
        (_BLIND, "muted", "may not"),
    )
    HELP = (
        "One pass of the model works out all nodes of the step at once, and this mask keeps their paths "
        "apart: a node sees the text before (in the KV cache), its ancestors in the token tree, and itself. "
        "So each node gets the same logits as if its path alone had been fed, and a guess is verified "
        "exactly. Layers with a sliding window also hide what is too far back."
    )

    def lines(self, view: RunView, width: int, height: int) -> Sequence[Line]:
        """The mask around the cursor, and why the node of the row may see the column's, or may not."""
        tree = self.tree_of(view)
        style = self.style
        self._label_cells = max(28, min(34, width // 3))
        self._columns = max(1, (width - self._label_cells - _CACHE_CELLS) // _CELLS)
        self._rows = max(1, height - 6)
        self._first_row = self._window(self.node, self._first_row, self._rows, len(tree))
        self._first_column = self._window(max(0, self.key), self._first_column, self._columns, len(tree))
        shown = range(self._first_column, min(len(tree), self._first_column + self._columns))
        head = Line(width).add("row sees column", style("muted"), cells=self._label_cells)
        head.add("cache", style("accent") if self.key == CACHE else style("muted"), cells=_CACHE_CELLS)
        for key in shown:
            head.add(f"{key % 100:>2} ", style("accent" if key == self.key else "muted"))
        lines = [self._headline(view, tree.step, width), head]
        for node in range(self._first_row, min(len(tree), self._first_row + self._rows)):
            lines.append(self._row(view, tree, node, shown, width))
        lines += [Line(width)] * (self._rows + 2 - len(lines))
        return [*lines, Line(width), *self._said(view, tree, width)]

    def _row(self, view: RunView, tree: StepTree, node: int, shown: range, width: int) -> Line:
        style = self.style
        one = tree.step.nodes[node]
        token = visible(view.token(one.token), _TOKEN_CELLS)
        role = "accent" if node == self.node else "accepted" if one.matched else "foreground"
        line = Line(self._label_cells - 1).add(f"{node:>2} ", style("muted")).add(token, style(role))
        line.pad(4 + _TOKEN_CELLS, style("muted")).add(tree.name(node), style("muted"))
        line = Line(width).add_line(line).pad(self._label_cells, style("muted"))
        line.add("  ", style("muted")).add(_SEES, self._look("accepted", node, CACHE))
        line.add("   ", style("muted"))
        for key in shown:
            glyph, role = (
                (_ITSELF, "accent")
                if key == node
                else (_SEES, "accepted")
                if tree.sees(node, key)
                else (_BLIND, "muted")
            )
            line.add(" ", style("muted")).add(glyph, self._look(role, node, key)).add(" ", style("muted"))
        return line

    def _look(self, role: str, node: int, key: int) -> Style:
        look = self.style(role)
        return look + _HERE if (node, key) == (self.node, self.key) else look

    def _said(self, view: RunView, tree: StepTree, width: int) -> list[Line]:
        style = self.style
        sees = tree.sees(self.node, self.key)
        column = Line(width).add("column ", style("muted"))
        if self.key == CACHE:
            column.add("KV cache", style("foreground"))
        else:
            column.add_line(self._node(view, tree, self.key, width))
        return [
            Line(width).add("row    ", style("muted")).add_line(self._node(view, tree, self.node, width)),
            column,
            Line(width).add(tree.why(self.node, self.key), style("accepted" if sees else "rejected")),
        ]

    def on_mouse_move(self, event: MouseMove) -> None:
        """Ask about the cell under the mouse."""
        row = self._first_row + event.y - 3
        left = event.x - (0 if self.compact else 2) - self._label_cells
        key = CACHE if 0 <= left < _CACHE_CELLS else self._first_column + (left - _CACHE_CELLS) // _CELLS
        if self._view is None or left < 0:
            return
        count = len(self.tree_of(self._view))
        if self._first_row <= row < min(count, self._first_row + self._rows) and key < count:
            self.post_message(self.Pointed(row, key))


class TreePanel(StepPanel):
    """The token tree of a step: each node below the one that it follows."""

    TITLE = "TOKEN TREE"
    LEGEND = ((MATCHED, "accepted", "on the walk: the model chose it"),)
    HELP = (
        "The current token and all guesses at what follows it. Equal guesses at the same place are one node, "
        "whoever made them. The walk begins at the root and follows the model's own choices as long as there "
        "is a node for them; all that it passes is emitted, and the choice after the last one comes free."
    )

    def lines(self, view: RunView, width: int, height: int) -> Sequence[Line]:
        """The nodes around the cursor, and what is known of the one under it."""
        tree = self.tree_of(view)
        order = list(tree.in_order())
        self._rows = max(1, height - 4)
        at = next(place for place, (node, _) in enumerate(order) if node == self.node)
        self._first_row = self._window(at, self._first_row, self._rows, len(order))
        lines = [self._headline(view, tree.step, width)]
        for node, branches in order[self._first_row : self._first_row + self._rows]:
            lines.append(self._branch(view, tree, node, branches, width))
        lines += [Line(width)] * (self._rows + 1 - len(lines))
        return [
            *lines,
            Line(width),
            self._node(view, tree, self.node, width),
            self._wanted(view, tree, width),
        ]

    def _branch(self, view: RunView, tree: StepTree, node: int, branches: str, width: int) -> Line:
        style = self.style
        one = tree.step.nodes[node]
        line = Line(width).add(f"{node:>3} ", style("muted")).add(branches, style("frame"))
        role = "accepted" if one.matched else "foreground"
        look = style(role) + _HERE if node == self.node else style(role)
        line.add(visible(view.token(one.token), 24), look)
        line.add(f" {MATCHED}" if one.matched else "", style("accepted"))
        return line.add("  ", style("muted")).pad(28, style("muted")).add(tree.name(node), style("muted"))

    def _wanted(self, view: RunView, tree: StepTree, width: int) -> Line:
        style = self.style
        one = tree.step.nodes[self.node]
        if one.choice is None:
            return Line(width).add("nobody asked what the model wants after it", style("muted"))
        line = Line(width).add("after it the model wants ", style("muted"))
        line.add(visible(view.token(one.choice)), style("wanted"))
        if one.detail is not None:
            line.add(f" ({one.detail.probability:.2f}), and next ", style("muted"))
            line.add(visible(view.token(one.detail.runner_up)), style("foreground"))
            line.add(f" ({one.detail.runner_up_probability:.2f})", style("muted"))
        return line

    def on_mouse_move(self, event: MouseMove) -> None:
        """Look at the node under the mouse."""
        if self._view is None:
            return
        order = list(self.tree_of(self._view).in_order())
        place = self._first_row + event.y - 2
        if self._first_row <= place < min(len(order), self._first_row + self._rows):
            self.post_message(self.Pointed(order[place][0], None))
