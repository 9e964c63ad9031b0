"""Settings come from the command line first, then from the model's alias."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookahead_cli.cli.checks import check_record, check_writable
from lookahead_cli.cli.options import SettingOptions, config_of
from lookahead_cli.errors import InputError


def sizes(spec: str, *asked: int | None) -> tuple[int, int, int]:
    window, ngram, guesses = asked
    setting = SettingOptions(window_size=window, ngram_size=ngram, guess_set_size=guesses)
    config = config_of(spec, setting, max_new_tokens=8)
    return config.window_size, config.ngram_size, config.guess_set_size


def test_the_paper_names_settings_for_its_models() -> None:
    assert sizes("codellama-7b", None, None, None) == (15, 5, 15)
    assert sizes("codellama-34b", None, None, None) == (7, 5, 7)


def test_other_models_get_small_trees() -> None:
    assert sizes("smollm2-135m", None, None, None) == (7, 5, 7)
    assert sizes("somebody/some-model", None, None, None) == (7, 5, 7)


def test_what_was_asked_for_wins_one_by_one() -> None:
    assert sizes("codellama-7b", None, 3, 0) == (15, 3, 0)


def test_trying_to_write_leaves_nothing_behind(tmp_path: Path) -> None:
    check_writable(tmp_path / "trace.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_trying_to_write_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text("old", encoding="utf-8")
    check_writable(path)
    assert path.read_text(encoding="utf-8") == "old"


def test_the_prompt_is_never_overwritten(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("text", encoding="utf-8")
    (tmp_path / "link").symlink_to(prompt)
    with pytest.raises(InputError, match="the prompt itself"):
        check_record(tmp_path / "link", str(prompt))


def test_only_a_trace_is_overwritten_by_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text('{"type":"header","schema":1}\n', encoding="utf-8")
    check_record(path, "prompt.txt")
    path.write_text("my thesis", encoding="utf-8")
    with pytest.raises(InputError, match="is no trace"):
        check_record(path, "prompt.txt")
    assert path.read_text(encoding="utf-8") == "my thesis"
