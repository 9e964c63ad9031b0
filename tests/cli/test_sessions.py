"""`lookahead sessions` lists, reads, renames, deletes, exports and opens what a chat kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.reader import read_trace
from lookahead_cli.tui.tour.traces import open_trace

ANSWER = "Like this:\n\n```python\nprint('[bold]')"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOKAHEAD_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def kept(folder: Path) -> None:
    store = SessionStore(folder)
    session = store.create("smollm2-135m", "Be brief.")
    session.ask("How do I print?")
    answer = session.answer("smollm2-135m")
    with open_trace("lookahead") as lines:
        *events, footer = read_trace(lines)
    for event in [*events, footer]:
        answer.write(event)
    answer.finish(ANSWER, footer.output_ids, "length", Figures(6, 2, 0.5))
    session.close()
    store.create("other", name="empty").close()
    store.close()


def test_without_any_session_it_says_how_to_begin_one(capsys) -> None:
    assert run(["sessions"]) == 0
    assert "`lookahead chat` begins one" in capsys.readouterr().out


def test_they_are_listed_and_searched(kept, capsys) -> None:
    assert run(["sessions"]) == 0
    out = capsys.readouterr().out
    assert "How do I print?" in out
    assert "empty" in out
    assert run(["sessions", "search", "LIKE THIS", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["messages"]) == ("How do I print?", 2)
    assert run(["sessions", "search", "nowhere"]) == 0
    assert "No session has 'nowhere'" in capsys.readouterr().out


def test_a_session_is_printed_as_it_is(kept, capsys) -> None:
    assert run(["sessions", "show", "how"]) == 0
    assert "print('[bold]')" in capsys.readouterr().out


def test_it_is_renamed_and_deleted(kept, capsys) -> None:
    assert run(["sessions", "rename", "How", "printing"]) == 0
    assert run(["sessions", "delete", "printing"]) == ExitCode.USAGE
    assert "Add --yes" in capsys.readouterr().err
    assert run(["sessions", "delete", "printing", "--yes"]) == 0
    assert run(["sessions", "show", "printing"]) == ExitCode.INPUT
    assert "no session called 'printing'" in capsys.readouterr().err


def test_markdown_closes_its_blocks_and_json_has_the_ids(kept, tmp_path, capsys) -> None:
    assert run(["sessions", "export", "How"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# How do I print?\n")
    assert "> Be brief.\n" in out
    assert "print('[bold]')\n```\n\n*6 tokens in 2 steps, S 3.00; cut by its length*" in out
    target = tmp_path / "session.json"
    assert run(["sessions", "export", "How", "-o", str(target)]) == 0
    body = json.loads(target.read_text(encoding="utf-8"))
    assert [message["role"] for message in body["messages"]] == ["user", "assistant"]
    assert body["messages"][1]["content"] == ANSWER
    assert len(body["messages"][1]["ids"]) > 6


def test_an_answer_is_opened_as_the_run_that_it_was(kept, capsys) -> None:
    assert run(["sessions", "open", "How", "--json"]) == 0
    with open_trace("lookahead") as lines:
        opened, recorded = capsys.readouterr().out.splitlines(), lines.read().splitlines()
    header = json.loads(opened[0])
    # The recording is older than the number of processes in a header.
    assert header.pop("ranks") == 1
    assert header == json.loads(recorded[0])
    assert opened[1:] == recorded[1:]
    assert run(["sessions", "open", "How", "--compact"]) == 0
    assert "compression ratio S = " in capsys.readouterr().out
    assert run(["sessions", "open", "How", "-n", "1"]) == ExitCode.USAGE
    assert "Message 1 of 'How do I print?' is no answer. Choose one of 2." in capsys.readouterr().err
    assert run(["sessions", "open", "empty"]) == ExitCode.INPUT
