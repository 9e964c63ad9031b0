"""A loaded model as transformers itself would run it, to compare with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lookahead_cli.models import attention
from lookahead_cli.models.compiled import suspended
from lookahead_cli.models.packed import unpacked


@contextmanager
def stock(model: Any) -> Iterator[Any]:
    """Take all that is ours out of a model until the block ends: attention, packed weights, compiled layers.

    The block holds a second copy of the weights.

    Args:
        model: A transformers model that `load_checkpoint` loaded.

    Yields:
        The same model.
    """
    ours = model.config._attn_implementation
    with suspended(model), unpacked(model):
        if ours == attention.NAME:
            model.set_attn_implementation("sdpa")
        try:
            yield model
        finally:
            model.set_attn_implementation(ours)
