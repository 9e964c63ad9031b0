"""`lookahead bench` on a tiny model: figures that add up, and ids that are greedy's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.txt").write_text("One two three four five.", encoding="utf-8")
    (tmp_path / "a.py").write_text("def add(a, b):\n    return", encoding="utf-8")
    (tmp_path / ".hidden").write_bytes(b"\0")
    return tmp_path


def arguments(folder: Path, model: Path, *more: str) -> list[str]:
    return [
        "bench",
        str(folder),
        "--model",
        str(model),
        "--device",
        "cpu",
        "--dtype",
        "float32",
        "-t",
        "8",
        *more,
    ]


def report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(arguments) == ExitCode.OK
    return json.loads(capsys.readouterr().out)


def test_every_setting_is_compared_with_greedy(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = ("-s", "4,3,3", "-s", "1,2,0")
    greedy, wide, narrow = report(capsys, *arguments(folder, model, *settings, "--json"))["results"]
    assert greedy["config"]["method"] == "greedy"
    assert greedy["compression_ratio"] == 1.0
    assert greedy["nodes_per_step"] == 1.0
    assert greedy["time_ratio"] == 1.0
    assert (wide["config"]["window_size"], wide["config"]["ngram_size"]) == (4, 3)
    assert narrow["config"]["guess_set_size"] == 0
    for result in (greedy, wide, narrow):
        assert [each["prompt"] for each in result["prompts"]] == ["a.py", "b.txt"]
        assert result["ids_equal"] == 2
        assert result["tokens"] == greedy["tokens"]
        assert result["steps"] == sum(each["steps"] for each in result["prompts"])
        assert result["compression_ratio"] == result["tokens"] / result["steps"]


def test_single_options_make_one_setting(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = report(capsys, *arguments(folder, model, "-W", "3", "-G", "2", "--json"))["results"]
    configs = [result["config"] for result in results[1:]]
    assert [(c["window_size"], c["ngram_size"], c["guess_set_size"]) for c in configs] == [(3, 5, 2)]


def test_repeats_change_the_seconds_alone(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once, thrice = (
        report(capsys, *arguments(folder, model, "-s", "4,3,3", "--json", "--repeats", repeats))["results"][1]
        for repeats in ("1", "3")
    )
    assert (once["steps"], once["tokens"]) == (thrice["steps"], thrice["tokens"])


def test_the_table_is_on_standard_output_and_progress_on_standard_error(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments(folder, model, "-s", "4,3,3")) == ExitCode.OK
    output = capsys.readouterr()
    assert "2 prompts · at most 8 tokens each" in output.out
    rows = [line.split("  ")[0] for line in output.out.splitlines()[3:5]]
    assert rows == ["greedy", "lookahead W 4 N 3 G 3"]
    assert all(len(line) <= 80 for line in output.out.splitlines())
    assert "measuring a.py" in output.err
    assert "measuring" not in output.out
