"""The settings of a run in a few words, as titles and tables show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SIZES = (("W", "window_size"), ("N", "ngram_size"), ("G", "guess_set_size"))
_LENGTHS = {"jacobi": "window_size", "prompt-lookup": "window_size", "draft": "window_size"}
_PAPERS_OWN = ["window", "prompt"]


def settings_words(config: Mapping[str, Any]) -> str:
    """Such as `lookahead W 7 N 5 G 7`, `greedy`, or `jacobi 7, temperature 0.7`.

    Args:
        config: The settings as a trace's header holds them.
    """
    method = str(config.get("method", ""))
    words = [method]
    if method in _LENGTHS:
        words.append(str(config.get(_LENGTHS[method])))
    elif method.startswith("lookahead"):
        words += _lookahead(config)
    temperature = config.get("temperature") or 0
    return " ".join(words) + (f", temperature {temperature:g}" if temperature else "")


def _lookahead(config: Mapping[str, Any]) -> list[str]:
    sources = list(config.get("sources", _PAPERS_OWN))
    words = []
    if "window" in sources or "recycled" not in sources:
        words += [f"{letter} {config.get(name)}" for letter, name in _SIZES]
    if config.get("method") == "lookahead" and sources != _PAPERS_OWN:
        words.append("+".join(sources))
        if "recycled" in sources:
            words.append(f"{config.get('node_budget')} nodes")
    return words
