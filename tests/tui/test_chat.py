"""The chat screen, answered by a tiny real model."""

from __future__ import annotations

import threading

import pytest
from textual.events import Paste

from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.cli.chat import ChatModel
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.errors import UsageError
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.events import Progress
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.clipboard import code_blocks
from lookahead_cli.tui.token_text import plain_text
from tests.tiny import save_tiny_model
from tests.tui.chats import (
    HeldAfterThreeSteps,
    ask,
    backend,
    command,
    conversation,
    loading_when,
    messages,
    said,
    titles,
)
from tests.tui.pilots import LARGE, SMALL, wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model")))


async def test_two_turns_are_answered_with_all_that_was_said_before(folder):
    async with conversation(backend(folder), system="Be brief.") as (pilot, app):
        await ask(pilot, "one two")
        await wait_until(pilot, lambda: len(app.talk.messages) == 2)
        await ask(pilot, "three")
        await wait_until(pilot, lambda: len(app.talk.messages) == 4)
        assert [role for role, _ in messages(app)] == ["user", "assistant"] * 2
        assert app.talk.fed_messages[0] == {"role": "system", "content": "Be brief."}
        await wait_until(pilot, lambda: said(app).count("tokens in") == 2)
        assert "you: one two" in said(app)
        assert "W 3 N 3 G 3" in titles(app)


async def test_what_is_asked_while_the_model_is_loaded_is_answered_then(folder):
    held = threading.Event()
    async with conversation(backend(folder, loading_when(held))) as (pilot, app):
        await ask(pilot, "one")
        assert (said(app).count("you: one"), messages(app)) == (1, [])
        held.set()
        await wait_until(pilot, lambda: len(app.talk.messages) == 2)
        assert said(app).count("you: one") == 1


async def test_what_is_asked_while_the_model_is_loaded_can_be_taken_back(folder):
    may_load = threading.Event()
    async with conversation(backend(folder, loading_when(may_load))) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: "you: one" in said(app))
        await pilot.press("escape")
        assert app.query_one("PromptInput").text == "one"
        may_load.set()
        await wait_until(pilot, lambda: not app.turns.loading)
        assert "you: one" not in said(app)
        assert messages(app) == []


@pytest.mark.parametrize(
    ("line", "does"),
    [
        ("/context summarise", lambda app: "nothing to leave out" in said(app)),
        ("/context", lambda app: "0 of 256 tokens" in said(app)),
        ("/set W 5", lambda app: app.talk.answerer.config.window_size == 5),
        ("/method greedy", lambda app: app.talk.answerer.config.method == "greedy"),
        ("/pool", lambda app: "The pool holds 0 n-grams" in said(app)),
        ("/retry", lambda app: "Nothing was answered yet" in said(app)),
        ("/continue", lambda app: "ended by itself" in said(app)),
        ("/undo", lambda app: "nothing to take back" in said(app)),
        ("/system Be brief.", lambda app: app.talk.system == "Be brief."),
        ("/clear", lambda app: "A new conversation." in said(app)),
        ("/load x", lambda app: "not kept" in said(app)),
        ("/model {folder}", lambda app: "answers from now on" in said(app)),
    ],
)
async def test_a_command_that_needs_the_model_waits_until_it_is_loaded(folder, line, does):
    may_load = threading.Event()
    line = line.format(folder=folder)
    async with conversation(backend(folder, loading_when(may_load))) as (pilot, app):
        await command(pilot, line)
        await wait_until(pilot, lambda: f"{line} waits until the model is loaded" in said(app))
        assert app.line.text == ""
        await command(pilot, "/undo")
        await wait_until(pilot, lambda: app._notifications and app.line.text == "/undo")
        app.line.put("")
        may_load.set()
        await wait_until(pilot, lambda: does(app) and "waits until" not in said(app))


