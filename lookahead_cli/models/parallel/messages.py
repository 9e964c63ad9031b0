"""What rank 0 tells the others to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.models.devices import Preference


@dataclass(frozen=True, slots=True)
class Load:
    """Load a model, under a number by which runs name it."""

    number: int
    spec: str
    device: str
    dtype: str
    prefer: Preference
    config: LookaheadConfig
    compile_layers: Literal["auto", "off"] = "auto"


@dataclass(frozen=True, slots=True)
class Drop:
    """Give a model's memory back."""

    number: int


@dataclass(frozen=True, slots=True)
class Run:
    """Decode a prompt."""

    number: int
    prompt_ids: tuple[int, ...]
    config: LookaheadConfig
    pool: NGramPool | None
