"""A benchmark's rows as a table on the terminal, as Markdown and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lookahead_cli.cli.console import output_console, without_controls
from lookahead_cli.cli.measuring.machine import machine_words
from lookahead_cli.cli.measuring.ways import PHASES
from lookahead_cli.trace.words import counted

Row = Mapping[str, Any]
_LEGEND = (
    "S, the compression ratio: all tokens / all steps. tok/s: tokens a second after the first step, the "
    "median of the rounds. ×: how many times quicker, than greedy decoding here, and than greedy decoding "
    "and prompt lookup of transformers (tf) itself. worst: the least of the prompts against tf greedy."
)


def print_table(report: Mapping[str, Any]) -> None:
    """Print the rows, for people."""
    from rich.table import Table

    rows = report["rows"]
    with_peers = any(row["speedup_vs_transformers_greedy"] is not None for row in rows)
    console = output_console()
    speeds, steps = (Table(box=None, pad_edge=False, collapse_padding=True) for _ in range(2))
    columns: list[tuple[str, Callable[[Row], str]]] = [
        ("S", lambda row: f"{row['compression_ratio']:.2f}"),
        ("nodes\n/step", lambda row: f"{row['nodes_per_step']:.1f}"),
        ("tok/s", lambda row: _number(row["tokens_per_second"], 1)),
        ("×\ngreedy", lambda row: _number(row["speedup_vs_greedy"])),
    ]
    if with_peers:
        columns += [
            ("× tf\ngreedy", lambda row: _number(row["speedup_vs_transformers_greedy"])),
            ("× tf\nlookup", lambda row: _number(row["speedup_vs_transformers_prompt_lookup"])),
            ("worst", lambda row: _number(row["worst_prompt_speedup"])),
        ]
    columns.append(("ids\nequal", lambda row: f"{row['prompts_with_equal_ids']} of {row['prompts']}"))
    _fill(speeds, rows, columns)
    _fill(
        steps,
        rows,
        [
            ("tok/s\nleast–most", _range),
            ("first\ntoken", lambda row: f"{row['first_token_seconds']:.2f} s"),
            ("peak\nmemory", lambda row: f"{row['peak_memory_bytes'] / 1e9:.2f} GB"),
            ("step, ms: propose · forward\nreadout · verify · commit", _phases),
        ],
    )
    first = rows[0]
    console.print(
        without_controls(
            f"{report['model']} · {first['dtype']} · {counted(first['prompts'], 'prompt')}"
            f" · at most {report['max_new_tokens']} tokens each · {counted(first['rounds'], 'round')}"
        ),
        style="bold",
    )
    console.print(without_controls(machine_words(report["machine"])), style="dim")
    for table in (speeds, steps):
        console.print()
        console.print(table)
    console.print()
    console.print(_LEGEND, style="dim")


def as_markdown(report: Mapping[str, Any]) -> str:
    """The rows as a Markdown table, with what was measured above it."""
    rows = report["rows"]
    columns = (
        "method and settings", "S", "nodes a step", "tokens/s", "× greedy", "× transformers greedy",
        "× transformers prompt lookup", "worst prompt", "ids equal",
    )  # fmt: skip
    lines = [
        f"{report['model']}, {rows[0]['dtype']}, {counted(rows[0]['prompts'], 'prompt')}, at most "
        f"{report['max_new_tokens']} tokens each, {counted(rows[0]['rounds'], 'round')}; "
        f"{machine_words(report['machine'])}.",
        "",
        f"| {' | '.join(columns)} |",
        f"|---|{'---:|' * (len(columns) - 1)}",
    ]
    for row in rows:
        cells = (
            row["name"],
            f"{row['compression_ratio']:.2f}",
            f"{row['nodes_per_step']:.1f}",
            f"{_number(row['tokens_per_second'], 1)} ({_range(row)})",
            _number(row["speedup_vs_greedy"]),
            _number(row["speedup_vs_transformers_greedy"]),
            _number(row["speedup_vs_transformers_prompt_lookup"]),
            _number(row["worst_prompt_speedup"]),
            f"{row['prompts_with_equal_ids']} of {row['prompts']}",
        )
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(lines)


def as_csv(report: Mapping[str, Any]) -> str:
    """The rows as CSV, a column a figure; what is a list or a mapping is spread over columns."""
    import csv
    import io

    flat = [_flat(row) for row in report["rows"]]
    names = list(dict.fromkeys(name for row in flat for name in row))
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return stream.getvalue().rstrip("\n")


def _flat(row: Row) -> dict[str, Any]:
    plain = {
        name: value
        for name, value in row.items()
        if not (isinstance(value, list | dict) or name.endswith("_range"))
    }
    limits = {
        f"{name.removesuffix('_range')}_{word}": value
        for name in row
        if name.endswith("_range")
        for word, value in zip(("least", "most"), row[name] or (None, None), strict=True)
    }
    phases = {f"{phase}_milliseconds": row["step_milliseconds"].get(phase) for phase in PHASES}
    settings = " ".join(f"{name}={_plain(value)}" for name, value in row["settings"].items())
    return {
        "method": plain.pop("method"),
        "settings": settings,
        **plain,
        **limits,
        **phases,
    }


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _fill(table: Any, rows: list[Row], columns: list[tuple[str, Callable[[Row], str]]]) -> None:
    table.add_column("method and setting", overflow="fold")
    for heading, _ in columns:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        name = row["name"].replace("transformers-", "tf ")
        table.add_row(without_controls(name), *(cell(row) for _, cell in columns))


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _range(row: Row) -> str:
    limits = row["tokens_per_second_range"]
    return "–" if limits is None else f"{limits[0]:.1f}–{limits[1]:.1f}"


def _phases(row: Row) -> str:
    phases = row["step_milliseconds"]
    return " · ".join(f"{phases[phase]:.1f}" for phase in PHASES) if phases else "–"
