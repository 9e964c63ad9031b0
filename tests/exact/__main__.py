"""`python -m tests.exact`: every exactness case at full size; stops and goes on where it was."""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import time
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.progress import track

from lookahead_cli.models.language_model import load_model
from tests.exact.tables import SETTINGS, all_cases, prompt_ids, reference_ids, run_case

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / ".exact" / "results.jsonl"
SLICES = 4


def sources_hash() -> str:
    """Changes when anything does that could change a result; screens and commands cannot."""
    digest = hashlib.sha256()
    folders = ("lookahead_cli/decoding", "lookahead_cli/models", "tests/exact")
    for folder, pattern in (*((folder, "*.py") for folder in folders), ("examples", "*")):
        for path in sorted((ROOT / folder).rglob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--slice", default="all", help=f"all, 1..{SLICES}, or auto: another one each day")
    parser.add_argument("--minutes", type=float, default=0, help="start no new case after so many minutes")
    arguments = parser.parse_args()
    cases = all_cases(arguments.tokens)
    if arguments.slice != "all":
        number = date.today().toordinal() if arguments.slice == "auto" else int(arguments.slice) - 1
        prompts = sorted({case.prompt for case in cases})[number % SLICES :: SLICES]
        cases = [case for case in cases if case.prompt in prompts]
    version = sources_hash()
    RESULTS.parent.mkdir(exist_ok=True)
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    known = {entry["key"]: entry for entry in map(json.loads, lines) if entry["version"] == version}
    missing = [case for case in cases if case.key not in known]
    console = Console(stderr=True)
    console.print(f"{len(cases)} cases, {len(cases) - len(missing)} done before")
    references: dict[Path, list[int]] = {}
    started = time.monotonic()
    model = load_model("smollm2-135m", dtype="float32") if missing else None
    with RESULTS.open("a") as stream:
        for case in track(missing, "exactness", console=console):
            if arguments.minutes and time.monotonic() - started > 60 * arguments.minutes:
                break
            assert model is not None
            if case.prompt not in references:
                ids = prompt_ids(model, case.prompt)
                references[case.prompt] = reference_ids(model, ids, case.tokens)
            footer = run_case(model, case)
            entry = {
                "version": version,
                "key": case.key,
                "setting": case.setting,
                "equal": list(footer.output_ids) == references[case.prompt],
                "tokens": len(footer.output_ids),
                "steps": footer.steps,
            }
            stream.write(json.dumps(entry) + "\n")
            stream.flush()
            known[case.key] = entry
            if not entry["equal"]:
                console.print(f"DIFFERENT: {case.key}", style="bold red")
    done = [known[case.key] for case in cases if case.key in known]
    for setting in SETTINGS:
        rows = [entry for entry in done if tuple(entry["setting"]) == setting]
        if rows:
            ratio = sum(row["tokens"] for row in rows) / sum(row["steps"] for row in rows)
            middle = statistics.median(row["tokens"] / row["steps"] for row in rows)
            equal = sum(row["equal"] for row in rows)
            print(
                f"W,N,G {setting}: {equal} of {len(rows)} equal, S {ratio:.2f} over all, median {middle:.2f}"
            )
    different = [entry["key"] for entry in done if not entry["equal"]]
    print(
        f"exactness: {len(done) - len(different)} equal, {len(different)} different, "
        f"{len(cases) - len(done)} left"
    )
    return 6 if different else 0


if __name__ == "__main__":
    sys.exit(main())
