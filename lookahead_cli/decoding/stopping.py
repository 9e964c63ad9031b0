"""When decoding ends, judged token by token so that nothing is emitted past the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lookahead_cli.decoding.records import FinishReason


@dataclass(frozen=True, slots=True)
class Stopping:
    """The conditions that end a run.

    Attributes:
        max_new_tokens: Most tokens emitted.
        eos_ids: Ids that end the text; the one that was met is emitted.
        context_length: Positions that the model has, None for no limit.
    """

    max_new_tokens: int
    eos_ids: frozenset[int] = frozenset()
    context_length: int | None = None

    def cut(
        self, tokens: Sequence[int], emitted_before: int, position: int
    ) -> tuple[tuple[int, ...], FinishReason | None]:
        """Keep the tokens of a step up to the first stop.

        Args:
            tokens: What the walk would emit.
            emitted_before: Tokens emitted by earlier steps.
            position: Position of the step's root; token i of `tokens` stands at `position + 1 + i`.

        Returns:
            The tokens to emit, at least one, and why the run ends with the last of them, if it does.
        """
        for count, token in enumerate(tokens, start=1):
            if token in self.eos_ids:
                return tuple(tokens[:count]), "eos"
            if emitted_before + count >= self.max_new_tokens:
                return tuple(tokens[:count]), "length"
            # The token just emitted would be the next root, and must be fed at its own position.
            if self.context_length is not None and position + count >= self.context_length:
                return tuple(tokens[:count]), "context"
        return tuple(tokens), None
