"""Compiled layers give what the layers give, lie on disk, and make way where they cannot be had."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models import compiled
from lookahead_cli.models.language_model import load_model
from lookahead_cli.models.probe import trial_tree
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.stock import stock
from tests.tiny import save_tiny_model

pytestmark = pytest.mark.xdist_group("compiled")

PROMPT = [3, 5, 7, 11, 13, 3, 5, 7]
# Layers with sliding windows and without are two programs.
KINDS = {
    "llama": (1, {}),
    "gemma3_text": (2, {"sliding_window": 6, "layer_types": ["sliding_attention", "full_attention"]}),
}


@pytest.fixture(scope="module", params=list(KINDS))
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def folder(kind, tmp_path_factory):
    _, settings = KINDS[kind]
    return str(save_tiny_model(tmp_path_factory.mktemp(kind), kind, eos_token_id=None, **settings))


@pytest.fixture
def load(folder, cache, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(cache))

    def load(when, **settings):
        return load_model(folder, device="cpu", dtype="float32", compile_layers=when, **settings)

    return load


def test_compiled_layers_are_the_layers_and_are_found_again(load, kind, cache):
    steps = []
    assert not compiled.is_compiled(load("auto").runner.model)
    made = load("on", on_progress=lambda step: steps.append((step.label, step.done, step.total)))
    assert made.remark is None
    count, _ = KINDS[kind]
    assert [step for step in steps if step[0].startswith("compiling")] == [
        (f"compiling {made.name}", done, count) for done in range(count)
    ]
    assert compiled.is_compiled(made.runner.model)
    again = load("auto")
    assert compiled.is_compiled(again.runner.model)
    assert len(list((cache / "compiled").glob("*.pt2"))) >= count
    assert not compiled.is_compiled(load("off").runner.model)

    model = again.runner.model
    for nodes in (1, 2, 3, 40):
        tree = trial_tree(model, nodes)
        got = TransformersRunner(model, None).forward(tree)
        with compiled.suspended(model):
            assert not compiled.is_compiled(model)
            expected = TransformersRunner(model, None).forward(tree)
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)
    for method in ("lookahead", "jacobi", "prompt-lookup", "greedy"):
        config = LookaheadConfig(
            method=method, window_size=4, ngram_size=3, guess_set_size=4, max_new_tokens=60
        )
        *_, footer = again.run(PROMPT, config)
        with stock(model) as plain:
            expected = plain.generate(
                torch.tensor([PROMPT]), do_sample=False, max_new_tokens=60, pad_token_id=0
            )
        assert list(footer.output_ids) == expected[0, len(PROMPT) :].tolist()


def test_a_damaged_program_is_said_and_done_without(load, cache):
    load("on")
    whole = {path: path.read_bytes() for path in (cache / "compiled").glob("*.pt2")}
    for path, program in whole.items():
        path.write_bytes(program[:1000])
    model = load("auto")
    assert "not compiled, which costs speed alone" in model.remark
    assert not compiled.is_compiled(model.runner.model)
    *_, footer = model.run(PROMPT, LookaheadConfig(max_new_tokens=4))
    assert len(footer.output_ids) == 4
    for path, program in whole.items():
        path.write_bytes(program)


def test_a_model_that_calls_its_layers_otherwise_says_so(tmp_path):
    folder = str(save_tiny_model(tmp_path, "gpt2"))
    assert load_model(folder, compile_layers="auto").remark is None
    assert "are not compiled" in load_model(folder, compile_layers="on").remark


def test_a_program_that_computes_something_else_is_not_used(tmp_path, cache, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(cache))
    right, other = (
        str(save_tiny_model(tmp_path / act, eos_token_id=None, hidden_act=act)) for act in ("silu", "relu")
    )
    model = load_model(right, dtype="float32", compile_layers="on")
    assert model.remark is None
    (from_right,) = compiled._kinds(model.runner.model)
    (from_other,) = compiled._kinds(load_model(other, dtype="float32").runner.model)
    # The program of other layers, under the name of these.
    from_other.path.write_bytes(from_right.path.read_bytes())
    model = load_model(other, dtype="float32")
    assert "they give other logits" in model.remark
    assert not compiled.is_compiled(model.runner.model)


def test_without_a_compiler_one_sentence_says_so(tmp_path):
    folder = save_tiny_model(tmp_path / "model")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("One two three", encoding="utf-8")
    command = [sys.executable, "-m", "lookahead_cli", "visualize", str(prompt), "--plain", "--raw"]
    ended = subprocess.run(
        [*command, "--model", str(folder), "--compile", "on", "--max-new-tokens", "4"],
        # The compiler's name is read when torch's compiler is imported.
        env=os.environ | {"CXX": "no-such-compiler", "LOOKAHEAD_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0
    assert "not compiled, which costs speed alone" in ended.stderr
