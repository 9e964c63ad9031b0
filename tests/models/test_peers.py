"""transformers' own loops on a loaded model: its ids are greedy's, and the model is left as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from lookahead_cli import LookaheadConfig, generate, load_model
from lookahead_cli.models.language_model import LanguageModel
from lookahead_cli.models.peers import LOOKUP_TOKENS, PEERS, memory_lacking, run_peer
from lookahead_cli.models.stock import stock
from tests.tiny import CONTEXT_LENGTH, save_tiny_model

PROMPT = (5, 9, 14, 7, 5, 9, 14, 7, 5, 9)
TOKENS = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("peers"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LanguageModel:
    return load_model(str(folder), dtype="float32")


def greedy(model: LanguageModel, prompt: tuple[int, ...], tokens: int) -> tuple[int, ...]:
    return tuple(
        generate(model, prompt, LookaheadConfig(method="greedy", max_new_tokens=tokens), output="ids")
    )


@pytest.mark.parametrize("method", PEERS)
def test_the_ids_are_greedys(model: LanguageModel, method: str) -> None:
    run = run_peer(model, method, PROMPT, TOKENS)
    assert run.output_ids == greedy(model, PROMPT, TOKENS)
    assert run.first_seconds > 0
    assert run.seconds > 0


def test_greedy_feeds_a_token_a_pass_and_emits_one(model: LanguageModel) -> None:
    run = run_peer(model, "transformers-greedy", PROMPT, TOKENS)
    assert run.nodes == (1,) * TOKENS
    assert run.first_tokens == 1


def test_prompt_lookup_feeds_what_it_found(model: LanguageModel) -> None:
    run = run_peer(model, "transformers-prompt-lookup", PROMPT, TOKENS)
    # The prompt repeats itself, so the first pass already looks up a whole guess.
    assert run.nodes[0] == 1 + min(LOOKUP_TOKENS, len(PROMPT) - 2)
    assert len(run.nodes) <= TOKENS
    assert 1 <= run.first_tokens <= run.nodes[0]


@pytest.mark.parametrize("method", PEERS)
def test_an_end_of_text_ends_it(folder: Path, method: str) -> None:
    model = load_model(str(folder), dtype="float32")
    ids = greedy(model, PROMPT, TOKENS)
    end = next(token for token in ids[4:] if token not in ids[:4])
    model.eos_ids = frozenset({end})
    output = run_peer(model, method, PROMPT, TOKENS).output_ids
    assert output == greedy(model, PROMPT, TOKENS) == ids[: ids.index(end) + 1]


@pytest.mark.parametrize("method", PEERS)
def test_the_context_ends_it(model: LanguageModel, method: str) -> None:
    prompt = PROMPT * (CONTEXT_LENGTH // len(PROMPT))
    output = run_peer(model, method, prompt, 3 * TOKENS).output_ids
    assert output == greedy(model, prompt, 3 * TOKENS)
    assert len(output) == CONTEXT_LENGTH - len(prompt)


@pytest.mark.parametrize("method", PEERS)
def test_penalties_that_a_checkpoint_declares_do_not_count(folder: Path, method: str) -> None:
    model = load_model(str(folder), dtype="float32")
    declared = model.runner.model.generation_config
    declared.repetition_penalty = 5.0
    declared.no_repeat_ngram_size = 1
    assert run_peer(model, method, PROMPT, TOKENS).output_ids == greedy(model, PROMPT, TOKENS)
    assert model.runner.model.generation_config is declared
    assert declared.repetition_penalty == 5.0


def test_the_block_has_transformers_attention_and_ends_with_ours(model: LanguageModel) -> None:
    raw = model.runner.model
    ours = raw.config._attn_implementation
    with stock(raw):
        assert raw.config._attn_implementation == "sdpa"
    assert raw.config._attn_implementation == ours != "sdpa"
    # The model still reads a tree right.
    ids = generate(model, PROMPT, LookaheadConfig(max_new_tokens=TOKENS), output="ids")
    assert tuple(ids) == greedy(model, PROMPT, TOKENS)


def test_the_memory_of_a_second_copy_of_the_packed_weights_is_asked_for(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert memory_lacking(model) == 0
    monkeypatch.setattr("lookahead_cli.models.peers.available_memory", lambda device: 0)
    with stock(model.runner.model) as plain:
        layers = [layer for layer in plain.modules() if type(layer) is torch.nn.Linear]
        weights = 4 * sum(layer.weight.numel() for layer in layers)
        assert memory_lacking(model) == 0
    assert memory_lacking(model) == weights > 0
