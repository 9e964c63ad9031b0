"""The figures of a run at each of its steps, worked out from the JSON lines of its trace.

Nothing of the program is imported: what the trace says of itself a second time (sums, matches, merged nodes,
the pool's size) is worked out from the nodes, the choices and the changes, so that a wrong figure has no
place to hide.
"""

from __future__ import annotations

import codecs
import gzip
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = Any

_DRAWN = {" ": "␣", "\n": "↵", "\t": "⇥", "\r": "␍", "\x7f": "␡"}
PHASES = ("propose", "forward", "readout", "verify", "commit")


def drawn(text: str) -> str:
    """A text as a screen may show it: whitespace and control characters are pictures."""
    return "".join(_DRAWN.get(one) or (chr(0x2400 + ord(one)) if one < " " else one) for one in text)


@dataclass(frozen=True)
class TriedNGram:
    """A candidate: its marks, its tokens, where it is from, and why it went no further."""

    marks: str
    tokens: tuple[str, ...]
    source: str
    seen_in_step: int | None
    wanted: tuple[str, float] | None
    got: tuple[str, float] | None


@dataclass(frozen=True)
class Cell:
    """A cell of the window: its token, None for no token, and whether it came true."""

    token: str | None
    came_true: bool = False


class RecordedRun:
    """A trace as JSON; every method works out something at a step, counted from 0."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self.source = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
        self.header, *self.steps, self.footer = [json.loads(line) for line in self.source.splitlines()]
        self._texts: dict[str, Json] = {}
        for event in (self.header, *self.steps, self.footer):
            self._texts |= event["tokens"]

    def corners(self) -> list[int]:
        """The first step, one in the middle, the last ones, and the first that emitted most."""
        last = len(self.steps) - 1
        most = max(range(len(self.steps)), key=self.emitted_in)
        return sorted({0, last // 2, most, max(0, last - 1), last})

    # Tokens.

    def token(self, token: int | None) -> str:
        """How a token reads."""
        if token is None:
            return "·"
        entry = self._texts[str(token)]
        if "bytes" not in entry:
            return drawn(entry["text"])
        halves = bytes.fromhex(entry["bytes"]).decode("utf-8", "surrogateescape")
        return "".join(
            f"<{ord(one) - 0xDC00:02X}>" if "\udc80" <= one <= "\udcff" else drawn(one) for one in halves
        )

    def raw(self, token: int) -> bytes:
        entry = self._texts[str(token)]
        return bytes.fromhex(entry["bytes"]) if "bytes" in entry else entry["text"].encode()

    # Steps and tokens.

    def _so_far(self, shown: int) -> list[Json]:
        return self.steps[: shown + 1]

    def emitted(self, shown: int) -> int:
        return sum(len(step["accepted"]) for step in self._so_far(shown))

    def emitted_in(self, shown: int) -> int:
        return len(self.steps[shown]["accepted"])

    def ratio(self, shown: int) -> float:
        return self.emitted(shown) / (shown + 1)

    def saved_percent(self, shown: int) -> float:
        return 100 * (self.emitted(shown) - shown - 1) / self.emitted(shown)

    def histogram(self, shown: int) -> dict[int, int]:
        """Steps by the number of tokens that they emitted, up to the most."""
        counts = Counter(len(step["accepted"]) for step in self._so_far(shown))
        return {tokens: counts[tokens] for tokens in range(1, max(counts) + 1)}

    def free(self, shown: int) -> dict[str, int]:
        """Tokens that cost no step of their own, by who guessed them."""
        who: Counter[str] = Counter()
        for step in self._so_far(shown):
            for node in step["path"][1 : len(step["accepted"])]:
                who[self._guesser(step["nodes"][node])] += 1
        return dict(who)

    @staticmethod
    def _guesser(node: Json) -> str:
        kinds = [origin["kind"] for origin in node["origins"]]
        if "pool" in kinds:
            source = str(node["origins"][kinds.index("pool")]["source"])
            return "window n-grams" if source == "window" else source
        return "window cells" if "window" in kinds else "draft guesses"

    # Work.

    def nodes_a_step(self, shown: int) -> float:
        return sum(len(step["nodes"]) for step in self._so_far(shown)) / (shown + 1)

    def nodes(self, shown: int) -> int:
        return len(self.steps[shown]["nodes"])

    def merged(self, shown: int) -> int:
        """Everyone who proposed a node, but for its first, saved one."""
        return sum(len(node["origins"]) - 1 for node in self.steps[shown]["nodes"])

    def seconds(self, shown: int) -> float:
        return sum(sum(step["seconds"][phase] for phase in PHASES) for step in self._so_far(shown))

    def phases(self, shown: int) -> dict[str, float]:
        """Milliseconds of the step by phase, and `step` for all of them."""
        seconds = self.steps[shown]["seconds"]
        spent = {phase: 1000 * seconds[phase] for phase in PHASES}
        return {**spent, "step": sum(spent.values())}

    def greedy_seconds(self) -> float:
        return float(self.footer["greedy"]["seconds"])

    def time_ratio(self) -> float | None:
        """Greedy's seconds over the run's, None where greedy was not run."""
        if self.footer["greedy"] is None:
            return None
        return self.greedy_seconds() / self.seconds(len(self.steps) - 1)

    # The pool.

    def hits(self, shown: int) -> int:
        """Steps in which a candidate's first token is what the model says after the current token."""
        return sum(
            any(self._matched(step, tried) for tried in step["candidates"]) for step in self._so_far(shown)
        )

    def pool(self, shown: int) -> tuple[int, int] | None:
        """N-grams and keys, from every change so far; None for a run without a pool."""
        held: set[tuple[int, ...]] = set()
        for step in self._so_far(shown):
            if step.get("pool") is None:
                return None
            for change in step["pool"]["changes"]:
                ngram = tuple(change["tokens"])
                assert (ngram in held) is (change["event"] != "insert"), "the trace contradicts itself"
                if change["event"] == "evict":
                    held.remove(ngram)
                else:
                    held.add(ngram)
        return len(held), len({ngram[0] for ngram in held})

    def changes(self, shown: int) -> Counter[str]:
        """Inserts, refreshes and evictions of the step."""
        pool = self.steps[shown].get("pool")
        return Counter(change["event"] for change in pool["changes"]) if pool is not None else Counter()

    def changed(self, shown: int) -> list[tuple[str, tuple[str, ...]]]:
        """The step's inserted and evicted n-grams."""
        return [
            (change["event"], tuple(map(self.token, change["tokens"])))
            for change in self.steps[shown]["pool"]["changes"]
            if change["event"] != "refresh"
        ]

    def key(self, shown: int) -> str:
        return self.token(self.steps[shown]["nodes"][0]["token"])

    def candidates(self, shown: int) -> list[TriedNGram]:
        step = self.steps[shown]
        return [self._tried(step, candidate) for candidate in step["candidates"]]

    @staticmethod
    def _matched(step: Json, candidate: Json) -> int:
        """How many tokens the model says, one after another, on nodes that the walk may enter."""
        matched, at = 0, 0
        for node in candidate["nodes"]:
            if step["nodes"][at]["choice"] != step["nodes"][node]["token"] or node not in step["path"]:
                break
            matched, at = matched + 1, node
        return matched

    def _tried(self, step: Json, candidate: Json) -> TriedNGram:
        matched = self._matched(step, candidate)
        tokens = candidate["tokens"]
        wanted = got = None
        marks = "✓" * matched
        if matched < len(candidate["nodes"]):
            at = step["nodes"][candidate["nodes"][matched - 1] if matched else 0]
            wanted = (self.token(at["choice"]), at["detail"]["probability"])
            got = (self.token(tokens[matched]), candidate["got_probability"])
            marks += "✗"
        marks += "·" * (len(tokens) - len(marks))
        born = candidate["born"]
        return TriedNGram(
            marks,
            tuple(map(self.token, tokens)),
            candidate["source"],
            born + 1 if born >= 0 else None,
            wanted,
            got,
        )

    # The window.

    def window(self, shown: int) -> tuple[list[list[Cell]], list[Cell]] | None:
        """The rows before the step, and the new one."""
        step = self.steps[shown]
        window = step.get("window")
        if window is None:
            return None
        came_true = set(step["path"][1:])
        rows = [
            [
                Cell(None if token is None else self.token(token), node is not None and node in came_true)
                for token, node in zip(row, nodes, strict=True)
            ]
            for row, nodes in zip(window["rows"], window["nodes"], strict=True)
        ]
        return rows, [Cell(None if token is None else self.token(token)) for token in window["new"]]

    def collected(self, shown: int) -> dict[int, tuple[bool, tuple[str, ...]]]:
        """By window column: whether the pool did not know the n-gram, and its tokens."""
        pool = self.steps[shown].get("pool")
        return {
            change["column"]: (change["event"] == "insert", tuple(map(self.token, change["tokens"])))
            for change in ([] if pool is None else pool["changes"])
            if change.get("column") is not None and change["event"] != "evict"
        }

    # The output.

    def free_tokens(self, shown: int) -> int:
        return self.emitted(shown) - shown - 1

    def output(self, shown: int) -> str:
        """The prompt and the output as one text, free tokens marked, split characters put together."""
        prompt = codecs.getincrementaldecoder("utf-8")("replace")
        parts = [drawn(prompt.decode(self.raw(token))) for token in self.header["prompt_ids"]]
        parts.append(drawn(prompt.decode(b"", True)))
        parts += self._output_parts(shown)
        return "".join(parts)

    def _output_parts(self, shown: int) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        for step in self._so_far(shown):
            for left, accepted in enumerate(step["accepted"], start=1 - len(step["accepted"])):
                text = drawn(decoder.decode(self.raw(accepted["token"])))
                if text:
                    yield ("★" if left < 0 else "") + text
        yield "".join(f"<{byte:02X}>" for byte in decoder.getstate()[0])
