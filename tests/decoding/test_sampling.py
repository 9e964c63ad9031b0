"""Sampling: the model's distribution, the same ids for every method, and a test that can fail."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import Draft, make_proposer, rules_of
from lookahead_cli.decoding.records import Seconds
from lookahead_cli.decoding.sampling import SeededUniforms, inverse_transform
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.sampling import sampler_of
from tests.exact import draws
from tests.tiny import CONTEXT_LENGTH, tiny_model

TEXTS = 5_000
PROMPT = [(7 * at * at + 5 * at) % 250 + 5 for at in range(30)]
PROCESSED = {
    "temperature": {"temperature": 0.8},
    "top-k": {"temperature": 1.3, "top_k": 7},
    "top-p": {"temperature": 1.0, "top_p": 0.8},
    "min-p": {"temperature": 1.0, "min_p": 0.1},
    "typical-p": {"temperature": 1.0, "typical_p": 0.7},
    "penalty": {"temperature": 1.0, "repetition_penalty": 1.4},
    "no-repeat": {"temperature": 1.0, "no_repeat_ngram_size": 2},
    "all": {"temperature": 0.9, "top_k": 40, "top_p": 0.9, "repetition_penalty": 1.2},
}
METHODS = {name: settings for name, settings in draws.METHODS.items() if name != "greedy"}


@pytest.fixture(scope="module")
def model():
    return tiny_model().to(torch.float64).eval()


def sampled(model, config, prompt=PROMPT):
    runner = TransformersRunner(model, CONTEXT_LENGTH)
    runner.prefill(prompt[:-1])
    sampler = sampler_of(config)
    draft = Draft(TransformersRunner(model, CONTEXT_LENGTH), sampler) if config.method == "draft" else None
    proposer = make_proposer(config, prompt, draft=draft)
    stopping = Stopping(config.max_new_tokens, frozenset(), CONTEXT_LENGTH)
    return list(decode(runner, prompt[-1], proposer, stopping, sampler, rules=rules_of(config)))


def ids(steps):
    return [token for step in steps for token in step.token_ids]


@pytest.mark.parametrize("processed", PROCESSED)
def test_ids_are_the_same_for_every_method(model, processed):
    config = LookaheadConfig(method="greedy", max_new_tokens=40, seed=3, **PROCESSED[processed])
    one_by_one = ids(sampled(model, config))
    assert len(set(one_by_one)) > 4
    for settings in METHODS.values():
        chosen = replace(config, **({"method": "lookahead"} | settings))
        assert ids(sampled(model, chosen)) == one_by_one, settings


def test_a_draft_that_is_the_model_itself_is_always_right(model):
    config = LookaheadConfig(method="draft", window_size=3, max_new_tokens=40, temperature=1.0, top_p=0.9)
    assert all(len(step.accepted) == 4 for step in sampled(model, config))


def test_the_same_seed_gives_the_same_trace_and_another_seed_another_text(model):
    config = LookaheadConfig(max_new_tokens=30, temperature=1.0, **METHODS["lookahead"])
    first, second = ([replace(step, seconds=Seconds()) for step in sampled(model, config)] for _ in range(2))
    assert first == second
    assert ids(sampled(model, replace(config, seed=1))) != ids(first)


def test_processors_also_work_without_a_temperature(model):
    config = LookaheadConfig(method="greedy", max_new_tokens=40, no_repeat_ngram_size=2)
    inputs = torch.tensor([PROMPT])
    expected = model.generate(
        inputs,
        attention_mask=torch.ones_like(inputs),
        do_sample=False,
        max_new_tokens=40,
        eos_token_id=-1,
        pad_token_id=0,
        no_repeat_ngram_size=2,
    )[0, len(PROMPT) :].tolist()
    assert ids(sampled(model, config)) == expected
    assert ids(sampled(model, replace(config, method="lookahead"))) == expected


def test_uniform_numbers_are_even_and_independent_of_the_order_they_are_asked_in():
    uniforms = SeededUniforms(7)
    numbers = [uniforms(position) for position in range(20_000)]
    counts = Counter(int(20 * number) for number in numbers)
    assert draws.chi_square_p(counts, dict.fromkeys(range(20), 1 / 20), 20_000) > 0.001
    assert uniforms(5) == numbers[5]
    assert all(0 <= number < 1 for number in numbers)


def test_a_token_of_probability_zero_is_never_drawn():
    probabilities = torch.tensor([0.0, 0.5, 0.0, 0.5, 0.0], dtype=torch.float64)
    assert inverse_transform(probabilities, 0.0) == 1
    assert inverse_transform(probabilities, 0.5) == 3
    assert inverse_transform(probabilities, 1.0 - 2**-53) == 3


@pytest.mark.parametrize("method", draws.METHODS)
def test_texts_have_exactly_the_models_distribution(method):
    assert draws.p_value(method, TEXTS) > draws.LEVEL


class TakesLikelyGuesses(draws.PathReadout):
    """A typical mistake: a guess that is likely enough is taken, without correcting for it."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.guesses = set(self.texts)

    def choice(self, node):
        text = self.texts[node]
        for token in range(draws.VOCABULARY):
            if (*text, token) in self.guesses and self.probability(node, token) > 0.2:
                return token
        return super().choice(node)


class TakesLikelyGuessesSampler(draws.PathSampler):
    readout = TakesLikelyGuesses


def test_a_broken_verifier_is_found_out():
    config = draws.config_of("lookahead")
    texts = draws.sampled_texts(config, TEXTS, TakesLikelyGuessesSampler)
    assert draws.chi_square_p(texts, draws.exact_shares(config), TEXTS) < 1e-6


def test_draws_at_one_node_have_the_processed_distribution():
    text = (1, 2, 3, 1, 2, 4, 1, 2)
    count = 50_000
    uniforms = [SeededUniforms(5)(draw) for draw in range(count)]
    logits = 2 * torch.randn(1, 12, generator=torch.Generator().manual_seed(0))
    for name, settings in PROCESSED.items():
        sampler = sampler_of(LookaheadConfig(**settings))
        readout = sampler.read(logits, TokenTree(text[-1], len(text) - 1), text[:-1], 0)
        probabilities = readout.scores(0).double().softmax(-1)
        counts = Counter(inverse_transform(probabilities, uniform) for uniform in uniforms)
        shares = {token: share for token, share in enumerate(probabilities.tolist()) if share > 0}
        assert set(counts) <= set(shares)
        assert draws.chi_square_p(counts, shares, count) > 0.001 / len(PROCESSED), name
