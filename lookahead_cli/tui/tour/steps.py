"""Which step of a recorded run a stop shows: found by what happens in it, so that runs can be recorded anew.

Each function takes a whole run and gives the index of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from lookahead_cli.decoding.records import Candidate, Step
from lookahead_cli.errors import InputError
from lookahead_cli.tui.run_view import RunView


def _first(view: RunView, what: str, holds: Callable[[Step], bool], after: int = -1) -> int:
    return _found((step.index for step in view.steps[after + 1 :] if holds(step)), what)


def _found(indices: Iterable[int], what: str) -> int:
    for index in indices:
        return index
    raise InputError(
        f"No step of the tour's recorded run has {what}.",
        "Record other runs, or install lookahead-cli again.",
    )


def first(view: RunView) -> int:
    """The first step."""
    return 0


def last(view: RunView) -> int:
    """The last step."""
    return view.newest


def least_certain(view: RunView) -> int:
    """The step in which the model was least sure of its choice."""
    steps = [(node.detail.probability, step.index) for step in view.steps if (node := step.nodes[0]).detail]
    return min(steps)[1]


def chain_matched(view: RunView) -> int:
    """The first step whose walk passed a guess."""
    return _first(view, "a guess that came true", lambda step: len(step.path) > 1)


def full_hit(view: RunView) -> int:
    """The first step in which all of an n-gram from the window matched."""
    return _first(view, "a hit from the window", lambda step: hit_of(view, step) is not None)


def hit_of(view: RunView, step: Step) -> Candidate | None:
    """The candidate of a step that was collected from the window and matched to its end, if there is one."""
    for candidate in step.candidates:
        if candidate.source == "window" and 0 < candidate.matched == len(candidate.tokens):
            return candidate
    return None


def collected(view: RunView) -> int:
    """The step that collected the n-gram of `full_hit`."""
    candidate = hit_of(view, view.steps[full_hit(view)])
    assert candidate is not None
    return candidate.born


def full_key(view: RunView) -> int:
    """The first step after the hit with several candidates, in which the pool dropped an n-gram."""
    return _first(
        view,
        "candidates and an eviction",
        lambda step: len(step.candidates) > 3 and changes(step, "evict") > 0,
        full_hit(view),
    )


def changes(step: Step, event: Literal["insert", "refresh", "evict"]) -> int:
    """How many changes of the pool a step made of one kind."""
    return sum(change.event == event for change in step.pool.changes) if step.pool is not None else 0


def shared_beginnings(view: RunView) -> int:
    """The first step with merged nodes, several candidates, and a walk of two guesses."""
    return _first(
        view,
        "candidates that share a beginning",
        lambda step: step.merged > 0 and len(step.candidates) > 3 and len(step.path) == 3,
    )


def clear_miss(view: RunView) -> int:
    """The first step with as many candidates as a key can hold, none of which matched."""
    limit = view.setting("guess_set_size")
    return _first(
        view, "a clear miss", lambda step: len(step.candidates) == limit and best_of(step).matched == 0
    )


def best_of(step: Step) -> Candidate:
    """The candidate that matched farthest; of equals the likeliest at its mismatch."""
    return max(step.candidates, key=lambda one: (one.matched, one.got_probability or 0.0))


def partial_hit(view: RunView) -> int:
    """The first step whose best candidate matched twice or more, but not to its end."""
    return _first(
        view,
        "a candidate that matched in part",
        lambda step: bool(step.candidates) and 1 < best_of(step).matched < len(best_of(step).tokens),
    )


def plain_mask(view: RunView) -> int:
    """The smallest step with a candidate and no merged nodes; of equals that of most different tokens."""
    sizes = [
        (len(step.nodes), -len({node.token for node in step.nodes}), step.index)
        for step in view.steps[1:]
        if step.candidates and not step.merged
    ]
    return _found((index for _, _, index in sorted(sizes)), "a candidate and no merged nodes")
