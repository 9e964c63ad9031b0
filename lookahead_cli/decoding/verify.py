"""Verification: walk the tree along the model's own choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lookahead_cli.decoding.tree import TokenTree


def walk(
    tree: TokenTree, choices: Sequence[int], may_accept: Callable[[TokenTree, int], bool] | None = None
) -> tuple[int, ...]:
    """Follow the model's choices from the root while they are children.

    Args:
        tree: The step's tree.
        choices: The model's next token after each node.
        may_accept: Says of a node whether the walk may enter it; None for every node.

    Returns:
        The nodes walked, root first. Their choices are the tokens that the step emits: one for each matched
        node, and the last one's is the bonus token.
    """
    path = [0]
    while True:
        child = tree.child(path[-1], choices[path[-1]])
        if child is None or (may_accept is not None and not may_accept(tree, child)):
            return tuple(path)
        path.append(child)
