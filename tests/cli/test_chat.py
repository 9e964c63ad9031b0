"""`lookahead chat` through standard input and output, with a tiny real model."""

from __future__ import annotations

import io

import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model")))


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
