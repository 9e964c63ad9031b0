"""A model whose layers lie in several places, as far as a machine without GPUs can tell."""

from __future__ import annotations

import pytest
import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import make_proposer
from lookahead_cli.decoding.sampling import Sampler
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.models.cache import TreeCache
from lookahead_cli.models.memory import all_gpus_memory
from lookahead_cli.models.runner import TransformersRunner
from tests.tiny import CONTEXT_LENGTH, save_tiny_model


def ids_of(model):
    prompt = [5, 9, 30, 41, 5, 9, 30]
    runner = TransformersRunner(model, CONTEXT_LENGTH)
    runner.prefill(prompt[:-1])
    proposer = make_proposer(LookaheadConfig(), prompt)
    steps = decode(runner, prompt[-1], proposer, Stopping(40), Sampler())
    return [token for step in steps for token in step.token_ids]


def test_a_model_that_is_placed_in_parts_gives_the_same_ids(tmp_path):
    """Half of the layers are fetched from the disk for every pass, by the hooks that several GPUs use too."""
    from transformers import AutoModelForCausalLM

    folder = save_tiny_model(tmp_path / "model")
    parts = {
        "model.embed_tokens": "cpu",
        "model.layers.0": "cpu",
        "model.layers.1": "disk",
        "model.norm": "cpu",
        "model.rotary_emb": "cpu",
        "lm_head": "cpu",
    }
    whole = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    spread = AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, device_map=parts, offload_folder=str(tmp_path / "disk")
    ).eval()
    assert {str(parameter.device) for parameter in spread.parameters()} == {"cpu", "meta"}

    assert ids_of(spread) == ids_of(whole)


def test_layers_on_other_devices_keep_their_own_entries():
    cache = TreeCache()
    entries = torch.arange(12.0).view(1, 1, 6, 2)
    cache.update(entries, entries, 0)
    cache.update(entries.to("meta"), entries.to("meta"), 1)

    cache.keep([0, 2, 5], torch.device("cpu"))

    assert cache.layers[0].keys[0, 0, :3].tolist() == entries[0, 0, [0, 2, 5]].tolist()
    assert [layer.length for layer in cache.layers] == [3, 3]
    assert cache.layers[1].keys.device.type == "meta"


@pytest.mark.parametrize("wanted", ["auto", "cpu"])
def test_memory_is_counted_together_on_several_gpus_alone(wanted):
    assert all_gpus_memory(wanted, torch.device("cpu")) is None
