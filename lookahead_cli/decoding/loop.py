"""The decoding loop: one loop, one tree, many proposers.

    propose -> forward -> read out -> verify -> commit -> observe -> Step

Every method is this loop with another proposer; nothing here knows which one it serves.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator

from lookahead_cli.decoding.proposers.base import Observation, Proposer
from lookahead_cli.decoding.records import Accepted, Node, Seconds, Step
from lookahead_cli.decoding.runner import Reader, Readout, Runner
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.decoding.verify import MERGED, Rules, walk


def decode(
    runner: Runner,
    root_token: int,
    proposer: Proposer,
    stopping: Stopping,
    sampler: Reader,
    *,
    rules: Rules = MERGED,
    cancel: threading.Event | None = None,
) -> Iterator[Step]:
    """Decode from a prefilled model, one `Step` at a time.

    Args:
        runner: The model; its KV cache holds the prompt without its last token.
        root_token: The prompt's last token, root of step 0.
        proposer: Who guesses.
        stopping: When to end.
        sampler: How tokens are chosen from logits.
        rules: How the tree is built and walked.
        cancel: Set from another thread to stop before the next step.

    Yields:
        One frozen record a step. Between two steps the KV cache always holds what was emitted, less the last
        token.
    """
    emitted_before = 0
    for index in itertools.count():
        if cancel is not None and cancel.is_set():
            return
        started = time.perf_counter()
        tree = TokenTree(root_token, len(runner.ids), runner.position_limit, merge=rules.merge)
        proposer.propose(tree)
        proposed = time.perf_counter()
        logits = runner.forward(tree)
        forwarded = time.perf_counter()
        readout = sampler.read(logits, tree, runner.ids, emitted_before)
        readout.choice(0)
        read = time.perf_counter()
        path = walk(tree, readout.choice, rules.may_accept)
        wanted = [readout.choice(node) for node in path]
        emitted, finish_reason = stopping.cut(wanted, emitted_before, tree.position)
        verified = time.perf_counter()
        runner.commit(tree, path[: len(emitted)])
        committed = time.perf_counter()
        findings = proposer.observe(Observation(index, tree, readout, path, emitted))
        observed = time.perf_counter()
        nodes, accepted = _read_walk(tree, readout, path, emitted)
        seconds = Seconds(
            propose=proposed - started + observed - committed,
            forward=forwarded - proposed,
            readout=read - forwarded + time.perf_counter() - observed,
            verify=verified - read,
            commit=committed - verified,
        )
        yield Step(
            index=index,
            position=tree.position,
            emitted_before=emitted_before,
            nodes=nodes,
            path=path,
            accepted=accepted,
            candidates=findings.candidates,
            window=findings.window,
            pool=findings.pool,
            merged=tree.merged,
            seconds=seconds,
            finish_reason=finish_reason,
            overrun=stopping.overrun,
        )
        if finish_reason is not None:
            return
        root_token = emitted[-1]
        emitted_before += len(emitted)


def _read_walk(
    tree: TokenTree, readout: Readout, path: tuple[int, ...], emitted: tuple[int, ...]
) -> tuple[tuple[Node, ...], tuple[Accepted, ...]]:
    """The tree's nodes as records, with probabilities along the walk, and who is credited for each token."""
    details = {node: readout.detail(node) for node in path}
    origins = [tree.credited(node) for node in range(len(tree))]
    nodes = tuple(
        Node(
            token=tree.tokens[node],
            parent=tree.parents[node],
            position=tree.position + tree.depths[node],
            origins=origins[node],
            choice=readout.choices[node],
            detail=details.get(node),
            matched=node in details,
        )
        for node in range(len(tree))
    )
    guessed = (*path[1:], None)
    accepted = tuple(
        Accepted(
            token=token,
            origin=None if guess is None else origins[guess][0],
            probability=details[node].probability,
        )
        for token, node, guess in zip(emitted, path, guessed, strict=False)
    )
    return nodes, accepted
