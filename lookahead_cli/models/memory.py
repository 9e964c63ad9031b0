"""Memory that a model needs, estimated from its configuration before its weights are loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import torch

from lookahead_cli.errors import MemoryLimitError
from lookahead_cli.models.aliases import Alias, aliases

_LOGIT_BYTES = 4
_FEWEST_TOKENS = 64


@dataclass(frozen=True, slots=True)
class ModelShape:
    """The sizes that memory depends on.

    Attributes:
        parameters: Weights, tied ones counted once.
        layers: Decoder layers.
        kv_heads: Key and value heads of a layer.
        head_dim: Size of a head.
        vocabulary: Words that the logits cover.
        tied: Weights of the output layer, where they are those of the embedding.
    """

    parameters: int
    layers: int
    kv_heads: int
    head_dim: int
    vocabulary: int
    tied: int = 0

    @property
    def packed(self) -> ModelShape:
        """The sizes with an output layer that has weights of its own, as packed layers do."""
        return replace(self, parameters=self.parameters + self.tied, tied=0)


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes that a run needs.

    Attributes:
        weights: The model's weights.
        cache: The KV cache of all tokens.
        logits: One step's logits, and their float32 copy.
    """

    weights: int
    cache: int
    logits: int

    @property
    def total(self) -> int:
        """Bytes in all."""
        return self.weights + self.cache + self.logits


def shape_of(config: Any) -> ModelShape:
    """Sizes of the model that `config` describes; it is built without memory for its weights."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, trust_remote_code=False)
    text = config.get_text_config(decoder=True)
    heads = text.num_attention_heads
    embedding, output = model.get_input_embeddings(), model.get_output_embeddings()
    is_tied = output is not None and output.weight is embedding.weight
    return ModelShape(
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        tied=embedding.weight.numel() if is_tied else 0,
        layers=text.num_hidden_layers,
        kv_heads=getattr(text, "num_key_value_heads", None) or heads,
        head_dim=getattr(text, "head_dim", None) or text.hidden_size // heads,
        vocabulary=text.vocab_size,
    )


def memory_need(shape: ModelShape, dtype: torch.dtype, tokens: int, nodes: int) -> MemoryNeed:
    """Bytes for a run of `tokens` tokens, prompt included, with `nodes` nodes a step."""
    per_token = 2 * shape.layers * shape.kv_heads * shape.head_dim * dtype.itemsize
    logit_bytes = dtype.itemsize if dtype.itemsize == _LOGIT_BYTES else dtype.itemsize + _LOGIT_BYTES
    return MemoryNeed(
        shape.parameters * dtype.itemsize, tokens * per_token, nodes * shape.vocabulary * logit_bytes
    )


def available_memory(device: torch.device) -> int:
    """Bytes that are free on the device."""
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        # What torch holds and does not use is free for us as well.
        return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    if device.type == "mps":
        return torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()
    available: int = psutil.virtual_memory().available
    limit = _container_memory()
    return available if limit is None else min(available, limit)


def all_gpus_memory(wanted: str, chosen: torch.device) -> int | None:
    """Bytes that are free on all GPUs together, None where a model may not be spread over several.

    Args:
        wanted: The device that was asked for; `auto` alone leaves the choice.
        chosen: What it came to.
    """
    count = torch.cuda.device_count() if wanted == "auto" and chosen.type == "cuda" else 0
    if count < 2:
        return None
    return sum(available_memory(torch.device("cuda", index)) for index in range(count))


def _container_memory(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes left under this container's memory limit (cgroup version 2), None where there is no limit."""
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
        counters = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        return None
    # Cached files count as used, but make way.
    return max(0, limit - used + int(counters.get("inactive_file", 0)))


def check_memory(
    shape: ModelShape,
    *,
    name: str,
    dtype: torch.dtype,
    device: torch.device,
    tokens: int,
    nodes: int,
    available: int | None = None,
) -> MemoryNeed:
    """Refuse a run that does not fit the device, with the figures and what would fit.

    Args:
        shape: Sizes of the model.
        name: Name for people.
        dtype: Type of weights and cache.
        device: Where it is to run.
        tokens: Prompt and new tokens together.
        nodes: Nodes a step.
        available: Free bytes; measured when None.

    Raises:
        MemoryLimitError: More is needed than is free.
    """
    free = available_memory(device) if available is None else available
    if device.type == "cpu":
        shape = shape.packed
    need = memory_need(shape, dtype, tokens, nodes)
    if need.total <= free:
        return need
    raise MemoryLimitError(
        f"{name} in {_name(dtype)} on {device.type} needs {_gb(need.total)} (weights {_gb(need.weights)}, "
        f"KV cache of {tokens:,} tokens {_gb(need.cache)}, logits {_gb(need.logits)}), "
        f"and {_gb(free)} are free.",
        _what_fits(shape, dtype, tokens, nodes, free),
    )


def _what_fits(shape: ModelShape, dtype: torch.dtype, tokens: int, nodes: int, free: int) -> str:
    ways = []
    if dtype.itemsize > 2 and memory_need(shape, torch.bfloat16, tokens, nodes).total <= free:
        ways.append(f"--dtype bfloat16 ({_gb(memory_need(shape, torch.bfloat16, tokens, nodes).total)})")
    base, one = (memory_need(shape, dtype, count, nodes).total for count in (0, 1))
    fitting = (free - base) // max(1, one - base)
    if fitting >= _FEWEST_TOKENS:
        ways.append(f"at most {fitting:,} tokens, prompt and --max-new-tokens together")
    per_node = memory_need(shape, dtype, tokens, 1).total - memory_need(shape, dtype, tokens, 0).total
    fewer = (free - memory_need(shape, dtype, tokens, 0).total) // max(1, per_node)
    if 1 <= fewer < nodes:
        ways.append(f"at most {fewer:,} nodes a step, not {nodes:,} (smaller -W, -N, -G)")
    smaller = smaller_aliases(shape.parameters, dtype, free)
    if smaller:
        ways.append("a smaller model: " + ", ".join(f"{alias.name}" for alias in smaller))
    return f"What would fit: {'; '.join(ways)}." if ways else "Close other programs, or use a larger machine."


def smaller_aliases(parameters: int, dtype: torch.dtype, free: int, count: int = 3) -> Sequence[Alias]:
    """Aliases of fewer parameters whose weights fit with a tenth to spare, largest first."""
    fitting = [
        alias
        for alias in aliases().values()
        if alias.parameters < parameters and alias.parameters * dtype.itemsize * 1.1 <= free
    ]
    return sorted(fitting, key=lambda alias: -alias.parameters)[:count]


def _gb(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= 1e8 else f"{count / 1e6:,.1f} MB"


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
