"""Verification: walk the tree along the model's own choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lookahead_cli.decoding.tree import TokenTree

MayAccept = Callable[[TokenTree, int], bool]


@dataclass(frozen=True, slots=True)
class Rules:
    """How a step's tree is built and walked; every choice of them is exact.

    Attributes:
        merge: Feed equal paths once.
        may_accept: Says of a node whether the walk may enter it; None for every node.
    """

    merge: bool = True
    may_accept: MayAccept | None = None


MERGED = Rules()


def pool_nodes_only(tree: TokenTree, node: int) -> bool:
    """The paper's rule: only candidates of the pool may be accepted, not cells of the window."""
    return any(origin.kind != "window" for origin in tree.origins[node])


def without_bonus(ngram_size: int) -> MayAccept:
    """The reference implementation's rule: pool nodes only, and at most N-1 tokens a step."""
    return lambda tree, node: pool_nodes_only(tree, node) and tree.depths[node] < ngram_size - 1


def walk(
    tree: TokenTree, choice: Callable[[int], int], may_accept: MayAccept | None = None
) -> tuple[int, ...]:
    """Follow the model's choices from the root while they are children.

    Args:
        tree: The step's tree.
        choice: The model's next token after a node.
        may_accept: Says of a node whether the walk may enter it; None for every node.

    Returns:
        The nodes walked, root first. Their choices are the tokens that the step emits: one for each matched
        node, and the last one's is the bonus token.
    """
    best: tuple[int, ...] = ()
    paths: list[tuple[int, ...]] = [(0,)]
    while paths:
        path = paths.pop()
        if len(path) > len(best):
            best = path
        # Where equal paths are not merged, several children hold the wanted token.
        for child in reversed(tree.children(path[-1], choice(path[-1]))):
            if may_accept is None or may_accept(tree, child):
                paths.append((*path, child))
    return best
