"""A benchmark's rows as a picture: how quick each way is, and how that differs between prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lookahead_cli.cli.measuring.machine import machine_words
from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.trace.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = (".svg", ".png")
_OURS, _GREEDY, _PEER = "#0072b2", "#56a4d4", "#8a8a8a"
_INK, _FAINT = "#222222", "#d9d9d9"


def check_plot(path: Path | None) -> None:
    """Refuse a picture that could not be drawn, before anything is measured.

    Raises:
        UsageError: It is of another kind, or matplotlib is not installed.
    """
    if path is None:
        return
    if path.suffix.lower() not in _KINDS:
        raise UsageError(
            f"'{path}' is no picture that --plot makes.", "Name a file that ends in .svg or .png."
        )
    if find_spec("matplotlib") is None:
        raise UsageError("--plot needs the package matplotlib.", "Install it: pip install matplotlib")


def draw_plot(report: Mapping[str, Any], path: Path) -> None:
    """Draw the rows into a file.

    Args:
        report: What was measured.
        path: An .svg or a .png.

    Raises:
        InputError: The file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    rows = report["rows"]
    # Text stays text, so that a person finds it in the picture, and the picture is the same each time.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "lookahead", "font.size": 10}):
        figure = Figure(figsize=(11, 2.2 + 0.5 * len(rows)), layout="constrained", facecolor="white")
        speeds, prompts = figure.subplots(1, 2, sharey=True)
        _draw_speeds(speeds, rows)
        _draw_prompts(prompts, rows)
        first = rows[0]
        figure.suptitle(
            f"{report['model']} · {first['dtype']} · {counted(first['prompts'], 'prompt')}"
            f" · at most {report['max_new_tokens']} tokens each · {counted(first['rounds'], 'round')}"
            f"\n{machine_words(report['machine'])}",
            fontsize=10,
            color=_INK,
        )
        try:
            figure.savefig(path, dpi=160, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)
        except OSError as error:
            raise InputError(
                f"'{path}' cannot be written ({error.strerror}).", "Name a file in another folder."
            ) from error


def _draw_speeds(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """A bar a way: tokens a second, the least and the most of the rounds, S beside it."""
    for place, row in enumerate(rows):
        rate = row["tokens_per_second"]
        if rate is None:
            continue
        least, most = row["tokens_per_second_range"]
        axes.barh(place, rate, height=0.62, color=_colour(row))
        axes.plot([least, most], [place, place], color=_INK, linewidth=1.5, marker="|", markersize=7)
        axes.annotate(
            f"{rate:.1f} · S {row['compression_ratio']:.2f}",
            (max(rate, most), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=_INK,
        )
    axes.set_yticks(range(len(rows)), [row["name"] for row in rows])
    axes.invert_yaxis()
    axes.margins(x=0.3)
    axes.set_xlim(left=0)
    axes.set_xlabel("tokens a second, median of the rounds\nline: from the least round to the most")
    _tidy(axes)


def _draw_prompts(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    """A dot a prompt: how many times quicker than greedy decoding, transformers' own where it ran."""
    with_peers = any(row["speedup_vs_transformers_greedy"] is not None for row in rows)
    key = "speedup_vs_transformers_greedy" if with_peers else "speedup_vs_greedy"
    for place, row in enumerate(rows):
        ratios = [each[key] for each in row["by_prompt"] if each[key] is not None]
        axes.plot(
            ratios,
            [place] * len(ratios),
            linestyle="none",
            marker="o",
            markersize=7,
            markerfacecolor=_colour(row),
            markeredgecolor="white",
            alpha=0.8,
        )
        if row[key] is not None:
            axes.plot([row[key]] * 2, [place - 0.3, place + 0.3], color=_INK, linewidth=2)
    axes.axvline(1, color=_INK, linewidth=1, linestyle=":")
    axes.set_xlim(left=0)
    whose = "transformers' greedy decoding" if with_peers else "greedy decoding"
    axes.set_xlabel(f"times quicker than {whose}\na dot: a prompt; the line: all of them")
    _tidy(axes)


def _colour(row: Mapping[str, Any]) -> str:
    if row["method"].startswith("transformers-"):
        return _PEER
    return _GREEDY if row["method"] == "greedy" else _OURS


def _tidy(axes: Axes) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color=_FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
