"""The figures of the lesson's texts: each is read off the recorded step that the stop shows.

Each function takes a run that looks at the stop's step, and gives the figures by the name that the text calls
them by, written as the panels write them.
"""

from __future__ import annotations

from collections.abc import Mapping

from lookahead_cli.decoding.records import Step
from lookahead_cli.trace.words import number
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.step_tree import StepTree
from lookahead_cli.tui.token_text import visible
from lookahead_cli.tui.tour import pointing, steps

Figures = Mapping[str, str]


def prompt(view: RunView) -> Figures:
    """Of the prompt."""
    assert view.header is not None
    step = _step(view)
    return {
        "prompt_tokens": str(len(view.header.prompt_ids)),
        "cached": str(step.position),
        "root": _root(view),
    }


def greedy_step(view: RunView) -> Figures:
    """Of one greedy step."""
    step = _step(view)
    detail = step.nodes[0].detail
    assert detail is not None
    return {
        "root": _root(view),
        "choice": _token(view, step.nodes[0].choice),
        "probability": _share(detail.probability),
        "runner_up": _token(view, detail.runner_up),
        "runner_up_probability": _share(detail.runner_up_probability),
        **_running(view),
    }


def jacobi(view: RunView) -> Figures:
    """Of a step of Jacobi decoding."""
    step = _step(view)
    return {
        "width": str(view.setting("window_size")),
        "matched": _times(len(step.path) - 1, "guess", "guesses"),
        "emitted_now": str(len(step.accepted)),
        "ratio": _running(view)["ratio"],
    }


def window(view: RunView) -> Figures:
    """Of the window."""
    step = _step(view)
    assert step.window is not None
    rows = step.window.rows
    cells = sorted(pointing.one_place(view).cells)
    return {
        "columns": str(len(rows[0])),
        "rows": str(len(rows)),
        "cells_named": ", ".join(f"r{row} +{column}" for row, column in cells),
        "place": str(sum(cells[0])),
        "guesses": "’, ‘".join(_token(view, rows[row][column]) for row, column in cells),
        "cells": str(sum(len(row) for row in rows)),
        "root": _root(view),
    }


def collect(view: RunView) -> Figures:
    """Of the n-grams that a step collects."""
    step = _step(view)
    change = pointing.collected_change(view)
    from_window = [one for one in step.pool.changes if one.column is not None] if step.pool else []
    return {
        "column": str(change.column),
        "ngram": _tokens(view, change.tokens),
        "length": str(len(change.tokens)),
        "new": str(sum(one.event == "insert" for one in from_window)),
        "known": str(sum(one.event == "refresh" for one in from_window)),
        "used": str(number(steps.full_hit(view))),
    }


def pool(view: RunView) -> Figures:
    """Of the pool and its candidates."""
    step = _step(view)
    assert step.pool is not None
    return {
        "key": _root(view),
        "count": str(len(step.candidates)),
        "length": str(len(step.candidates[0].tokens)),
        "limit": str(view.setting("guess_set_size")),
        "inserted": str(steps.changes(step, "insert")),
        "refreshed": str(steps.changes(step, "refresh")),
        "dropped": str(steps.changes(step, "evict")),
        "size": str(step.pool.size),
        "keys": str(step.pool.keys),
    }


def verification(view: RunView) -> Figures:
    """Of the token tree and the walk."""
    step = _step(view)
    walked = [step.nodes[node].token for node in step.path]
    return {
        "count": str(len(step.candidates)),
        "root": _root(view),
        "merged": str(step.merged),
        "nodes": str(len(step.nodes)),
        "first": _token(view, walked[1]),
        "second": _token(view, walked[2]),
        "end": _token(view, step.nodes[step.path[-1]].choice),
    }


def hit(view: RunView) -> Figures:
    """Of a candidate that matched to its end."""
    step = _step(view)
    candidate = steps.hit_of(view, step)
    assert candidate is not None
    return {
        "tokens": _tokens(view, candidate.tokens),
        "matched": str(candidate.matched),
        "born": str(number(candidate.born)),
        "emitted_now": str(len(step.accepted)),
        "free": str(len(step.accepted) - 1),
        "bonus": _token(view, step.accepted[-1].token),
        "hits": str(view.total.hits),
        "steps": str(view.total.steps),
    }


