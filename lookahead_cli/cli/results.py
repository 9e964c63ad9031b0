"""Measurements of several ways of decoding, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

from lookahead_cli.cli.console import output_console, without_controls, writing_output
from lookahead_cli.trace.settings import settings_words

if TYPE_CHECKING:
    from lookahead_cli.cli.benchmark import Measurement, Result
    from lookahead_cli.models.language_model import LanguageModel

_HEADINGS = ("S", "steps", "nodes\na step", "seconds", "tokens/s", "time\nratio", "ids\nequal")
_LEGEND = (
    "S, the compression ratio: all tokens / all steps. Time ratio: greedy's decode seconds / these, "
    "median over the prompts; above 1 is quicker than greedy."
)


def show_results(model: LanguageModel, results: Sequence[Result], *, json: bool) -> None:
    """Write the results to standard output."""
    with writing_output():
        if json:
            from json import dumps

            typer.echo(dumps(as_json(model, results), indent=2))
        else:
            _print_table(model, results)


def _print_table(model: LanguageModel, results: Sequence[Result]) -> None:
    from rich.table import Table

    count = len(results[0].measurements)
    table = Table(box=None, pad_edge=False)
    table.add_column("method and setting")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            settings_words(result.config.as_mapping()),
            f"{result.compression_ratio:.2f}",
            str(result.steps),
            f"{result.nodes_per_step:.1f}",
            f"{result.seconds:.1f}",
            f"{result.tokens / result.seconds:.1f}",
            f"{result.time_ratio:.2f}x",
            f"{result.equal} of {count}",
        )
    console = output_console()
    title = f"{model.name} · {model.dtype} · {model.device}"
    tokens = results[0].config.max_new_tokens
    prompts = f"{count} prompt" if count == 1 else f"{count} prompts"
    console.print(without_controls(f"{title} · {prompts} · at most {tokens} tokens each"), style="bold")
    console.print(table)
    console.print(_LEGEND, style="dim")


def as_json(model: LanguageModel, results: Sequence[Result]) -> dict[str, Any]:
    """The results as plain values."""
    return {
        "model": model.name,
        "dtype": model.dtype,
        "device": model.device,
        "results": [
            {
                "name": settings_words(result.config.as_mapping()),
                "config": dict(result.config.as_mapping()),
                "compression_ratio": result.compression_ratio,
                "tokens": result.tokens,
                "steps": result.steps,
                "nodes_per_step": result.nodes_per_step,
                "seconds": result.seconds,
                "time_ratio": result.time_ratio,
                "ids_equal": result.equal,
                "prompts": [_prompt_as_json(model, each) for each in result.measurements],
            }
            for result in results
        ],
    }


def _prompt_as_json(model: LanguageModel, each: Measurement) -> dict[str, Any]:
    difference = each.difference
    return {
        "prompt": each.prompt,
        "tokens": len(each.output_ids),
        "steps": each.steps,
        "compression_ratio": each.compression_ratio,
        "nodes": each.nodes,
        "seconds": each.seconds,
        "time_ratio": each.time_ratio,
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
