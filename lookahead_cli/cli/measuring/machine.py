"""What kind of machine something was measured on."""

from __future__ import annotations

import hashlib
import platform
from contextlib import suppress
from pathlib import Path
from typing import Any


def describe_machine(device: str) -> dict[str, Any]:
    """The machine as plain values.

    Args:
        device: Where the model is: `cpu`, `cuda` or `mps`.
    """
    import psutil
    import torch
    import transformers

    return {
        "cpu": _cpu_model(),
        "cores": psutil.cpu_count(logical=True),
        "threads": torch.get_num_threads(),
        "memory_bytes": psutil.virtual_memory().total,
        "device": torch.cuda.get_device_name() if device == "cuda" else device,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def machine_key(machine: dict[str, Any]) -> str:
    """A short name for all machines of one kind: processor, cores, memory, device, torch."""
    memory = round(machine["memory_bytes"] / 1e9)
    kind = [machine[name] for name in ("cpu", "cores", "threads", "device", "torch")]
    return hashlib.sha256(repr((*kind, memory)).encode()).hexdigest()[:12]


def machine_words(machine: dict[str, Any]) -> str:
    """The machine in a line."""
    memory = machine["memory_bytes"] / 1e9
    device = "" if machine["device"] in ("cpu", "mps") else f"{machine['device']} · "
    return (
        f"{device}{machine['cpu']} · {machine['cores']} cores, {machine['threads']} used · {memory:.0f} GB · "
        f"torch {machine['torch']} · transformers {machine['transformers']}"
    )


def _cpu_model() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
