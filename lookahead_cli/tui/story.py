"""A step in plain sentences: what was proposed, what became of it, what was accepted and what that saved.

A pure function of the step's record; nothing here needs textual.
"""

from __future__ import annotations

from collections.abc import Callable

from lookahead_cli.decoding.records import Candidate, Step
from lookahead_cli.trace.words import ENDINGS, counted, provenance

Part = tuple[str, str]
"""A piece of text and its role."""


def story(step: Step, named: Callable[[int], str]) -> list[Part]:
    """Tell a step.

    Args:
        step: The step.
        named: How a token reads.

    Returns:
        Pieces of text with their roles; put together they are whole sentences.
    """
    parts = [*_proposed(step, named), *_wanted(step, named), *_accepted(step)]
    if step.finish_reason is not None:
        parts.append((f" Here the text ends: {ENDINGS[step.finish_reason]}.", "bonus"))
    return parts


def _right(step: Step) -> int:
    """How many guesses of the walk were right."""
    return len(step.path) - 1


def _proposed(step: Step, named: Callable[[int], str]) -> list[Part]:
    """What was guessed, and who was right, by how much."""
    root: Part = (named(step.nodes[0].token), "accent")
    right, count = _right(step), len(step.candidates)
    if len(step.nodes) == 1:
        if step.pool is None:
            return [("After ", "foreground"), root, (" nothing was guessed", "foreground")]
        return [("No n-gram of the pool begins with ", "foreground"), root]
    if not count:
        return _cells(step, root)
    of = "The candidate" if count == 1 else f"Of {count} candidates"
    start: list[Part] = [(f"{of} after ", "foreground"), root]
    if not right:
        if count == 1:
            source = provenance(step.candidates[0])
            return [*start, (f" ({source}) was ", "foreground"), ("wrong at once", "rejected")]
        return [("None", "rejected"), (f" of {count} candidates after ", "foreground"), root, *_WAS_RIGHT]
    winner = _winner(step)
    if winner is None:
        best = max(candidate.matched for candidate in step.candidates)
        return [
            (f"{of} after ", "foreground"),
            root,
            (f" {'had' if count == 1 else 'the best had'} {best} right; ", "foreground"),
            ("cells of the window", "pool_hit"),
            (f" went further, with {counted(right, 'token')} right", "foreground"),
        ]
    share = f"{winner.matched} of {counted(len(winner.tokens), 'token')} right"
    if count == 1:
        return [*start, (f" ({provenance(winner)}) had ", "foreground"), (share, "pool_hit")]
    others = sorted(one.matched for one in step.candidates if one is not winner)
    lead = (
        "no other had one"
        if not others[-1]
        else "the next best had as many"
        if others[-1] == winner.matched
        else f"the next best had {others[-1]}"
    )
    return [
        *start,
        (f" the one from {provenance(winner)}{'' if winner.born < 0 else ','} won: ", "foreground"),
        (share, "pool_hit"),
        (f", {lead}", "foreground"),
    ]


_WAS_RIGHT: tuple[Part, ...] = ((" was right", "foreground"),)


def _cells(step: Step, root: Part) -> list[Part]:
    """Without candidates the cells of the window alone are guesses."""
    right, guesses = _right(step), len(step.nodes) - 1
    start: list[Part] = []
    if step.pool is not None:
        start = [("No n-gram of the pool begins with ", "foreground"), root]
        if not right:
            return start
        cells = f"{counted(right, 'cell')} of the window"
        return [*start, (", but ", "foreground"), (cells, "pool_hit"), *_CAME]
    if not right:
        none = ("none", "rejected")
        of = f"Of {counted(guesses, 'guess', 'guesses')} after "
        return [(of, "foreground"), root, (" ", "foreground"), none, *_WAS_RIGHT]
    how = "the first was right" if right == 1 else f"the first {right} were right"
    return [
        (f"Of {counted(guesses, 'guess', 'guesses')} after ", "foreground"),
        root,
        (" ", "foreground"),
        (how, "pool_hit"),
    ]


_CAME: tuple[Part, ...] = ((" came true", "foreground"),)


def _winner(step: Step) -> Candidate | None:
    """The candidate that holds all of the walk; None where cells of the window went further than any."""
    last = step.path[-1]
    return next((candidate for candidate in step.candidates if last in candidate.nodes), None)


def _wanted(step: Step, named: Callable[[int], str]) -> list[Part]:
    """Where the walk ended: what the model wanted, and what was guessed there instead."""
    if len(step.accepted) < len(step.path):
        return [(".", "foreground")]  # An end cut the walk: the model's own choice was not emitted.
    last = step.accepted[-1]
    right = _right(step)
    join = "; then the model " if right else ": the model " if len(step.nodes) > 1 else "; the model "
    wanted: Part = (named(last.token), "wanted")
    chance = "" if last.probability is None else f" ({last.probability:.2f})"
    wrong = next((one for one in step.candidates if one.matched == right and one.wanted == last.token), None)
    if wrong is not None and right < len(wrong.tokens):
        got = "" if wrong.got_probability is None else f" ({wrong.got_probability:.2f})"
        return [
            (f"{join}wanted ", "foreground"),
            wanted,
            (f"{chance}, not ", "foreground"),
            (named(wrong.tokens[right]), "rejected"),
            (f"{got}.", "foreground"),
        ]
    guessed = [node.token for node in step.nodes[1:] if node.parent == step.path[-1]]
    if guessed and not step.candidates and step.pool is None:
        return [
            (f"{join}wanted ", "foreground"),
            wanted,
            (f"{chance}, not ", "foreground"),
            (named(guessed[0]), "rejected"),
            (".", "foreground"),
        ]
    verb = "added" if right else "chose"
    return [(f"{join}{verb} ", "foreground"), wanted, (f"{chance}.", "foreground")]


def _accepted(step: Step) -> list[Part]:
    """What the step emitted, and the steps that greedy decoding would have taken for it."""
    count = len(step.accepted)
    if count == 1:
        return [(" One token in one step, none saved.", "muted")]
    saved = f"{counted(count - 1, 'step')} saved."
    return [(f" {count} tokens in one step: ", "foreground"), (saved, "free")]
