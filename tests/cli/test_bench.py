"""`lookahead bench` on a tiny model: figures that add up, ids that are greedy's, transformers beside it."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.image import imread

from lookahead_cli.cli import run
from lookahead_cli.cli.measuring.history import differences
from lookahead_cli.cli.measuring.ways import PHASES
from lookahead_cli.errors import ExitCode
from tests.tiny import save_tiny_model

KEYS = [
    "method", "settings", "dtype", "prompts", "tokens", "compression_ratio", "nodes_per_step",
    "tokens_per_second", "speedup_vs_greedy", "speedup_vs_transformers_greedy",
    "speedup_vs_transformers_prompt_lookup", "worst_prompt_speedup", "ids_equal",
]  # fmt: skip


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "prompts"
    inside.mkdir()
    (inside / "b.txt").write_text("One two three four five.", encoding="utf-8")
    (inside / "a.py").write_text("def add(a, b):\n    return", encoding="utf-8")
    (inside / ".hidden").write_bytes(b"\0")
    return inside


def arguments(folder: Path, model: Path, *more: str) -> list[str]:
    return ["bench", str(folder), "--model", str(model), "--device", "cpu", "--dtype", "float32", *more]


def reported(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run([*arguments, "--json"]) == ExitCode.OK
    return json.loads(capsys.readouterr().out)


def test_the_json_has_the_machine_and_a_row_for_each_way(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = reported(capsys, *arguments(folder, model, "--method", "lookahead", "-t", "12"))
    assert list(report)[:2] == ["machine", "rows"]
    assert report["machine"]["cores"] >= 1
    assert report["machine"]["cpu"]
    assert report["machine"]["torch"]
    rows = report["rows"]
    assert [row["method"] for row in rows] == [
        "greedy",
        "lookahead",
        "transformers-greedy",
        "transformers-prompt-lookup",
    ]
    for row in rows:
        assert list(row)[: len(KEYS)] == KEYS
        assert row["dtype"] == "float32"
        assert row["prompts"] == 2
        assert row["ids_equal"] is True
        assert row["tokens"] == rows[0]["tokens"] > 0
        assert row["compression_ratio"] == row["tokens"] / row["steps"]
        assert row["first_token_seconds"] > 0
        assert row["peak_memory_bytes"] > 50_000_000
        least, most = row["tokens_per_second_range"]
        assert 0 < least <= row["tokens_per_second"] <= most
        least, most = row["speedup_vs_transformers_prompt_lookup_range"]
        assert 0 < least <= row["speedup_vs_transformers_prompt_lookup"] <= most
        assert [each["prompt"] for each in row["by_prompt"]] == ["a.py", "b.txt"]
    described = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text(encoding="utf-8")
    for key in rows[0]:
        assert key.endswith("_range") or f"`{key}`" in described
    for name, method in (
        ("speedup_vs_greedy", "greedy"),
        ("speedup_vs_transformers_greedy", "transformers-greedy"),
        ("speedup_vs_transformers_prompt_lookup", "transformers-prompt-lookup"),
    ):
        assert [row[name] == 1.0 for row in rows if row["method"] == method] == [True]
        assert all(row[name] > 0 for row in rows)
    assert rows[0]["nodes_per_step"] == rows[2]["nodes_per_step"] == 1.0
    assert rows[1]["nodes_per_step"] > 1
    assert list(rows[1]["step_milliseconds"]) == list(PHASES)
    assert rows[1]["step_milliseconds"]["forward"] > 0


def test_the_worst_prompt_is_the_least_ratio_of_seconds(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("-s", "4,3,3", "-t", "12", "--repeats", "1")
    rows = reported(capsys, *arguments(folder, model, *more))["rows"]
    theirs = {each["prompt"]: each["seconds"][0] for each in rows[2]["by_prompt"]}
    ratios = [theirs[each["prompt"]] / each["seconds"][0] for each in rows[1]["by_prompt"]]
    # All ids are equal and every first step emitted one token, so as many tokens came in these seconds.
    assert rows[1]["worst_prompt_speedup"] == pytest.approx(min(ratios), rel=0.25)


def test_every_setting_is_compared_with_greedy(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("-s", "4,3,3", "-s", "1,2,0", "--no-peers", "-t", "8", "--repeats", "2")
    greedy, wide, narrow = reported(capsys, *arguments(folder, model, *more))["rows"]
    assert greedy["compression_ratio"] == greedy["speedup_vs_greedy"] == 1.0
    assert (wide["settings"]["window_size"], wide["settings"]["ngram_size"]) == (4, 3)
    assert narrow["settings"]["guess_set_size"] == 0
    for row in (greedy, wide, narrow):
        assert row["ids_equal"] is True
        assert row["rounds"] == 2
        assert row["steps"] == sum(each["steps"] for each in row["by_prompt"])
        assert all(len(each["seconds"]) == 2 for each in row["by_prompt"])
        assert row["speedup_vs_transformers_greedy"] is None
        assert row["worst_prompt_speedup"] is None


def test_single_options_make_one_setting(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("-W", "3", "-G", "2", "--no-peers", "-t", "4", "--repeats", "1")
    rows = reported(capsys, *arguments(folder, model, *more))["rows"]
    settings = [row["settings"] for row in rows[1:]]
    assert [(s["window_size"], s["ngram_size"], s["guess_set_size"]) for s in settings] == [(3, 5, 2)]


def test_a_run_of_one_token_has_no_speed(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = reported(capsys, *arguments(folder, model, "-s", "4,3,3", "-t", "1", "--repeats", "1"))["rows"]
    assert all(row["tokens_per_second"] is None and row["tokens"] == 2 for row in rows)


def test_the_table_is_on_standard_output_and_progress_on_standard_error(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments(folder, model, "-s", "4,3,3", "-t", "8")) == ExitCode.OK
    output = capsys.readouterr()
    assert "2 prompts · at most 8 tokens each · 5 rounds" in output.out
    lines = output.out.splitlines()
    for way in ("greedy", "lookahead W 4 N 3 G 3", "tf greedy", "tf prompt-lookup 10"):
        assert sum(re.match(rf"{way} +[\d.]+", line) is not None for line in lines) == 2
    assert all(len(line) <= 80 for line in lines)
    assert "2 prompts, 4 ways, at most 8 tokens, up to 5 rounds, as many as fit 15 minutes" in output.err
    assert "measuring a.py, round 1 of up to 5, about" in output.err
    assert "measuring" not in output.out


def test_csv_and_markdown_hold_the_same_rows(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("-s", "4,3,3", "-t", "8", "--repeats", "1")
    assert run(arguments(folder, model, *more, "--csv")) == ExitCode.OK
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert list(rows[0])[: len(KEYS)] == KEYS
    assert [row["method"] for row in rows][:2] == ["greedy", "lookahead"]
    assert "window_size=4" in rows[1]["settings"]
    assert float(rows[1]["forward_milliseconds"]) > 0
    assert float(rows[1]["tokens_per_second_least"]) <= float(rows[1]["tokens_per_second"])
    assert float(rows[1]["speedup_vs_greedy_most"]) > 0
    assert not any(name.endswith("_range") for name in rows[0])
    assert rows[2]["forward_milliseconds"] == ""
    assert run(arguments(folder, model, *more, "--markdown")) == ExitCode.OK
    table = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(rows)
    assert {line.count("|") for line in table} == {10}
    names = [line.split("|")[1].strip() for line in table[2:]]
    assert names == [row["name"] for row in rows]
    assert float(table[3].split("|")[2]) == pytest.approx(float(rows[1]["compression_ratio"]), abs=0.005)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--json", "--csv"], "all want standard output"),
        (["--minutes", "0"], "--minutes 0"),
        (["--most-prompts", "-1"], "--most-prompts -1"),
        (["--repeats", "0"], "--repeats 0"),
        (["--plot", "speeds.gif"], "'speeds.gif' is no picture"),
        (["--method", "magic"], "There is no method called 'magic'"),
    ],
)
def test_what_cannot_be_measured_is_said(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert run(arguments(folder, model, *more)) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_a_plot_names_every_way_with_its_speed(
    folder: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "speeds.svg"
    more = ("-s", "4,3,3", "-t", "8", "--repeats", "2", "--plot", str(picture))
    rows = reported(capsys, *arguments(folder, model, *more))["rows"]
    texts = [element.text for element in ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    for row in rows:
        assert row["name"] in texts
        assert f"{row['tokens_per_second']:.1f} · S {row['compression_ratio']:.2f}" in texts
    assert any("than transformers' greedy decoding" in (text or "") for text in texts)


def test_a_plot_may_be_a_png(
    folder: Path, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "speeds.png"
    more = ("-s", "4,3,3", "-t", "1", "--repeats", "1", "--no-peers", "--plot", str(picture))
    reported(capsys, *arguments(folder, model, *more))
    height, width, _ = imread(picture).shape
    assert width > height > 300


def test_the_next_run_is_compared_with_the_last_one(
    folder: Path,
    model: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("LOOKAHEAD_DATA", str(tmp_path / "data"))
    asked = arguments(
        folder, model, "-s", "4,3,3", "-t", "8", "--repeats", "2", "--no-peers", "--against-last"
    )
    assert run(asked) == ExitCode.OK
    assert "first run of these prompts on this kind of machine" in capsys.readouterr().err
    (kept,) = (tmp_path / "data").rglob("*.json")
    content = json.loads(kept.read_text(encoding="utf-8"))
    for row in content["rows"]:
        row["tokens_per_second"] = 1e9
        row["tokens_per_second_range"] = [0.9e9, 1.1e9]
        row["compression_ratio"] = 7.0
    kept.write_text(json.dumps(content), encoding="utf-8")
    assert run(asked) == ExitCode.OK
    said = capsys.readouterr().err
    assert f"Beside the last run on this kind of machine, of {content['measured_at']}:" in said
    assert re.search(r"lookahead W 4 N 3 G 3: [\d.]+ tokens/s, then 1000000000.0 \(-100 %\), SLOWER", said)
    assert re.search(r"greedy: .*; S 1.00, then 7.00", said)
    assert json.loads(kept.read_text(encoding="utf-8"))["rows"][0]["compression_ratio"] == 1.0
    kept.write_text("{", encoding="utf-8")
    assert run([*asked[:-1], "-t", "4", "--against-last"]) == ExitCode.OK
    assert "first run" in capsys.readouterr().err
    assert len(list((tmp_path / "data").rglob("*.json"))) == 2


def test_a_difference_within_the_spread_is_no_news() -> None:
    def row(least: float, middle: float, most: float, rounds: int = 3) -> dict[str, Any]:
        speeds = {"tokens_per_second": middle, "tokens_per_second_range": [least, most], "rounds": rounds}
        without = {"method": "greedy", "speedup_vs_transformers_greedy": None}
        return {"name": "greedy", "compression_ratio": 1.0, "ids_equal": True, **without, **speeds}

    def said(now: dict[str, Any], then: dict[str, Any]) -> str:
        (line,) = differences({"rows": [now]}, {"rows": [then, {"name": "gone"}]})
        return line

    assert said(row(9, 10, 11), row(8, 9, 10)) == "greedy: 10.0 tokens/s, then 9.0 (+11 %), within the spread"
    assert said(row(9, 10, 11), row(6, 7, 8)).endswith("(+43 %), QUICKER beyond the spread")
    assert said(row(6, 7, 8), row(9, 10, 11)).endswith("(-30 %), SLOWER beyond the spread")
    assert said(row(7, 7, 7, 1), row(9, 10, 11)).endswith("one round, so no spread to judge by")


def test_a_busy_machine_is_no_news_where_transformers_slowed_down_too() -> None:
    def row(rate: float, ratio: float) -> dict[str, Any]:
        return {
            "name": "lookahead",
            "method": "lookahead",
            "compression_ratio": 1.0,
            "ids_equal": True,
            "rounds": 3,
            "tokens_per_second": rate,
            "tokens_per_second_range": [0.9 * rate, 1.1 * rate],
            "speedup_vs_transformers_greedy": ratio,
            "speedup_vs_transformers_greedy_range": [0.9 * ratio, 1.1 * ratio],
        }

    (line,) = differences({"rows": [row(5, 1.5)]}, {"rows": [row(10, 1.52)]})
    assert line == (
        "lookahead: 5.0 tokens/s, then 10.0 (-50 %); 1.50 × transformers' greedy, then 1.52 (-1 %), "
        "within the spread"
    )
    (line,) = differences({"rows": [row(5, 1.0)]}, {"rows": [row(5, 1.5)]})
    assert line.endswith("1.00 × transformers' greedy, then 1.50 (-33 %), SLOWER beyond the spread")


def test_a_prompt_without_room_is_refused_before_anything_is_measured(
    folder: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "long.txt").write_text("One two three. " * 200, encoding="utf-8")
    assert run(arguments(folder, model)) == ExitCode.INPUT
    said = capsys.readouterr().err
    assert re.search(r"'long.txt' has [\d,]+ tokens and the model's context holds 256", said)
    assert "measuring" not in said


def test_peers_that_would_not_fit_the_memory_are_left_out(
    folder: Path, model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lookahead_cli.models.peers.available_memory", lambda device: -3_000_000_000)
    assert (
        run([*arguments(folder, model, "-s", "4,3,3", "-t", "8", "--repeats", "1"), "--json"]) == ExitCode.OK
    )
    output = capsys.readouterr()
    rows = json.loads(output.out)["rows"]
    assert [row["method"] for row in rows] == ["greedy", "lookahead"]
    assert rows[1]["speedup_vs_transformers_greedy"] is None
    assert "transformers' own loops are left out: 3.0 GB of memory are missing." in output.err


def test_conversations_of_a_jsonl_file_are_measured(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "set.jsonl"
    turns = [{"role": "user", "content": "One two"}, {"role": "assistant", "content": "three"}]
    lines = [
        {"messages": [*turns, {"role": "user", "content": "four"}], "name": "talk"},
        {"prompt": "One two three"},
        {"text": "def add(a, b):"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    more = ("-s", "4,3,3", "-t", "8", "--repeats", "1")
    rows = reported(capsys, *arguments(file, model, *more))["rows"]
    for row in rows:
        assert [each["prompt"] for each in row["by_prompt"]] == ["talk", "set.jsonl:2", "set.jsonl:3"]
        assert row["ids_equal"] is True


def test_ctrl_c_keeps_what_was_measured(folder: Path, model: Path) -> None:
    asked = arguments(folder, model, "-s", "4,3,3", "-t", "8", "--repeats", "100000", "--no-peers", "--json")
    program = subprocess.Popen(
        [sys.executable, "-m", "lookahead_cli", *asked],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert program.stdout is not None
    assert program.stderr is not None
    for line in program.stderr:
        # A quick machine does not show every round.
        shown = re.search(r"measuring b.txt, round (\d+) ", line)
        if shown is not None and int(shown[1]) >= 3:
            program.send_signal(signal.SIGINT)
            break
    report = json.loads(program.communicate()[0])
    assert program.returncode == ExitCode.INTERRUPTED
    assert report["finished"] is False
    assert report["rows"][1]["prompts"] == 2
    assert report["rows"][1]["rounds"] >= 2
    assert report["rows"][1]["ids_equal"] is True
