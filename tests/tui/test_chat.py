"""The chat screen, answered by a tiny real model."""

from __future__ import annotations

import threading
from contextlib import asynccontextmanager

import pytest
from textual.events import Paste

from lookahead_cli.cli.chat import ChatModel
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import UsageError
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.trace.events import Progress
from lookahead_cli.tui.chat import ChatApp
from lookahead_cli.tui.theme import load_theme
from tests.tiny import save_tiny_model
from tests.tui.pilots import LARGE, SMALL, wait_until


class HeldAfterThreeSteps(ChatModel):
    """Goes on after its third event only when it is let, or stopped."""

    def answer(self, messages, cancel, report):
        for number, event in enumerate(super().answer(messages, cancel, report)):
            yield event
            if number == 3:
                cancel.wait(60)


def loading_when(allowed):
    class Held(ChatModel):
        def load(self, report):
            allowed.wait(60)
            return super().load(report)

    return Held


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model")))


def backend(folder, kind=ChatModel):
    config = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=12)
    return kind(ModelOptions(model=folder, device="cpu", dtype="float32"), config, PoolRequest())


@asynccontextmanager
async def conversation(answers, size=LARGE, system=None):
    app = ChatApp(answers, load_theme("dark"), system=system)
    async with app.run_test(size=size) as pilot:
        yield pilot, app


async def ask(pilot, question):
    await pilot.press(*question, "enter")


def said(app):
    return "\n".join(str(static.render()) for static in app.query("#talk Static"))


def titles(app):
    return str(app.query_one("#title").render())


async def test_two_turns_are_answered_with_all_that_was_said_before(folder):
    async with conversation(backend(folder), system="Be brief.") as (pilot, app):
        await ask(pilot, "one two")
        await wait_until(pilot, lambda: len(app.messages) == 3)
        await ask(pilot, "three")
        await wait_until(pilot, lambda: len(app.messages) == 5)
        assert [message["role"] for message in app.messages] == [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
        ]
        await wait_until(pilot, lambda: said(app).count("tokens in") == 2)
        assert "you: one two" in said(app)
        assert "W 3 N 3 G 3" in titles(app)


async def test_what_is_asked_while_the_model_is_loaded_is_answered_then(folder):
    held = threading.Event()
    async with conversation(backend(folder, loading_when(held))) as (pilot, app):
        await ask(pilot, "one")
        assert (said(app).count("you: one"), app.messages) == (1, [])
        held.set()
        await wait_until(pilot, lambda: len(app.messages) == 2)
        assert said(app).count("you: one") == 1


async def test_what_is_asked_while_the_model_is_loaded_can_be_taken_back(folder):
    may_load = threading.Event()
    async with conversation(backend(folder, loading_when(may_load))) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: "you: one" in said(app))
        await pilot.press("escape")
        assert app.query_one("PromptInput").text == "one"
        may_load.set()
        await wait_until(pilot, lambda: app._loaded)
        assert "you: one" not in said(app)
        assert app.messages == []


