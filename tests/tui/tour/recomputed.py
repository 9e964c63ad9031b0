"""The figures of the tour, worked out from the JSON of its traces alone, and how the panels say them."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

from lookahead_cli.tui.tour.traces import trace_file

Json = Any
_DRAWN = str.maketrans({" ": "␣", "\n": "↵", "\t": "⇥"})


class Trace:
    """A trace as JSON, and what is said of its step `shown`."""

    def __init__(self, name: str) -> None:
        with gzip.open(trace_file(name), "rt", encoding="utf-8") as stream:
            self.header, *self.steps, self.footer = [json.loads(line) for line in stream]
        self.texts: dict[str, str] = {}
        for event in (self.header, *self.steps, self.footer):
            self.texts |= {token: entry["text"] for token, entry in event["tokens"].items()}
        self.shown = 0

    @property
    def step(self) -> Json:
        return self.steps[self.shown]

    @property
    def root(self) -> str:
        return self.token(self.step["nodes"][0]["token"])

    @property
    def so_far(self) -> list[Json]:
        return self.steps[: self.shown + 1]

    def token(self, token: int) -> str:
        return self.texts[str(token)].translate(_DRAWN)

    def tokens(self, tokens: list[int]) -> str:
        return " ".join(map(self.token, tokens))

    def config(self, name: str) -> str:
        return str(self.header["config"][name])

    def counts(self) -> tuple[int, int]:
        return sum(len(step["accepted"]) for step in self.so_far), len(self.so_far)

    def ratio(self) -> str:
        emitted, steps = self.counts()
        return f"{emitted / steps:.2f}"

    def nodes_a_step(self) -> str:
        return f"{sum(len(step['nodes']) for step in self.so_far) / len(self.so_far):.1f}"

    def changes(self) -> Counter[str]:
        return Counter(change["event"] for change in self.step["pool"]["changes"])


@cache
def trace(name: str) -> Trace:
    return Trace(name)


def prompt(t: Trace) -> dict[str, str]:
    ids = t.header["prompt_ids"]
    return {"prompt_tokens": str(len(ids)), "cached": str(len(ids) - 1), "root": t.token(ids[-1])}


def greedy(t: Trace) -> dict[str, str]:
    node = t.step["nodes"][0]
    emitted, steps = t.counts()
    return {
        "root": t.root,
        "choice": t.token(node["choice"]),
        "probability": f"{node['detail']['probability']:.2f}",
        "runner_up": t.token(node["detail"]["runner_up"]),
        "runner_up_probability": f"{node['detail']['runner_up_probability']:.2f}",
        "emitted": str(emitted),
        "steps": str(steps),
        "ratio": t.ratio(),
    }


def jacobi(t: Trace) -> dict[str, str]:
    matched = len(t.step["path"]) - 1
    return {
        "width": t.config("window_size"),
        "matched": f"{matched} guess" + ("es" if matched > 1 else ""),
        "emitted_now": str(len(t.step["accepted"])),
        "ratio": t.ratio(),
    }


def window(t: Trace) -> dict[str, str]:
    rows = t.step["window"]["rows"]
    last = len(rows) - 1
    return {
        "columns": t.config("window_size"),
        "rows": str(int(t.config("ngram_size")) - 1),
        "cells_named": ", ".join(f"r{row} +{last - row}" for row in range(len(rows))),
        "place": str(last),
        "guesses": "’, ‘".join(t.token(rows[row][last - row]) for row in range(len(rows))),
        "cells": str(len(rows) * len(rows[0])),
        "root": t.root,
    }


def collect(t: Trace) -> dict[str, str]:
    window = t.step["window"]
    columns = list(zip(*window["rows"], window["new"], strict=True))
    for used in t.steps:
        root = used["nodes"][0]["token"]
        for one in used["candidates"]:
            whole = one["matched"] == len(one["tokens"])
            if whole and one["born"] == t.shown and (root, *one["tokens"]) in columns:
                kinds = Counter(
                    change["event"]
                    for change in t.step["pool"]["changes"]
                    if change["source"] == "window" and change["column"] is not None
                )
                return {
                    "column": str(columns.index((root, *one["tokens"]))),
                    "ngram": t.tokens([root, *one["tokens"]]),
                    "length": t.config("ngram_size"),
                    "new": str(kinds["insert"]),
                    "known": str(kinds["refresh"]),
                    "used": str(used["index"] + 1),
                }
    raise AssertionError("no step used what this one collected")


def pool(t: Trace) -> dict[str, str]:
    kinds = t.changes()
    return {
        "key": t.root,
        "count": str(len(t.step["candidates"])),
        "length": str(int(t.config("ngram_size")) - 1),
        "limit": t.config("guess_set_size"),
        "inserted": str(kinds["insert"]),
        "refreshed": str(kinds["refresh"]),
        "dropped": str(kinds["evict"]),
        "size": str(t.step["pool"]["size"]),
        "keys": str(t.step["pool"]["keys"]),
    }


def verification(t: Trace) -> dict[str, str]:
    step = t.step
    nodes, path = step["nodes"], step["path"]
    return {
        "count": str(len(step["candidates"])),
        "root": t.root,
        "merged": str(step["merged"]),
        "nodes": str(len(nodes)),
        "first": t.token(nodes[0]["choice"]),
        "second": t.token(nodes[path[1]]["choice"]),
        "end": t.token(step["accepted"][-1]["token"]),
    }


def hit(t: Trace) -> dict[str, str]:
    candidate = max(t.step["candidates"], key=lambda one: one["matched"])
    emitted = len(t.step["accepted"])
    return {
        "tokens": t.tokens(candidate["tokens"]),
        "matched": str(len(candidate["tokens"])),
        "born": str(candidate["born"] + 1),
        "emitted_now": str(emitted),
        "free": str(emitted - 1),
        "bonus": t.token(t.step["accepted"][-1]["token"]),
        "hits": str(sum(any(one["matched"] for one in step["candidates"]) for step in t.so_far)),
        "steps": str(len(t.so_far)),
    }


def miss(t: Trace) -> dict[str, str]:
    candidates = t.step["candidates"]
    assert not any(one["matched"] for one in candidates)
    nearest = max(candidates, key=lambda one: one["got_probability"])
    return {
        "count": str(len(candidates)),
        "wanted": t.token(t.step["accepted"][0]["token"]),
        "wanted_probability": f"{t.step['nodes'][0]['detail']['probability']:.2f}",
        "best": t.token(nearest["tokens"][0]),
        "best_probability": f"{nearest['got_probability']:.2f}",
        "nodes": str(len(t.step["nodes"])),
        "length": t.config("ngram_size"),
    }


def bonus(t: Trace) -> dict[str, str]:
    candidate = max(t.step["candidates"], key=lambda one: one["matched"])
    last = t.step["accepted"][-1]
    length = int(t.config("ngram_size"))
    return {
        "tokens": t.tokens(candidate["tokens"]),
        "matched": str(candidate["matched"]),
        "bonus": t.token(last["token"]),
        "bonus_probability": f"{last['probability']:.2f}",
        "got": t.token(candidate["tokens"][candidate["matched"]]),
        "emitted_now": str(len(t.step["accepted"])),
        "most": str(length - 1),
        "most_emitted": str(length),
    }


def mask(t: Trace, said: dict[str, str]) -> dict[str, str]:
    """The cells are the lesson's choice; what is said of them follows from the rules of the mask."""
    rows = t.step["window"]["rows"]
    row, column = map(int, said["cell"].removeprefix("r").split(" +"))
    other_row, other_column = map(int, said["other"].removeprefix("r").split(" +"))
    # (r, c) sees (0, 0..c) and (1..r, c); (0, 0) is the current token.
    sees = [(0, at) for at in range(column + 1)] + [(at, column) for at in range(1, row)]
    assert (other_row, other_column) not in sees
    place = other_row + other_column
    instead = next((r, c) for r, c in sees if r + c == place)
    return {
        "cell": said["cell"],
        "token": t.token(rows[row][column]),
        "column": str(column),
        "ancestors": str(len(sees)),
        "other": said["other"],
        "other_token": t.token(rows[other_row][other_column]),
        "instead": t.token(rows[instead[0]][instead[1]]),
        "cached": str(len(t.header["prompt_ids"]) - 1 + t.step["emitted_before"]),
    }


