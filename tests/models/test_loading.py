import json

import pytest
import torch
from transformers import CONFIG_MAPPING

from lookahead_cli.errors import MemoryLimitError, ModelError, UnsupportedModelError, UsageError
from lookahead_cli.models.aliases import find_alias
from lookahead_cli.models.loading import context_length_of, load_checkpoint
from tests.models.tiny_gguf import write_tiny_gguf
from tests.tiny import CONTEXT_LENGTH, save_tiny_model, tiny_config, tiny_model


@pytest.fixture
def folder(tmp_path):
    return save_tiny_model(tmp_path / "tiny-llama")


def _error(kind, spec, **settings):
    with pytest.raises(kind) as caught:
        load_checkpoint(str(spec), **settings)
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _edit(folder, **changes):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_folder_is_loaded_ready_to_decode(folder):
    checkpoint = load_checkpoint(str(folder), device="cpu")
    assert checkpoint.name == "tiny-llama"
    assert checkpoint.spec == str(folder)
    assert checkpoint.alias is None
    assert (checkpoint.dtype, checkpoint.device.type) == (torch.float32, "cpu")
    assert checkpoint.context_length == CONTEXT_LENGTH
    assert not checkpoint.model.training
    assert not any(parameter.requires_grad for parameter in checkpoint.model.parameters())
    assert checkpoint.model.config._attn_implementation == "lookahead_sdpa"
    expected = tiny_model().state_dict()
    assert all(torch.equal(value, expected[name]) for name, value in checkpoint.model.state_dict().items())
    text = "the lazy dog\n 漢字"
    assert checkpoint.tokenizer.decode(checkpoint.tokenizer(text).input_ids) == text


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_weights_have_the_type_that_was_asked_for(folder, name):
    checkpoint = load_checkpoint(str(folder), device="cpu", dtype=name)
    assert checkpoint.dtype is getattr(torch, name)
    assert {parameter.dtype for parameter in checkpoint.model.parameters()} == {checkpoint.dtype}


def test_loading_writes_nothing_to_the_terminal_and_reports_instead(folder, capfd):
    reports = []
    load_checkpoint(str(folder), device="cpu", on_progress=reports.append)
    assert capfd.readouterr() == ("", "")
    assert reports[0].label == "loading tiny-llama"
    assert reports[-1].done == reports[-1].total > 0


def test_a_gguf_file_is_loaded(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(tmp_path / "cache"))
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    checkpoint = load_checkpoint(str(path), device="cpu")
    assert checkpoint.name == "tiny"
    assert checkpoint.model.generation_config.eos_token_id == 2
    assert checkpoint.tokenizer.chat_template


def test_a_truncated_gguf_file_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(tmp_path / "cache"))
    path = write_tiny_gguf(tmp_path / "tiny.gguf")
    path.write_bytes(path.read_bytes()[:-5000])
    assert "is truncated or damaged" in _error(ModelError, path)


def test_a_model_of_a_type_that_the_tests_do_not_cover_is_tried_first(tmp_path):
    reports = []
    folder = save_tiny_model(tmp_path / "other", "starcoder2")
    load_checkpoint(str(folder), device="cpu", on_progress=reports.append)
    assert reports[-1].label == "trying tree attention on other"


def test_a_model_without_sdpa_falls_back_to_eager_attention(tmp_path):
    folder = save_tiny_model(tmp_path / "gemma2", "gemma2")
    assert load_checkpoint(str(folder), device="cpu").model.config._attn_implementation == "eager"


def test_a_recurrent_model_is_refused_before_its_weights_are_read(folder):
    _edit(folder, model_type="mamba")
    (folder / "model.safetensors").write_bytes(b"damaged")
    assert "recurrent state" in _error(UnsupportedModelError, folder)


def test_too_large_a_model_is_refused_before_its_weights_are_read(folder):
    (folder / "model.safetensors").write_bytes(b"damaged")
    assert "needs" in _error(MemoryLimitError, folder, device="cpu", available_bytes=1000)


def test_a_damaged_configuration_is_told(folder):
    (folder / "config.json").write_text("{ not json")
    line = _error(ModelError, folder)
    assert "configuration of tiny-llama is damaged" in line
    assert "Fetch the model again" in line


def test_a_kind_of_model_that_transformers_does_not_know_is_told(folder):
    _edit(folder, model_type="from-the-future")
    assert "from-the-future" in _error(ModelError, folder)


def test_code_that_comes_with_a_model_is_not_run(folder):
    _edit(folder, model_type="own", auto_map={"AutoConfig": "own.Config"})
    (folder / "own.py").write_text("raise SystemExit('was run')")
    assert "configuration of tiny-llama cannot be read" in _error(ModelError, folder)


def test_missing_weights_are_told(folder):
    (folder / "model.safetensors").unlink()
    assert "no weights" in _error(ModelError, folder)


def test_truncated_weights_are_told(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    assert "weights of tiny-llama cannot be read" in _error(ModelError, folder)


def test_weights_that_lack_a_tensor_are_told_and_not_made_up(folder):
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    tensors = load_file(path)
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, path, metadata={"format": "pt"})
    assert "lack 1 tensors, such as model.layers.1.mlp.up_proj.weight" in _error(ModelError, folder)


def test_a_missing_tokenizer_is_told(folder):
    for path in folder.glob("tokenizer*"):
        path.unlink()
    assert "tiny-llama has no tokenizer" in _error(ModelError, folder)
    (folder / "tokenizer.json").write_text("{}")
    assert "tokenizer of tiny-llama cannot be read" in _error(ModelError, folder)


@pytest.mark.parametrize(("name", "value"), [("device", "gpu"), ("dtype", "int8")])
def test_a_wrong_setting_is_told_before_anything_is_read(name, value):
    _error(UsageError, "smollm2-135m", **{name: value})


def test_positions_go_on_past_the_border_of_length_dependent_embeddings():
    dynamic = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
    assert context_length_of(tiny_config(max_position_embeddings=64, rope_parameters=dynamic)) == 256
    longrope = {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "original_max_position_embeddings": 64,
        "short_factor": [1.0] * 4,
        "long_factor": [2.0] * 4,
    }
    assert context_length_of(tiny_config(max_position_embeddings=256, rope_parameters=longrope)) == 256


def test_a_model_without_a_limit_has_no_context_length():
    assert context_length_of(CONFIG_MAPPING["bloom"]()) is None


@pytest.mark.model
def test_the_default_model_answers():
    reports = []
    checkpoint = load_checkpoint("smollm2-135m", device="cpu", on_progress=reports.append)
    assert checkpoint.alias is find_alias("smollm2-135m")
    assert (checkpoint.name, checkpoint.context_length) == ("SmolLM2-135M-Instruct", 8192)
    assert checkpoint.model.generation_config.eos_token_id == 2
    prompt = checkpoint.tokenizer.apply_chat_template(
        [{"role": "user", "content": "What is 2+2?"}],
        add_generation_prompt=True,
        return_tensors="pt",
        return_dict=True,
    )
    output = checkpoint.model.generate(**prompt, max_new_tokens=16, do_sample=False)
    assert "4" in checkpoint.tokenizer.decode(output[0, prompt["input_ids"].shape[1] :])