async def test_a_command_that_waits_is_taken_back_and_others_are_answered_at_once(folder):
    may_load = threading.Event()
    async with conversation(backend(folder, loading_when(may_load))) as (pilot, app):
        await command(pilot, "/clear")
        await wait_until(pilot, lambda: "waits until" in said(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.line.text == "/clear")
        await command(pilot, "/system")
        await wait_until(pilot, lambda: "There is no system prompt" in said(app))
        await command(pilot, "/stats")
        await wait_until(pilot, lambda: "Nothing was answered yet" in said(app))
        may_load.set()
        await wait_until(pilot, lambda: not app.turns.loading)
        assert "waits until" not in said(app)
        assert "A new conversation" not in said(app)


@pytest.mark.parametrize("line", ["/clear", "/set W 5", "/retry"])
async def test_a_command_that_waits_for_an_answer_stays_in_the_line(folder, line):
    async with conversation(backend(folder, HeldAfterThreeSteps)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        await command(pilot, line)
        await wait_until(pilot, lambda: app._notifications and app.line.text == line)


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
        assert messages(app) == [("user", "one")]


async def test_escape_keeps_the_part_that_came_and_marks_it(folder):
    async with conversation(backend(folder, HeldAfterThreeSteps)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        await pilot.press("escape")
        await wait_until(pilot, lambda: "; stopped" in said(app))
        assert app.view.footer.finish_reason == "cancelled"
        assert messages(app)[-1] == ("assistant", app.view.footer.text)
        assert len(app.view.steps) == 3


async def test_a_question_that_got_nothing_is_put_back(folder):
    class Refusing(ChatModel):
        def run(self, prompt_ids, cancel, report):
            report(Progress("reading the prompt", 2, 9, "tokens"))
            cancel.wait(60)
            return super().run(prompt_ids, cancel, report)

    async with conversation(backend(folder, Refusing)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: "reading" in str(app.query_one("#title").content))
        assert "model: reading the prompt, 2 of 9 tokens…" in said(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.query_one("PromptInput").text == "one")
        assert messages(app) == []
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
        await wait_until(pilot, lambda: len(app.talk.messages) == 2)
        assert messages(app)[0][1] == "one\ntwo\nthree\nfour\nfive"


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


def test_the_pool_lives_on_from_turn_to_turn(folder):
    chat = backend(folder)
    talk = Conversation(chat)
    list(talk.ask("one two", threading.Event(), lambda _: None))
    kept = len(chat._pool)
    _, step, *_ = talk.ask("three", threading.Event(), lambda _: None)
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
        app.turns.stream()
        await pilot.pause()
        assert talk.scroll_y == seen


async def test_an_answer_is_given_again_gone_on_with_and_taken_back(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: said(app).count("tokens in") == 1)
        first = messages(app)[-1]
        await pilot.press("ctrl+r")
        await wait_until(pilot, lambda: said(app).count("tokens in") == 2)
        assert messages(app) == [("user", "one"), first]
        await command(pilot, "/continue")
        await wait_until(pilot, lambda: len(messages(app)[-1][1]) > len(first[1]))
        # The figures of the part before are no longer there.
        await wait_until(pilot, lambda: app.turns.answer.figures and said(app).count("tokens in") == 2)
        assert messages(app)[-1][1].startswith(first[1])
        assert app.turns.answer.text == plain_text(messages(app)[-1][1])
        assert (
            said(app).count(plain_text(first[1])) == 2
        )  # the first answer, and the one that was gone on with
        await command(pilot, "/undo")
        await wait_until(pilot, lambda: app.query_one("PromptInput").text == "one")
        assert messages(app) == []
        assert "tokens in" not in said(app)


async def test_what_was_said_is_shown_again_and_earlier_messages_by_number(folder, tmp_path):
    store = SessionStore(tmp_path)
    session = store.create("tiny")
    for turn in range(15):
        session.ask(f"question {turn}")
        session.answer("tiny").finish(f"**answer** {turn}", (5,), "eos", Figures(4, 2, 0.5))
    async with conversation(backend(folder), session=session) as (pilot, app):
        await wait_until(pilot, lambda: "**answer** 14" in said(app))
        assert "… 20 messages before; page up shows them." in said(app)
        assert "question 9" not in said(app)
        await wait_until(pilot, lambda: app.query_one("#talk").is_vertical_scroll_end)
        while "messages before" in said(app):
            await pilot.press("pageup")
        await wait_until(pilot, lambda: "question 0" in said(app))
        await command(pilot, "/stats")
        await wait_until(pilot, lambda: said(app).count("15 answers, 60 tokens, 8.0 tokens/s, S 2.00") == 2)
        await command(pilot, f"/export {tmp_path / 'talk.md'}")
        await wait_until(pilot, lambda: "The conversation is in" in said(app))
        assert "## tiny\n\n**answer** 14" in (tmp_path / "talk.md").read_text()
        await command(pilot, "/save mine")
        await wait_until(pilot, lambda: "The session is called 'mine'" in said(app))
        await command(pilot, "/copy code")
        await wait_until(pilot, lambda: "has no block of code" in said(app))
        await command(pilot, "/copy")
        assert app.clipboard == "**answer** 14"


async def test_a_word_behind_a_slash_that_is_no_command_is_said_and_a_path_is_a_question(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await command(pilot, "/retyr")
        await wait_until(pilot, lambda: "There is no command /retyr. Did you mean /retry?" in said(app))
        for text, complaint in (
            ("/retry", "Nothing was answered yet"),
            ("/continue", "ended by itself"),
            ("/undo", "nothing to take back"),
            ("/copy", "nothing to copy yet"),
            ("/save x", "is not kept"),
            ("/copy this", "cannot copy 'this'"),
        ):
            await command(pilot, text)
            await wait_until(pilot, lambda complaint=complaint: complaint in said(app))
        await command(pilot, "/help")
        await wait_until(pilot, lambda: "/export [FILE]" in said(app))
        await command(pilot, "/etc/hosts?")
        await wait_until(pilot, lambda: len(app.talk.messages) == 2)


async def test_tab_finishes_a_command(folder):
    async with conversation(backend(folder)) as (pilot, app):
        line = app.query_one("PromptInput")
        await pilot.press(*"/re", "tab")
        assert line.text == "/retry "
        line.put("/co")
        await pilot.press("tab")
        assert line.text == "/co"
        line.put("/cop")
        await pilot.press("tab")
        assert line.text == "/copy "


async def test_a_question_that_a_kill_left_without_an_answer_is_in_the_line(folder, tmp_path):
    session = SessionStore(tmp_path).create("tiny")
    session.ask("one")
    async with conversation(backend(folder), session=session) as (pilot, app):
        await wait_until(pilot, lambda: not app.turns.loading)
        assert app.query_one("PromptInput").text == "one"
        assert messages(app) == []


async def test_the_tokens_are_shown_in_a_colour_a_step_and_the_text_again(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: "tokens in" in said(app))
        answer = app.query_one(AnswerView)
        tokens = answer.query_one(".tokens")
        assert not tokens.display
        await pilot.press("f3")
        await wait_until(pilot, lambda: tokens.display)
        assert not answer.query_one("Markdown").display
        assert {str(span.style) for span in tokens.content.spans} != set()


def test_blocks_of_code_are_found_the_open_one_too():
    text = "Like this:\n```python\na = 1\n```\nor\n~~~\nb\n```\n~~~\nand\n````\nc\n```\nd"
    assert code_blocks(text) == ["a = 1\n", "b\n```\n", "c\n```\nd"]
