"""What a model thinks before it answers: folded on the chat screen, whole in the session."""

from __future__ import annotations

import pytest

from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.thinking import Divided, divided, opens_thinking
from tests.tiny import save_tiny_model
from tests.tui.chats import backend, command, conversation
from tests.tui.pilots import LARGE, SMALL, screen_text, wait_until

WHOLE = "<think>\nTwo and two make four.\n</think>\n\nIt is **4**."


@pytest.mark.parametrize(
    ("text", "begun", "parts"),
    [
        (WHOLE, False, Divided("Two and two make four.", "It is **4**.")),
        ("Two and\n</think>\n4", False, Divided("Two and", "4")),
        ("<reasoning>a</reasoning>b", False, Divided("a", "b")),
        ("<think>Two a", False, Divided("Two a", "", has_ended=False)),
        ("Two a", True, Divided("Two a", "", has_ended=False)),
        ("<think>\n\n</think>\n\n4", False, Divided("", "4")),
        ("a tag <think> in the middle </think> of it", False, None),
        ("4", False, None),
    ],
)
def test_a_section_at_the_beginning_is_apart_from_the_answer(text, begun, parts):
    assert divided(text, is_begun=begun) == (parts or Divided("", text))


def test_a_template_may_open_the_section_in_the_prompt():
    assert opens_thinking("<|user|>2+2<|assistant|><think>\n")
    assert not opens_thinking("<|user|>2+2<|assistant|>")


@pytest.mark.parametrize("size", [LARGE, SMALL])
async def test_thoughts_are_folded_and_a_key_unfolds_them(tmp_path, size):
    folder = str(save_tiny_model(tmp_path / "model"))
    session = SessionStore(tmp_path / "data").create("tiny")
    session.ask("2 + 2")
    session.answer("tiny").finish(WHOLE, (5,), "eos", Figures(4, 2, 0.5))
    async with conversation(backend(folder), size, session=session) as (pilot, app):
        await wait_until(pilot, lambda: "thought, 5 words" in screen_text(pilot))
        assert "It is 4." in screen_text(pilot)
        assert "make four" not in screen_text(pilot)
        await pilot.press("f9")
        await wait_until(pilot, lambda: "Two and two make four." in screen_text(pilot))
        await command(pilot, "/thoughts")
        await wait_until(pilot, lambda: "make four" not in screen_text(pilot))
        await command(pilot, "/copy")
        await wait_until(pilot, lambda: app.clipboard == "It is **4**.")
        await command(pilot, f"/export {tmp_path / 'talk.md'}")
        await wait_until(pilot, (tmp_path / "talk.md").exists)
        assert WHOLE in (tmp_path / "talk.md").read_text()


async def test_thoughts_that_come_are_counted_and_the_answer_follows_them(tmp_path):
    folder = str(save_tiny_model(tmp_path / "model"))
    async with conversation(backend(folder)) as (pilot, app):
        answer = app.column.begin_answer("")
        await wait_until(pilot, lambda: answer.is_mounted)
        for end in range(1, len(WHOLE) + 1):
            answer.show(WHOLE[:end], None)
            if end == WHOLE.index("make"):
                await wait_until(pilot, lambda: "thinking, 3 words" in screen_text(pilot))
        await wait_until(pilot, lambda: "thought, 5 words" in screen_text(pilot))
        await wait_until(pilot, lambda: "It is 4." in screen_text(pilot))
        assert "<think" not in screen_text(pilot)
        assert "make four" not in screen_text(pilot)
        assert app.query(AnswerView).last().text == WHOLE
