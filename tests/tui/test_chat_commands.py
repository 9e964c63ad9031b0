"""The commands of the chat, and their completion, palette and help."""

from __future__ import annotations

import os
import stat
import threading
from dataclasses import replace
from typing import get_args

import pyperclip
import pytest
from textual.widgets import OptionList

from lookahead_cli.cli.chat_model import ChatModel
from lookahead_cli.decoding.config import LookaheadConfig, Method
from lookahead_cli.errors import UsageError
from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.tui.chat_commands import COMMANDS
from lookahead_cli.tui.chat_settings import setting_names, settings_rows, with_setting
from lookahead_cli.tui.clipboard import code_blocks, copy, part_to_copy
from lookahead_cli.tui.editor import edit_text, find_editor
from lookahead_cli.tui.kept import Kept
from lookahead_cli.tui.picker import PickScreen
from lookahead_cli.tui.suggestions import Suggestions
from tests.tiny import save_tiny_model
from tests.tui.chats import (
    HeldAfterThreeSteps,
    ask,
    backend,
    command,
    conversation,
    messages,
    said,
    titles,
)
from tests.tui.pilots import SMALL, screen_text, wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("chat-model")))


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chat-models") / "other"
    return str(save_tiny_model(folder, "qwen2"))


@pytest.fixture(scope="module")
def roleless(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("chat-models") / "roleless")
    (folder / "chat_template.jinja").unlink()
    return str(folder)


def loaded(app):
    return lambda: not app.turns.busy


def suggested(app):
    listed = app.query_one(Suggestions)
    return [listed.line_of(index) for index in range(listed.option_count)] if listed.display else []


