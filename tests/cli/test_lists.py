"""`lookahead models` and `lookahead themes` list what there is to choose from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lookahead_cli.cli import run


def test_models_name_size_licence_and_the_papers_settings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (default,) = (line for line in lines if line.startswith("smollm2-135m *"))
    assert "93 MB" in default
    assert "Apache-2.0" in default
    (paper,) = (line for line in lines if line.startswith("codellama-7b"))
    assert "15,5,15" in paper
    assert max(map(len, lines)) <= 80


def test_models_say_which_are_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(tmp_path))

    def cached() -> bool:
        assert run(["models", "--json"]) == 0
        (default,) = (row for row in json.loads(capsys.readouterr().out) if row["default"])
        return bool(default["cached"])

    assert not cached()
    folder = tmp_path / "models" / "SmolLM2-135M-Instruct-0123abcd"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    assert cached()


def test_themes_are_listed_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["themes", "--json"]) == 0
    names = {row["name"] for row in json.loads(capsys.readouterr().out)}
    assert len(names) >= 3
    assert run(["themes"]) == 0
    page = capsys.readouterr().out
    assert all(name in page for name in names)
    assert {"accepted", "free", "rejected", "wanted"} <= set(page.split())
