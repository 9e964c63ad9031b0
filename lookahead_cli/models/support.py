"""Which models can be decoded exactly with a token tree, judged from the configuration alone.

A tree step needs a KV cache that can drop rejected entries, positions that are told to the model, and
attention that obeys the mask it is given. A model that lacks one of these is refused by name before its
weights are loaded.
"""

from __future__ import annotations

import inspect
from typing import Any

from lookahead_cli.errors import UnsupportedModelError

_TREE_ATTENTION = frozenset({"full_attention", "sliding_attention"})
_OTHER_MODEL = "Take a decoder-only model with ordinary attention, such as smollm2-135m or codellama-7b."


def check_supported(config: Any, name: str) -> None:
    """Refuse what cannot be decoded exactly.

    Args:
        config: The model's transformers configuration.
        name: Name for people.

    Raises:
        UnsupportedModelError: With the reason.
    """
    reason = reason_against(config)
    if reason:
        raise UnsupportedModelError(
            f"{name} ({config.model_type}) cannot be decoded with a token tree: {reason}.", _OTHER_MODEL
        )


def reason_against(config: Any) -> str | None:
    """Why a token tree cannot be decoded exactly with this model; None when it can."""
    text = config.get_text_config(decoder=True)
    if getattr(config, "is_encoder_decoder", False):
        return "it is an encoder-decoder model"
    if _has_alibi(text):
        return "its ALiBi bias goes by the place of a token in the input, not by its position"
    model_class = _model_class(config)
    if model_class is None:
        return "it is no causal language model"
    if getattr(model_class, "_is_stateful", False):
        return "its recurrent state cannot drop rejected tokens"
    if getattr(text, "is_decoder", None) is False and not config.model_type.startswith("gpt_neox"):
        return "it reads text in both directions"
    if "local" in (getattr(text, "attention_layers", None) or ()):
        return "its local attention counts places in the input, not positions"
    kinds = set(getattr(text, "layer_types", None) or ()) | set(
        getattr(text, "layers_block_type", None) or ()
    )
    others = sorted(kinds - _TREE_ATTENTION - {"attention"})
    if others:
        return f"its {' and '.join(others)} layers cannot drop rejected tokens or take a tree's mask"
    if getattr(text, "attention_chunk_size", None):
        return "its attention works in chunks of the input and takes no tree's mask"
    if "position_ids" not in inspect.signature(model_class.forward).parameters:
        return "it counts positions itself and cannot be told those of a tree"
    return None


def _has_alibi(config: Any) -> bool:
    attention = getattr(config, "attn_config", None)
    return (
        config.model_type == "bloom"
        or bool(getattr(config, "alibi", False))
        or bool(getattr(attention, "alibi", False))
        or getattr(config, "position_embedding_type", None) == "alibi"
    )


def _model_class(config: Any) -> Any | None:
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING

    # Reading the mapping imports the module of this one model.
    found = MODEL_FOR_CAUSAL_LM_MAPPING.get(type(config), None)
    return found[0] if isinstance(found, tuple | list) else found