async def test_every_command_is_completed_in_the_palette_and_in_the_help(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await pilot.press("/")
        await wait_until(pilot, lambda: len(suggested(app)) == len(COMMANDS))
        assert suggested(app) == [f"/{each.word} " for each in COMMANDS]
        await pilot.press("ctrl+c")
        await command(pilot, "/help")
        await wait_until(pilot, lambda: "/quit" in said(app))
        offered = {each.title: each for each in app.get_system_commands(app.screen)}
        for each in COMMANDS:
            assert f"{each.usage}  {each.does}" in said(app)
            assert each.does in offered[f"/{each.word}"].help
        # One that needs more is put into the line, the others are done.
        offered["/load"].callback()
        assert app.line.text == "/load "
        offered["/stats"].callback()
        await wait_until(pilot, lambda: "Nothing was answered yet." in said(app))


async def test_the_list_is_there_while_a_command_is_typed_and_tab_and_arrows_take_from_it(folder):
    async with conversation(backend(folder), SMALL) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await pilot.press(*"/me")
        await wait_until(pilot, lambda: suggested(app) == ["/method "])
        await pilot.press("tab")
        await wait_until(pilot, lambda: "/method jacobi" in suggested(app))
        assert "/method jacobi" in screen_text(pilot)
        await pilot.press("down", "down", "enter")
        assert app.line.text == "/method jacobi"
        assert suggested(app) == []
        await pilot.press("ctrl+c", *"/set ")
        await wait_until(pilot, lambda: "/set W " in suggested(app))
        assert "one more costs 2 nodes a step" in screen_text(pilot)
        await pilot.press("ctrl+c", *"/s")
        await wait_until(pilot, lambda: "/set " in suggested(app))
        await pilot.press("escape")
        assert suggested(app) == []
        # What is brought back, and not typed, opens no list that would take the arrows.
        app.line.sent += ["first", "/stats"]
        await pilot.press("ctrl+c", "up")
        await wait_until(pilot, lambda: app.line.text == "/stats")
        await pilot.pause()
        assert suggested(app) == []
        await pilot.press("up")
        assert app.line.text == "first"


async def test_an_offer_that_is_clicked_is_in_the_line(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await pilot.press(*"/und")
        await wait_until(pilot, lambda: suggested(app) == ["/undo "])
        await pilot.click(Suggestions, offset=(3, 0))
        await wait_until(pilot, lambda: app.line.text == "/undo ")


async def test_a_wrong_command_or_argument_is_named_with_the_nearest(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        for text, complaint in (
            ("/exprot", "Did you mean /export?"),
            ("/method lookahaed", "Did you mean lookahead?"),
            ("/method x", "Choose one of greedy"),
            ("/method", "Say /method NAME."),
            ("/method draft", "needs a draft model"),
            ("/set temprature 1", "Did you mean temperature?"),
            ("/set W many", "'many' is no value for W. Give a whole number."),
            ("/set W 0", "W = 0 cannot work"),
            ("/set W", "W is 3. /set W VALUE changes it."),
            ("/pool clean", "Did you mean clear?"),
            ("/pool save", "/pool save needs a file"),
            ("/pool load /nowhere", "There is no file '/nowhere'"),
            ("/model smollm2", "Did you mean smollm2-135m?"),
            ("/stats all", "/stats takes nothing"),
            ("/load x", "This conversation is not kept"),
            ("/sessions", "This conversation is not kept"),
            ("/copy code two", "cannot copy 'code two'"),
        ):
            await command(pilot, text)
            await wait_until(pilot, lambda complaint=complaint: complaint in " ".join(said(app).split()))
            await wait_until(pilot, loaded(app))


async def test_settings_are_listed_with_their_cost_and_the_next_answer_has_the_new_ones(folder):
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await command(pilot, "/set")
        await wait_until(pilot, lambda: "paper-strict" in said(app))
        assert "A step feeds at most 12 nodes" in said(app)
        assert "one more costs 2 nodes a step" in said(app)
        await command(pilot, "/set W 5")
        await wait_until(pilot, lambda: "W 5 N 3 G 3. A step feeds at most 16 nodes" in said(app))
        await ask(pilot, "one")
        await wait_until(pilot, lambda: "W 5 N 3 G 3" in titles(app))
        await wait_until(pilot, loaded(app))
        await command(pilot, "/method greedy")
        await command(pilot, "/retry")
        await wait_until(pilot, lambda: "greedy" in titles(app) and "S 1.00" in titles(app))


async def test_the_system_prompt_is_shown_set_kept_and_taken_away(folder, tmp_path):
    session = SessionStore(tmp_path).create("tiny")
    async with conversation(backend(folder), session=session, system="Be\x1b[31m brief.") as (pilot, app):
        await wait_until(pilot, loaded(app))
        assert "System prompt: Be" in said(app)
        assert "\x1b" not in said(app)
        await command(pilot, "/system Be kind.")
        await wait_until(pilot, lambda: "System prompt: Be kind." in said(app))
        assert session.info.system == "Be kind."
        assert app.talk.fed_messages[0] == {"role": "system", "content": "Be kind."}
        await command(pilot, "/system none")
        await wait_until(pilot, lambda: "There is no system prompt." in said(app))
        assert (session.info.system, app.talk.fed_messages) == (None, [])


async def test_the_pool_is_shown_saved_emptied_and_loaded(folder, tmp_path):
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await ask(pilot, "one two three")
        await wait_until(pilot, lambda: "tokens in" in said(app))
        await wait_until(pilot, loaded(app))
        held = app.talk.answerer.pool_figures()
        await command(pilot, f"/pool save {tmp_path / 'pool.json'}")
        await wait_until(
            pilot, lambda: f"holds {held.ngrams} n-grams of 3 tokens" in " ".join(said(app).split())
        )
        await command(pilot, "/pool clear")
        await wait_until(pilot, lambda: "holds 0 n-grams" in said(app))
        await command(pilot, f"/pool load {tmp_path / 'pool.json'}")
        await wait_until(pilot, lambda: app.talk.answerer.pool_figures() == held)


async def test_another_model_goes_on_with_the_conversation(folder, other):
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(messages(app)) == 2)
        await wait_until(pilot, loaded(app))
        await command(pilot, f"/model {other}")
        await wait_until(pilot, lambda: "other · float32 · cpu answers from now on." in said(app))
        assert "you: one" in said(app)
        await ask(pilot, "two")
        await wait_until(pilot, lambda: len(messages(app)) == 4)
        await wait_until(pilot, lambda: "other · float32" in titles(app))


async def test_esc_keeps_the_model_that_answers_while_another_one_is_loaded(folder, other):
    may_load = threading.Event()

    class Slow(ChatModel):
        def change_model(self, spec, report):
            def held(progress):
                report(progress)
                may_load.wait(60)

            super().change_model(spec, held)

    async with conversation(backend(folder, Slow)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await command(pilot, f"/model {other}")
        await wait_until(pilot, lambda: "esc keeps" in said(app))
        await wait_until(pilot, lambda: titles(app).startswith("importing torch"))
        await ask(pilot, "meanwhile")
        await pilot.press("escape")
        may_load.set()
        await wait_until(pilot, lambda: "answers as before" in said(app))
        assert (app.talk.answerer.spec, app.line.text) == (folder, "meanwhile")
        assert "you: meanwhile" not in said(app)
        await pilot.press("enter")
        await wait_until(pilot, lambda: len(messages(app)) == 2)


async def test_a_model_without_a_chat_template_is_said_to_go_on_with_plain_text(roleless):
    async with conversation(backend(roleless)) as (pilot, app):
        await wait_until(pilot, lambda: "has no chat template" in said(app))
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(messages(app)) == 2)


async def test_the_models_are_listed_searched_and_chosen(folder, other):
    class OneMore(ChatModel):
        def models(self):
            default = next(each for each in super().models() if each.current or each.fits)
            return [*super().models(), replace(default, spec=other, title="my own")]

    async with conversation(backend(folder, OneMore)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        # It may be closed before its rows are there.
        await command(pilot, "/model")
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(app.screen, PickScreen))
        await command(pilot, "/model")
        await wait_until(pilot, lambda: isinstance(app.screen, PickScreen) and app.screen.rows)
        assert "smollm2-135m" in screen_text(pilot)
        assert "✗ memory" in screen_text(pilot)
        await pilot.press(*"codellama-34")
        await wait_until(pilot, lambda: [row.value for row in app.screen.rows] == ["codellama-34b"])
        await pilot.press("ctrl+u", *"no such")
        await wait_until(pilot, lambda: "Nothing matches." in screen_text(pilot))
        await pilot.press("escape")
        await wait_until(pilot, lambda: not isinstance(app.screen, PickScreen))
        assert app.talk.answerer.spec == folder
        await command(pilot, "/model")
        await wait_until(pilot, lambda: isinstance(app.screen, PickScreen) and app.screen.rows)
        await pilot.press(*"my own")
        await wait_until(pilot, lambda: [row.value for row in app.screen.rows] == [other])
        await pilot.press("enter")
        await wait_until(pilot, lambda: "other · float32 · cpu answers from now on." in said(app))


@pytest.fixture
def store(tmp_path):
    store = SessionStore(tmp_path)
    for name in ("bread", "tides"):
        session = store.create("tiny", name=name)
        session.ask(f"about {name}")
        session.answer("tiny").finish(f"answer on {name}", (5,), "eos", Figures(4, 2, 0.5))
        session.close()
    yield store
    store.close()


async def test_a_session_is_searched_by_what_was_said_chosen_and_gone_on_with(folder, store):
    async with conversation(backend(folder), session=store.create("tiny")) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(messages(app)) == 2)
        await wait_until(pilot, loaded(app))
        await command(pilot, "/sessions")
        await wait_until(pilot, lambda: isinstance(app.screen, PickScreen) and len(app.screen.rows) == 3)
        await pilot.press(*"answer on")
        await wait_until(pilot, lambda: [row.value for row in app.screen.rows] == ["tides", "bread"])
        await pilot.press("down")
        await wait_until(pilot, lambda: app.screen.query_one(OptionList).highlighted == 1)
        await pilot.press("enter")
        await wait_until(pilot, lambda: "answer on bread" in said(app))
        assert "you: one" not in said(app)
        await ask(pilot, "more")
        await wait_until(pilot, lambda: store.find("bread").messages == 4)
        await wait_until(pilot, loaded(app))
        await command(pilot, "/load tid")
        await wait_until(pilot, lambda: "answer on tides" in said(app))


async def test_clear_begins_a_conversation_and_the_one_before_stays_in_the_sessions(folder, store):
    async with conversation(backend(folder), session=store.create("tiny")) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(messages(app)) == 2)
        await wait_until(pilot, loaded(app))
        await command(pilot, "/clear")
        await wait_until(pilot, lambda: "A new conversation." in said(app))
        assert (messages(app), "you: one" in said(app)) == ([], False)
        assert store.find("one").messages == 2


