import pytest
import torch

from lookahead_cli.errors import UnsupportedModelError
from lookahead_cli.models.probe import VERIFIED, check_tree_attention, tree_error
from tests.tiny import tiny_model

SETTINGS = {"gemma3_text": {"layer_types": ["sliding_attention", "full_attention"]}}


@pytest.mark.parametrize("model_type", sorted(VERIFIED))
def test_a_tree_equals_plain_texts_for_every_type_that_is_not_tried(model_type):
    model = tiny_model(model_type, **SETTINGS.get(model_type, {}))
    assert tree_error(model) < 1e-4
    check_tree_attention(model, "Some")


@pytest.mark.parametrize("model_type", ["starcoder2", "stablelm", "opt", "cohere"])
def test_other_types_pass_the_trial_too(model_type):
    check_tree_attention(tiny_model(model_type), "Some")


def test_rounding_in_bfloat16_is_no_reason_to_refuse():
    check_tree_attention(tiny_model("starcoder2").to(torch.bfloat16), "Some")


def test_a_model_that_ignores_the_mask_is_refused():
    model = tiny_model("starcoder2")
    forward = model.forward
    model.forward = lambda attention_mask=None, **inputs: forward(**inputs)
    with pytest.raises(UnsupportedModelError, match="in a trial"):
        check_tree_attention(model, "Some")


def test_a_model_that_ignores_positions_is_refused():
    model = tiny_model("starcoder2")
    forward = model.forward
    model.forward = lambda position_ids=None, **inputs: forward(**inputs)
    with pytest.raises(UnsupportedModelError, match="standard deviations"):
        check_tree_attention(model, "Some")


def test_a_window_is_tried_at_a_size_that_the_trial_crosses():
    model = tiny_model("starcoder2", sliding_window=64)
    check_tree_attention(model, "Some")
    assert model.config.sliding_window == 64
    forward = model.forward

    def without_window(**inputs):
        model.config.sliding_window = None
        return forward(**inputs)

    model.forward = without_window
    with pytest.raises(UnsupportedModelError, match="in a trial"):
        check_tree_attention(model, "Some")


def test_a_model_that_cannot_be_fed_a_tree_is_refused():
    model = tiny_model("starcoder2")

    def forward(input_ids, use_cache):
        raise AssertionError

    model.forward = forward
    with pytest.raises(UnsupportedModelError, match="feeding one raises TypeError"):
        check_tree_attention(model, "Some")
