"""Rotary position embeddings whose frequencies depend on the largest position of a pass.

Dynamic NTK stretches its frequencies with every position past the trained length; longrope changes to a
second set there. A pass that feeds a guess past the border would therefore change what is accepted. So
guesses stay before the border until the root crosses it, and passes behind it are fed with the frequencies
that `generate` has at the same place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

# Their `generate` feeds the whole text anew, with the long factors, when the text crosses the border.
_FED_ANEW = frozenset({"phi3", "phimoe", "phi4_multimodal"})


@dataclass(frozen=True, slots=True)
class LengthDependentRope:
    """The border, and what happens there.

    Attributes:
        kind: As the configuration names it.
        border: First position past the trained length.
        feeds_anew: True where `generate` computes the KV cache anew at the border.
        factor: How many times the trained length dynamic NTK is meant for.
    """

    kind: Literal["dynamic", "longrope"]
    border: int
    feeds_anew: bool
    factor: float

    def position_limit(self, root: int, context_length: int | None) -> int | None:
        """First position that a tree may not feed whose root stands at `root`."""
        if root < self.border:
            return self.border if context_length is None else min(self.border, context_length)
        # Every position has its own frequencies there, so a pass can hold one.
        return root + 1 if self.kind == "dynamic" else context_length


def length_dependent_rope(config: Any) -> LengthDependentRope | None:
    """The rope of a model's configuration, None where frequencies are fixed."""
    text = config.get_text_config(decoder=True)
    parameters = getattr(text, "rope_parameters", None) or {}
    kind = parameters.get("rope_type")
    longest: int | None = getattr(text, "max_position_embeddings", None)
    if kind == "dynamic" and longest is not None:
        return LengthDependentRope("dynamic", longest, False, float(parameters.get("factor") or 1.0))
    border = parameters.get("original_max_position_embeddings") or longest
    if kind == "longrope" and border is not None:
        feeds_anew = text.model_type in _FED_ANEW and hasattr(text, "original_max_position_embeddings")
        return LengthDependentRope("longrope", border, feeds_anew, 1.0)
    return None


def is_stretched(model: Any, length: int) -> bool:
    """True while dynamic NTK still has the frequencies of a text longer than `length`."""
    return any(
        int(getattr(module, "max_seq_len_cached", 0)) > max(length, int(module.original_max_seq_len))
        for module in model.modules()
        if hasattr(module, "original_max_seq_len")
    )
