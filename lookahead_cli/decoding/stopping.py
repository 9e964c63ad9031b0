"""When decoding ends, judged token by token so that nothing is emitted past the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lookahead_cli.decoding.records import FinishReason


class StopStrings:
    """Finds strings in a text that comes token by token; they may span tokens and end inside one.

    Args:
        strings: The strings.
        bytes_of: The bytes of a token in the text.

    Attributes:
        overrun: Bytes of the last token that lie past the stop string it completed.
    """

    def __init__(self, strings: Sequence[str], bytes_of: Callable[[int], bytes]) -> None:
        self.overrun = 0
        self._strings = [string.encode() for string in strings]
        self._longest = max(map(len, self._strings), default=0)
        self._bytes_of = bytes_of
        self._tail = b""

    def completed_by(self, token: int) -> bool:
        """Take the next token of the text; true when it completes a string (the first, where several end)."""
        text = self._tail + self._bytes_of(token)
        ends = [start + len(string) for string in self._strings if (start := text.find(string)) >= 0]
        # What was complete before would have ended the text, so what is found ends in this token.
        self._tail = text[-(self._longest - 1) :] if self._longest > 1 else b""
        if not ends:
            return False
        self.overrun = len(text) - min(ends)
        return True


@dataclass(frozen=True, slots=True)
class Stopping:
    """The conditions that end a run.

    Attributes:
        max_new_tokens: Most tokens emitted.
        eos_ids: Ids that end the text; the one that was met is emitted.
        context_length: Most tokens of prompt and output together, None for no limit.
        stop_strings: Strings that end the text, of this run alone; None for none.
        ends_after: Told each output token in turn, says whether the text ends with it; None for no such
            thing.
    """

    max_new_tokens: int
    eos_ids: frozenset[int] = frozenset()
    context_length: int | None = None
    stop_strings: StopStrings | None = None
    ends_after: Callable[[int], bool] | None = None

    @property
    def overrun(self) -> int:
        """Bytes of the last emitted token that lie past a stop string."""
        return 0 if self.stop_strings is None else self.stop_strings.overrun

    def cut(
        self, tokens: Sequence[int], emitted_before: int, position: int
    ) -> tuple[tuple[int, ...], FinishReason | None]:
        """Keep the tokens of a step up to the first stop; each token may be judged once.

        Args:
            tokens: What the walk would emit.
            emitted_before: Tokens emitted by earlier steps.
            position: Position of the step's root; token i of `tokens` stands at `position + 1 + i`.

        Returns:
            The tokens to emit, at least one, and why the run ends with the last of them, if it does.
        """
        for count, token in enumerate(tokens, start=1):
            reason = self._reason(token, emitted_before + count, position + count)
            if reason is not None:
                return tuple(tokens[:count]), reason
        return tuple(tokens), None

    def _reason(self, token: int, emitted: int, position: int) -> FinishReason | None:
        stopped = self.stop_strings is not None and self.stop_strings.completed_by(token)
        if token in self.eos_ids:
            return "eos"
        if stopped or (self.ends_after is not None and self.ends_after(token)):
            return "stop"
        if emitted >= self.max_new_tokens:
            return "length"
        if self.context_length is not None and position + 1 >= self.context_length:
            return "context"
        return None
