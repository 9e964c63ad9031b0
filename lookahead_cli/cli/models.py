"""`lookahead models`: the short names for models, and which of them are on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lookahead_cli.models.aliases import Alias


def models(
    json: Annotated[bool, typer.Option("--json", help="Write the list as JSON.")] = False,
) -> None:
    """List the short names for models: size, licence, the paper's settings, and which are here already."""
    from lookahead_cli.cli.console import output_console, writing_output
    from lookahead_cli.models.aliases import aliases, default_model

    rows = [_row(alias, is_default=alias.name == default_model()) for alias in aliases().values()]
    with writing_output():
        if json:
            from json import dumps

            typer.echo(dumps(rows, indent=2))
            return
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for title in ("alias", "download", "W,N,G", "here", "licence"):
            table.add_column(title, justify="right" if title == "download" else "left", no_wrap=True)
        for row in rows:
            table.add_row(
                row["alias"] + (" *" if row["default"] else ""),
                _size(row["bytes"]),
                ",".join(map(str, row["settings"] or ())),
                "✓" if row["cached"] else "",
                row["licence"] + (" §" if row["gated"] else ""),
            )
        console = output_console()
        console.print(table)
        console.print(
            "\n* taken without --model   § the hub asks for consent to the licence first", style="dim"
        )
        console.print("--model also takes a hub id (owner/name), a folder, or a .gguf file.", style="dim")


def _row(alias: Alias, *, is_default: bool) -> dict[str, Any]:
    settings = (alias.window_size, alias.ngram_size, alias.guess_set_size)
    return {
        "alias": alias.name,
        "default": is_default,
        "title": alias.title,
        "hub": alias.hub,
        "licence": alias.licence,
        "gated": alias.gated,
        "parameters": alias.parameters,
        "bytes": alias.bytes,
        "settings": None if None in settings else list(settings),
        "cached": is_cached(alias),
    }


def is_cached(alias: Alias) -> bool:
    """True where loading needs no network: a converted copy of ours, or a snapshot of the hub's."""
    from lookahead_cli.locations import models_folder

    if alias.wheels:
        return any(models_folder().glob(f"{alias.title}-*/config.json"))
    try:
        from huggingface_hub.constants import HF_HUB_CACHE
    except ImportError:
        return False
    snapshots = Path(HF_HUB_CACHE) / f"models--{alias.hub.replace('/', '--')}" / "snapshots"
    return any(snapshots.glob("*/*.safetensors")) or any(snapshots.glob("*/pytorch_model*.bin"))


def _size(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"
