"""What a shell offers after Tab for the values of options."""

from __future__ import annotations

from lookahead_cli.decoding.config import SOURCES

DEVICES = ("auto", "cpu", "cuda", "mps")
COMPILINGS = ("auto", "on", "off")
DTYPES = ("auto", "float32", "bfloat16", "float16")


def models(begun: str) -> list[str]:
    """Aliases; a path has a slash or a dot, and the shell's own completion."""
    from lookahead_cli.models.aliases import aliases

    return [name for name in aliases() if name.startswith(begun)]


def devices(begun: str) -> list[str]:
    """Devices."""
    return [name for name in DEVICES if name.startswith(begun)]


def dtypes(begun: str) -> list[str]:
    """Types of weights."""
    return [name for name in DTYPES if name.startswith(begun)]


def compilings(begun: str) -> list[str]:
    """When layers are compiled."""
    return [name for name in COMPILINGS if name.startswith(begun)]


def sources(begun: str) -> list[str]:
    """Sources, one more after each comma."""
    *chosen, last = begun.split(",")
    left = (name for name in SOURCES if name not in chosen and name.startswith(last))
    return [",".join((*chosen, name)) for name in left]


def themes(begun: str) -> list[str]:
    """Themes that ship and a person's own."""
    from lookahead_cli.tui.theme import available_themes

    return [entry.name for entry in available_themes() if entry.name.startswith(begun)]
