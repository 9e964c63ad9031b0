"""A tiny Llama with random weights and a real tokenizer, for tests that need a model but no sense."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

CONTEXT_LENGTH = 256
SENTENCES = (
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "def add(a, b):\n    return a + b\n",
    "A window of guesses, a pool of n-grams and a tree of tokens: ünïcödé, 漢字, 🙂.",
    "One two three four five six seven eight nine ten.",
)
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@cache
def tiny_tokenizer() -> Any:
    """A byte-level BPE tokenizer trained on a few sentences; id 1 begins and id 2 ends a text."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<unk>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="<unk>",
        bos_token="<|im_start|>",
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        chat_template=CHAT_TEMPLATE,
    )


def tiny_config(model_type: str = "llama", **changes: Any) -> Any:
    """A configuration of two small layers that fits `tiny_tokenizer`; None leaves a setting out."""
    from transformers import CONFIG_MAPPING

    settings: dict[str, Any] = {
        "vocab_size": len(tiny_tokenizer()),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": CONTEXT_LENGTH,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
        "tie_word_embeddings": True,
    }
    settings |= changes
    return CONFIG_MAPPING[model_type](
        **{name: value for name, value in settings.items() if value is not None}
    )


def tiny_model(model_type: str = "llama", *, seed: int = 0, spread: float = 0.3, **changes: Any) -> Any:
    """A model with random weights.

    Args:
        model_type: As in a `config.json`.
        seed: Of the weights.
        spread: Their standard deviation; with the usual 0.02 every text would repeat one token.
        changes: Settings of the configuration.
    """
    import torch
    from transformers import AutoModelForCausalLM

    config = tiny_config(model_type, initializer_range=spread, **changes)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    return model.eval().requires_grad_(False)


def save_tiny_model(folder: Path, model_type: str = "llama", **settings: Any) -> Path:
    """Write a tiny model and its tokenizer as a checkpoint folder, and return the folder."""
    tiny_model(model_type, **settings).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder
