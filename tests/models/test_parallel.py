"""Real processes on gloo that decode one text together; each feeds a part of every tree."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.models.api import decode, generate
from lookahead_cli.models.language_model import load_model
from lookahead_cli.models.parallel.split import owners_of, split
from lookahead_cli.models.parallel.workers import start_ranks
from lookahead_cli.trace.events import StepEvent
from tests.tiny import save_tiny_model

PROMPT = "The quick brown fox jumps over the lazy dog. The quick"
CONFIG = LookaheadConfig(max_new_tokens=40)


@st.composite
def trees(draw):
    size = draw(st.integers(1, 60))
    return [-1, *(draw(st.integers(max(0, node - 8), node - 1)) for node in range(1, size))]


@given(trees(), st.lists(st.integers(0, 5), min_size=1, max_size=5))
def test_every_node_is_fed_with_its_ancestors_and_no_rank_feeds_more_than_it_must(parents, extra):
    shares = split(parents, extra)

    assert -1 not in owners_of(shares, len(parents))
    for share in shares:
        assert share == sorted(set(share))
        assert all(parents[node] in share for node in share if node)
    most = max(len(share) + more for share, more in zip(shares, extra, strict=True))
    assert most <= len(parents) + max(extra)
    assert sum(map(len, shares)) >= len(parents)


def test_a_window_is_halved_but_for_its_first_row():
    parents = [column - 1 for column in range(15)]
    parents += list(range(45))  # three more rows, each cell under the one above it

    shares = split(parents, [0, 0])

    assert max(map(len, shares)) <= 36


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="module", params=[2, 3])
def both(folder, request):
    """The model on several ranks, and alone."""
    ranks = start_ranks(request.param)
    yield load_model(folder, ranks=ranks, dtype="float32"), load_model(folder, dtype="float32")
    ranks.end()


def essence(step):
    """A step without its times, and with probabilities as far as they are the same at every width."""
    nodes = tuple(
        (node.token, node.parent, node.position, node.origins, node.choice, node.matched)
        for node in step.nodes
    )
    chances = [accepted.probability for accepted in step.accepted]
    candidates = tuple(
        replace(candidate, wanted_probability=None, got_probability=None) for candidate in step.candidates
    )
    said = (nodes, step.path, step.token_ids, candidates, step.window, step.pool, step.finish_reason)
    return said, pytest.approx(chances, rel=1e-3)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"window_size": 1, "ngram_size": 2, "guess_set_size": 0},
        {"method": "lookahead-reference"},
        {"method": "jacobi"},
        {"method": "prompt-lookup"},
        {"method": "greedy"},
        {"sources": ("window", "prompt", "recycled")},
        {"paper_strict": True},
        {"repetition_penalty": 1.3},
        {"temperature": 0.8, "top_k": 50, "seed": 7},
    ],
    ids=str,
)
def test_every_step_is_the_one_of_a_single_process(both, changes):
    together, alone = both
    config = replace(CONFIG, **changes)

    steps = list(decode(together, PROMPT, config))

    expected = list(decode(alone, PROMPT, config))
    assert len(steps) == len(expected)
    for step, other in zip(steps, expected, strict=True):
        said, chances = essence(step)
        assert said == essence(other)[0]
        assert [accepted.probability for accepted in other.accepted] == chances


def test_each_rank_feeds_a_part_of_the_nodes(both):
    together, _ = both
    runner = together.step_runner
    whole, fed = runner.whole_nodes, list(runner.fed_nodes)
    own = runner.fed_tokens

    ids = together.encode(PROMPT)
    steps = list(decode(together, ids, CONFIG))

    whole = runner.whole_nodes - whole
    assert whole == sum(len(step.nodes) for step in steps)
    shares = [now - before for now, before in zip(runner.fed_nodes, fed, strict=True)]
    assert max(shares) < 0.75 * whole
    # What is counted for this rank is what its model was really fed; the prompt may be there already.
    assert 0 <= runner.fed_tokens - own - shares[0] < len(ids)


def test_a_conversation_keeps_pool_and_cache_on_every_rank(both):
    together, alone = both
    pools = NGramPool(5, 15), NGramPool(5, 15)
    texts = [PROMPT, PROMPT]

    for _ in range(3):
        for at, model in enumerate((together, alone)):
            texts[at] += generate(model, texts[at], CONFIG, pool=pools[at]) + " One two"

    assert texts[0] == texts[1]
    assert list(pools[0].entries()) == list(pools[1].entries())


def test_a_run_that_is_left_early_leaves_the_ranks_ready(both):
    together, alone = both
    steps = decode(together, PROMPT, CONFIG)
    next(steps)
    steps.close()
    cancel = threading.Event()
    for step in decode(together, PROMPT, CONFIG, cancel=cancel):
        assert step.index == 0
        cancel.set()

    assert generate(together, PROMPT, CONFIG, output="ids") == generate(alone, PROMPT, CONFIG, output="ids")


def test_a_prompt_that_is_refused_leaves_the_ranks_ready(both):
    together, alone = both
    with pytest.raises(InputError):
        generate(together, [], CONFIG)

    assert generate(together, PROMPT, CONFIG, output="ids") == generate(alone, PROMPT, CONFIG, output="ids")


def test_greedy_beside_a_parallel_run_is_run_by_rank_0_alone(both):
    together, _ = both
    fed = list(together.step_runner.fed_nodes)
    events = list(together.run(together.encode(PROMPT), CONFIG, greedy=True))

    assert events[0].ranks == together.ranks.size
    assert events[-1].greedy.ids_equal
    steps = [event.step for event in events if isinstance(event, StepEvent)]
    # No rank was fed the greedy steps through the shared runner.
    whole = sum(len(step.nodes) for step in steps)
    shares = [now - before for now, before in zip(together.step_runner.fed_nodes, fed, strict=True)]
    assert max(shares) < whole


def test_a_draft_model_is_refused(both, folder):
    together, alone = both
    with pytest.raises(UsageError, match="cannot be split"):
        generate(together, PROMPT, replace(CONFIG, method="draft"), draft=alone)


def test_a_second_group_of_ranks_is_refused(both):
    with pytest.raises(UsageError, match="one of several"):
        start_ranks(2)
