"""The race without a screen: the lanes' figures as a table. And recordings as rivals of a recording."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.cli.console import StderrProgress, output_console, without_controls, writing_output
from lookahead_cli.errors import ExitCode, InputError, UsageError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent
from lookahead_cli.trace.settings import settings_words

if TYPE_CHECKING:
    from lookahead_cli.cli.output import View
    from lookahead_cli.tui.race.lanes import Lane, Race
    from lookahead_cli.tui.run_view import RunView
    from lookahead_cli.tui.source import Rival, RunSource

_HEADINGS = ("S", "steps", "nodes\na step", "seconds", "steps\nratio", "time\nratio", "ids\nequal")
_LEGEND = (
    "S, the compression ratio: tokens / steps. Steps and time ratio: {0}'s steps and {0}'s decode seconds, "
    "divided by the lane's."
)


def check_race(asked: bool, view: View) -> None:
    """Refuse a race that would go nowhere.

    Raises:
        UsageError: JSON lines hold one run.
    """
    if asked and view == "json":
        raise UsageError(
            "--json writes one run, and a race has several.",
            "'lookahead compare --json' measures methods and settings beside greedy.",
        )


def recorded_rivals(trace: str, others: Sequence[str]) -> list[Rival]:
    """Other recordings of the prompt that a trace has.

    Raises:
        InputError: One is no trace, or one of another prompt or another model; names the file.
        UsageError: A trace is on standard input, which cannot be looked at twice.
    """
    from lookahead_cli.tui.source import Rival, TraceSource

    if not others:
        return []
    if "-" in (trace, *others):
        raise UsageError("A race needs files, not standard input.", "Save the trace to a file first.")
    own = _header(trace)
    rivals = []
    for file in others:
        header = _header(file)
        if header.model != own.model:
            raise InputError(
                f"'{file}' is a run of {header.model}, '{trace}' one of {own.model}.",
                "A race is between runs of one model.",
            )
        if header.prompt_ids != own.prompt_ids:
            raise InputError(
                f"'{file}' and '{trace}' have different prompts.", "A race is between runs of one prompt."
            )
        # Two machines or number types are no fair race, but one that can be wanted: the lane says so.
        kinds = [
            theirs
            for theirs, ours in ((header.dtype, own.dtype), (header.device, own.device))
            if theirs != ours
        ]
        name = " · ".join((settings_words(header.config), *kinds))
        rivals.append(Rival(str(header.config.get("method", "")), name, TraceSource.named(file), file))
    return rivals


def _header(file: str) -> Header:
    from lookahead_cli.trace.reader import read_trace

    header = next(iter(read_trace(Path(file))))
    assert isinstance(header, Header)
    return header


def race_as_lines(source: RunSource) -> ExitCode:
    """Measure every lane, one after another, and print what the race shows.

    Raises:
        LookaheadError: A lane cannot be measured, there is nobody to race with, or standard output cannot be
            written.
    """
    from lookahead_cli.cli.output import interrupt_sets, warn
    from lookahead_cli.tui.race.lanes import Race
    from lookahead_cli.tui.run_view import RunView

    cancel = threading.Event()
    view = RunView()
    doing = "reading" if source.recorded else "measuring"
    with StderrProgress() as progress, ExitStack() as stack:
        for event in source.events(cancel, progress):
            if isinstance(event, Header):
                # From here on the first Ctrl+C stops the race within one step.
                stack.enter_context(interrupt_sets(cancel))
            _take(view, event, progress, doing)
        assert view.header is not None
        name = settings_words(view.header.config)
        race = Race(view, name, source.rivals(), recorded=source.recorded, kept={})
        while (lane := race.current) is not None and not cancel.is_set():
            assert lane.rival is not None
            for event in lane.rival.source.events(cancel, progress):
                _take(lane.view, event, progress, doing)
    warn(source)
    if cancel.is_set():
        return ExitCode.INTERRUPTED
    print_race(race)
    return exit_code_of(race)


def exit_code_of(race: Race) -> ExitCode:
    """Ids that differ in float32 are a failure; recordings are only shown again, and cannot fail."""
    wrong = not race.recorded and any(result.mismatch for result in race.results())
    return ExitCode.MISMATCH if wrong else ExitCode.OK


def _take(view: RunView, event: Header | StepEvent | Footer, report: StderrProgress, doing: str) -> None:
    """Take an event of a lane in, and say how far it is."""
    view.take(event)
    if view.header is not None and isinstance(event, StepEvent):
        name = settings_words(view.header.config)
        report(Progress(f"{doing} {name}", view.emitted, view.setting("max_new_tokens"), "tokens"))


def print_race(race: Race) -> None:
    """Print the lanes' figures, and what they show, to standard output."""
    from rich.table import Table

    from lookahead_cli.tui.race.panels import result_texts

    results = race.results()
    reference = race.reference
    table = Table(box=None, pad_edge=False)
    table.add_column("lane", no_wrap=True)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    ratios = {result.name: result for result in results}
    for lane in race.lanes:
        result = None if lane is reference else ratios.get(lane.name)
        time = None if result is None else result.time_ratio
        table.add_row(
            *_figures(lane),
            "" if result is None else f"{result.step_ratio:.2f}x",
            "" if time is None else f"{time:.2f}x",
            "" if result is None else "yes" if result.first_difference is None else "no",
        )
    header = race.own.view.header
    assert header is not None
    console = output_console()
    with writing_output():
        title = f"race · {header.model} · {header.dtype} · {header.place} · measured one after another"
        console.print(without_controls(title), style="bold")
        console.print(table)
        console.print(_LEGEND.format(race.reference_name), style="dim")
        console.print()
        for _, text in result_texts(race):
            # A pipe gets whole lines; on a terminal they break between words.
            console.print(without_controls(text), soft_wrap=not console.is_terminal)


def _figures(lane: Lane) -> tuple[str, ...]:
    if not lane.view.totals:
        return (lane.name, "", "0", "", "")
    total = lane.view.totals[-1]
    return (
        lane.name,
        f"{total.compression_ratio:.2f}",
        str(total.steps),
        f"{total.nodes / total.steps:.1f}",
        f"{total.seconds:.2f}",
    )
