"""A decoder layer as a function of tensors, so that all layers of one kind share one compiled program.

Weights are arguments. What reads the KV cache stays outside: the attention product is an operator that the
compiler does not look into, and it finds cache and mask in `Pass`. Packed linear layers are products that
oneDNN does; the compiler fuses what stands between them.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from lookahead_cli.models import attention
from lookahead_cli.models.packed import PackedLinear

_TRACED = "lookahead_traced"
CACHE_NAMES = ("cache", "past_key_values")
_OUTSIDE = ("attention_mask", *CACHE_NAMES)
_MOST_NODES = 4096
_current = threading.local()


@dataclass(frozen=True, slots=True)
class Call:
    """How a model calls a decoder layer, as one pass showed it.

    Attributes:
        hidden: Hidden states (1, Q, hidden).
        named: The arguments with names.
    """

    hidden: torch.Tensor
    named: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Pass:
    """What the attention product needs and the compiled program does not know.

    Attributes:
        cache: The KV cache.
        layer: Index of the layer in it.
        mask: Additive floats (1, 1, Q, K).
    """

    cache: Any
    layer: int
    mask: torch.Tensor


class UnsupportedLayerError(Exception):
    """The model calls its layers in a way that cannot be traced; the text says which."""


def exported(layer: torch.nn.Module, wide: Call, narrow: Call) -> torch.export.ExportedProgram:
    """The layer as a program of tensors.

    Args:
        layer: A decoder layer whose linear layers may be packed.
        wide: A call of it.
        narrow: A call with fewer nodes; sizes that differ are the number of nodes.

    Raises:
        UnsupportedLayerError: The call has arguments other than tensors, numbers and pairs of tensors.
    """
    attention.register()
    _register_traced()
    traced = _skeleton(layer)
    tensors, others = flat(wide.named)
    names = weight_names(traced)
    cache_name = next(name for name in CACHE_NAMES if name in wide.named)

    class Region(torch.nn.Module):
        def forward(self, hidden: torch.Tensor, *inputs: torch.Tensor) -> Any:
            named = unflat(wide.named, inputs[: len(tensors)], others)
            named |= {"attention_mask": None, cache_name: _Through()}
            weights = dict(zip(names, inputs[len(tensors) :], strict=True))
            return torch.func.functional_call(traced, weights, (hidden,), named)

    nodes = torch.export.Dim("nodes", min=2, max=_MOST_NODES)
    inputs = (wide.hidden, *tensors, *(value.detach() for value in _weights(traced, names)))
    narrow_inputs = (narrow.hidden, *flat(narrow.named)[0])
    varying = [
        {at: nodes for at, size in enumerate(many.shape) if few.shape[at] != size}
        for many, few in zip(inputs, narrow_inputs, strict=False)
    ]
    fixed: list[dict[int, Any]] = [{} for _ in names]
    with torch.no_grad():
        return torch.export.export(
            Region(),
            tuple(value.clone() for value in inputs),
            dynamic_shapes=(varying[0], (*varying[1:], *fixed)),
            strict=False,
        )


def flat(named: Mapping[str, Any]) -> tuple[list[torch.Tensor], dict[str, Any]]:
    """The tensors among a call's arguments, pairs taken apart, and the arguments that are none.

    Raises:
        UnsupportedLayerError: An argument is neither.
    """
    tensors: list[torch.Tensor] = []
    others: dict[str, Any] = {}
    for name, value in named.items():
        if name in _OUTSIDE:
            continue
        if isinstance(value, torch.Tensor):
            tensors.append(value)
        elif isinstance(value, tuple) and value and all(isinstance(one, torch.Tensor) for one in value):
            tensors.extend(value)
        elif value is None or isinstance(value, bool | int | float | str):
            others[name] = value
        else:
            raise UnsupportedLayerError(f"its layers take {name} as {type(value).__name__}")
    return tensors, others


def unflat(
    named: Mapping[str, Any], tensors: Sequence[torch.Tensor], others: Mapping[str, Any]
) -> dict[str, Any]:
    """Arguments like `named` with other tensors: the way back from `flat`."""
    left = iter(tensors)
    again: dict[str, Any] = {}
    for name, value in named.items():
        if name in _OUTSIDE:
            continue
        if isinstance(value, torch.Tensor):
            again[name] = next(left)
        elif name in others:
            again[name] = others[name]
        else:
            again[name] = tuple(next(left) for _ in value)
    return again


def weight_names(layer: torch.nn.Module) -> list[str]:
    """Names of the layer's weights in the order in which a program takes them."""
    names = [name for name, _ in (*layer.named_parameters(), *layer.named_buffers())]
    packed = [f"{name}.weight" for name, module in layer.named_modules() if type(module) is PackedLinear]
    return sorted(names + packed)


