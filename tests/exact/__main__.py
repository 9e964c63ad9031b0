"""`python -m tests.exact`: every exactness case at full size; stops and goes on where it was."""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.language_model import LanguageModel, load_model
from lookahead_cli.trace.events import Footer
from tests.exact import draws, families, tables

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / ".exact" / "results.jsonl"
SLICES = 8
Result = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Job:
    """One case: its key, the group whose figures are shown together, and how to run it."""

    table: str
    group: str
    key: str
    run: Callable[[], Result]


class DefaultModel:
    """The default model and its greedy texts, made when they are first asked for."""

    def __init__(self) -> None:
        self._texts: dict[tuple[Path, int], list[int]] = {}

    @cached_property
    def model(self) -> LanguageModel:
        return load_model("smollm2-135m", dtype="float32")

    def compare(self, case: tables.Case) -> Result:
        known = (case.prompt, case.tokens)
        if known not in self._texts:
            ids = tables.prompt_ids(self.model, case.prompt)
            self._texts[known] = tables.reference_ids(self.model, ids, case.tokens)
        footer = tables.run_case(self.model, case)
        return compare_ids(footer, self._texts[known])


class Gemma:
    """Gemma 3 270M past its sliding window."""

    @cached_property
    def model(self) -> LanguageModel:
        return load_model("gemma-3-270m", dtype="float32")

    @cached_property
    def prompt(self) -> tuple[int, ...]:
        return tuple(self.model.encode(tables.long_text())[: tables.GEMMA_PROMPT])

    @cached_property
    def expected(self) -> list[int]:
        return tables.reference_ids(self.model, self.prompt, tables.GEMMA_TOKENS)

    def compare(self, name: str) -> Result:
        config = LookaheadConfig(max_new_tokens=tables.GEMMA_TOKENS, **tables.GEMMA[name])
        footer = tables.run_ids(self.model, self.prompt, config)
        return compare_ids(footer, self.expected)


class HalfPrecision:
    """The default model in bfloat16, where a near tie may fall either way."""

    @cached_property
    def model(self) -> LanguageModel:
        return load_model("smollm2-135m", dtype="bfloat16")

    def compare(self, case: tables.Case) -> Result:
        footer = tables.run_case(self.model, case, greedy=True)
        greedy = footer.greedy
        assert greedy is not None
        gap = greedy.top_two_gap
        return {
            "equal": greedy.ids_equal or (gap is not None and gap < tables.ROUNDING),
            "tokens": len(footer.output_ids),
            "steps": footer.steps,
            "diverged": greedy.first_difference,
            "gap": gap,
        }


def all_jobs() -> list[Job]:
    default, gemma, half = DefaultModel(), Gemma(), HalfPrecision()
    jobs: list[Job] = []
    for table, cases in (("examples", tables.example_cases()), ("prompts", tables.method_cases())):
        jobs += [Job(table, case.name, case.key, lambda case=case: default.compare(case)) for case in cases]
    jobs += [
        Job("families", case.family, case.key, lambda case=case: compare_family(case))
        for case in families.all_family_cases()
    ]
    jobs += [
        Job("gemma", name, f"gemma {name}", lambda name=name: gemma.compare(name)) for name in tables.GEMMA
    ]
    jobs += [
        Job("bfloat16", case.name, f"bfloat16 {case.key}", lambda case=case: half.compare(case))
        for case in tables.method_cases()
        if case.name == "lookahead"
    ]
    jobs += [
        Job("sampling", method, f"sampling {method}", lambda method=method: compare_draws(method))
        for method in draws.METHODS
    ]
    return jobs


def compare_ids(footer: Footer, expected: Sequence[int]) -> Result:
    return {
        "equal": list(footer.output_ids) == list(expected),
        "tokens": len(footer.output_ids),
        "steps": footer.steps,
    }


def compare_family(case: families.FamilyCase) -> Result:
    different = list(families.differing_corners(case))
    return {"equal": not different, "different": different, "corners": len(families.CORNERS)}


def compare_draws(method: str) -> Result:
    p = draws.p_value(method, draws.FULL)
    return {"equal": p > draws.LEVEL, "p": p, "draws": draws.FULL}


def sources_hash() -> str:
    """Changes when anything does that could change a result; screens and commands cannot."""
    digest = hashlib.sha256()
    folders = ("lookahead_cli/decoding", "lookahead_cli/models", "tests/exact")
    for folder, pattern in (
        *((folder, "*.py") for folder in folders),
        ("examples", "*"),
        ("tests/prompts", "*"),
    ):
        for path in sorted((ROOT / folder).rglob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def chosen(jobs: Sequence[Job], table: str, part: str) -> list[Job]:
    """The jobs of a table, and of a slice: every eighth of each, so that each slice has some of all."""
    jobs = [job for job in jobs if table in ("all", job.table)]
    if part == "all":
        return jobs
    number = date.today().toordinal() if part == "auto" else int(part) - 1
    return jobs[number % SLICES :: SLICES]


def show(jobs: Sequence[Job], known: Mapping[str, Result]) -> int:
    """Print the figures of each group; the number of cases that differ."""
    for table, group in dict.fromkeys((job.table, job.group) for job in jobs):
        rows = [
            known[job.key] for job in jobs if (job.table, job.group) == (table, group) if job.key in known
        ]
        if not rows:
            continue
        line = f"{table}, {group}: {sum(row['equal'] for row in rows)} of {len(rows)} equal"
        if "steps" in rows[0]:
            ratio = sum(row["tokens"] for row in rows) / sum(row["steps"] for row in rows)
            line += f", S {ratio:.2f}"
        if "gap" in rows[0]:
            gaps = sorted(row["gap"] for row in rows if row["gap"] is not None)
            line += f" or at a near tie; {len(gaps)} left greedy, at gaps of " + (
                ", ".join(f"{gap:.3f}" for gap in gaps) or "none"
            )
        if "p" in rows[0]:
            line += f", p = {rows[0]['p']:.3g} over {rows[0]['draws']} texts"
        print(line)
    done = [known[job.key] for job in jobs if job.key in known]
    different = sum(not row["equal"] for row in done)
    left = len(jobs) - len(done)
    print(f"exactness: {len(done) - different} equal, {different} different, {left} left")
    return different


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    names = ("all", *dict.fromkeys(job.table for job in all_jobs()))
    parser.add_argument("--table", default="all", choices=names)
    parser.add_argument("--slice", default="all", help=f"all, 1..{SLICES}, or auto: another one each day")
    parser.add_argument("--minutes", type=float, default=0, help="start no new case after so many minutes")
    arguments = parser.parse_args()
    jobs = chosen(all_jobs(), arguments.table, arguments.slice)
    version = sources_hash()
    RESULTS.parent.mkdir(exist_ok=True)
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    known = {entry["key"]: entry for entry in map(json.loads, lines) if entry["version"] == version}
    missing = [job for job in jobs if job.key not in known]
    console = Console(stderr=True)
    console.print(f"{len(jobs)} cases, {len(jobs) - len(missing)} done before")
    started = time.monotonic()
    with RESULTS.open("a") as stream:
        for job in track(missing, "exactness", console=console):
            if arguments.minutes and time.monotonic() - started > 60 * arguments.minutes:
                break
            entry = {"version": version, "key": job.key, **job.run()}
            stream.write(json.dumps(entry) + "\n")
            stream.flush()
            known[job.key] = entry
            if not entry["equal"]:
                console.print(f"DIFFERENT: {job.key} {entry}", style="bold red")
    return 6 if show(jobs, known) else 0


if __name__ == "__main__":
    sys.exit(main())
