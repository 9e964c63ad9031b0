"""A conversation on a tiny real model: kept as it goes, taken back, gone on with, and begun again."""

from __future__ import annotations

import threading

import pytest

from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.models.language_model import load_model
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.events import Footer, StepEvent
from tests.chat.talks import TinyAnswerer, ask, contents, heard
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("conversation"), eos_token_id=None)
    return load_model(folder, dtype="float32")


@pytest.fixture
def store(tmp_path):
    opened = SessionStore(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def talk(model, store):
    return Conversation(TinyAnswerer(model), store.create("tiny"))


def test_it_is_the_same_on_disk_as_in_memory_and_after_a_restart(talk, store, model):
    ask(talk, "one two")
    ask(talk, "three")
    assert [said.role for said in talk.messages] == ["user", "assistant"] * 2
    assert contents(talk.session) == [said.content for said in talk.messages]
    assert talk.messages[-1].figures.tokens == 8
    talk.session.close()
    again = Conversation(TinyAnswerer(model), store.open(talk.session.id))
    assert [said.content for said in again.messages] == [said.content for said in talk.messages]
    ask(again, "four")
    assert len(again.messages) == 6


def test_an_answer_that_is_stopped_is_kept_and_one_that_did_not_begin_is_taken_back(talk):
    cancel = threading.Event()
    for event in talk.ask("one two", cancel, print):
        if isinstance(event, StepEvent):
            cancel.set()
    assert talk.messages[-1].finish_reason == "cancelled"
    assert talk.can_go_on
    stopped = threading.Event()
    stopped.set()
    ask(talk, "three", stopped)
    assert len(talk.messages) == 2
    assert contents(talk.session) == [said.content for said in talk.messages]


def test_going_on_gives_what_one_long_answer_gives(talk, model):
    ask(talk, "one two")
    first = talk.messages[-1].content
    heard(talk.go_on(threading.Event(), print))
    whole = talk.messages[-1].content
    assert whole.startswith(first)
    long = Conversation(TinyAnswerer(model, tokens=16))
    ask(long, "one two")
    assert whole == long.messages[-1].content
    assert contents(talk.session) == ["one two", whole]
    assert len(talk.session.messages()[-1].ids) == 16


def test_going_on_after_a_restart_takes_the_text(talk, store, model):
    ask(talk, "one two")
    talk.session.close()
    again = Conversation(TinyAnswerer(model), store.open(talk.session.id))
    before = again.messages[-1].content
    heard(again.go_on(threading.Event(), print))
    assert again.messages[-1].content.startswith(before)


def test_an_answer_that_ended_by_itself_is_not_gone_on_with(talk, model, monkeypatch):
    monkeypatch.setattr(model, "eos_ids", frozenset(range(320)))
    ask(talk, "one two")
    with pytest.raises(UsageError, match="ended by itself"):
        heard(talk.go_on(threading.Event(), print))


def test_a_second_answer_leaves_the_first_on_its_branch(talk):
    ask(talk, "one two")
    first = talk.messages[-1]
    talk.answerer.config = LookaheadConfig(max_new_tokens=5)
    heard(talk.retry(threading.Event(), print))
    second = talk.messages[-1]
    assert first.content.startswith(second.content)
    assert second.id != first.id
    assert list(talk.session.store.trace(first.id))
    stopped = threading.Event()
    stopped.set()
    heard(talk.retry(stopped, print))
    assert talk.messages[-1] == second
    assert contents(talk.session) == ["one two", second.content]


def test_a_turn_that_is_undone_gives_its_question_back(talk):
    ask(talk, "one two")
    ask(talk, "three")
    assert talk.undo() == "three"
    assert contents(talk.session) == [said.content for said in talk.messages]
    assert talk.undo() == "one two"
    assert talk.messages == []
    with pytest.raises(UsageError, match="nothing to take back"):
        talk.undo()


def test_a_failure_half_way_keeps_what_had_come(talk, model):
    class Failing(TinyAnswerer):
        def run(self, prompt_ids, cancel, report):
            for number, event in enumerate(super().run(prompt_ids, cancel, report)):
                if number == 3:
                    raise MemoryError
                yield event

    talk.answerer = Failing(model)
    with pytest.raises(MemoryError):
        ask(talk, "one two")
    assert talk.messages[-1].finish_reason == "cut"
    assert talk.can_go_on
    assert contents(talk.session) == [said.content for said in talk.messages]


def test_a_system_prompt_is_kept_with_the_session(model, store):
    talk = Conversation(TinyAnswerer(model), store.create("tiny"), system="Be brief.")
    *_, footer = ask(talk, "one")
    assert isinstance(footer, Footer)
    talk.session.close()
    assert Conversation(TinyAnswerer(model), store.open(talk.session.id)).system == "Be brief."


def test_a_conversation_begun_anew_leaves_the_old_one_in_its_session(talk, store):
    ask(talk, "one two")
    old = talk.session
    talk.set_system("Be brief.")
    talk.begin_anew()
    assert (talk.messages, talk.system) == ([], "Be brief.")
    ask(talk, "three")
    assert contents(old) == ["one two", contents(old)[1]]
    assert contents(talk.session)[0] == "three"
    assert talk.session.info.system == "Be brief."


def test_another_session_is_gone_on_with_and_the_one_before_can_be_opened_by_others(talk, store):
    ask(talk, "one two")
    first = talk.session
    talk.begin_anew()
    ask(talk, "three")
    assert talk.go_to("one two") is None
    assert [said.content for said in talk.messages] == contents(first)
    assert store.open(store.find("three").id).copied_from is None
    with pytest.raises(UsageError, match="This is the session 'one two'"):
        talk.go_to("one")
    with pytest.raises(InputError, match="no session called 'nine'"):
        talk.go_to("nine")
    assert talk.messages
    ask(talk, "four")
    assert contents(talk.session)[2] == "four"


def test_a_session_that_was_named_first_keeps_the_name_when_a_question_comes(talk):
    assert talk.rename("mine") == "mine"
    ask(talk, "one two")
    assert talk.session.info.name == "mine"


def test_without_a_session_it_begins_anew_and_has_no_other_to_go_to(model):
    talk = Conversation(TinyAnswerer(model))
    ask(talk, "one two")
    talk.begin_anew()
    assert talk.messages == []
    with pytest.raises(UsageError, match="is not kept"):
        talk.go_to("one")
