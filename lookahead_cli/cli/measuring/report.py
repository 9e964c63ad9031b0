"""A benchmark's figures as plain values: what every output of `bench` is made from."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lookahead_cli.cli.measuring.machine import describe_machine

if TYPE_CHECKING:
    from lookahead_cli.cli.measuring.matrix import Outcome
    from lookahead_cli.cli.measuring.rounds import Measurement, Result, Spread

_PEERS = {
    "speedup_vs_transformers_greedy": "transformers-greedy",
    "speedup_vs_transformers_prompt_lookup": "transformers-prompt-lookup",
}


def report_of(outcome: Outcome) -> dict[str, Any]:
    """The machine, the model, and a row for each way."""
    model, results = outcome.model, outcome.results
    return {
        "machine": describe_machine(model.device),
        "rows": [_row(result, results, model.dtype) for result in results],
        "model": model.name,
        "device": model.device,
        "max_new_tokens": outcome.plan.max_new_tokens,
        "finished": outcome.finished,
        "measured_at": time.strftime("%Y-%m-%d %H:%M", time.localtime()),
    }


def _row(result: Result, results: Sequence[Result], dtype: str) -> dict[str, Any]:
    rate = result.tokens_per_second
    by_method = {each.way.method: each for each in results}
    peers = {name: by_method.get(method) for name, method in _PEERS.items()}
    reference = peers["speedup_vs_transformers_greedy"]
    prompt_speedups = [] if reference is None else result.prompt_speedups(reference)
    row: dict[str, Any] = {
        "method": result.way.method,
        "settings": {key: value for key, value in result.way.settings.items() if key != "max_new_tokens"},
        "dtype": dtype,
        "prompts": len(result.measurements),
        "tokens": result.tokens,
        "compression_ratio": result.compression_ratio,
        "nodes_per_step": result.nodes_per_step,
        "tokens_per_second": _middle(rate),
        "speedup_vs_greedy": _middle(result.speedup(results[0])),
        **{name: None if peer is None else _middle(result.speedup(peer)) for name, peer in peers.items()},
        "worst_prompt_speedup": min(prompt_speedups, default=None),
        "ids_equal": result.equal == len(result.measurements),
        "name": result.way.words,
        "prompts_with_equal_ids": result.equal,
        "rounds": result.rounds,
        "steps": result.steps,
        "seconds": result.seconds,
        "tokens_per_second_range": _limits(rate),
        "speedup_vs_greedy_range": _limits(result.speedup(results[0])),
        **{
            f"{name}_range": None if peer is None else _limits(result.speedup(peer))
            for name, peer in peers.items()
        },
        "first_token_seconds": result.first_seconds,
        "step_milliseconds": result.phase_milliseconds,
        "peak_memory_bytes": result.peak_bytes,
    }
    references = (results[0], *peers.values())
    row["by_prompt"] = [
        _prompt(each, [None if one is None else one.measurements[index] for one in references])
        for index, each in enumerate(result.measurements)
    ]
    return row


def _prompt(each: Measurement, references: Sequence[Measurement | None]) -> dict[str, Any]:
    names = ("speedup_vs_greedy", *_PEERS)
    difference = each.difference
    return {
        "prompt": each.prompt,
        "tokens": len(each.output_ids),
        "steps": each.steps,
        "compression_ratio": each.compression_ratio,
        "nodes": each.nodes,
        "seconds": [run.seconds for run in each.runs],
        "first_token_seconds": [run.first_seconds for run in each.runs],
        **{
            name: None if reference is None else each.speedup(reference)
            for name, reference in zip(names, references, strict=True)
        },
        "ids_equal": each.ids_equal,
        "first_difference": None if difference is None else difference.position,
        "top_two_gap": None if difference is None else difference.top_two_gap,
    }


def _limits(spread: Spread | None) -> list[float] | None:
    return None if spread is None else [spread.least, spread.most]


def _middle(spread: Spread | None) -> float | None:
    return None if spread is None else spread.median
