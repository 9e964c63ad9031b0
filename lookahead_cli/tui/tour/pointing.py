"""What a stop points at: cells of the window, a node of the tree, a place of the mask."""

from __future__ import annotations

from dataclasses import dataclass

from lookahead_cli.decoding.records import PoolChange
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.step_tree import CACHE, StepTree
from lookahead_cli.tui.tour import steps


@dataclass(frozen=True, slots=True)
class Pointer:
    """What stands out on the panels.

    Attributes:
        cells: Cells (row, column) of the window; the row after the last is the new one.
        node: Node under the cursor of the tree and the mask.
        key: Node, or the `CACHE`, that the mask's cursor asks about.
    """

    cells: frozenset[tuple[int, int]] = frozenset()
    node: int = 0
    key: int = CACHE


def nothing(view: RunView) -> Pointer:
    """The panels as they are."""
    return Pointer()


def one_place(view: RunView) -> Pointer:
    """The cells that guess at the same place: one of each row."""
    step = view.step
    assert step is not None
    assert step.window is not None
    rows = len(step.window.rows)
    return Pointer(frozenset((row, rows - 1 - row) for row in range(rows)))


def collected_column(view: RunView) -> Pointer:
    """The column of the n-gram that is followed through the lesson, its new cell included."""
    change = collected_change(view)
    assert change.column is not None
    return Pointer(frozenset((row, change.column) for row in range(len(change.tokens))))


def collected_change(view: RunView) -> PoolChange:
    """How that n-gram came into the pool."""
    step, used = view.steps[steps.collected(view)], view.steps[steps.full_hit(view)]
    candidate = steps.hit_of(view, used)
    assert step.pool is not None
    assert candidate is not None
    wanted = (used.nodes[0].token, *candidate.tokens)
    return next(
        change for change in step.pool.changes if change.tokens == wanted and change.column is not None
    )


def end_of_walk(view: RunView) -> Pointer:
    """The last node that the walk passed."""
    assert view.step is not None
    return Pointer(node=view.step.path[-1])


def hidden_cell(view: RunView) -> Pointer:
    """A cell of the last row, and the cell above and to the left of it, which it may not see.

    Where there are such, both and the cell that is seen at the same place hold different tokens.
    """
    step = view.step
    assert step is not None
    assert step.window is not None
    above, last = step.window.nodes[-2:]
    pointers = [
        Pointer(node=node, key=key)
        for node, key in zip(last[2:], above[1:], strict=False)
        if node is not None and key is not None
    ]
    differing = (
        pointer
        for pointer in pointers
        if len({step.nodes[at].token for at in (pointer.node, pointer.key, same_place(view, pointer))}) == 3
    )
    return next(differing, pointers[0])


def same_place(view: RunView, pointer: Pointer) -> int:
    """The node that the pointer's node sees at the position of the one that it may not see."""
    step = view.step
    assert step is not None
    path = StepTree(step).lineages[pointer.node]
    return path[step.nodes[pointer.key].position - step.position]
