import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import DynamicCache

from lookahead_cli.decoding.records import Origin
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.models import attention
from lookahead_cli.models.cache import TreeCache
from lookahead_cli.models.masks import ancestors
from lookahead_cli.models.runner import TransformersRunner
from tests.tiny import tiny_model

LAYER = torch.nn.Module()


@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (6, 2), (8, 1)])
@pytest.mark.parametrize(("nodes", "cached"), [(1, 0), (1, 9), (7, 0), (7, 300)])
def test_folded_heads_see_what_repeated_keys_show(heads, kv_heads, nodes, cached):
    torch.manual_seed(0)
    query = torch.randn(1, heads, nodes, 16)
    # The KV cache hands out views of a larger buffer.
    key, value = torch.randn(2, 1, kv_heads, 512, 16)[:, :, :, : cached + nodes]
    seen = torch.rand(nodes, cached + nodes) < 0.5
    seen[:, -nodes:].fill_diagonal_(True)
    mask = torch.zeros(1, 1, *seen.shape).masked_fill(~seen, torch.finfo(torch.float32).min)
    expected = scaled_dot_product_attention(query, key, value, attn_mask=seen, scale=0.3, enable_gqa=True)
    for _ in range(2):  # the second layer of a pass takes the mask as the first left it
        got, _ = attention.tree_attention(LAYER, query, key, value, mask, scaling=0.3)
        torch.testing.assert_close(got.transpose(1, 2), expected, rtol=1e-5, atol=1e-5)


def test_the_models_own_generate_is_not_disturbed():
    attention.register()
    ids = torch.tensor([[3, 5, 7, 11, 13]])
    usual, ours = tiny_model(), tiny_model()
    ours.set_attn_implementation(attention.NAME)
    for cache in (True, False):
        texts = [
            model.generate(ids, max_new_tokens=20, do_sample=False, use_cache=cache, pad_token_id=0).tolist()
            for model in (usual, ours)
        ]
        assert texts[0] == texts[1]
    # Two texts of unequal length in one batch bring a mask of the tokenizer's kind.
    batch = torch.tensor([[0, 0, 3, 5], [3, 5, 7, 11]])
    seen = torch.tensor([[0, 0, 1, 1], [1, 1, 1, 1]])
    logits = [
        model(batch, attention_mask=seen, past_key_values=DynamicCache()).logits for model in (usual, ours)
    ]
    torch.testing.assert_close(logits[0][:, -1], logits[1][:, -1])


def test_ancestors_are_a_node_and_its_parents():
    seen = ancestors([-1, 0, 0, 1, 3], torch.device("cpu"))
    assert seen.int().tolist() == [
        [1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 0, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 0, 1, 1],
    ]  # fmt: skip


def test_an_accepted_path_is_gathered_in_every_layer_while_the_buffer_grows():
    torch.manual_seed(0)
    cache = TreeCache()
    expected = [torch.empty(2, 1, 2, 0, 4) for _ in range(3)]
    for step in range(90):
        nodes = 1 + step % 11
        new = torch.randn(3, 2, 1, 2, nodes, 4)
        path = sorted({0, nodes // 2, nodes - 1})
        for layer in range(3):
            keys, values = cache.update(new[layer, 0], new[layer, 1], layer)
            expected[layer] = torch.cat([expected[layer], new[layer][..., path, :]], dim=-2)
            assert keys.shape == values.shape
        cache.keep(path, torch.device("cpu"))
        if step == 50:
            cache.truncate(40)
            expected = [kept[..., :40, :] for kept in expected]
        for layer, kept in zip(cache.layers, expected, strict=True):
            assert layer.length == kept.shape[-2]
            torch.testing.assert_close(layer.keys[:, :, : layer.length], kept[0], rtol=0, atol=0)
            torch.testing.assert_close(layer.values[:, :, : layer.length], kept[1], rtol=0, atol=0)


def test_no_step_copies_the_cache():
    attention.register()
    model = tiny_model()
    model.set_attn_implementation(attention.NAME)
    runner = TransformersRunner(model, None)
    runner.prefill([5 + at % 90 for at in range(400)])

    def step() -> None:
        tree = TokenTree(7, len(runner.ids))
        for token in (3, 4, 5):
            tree.add(0, token, Origin("draft"))
        runner.forward(tree)
        runner.commit(tree, [0, 2])

    step()
    layer = runner._cache.layers[0]
    of_keys = layer.keys[:, :, : layer.length].nbytes
    with torch.profiler.profile(profile_memory=True, record_shapes=True) as profile:
        step()
    allocated = [event.self_cpu_memory_usage for event in profile.events()]
    assert 0 < max(allocated) < of_keys
