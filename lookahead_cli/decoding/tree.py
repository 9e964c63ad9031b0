"""The token tree of one step: the current token, and every guess at what follows it.

A node's position is the root's plus its depth, and it sees the KV cache, its ancestors and itself. Equal
paths are one node, whoever proposed them, so the model computes each distinct continuation once.
"""

from __future__ import annotations

from collections.abc import Sequence

from lookahead_cli.decoding.records import Origin

ROOT = Origin("root")
# Who is credited first when several proposed the same node.
_CREDIT = {"root": 0, "pool": 1, "window": 2, "draft": 3}


class TokenTree:
    """A tree of tokens that grows by merging paths.

    Args:
        root_token: The last accepted token, not yet in the KV cache.
        position: Its absolute position.
        position_limit: First position that may not be fed (the context length), None for no limit.
        merge: Feed equal paths once.
    """

    def __init__(
        self, root_token: int, position: int, position_limit: int | None = None, *, merge: bool = True
    ) -> None:
        self.tokens: list[int] = [root_token]
        self.parents: list[int] = [-1]
        self.depths: list[int] = [0]
        self.origins: list[list[Origin]] = [[ROOT]]
        self.position = position
        self.merged = 0
        self._depth_limit = None if position_limit is None else position_limit - position
        self._merge = merge
        self._children: list[dict[int, list[int]]] = [{}]

    def __len__(self) -> int:
        return len(self.tokens)

    def add(self, parent: int | None, token: int, origin: Origin) -> int | None:
        """Add `token` under node `parent`, or merge it with the equal child that is there.

        Returns:
            The node's index, None where the context ends before it or `parent` is itself None.
        """
        if parent is None:
            return None
        depth = self.depths[parent] + 1
        if self._depth_limit is not None and depth >= self._depth_limit:
            return None
        equal = self._children[parent].setdefault(token, [])
        if equal and self._merge:
            self.merged += 1
            self.origins[equal[0]].append(origin)
            return equal[0]
        node = len(self.tokens)
        self.tokens.append(token)
        self.parents.append(parent)
        self.depths.append(depth)
        self.origins.append([origin])
        self._children.append({})
        equal.append(node)
        return node

    def children(self, node: int, token: int) -> Sequence[int]:
        """The children of `node` that hold `token`: at most one, where equal paths are merged."""
        return self._children[node].get(token, ())

    def positions(self) -> list[int]:
        """Absolute position of every node."""
        return [self.position + depth for depth in self.depths]

    def credited(self, node: int) -> tuple[Origin, ...]:
        """Everyone who proposed `node`, in the order of credit."""
        return tuple(sorted(self.origins[node], key=lambda origin: _CREDIT[origin.kind]))
