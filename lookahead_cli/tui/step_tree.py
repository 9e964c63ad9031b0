"""A step's token tree as people read it: who may see whom, and why; how a node is called."""

from __future__ import annotations

from collections.abc import Iterator

from lookahead_cli.decoding.records import Origin, Step
from lookahead_cli.trace.words import counted, number

CACHE = -1
"""The column of the text before, which every node sees."""


class StepTree:
    """The token tree of one step.

    Args:
        step: The step.

    Attributes:
        lineages: For each node the nodes from the root to itself.
        children: For each node those that follow it.
    """

    def __init__(self, step: Step) -> None:
        self.step = step
        self.lineages: list[tuple[int, ...]] = []
        self.children: list[list[int]] = [[] for _ in step.nodes]
        for index, node in enumerate(step.nodes):
            above = self.lineages[node.parent] if node.parent >= 0 else ()
            self.lineages.append((*above, index))
            if node.parent >= 0:
                self.children[node.parent].append(index)

    def __len__(self) -> int:
        return len(self.lineages)

    def sees(self, query: int, key: int) -> bool:
        """True where the attention mask lets node `query` see node `key`, or the `CACHE`."""
        return key == CACHE or key in self.lineages[query]

    def why(self, query: int, key: int) -> str:
        """Why node `query` may see node `key`, or may not."""
        if key == CACHE:
            before = counted(self.step.position, "token")
            return f"may see it: the text before, {before} in the KV cache, is every node's past"
        if key == query:
            return "may see itself, as every token does"
        nodes = self.step.nodes
        if key in self.lineages[query]:
            distance = len(self.lineages[query]) - 1 - self.lineages[query].index(key)
            if distance == 1:
                return "may see it: it is its parent, the token that it follows"
            return f"may see it: it is its ancestor, {distance} tokens before it on its path"
        if nodes[key].position > nodes[query].position:
            return "may not see it: it stands later, and a token never sees what comes after it"
        if nodes[key].position == nodes[query].position:
            return "may not see it: both are guesses at the same position, on different paths"
        return "may not see it: it is on another path, which this one does not follow"

    def name(self, node: int) -> str:
        """Who proposed a node, such as `window r1 +2`; the first is credited, the others are counted."""
        first, *others = self.step.nodes[node].origins
        return origin_name(first) + (f", {len(others)} more" if others else "")

    def in_order(self) -> Iterator[tuple[int, str]]:
        """Every node below its parent, with the branches that lead to it drawn."""
        yield 0, ""
        stack = [(child, "") for child in reversed(self.children[0])]
        while stack:
            node, before = stack.pop()
            siblings = self.children[self.step.nodes[node].parent]
            is_last = siblings[-1] == node
            yield node, before + ("└─" if is_last else "├─")
            below = before + ("  " if is_last else "│ ")
            stack += [(child, below) for child in reversed(self.children[node])]


def origin_name(origin: Origin) -> str:
    """Who proposed a node, in a few cells."""
    match origin.kind:
        case "root":
            return "current token"
        case "window":
            return f"window r{origin.row} +{origin.column}"
        case "pool":
            born = "" if origin.born is None or origin.born < 0 else f", step {number(origin.born)}"
            return f"pool, {origin.source}{born}" if origin.source != "recycled" else f"recycled{born}"
        case _:
            return origin.kind
