"""`decode` and `generate` take what a Python program has, and say what they cannot take."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import torch

from lookahead_cli import LookaheadConfig, decode, generate, load_model
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.errors import InputError, ModelError, UsageError
from tests.tiny import save_tiny_model

CONFIG = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=6)


PROMPT = [(7 * at * at + 5 * at) % 250 + 5 for at in range(12)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    loaded = load_model(str(save_tiny_model(tmp_path_factory.mktemp("api"))), dtype="float32")
    assert (loaded.unapplied, loaded.remark) == ({}, None)
    return loaded


@pytest.fixture(scope="module")
def wider(tmp_path_factory):
    """The same tokenizer, more rows in the embedding."""
    folder = save_tiny_model(tmp_path_factory.mktemp("wider"), vocab_size=384, seed=3)
    return load_model(str(folder), dtype="float32")


def test_ids_come_as_a_list_a_tuple_or_a_tensor(model):
    expected = generate(model, [5, 6, 7], CONFIG, output="ids")
    assert len(expected) == 6
    for prompt in ((5, 6, 7), torch.tensor([5, 6, 7]), torch.tensor([[5, 6, 7]])):
        assert generate(model, prompt, CONFIG, output="ids") == expected


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ([], "empty"),
        ([5, 320], "token id 320"),
        ([-1], "token id -1"),
        ([1.5], "1.5 in the prompt"),
        (b"abc", "cannot be bytes"),
        (bytearray(b"abc"), "cannot be bytearray"),
        (None, "cannot be NoneType"),
        (5, "cannot be int"),
        (["a text"], "'a text' in the prompt"),
        (torch.tensor([[5, 6], [5, 6]]), "is no token id"),
    ],
)
def test_what_is_no_prompt_is_said(model, prompt, said):
    with pytest.raises(InputError, match=said):
        generate(model, prompt, CONFIG)


def test_a_second_run_of_one_thread_is_refused_until_the_first_is_closed(model):
    steps = decode(model, [5, 6, 7], CONFIG)
    next(steps)
    with pytest.raises(UsageError, match="not at its end"):
        generate(model, [5, 6, 7], CONFIG)
    steps.close()
    assert len(generate(model, [5, 6, 7], CONFIG, output="ids")) == 6


def test_a_run_of_another_thread_waits_for_the_first(model):
    steps = decode(model, [5, 6, 7], CONFIG)
    next(steps)
    with ThreadPoolExecutor(max_workers=1) as pool:
        waiting = pool.submit(generate, model, [5, 6, 7], CONFIG, output="ids")
        first = [token for step in steps for token in step.token_ids]
        assert len(waiting.result(timeout=60)) == 6
    assert first


def test_a_model_is_not_its_own_draft(model):
    with pytest.raises(ModelError, match="cannot be its own draft model"):
        generate(model, [5, 6, 7], replace(CONFIG, method="draft"), draft=model)


def test_a_model_with_an_open_run_is_no_draft_meanwhile(model, wider):
    expected = generate(model, PROMPT, CONFIG, output="ids")
    steps = decode(model, PROMPT, CONFIG)
    first = next(steps)
    with pytest.raises(UsageError, match="not at its end"):
        generate(wider, PROMPT[::-1], replace(CONFIG, method="draft"), draft=model)
    assert (*first.token_ids, *(token for step in steps for token in step.token_ids)) == expected


@pytest.mark.parametrize("prompt", [PROMPT, [350, *PROMPT]])
@pytest.mark.parametrize("temperature", [0.0, 1.5])
def test_embeddings_of_another_length_are_no_reason_against_a_draft(model, wider, prompt, temperature):
    config = replace(CONFIG, method="draft", max_new_tokens=24, temperature=temperature)
    greedy = replace(config, method="greedy")
    small = generate(wider, prompt, config, draft=model, output="ids")
    assert small == generate(wider, prompt, greedy, output="ids")
    large = generate(model, PROMPT, config, draft=wider, output="ids")
    assert large == generate(model, PROMPT, greedy, output="ids")


def test_two_threads_may_draft_for_each_other(model, wider):
    config = replace(CONFIG, method="draft", max_new_tokens=40)
    with ThreadPoolExecutor(max_workers=2) as threads:
        pairs = [(model, wider), (wider, model)] * 4
        runs = [threads.submit(generate, one, PROMPT, config, draft=other) for one, other in pairs]
        texts = [run.result(timeout=60) for run in runs]
    assert len(set(texts)) == 2


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"config": {"max_new_tokens": 3}}, "Settings cannot be dict"),
        ({"model": object()}, "A model cannot be object"),
        ({"draft": object()}, "A draft model cannot be object"),
        ({"pool": [1]}, "A pool cannot be list"),
        ({"config": replace(CONFIG, method="jacobi"), "pool": NGramPool(3, 3)}, "'jacobi' takes no guesses"),
        ({"config": replace(CONFIG, guess_set_size=0), "pool": NGramPool(3, 3)}, "G = 0 takes no guesses"),
    ],
)
def test_what_a_caller_mixes_up_is_said(model, given, said):
    with pytest.raises(UsageError, match=said):
        generate(**{"model": model, "prompt": PROMPT, "config": CONFIG, **given})


def test_a_longer_text_between_two_steps_leaves_a_stretched_rope_alone(tmp_path):
    rope = {"rope_type": "dynamic", "factor": 4.0, "rope_theta": 10000.0}
    folder = save_tiny_model(tmp_path, max_position_embeddings=32, rope_parameters=rope)
    model = load_model(folder, dtype="float32")
    config = replace(CONFIG, max_new_tokens=50)
    expected = generate(model, PROMPT, config, output="ids")
    longer = torch.tensor([PROMPT * 6])
    ids = []
    for step in decode(model, PROMPT, config):
        ids += step.token_ids
        model.runner.model(longer)
    assert tuple(ids) == expected


def test_a_draft_with_another_method_is_said(model, wider):
    with pytest.raises(UsageError, match="draft= has nothing to do here"):
        generate(model, PROMPT, CONFIG, draft=wider)


@pytest.mark.parametrize("token", [-1, 999])
def test_ids_in_a_pool_that_the_model_has_not_are_named(model, token):
    pool = NGramPool(3, 3)
    pool.insert((5, token, 6), "file", -1)
    with pytest.raises(InputError, match="token ids"):
        generate(model, PROMPT, CONFIG, pool=pool)


def test_a_model_is_loaded_from_a_path(tmp_path):
    assert load_model(save_tiny_model(tmp_path / "m"), dtype="float32").vocabulary_size == 320
    for wrong in ({"config": {}}, {"prefer": "int4"}):
        with pytest.raises(UsageError):
            load_model(tmp_path / "m", **wrong)


def test_a_pool_of_another_n_is_refused(model):
    with pytest.raises(UsageError, match="n-grams of 7 tokens, and N is 3"):
        generate(model, PROMPT, CONFIG, pool=NGramPool(7, 2))


def test_what_the_generation_config_asks_for_besides_ends_is_said(tmp_path):
    folder = save_tiny_model(tmp_path)
    (folder / "generation_config.json").write_text('{"repetition_penalty": 1.3, "suppress_tokens": [5]}')
    model = load_model(str(folder), dtype="float32")
    assert model.unapplied == {"repetition_penalty": 1.3, "suppress_tokens": [5]}
    assert "repetition_penalty = 1.3, suppress_tokens;" in model.remark


def test_half_a_character_is_refused(model):
    with pytest.raises(InputError, match="half a character"):
        generate(model, "a\ud800b", CONFIG)


def test_numbers_of_either_kind_and_lists_do_as_settings(model):
    whole = replace(CONFIG, repetition_penalty=2, temperature=1, stop=["never"])
    fraction = replace(CONFIG, repetition_penalty=2.0, temperature=1.0, stop=("never",))
    assert hash(whole) == hash(fraction)
    ids = [generate(model, [5, 6, 7], config, output="ids") for config in (whole, fraction)]
    assert ids[0] == ids[1]
    seed = replace(CONFIG, seed=np.int64(5), top_p=np.float32(1.0), sources=(one for one in ["window"]))
    assert (type(seed.seed), type(seed.top_p), seed.sources) == (int, float, ("window",))


def test_another_output_is_refused(model):
    with pytest.raises(UsageError, match="'words'"):
        generate(model, "one", CONFIG, output="words")
