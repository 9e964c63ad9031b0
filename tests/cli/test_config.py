"""Settings: two files, the environment, flags; each stronger than those before it."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    own, here = tmp_path / "own", tmp_path / "here"
    own.mkdir()
    here.mkdir()
    monkeypatch.setenv("LOOKAHEAD_CONFIG", str(own))
    monkeypatch.chdir(here)
    return own / "config.toml", here / "lookahead.toml"


def shown(capsys: pytest.CaptureFixture[str], *more: str) -> list[dict[str, object]]:
    assert run(["config", "show", "--json", *more]) == 0
    rows: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return rows


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments] or ["models"]) == ExitCode.USAGE
    said = capsys.readouterr()
    assert not said.out
    return said.err


def test_each_place_is_stronger_than_those_before_it(folders, monkeypatch, capsys) -> None:
    own, here = folders
    (here.parent / "prompt.txt").write_text("one two three", encoding="utf-8")

    def complaint(*flags: str) -> str:
        return refused(capsys, "visualize", "prompt.txt", *flags)

    own.write_text("window-size = -1", encoding="utf-8")
    assert "W = -1" in complaint()
    here.write_text("window-size = -2", encoding="utf-8")
    assert "W = -2" in complaint()
    here.write_text("window-size = -2\n[visualize]\nwindow-size = -3", encoding="utf-8")
    assert "W = -3" in complaint()
    monkeypatch.setenv("LOOKAHEAD_WINDOW_SIZE", "-4")
    assert "W = -4" in complaint()
    assert "W = -5" in complaint("-W", "-5")


def test_a_table_is_for_its_command_and_measuring_takes_decoding_from_its_own(folders, capsys) -> None:
    own, _ = folders
    own.write_text(
        'dtype = "float16"\nwindow_size = 3\n[chat]\nsystem = "Be brief."\n[bench]\nwindow-size = 9\n',
        encoding="utf-8",
    )
    assert {(row["key"], row["value"]): (row["commands"], row["line"]) for row in shown(capsys)} == {
        ("dtype", "float16"): (["visualize", "chat", "compare", "bench"], 1),
        ("window-size", 3): (["visualize", "chat"], 2),
        ("system", "Be brief."): (["chat"], 4),
        ("window-size", 9): (["bench"], 6),
    }


def test_what_a_stronger_place_says_counts_for_nobody(folders, monkeypatch, capsys) -> None:
    folders[0].write_text("temperature = 0.5\n", encoding="utf-8")
    monkeypatch.setenv("LOOKAHEAD_TEMPERATURE", "0.25")
    assert [(row["origin"], row["commands"]) for row in shown(capsys)] == [
        (str(folders[0]), []),
        ("LOOKAHEAD_TEMPERATURE", ["visualize", "chat"]),
    ]
    assert run(["config", "show"]) == 0
    assert re.search(r"temperature +0.5 +\(a stronger one counts\)", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\nwindw-size = 3", "line 2: there is no setting called 'windw-size'. Did you mean 'window-size'?"),
        ("[visualise]\npaused = true", "line 1: there is no setting called 'visualise'. Did you mean 'visu"),
        ("[chat]\nrepeats = 3", "line 2: there is no setting called 'repeats' in [chat]. It belongs to [c"),
        ('window-size = "wide"', "line 1: 'window-size' cannot be 'wide': Input should be a valid integer"),
        ("window-size = true", "line 1: 'window-size' cannot be True: it takes one value."),
        ("greedy = 1", "line 1: 'greedy' cannot be 1: it takes true or false."),
        ('stop = "end"', "line 1: 'stop' cannot be 'end': it takes a list."),
        ('method = "magic"', "line 1: 'method' cannot be 'magic': 'magic' is not one of 'greedy'"),
        ("[window-size]\na = 1", "line 1: 'window-size' cannot be {'a': 1}: it takes one value."),
        ('record = "x.jsonl"', "line 1: 'record' is a matter of one run. Give it as a flag."),
        (
            "a = = 3",
            "are no TOML: Invalid value (at line 1, column 5). Mend it with `lookahead config edit`.",
        ),
    ],
)
def test_what_no_option_takes_names_the_file_the_line_and_the_nearest_key(
    folders, capsys, text: str, said: str
) -> None:
    folders[0].write_text(text, encoding="utf-8")
    complaint = refused(capsys)
    assert str(folders[0]) in complaint
    assert said in complaint


def test_a_variable_that_is_no_setting_is_named(monkeypatch, capsys) -> None:
    monkeypatch.setenv("LOOKAHEAD_MODLE", "x")
    assert "LOOKAHEAD_MODLE: there is no setting called 'modle'. Did you mean 'model'?" in refused(capsys)


def test_a_switch_in_the_environment_takes_words(monkeypatch, capsys) -> None:
    monkeypatch.setenv("LOOKAHEAD_PAUSED", "off")
    assert shown(capsys)[0]["value"] is False
    monkeypatch.setenv("LOOKAHEAD_PAUSED", "maybe")
    assert "LOOKAHEAD_PAUSED: 'paused' cannot be 'maybe': it takes true or false." in refused(capsys)


def test_only_the_command_itself_leaves_the_settings_unread(folders, capsys):
    folders[0].write_text("broken", encoding="utf-8")
    assert "are no TOML" in refused(capsys, "chat", "--prompt", "config")


def test_help_and_the_way_to_mend_a_file_work_whatever_it_says(folders, capsys) -> None:
    folders[0].write_text("broken", encoding="utf-8")
    assert run(["config", "path"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(folders[0]), f"{folders[1].absolute()} (not there)"]
    for arguments in (["-h"], ["chat", "-h"], ["config"], ["config", "show", "-h"]):
        assert run(arguments) == 0
        assert "Usage: lookahead" in capsys.readouterr().out


def editor(folder: Path, script: str) -> str:
    program = folder / "editor"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(program)


def test_a_new_file_has_every_key_and_sets_nothing(folders, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, "exit 0"))
    assert run(["config", "edit"]) == 0
    assert "is in order" in capsys.readouterr().err
    lines = folders[0].read_text(encoding="utf-8").splitlines()
    assert all(line.startswith("#") or not line for line in lines)
    assert {"# model = …", "# window-size = …", "# [visualize]"} <= {line.split("  #")[0] for line in lines}
    assert shown(capsys) == []
    # Every key of it is one: with their values taken from the defaults they all pass.
    taken = [line.removeprefix("# ") for line in lines[4:] if "= …" not in line]
    folders[0].write_text("\n".join(taken), encoding="utf-8")
    assert len(shown(capsys)) > 20


def test_what_was_edited_is_checked(folders, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("VISUAL", editor(tmp_path, 'echo "modle = 3" > "$1"'))
    assert "'lookahead.toml', line 1" in refused(capsys, "config", "edit", "--local")
    monkeypatch.setenv("VISUAL", editor(tmp_path, "exit 3"))
    assert "ended with code 3" in refused(capsys, "config", "edit")
    monkeypatch.setenv("VISUAL", "no-such-editor")
    assert "is not there. Name one in the environment variable EDITOR" in refused(capsys, "config", "edit")


def test_every_default_is_told(capsys) -> None:
    assert run(["config", "show"]) == 0
    assert "Nothing is set" in capsys.readouterr().out
    assert run(["config", "show", "--all"]) == 0
    assert re.search(r'device +"auto" +visualize, chat,.* default', capsys.readouterr().out)
