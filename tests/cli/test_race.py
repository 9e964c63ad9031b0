"""The race from the command line: as a table without a screen, of recordings, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from lookahead_cli.trace.events import Footer, StepEvent
from lookahead_cli.trace.reader import read_trace
from tests.tiny import save_tiny_model

SETTINGS = ("--device", "cpu", "-W", "4", "-N", "3", "-G", "3", "-t", "12")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    path = tmp_path / "prompt.txt"
    path.write_text("One two three four five six seven.\n", encoding="utf-8")
    return path


def visualize(file: Path, model: Path, *more: str) -> int:
    return run(["visualize", str(file), "--model", str(model), *SETTINGS, *more])


def test_without_a_screen_the_lanes_are_a_table(prompt, model, tmp_path, capsys) -> None:
    trace = tmp_path / "run.jsonl"
    asked = ("--race-with", "jacobi", "--race-with", "prompt-lookup", "--plain", "--record", str(trace))
    assert visualize(prompt, model, *asked) == ExitCode.OK
    output = capsys.readouterr()
    rows = {line[:22].strip(): line.split() for line in output.out.splitlines()}
    assert rows["greedy"][1:4] == ["1.00", "12", "1.0"]
    events = list(read_trace(trace))
    steps = [event.step for event in events if isinstance(event, StepEvent)]
    nodes = sum(len(step.nodes) for step in steps) / len(steps)
    own = rows["lookahead W 4 N 3 G 3"][7:]
    assert own[:3] == [f"{12 / len(steps):.2f}", str(len(steps)), f"{nodes:.1f}"]
    assert own[-1] == "yes"
    assert output.out.count("ids equal to greedy's, every one") == 3
    for name in ("lookahead W 4 N 3 G 3", "greedy", "jacobi 4", "prompt-lookup 4"):
        assert f"measuring {name}" in output.err
    # The recording is the run's own, whatever raced beside it.
    assert [type(event) for event in events].count(Footer) == 1
    assert events[0].config["method"] == "lookahead"


def test_a_greedy_run_races_lookahead_decoding(prompt, model, capsys) -> None:
    assert visualize(prompt, model, "--method", "greedy", "--race", "--plain") == ExitCode.OK
    assert "lookahead W 4 N 3 G 3: ids equal to greedy's" in capsys.readouterr().out


def test_draws_with_one_seed_are_equal_lane_by_lane(prompt, model, capsys) -> None:
    sampling = ("--temperature", "0.9", "--seed", "3", "--race-with", "jacobi", "--plain")
    assert visualize(prompt, model, *sampling) == ExitCode.OK
    assert capsys.readouterr().out.count("ids equal to greedy's, every one") == 2


def test_the_pool_on_disk_is_the_runs_own(prompt, model, tmp_path) -> None:
    pool, beside = tmp_path / "pool.json", tmp_path / "beside.json"
    assert visualize(prompt, model, "--plain", "--pool", str(pool)) == ExitCode.OK
    assert visualize(prompt, model, "--race", "--plain", "--pool", str(beside)) == ExitCode.OK
    assert pool.read_bytes() == beside.read_bytes()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--race", "--json"), "lookahead compare --json"),
        (("--race-with", "magic"), "There is no method called 'magic'"),
        (("--race-with", "draft"), "needs a draft model"),
    ],
)
def test_a_race_that_cannot_be_is_one_sentence(prompt, model, capsys, more, said) -> None:
    assert visualize(prompt, model, *more) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_recordings_race_without_a_model(prompt, model, tmp_path, capsys) -> None:
    run_, greedy, other = (str(tmp_path / name) for name in ("run.jsonl", "greedy.jsonl", "other.jsonl"))
    visualize(prompt, model, "--plain", "--record", run_)
    visualize(prompt, model, "--plain", "--record", greedy, "--method", "greedy")
    prompt.write_text("Something else.\n", encoding="utf-8")
    visualize(prompt, model, "--plain", "--record", other)
    capsys.readouterr()
    assert run(["replay", run_, "--race", greedy, "--plain"]) == ExitCode.OK
    output = capsys.readouterr()
    assert "lookahead W 4 N 3 G 3: ids equal to greedy's, every one" in output.out
    assert "reading greedy" in output.err
    assert run(["replay", run_, "--race", other, "--plain"]) == ExitCode.INPUT
    assert "have different prompts" in capsys.readouterr().err
    assert run(["replay", run_, "--race", "missing.jsonl", "--plain"]) == ExitCode.INPUT
    assert run(["replay", run_, "--race", "-", "--plain"]) == ExitCode.USAGE
    assert run(["replay", run_, "--race", greedy, "--json"]) == ExitCode.USAGE
    assert "compare --json" in capsys.readouterr().err
