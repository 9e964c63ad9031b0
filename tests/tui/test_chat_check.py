"""An answer on the chat screen beside greedy decoding of the same prompt, and the figures of all answers."""

from __future__ import annotations

import pytest

from lookahead_cli.cli.chat import ChatModel
from lookahead_cli.tui.answer_view import AnswerView
from tests.tiny import save_tiny_model
from tests.tui.chats import backend, command, conversation, messages, said
from tests.tui.pilots import wait_until


class HeldWhileItChecks(ChatModel):
    """A greedy run is held before its fourth event until it is stopped."""

    def run(self, prompt_ids, cancel, report, config=None):
        for number, event in enumerate(super().run(prompt_ids, cancel, report, config)):
            if config is not None and number == 3:
                cancel.wait(60)
            yield event


class ChangedAnswers(ChatModel):
    """Its greedy run sees another prompt, so that it answers something else."""

    def run(self, prompt_ids, cancel, report, config=None):
        return super().run(prompt_ids if config is None else prompt_ids[:-2], cancel, report, config)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model"), eos_token_id=None))


async def answered(pilot, question):
    count = len(pilot.app.talk.messages)
    await command(pilot, question)
    await wait_until(pilot, lambda: len(pilot.app.talk.messages) == count + 2)


async def test_an_answer_is_checked_on_demand_and_each_where_that_was_asked_for(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await answered(pilot, "one")
        assert "checked" not in said(app)
        await command(pilot, "/check")
        await wait_until(pilot, lambda: "✓ checked: greedy decoding gives the same 12 token ids" in said(app))
    async with conversation(backend(folder), checks=True) as (pilot, app):
        await answered(pilot, "one")
        await wait_until(pilot, lambda: said(app).count("✓ checked") == 1)
        await command(pilot, "/continue")
        await wait_until(pilot, lambda: "the same 24 token ids" in said(app))


async def test_ids_that_differ_are_said_with_the_place(folder):
    async with conversation(backend(folder, ChangedAnswers)) as (pilot, app):
        await answered(pilot, "one two three")
        await command(pilot, "/check")
        await wait_until(pilot, lambda: "✗ checked: greedy decoding differs from token " in said(app))
        assert "In float32 ids must be equal" in said(app)


@pytest.mark.parametrize("line", ["two", "/retry"])
async def test_the_next_line_stops_a_check_and_is_answered(folder, line):
    async with conversation(backend(folder, HeldWhileItChecks)) as (pilot, app):
        await answered(pilot, "one")
        await command(pilot, "/check")
        await wait_until(pilot, lambda: app.turns.checking and app.turns.status.startswith("checking"))
        await command(pilot, line)
        await wait_until(pilot, lambda: said(app).count("tokens in") == 2)
        assert "checked" not in said(app)
        assert said(app).count("you: one") == 1
        assert len(messages(app)) == (4 if line == "two" else 2)


async def test_esc_stops_a_check(folder):
    async with conversation(backend(folder, HeldWhileItChecks)) as (pilot, app):
        await answered(pilot, "one")
        await command(pilot, "/check")
        await wait_until(pilot, lambda: app.turns.status.startswith("checking"))
        await pilot.press("escape")
        await wait_until(pilot, lambda: "The check was stopped" in said(app))


async def test_there_must_be_an_answer_to_check(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await command(pilot, "/check")
        await wait_until(pilot, lambda: "no answer of this run to check" in said(app))


async def test_below_an_answer_stand_its_figures_and_those_of_all(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await answered(pilot, "one")
        await wait_until(pilot, lambda: said(app).count("tokens in") == 1)
        assert "In all" not in said(app)
        await answered(pilot, "two")
        await wait_until(pilot, lambda: "In all: 2 answers, 24 tokens, " in said(app))
        own = str(app.query(AnswerView).last().figures)
        for part in ("12 tokens in", "tokens/s", "S ", "first token after", "peak "):
            assert part in own
        total = said(app).rpartition("In all: ")[2].strip()
        await command(pilot, "/stats")
        await wait_until(pilot, lambda: said(app).count(total) == 2)
        await answered(pilot, "three")
        await wait_until(pilot, lambda: "In all: 3 answers, 36 tokens, " in said(app))
        assert said(app).count("In all") == 1