def weights_of(layer: torch.nn.Module) -> list[torch.Tensor]:
    """The layer's weights in that order, packed ones as they are."""
    return _weights(layer, weight_names(layer))


def _weights(layer: torch.nn.Module, names: Sequence[str]) -> list[torch.Tensor]:
    found = []
    for name in names:
        owner, _, last = name.rpartition(".")
        module = layer.get_submodule(owner)
        found.append(
            module.packed if type(module) is PackedLinear and last == "weight" else getattr(module, last)
        )
    return found


@contextmanager
def in_pass(place: Pass) -> Iterator[None]:
    """Where the attention product of this thread finds cache and mask, until the block ends."""
    _current.place = place
    try:
        yield
    finally:
        _current.place = None


class _TracedLinear(torch.nn.Module):
    """A packed layer while it is traced: its weights have a shape and no values."""

    def __init__(self, packed: PackedLinear) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(
            torch.empty(packed.out_features, packed.in_features, dtype=packed.packed.dtype),
            requires_grad=False,
        )
        self.bias = packed.bias

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, self.weight, self.bias, "none", [], ""
        )
        return product


class _Through:
    """A KV cache while it is traced: the attention product writes the real one."""

    def update(self, key: torch.Tensor, value: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, ...]:
        return key, value


def _skeleton(layer: torch.nn.Module) -> torch.nn.Module:
    """A copy for tracing, with attention of its own."""
    replaced: dict[int, Any] = {
        id(child): _TracedLinear(child)
        for module in layer.modules()
        for child in module.children()
        if type(child) is PackedLinear
    }
    # What was put in place of the layer's own method is no part of it.
    forward = layer.__dict__.pop("forward", None)
    try:
        traced = copy.deepcopy(layer, replaced)
    finally:
        if forward is not None:
            layer.forward = forward
    for module in traced.modules():
        if hasattr(module, "config"):
            config: Any = copy.deepcopy(module.config)
            config._attn_implementation = _TRACED
            module.config = config
    return traced


def _register_traced() -> None:
    from transformers import AttentionInterface

    AttentionInterface.register(_TRACED, _traced_attention)


def _traced_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    return torch.ops.lookahead.tree_attention(query, key, value, scale), None


@torch.library.custom_op("lookahead::tree_attention", mutates_args=())
def tree_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float) -> torch.Tensor:
    """Attention of a pass's nodes over the KV cache of `Pass`, which takes their keys and values.

    Args:
        query: (1, heads, Q, head_dim).
        key: (1, kv_heads, Q, head_dim), of the nodes alone.
        value: As `key`.
        scale: Factor of the products.

    Returns:
        (1, Q, heads, head_dim).
    """
    place: Pass = _current.place
    keys, values = place.cache.update(key, value, place.layer)
    product, _ = attention.tree_attention(_NO_LAYER, query, keys, values, place.mask, scaling=scale)
    return product.contiguous()


_NO_LAYER = torch.nn.Module()


@tree_attention.register_fake
def _(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float) -> torch.Tensor:
    return query.new_empty(query.shape[0], query.shape[2], query.shape[1], value.shape[-1])


Program = Callable[[list[torch.Tensor]], list[torch.Tensor]]
"""Hidden states, a call's tensors and a layer's weights in, hidden states out."""


class CompiledLayer:
    """Stands in for a layer's `forward`.

    Args:
        layer: The layer.
        program: Its compiled program.
        index: The layer's place in the KV cache.
    """

    def __init__(self, layer: torch.nn.Module, program: Program, index: int) -> None:
        self._forward = layer.forward
        self._program = program
        self._weights = weights_of(layer)
        self._index = index

    def __call__(self, hidden: torch.Tensor, *rest: Any, **named: Any) -> Any:
        """The hidden states behind the layer; passes that are none of ours go the layer's own way."""
        cache: Any = named.get("cache", named.get("past_key_values"))
        mask: torch.Tensor | None = named.get("attention_mask")
        nodes = hidden.shape[1]
        is_ours = not rest and cache is not None and hidden.shape[0] == 1 and nodes <= _MOST_NODES
        if not is_ours or mask is None or mask.dtype != hidden.dtype or mask.shape[:3] != (1, 1, nodes):
            return self._forward(hidden, *rest, **named)
        tensors, _ = flat(named)
        with in_pass(Pass(cache, self._index, mask)):
            return self._program([hidden, *tensors, *self._weights])[0]
