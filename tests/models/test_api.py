"""`decode` and `generate` take what a Python program has, and say what they cannot take."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import torch

from lookahead_cli import LookaheadConfig, decode, generate, load_model
from lookahead_cli.errors import InputError, ModelError, UsageError
from tests.tiny import save_tiny_model

CONFIG = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=6)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(str(save_tiny_model(tmp_path_factory.mktemp("api"))), dtype="float32")


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


def test_half_a_character_is_refused(model):
    with pytest.raises(InputError, match="half a character"):
        generate(model, "a\ud800b", CONFIG)


def test_numbers_of_either_kind_and_lists_do_as_settings(model):
    whole = replace(CONFIG, repetition_penalty=2, temperature=1, stop=["never"])
    fraction = replace(CONFIG, repetition_penalty=2.0, temperature=1.0, stop=("never",))
    assert hash(whole) == hash(fraction)
    ids = [generate(model, [5, 6, 7], config, output="ids") for config in (whole, fraction)]
    assert ids[0] == ids[1]


def test_another_output_is_refused(model):
    with pytest.raises(UsageError, match="'words'"):
        generate(model, "one", CONFIG, output="words")