async def test_what_changes_a_conversation_waits_for_the_answer(folder):
    async with conversation(backend(folder, HeldAfterThreeSteps)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(app.view.steps) == 3)
        for text in ("/clear", "/model x", "/set W 5", "/pool clear", "/system x"):
            await command(pilot, text)
        await pilot.pause()
        assert messages(app) == [("user", "one")]
        assert app.talk.answerer.config.window_size == 3
        assert len(app._notifications) >= 5


async def test_each_panel_has_a_key_and_the_choice_is_there_after_a_restart(folder, tmp_path):
    def shown(app):
        return {each.id for each in app.panels.children if each.display and app.panels.display}

    async with conversation(backend(folder), kept=Kept(tmp_path)) as (pilot, app):
        await wait_until(pilot, lambda: shown(app) == {"window", "pool", "accepted", "meter"})
        await pilot.press("f5", "f8")
        await wait_until(pilot, lambda: shown(app) == {"pool", "accepted"})
    async with conversation(backend(folder), kept=Kept(tmp_path)) as (pilot, app):
        await wait_until(pilot, lambda: shown(app) == {"pool", "accepted"})
        await pilot.press("f6", "f7")
        await wait_until(pilot, lambda: shown(app) == set())
        await pilot.press("f6")
        await wait_until(pilot, lambda: shown(app) == {"pool"})
        await pilot.press("f6", "f2")
        await wait_until(pilot, lambda: shown(app) == {"window", "pool", "accepted", "meter"})
        await pilot.press("f2", "f5")
        await wait_until(pilot, lambda: shown(app) == {"window"})


