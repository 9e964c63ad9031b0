"""Sampling: the model's distribution, the same ids for every method, and a test that can fail."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import make_proposer, rules_of
from lookahead_cli.decoding.records import Seconds
from lookahead_cli.decoding.sampling import Sampler, SeededUniforms, inverse_transform
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.sampling import sampler_of
from tests.tiny import CONTEXT_LENGTH, tiny_model

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
METHODS = {
    "lookahead": {"window_size": 5, "ngram_size": 3, "guess_set_size": 5},
    "jacobi": {"method": "jacobi", "window_size": 5},
    "prompt-lookup": {"method": "prompt-lookup", "window_size": 5, "ngram_size": 3},
    "draft": {"method": "draft", "window_size": 3},
    "reference": {"method": "lookahead-reference", "window_size": 5, "ngram_size": 3, "guess_set_size": 5},
    "recycled": {"sources": ("prompt", "recycled"), "node_budget": 12},
}


@pytest.fixture(scope="module")
def model():
    return tiny_model().to(torch.float64).eval()


def sampled(model, config, prompt=PROMPT):
    runner = TransformersRunner(model, CONTEXT_LENGTH)
    runner.prefill(prompt[:-1])
    sampler = sampler_of(config)
    draft = (TransformersRunner(model, CONTEXT_LENGTH), sampler) if config.method == "draft" else None
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
    assert chi_square_p(counts, dict.fromkeys(range(20), 1 / 20), 20_000) > 0.001
    assert uniforms(5) == numbers[5]
    assert all(0 <= number < 1 for number in numbers)


def test_a_token_of_probability_zero_is_never_drawn():
    probabilities = torch.tensor([0.0, 0.5, 0.0, 0.5, 0.0], dtype=torch.float64)
    assert inverse_transform(probabilities, 0.0) == 1
    assert inverse_transform(probabilities, 0.5) == 3
    assert inverse_transform(probabilities, 1.0 - 2**-53) == 3


# The distribution of whole texts. The model is deterministic, so logits are remembered by path.


VOCABULARY = 12
LENGTH = 3


class PathModel:
    """A runner of a small random language: logits are a function of the text."""

    context_length = None

    def __init__(self, ids):
        self.ids = list(ids)

    def forward(self, tree: TokenTree):
        paths = []
        for token, parent in zip(tree.tokens, tree.parents, strict=True):
            paths.append((*(paths[parent] if parent >= 0 else tuple(self.ids)), token))
        return torch.stack([logits_after(path) for path in paths])

    def commit(self, tree, nodes):
        self.ids += [tree.tokens[node] for node in nodes]

    def prefill(self, ids):
        self.ids = list(ids)
        return True


@cache
def logits_after(text):
    generator = torch.Generator().manual_seed(hash(text) % (1 << 62))
    return 2 * torch.randn(VOCABULARY, generator=generator)


class Sequential:
    """Uniform numbers of one long stream, so that many texts are independent."""

    def __init__(self, text_number):
        self._uniforms = SeededUniforms(99)
        self._first = LENGTH * text_number

    def __call__(self, position):
        return self._uniforms(self._first + position)


class BrokenSampler(Sampler):
    """Draws with the next position's number where the tree is entered: accepted tokens are drawn twice."""

    def read(self, logits, tree, text_ids, emitted_before):
        readout = super().read(logits, tree, text_ids, emitted_before)
        first = readout.choice

        def choice(node):
            children = [child for child, parent in enumerate(tree.parents) if parent == node]
            guessed = [tree.tokens[child] for child in children]
            # Takes a guess that is likely enough, without correcting for it: a typical mistake.
            likely = [token for token in guessed if readout.probability(node, token) > 0.2]
            return likely[0] if likely else first(node)

        readout.choice = choice
        return readout


def chi_square_p(counts, expected, total):
    """The probability of a statistic as large as this one, cells of small expectation joined."""
    small = [cell for cell, share in expected.items() if share * total < 5]
    cells = [(counts.get(cell, 0), share * total) for cell, share in expected.items() if cell not in small]
    rest = sum(expected[cell] for cell in small) * total
    if rest >= 5:
        cells.append((sum(counts.get(cell, 0) for cell in small), rest))
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    freedom = torch.tensor((len(cells) - 1) / 2, dtype=torch.float64)
    return 1 - float(torch.special.gammainc(freedom, torch.tensor(statistic / 2, dtype=torch.float64)))


PATH_PROMPT = (1, 2, 3, 1, 2, 4, 1, 2)


def exact_shares(config):
    """The probability of every text of LENGTH tokens."""
    processors = sampler_of(config).processors
    shares = {(): 1.0}
    for _ in range(LENGTH):
        longer = {}
        for text, share in shares.items():
            scores = logits_after((*PATH_PROMPT, *text)).float()[None]
            if processors is not None:
                scores = processors(torch.tensor([[*PATH_PROMPT, *text]]), scores.clone())
            for token, each in enumerate(scores[0].double().softmax(-1).tolist()):
                if each > 0:
                    longer[*text, token] = share * each
        shares = longer
    return shares


def texts(config, count, sampler_kind=Sampler):
    processors = sampler_of(config).processors
    counts = Counter()
    for number in range(count):
        runner = PathModel(PATH_PROMPT[:-1])
        sampler = sampler_kind(processors, Sequential(number))
        draft = (PathModel(PATH_PROMPT[:-1]), sampler) if config.method == "draft" else None
        proposer = make_proposer(config, PATH_PROMPT, draft=draft)
        stopping = Stopping(LENGTH)
        steps = decode(runner, PATH_PROMPT[-1], proposer, stopping, sampler, rules=rules_of(config))
        counts[tuple(ids(steps))] += 1
    return counts


TEXTS = 4_000


@pytest.mark.parametrize("method", METHODS)
def test_texts_have_exactly_the_models_distribution(method):
    settings = {"method": "lookahead"} | METHODS[method]
    config = LookaheadConfig(
        max_new_tokens=LENGTH, temperature=1.0, top_k=6, repetition_penalty=1.2, **settings
    )
    count = TEXTS
    p = chi_square_p(texts(config, count), exact_shares(config), count)
    assert p > 0.001 / len(METHODS), p


def test_a_broken_verifier_is_found_out():
    config = LookaheadConfig(max_new_tokens=LENGTH, temperature=1.0, top_k=6, **METHODS["lookahead"])
    count = TEXTS
    assert chi_square_p(texts(config, count, BrokenSampler), exact_shares(config), count) < 1e-6


def test_draws_at_one_node_have_the_processed_distribution():
    count = 50_000
    for name, settings in PROCESSED.items():
        config = LookaheadConfig(**settings)
        sampler = sampler_of(config)
        tree = TokenTree(PATH_PROMPT[-1], len(PATH_PROMPT) - 1)
        readout = sampler.read(logits_after(PATH_PROMPT)[None], tree, PATH_PROMPT[:-1], 0)
        probabilities = readout.scores(0).double().softmax(-1)
        uniforms = SeededUniforms(5)
        counts = Counter(inverse_transform(probabilities, uniforms(draw)) for draw in range(count))
        shares = {token: share for token, share in enumerate(probabilities.tolist()) if share > 0}
        assert set(counts) <= set(shares)
        assert chi_square_p(counts, shares, count) > 0.001 / len(PROCESSED), name
