"""Where a model runs and in which type."""

from __future__ import annotations

from typing import Any, Literal

import torch

from lookahead_cli.errors import ModelError, UsageError

Device = Literal["auto", "cpu", "cuda", "mps"]
DType = Literal["auto", "float32", "bfloat16", "float16"]
Preference = Literal["float32", "bfloat16"]

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(wanted: str) -> torch.device:
    """The device called `wanted`; `auto` takes a GPU where there is one.

    Raises:
        UsageError: There is no device of that name.
        ModelError: This machine has no such device.
    """
    kind, _, index = wanted.partition(":")
    if wanted == "auto":
        available = (kind for kind in ("cuda", "mps") if _is_available(kind))
        return torch.device(next(available, "cpu"))
    if kind not in ("cpu", "cuda", "mps") or (index and not index.isdecimal()):
        raise UsageError(f"There is no device called '{wanted}'.", "Choose auto, cpu, cuda or mps.")
    if not _is_available(kind):
        raise ModelError(
            f"The device '{wanted}' is not available: {_why_missing(kind)}.", "Use --device auto or cpu."
        )
    if kind == "cuda" and index and int(index) >= torch.cuda.device_count():
        raise ModelError(
            f"The device '{wanted}' is not available: this machine has {torch.cuda.device_count()} of them.",
            "Use --device auto, or a lower number.",
        )
    return torch.device(wanted)


def _is_available(kind: str) -> bool:
    if kind == "cuda":
        return torch.cuda.is_available()
    return kind == "cpu" or torch.backends.mps.is_available()


def _why_missing(kind: str) -> str:
    if kind == "cuda":
        return "no CUDA GPU was found" if torch.version.cuda else "the installed torch was built without CUDA"
    return "it needs an Apple GPU"


def choose_dtype(
    wanted: str, device: torch.device, checkpoint: torch.dtype | None, prefer: Preference
) -> torch.dtype:
    """The type to compute in.

    Args:
        wanted: `auto`, `float32`, `bfloat16` or `float16`.
        device: Where the model runs.
        checkpoint: Type of the stored weights, None where it is not told.
        prefer: What `auto` takes on a CPU; bfloat16 only where the processor computes in it natively.

    Raises:
        UsageError: There is no type of that name.
    """
    if wanted != "auto":
        if wanted not in DTYPES:
            raise UsageError(f"There is no dtype called '{wanted}'.", f"Choose auto, {', '.join(DTYPES)}.")
        return DTYPES[wanted]
    if device.type == "cpu":
        return torch.bfloat16 if prefer == "bfloat16" and cpu_has_bfloat16() else torch.float32
    half = checkpoint if checkpoint in (torch.bfloat16, torch.float16) else torch.bfloat16
    if (
        half == torch.bfloat16
        and device.type == "cuda"
        and not torch.cuda.is_bf16_supported(including_emulation=False)
    ):
        return torch.float16
    return half


def cpu_has_bfloat16() -> bool:
    """True where the processor multiplies bfloat16 natively; emulated it is slower than float32."""
    return any(_cpu_can(name) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))


def _cpu_can(name: str) -> bool:
    # torch offers these under private names only, so a release without them means no.
    question: Any = getattr(torch.cpu, name, None)
    return bool(question and question())
