"""`lookahead visualize` on a tiny model: every way of showing a run tells the same story."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.reader import read_trace
from tests.tiny import CONTEXT_LENGTH, save_tiny_model

SETTINGS = ("--device", "cpu", "-W", "4", "-N", "3", "-G", "3", "-t", "12")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    path = tmp_path / "prompt.txt"
    path.write_text("One two three four five six seven.\n", encoding="utf-8")
    return path


def visualize(file: Path | str, model: Path, *more: str) -> int:
    return run(["visualize", str(file), "--model", str(model), *SETTINGS, *more])


def test_the_plain_story_ends_with_the_compression_ratio(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visualize(prompt, model) == ExitCode.OK
    output = capsys.readouterr()
    assert "── step 1 " in output.out
    assert "W 4 N 3 G 3" in output.out
    assert "12 tokens in " in output.out
    assert output.out.splitlines()[-1].startswith("compression ratio S = ")
    assert "loading tiny" in output.err


def test_greedy_beside_it_has_the_same_ids(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visualize(prompt, model, "--greedy", "--compact") == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert "token ids: equal to greedy's, every one" in lines
    assert any(line.startswith("greedy beside it: 12 steps, ") and "time ratio" in line for line in lines)


def test_the_greedy_method_takes_one_step_a_token(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visualize(prompt, model, "--method", "greedy") == ExitCode.OK
    assert "compression ratio S = 1.00" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.parametrize(
    "choice",
    [
        ("--method", "jacobi"),
        ("--method", "prompt-lookup"),
        ("--method", "lookahead-reference"),
        ("--sources", "prompt"),
        ("--sources", "prompt,recycled", "--node-budget", "8"),
        ("--temperature", "0.9", "--top-p", "0.9", "--seed", "3"),
        ("--repetition-penalty", "1.3"),
    ],
)
def test_every_method_and_way_of_sampling_is_shown_and_equal_to_one_token_a_step(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str], choice: tuple[str, ...]
) -> None:
    assert visualize(prompt, model, "--greedy", *choice) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert "token ids: equal to greedy's, every one" in lines


def test_a_draft_model_guesses(prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draft = ("--method", "draft", "--draft-model", str(model))
    assert visualize(prompt, model, "--greedy", *draft) == ExitCode.OK
    output = capsys.readouterr().out
    assert "token ids: equal to greedy's, every one" in output
    assert " draft" in output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--method", "draft"), "needs a draft model"),
        (("--draft-model", "smollm2-135m"), "has nothing to do"),
        (("--sources", "stars"), "There is no source called 'stars'"),
        (("--top-p", "2"), "top-p = 2 is no share"),
        (("--method", "greedy", "--pool", "pool.json"), "has no n-gram pool"),
        (("-G", "0", "--pool", "pool.json"), "takes no guesses from an n-gram pool"),
        (("--record", "one.json", "--pool", "one.json"), "both want 'one.json'"),
    ],
)
def test_options_that_cannot_work_together_are_said(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    assert visualize(prompt, model, *options) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_a_stop_string_ends_the_text(prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert visualize(prompt, model, "--json") == ExitCode.OK
    text = json.loads(capsys.readouterr().out.splitlines()[-1])["text"]
    assert visualize(prompt, model, "--json", "--stop", text[2:5]) == ExitCode.OK
    footer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert footer["finish_reason"] == "stop"
    assert footer["text"] == text[: text.index(text[2:5]) + 3]


def test_a_pool_is_kept_in_a_file(
    prompt: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pool = tmp_path / "pool.json"
    assert visualize(prompt, model, "--pool", str(pool), "--pool-from", str(prompt), "--json") == ExitCode.OK
    first = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert pool.exists()
    assert visualize(prompt, model, "--pool", str(pool), "--json") == ExitCode.OK
    second = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert second["output_ids"] == first["output_ids"]
    assert second["steps"] <= first["steps"]


def test_json_is_the_trace_and_nothing_else(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visualize(prompt, model, "--json") == ExitCode.OK
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0]["type"] == "header"
    assert lines[-1]["type"] == "footer"
    assert {line["type"] for line in lines[1:-1]} == {"step"}
    assert len(lines[-1]["output_ids"]) == 12


def test_a_recording_is_the_trace_that_json_writes(
    prompt: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.jsonl"
    assert visualize(prompt, model, "--json", "--record", str(path)) == ExitCode.OK
    assert path.read_text(encoding="utf-8") == capsys.readouterr().out
    header, *steps, footer = read_trace(path)
    assert isinstance(header, Header)
    assert isinstance(footer, Footer)
    ids = [token for event in steps if isinstance(event, StepEvent) for token in event.step.token_ids]
    assert tuple(ids) == footer.output_ids


def test_a_full_disk_stops_the_recording_and_not_the_decoding(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert visualize(prompt, model, "--record", "/dev/full") == ExitCode.OK
    output = capsys.readouterr()
    assert "12 tokens in " in output.out
    assert output.err.count("Recording to '/dev/full' stopped") == 1


def test_a_replay_tells_the_same_story(
    prompt: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.jsonl"
    assert visualize(prompt, model, "--record", str(path)) == ExitCode.OK
    live = capsys.readouterr().out
    assert run(["replay", str(path)]) == ExitCode.OK
    assert capsys.readouterr().out == live
    assert run(["replay", str(path), "--json"]) == ExitCode.OK
    assert capsys.readouterr().out == path.read_text(encoding="utf-8")


def test_raw_and_chat_feed_different_ids(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = {}
    for style in ("--raw", "--chat"):
        assert visualize(prompt, model, "--json", style) == ExitCode.OK
        prompts[style] = json.loads(capsys.readouterr().out.splitlines()[0])["prompt"]
    assert prompts["--raw"] == "One two three four five six seven.\n"
    assert prompts["--chat"] != prompts["--raw"]
    assert "One two three four five six seven." in prompts["--chat"]


def test_raw_parses_special_tokens(prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt.write_text("One<|im_end|>", encoding="utf-8")
    assert visualize(prompt, model, "--json", "--raw") == ExitCode.OK
    assert json.loads(capsys.readouterr().out.splitlines()[0])["prompt_ids"][-1] == 2


def test_a_prompt_longer_than_the_context_is_refused(
    prompt: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt.write_text("漢字 " * CONTEXT_LENGTH, encoding="utf-8")
    assert visualize(prompt, model) == ExitCode.INPUT
    output = capsys.readouterr()
    assert output.out == ""
    line = output.err.splitlines()[-1]
    assert line.startswith("lookahead: ")
    assert str(CONTEXT_LENGTH) in line


def test_chat_without_a_template_is_refused(
    prompt: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = tmp_path / "bare"
    bare.mkdir()
    for file in model.iterdir():
        text = file.read_bytes()
        if file.name == "tokenizer_config.json":
            config = json.loads(text)
            config.pop("chat_template", None)
            text = json.dumps(config).encode()
        if file.suffix != ".jinja":
            (bare / file.name).write_bytes(text)
    assert visualize(prompt, bare, "--chat") == ExitCode.USAGE
    assert "no chat template" in capsys.readouterr().err


def test_a_piped_prompt_prints_the_plain_story(model: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "lookahead_cli", "visualize", "-", "--model", str(model), *SETTINGS],
        input="One two three four.",
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    assert process.stdout.splitlines()[-1].startswith("compression ratio S = ")
    assert "\x1b" not in process.stdout


def test_ctrl_c_keeps_what_was_decoded(prompt: Path, model: Path, tmp_path: Path) -> None:
    import signal

    path = tmp_path / "trace.jsonl"
    command = [sys.executable, "-m", "lookahead_cli", "visualize", str(prompt), "--model", str(model)]
    process = subprocess.Popen(
        [*command, "--device", "cpu", "--compact", "-t", "200", "--record", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert any(" nodes " in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(60) in {ExitCode.INTERRUPTED, ExitCode.OK}
    assert rest.splitlines()[-1].startswith("compression ratio S = ")
    *_, footer = read_trace(path)
    assert isinstance(footer, Footer)
    process.stderr.close() if process.stderr else None
