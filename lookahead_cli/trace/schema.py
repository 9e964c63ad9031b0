"""Events as JSON lines and back; schema 1.

A step's nested records are written field by field under their own names, so a reader needs nothing but this
file. Fields that this version does not know are kept in `extra` and written again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, fields
from typing import Any

from lookahead_cli.decoding.records import (
    Accepted,
    Candidate,
    Choice,
    Node,
    Origin,
    PoolChange,
    PoolRecord,
    Seconds,
    Step,
    WindowRecord,
)
from lookahead_cli.trace.events import Footer, GreedyRun, Header, StepEvent, TokenText

SCHEMA = 1

Json = Any


class SchemaError(ValueError):
    """A line that is JSON but no event."""


class NewerSchemaError(SchemaError):
    """A header of a schema that is not known yet."""


def to_json(event: Header | StepEvent | Footer) -> dict[str, Json]:
    """The object that stands for an event on its line."""
    if isinstance(event, Header):
        return {"type": "header", "schema": SCHEMA, **_plain(event)}
    if isinstance(event, StepEvent):
        step = {key: value for key, value in asdict(event.step).items() if value is not None}
        return {"type": "step", **step, "tokens": _tokens_to_json(event.tokens), **event.extra}
    return {"type": "footer", **_plain(event)}


def _plain(event: Header | Footer) -> dict[str, Json]:
    body = asdict(event)
    extra = body.pop("extra")
    body["tokens"] = _tokens_to_json(event.tokens)
    return {**body, **extra}


def _tokens_to_json(tokens: Mapping[int, TokenText]) -> dict[str, Json]:
    table: dict[str, Json] = {}
    for token, text in tokens.items():
        entry: dict[str, Json] = {"text": text.text}
        if text.data is not None:
            entry["bytes"] = text.data.hex()
        if text.special:
            entry["special"] = True
        table[str(token)] = entry
    return table


def from_json(line: Json) -> Header | StepEvent | Footer | None:
    """The event of a line, None for a type that this version does not know.

    Raises:
        SchemaError: The line is not an event of a schema that can be read.
    """
    if not isinstance(line, dict) or not isinstance(line.get("type"), str):
        raise SchemaError("there is no event in it")
    body = {key: value for key, value in line.items() if key != "type"}
    try:
        match line["type"]:
            case "header":
                return _header(body)
            case "step":
                return _step_event(body)
            case "footer":
                return _footer(body)
            case _:
                return None
    except SchemaError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        lacking = f", for it has no {error}" if isinstance(error, KeyError) else ""
        raise SchemaError(f"its {line['type']} cannot be read{lacking}") from error


def _tokens(table: Mapping[str, Json]) -> dict[int, TokenText]:
    return {
        int(token): TokenText(
            text=str(entry["text"]),
            data=bytes.fromhex(entry["bytes"]) if "bytes" in entry else None,
            special=bool(entry.get("special", False)),
        )
        for token, entry in table.items()
    }


def _header(body: dict[str, Json]) -> Header:
    schema = body.pop("schema", None)
    if not isinstance(schema, int):
        raise SchemaError("its header names no schema")
    if schema > SCHEMA:
        raise NewerSchemaError(f"its schema is {schema}, and this version reads up to {SCHEMA}")
    body["prompt_ids"] = _ids(body["prompt_ids"])
    body["tokens"] = _tokens(body.get("tokens", {}))
    return Header(**_with_extra(Header, body))


def _footer(body: dict[str, Json]) -> Footer:
    body["output_ids"] = _ids(body["output_ids"])
    body["tokens"] = _tokens(body.get("tokens", {}))
    if body.get("greedy") is not None:
        body["greedy"] = _record(GreedyRun, body["greedy"])
    return Footer(**_with_extra(Footer, body))


def _step_event(body: dict[str, Json]) -> StepEvent:
    tokens = _tokens(body.pop("tokens", {}))
    known = {field.name for field in fields(Step)}
    extra = {key: value for key, value in body.items() if key not in known}
    return StepEvent(_record(Step, body), tokens, extra)


def _with_extra(kind: type, body: dict[str, Json]) -> dict[str, Json]:
    known = {field.name for field in fields(kind)}
    unknown = {key: value for key, value in body.items() if key not in known}
    return {key: value for key, value in body.items() if key in known} | {"extra": unknown}


def _ids(value: Json) -> tuple[int, ...]:
    return tuple(int(token) for token in value)


def _optional_rows(value: Json) -> tuple[tuple[int | None, ...], ...]:
    return tuple(tuple(row) for row in value)


def _many(kind: type) -> Callable[[Json], tuple[Any, ...]]:
    return lambda value: tuple(_record(kind, item) for item in value)


def _one(kind: type) -> Callable[[Json], Any]:
    return lambda value: None if value is None else _record(kind, value)


# How a field is read back where it is more than a plain value.
_READERS: dict[tuple[type, str], Callable[[Json], Any]] = {
    (Step, "nodes"): _many(Node),
    (Step, "path"): _ids,
    (Step, "accepted"): _many(Accepted),
    (Step, "candidates"): _many(Candidate),
    (Step, "window"): _one(WindowRecord),
    (Step, "pool"): _one(PoolRecord),
    (Step, "seconds"): _one(Seconds),
    (Node, "origins"): _many(Origin),
    (Node, "detail"): _one(Choice),
    (Accepted, "origin"): _one(Origin),
    (Candidate, "tokens"): _ids,
    (Candidate, "nodes"): _ids,
    (WindowRecord, "rows"): _optional_rows,
    (WindowRecord, "nodes"): _optional_rows,
    (WindowRecord, "new"): tuple,
    (WindowRecord, "refilled"): _optional_rows,
    (PoolRecord, "changes"): _many(PoolChange),
    (PoolChange, "tokens"): _ids,
}


def _record(kind: type, value: Mapping[str, Json]) -> Any:
    arguments: dict[str, Any] = {}
    for field in fields(kind):
        if field.name in value:
            read = _READERS.get((kind, field.name))
            arguments[field.name] = value[field.name] if read is None else read(value[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise SchemaError(f"its {kind.__name__.lower()} has no '{field.name}'")
    return kind(**arguments)