def miss(view: RunView) -> Figures:
    """Of candidates that the model wants nothing of."""
    step = _step(view)
    best = steps.best_of(step)
    return {
        "count": str(len(step.candidates)),
        "wanted": _token(view, best.wanted),
        "wanted_probability": _share(best.wanted_probability),
        "best": _token(view, best.tokens[best.matched]),
        "best_probability": _share(best.got_probability),
        "nodes": str(len(step.nodes)),
        "length": str(len(best.tokens) + 1),
    }


def bonus(view: RunView) -> Figures:
    """Of the bonus token."""
    step = _step(view)
    best = steps.best_of(step)
    end = step.nodes[step.path[-1]]
    assert end.detail is not None
    return {
        "tokens": _tokens(view, best.tokens),
        "matched": str(best.matched),
        "bonus": _token(view, end.choice),
        "bonus_probability": _share(end.detail.probability),
        "got": _token(view, best.tokens[best.matched]),
        "emitted_now": str(len(step.accepted)),
        "most": str(len(best.tokens)),
        "most_emitted": str(len(best.tokens) + 1),
    }


def mask(view: RunView) -> Figures:
    """Of the node and the column that the mask's cursor is on."""
    step = _step(view)
    tree = StepTree(step)
    pointer = pointing.hidden_cell(view)
    node, key = step.nodes[pointer.node], step.nodes[pointer.key]
    row, column = node.origins[0].row, node.origins[0].column
    return {
        "cell": f"r{row} +{column}",
        "token": _token(view, node.token),
        "column": str(column),
        "ancestors": str(len(tree.lineages[pointer.node]) - 1),
        "other": f"r{key.origins[0].row} +{key.origins[0].column}",
        "other_token": _token(view, key.token),
        "instead": _token(view, step.nodes[pointing.same_place(view, pointer)].token),
        "cached": str(step.position),
    }


def compression(view: RunView) -> Figures:
    """Of a whole run."""
    total = view.total
    assert view.footer is not None
    greedy = view.footer.greedy
    assert greedy is not None
    return {
        **_running(view),
        "saved": f"{100 * (total.emitted - total.steps) / total.emitted:.0f}",
        "ones": str(total.histogram[0]),
        "several": str(sum(total.histogram[1:])),
        "free": str(sum(total.credits.values())),
        "nodes": f"{total.nodes / total.steps:.1f}",
        "ids": "equal to greedy's, every one" if greedy.ids_equal else "not all equal to greedy's",
    }


def cost(view: RunView) -> Figures:
    """Of time against greedy decoding's."""
    total, footer = view.total, view.footer
    assert footer is not None
    assert footer.greedy is not None
    return {
        "columns": str(view.setting("window_size")),
        "length": str(view.setting("ngram_size")),
        "limit": str(view.setting("guess_set_size")),
        "ratio": _running(view)["ratio"],
        "seconds": f"{footer.seconds:.1f}",
        "greedy_seconds": f"{footer.greedy.seconds:.1f}",
        "time_ratio": f"{footer.greedy.seconds / footer.seconds:.2f}",
        "nodes": f"{total.nodes / total.steps:.1f}",
    }


def _step(view: RunView) -> Step:
    step = view.step
    assert step is not None
    return step


def _running(view: RunView) -> Figures:
    total = view.total
    return {
        "emitted": str(total.emitted),
        "steps": str(total.steps),
        "ratio": f"{total.compression_ratio:.2f}",
    }


def _root(view: RunView) -> str:
    return _token(view, _step(view).nodes[0].token)


def _token(view: RunView, token: int | None) -> str:
    return visible(view.token(token))


def _tokens(view: RunView, tokens: tuple[int, ...]) -> str:
    return " ".join(_token(view, token) for token in tokens)


def _share(probability: float | None) -> str:
    return "" if probability is None else f"{probability:.2f}"


def _times(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"
