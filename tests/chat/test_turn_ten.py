"""The tenth turn of a conversation feeds the new tokens alone, and answers as if it had fed everything."""

from __future__ import annotations

import threading

import pytest
import torch

from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.cli.chat_model import ChatModel
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.language_model import load_model
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.models.stock import stock
from lookahead_cli.trace.events import Footer, Header
from tests.exact.families import FAMILIES
from tests.tiny import save_tiny_model

TURNS = 10
FOX = "The quick brown fox jumps over the lazy dog"
MODELS = [
    pytest.param("smollm2-135m", marks=[pytest.mark.model, pytest.mark.xdist_group("model")]),
    "llama",
    "gemma3_text",
    "mistral",
]


@pytest.fixture(params=MODELS)
def spec(request, tmp_path):
    """What `--model` takes; the tiny ones see 16 tokens in their sliding windows."""
    if request.param not in FAMILIES:
        return request.param
    settings = FAMILIES[request.param] | {"max_position_embeddings": 4096, "eos_token_id": None}
    return str(save_tiny_model(tmp_path, request.param, **settings))


def greedy_ids(model, prompt_ids, count):
    """What transformers' own `generate` answers."""
    prompt = torch.tensor([prompt_ids])
    with torch.inference_mode(), stock(model.runner.model) as plain:
        output = plain.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            do_sample=False,
            num_beams=1,
            max_new_tokens=count,
            pad_token_id=0,
        )
    return tuple(output[0, len(prompt_ids) :].tolist())


def test_turn_ten_feeds_what_is_new_and_answers_the_ids_of_a_fresh_run(spec):
    config = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=12)
    answers = ChatModel(ModelOptions(model=spec, device="cpu", dtype="float32"), config, PoolRequest())
    model = answers.load(lambda progress: None)
    talk = Conversation(answers)
    said = ()
    for turn in range(1, TURNS + 1):
        fed_before = model.runner.fed_tokens
        progress = []
        for event in talk.ask(f"Number {turn}: {FOX}.", threading.Event(), progress.append):
            if isinstance(event, Header):
                header, prefilled = event, model.runner.fed_tokens - fed_before
        assert isinstance(event, Footer)
        # The KV cache has what was said but for the last token, and the last of the prompt is a step's root.
        assert header.prompt_ids[: len(said)] == said
        new = len(header.prompt_ids) - max(len(said), 1)
        assert prefilled == new
        assert [each.total for each in progress] == [new] * len(progress)
        assert max(each.done for each in progress) == new
        said = (*header.prompt_ids, *event.output_ids)
    assert new < len(header.prompt_ids) / (TURNS - 2)
    fresh = load_model(spec, dtype="float32")
    *_, again = fresh.run(header.prompt_ids, config)
    assert fresh.runner.fed_tokens > len(header.prompt_ids)
    assert event.output_ids == again.output_ids
    assert event.output_ids == greedy_ids(fresh, header.prompt_ids, len(event.output_ids))
