"""Wrong input gets one sentence on standard error, a hint, and the documented exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    path = tmp_path / "prompt.txt"
    path.write_text("Why is the sky blue?\n", encoding="utf-8")
    return path


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]):
    """Runs a command that must fail, and returns its one line on standard error."""

    def ask(*arguments: object, code: ExitCode) -> str:
        assert run([str(argument) for argument in arguments]) == code
        output = capsys.readouterr()
        assert output.out == ""
        assert output.err.startswith("lookahead: ")
        assert output.err.endswith((".\n", "?\n"))
        assert output.err.count("\n") == 1
        return output.err

    return ask


def test_a_missing_file_is_named(complaint, tmp_path: Path) -> None:
    line = complaint("visualize", tmp_path / "nothing.txt", code=ExitCode.INPUT)
    assert "There is no file" in line
    assert "nothing.txt" in line


@pytest.mark.parametrize("content", [b"", b" \n\t\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(complaint, prompt: Path, content: bytes) -> None:
    prompt.write_bytes(content)
    assert "is empty" in complaint("visualize", prompt, code=ExitCode.INPUT)


@pytest.mark.parametrize("content", [b"text\0text", b"\xff\xfea\0", b"caf\xe9", b"\x89PNG\r\n\x1a\n"])
def test_a_binary_file_is_refused(complaint, prompt: Path, content: bytes) -> None:
    prompt.write_bytes(content)
    assert "is not text in UTF-8" in complaint("visualize", prompt, code=ExitCode.INPUT)


def test_an_endless_file_is_refused(complaint) -> None:
    assert "longer than" in complaint("visualize", "/dev/zero", code=ExitCode.INPUT)


def test_a_folder_is_refused(complaint, tmp_path: Path) -> None:
    assert "is a folder" in complaint("visualize", tmp_path, code=ExitCode.INPUT)


def test_an_unreadable_file_is_refused(complaint, prompt: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every file")
    prompt.chmod(0)
    assert "cannot be read" in complaint("visualize", prompt, code=ExitCode.INPUT)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["-W", "0"], "W = 0"),
        (["-N", "1"], "N = 1"),
        (["-G", "-1"], "G = -1"),
        (["-t", "-5"], "max-new-tokens = -5"),
        (["-t", "0"], "max-new-tokens = 0"),
        (["-W", "many"], "--window-size"),
        (["--method", "magic"], "magic"),
        (["--speed", "0"], "--speed 0"),
        (["--speed", "nan"], "--speed nan"),
        (["--json", "--plain"], "--json"),
        (["--no-such-option"], "--no-such-option"),
    ],
)
def test_a_bad_setting_is_named(complaint, prompt: Path, options: list[str], named: str) -> None:
    assert named in complaint("visualize", prompt, *options, code=ExitCode.USAGE)


def test_a_missing_argument_is_named(complaint) -> None:
    assert "FILE" in complaint("visualize", code=ExitCode.USAGE)


def test_a_mistyped_command_gets_the_nearest_one(complaint) -> None:
    assert "visualize" in complaint("visualise", "x", code=ExitCode.USAGE)


def test_an_unknown_alias_gets_the_nearest_names(complaint, prompt: Path) -> None:
    line = complaint("visualize", prompt, "--model", "smolm2-135m", code=ExitCode.MODEL)
    assert "smollm2-135m" in line


def test_a_folder_that_is_no_model_is_refused(complaint, prompt: Path) -> None:
    line = complaint("visualize", prompt, "--model", prompt.parent, code=ExitCode.MODEL)
    assert "config.json" in line


def test_an_unknown_theme_is_refused(complaint, prompt: Path) -> None:
    assert "neon" in complaint("visualize", prompt, "--theme", "neon", code=ExitCode.USAGE)


@pytest.mark.parametrize("target", ["", "missing/trace.jsonl", "prompt.txt"])
def test_a_recording_that_cannot_be_written_is_refused_before_the_model_is_loaded(
    complaint, prompt: Path, target: str
) -> None:
    line = complaint("visualize", prompt, "--record", prompt.parent / target, code=ExitCode.INPUT)
    assert str(prompt.parent / target) in line
    assert prompt.read_text(encoding="utf-8") == "Why is the sky blue?\n"


def test_a_control_sequence_in_a_file_name_is_spelled_out(complaint, tmp_path: Path) -> None:
    line = complaint("visualize", tmp_path / "a\x1b[2Jb", code=ExitCode.INPUT)
    assert "\x1b" not in line
    assert "a\\x1b[2Jb" in line


@pytest.mark.parametrize(("setting", "named"), [("15,5", "15,5"), ("a,b,c", "a,b,c"), ("0,5,5", "W = 0")])
def test_a_bad_benchmark_setting_is_named(complaint, prompt: Path, setting: str, named: str) -> None:
    assert named in complaint("bench", prompt, "--setting", setting, code=ExitCode.USAGE)


def test_a_benchmark_without_prompts_says_what_to_name(
    complaint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "examples" in complaint("bench", code=ExitCode.USAGE)
    assert "holds no files" in complaint("bench", tmp_path, code=ExitCode.INPUT)


def test_a_missing_trace_is_named(complaint, tmp_path: Path) -> None:
    assert "nothing.jsonl" in complaint("replay", tmp_path / "nothing.jsonl", "--plain", code=ExitCode.INPUT)


def test_a_damaged_trace_is_named_with_its_line(complaint, tmp_path: Path) -> None:
    path = tmp_path / "damaged.jsonl"
    path.write_text("this is no trace\n", encoding="utf-8")
    line = complaint("replay", path, "--plain", code=ExitCode.INPUT)
    assert "damaged.jsonl" in line
    assert "1" in line.replace(str(path), "")


def test_a_prompt_from_standard_input_is_checked_like_a_file(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-m", "lookahead_cli", "visualize", "-"],
        input=b"\0",
        capture_output=True,
        check=False,
    )
    assert process.returncode == ExitCode.INPUT
    assert process.stderr.startswith(b"lookahead: Standard input is not text")
    assert process.stderr.count(b"\n") == 1


def test_a_full_disk_behind_standard_output_is_said_once() -> None:
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            [sys.executable, "-m", "lookahead_cli", "models", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert process.returncode == ExitCode.FAILURE
    assert process.stderr.startswith(b"lookahead: Standard output cannot be written")
    assert process.stderr.count(b"\n") == 1


def test_a_reader_that_leaves_early_ends_the_program_without_a_word() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.run(
        [sys.executable, "-m", "lookahead_cli", "models"],
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(write_end)
    assert process.returncode == ExitCode.OK
    assert process.stderr == b""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("themes", "--json"), ("models",)])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_said(arguments: tuple[str, ...], unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "lookahead_cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr.startswith("lookahead: Standard output cannot be written")
    assert ended.stderr.count("\n") == 1


def test_a_recording_needs_a_file(complaint, prompt: Path) -> None:
    assert "--record needs a file" in complaint("visualize", prompt, "--record", "-", code=ExitCode.USAGE)


def test_a_folder_without_weights_is_refused_before_its_memory_is_counted(
    prompt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.json").write_text('{"model_type": "llama"}', encoding="utf-8")
    assert run(["visualize", str(prompt), "--model", str(tmp_path / "bare")]) == ExitCode.MODEL
    assert "no weights" in capsys.readouterr().err
