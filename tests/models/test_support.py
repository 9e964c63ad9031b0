import pytest
from transformers import CONFIG_MAPPING

from lookahead_cli.errors import ExitCode, UnsupportedModelError
from lookahead_cli.models.support import check_supported, reason_against

GOOD = [
    "llama",
    "mistral",
    "qwen2",
    "qwen3",
    "gemma",
    "gemma2",
    "gemma3_text",
    "phi3",
    "gpt2",
    "gpt_neox",
    "smollm3",
]
REFUSED = [
    ("mamba", {}, "recurrent state"),
    ("mamba2", {}, "recurrent state"),
    ("rwkv", {}, "recurrent state"),
    ("jamba", {}, "recurrent state"),
    ("recurrent_gemma", {}, "recurrent state"),
    ("qwen3_next", {}, "recurrent state"),
    ("minimax", {}, "linear_attention"),
    ("lfm2", {"layer_types": ["conv", "full_attention"], "num_hidden_layers": 2}, "conv"),
    ("llama4_text", {}, "chunk"),
    ("t5", {}, "encoder-decoder"),
    ("bart", {}, "encoder-decoder"),
    ("bloom", {}, "ALiBi"),
    ("mpt", {}, "ALiBi"),
    ("falcon", {"alibi": True}, "ALiBi"),
    ("bert", {}, "both directions"),
    ("gpt_neo", {}, "local attention"),
    ("clip", {}, "no causal language model"),
    ("vit", {}, "no causal language model"),
]


@pytest.mark.parametrize("model_type", GOOD)
def test_a_decoder_with_ordinary_attention_is_accepted(model_type):
    assert reason_against(CONFIG_MAPPING[model_type]()) is None


@pytest.mark.parametrize(("model_type", "settings", "reason"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_cannot_be_exact_is_refused_with_the_reason(model_type, settings, reason):
    with pytest.raises(UnsupportedModelError, match=reason) as caught:
        check_supported(CONFIG_MAPPING[model_type](**settings), "Some model")
    assert f"Some model ({model_type}) cannot be decoded" in caught.value.message
    assert "smollm2-135m" in caught.value.hint
    assert caught.value.exit_code is ExitCode.MODEL
