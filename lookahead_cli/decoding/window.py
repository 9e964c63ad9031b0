"""The 2D Jacobi window (section 3.1 of the paper).

Row r, column c holds a guess for position p + r + c, where p is the position of the current token, which is
cell (0, 0). Rows are the last N-1 Jacobi iterations, oldest first. One step turns the window into its next
iteration and yields one n-gram a column: (0,c), (1,c), ..., (N-2,c) and the model's output after it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from lookahead_cli.decoding.records import Origin, WindowRecord
from lookahead_cli.decoding.tree import TokenTree


class JacobiWindow:
    """W columns and N-1 rows of guesses.

    Args:
        window_size: W.
        ngram_size: N.
        prompt_ids: Where guesses are drawn from, at the start and where the context ends.
        seed: Seed of those draws.
    """

    def __init__(self, window_size: int, ngram_size: int, prompt_ids: Sequence[int], seed: int) -> None:
        self.window_size = window_size
        self.row_count = ngram_size - 1
        self._prompt_ids = tuple(prompt_ids)
        self._random = random.Random(seed)
        self.rows: list[list[int]] = [
            [self._draw() for _ in range(window_size)] for _ in range(self.row_count)
        ]
        self.rows[0][0] = self._prompt_ids[-1]
        cells = ((row, column) for row in range(self.row_count) for column in range(window_size))
        self._refilled = [cell for cell in cells if cell != (0, 0)]
        self._nodes: list[list[int | None]] = []

    def _draw(self) -> int:
        return self._random.choice(self._prompt_ids)

    def grow(self, tree: TokenTree) -> None:
        """Hang every cell on the tree: row 0 is a chain, each column below it another."""
        row_nodes: list[int | None] = [0]
        for column in range(1, self.window_size):
            origin = Origin("window", row=0, column=column)
            row_nodes.append(tree.add(row_nodes[-1], self.rows[0][column], origin))
        self._nodes = [row_nodes]
        for row in range(1, self.row_count):
            above = self._nodes[-1]
            self._nodes.append(
                [
                    tree.add(above[column], self.rows[row][column], Origin("window", row=row, column=column))
                    for column in range(self.window_size)
                ]
            )

    def outputs(self, choice: Callable[[int], int]) -> list[int | None]:
        """The model's output after each cell of the newest row: the next Jacobi iteration."""
        return [None if node is None else choice(node) for node in self._nodes[-1]]

    def ngrams(self, outputs: Sequence[int | None]) -> list[tuple[int, tuple[int, ...]]]:
        """One (column, n-gram) a column whose cells were all fed."""
        return [
            (column, (*(row[column] for row in self.rows), output))
            for column, output in enumerate(outputs)
            if output is not None
        ]

    def record(self, outputs: Sequence[int | None]) -> WindowRecord:
        """The window of this step, before it moves."""
        return WindowRecord(
            rows=tuple(tuple(row) for row in self.rows),
            nodes=tuple(tuple(row) for row in self._nodes),
            new=tuple(outputs),
            refilled=tuple(self._refilled),
        )

    def shift(self, root_token: int, outputs: Sequence[int | None]) -> None:
        """Drop the oldest row, add the outputs as the newest, and put the new root at (0, 0).

        Cells keep their columns however many tokens were emitted. Moving them on by that number would keep
        each guess at its position, but leaves columns at the right edge to random tokens; with every cell a
        model's output S is higher (+4 % at (7, 5, 7), +3 % at (15, 5, 15), over the examples).
        """
        self._refilled = []
        for row, tokens in enumerate([*self.rows[1:], outputs]):
            for column, token in enumerate(tokens):
                if token is None and (row, column) != (0, 0):
                    self._refilled.append((row, column))
            self.rows[row] = [self._draw() if token is None else token for token in tokens]
        self.rows[0][0] = root_token
