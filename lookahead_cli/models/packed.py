"""Linear layers whose weights lie in oneDNN's own order, for processors.

A step multiplies a handful of nodes by every weight of the model, so its time is that of reading the weights.
torch keeps them row by row, and its matrix product sorts blocks of them anew in each call; here they are
sorted once, when the model is loaded. torch's own compiler does the same with weights that are frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_ROWS = 16
"""Rows that the order is chosen for: the nodes of a usual step."""


class PackedLinear(torch.nn.Module):
    """A linear layer with packed weights and without gradients.

    Args:
        linear: The layer; its own weights are not needed afterwards.
    """

    def __init__(self, linear: torch.nn.Linear) -> None:
        super().__init__()
        self.in_features, self.out_features = linear.in_features, linear.out_features
        self.bias = linear.bias
        # Not a parameter: a packed tensor has no strides, and what walks over parameters asks for them.
        self.packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), _ROWS)
        self.training = linear.training

    @property
    def weight(self) -> torch.Tensor:
        """A copy of the weights (out, in) in their usual order."""
        return self.packed.to_dense()

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """The product (..., out) of rows (..., in)."""
        product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            rows, self.packed, self.bias, "none", [], ""
        )
        return product

    def unpacked(self) -> torch.nn.Linear:
        """The layer as it was, with a copy of the weights."""
        linear = torch.nn.Linear(
            self.in_features, self.out_features, bias=self.bias is not None, device="meta"
        )
        linear.weight = torch.nn.Parameter(self.weight, requires_grad=False)
        linear.bias = self.bias
        return linear.train(self.training)


def pack_linears(model: Any, on_progress: Callable[[int, int], None] | None = None) -> int:
    """Pack the weights of every linear layer where torch can; each layer's former ones are dropped with it.

    Args:
        model: A transformers model in evaluation mode.
        on_progress: Called with the layers that are done and all of them.

    Returns:
        Layers that were packed: none on another device, in another type, or in a build without oneDNN.
    """
    places = list(_children(model, torch.nn.Linear))
    if not places or model.device.type != "cpu" or not _computes(model.dtype):
        return 0
    if not _agrees(places[0][2]):
        return 0
    for done, (parent, name, linear) in enumerate(places):
        if linear.weight.dtype == model.dtype:
            setattr(parent, name, PackedLinear(linear))
        if on_progress is not None:
            on_progress(done + 1, len(places))
    return len(places)


@contextmanager
def unpacked(model: Any) -> Iterator[None]:
    """The model with its linear layers as torch has them, until the block ends."""
    places = list(_children(model, PackedLinear))
    for parent, name, packed in places:
        setattr(parent, name, packed.unpacked())
    try:
        yield
    finally:
        for parent, name, packed in places:
            setattr(parent, name, packed)


def _children(model: torch.nn.Module, kind: type[Any]) -> Iterator[tuple[torch.nn.Module, str, Any]]:
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            # Heirs may compute something else.
            if type(child) is kind:
                yield parent, name, child


def _computes(dtype: torch.dtype) -> bool:
    has_onednn = bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]
    if not has_onednn or not hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):
        return False
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return dtype == torch.float32


@torch.inference_mode()
def _agrees(linear: torch.nn.Linear) -> bool:
    """Whether one packed layer gives what it gave before: builds for other processors may lack a part."""
    rows = torch.linspace(-1, 1, 3 * linear.in_features, dtype=linear.weight.dtype).view(3, -1)
    expected = linear(rows)
    try:
        packed = PackedLinear(linear)
        got = packed(rows)
        same_weights = torch.equal(packed.weight, linear.weight)
    except (RuntimeError, NotImplementedError):
        return False
    off = (got - expected).abs().max() / expected.abs().max().clamp_min(torch.finfo(expected.dtype).tiny)
    return same_weights and bool(off < 100 * torch.finfo(expected.dtype).eps)
