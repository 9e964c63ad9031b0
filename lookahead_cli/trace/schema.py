"""Events as JSON lines and back; schema 1.

A step's nested records are written field by field under their own names, so a reader needs nothing but
`records.py`. Fields that this version does not know are kept in `extra` and written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import msgspec

from lookahead_cli.decoding.records import Step
from lookahead_cli.trace.events import Footer, GreedyRun, Header, StepEvent, TokenText

SCHEMA = 1

Json = Any

# Steps are nearly all of a trace, and read straight into their records; a trace of thousands opens at once.
_FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STEP = msgspec.json.Decoder(Step)
_STEP_FIELDS = frozenset(field.name for field in fields(Step)) | {"type", "tokens"}


class SchemaError(ValueError):
    """A line that is JSON but no event."""


class NewerSchemaError(SchemaError):
    """A header of a schema that is not known yet."""


def to_json(event: Header | StepEvent | Footer) -> dict[str, Json]:
    """The object that stands for an event on its line."""
    if isinstance(event, Header):
        return {"type": "header", "schema": SCHEMA, **_plain(event)}
    if isinstance(event, StepEvent):
        step = {key: value for key, value in msgspec.to_builtins(event.step).items() if value is not None}
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


def from_line(line: str) -> Header | StepEvent | Footer | None:
    """The event of a line, None for a type that this version does not know.

    Raises:
        SchemaError: The line is not JSON, or not an event of a schema that can be read.
    """
    try:
        raw = _FIELDS.decode(line)
    except msgspec.ValidationError as error:
        raise SchemaError("there is no event in it") from error
    except msgspec.DecodeError:
        line, raw = _without_surrogates(line)
    kind = json.loads(bytes(raw["type"])) if "type" in raw else None
    try:
        match kind:
            case "header":
                return _header(_body(line))
            case "step":
                return _step_event(line, raw)
            case "footer":
                return _footer(_body(line))
            case str():
                return None
            case _:
                raise SchemaError("there is no event in it")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, SchemaError):
            raise
        lacking = f", for it has no {error}" if isinstance(error, KeyError) else ""
        why = f" ({error})" if isinstance(error, msgspec.ValidationError) else lacking
        raise SchemaError(f"its {kind} cannot be read{why}") from error


def _without_surrogates(line: str) -> tuple[str, dict[str, msgspec.Raw]]:
    """A line that is JSON but for half characters, which become question marks, and its fields.

    Raises:
        SchemaError: It is not JSON.
    """
    try:
        line = json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace").decode()
        return line, _FIELDS.decode(line)
    except (json.JSONDecodeError, msgspec.DecodeError) as error:
        raise SchemaError("it is not JSON") from error


def _body(line: str) -> dict[str, Json]:
    return {key: value for key, value in json.loads(line).items() if key != "type"}


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
        body["greedy"] = msgspec.convert(body["greedy"], GreedyRun)
    return Footer(**_with_extra(Footer, body))


def _step_event(line: str, raw: Mapping[str, msgspec.Raw]) -> StepEvent:
    tokens = _tokens(json.loads(bytes(raw["tokens"]))) if "tokens" in raw else {}
    extra = {key: json.loads(bytes(value)) for key, value in raw.items() if key not in _STEP_FIELDS}
    return StepEvent(_STEP.decode(line), tokens, extra)


def _with_extra(kind: type, body: dict[str, Json]) -> dict[str, Json]:
    known = {field.name for field in fields(kind)}
    unknown = {key: value for key, value in body.items() if key not in known}
    return {key: value for key, value in body.items() if key in known} | {"extra": unknown}


def _ids(value: Json) -> tuple[int, ...]:
    return tuple(int(token) for token in value)
