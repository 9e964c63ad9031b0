"""Lookahead decoding in the terminal (Fu et al., arXiv 2402.02057), and from Python.

    from lookahead_cli import LookaheadConfig, generate, load_model

    model = load_model("smollm2-135m")
    print(generate(model, "def fibonacci(n):", LookaheadConfig(max_new_tokens=64)))

Names are imported when they are first used: torch comes with the first that needs it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lookahead_cli.decoding.config import LookaheadConfig
    from lookahead_cli.decoding.records import Step
    from lookahead_cli.models.api import decode, generate
    from lookahead_cli.models.custom_generate import lookahead_generate
    from lookahead_cli.models.language_model import LanguageModel, load_model

__version__ = "0.1.0"

_HOMES = {
    "LanguageModel": "lookahead_cli.models.language_model",
    "LookaheadConfig": "lookahead_cli.decoding.config",
    "Step": "lookahead_cli.decoding.records",
    "decode": "lookahead_cli.models.api",
    "generate": "lookahead_cli.models.api",
    "load_model": "lookahead_cli.models.language_model",
    "lookahead_generate": "lookahead_cli.models.custom_generate",
}

__all__ = [
    "LanguageModel",
    "LookaheadConfig",
    "Step",
    "__version__",
    "decode",
    "generate",
    "load_model",
    "lookahead_generate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'lookahead_cli' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
