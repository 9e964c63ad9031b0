"""`lookahead chat` through standard input and output, with a tiny real model."""

from __future__ import annotations

import io
import json

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model")))


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_DATA", str(tmp_path / "data"))


def asked(folder, *more):
    return run(["chat", "--model", folder, "--dtype", "float32", "--max-new-tokens", "8", *more])


def piped(text):
    return io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8")


def test_a_piped_question_is_answered_on_standard_output(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", piped("one two\n"))
    assert run(["chat", "--plain", "--model", folder, "--max-new-tokens", "8"]) == 0
    output = capsys.readouterr()
    assert output.out.endswith("\n")
    assert len(output.out) > 1
    assert "tokens in" in output.err
    assert "tokens in" not in output.out


def test_nothing_piped_is_said(folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", piped("  \n"))
    assert run(["chat", "--plain", "--model", folder]) == ExitCode.INPUT
    assert "Pipe a question into it" in capsys.readouterr().err


def test_a_setting_that_cannot_work_is_refused_before_a_model_is_loaded(capsys):
    assert run(["chat", "--plain", "--temperature", "-0.7"]) == ExitCode.USAGE
    assert "temperature = -0.7" in capsys.readouterr().err


def test_one_prompt_is_answered_and_nothing_of_it_is_kept(folder, capsys):
    assert asked(folder, "--prompt", "one two") == 0
    text = capsys.readouterr().out
    assert asked(folder, "-p", "one two", "--json") == 0
    body = json.loads(capsys.readouterr().out)
    assert text == body["answer"] + "\n"
    assert (body["type"], body["tokens"], len(body["ids"]), body["session"]) == ("answer", 8, 8, None)
    assert body["compression_ratio"] == body["tokens"] / body["steps"]
    assert run(["sessions", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_lines_come_a_step_and_together_they_are_the_answer(folder, capsys):
    assert asked(folder, "-p", "one two", "--jsonl") == 0
    *steps, answer = map(json.loads, capsys.readouterr().out.splitlines())
    assert [step["step"] for step in steps] == list(range(answer["steps"]))
    assert [token for step in steps for token in step["ids"]] == answer["ids"]
    assert "".join(step["text"] for step in steps) == answer["answer"].rstrip("\ufffd")


def test_a_named_session_is_gone_on_with(folder, capsys):
    assert asked(folder, "-p", "one two", "--session", "mine", "--system", "Be brief.", "--json") == 0
    first = json.loads(capsys.readouterr().out)
    assert asked(folder, "-p", "three", "--resume", "--json") == 0
    second = json.loads(capsys.readouterr().out)
    assert first["session"] == second["session"] == "mine"
    assert second["prompt_tokens"] > first["prompt_tokens"] + first["tokens"]
    assert run(["sessions", "show", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "one two" in shown
    assert "three" in shown


def test_a_session_is_gone_on_with_by_its_own_model(folder, capsys):
    assert asked(folder, "-p", "one two", "--session", "mine") == 0
    capsys.readouterr()
    assert run(["chat", "-p", "three", "-r", "--dtype", "float32", "-t", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == folder


def test_a_file_goes_before_the_question(folder, tmp_path, capsys):
    file = tmp_path / "sum.py"
    file.write_text("a = '```'\n", encoding="utf-8")
    assert asked(folder, "-p", "What is it?", "--file", str(file), "--session", "mine", "--json") == 0
    capsys.readouterr()
    assert run(["sessions", "export", "mine", "--format", "json"]) == 0
    question = json.loads(capsys.readouterr().out)["messages"][0]["content"]
    assert question == "sum.py:\n````py\na = '```'\n````\n\nWhat is it?"


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--json", "--jsonl"), "both want standard output"),
        (("--resume", "--session", "x"), "name two conversations"),
        (("--no-save", "--session", "x"), "keeps nothing"),
    ],
)
def test_what_does_not_go_together_is_refused(folder, capsys, flags, said):
    assert asked(folder, "-p", "one", *flags) == ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_a_missing_attachment_is_named(folder, capsys):
    assert asked(folder, "-p", "one", "--file", "nowhere.txt") == ExitCode.INPUT
    assert "There is no file 'nowhere.txt'" in capsys.readouterr().err


def test_a_session_keeps_its_own_model_and_system_prompt_against_settings_and_not_against_flags(
    folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert asked(folder, "-p", "one", "--session", "mine", "--system", "Be brief.") == 0
    settings = tmp_path / "lookahead.toml"
    settings.write_text('model = "smollm2-135m"\n[chat]\nsystem = "Be long."\n', encoding="utf-8")
    again = ["chat", "-p", "two", "--session", "mine", "--dtype", "float32", "-t", "4", "--json"]
    capsys.readouterr()
    assert run(again) == 0
    assert json.loads(capsys.readouterr().out)["model"] == folder
    assert run(["sessions", "export", "mine", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["system"] == "Be brief."
    assert run([*again, "--system", "Be kind."]) == 0
    capsys.readouterr()
    assert run(["sessions", "export", "mine", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["system"] == "Be kind."
    # Another session takes what is set.
    assert asked(folder, "-p", "one", "--session", "other") == 0
    capsys.readouterr()
    assert run(["sessions", "export", "other", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["system"] == "Be long."


TURN = "the quick brown fox and the dog " * 5


def fill(folder):
    """Three turns in a session of the tiny model, whose context of 256 tokens has no room for the third."""
    return [asked(folder, "--session", "long", "-p", TURN, "--max-new-tokens", "24") for _ in range(3)]


def test_a_full_context_is_an_error_that_says_what_to_do_next(folder, capsys):
    assert fill(folder) == [ExitCode.OK, ExitCode.OK, ExitCode.INPUT]
    assert "of 256 tokens are used. Begin another conversation, or" in capsys.readouterr().err


def test_the_oldest_turns_are_left_out_where_that_was_asked_for_and_it_is_said(folder, capsys, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_WHEN_FULL", "drop")
    assert fill(folder) == [ExitCode.OK] * 3
    error = capsys.readouterr().err
    assert "messages are no longer fed; nothing stands for them." in error


@pytest.mark.parametrize(("typed", "code"), [("d\n", ExitCode.OK), ("stop\n", ExitCode.INPUT)])
def test_a_person_at_a_terminal_is_asked(folder, capsys, monkeypatch, typed, code):
    fill(folder)
    terminal = piped(typed)
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", terminal)
    assert asked(folder, "--session", "long", "-p", TURN, "--max-new-tokens", "24") == code
    assert "Drop the oldest turns, summarise them, or stop?" in capsys.readouterr().err


def test_each_answer_is_checked_against_greedy_decoding_where_that_was_asked_for(folder, capsys):
    assert asked(folder, "-p", "one two", "--greedy-check") == 0
    assert "checked: greedy decoding gives the same 8 token ids" in capsys.readouterr().err
    assert asked(folder, "-p", "one two", "--greedy-check", "--json", "--temperature", "0.8") == 0
    assert json.loads(capsys.readouterr().out)["greedy_ids_equal"] is True
    assert asked(folder, "-p", "one two", "--json") == 0
    assert json.loads(capsys.readouterr().out)["greedy_ids_equal"] is None
