"""Paths, to finish one that was begun."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_MOST = 200


def paths_from(begun: str) -> Mapping[str, str]:
    """Files and folders whose path begins so, as it was typed, and what is said of each; folders first.

    Hidden ones are left out until their dot was typed.
    """
    folder, slash, name = begun.rpartition("/")
    found: list[tuple[bool, str]] = []
    with suppress(OSError, RuntimeError):
        for path in Path(f"{folder}{slash}" or ".").expanduser().iterdir():
            if path.name.startswith(name) and (name.startswith(".") or not path.name.startswith(".")):
                found.append((not path.is_dir(), path.name))
    return {
        f"{folder}{slash}{each}" + ("" if is_file else "/"): "" if is_file else "folder"
        for is_file, each in sorted(found)[:_MOST]
    }
