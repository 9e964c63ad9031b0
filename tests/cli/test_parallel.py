"""`--parallel` and torchrun on the real program: one screen, one sentence at a death, nothing left over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from lookahead_cli.cli import run
from tests.programs import Program
from tests.tiny import save_tiny_model

PROMPT = "The quick brown fox jumps over the lazy dog. The quick"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model with a long context, and a prompt."""
    folder = save_tiny_model(tmp_path_factory.mktemp("tiny"), max_position_embeddings=8192)
    (folder / "prompt.txt").write_text(PROMPT)
    return folder


def arguments(folder, *more):
    prompt, model = str(folder / "prompt.txt"), str(folder)
    return ["visualize", prompt, "--raw", "-m", model, "--device", "cpu", "--json", *more]


LONG = (
    "--max-new-tokens",
    "8000",
    "--method",
    "prompt-lookup",
    "--no-repeat-ngram",
    "3",
    "--temperature",
    "2",
)


def helpers(process_id):
    """The processes that a program has started to decode with."""
    found = psutil.Process(process_id).children(recursive=True)
    return [process for process in found if any("parallel.worker" in word for word in process.cmdline())]


def wait_until_gone(processes, seconds=10):
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    assert not alive


def without_times(events):
    steps = [event for event in events if event["type"] == "step"]
    ids = [[accepted["token"] for accepted in step["accepted"]] for step in steps]
    return ids, events[-1]["output_ids"], events[-1]["text"]


def test_two_processes_write_the_trace_of_one(folder, tmp_path):
    traces = {}
    for processes in ("1", "2"):
        more = ("--max-new-tokens", "60", "--greedy", "--parallel", processes)
        with Program(arguments(folder, *more), {}, tmp_path / f"{processes}.jsonl") as program:
            assert program.exit_code() == 0, program.errors
            traces[processes] = program.lines

    assert without_times(traces["1"]) == without_times(traces["2"])
    assert [traces[name][0]["ranks"] for name in "12"] == [1, 2]
    assert traces["2"][-1]["greedy"]["ids_equal"]


def test_a_killed_process_ends_the_run_with_one_sentence_and_what_was_decoded(folder, tmp_path):
    with Program(arguments(folder, "--parallel", "2", *LONG), {}, tmp_path / "out.jsonl") as program:
        assert program.wait_for_lines(4), program.errors
        (helper,) = helpers(program.process_id)
        helper.kill()
        started = time.monotonic()
        assert program.exit_code(10) == 1
        assert time.monotonic() - started < 10
        footer = program.lines[-1]

    assert (footer["type"], footer["finish_reason"]) == ("footer", "failed")
    steps = [line for line in program.lines if line["type"] == "step"]
    assert footer["output_ids"] == [token["token"] for step in steps for token in step["accepted"]]
    assert program.errors.splitlines()[-1] == (
        "lookahead: Rank 1 of 2 (SIGKILL) has ended. What was decoded so far is kept."
    )
    assert "Traceback" not in program.errors


def test_ctrl_c_ends_all_processes_and_keeps_what_was_decoded(folder, tmp_path):
    with Program(arguments(folder, "--parallel", "2", *LONG), {}, tmp_path / "out.jsonl") as program:
        assert program.wait_for_lines(4), program.errors
        started = helpers(program.process_id)
        os.kill(program.process_id, signal.SIGINT)
        assert program.exit_code(20) == 130
        wait_until_gone(started)

    assert program.lines[-1]["finish_reason"] == "cancelled"
    assert len(started) == 1


def test_no_process_outlives_a_killed_program(folder, tmp_path):
    with Program(arguments(folder, "--parallel", "3", *LONG), {}, tmp_path / "out.jsonl") as program:
        assert program.wait_for_lines(3), program.errors
        started = helpers(program.process_id)
        program.kill()
        wait_until_gone(started)

    assert len(started) == 2


def test_a_number_of_processes_that_cannot_work_is_refused(folder, capsys):
    assert run(arguments(folder, "--parallel", "0")) == 2
    assert "--parallel 0 cannot work" in capsys.readouterr().err


def torchrun(folder, output, *more):
    program = [str(Path(sys.executable).with_name("torchrun")), "--standalone", "--nproc-per-node", "2"]
    with output.open("wb") as stream, output.with_suffix(".err").open("wb") as errors:
        return subprocess.Popen(
            [*program, "-m", "lookahead_cli", *arguments(folder, *more)], stdout=stream, stderr=errors
        )


def test_torchrun_starts_the_processes_and_rank_0_alone_speaks(folder, tmp_path):
    output = tmp_path / "out.jsonl"
    process = torchrun(folder, output, "--max-new-tokens", "60", "--greedy")

    assert process.wait(120) == 0, output.with_suffix(".err").read_text()
    events = [json.loads(line) for line in output.read_text().splitlines()]
    assert [event["type"] for event in events if event["type"] != "step"] == ["header", "footer"]
    assert events[0]["ranks"] == 2
    assert events[-1]["greedy"]["ids_equal"]


def test_a_rank_of_torchrun_that_is_killed_leaves_a_footer(folder, tmp_path):
    output = tmp_path / "out.jsonl"
    process = torchrun(folder, output, *LONG)
    deadline = time.monotonic() + 120
    while output.read_bytes().count(b"\n") < 4:
        assert process.poll() is None, output.with_suffix(".err").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    ranks = psutil.Process(process.pid).children()
    (second,) = [rank for rank in ranks if rank.environ().get("RANK") == "1"]
    second.kill()

    assert process.wait(60) != 0
    footer = json.loads(output.read_text().splitlines()[-1])
    assert (footer["type"], footer["finish_reason"]) == ("footer", "failed")
    assert "lookahead: A process of this parallel run has ended." in output.with_suffix(".err").read_text()
    wait_until_gone(ranks)
