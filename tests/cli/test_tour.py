"""`lookahead tour` on the command line: text, list, complaints, and what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from lookahead_cli.tui.tour import traces
from lookahead_cli.tui.tour.lesson import STOPS
from lookahead_cli.tui.tour.pictures import KINDS
from lookahead_cli.tui.tour.traces import TRACES, TourRuns

_ASK_MODULES = """
import atexit, sys
atexit.register(lambda: print("MODULES", *sorted(sys.modules), file=sys.stderr))
from lookahead_cli.cli import main
main(sys.argv[1:])
"""


def test_where_there_is_no_terminal_the_whole_lesson_is_printed(capsys):
    assert run(["tour"]) == 0
    text = capsys.readouterr().out
    for index, stop in enumerate(STOPS, start=1):
        view = TourRuns().view(stop.trace)
        stop.look(view)
        _, after = text.split(f"{index} of {len(STOPS)}  {stop.title}\n")
        said = " ".join(after.split())
        assert said.startswith(" ".join("".join(words for words, _ in stop.parts(view)).split()))
        for name in stop.panels:
            assert f"{KINDS[name].TITLE} · step {view.shown + 1} · " in after
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "\x1b" not in text


def test_it_begins_at_the_stop_that_was_named(capsys):
    assert run(["tour", "--plain", "--stop", str(len(STOPS))]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{len(STOPS)} of {len(STOPS)}  {STOPS[-1].title}")
    assert STOPS[0].title not in text


def test_the_stops_are_listed(capsys):
    assert run(["tour", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ", 1)[1].strip() for line in lines] == [stop.title for stop in STOPS]


@pytest.mark.parametrize("stop", ["0", "99", "-1"])
def test_a_stop_that_is_not_there_is_one_sentence(stop, capsys):
    assert run(["tour", "--stop", stop]) == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        f"lookahead: The tour has no stop {stop}. Give one from 1 to {len(STOPS)}; --list names them.\n"
    )


def test_a_theme_that_is_not_there_is_refused(capsys):
    assert run(["tour", "--theme", "drak"]) == ExitCode.USAGE
    assert "Did you mean dark" in capsys.readouterr().err


@pytest.mark.parametrize("content", [None, b"", b"no gzip", b"\x1f\x8b\x08\x00broken"])
def test_a_lost_or_damaged_run_is_one_sentence(content, tmp_path, monkeypatch, capsys):
    file = tmp_path / "greedy.jsonl.gz"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(traces, "trace_file", lambda name: file)
    assert run(["tour", "--plain"]) == ExitCode.INPUT
    error = capsys.readouterr().err
    assert error.startswith("lookahead: The tour's recorded run 'greedy' is missing or damaged. Install")
    assert error.count("\n") == 1


def test_help_has_examples(capsys):
    assert run(["tour", "-h"]) == 0
    page = capsys.readouterr().out
    assert "lookahead tour --stop 7" in page
    assert "--theme" in page


def test_it_needs_neither_torch_nor_transformers():
    process = subprocess.run(
        [sys.executable, "-c", _ASK_MODULES, "tour", "--plain"], capture_output=True, text=True, check=True
    )
    assert "13 of 13" in process.stdout
    modules = set(process.stderr.split("MODULES", 1)[1].split())
    assert not modules & {"torch", "transformers", "numpy", "huggingface_hub"}


def test_the_list_and_the_help_do_not_need_textual():
    for arguments in (["tour", "--help"], ["tour", "--list"]):
        process = subprocess.run(
            [sys.executable, "-c", _ASK_MODULES, *arguments], capture_output=True, text=True, check=True
        )
        assert "textual" not in process.stderr.split("MODULES", 1)[1].split()


def test_a_reader_who_leaves_early_ends_it_without_a_word():
    script = f"{sys.executable} -m lookahead_cli tour --plain | head -n 1"
    process = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert process.stderr == ""


def test_the_wheel_carries_the_recorded_runs(tmp_path):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=root, check=True, capture_output=True, env={**os.environ})
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"lookahead_cli/tui/tour/traces/{name}.jsonl.gz" for name in TRACES} <= set(names)
