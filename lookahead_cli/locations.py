"""Where the program keeps its files; every other module asks here."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import PlatformDirs

_DIRS = PlatformDirs("lookahead", appauthor=False)


def cache_folder() -> Path:
    """Folder of fetched and converted models; `LOOKAHEAD_CACHE` moves it."""
    moved = os.environ.get("LOOKAHEAD_CACHE")
    return Path(moved).expanduser() if moved else Path(_DIRS.user_cache_dir)


def models_folder() -> Path:
    """Folder that holds one converted model a sub-folder."""
    return cache_folder() / "models"


def config_folder() -> Path:
    """Folder of a person's settings and themes; `LOOKAHEAD_CONFIG` moves it."""
    moved = os.environ.get("LOOKAHEAD_CONFIG")
    return Path(moved).expanduser() if moved else Path(_DIRS.user_config_dir)


def data_folder() -> Path:
    """Folder of a person's sessions and benchmarks; `LOOKAHEAD_DATA` moves it."""
    moved = os.environ.get("LOOKAHEAD_DATA")
    return Path(moved).expanduser() if moved else Path(_DIRS.user_data_dir)


def user_themes_folder() -> Path:
    """Folder of a person's own themes."""
    return config_folder() / "themes"


def packaged_themes_folder() -> Path:
    """Folder of the themes that ship: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"
