"""Which rank feeds which nodes of a step's tree.

A node needs its ancestors in the same pass, so what is dealt out is whole paths to leaves; ancestors that
several ranks need are fed by each of them. Leaves that lie beside each other share most of their path, so
each rank takes neighbours, as many as fit under the lowest bound that all ranks can keep.
"""

from __future__ import annotations

from collections.abc import Sequence


def split(parents: Sequence[int], extra: Sequence[int]) -> list[list[int]]:
    """Deal the paths of a tree out to ranks, so that the most nodes a rank feeds are as few as possible.

    Args:
        parents: The parent of each node, -1 for the root; a parent comes before its children.
        extra: Tokens that each rank has to feed besides.

    Returns:
        The nodes of each rank in rising order; every rank has the root.
    """
    paths = _paths(parents)
    low, high = max(extra) + 1, max(extra) + len(parents)
    while low < high:
        bound = (low + high) // 2
        if _deal(paths, extra, bound) is None:
            low = bound + 1
        else:
            high = bound
    dealt = _deal(paths, extra, low)
    assert dealt is not None, "one rank can feed the whole tree"
    return dealt


def owners_of(shares: Sequence[Sequence[int]], nodes: int) -> list[int]:
    """The rank whose answer counts for each node: the first that feeds it."""
    owners = [-1] * nodes
    for rank, share in enumerate(shares):
        for node in share:
            if owners[node] < 0:
                owners[node] = rank
    return owners


def _paths(parents: Sequence[int]) -> list[list[int]]:
    """The path to each leaf, neighbours beside each other; short branches of a node come before long ones."""
    heights = [0] * len(parents)
    children: list[list[int]] = [[] for _ in parents]
    for node in range(len(parents) - 1, 0, -1):
        parent = parents[node]
        heights[parent] = max(heights[parent], heights[node] + 1)
        children[parent].append(node)
    paths: list[list[int]] = []
    waiting = [[0]]
    while waiting:
        path = waiting.pop()
        below = children[path[-1]]
        if not below:
            paths.append(path)
        # The last one put here is the next one taken.
        waiting.extend([*path, child] for child in sorted(below, key=lambda child: -heights[child]))
    return paths


def _deal(paths: Sequence[Sequence[int]], extra: Sequence[int], bound: int) -> list[list[int]] | None:
    """The nodes of each rank when none feeds more than `bound`, None where that is too few."""
    shares: list[set[int]] = [{0} for _ in extra]
    rank = 0
    for path in paths:
        while len(shares[rank].union(path)) + extra[rank] > bound:
            rank += 1
            if rank == len(extra):
                return None
        shares[rank].update(path)
    return [sorted(share) for share in shares]
