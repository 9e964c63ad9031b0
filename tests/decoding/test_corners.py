"""Exactness in the corners, on a tiny random model against transformers' own greedy `generate`."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from functools import cache

import pytest
import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import Draft, make_proposer, rules_of
from lookahead_cli.decoding.records import Seconds
from lookahead_cli.decoding.sampling import Sampler
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.sampling import sampler_of
from tests.tiny import CONTEXT_LENGTH, tiny_model

PROMPTS = {count: [(7 * at * at + 5 * at) % 250 + 5 for at in range(count)] for count in (1, 2, 50)}


@pytest.fixture(scope="module")
def model():
    return tiny_model().to(torch.float64).eval()


def generated(model, prompt, count, eos=None):
    inputs = torch.tensor([prompt])
    output = model.generate(
        inputs,
        attention_mask=torch.ones_like(inputs),
        do_sample=False,
        num_beams=1,
        max_new_tokens=count,
        eos_token_id=eos if eos is not None else -1,
        pad_token_id=0,
    )
    return output[0, len(prompt) :].tolist()


def decoded(model, prompt, config, eos=(), runner=None, **more):
    runner = runner or TransformersRunner(model, CONTEXT_LENGTH)
    runner.prefill(prompt[:-1])
    stopping = Stopping(config.max_new_tokens, frozenset(eos), CONTEXT_LENGTH)
    sampler = sampler_of(config)
    draft = (
        Draft(TransformersRunner(draft_model(), CONTEXT_LENGTH), sampler)
        if config.method == "draft"
        else None
    )
    proposer = make_proposer(config, prompt, draft=draft)
    return list(decode(runner, prompt[-1], proposer, stopping, sampler, rules=rules_of(config), **more))


@cache
def draft_model():
    """Like the model, but with noise on its weights: right now and then."""
    draft = tiny_model().to(torch.float64).eval()
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(1)
        for weights in draft.parameters():
            weights.add_(0.02 * torch.randn_like(weights))
    return draft


def ids(steps):
    return [token for step in steps for token in step.token_ids]


def config_of(window, ngram, guesses, count):
    return LookaheadConfig(window_size=window, ngram_size=ngram, guess_set_size=guesses, max_new_tokens=count)


@pytest.mark.parametrize("length", PROMPTS)
def test_ids_equal_greedy_in_every_corner(model, length):
    prompt = PROMPTS[length]
    expected = generated(model, prompt, 24)
    for window, ngram, guesses in itertools.product((1, 2, 5, 15), (2, 3, 5), (0, 1, 5, 15)):
        steps = decoded(model, prompt, config_of(window, ngram, guesses, 24))
        assert ids(steps) == expected, (window, ngram, guesses)


METHODS = {
    "jacobi": {"method": "jacobi"},
    "prompt-lookup": {"method": "prompt-lookup"},
    "draft": {"method": "draft"},
    "reference": {"method": "lookahead-reference"},
    "prompt alone": {"sources": ("prompt",)},
    "recycled alone": {"sources": ("recycled",), "node_budget": 12},
    "recycled and prompt": {"sources": ("prompt", "recycled"), "node_budget": 12},
    "all sources": {"sources": ("window", "prompt", "recycled"), "node_budget": 12},
}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_greedys_ids(model, method):
    for length, prompt in PROMPTS.items():
        expected = generated(model, prompt, 24)
        for window, ngram, guesses in itertools.product((1, 2, 5), (2, 3, 5), (0, 1, 5)):
            config = replace(config_of(window, ngram, guesses, 24), **METHODS[method])
            assert ids(decoded(model, prompt, config)) == expected, (length, window, ngram, guesses)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_stops_at_the_last_position_and_at_every_end_token(model, method):
    prompt = (PROMPTS[50] * 6)[: CONTEXT_LENGTH - 8]
    config = replace(config_of(15, 5, 15, 60), **METHODS[method])
    steps = decoded(model, prompt, config)
    assert ids(steps) == generated(model, prompt, 8)
    assert steps[-1].finish_reason == "context"
    end = ids(steps)[4]
    assert ids(decoded(model, PROMPTS[50], config, eos=(end, 319))) == generated(
        model, PROMPTS[50], 60, eos=[end, 319]
    )


def test_the_reference_emits_at_most_n_minus_one_tokens_a_step_and_feeds_equal_paths_twice(model):
    config = replace(config_of(15, 3, 15, 60), method="lookahead-reference")
    steps = decoded(model, PROMPTS[50], config)
    assert max(len(step.accepted) for step in steps) == 2
    assert sum(step.merged for step in steps) == 0
    ours = decoded(model, PROMPTS[50], replace(config, method="lookahead"))
    assert len(ours) < len(steps)


def test_the_recycled_source_keeps_to_its_budget(model):
    config = replace(config_of(5, 3, 5, 60), sources=("prompt", "recycled"), node_budget=8)
    steps = decoded(model, PROMPTS[50], config)
    assert max(len(step.nodes) for step in steps) == 8
    sources = {candidate.source for step in steps for candidate in step.candidates}
    assert "recycled" in sources


def test_the_paper_rule_is_exact_too_and_never_accepts_a_window_cell_alone(model):
    steps = decoded(model, PROMPTS[50], replace(config_of(15, 3, 15, 24), paper_strict=True))
    assert ids(steps) == generated(model, PROMPTS[50], 24)
    assert all(
        token.origin is None or token.origin.kind == "pool" for step in steps for token in step.accepted
    )


@pytest.mark.parametrize("count", [1, 2, 3, 24])
def test_never_one_token_too_many(model, count):
    assert ids(decoded(model, PROMPTS[50], config_of(15, 5, 15, count))) == generated(
        model, PROMPTS[50], count
    )


def test_greedy_is_one_token_a_step_so_its_ratio_is_one(model):
    steps = decoded(model, PROMPTS[50], LookaheadConfig(method="greedy", max_new_tokens=24))
    assert ids(steps) == generated(model, PROMPTS[50], 24)
    assert len(steps) == 24


def test_every_end_token_stops_even_inside_an_accepted_n_gram(model):
    free = decoded(model, PROMPTS[50], config_of(15, 5, 15, 60))
    inside = [token.token for step in free if len(step.accepted) > 1 for token in step.accepted[:-1]]
    assert inside, "no step accepted several tokens, so this test shows nothing"
    for end in dict.fromkeys(inside):
        steps = decoded(model, PROMPTS[50], config_of(15, 5, 15, 60), eos=(end, 319))
        assert ids(steps) == generated(model, PROMPTS[50], 60, eos=[end, 319])
        assert steps[-1].finish_reason == "eos"


def test_decoding_ends_at_the_last_position_of_the_context(model):
    prompt = (PROMPTS[50] * 6)[: CONTEXT_LENGTH - 8]
    steps = decoded(model, prompt, config_of(15, 5, 15, 60))
    assert ids(steps) == generated(model, prompt, 8)
    assert steps[-1].finish_reason == "context"


def test_a_second_run_gives_the_same_records(model):
    config = config_of(5, 3, 5, 24)
    first, second = (
        [replace(step, seconds=Seconds()) for step in decoded(model, PROMPTS[50], config)] for _ in range(2)
    )
    assert first == second


def test_a_cancelled_run_leaves_a_cache_that_the_next_run_can_use(model):
    runner = TransformersRunner(model, CONTEXT_LENGTH)
    cancel = threading.Event()
    runner.prefill(PROMPTS[50][:-1])
    config = config_of(5, 3, 5, 24)
    proposer = make_proposer(config, PROMPTS[50])
    taken = []
    for step in decode(runner, PROMPTS[50][-1], proposer, Stopping(24), Sampler(), cancel=cancel):
        taken.append(step)
        cancel.set()
    assert len(taken) == 1
    assert runner.ids == [*PROMPTS[50], *ids(taken)[:-1]]
    again = decoded(model, PROMPTS[50], config, runner=runner)
    assert ids(again) == generated(model, PROMPTS[50], 24)


def test_only_what_the_cache_does_not_hold_is_fed_again(model):
    runner = TransformersRunner(model, CONTEXT_LENGTH)
    config = config_of(5, 3, 5, 8)
    answer = ids(decoded(model, PROMPTS[50], config, runner=runner))
    longer = [*PROMPTS[50], *answer, 9, 10, 11]
    before = runner.fed_tokens
    runner.prefill(longer[:-1])
    # The last answered token was never fed, and two of the three new ones are not the root.
    assert runner.fed_tokens - before == 3
    assert ids(decoded(model, longer, config, runner=runner)) == generated(model, longer, 8)
