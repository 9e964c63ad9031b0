"""The last measurement of its kind on this kind of machine, kept to compare the next one with."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookahead_cli.cli.measuring.machine import machine_key
from lookahead_cli.locations import data_folder


def path_of(report: Mapping[str, Any]) -> Path:
    """Where a measurement is kept: a file for each kind of machine and each thing measured."""
    first = report["rows"][0]
    measured = (
        report["model"],
        first["dtype"],
        report["max_new_tokens"],
        [each["prompt"] for each in first["by_prompt"]],
    )
    name = hashlib.sha256(repr(measured).encode()).hexdigest()[:12]
    return data_folder() / "benchmarks" / machine_key(report["machine"]) / f"{name}.json"


def last_report(report: Mapping[str, Any]) -> dict[str, Any] | None:
    """The measurement that was kept, None where there is none that can be read."""
    try:
        content = json.loads(path_of(report).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) and isinstance(content.get("rows"), list) else None


def keep(report: Mapping[str, Any]) -> Path:
    """Keep a measurement in place of the one before.

    Returns:
        Where it is.

    Raises:
        OSError: It cannot be written.
    """
    path = path_of(report)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".partial")
    beside.write_text(json.dumps(report, indent=2), encoding="utf-8")
    beside.replace(path)
    return path


def differences(report: Mapping[str, Any], last: Mapping[str, Any]) -> list[str]:
    """A line for each way that was measured both times.

    Args:
        report: What was measured now.
        last: What was measured then.
    """
    then = {row["name"]: row for row in last["rows"]}
    return [_difference(row, then[row["name"]]) for row in report["rows"] if row["name"] in then]


def _difference(now: Mapping[str, Any], then: Mapping[str, Any]) -> str:
    parts = [_speeds(now, then)]
    if round(now["compression_ratio"], 2) != round(then["compression_ratio"], 2):
        parts.append(f"S {now['compression_ratio']:.2f}, then {then['compression_ratio']:.2f}")
    if now["ids_equal"] != then["ids_equal"]:
        parts.append(f"ids {_equal(now)}, then {_equal(then)}")
    return f"{now['name']}: {'; '.join(parts)}"


def _speeds(now: Mapping[str, Any], then: Mapping[str, Any]) -> str:
    """Both speeds, and whether the change counts.

    Where transformers ran beside both, the ratio to its greedy decoding tells: other work slows both down.
    """
    rate = _change(now, then, "tokens_per_second", "{:.1f} tokens/s")
    if rate is None:
        return "no speed to compare"
    ratio = None
    if not now["method"].startswith("transformers-"):
        ratio = _change(now, then, "speedup_vs_transformers_greedy", "{:.2f} × transformers' greedy")
    telling = "tokens_per_second" if ratio is None else "speedup_vs_transformers_greedy"
    return f"{'; '.join(filter(None, (rate, ratio)))}, {_judgement(now, then, telling)}"


def _change(now: Mapping[str, Any], then: Mapping[str, Any], key: str, form: str) -> str | None:
    value, before = now[key], then[key]
    if value is None or before is None:
        return None
    first, _, unit = form.partition(" ")
    return f"{first.format(value)} {unit}, then {first.format(before)} ({100 * (value / before - 1):+.0f} %)"


def _judgement(now: Mapping[str, Any], then: Mapping[str, Any], key: str) -> str:
    if now["rounds"] == 1 or then["rounds"] == 1:
        return "one round, so no spread to judge by"
    (least, most), (least_before, most_before) = now[f"{key}_range"], then[f"{key}_range"]
    if least > most_before:
        return "QUICKER beyond the spread"
    return "SLOWER beyond the spread" if most < least_before else "within the spread"


def _equal(row: Mapping[str, Any]) -> str:
    return "equal" if row["ids_equal"] else "not all equal"
