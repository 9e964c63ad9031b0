import pytest
import torch

from lookahead_cli.errors import ExitCode, MemoryLimitError
from lookahead_cli.models.memory import (
    ModelShape,
    _container_memory,
    available_memory,
    check_memory,
    memory_need,
    shape_of,
    smaller_aliases,
)
from tests.tiny import tiny_config, tiny_model

CPU = torch.device("cpu")
# CodeLlama-7B
SEVEN = ModelShape(parameters=6_738_546_688, layers=32, kv_heads=32, head_dim=128, vocabulary=32016)


def _refused(available, *, shape=SEVEN, dtype=torch.float32, tokens=2000, nodes=120):
    with pytest.raises(MemoryLimitError) as caught:
        check_memory(
            shape, name="Some", dtype=dtype, device=CPU, tokens=tokens, nodes=nodes, available=available
        )
    assert caught.value.exit_code is ExitCode.MEMORY
    return caught.value


def test_weights_cache_and_logits_are_counted():
    need = memory_need(SEVEN, torch.bfloat16, tokens=1000, nodes=120)
    assert need.weights == 13_477_093_376
    assert need.cache == 2 * 32 * 32 * 128 * 1000 * 2
    assert need.logits == 120 * 32016 * (2 + 4)
    assert need.total == need.weights + need.cache + need.logits


@pytest.mark.parametrize("model_type", ["llama", "qwen3", "gemma3_text"])
def test_the_shape_comes_from_the_configuration_without_weights(model_type):
    model = tiny_model(model_type)
    shape = shape_of(model.config)
    assert shape.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (shape.layers, shape.kv_heads, shape.head_dim, shape.vocabulary) == (2, 2, 8, 320)
    assert shape.packed.parameters == shape.parameters + 320 * 32


def test_an_output_layer_of_its_own_is_counted_once():
    shape = shape_of(tiny_model(tie_word_embeddings=False).config)
    assert shape.packed == shape


def test_a_large_model_costs_nothing_to_measure():
    config = tiny_config(
        hidden_size=4096,
        intermediate_size=11008,
        num_hidden_layers=32,
        num_attention_heads=32,
        num_key_value_heads=32,
        head_dim=128,
        vocab_size=32016,
        tie_word_embeddings=False,
    )
    assert shape_of(config) == SEVEN


def test_what_fits_is_let_through():
    need = check_memory(SEVEN, name="x", dtype=torch.float32, device=CPU, tokens=9, nodes=9, available=10**12)
    assert need.total < 10**12


def test_too_much_is_refused_with_the_figures():
    message = _refused(8 * 10**9).message
    assert "Some in float32 on cpu needs 29.1 GB" in message
    assert "weights 27.0 GB" in message
    assert "KV cache of 2,000 tokens 2.1 GB" in message
    assert "8.0 GB are free" in message


def test_a_narrower_type_is_offered_where_it_fits():
    assert "--dtype bfloat16 (14.5 GB)" in _refused(16 * 10**9).hint
    assert "--dtype" not in _refused(8 * 10**9).hint


def test_fewer_tokens_are_offered_where_they_fit():
    hint = _refused(28 * 10**9).hint
    assert "at most " in hint
    fitting = int(hint.split("at most ")[1].split(" tokens")[0].replace(",", ""))
    need = memory_need(SEVEN, torch.float32, fitting, 120)
    assert need.total <= 28 * 10**9 < memory_need(SEVEN, torch.float32, fitting + 1, 120).total


def test_fewer_nodes_are_offered_where_they_fit():
    hint = _refused(40 * 10**9, nodes=400_000).hint
    fitting = int(hint.split("at most ")[1].split(" nodes")[0].replace(",", ""))
    assert "not 400,000" in hint
    assert memory_need(SEVEN, torch.float32, 2000, fitting).total <= 40 * 10**9
    assert memory_need(SEVEN, torch.float32, 2000, fitting + 1).total > 40 * 10**9


def test_smaller_models_are_offered_largest_first():
    names = [alias.name for alias in smaller_aliases(SEVEN.parameters, torch.float32, 8 * 10**9)]
    assert names == ["qwen2.5-coder-1.5b", "tinyllama", "qwen3-0.6b"]
    assert "a smaller model: qwen2.5-coder-1.5b" in _refused(8 * 10**9).hint


def test_where_nothing_fits_the_hint_says_so():
    assert "Close other programs" in _refused(10**6).hint


def test_free_memory_is_measured():
    assert 10**7 < available_memory(CPU) < 10**15


def test_the_limit_of_a_container_counts(tmp_path):
    assert _container_memory(tmp_path) is None
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 500\ninactive_file 100\n")
    assert _container_memory(tmp_path) is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert _container_memory(tmp_path) == 1000 - 700 + 100