async def test_ctrl_c_empties_the_line_and_then_leaves(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await pilot.press(*"half a", "ctrl+c")
        assert app.query_one("PromptInput").text == ""
        assert not app.interrupted
        await pilot.press("ctrl+c")
        await wait_until(pilot, lambda: not app.is_running)
        assert app.interrupted


async def test_a_model_that_cannot_be_loaded_ends_the_chat_with_its_error(folder):
    options = ModelOptions(model=folder, device="cpu", dtype="float99")
    async with conversation(ChatModel(options, backend(folder).config, PoolRequest())) as (pilot, app):
        await wait_until(pilot, lambda: app._exit)
        assert isinstance(app.failure, UsageError)


async def test_a_question_during_an_answer_stays_in_the_line(folder):
    async with conversation(backend(folder, HeldAfterThreeSteps)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        await ask(pilot, "two")
        assert app.query_one("PromptInput").text == "two"
        assert [message["content"] for message in app.messages] == ["one"]


async def test_escape_keeps_the_part_that_came_and_marks_it(folder):
    async with conversation(backend(folder, HeldAfterThreeSteps)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "; stopped" in said(app))
        assert app.view.footer.finish_reason == "cancelled"
        assert app.messages[-1] == {"role": "assistant", "content": app.view.footer.text}
        assert len(app.view.steps) == 3


async def test_a_question_that_got_nothing_is_put_back(folder):
    class Refusing(ChatModel):
        def answer(self, messages, cancel, report):
            report(Progress("reading the prompt", 2, 9, "tokens"))
            cancel.wait(60)
            return super().answer(messages, cancel, report)

    async with conversation(backend(folder, Refusing)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: "reading" in str(app.query_one("#title").content))
        assert "model: reading the prompt, 2 of 9 tokens…" in said(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.query_one("PromptInput").text == "one")
        assert app.messages == []
        assert "reading" not in str(app.query_one("#title").content)


async def test_a_prompt_longer_than_the_context_is_said_and_the_conversation_stays(folder):
    async with conversation(backend(folder)) as (pilot, app):
        app.query_one("PromptInput").put("zq " * 300)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "context holds" in said(app))
        assert said(app).count("zq") == 0
        line = app.query_one("PromptInput")
        assert (line.text.count("zq"), line.cursor_location) == (300, line.document.end)


async def test_no_key_takes_the_focus_from_the_input(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await pilot.press(*"half", "tab", "tab", "shift+tab", "escape", *" a")
        assert app.query_one("PromptInput").text == "half a"


async def test_a_question_may_have_several_lines_pasted_or_typed(folder):
    async with conversation(backend(folder)) as (pilot, app):
        app.post_message(Paste("one\r\ntwo\rthree"))
        await wait_until(pilot, lambda: "three" in app.query_one("PromptInput").text)
        await pilot.press("ctrl+j", *"four", "shift+enter", *"five", "enter")
        await wait_until(pilot, lambda: len(app.messages) == 2)
        assert app.messages[0]["content"] == "one\ntwo\nthree\nfour\nfive"


async def test_up_and_down_go_through_what_was_sent(folder):
    async with conversation(backend(folder)) as (pilot, app):
        for count, question in enumerate(("one", "two"), start=1):
            await ask(pilot, question)
            await wait_until(pilot, lambda count=count: said(app).count("tokens in") == count)
        await pilot.press(*"draft", "up")
        assert app.query_one("PromptInput").text == "two"
        await pilot.press("up", "up")
        assert app.query_one("PromptInput").text == "one"
        await pilot.press("down", "down")
        assert app.query_one("PromptInput").text == "draft"


@pytest.mark.parametrize(("size", "at_first"), [(LARGE, True), (SMALL, False)])
async def test_one_key_hides_and_shows_the_panels(folder, size, at_first):
    async with conversation(backend(folder), size) as (pilot, app):
        await wait_until(pilot, lambda: app.query_one("#panels").display is at_first)
        await pilot.press("f2")
        await wait_until(pilot, lambda: app.query_one("#panels").display is not at_first)


async def test_leaving_in_the_middle_of_an_answer_ends_the_program(folder):
    async with conversation(backend(folder, HeldAfterThreeSteps)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        await pilot.press("ctrl+q")
        await wait_until(pilot, lambda: app._exit)


def test_cancelling_reaches_a_run_that_is_being_read(folder):
    cancel = threading.Event()
    cancel.set()
    *_, footer = backend(folder).answer([{"role": "user", "content": "one"}], cancel, lambda _: None)
    assert (footer.finish_reason, footer.steps) == ("cancelled", 0)


def test_the_pool_lives_on_from_turn_to_turn(folder):
    chat = backend(folder)
    messages = [{"role": "user", "content": "one two"}]
    *_, first = chat.answer(messages, threading.Event(), lambda _: None)
    kept = len(chat._pool)
    messages += [{"role": "assistant", "content": first.text}, {"role": "user", "content": "three"}]
    _, step, *_ = chat.answer(messages, threading.Event(), lambda _: None)
    assert kept > 0
    assert step.step.pool.size >= kept


async def test_a_smaller_terminal_keeps_the_newest_lines_in_sight_and_an_answer_what_is_read(folder):
    async with conversation(backend(folder)) as (pilot, app):
        for count, question in enumerate(("one\n" * 9, "two\n" * 9, "three"), start=1):
            app.query_one("PromptInput").put(question)
            await pilot.press("enter")
            await wait_until(pilot, lambda count=count: said(app).count("tokens in") == count)
        talk = app.query_one("#talk")
        await pilot.resize_terminal(44, 12)
        await wait_until(pilot, lambda: talk.size.width < 60 and talk.is_vertical_scroll_end)
        await pilot.press("pageup")
        await wait_until(pilot, lambda: talk.scroll_y < talk.max_scroll_y)
        seen = talk.scroll_y
        app._stream()
        await pilot.pause()
        assert talk.scroll_y == seen
