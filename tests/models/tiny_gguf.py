"""Writes a tiny Llama as a GGUF file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.tiny import CHAT_TEMPLATE, CONTEXT_LENGTH, tiny_tokenizer


def write_tiny_gguf(path: Path, *, architecture: str = "llama", end_of_turn: int | None = None) -> Path:
    """A model of two layers with random weights, most of them quantised, and `tiny_tokenizer`."""
    import gguf

    backend = tiny_tokenizer().backend_tokenizer
    vocabulary = sorted(backend.get_vocab().items(), key=lambda item: item[1])
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name("Tiny")
    writer.add_context_length(CONTEXT_LENGTH)
    writer.add_embedding_length(32)
    writer.add_block_count(2)
    writer.add_feed_forward_length(64)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(vocabulary))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list([word for word, _ in vocabulary])
    writer.add_token_types([3 if index < 3 else 1 for _, index in vocabulary])
    writer.add_token_merges(_merges())
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_pad_token_id(2)
    if end_of_turn is not None:
        writer.add_eot_token_id(end_of_turn)
    writer.add_chat_template(CHAT_TEMPLATE)
    random = np.random.default_rng(0)

    def add(name: str, *shape: int, quantised: bool = False) -> None:
        values = random.normal(0.0, 0.3, shape).astype(np.float32)
        if quantised:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(values, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, values)

    add("token_embd.weight", len(vocabulary), 32)
    add("output_norm.weight", 32)
    for layer in range(2):
        add(f"blk.{layer}.attn_norm.weight", 32)
        add(f"blk.{layer}.ffn_norm.weight", 32)
        add(f"blk.{layer}.attn_q.weight", 32, 32, quantised=True)
        add(f"blk.{layer}.attn_k.weight", 16, 32, quantised=True)
        add(f"blk.{layer}.attn_v.weight", 16, 32, quantised=True)
        add(f"blk.{layer}.attn_output.weight", 32, 32, quantised=True)
        add(f"blk.{layer}.ffn_gate.weight", 64, 32, quantised=True)
        add(f"blk.{layer}.ffn_up.weight", 64, 32, quantised=True)
        add(f"blk.{layer}.ffn_down.weight", 32, 64, quantised=True)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _merges() -> list[str]:
    import json

    pairs = json.loads(tiny_tokenizer().backend_tokenizer.to_str())["model"]["merges"]
    return [pair if isinstance(pair, str) else " ".join(pair) for pair in pairs]