def compression(t: Trace) -> dict[str, str]:
    emitted, steps = len(t.footer["output_ids"]), t.footer["steps"]
    assert t.footer["greedy"]["ids_equal"]
    return {
        "emitted": str(emitted),
        "steps": str(steps),
        "ratio": f"{t.footer['compression_ratio']:.2f}",
        "saved": f"{100 - 100 * steps / emitted:.0f}",
        "ones": str(sum(len(step["accepted"]) == 1 for step in t.steps)),
        "several": str(sum(len(step["accepted"]) > 1 for step in t.steps)),
        "free": str(emitted - steps),
        "nodes": t.nodes_a_step(),
        "ids": "equal to greedy's, every one",
    }


def cost(t: Trace) -> dict[str, str]:
    seconds, greedy_seconds = t.footer["seconds"], t.footer["greedy"]["seconds"]
    assert greedy_seconds < seconds
    return {
        "columns": t.config("window_size"),
        "length": t.config("ngram_size"),
        "limit": t.config("guess_set_size"),
        "ratio": f"{t.footer['compression_ratio']:.2f}",
        "seconds": f"{seconds:.1f}",
        "greedy_seconds": f"{greedy_seconds:.1f}",
        "time_ratio": f"{greedy_seconds / seconds:.2f}",
        "nodes": t.nodes_a_step(),
    }


FIGURES: dict[str, Callable[[Trace], dict[str, str]]] = {
    "Prompt": prompt,
    "Greedy": greedy,
    "Jacobi": jacobi,
    "Window": window,
    "n-gram": collect,
    "Pool": pool,
    "Verify": verification,
    "Hit": hit,
    "Miss": miss,
    "Bonus": bonus,
    "S": compression,
    "Cost": cost,
}

ON_THE_SCREEN: dict[str, tuple[str, ...]] = {
    "Prompt": ("0 {root} ✓ current token", "0 {root} current token, position {cached}"),
    "Greedy": (
        "0 {root} ✓ current token",
        "wants {choice} ({probability}), and next {runner_up} ({runner_up_probability})",
        "{emitted} tokens in {steps} steps",
    ),
    "Jacobi": ("jacobi {width}",),
    "Window": ("W {columns} ", "r0 {root} "),
    "n-gram": ("+{column}▾ {ngram}", "N {length} "),
    "Pool": (
        "key {key} {count} candidates",
        "G {limit} ",
        "{inserted} new, {refreshed} seen again, {dropped} dropped",
        "{size} n-grams · {keys} keys",
    ),
    "Verify": (
        "{nodes} nodes, {merged} saved by merging",
        "0 {root} ✓",
        "{first} ✓",
        "─{second} ✓",
        "after it the model wants {end} (",
        "key {root} {count} candidates",
    ),
    "Hit": ("✓✓✓ {tokens} window, step {born} ", "hit {hits} of {steps} steps"),
    "Miss": (
        "{count} candidates, none matched",
        "wanted {wanted} ({wanted_probability}), not {best} ({best_probability})",
        "now {nodes},",
        "N {length} ",
    ),
    "Bonus": (
        "emits {emitted_now} tokens",
        "after it the model wants {bonus} ({bonus_probability})",
        "{tokens} prompt model wanted {bonus} ({bonus_probability}), not {got} (",
        "N {most_emitted} ",
    ),
    "Mask": (
        "{token} window {cell}, position",
        "{other_token} window {other}, position",
        "may not see it: it is on another path",
    ),
    "S": (
        "{emitted} tokens in {steps} steps",
        "{saved} % of them saved",
        "✓ {ids}",
        "free {free}:",
        "{nodes} a step",
        "█ {ones} ",
    ),
    "Cost": (
        "W {columns} N {length} G {limit} ",
        "time {seconds} s,",
        "greedy {greedy_seconds} s: time {time_ratio}× (measured)",
        "{nodes} a step",
    ),
}
"""What stands on the screen at 120 x 36, with single blanks, for the figures that a panel shows."""
