"""Text files that are attached on the chat screen."""

from __future__ import annotations

import pytest

from lookahead_cli.tui.paths import paths_from
from tests.tiny import save_tiny_model
from tests.tui.chats import backend, command, conversation, messages, said
from tests.tui.pilots import wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model"), max_position_embeddings=1024))


async def test_a_file_goes_with_the_next_question_alone(folder, tmp_path):
    (tmp_path / "add.py").write_text("def add(a, b):\n    return a + b\n")
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, lambda: not app.turns.busy)
        await command(pilot, f"/file {tmp_path / 'add.py'}")
        await wait_until(pilot, lambda: "add.py goes with the next question" in said(app))
        await command(pilot, "what is it")
        await wait_until(pilot, lambda: len(messages(app)) == 2 and not app.turns.busy)
        assert messages(app)[0][1] == ("add.py:\n```py\ndef add(a, b):\n    return a + b\n```\n\nwhat is it")
        await command(pilot, f"/file {tmp_path / 'add.py'}")
        await command(pilot, "/file none")
        await wait_until(pilot, lambda: "No file goes" in said(app))
        await command(pilot, "again")
        await wait_until(pilot, lambda: len(messages(app)) == 4)
        assert messages(app)[2][1] == "again"


async def test_a_file_that_is_missing_or_no_text_is_said(folder, tmp_path):
    (tmp_path / "picture").write_bytes(b"\x89PNG\0")
    async with conversation(backend(folder)) as (pilot, app):
        await command(pilot, f"/file {tmp_path / 'nothing'}")
        await wait_until(pilot, lambda: "There is no file" in said(app))
        await command(pilot, f"/file {tmp_path / 'picture'}")
        await wait_until(pilot, lambda: "not text in UTF-8" in said(app))


async def test_tab_finishes_the_path(folder, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "today.txt").write_text("rain")
    async with conversation(backend(folder)) as (pilot, app):
        app.line.put(f"/file {tmp_path}/no")
        await pilot.press("tab")
        await wait_until(pilot, lambda: app.line.text == f"/file {tmp_path}/notes/")
        await pilot.press("tab")
        await wait_until(pilot, lambda: app.line.text == f"/file {tmp_path}/notes/today.txt")


def test_paths_are_offered_as_they_were_begun(tmp_path, monkeypatch):
    for name in ("b.txt", "bag.txt", ".hidden"):
        (tmp_path / name).write_text("x")
    (tmp_path / "boxes").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert list(paths_from("")) == ["boxes/", "b.txt", "bag.txt"]
    assert list(paths_from("~/ba")) == ["~/bag.txt"]
    assert list(paths_from(f"{tmp_path}/.h")) == [f"{tmp_path}/.hidden"]
    assert list(paths_from("nowhere/x")) == []
