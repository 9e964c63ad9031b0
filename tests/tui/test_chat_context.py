"""The model's context on the chat screen: its meter, and what is done when it is full."""

from __future__ import annotations

import threading

import pytest

from lookahead_cli.cli.chat import ChatModel
from lookahead_cli.tui.context_meter import ContextMeter
from lookahead_cli.tui.room_screen import RoomScreen
from tests.tiny import save_tiny_model
from tests.tui.chats import backend, command, conversation, messages, said
from tests.tui.pilots import LARGE, SMALL, wait_until

TURN = "the quick brown fox and the dog " * 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model with a context of 256 tokens, which has room for two turns and their answers."""
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model"), eos_token_id=None))


@pytest.fixture(scope="module")
def roomy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("roomy-model")
    return str(save_tiny_model(folder, eos_token_id=None, max_position_embeddings=1024))


def meter(app):
    return str(app.query_one(ContextMeter).render())


async def asked(pilot, question=TURN):
    count = len(pilot.app.talk.messages)
    await command(pilot, question)
    await wait_until(pilot, lambda: len(pilot.app.talk.messages) >= count + 2 and not pilot.app.turns.busy)


async def filled(pilot):
    """Two turns, and a third question that does not fit."""
    await asked(pilot)
    await asked(pilot)
    await command(pilot, TURN)


async def full(pilot):
    await filled(pilot)
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, RoomScreen))


@pytest.mark.parametrize(("size", "shows"), [(LARGE, "context "), (SMALL, "")])
async def test_the_meter_counts_what_is_fed_and_emitted_and_stays_when_all_is_said(folder, size, shows):
    async with conversation(backend(folder), size) as (pilot, app):
        await wait_until(pilot, lambda: "0/256 0 %" in meter(app))
        assert meter(app).startswith(shows)
        await asked(pilot)
        header, footer = app.view.header, app.view.footer
        used = len(header.prompt_ids) + len(footer.output_ids)
        assert f"{used}/256 {100 * used / 256:.0f} %" in meter(app)
        await command(pilot, "/context")
        await wait_until(pilot, lambda: f"{used} of 256 tokens" in said(app))
        await command(pilot, "/undo")
        await wait_until(pilot, lambda: "0/256 0 %" in meter(app))


async def test_the_meter_grows_with_the_answer(folder):
    step_is_seen = threading.Event()

    class Held(ChatModel):
        def run(self, prompt_ids, cancel, report):
            for number, event in enumerate(super().run(prompt_ids, cancel, report)):
                yield event
                if number == 3:
                    step_is_seen.wait(60)

    async with conversation(backend(folder, Held)) as (pilot, app):
        await command(pilot, TURN)
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        used = len(app.view.header.prompt_ids) + app.view.totals[-1].emitted
        await wait_until(pilot, lambda: f"{used}/256" in meter(app))
        step_is_seen.set()
        await wait_until(pilot, lambda: not app.turns.busy)


async def test_a_person_is_warned_once_before_it_is_full(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await asked(pilot)
        assert "/context drop" not in said(app)
        await asked(pilot, TURN + TURN[:60])
        assert "!" in meter(app)
        assert said(app).count("When it is full you are asked what to do. /context drop") == 1
        await command(pilot, "/undo")
        await wait_until(pilot, lambda: "!" not in meter(app))


async def test_stopping_at_the_limit_puts_the_question_back(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await full(pilot)
        before = messages(app)
        await pilot.press("escape")
        await wait_until(pilot, lambda: app.query_one("PromptInput").text == TURN.strip())
        assert messages(app) == before
        assert said(app).count("you: ") == 2


async def test_dropping_the_oldest_turns_answers_the_question_and_says_so_above_it(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await full(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: said(app).count("tokens in") == 3)
        shown = said(app)
        assert shown.index("messages are no longer fed") < shown.rindex("you: ")
        assert [role for role, _ in messages(app)][-3:] == ["summary", "user", "assistant"]
        assert shown.count("you: ") == 3


async def test_without_asking_the_oldest_turns_are_dropped(folder):
    async with conversation(backend(folder), when_full="drop") as (pilot, app):
        await filled(pilot)
        await wait_until(pilot, lambda: said(app).count("tokens in") == 3)
        assert "nothing stands for them" in said(app)


async def test_with_stop_the_limit_is_said_and_nothing_is_asked(folder):
    async with conversation(backend(folder), when_full="stop") as (pilot, app):
        await filled(pilot)
        await wait_until(pilot, lambda: "of 256 tokens are used" in said(app))
        assert app.query_one("PromptInput").text == TURN.strip()


async def test_a_summary_is_shown_as_such_kept_and_made_on_demand(roomy):
    async with conversation(backend(roomy)) as (pilot, app):
        await wait_until(pilot, lambda: not app.turns.busy)
        await command(pilot, "/context summarise")
        await wait_until(pilot, lambda: "nothing to leave out" in said(app))
        await asked(pilot)
        await asked(pilot, "two")
        await command(pilot, "/context summarise")
        await wait_until(pilot, lambda: not app.turns.busy and messages(app)[-1][0] == "summary")
        assert "The first 2 messages are no longer fed; what stands below was written by the model" in said(
            app
        )
        assert len(app.query(".summary")) == 1
        used = app.talk.context.used
        assert f"{used}/1,024" in meter(app)
        await asked(pilot, "three")
        assert app.talk.fed_messages[1]["content"] == messages(app)[4][1]
        await command(pilot, "/context sumarise")
        await wait_until(pilot, lambda: "Did you mean summarise?" in said(app))


async def test_an_answer_is_given_again_after_room_is_made(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await asked(pilot)
        await asked(pilot, TURN + TURN[:90])
        answerer = app.talk.answerer
        await command(pilot, "/set max-new-tokens 64")
        await wait_until(pilot, lambda: answerer.config.max_new_tokens == 64)
        await command(pilot, "/retry")
        await wait_until(pilot, lambda: isinstance(app.screen, RoomScreen))
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(app.screen, RoomScreen))
        assert [role for role, _ in messages(app)] == ["user", "assistant"] * 2
        await command(pilot, "/retry")
        await wait_until(pilot, lambda: isinstance(app.screen, RoomScreen))
        await pilot.press("enter")
        await wait_until(pilot, lambda: not app.turns.busy and said(app).count("tokens in") == 3)
        assert [role for role, _ in messages(app)][-3:] == ["summary", "user", "assistant"]