async def test_questions_are_there_after_a_restart(folder, tmp_path):
    async with conversation(backend(folder), kept=Kept(tmp_path)) as (pilot, app):
        await ask(pilot, "one")
        await wait_until(pilot, lambda: len(messages(app)) == 2)
    async with conversation(backend(folder), kept=Kept(tmp_path)) as (pilot, app):
        await pilot.press("up")
        assert app.line.text == "one"


def test_kept_questions_are_bounded_and_damage_is_skipped(tmp_path):
    kept = Kept(tmp_path)
    kept.add_question("two\nlines")
    with (tmp_path / "questions.jsonl").open("ab") as file:
        file.write(b"{half\n\xff\n")
    for number in range(2500):
        kept.add_question(str(number))
    questions = kept.questions()
    assert questions[-1] == "2499"
    assert 1000 <= len(questions) <= 2000
    (tmp_path / "panels.json").write_text("[", encoding="utf-8")
    assert kept.panels() == {}
    nothing = Kept(tmp_path / "nowhere", questions=False)
    nothing.add_question("secret")
    assert not (tmp_path / "nowhere").exists()


ANSWER = "Like this:\n```python\na = 1\n```\nor\n~~~\nb\n~~~\n"


def test_an_answer_is_copied_whole_its_code_or_one_block_of_it():
    assert part_to_copy(ANSWER, "") == (ANSWER, "the last answer")
    assert part_to_copy(ANSWER, "code") == ("a = 1\n\nb\n", "2 blocks of code")
    assert part_to_copy(ANSWER, "code 2") == ("b\n", "block of code 2")
    with pytest.raises(UsageError, match=r"no number 3\. Say a number from 1 to 2"):
        part_to_copy(ANSWER, "code 3")
    assert code_blocks("no code") == []


async def test_a_block_of_code_is_in_the_clipboard_and_it_is_said(folder, store):
    session = store.create("tiny")
    session.ask("how?")
    session.answer("tiny").finish(ANSWER, (5,), "eos", Figures(4, 2, 0.5))
    async with conversation(backend(folder), session=session) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await command(pilot, "/copy code 2")
        await wait_until(pilot, lambda: app.clipboard == "b\n")
        assert "Copied block of code 2: 2 characters." in [each.message for each in app._notifications]
        await pilot.press("ctrl+o")
        await wait_until(pilot, lambda: app.clipboard == ANSWER)


async def test_the_clipboard_of_the_system_gets_it_too(folder, tmp_path, monkeypatch):
    program(tmp_path / "xclip", f'cat > "{tmp_path / "copied"}"')
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    pyperclip.set_clipboard("xclip")
    try:
        async with conversation(backend(folder)) as (_, app):
            copy(app, "a text")
    finally:
        pyperclip.set_clipboard("no")
    assert (tmp_path / "copied").read_text() == app.clipboard == "a text"


def program(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_the_editor_is_visual_then_editor_and_a_failing_one_is_said(tmp_path, monkeypatch):
    adding = program(tmp_path / "adding", 'printf " edited\\n" >> "$1"')
    monkeypatch.setenv("EDITOR", "/nowhere/editor")
    monkeypatch.setenv("VISUAL", adding)
    assert edit_text(find_editor(), "a question") == "a question edited"
    monkeypatch.delenv("VISUAL")
    with pytest.raises(UsageError, match="'/nowhere/editor' is not there"):
        find_editor()
    with pytest.raises(UsageError, match=r"ended with code 3\. The line is as it was"):
        edit_text([program(tmp_path / "failing", "exit 3")], "a question")


async def test_without_a_terminal_of_its_own_no_editor_is_opened(folder, monkeypatch):
    monkeypatch.setenv("VISUAL", "true")
    async with conversation(backend(folder)) as (pilot, app):
        await wait_until(pilot, loaded(app))
        await pilot.press(*"half", "ctrl+x", "ctrl+e")
        await wait_until(pilot, lambda: "An editor needs a terminal" in said(app))
        assert app.line.text == "half"


def test_every_method_is_offered():
    method = next(each for each in COMMANDS if each.word == "method")
    assert list(method.values(None, "")) == list(get_args(Method))


def test_every_setting_has_a_name_a_row_and_a_value_that_can_be_given_again():
    config = LookaheadConfig()
    assert set(setting_names().values()) == set(config.as_mapping())
    assert [name for name, _ in settings_rows(config)][:4] == ["method", "W", "N", "G"]
    for name, value in settings_rows(config):
        assert with_setting(config, f"{name} {value.split('  ')[0]}") == config
    assert with_setting(config, "sources recycled,window").sources == ("window", "recycled")
    assert with_setting(config, "no-repeat-ngram=2").no_repeat_ngram_size == 2
    assert with_setting(config, "stop the end").stop == ("the end",)
    assert with_setting(config, "paper-strict on").paper_strict
