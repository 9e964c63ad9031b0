"""Packed weights give what dense ones give, and are given back bit by bit."""

from __future__ import annotations

import weakref

import pytest
import torch

from lookahead_cli.models import attention
from lookahead_cli.models.loading import load_checkpoint
from lookahead_cli.models.packed import PackedLinear, pack_linears, unpacked
from lookahead_cli.models.stock import stock
from tests.tiny import save_tiny_model, tiny_model

DTYPES = [torch.float32, torch.bfloat16]


def packing(model):
    if not pack_linears(model):
        pytest.skip(f"this build of torch packs no {model.dtype}")
    return model


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("inside", "outside", "bias"), [(7, 13, True), (576, 192, False), (64, 320, True)])
def test_a_packed_layer_is_the_layer(dtype, inside, outside, bias):
    linear = torch.nn.Linear(inside, outside, bias=bias, dtype=dtype)
    expected_weight = linear.weight.detach().clone()
    if dtype == torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        pytest.skip("this processor has no products of bfloat16")
    with torch.inference_mode():
        packed = PackedLinear(linear)
        for shape in [(1,), (1, 1), (3, 5), (1, 120)]:
            rows = torch.randn(*shape, inside, dtype=dtype)
            expected = torch.nn.functional.linear(rows.double(), linear.weight.double())
            expected = expected if linear.bias is None else expected + linear.bias.double()
            tolerance = 1e-5 if dtype == torch.float32 else 2e-2
            torch.testing.assert_close(packed(rows).double(), expected, rtol=tolerance, atol=tolerance)
        assert torch.equal(packed.unpacked().weight, expected_weight)
        assert packed.unpacked().bias is linear.bias


@pytest.mark.parametrize("family", ["llama", "qwen2", "gemma3_text", "phi3", "gpt2", "olmo2"])
def test_a_packed_model_gives_the_same_logits(family):
    model = tiny_model(family)
    ids = torch.tensor([[3, 5, 7, 11, 13, 17, 19]])
    with torch.inference_mode():
        expected = model(ids).logits
        packing(model)
        assert any(type(module) is PackedLinear for module in model.modules())
        torch.testing.assert_close(model(ids).logits, expected, rtol=1e-4, atol=1e-4)


def test_the_former_weights_are_dropped():
    model = tiny_model(tie_word_embeddings=False)
    former = [weakref.ref(module.weight) for module in model.modules() if type(module) is torch.nn.Linear]
    packing(model)
    assert former
    assert not [weight for weight in former if weight() is not None]


def test_layers_are_counted_while_they_are_packed():
    seen = []
    count = pack_linears(tiny_model(), lambda done, total: seen.append((done, total)))
    if not count:
        pytest.skip("this build of torch packs nothing")
    assert seen == [(done + 1, count) for done in range(count)]


def test_other_types_and_heirs_stay_as_they_are():
    assert pack_linears(tiny_model().to(torch.float64)) == 0

    class Twice(torch.nn.Linear):
        def forward(self, rows):
            return 2 * super().forward(rows)

    model = tiny_model()
    layer = model.model.layers[0].mlp
    layer.up_proj = Twice(32, 64, bias=False)
    packing(model)
    assert type(layer.up_proj) is Twice
    assert type(layer.down_proj) is PackedLinear


def test_a_model_in_stock_state_is_bit_by_bit_the_one_that_was_saved(tmp_path):
    folder = save_tiny_model(tmp_path)
    model = load_checkpoint(str(folder), device="cpu", dtype="float32").model
    ids = torch.tensor([[3, 5, 7, 11]])
    untouched = tiny_model()
    with torch.inference_mode():
        expected = untouched(ids).logits
        with stock(model) as plain:
            assert plain is model
            assert model.config._attn_implementation == "sdpa"
            assert not any(type(module) is PackedLinear for module in model.modules())
            assert torch.equal(model(ids).logits, expected)
    assert model.config._attn_implementation == attention.NAME
    packed = [module for module in model.modules() if type(module) is PackedLinear]
    with unpacked(model):
        assert not any(type(module) is PackedLinear for module in model.modules())
    assert packed == [module for module in model.modules() if type(module) is PackedLinear]
