"""Measurements of several ways of decoding, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import TYPE_CHECKING, Any

import typer

from lookahead_cli.cli.console import output_console, without_controls, writing_output

if TYPE_CHECKING:
    from lookahead_cli.cli.measuring.rounds import Measurement, Result
    from lookahead_cli.models.language_model import LanguageModel

_HEADINGS = ("S", "steps", "nodes\na step", "seconds", "tokens/s", "time\nratio", "ids\nequal")
_LEGEND = (
    "S, the compression ratio: all tokens / all steps. Seconds and tokens/s: after the first step, which "
    "reads the prompt. Time ratio: greedy's seconds a token / these, median over the prompts; above 1 is "
    "quicker than greedy."
)


def show_results(model: LanguageModel, results: Sequence[Result], tokens: int, *, json: bool) -> None:
    """Write the results to standard output.

    Args:
        model: The model.
        results: Greedy first.
        tokens: Most tokens of a run.
        json: True for JSON, else a table.
    """
    with writing_output():
        if json:
            from json import dumps

            typer.echo(dumps(as_json(model, results, tokens), indent=2))
        else:
            _print_table(model, results, tokens)


def _print_table(model: LanguageModel, results: Sequence[Result], tokens: int) -> None:
    from rich.table import Table

    count = len(results[0].measurements)
    table = Table(box=None, pad_edge=False)
    table.add_column("method and setting")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            result.way.words,
            f"{result.compression_ratio:.2f}",
            str(result.steps),
            f"{result.nodes_per_step:.1f}",
            f"{result.seconds:.1f}",
            "–" if (rate := result.tokens_per_second) is None else f"{rate.median:.1f}",
            "–" if (ratio := _time_ratio(result, results[0])) is None else f"{ratio:.2f}x",
            f"{result.equal} of {count}",
        )
    console = output_console()
    title = f"{model.name} · {model.dtype} · {model.device}"
    prompts = f"{count} prompt" if count == 1 else f"{count} prompts"
    console.print(without_controls(f"{title} · {prompts} · at most {tokens} tokens each"), style="bold")
    console.print(table)
    console.print(_LEGEND, style="dim")


def as_json(model: LanguageModel, results: Sequence[Result], tokens: int) -> dict[str, Any]:
    """The results as plain values."""
    return {
        "model": model.name,
        "dtype": model.dtype,
        "device": model.device,
        "results": [
            {
                "name": result.way.words,
                "config": {"method": result.way.method, **result.way.settings, "max_new_tokens": tokens},
                "compression_ratio": result.compression_ratio,
                "tokens": result.tokens,
                "steps": result.steps,
                "nodes_per_step": result.nodes_per_step,
                "seconds": result.seconds,
                "time_ratio": _time_ratio(result, results[0]),
                "ids_equal": result.equal,
                "prompts": [
                    _prompt_as_json(model, each, greedy)
                    for each, greedy in zip(result.measurements, results[0].measurements, strict=True)
                ],
            }
            for result in results
        ],
    }


def _time_ratio(result: Result, greedy: Result) -> float | None:
    ratios = result.prompt_speedups(greedy)
    return median(ratios) if ratios else None


def _prompt_as_json(model: LanguageModel, each: Measurement, greedy: Measurement) -> dict[str, Any]:
    difference = each.difference
    return {
        "prompt": each.prompt,
        "tokens": len(each.output_ids),
        "steps": each.steps,
        "compression_ratio": each.compression_ratio,
        "nodes": each.nodes,
        "seconds": each.seconds,
        "time_ratio": each.speedup(greedy),
        "ids_equal": each.ids_equal,
        "difference": None
        if difference is None
        else {
            "position": difference.position,
            "expected": difference.expected,
            "expected_text": token_text(model, difference.expected),
            "got": difference.got,
            "got_text": token_text(model, difference.got),
            "top_two_gap": difference.top_two_gap,
        },
    }


def token_text(model: LanguageModel, token: int | None) -> str | None:
    """The text of a token, None for no token."""
    return None if token is None else model.token_text(token).text
