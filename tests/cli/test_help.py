"""The help is quick, complete, and needs nothing heavy."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

from lookahead_cli import __version__
from lookahead_cli.cli import run

COMMANDS = ("tour", "visualize", "replay", "bench", "models", "themes")
_ASK_MODULES = """
import atexit, sys
atexit.register(lambda: print("MODULES", *sorted(sys.modules), file=sys.stderr))
from lookahead_cli.cli import main
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["visualize", "--help"], ["bench", "-h"], ["replay", "-h"], []]
)
def test_help_imports_neither_torch_nor_transformers_nor_textual(arguments: list[str]) -> None:
    process = subprocess.run(
        [sys.executable, "-c", _ASK_MODULES, *arguments], capture_output=True, text=True, check=True
    )
    assert "Usage: lookahead" in process.stdout
    modules = set(process.stderr.split("MODULES", 1)[1].split())
    assert "typer" in modules
    assert not modules & {"torch", "transformers", "textual", "numpy", "huggingface_hub"}


def test_help_takes_less_than_half_a_second_of_processor_time() -> None:
    command = [sys.executable, "-m", "lookahead_cli", "--help"]
    subprocess.run(command, capture_output=True, check=True)  # writes the byte code
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    # A busy machine only ever adds to it.
    assert min(taken) < 0.5


@pytest.mark.parametrize("arguments", [[], ["-h"], ["--help"]])
def test_the_first_page_names_every_command(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 0
    page = capsys.readouterr().out
    assert all(command in page for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_both_help_flags(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "-h"]) == 0
    short = capsys.readouterr().out
    assert run([command, "--help"]) == 0
    assert capsys.readouterr().out == short
    assert f"Usage: lookahead {command}" in short


def test_the_version_is_one_line_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"lookahead {__version__}\n"


def test_shell_completion_offers_the_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "lookahead_cli"],
        capture_output=True,
        text=True,
        check=True,
        env={"_LOOKAHEAD_COMPLETE": "complete_bash", "COMP_WORDS": "lookahead vis", "COMP_CWORD": "1"},
    )
    assert process.stdout.split() == ["visualize"]
