"""Two processes on one text, on the default model: are the ids those of one process, and what does each feed?

`make parallel` runs it on 20 prompts; `make parallel PARALLEL="--processes 3 --prompts 5"` on others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.api import decode
from lookahead_cli.models.language_model import LanguageModel, load_model
from lookahead_cli.models.parallel.workers import start_ranks

ROOT = Path(__file__).parents[1]
LARGEST_SHARE = 0.65


def prompts_of(count: int) -> list[Path]:
    """So many prompts, of each kind alike."""
    files = sorted((ROOT / "tests" / "prompts").iterdir())
    kinds: dict[str, list[Path]] = {}
    for file in files:
        kinds.setdefault(file.name.split("-")[0], []).append(file)
    by_turns = [file for row in zip(*kinds.values(), strict=True) for file in row]
    return by_turns[:count]


def measure(
    together: LanguageModel, alone: LanguageModel, text: str, config: LookaheadConfig
) -> dict[str, Any]:
    """One prompt, on all ranks and on one."""
    runner: Any = together.step_runner
    before = runner.whole_nodes, list(runner.fed_nodes), list(runner.fed_again)
    steps = list(decode(together, text, config))
    one = list(decode(alone, text, config))
    ids = [[token for step in run for token in step.token_ids] for run in (steps, one)]
    whole = runner.whole_nodes - before[0]
    fed = [now - then for now, then in zip(runner.fed_nodes, before[1], strict=True)]
    again = [now - then for now, then in zip(runner.fed_again, before[2], strict=True)]
    return {
        "equal": ids[0] == ids[1] and len(steps) == len(one),
        "tokens": len(ids[0]),
        "steps": len(steps),
        "whole": whole,
        "fed": fed,
        "again": again,
        "seconds": sum(step.seconds.total for step in steps),
        "alone": sum(step.seconds.total for step in one),
    }


def main() -> int:
    """Print a line a prompt, and the means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--prompts", type=int, default=20)
    parser.add_argument("--tokens", type=int, default=64)
    asked = parser.parse_args()
    config = LookaheadConfig(max_new_tokens=asked.tokens)
    ranks = start_ranks(asked.processes)
    together = load_model("smollm2-135m", dtype="float32", ranks=ranks)
    alone = load_model("smollm2-135m", dtype="float32")
    rows = []
    print(f"{'prompt':<22} ids    tokens steps  nodes a step: whole, each rank (fed again)")
    for file in prompts_of(asked.prompts):
        row = measure(together, alone, file.read_text(encoding="utf-8"), config)
        rows.append(row)
        shares = "  ".join(
            f"{fed / row['steps']:5.1f} ({again / row['steps']:.2f})"
            for fed, again in zip(row["fed"], row["again"], strict=True)
        )
        same = "equal " if row["equal"] else "DIFFER"
        line = f"{row['tokens']:>6} {row['steps']:>5}  {row['whole'] / row['steps']:5.1f}  {shares}"
        print(f"{file.stem:<22} {same} {line}", flush=True)
    whole = sum(row["whole"] for row in rows)
    shares = [sum(row["fed"][rank] for row in rows) / whole for rank in range(asked.processes)]
    equal = sum(row["equal"] for row in rows)
    print(f"ids equal on {equal} of {len(rows)} prompts")
    print("nodes that each rank fed, of the whole: " + ", ".join(f"{share:.1%}" for share in shares))
    seconds, one = sum(row["seconds"] for row in rows), sum(row["alone"] for row in rows)
    print(f"decode seconds: {seconds:.1f} together, {one:.1f} in one process of as many threads as each had")
    ranks.end()
    wide = asked.processes == 2 and max(shares) > LARGEST_SHARE
    return int(equal < len(rows) or wide)


if __name__ == "__main__":
    sys.exit(main())
