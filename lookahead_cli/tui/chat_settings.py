"""The settings of a conversation's next answers, in words: what they are, what they cost, and other ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from lookahead_cli.decoding.config import SOURCES, LookaheadConfig
from lookahead_cli.errors import UsageError
from lookahead_cli.trace.words import counted
from lookahead_cli.tui.slash import nearest

_LETTERS = {"W": "window_size", "N": "ngram_size", "G": "guess_set_size"}
_SHORT = {"no-repeat-ngram": "no_repeat_ngram_size"}
_TRUTH = {"on": True, "yes": True, "true": True, "off": False, "no": False, "false": False}
_KINDS: Mapping[str, str] = {field.name: str(field.type) for field in fields(LookaheadConfig)}


def setting_names() -> Mapping[str, str]:
    """The settings' fields by the names that people type: the options' long names, and W, N and G."""
    long = {name.replace("_", "-"): name for name in _KINDS}
    return {
        **_LETTERS,
        **{name: field for name, field in long.items() if field not in _SHORT.values()},
        **_SHORT,
    }


def with_setting(config: LookaheadConfig, asked: str) -> LookaheadConfig:
    """The settings with one changed, such as `W 15`, `temperature 0.7` or `sources window,prompt`.

    Raises:
        UsageError: There is no such setting, or the value cannot work.
    """
    name, _, text = asked.replace("=", " ", 1).partition(" ")
    names = setting_names()
    field = names.get(name) or names.get(name.upper()) or names.get(name.lower().replace("_", "-"))
    if field is None:
        hint = nearest(name.lower(), list(names)) or "/set names them."
        raise UsageError(f"There is no setting called '{name}'.", hint)
    if not text.strip():
        raise UsageError(f"{name} is {_value(getattr(config, field))}.", f"/set {name} VALUE changes it.")
    return replace(config, **{field: _parsed(name, _KINDS[field], text.strip())})


def settings_rows(config: LookaheadConfig) -> list[tuple[str, str]]:
    """The settings with their values, and the nodes a step that one more of each costs."""
    names = {field: name for name, field in reversed(list(setting_names().items()))}
    values = {field: _value(getattr(config, field)) for field in _KINDS}
    width = max(map(len, values.values()))
    return [
        (names[field], f"{value:<{width}}  {_cost(config, field)}".rstrip())
        for field, value in values.items()
    ]


def cost_words(config: LookaheadConfig) -> str:
    """What a step may cost."""
    nodes = counted(config.nodes_per_step, "node")
    return f"A step feeds at most {nodes}; greedy feeds 1. /set NAME VALUE changes one."


def _cost(config: LookaheadConfig, field: str) -> str:
    if _KINDS[field] != "int":
        return ""
    more = replace(config, **{field: getattr(config, field) + 1}).nodes_per_step - config.nodes_per_step
    return f"one more costs {counted(more, 'node')} a step" if more else ""


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ",".join(value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _parsed(name: str, kind: str, text: str) -> Any:
    try:
        match kind:
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "bool":
                return _TRUTH[text.lower()]
    except (KeyError, ValueError):
        wanted = {"int": "a whole number", "float": "a number", "bool": "on or off"}[kind]
        raise UsageError(f"'{text}' is no value for {name}.", f"Give {wanted}.") from None
    if kind.startswith("tuple"):
        listed = [text] if name == "stop" else [each.strip() for each in text.split(",")]
        if name == "sources":
            listed.sort(key=lambda each: SOURCES.index(each) if each in SOURCES else len(SOURCES))
        return () if text == "none" else tuple(listed)
    return text
