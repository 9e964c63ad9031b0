"""Most memory that a run held: the device's where the model is on one, else the process's."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")


def forget_peak(device: str) -> None:
    """Begin anew, where the system can; elsewhere the peak is what is held when it is asked for."""
    if device == "cuda":
        import torch

        torch.cuda.reset_peak_memory_stats()
    else:
        with suppress(OSError):
            # 5 sets the high-water mark of the resident set back to what it is now (proc(5)).
            _RESET.write_text("5", encoding="ascii")


def peak_bytes(device: str) -> int:
    """Most bytes since `forget_peak`."""
    if device == "cuda":
        import torch

        return int(torch.cuda.max_memory_allocated())
    try:
        return int(_STATUS.read_text(encoding="ascii").partition("VmHWM:")[2].split()[0]) * 1024
    except (OSError, IndexError, ValueError):
        import psutil

        return int(psutil.Process().memory_info().rss)
