"""The model's context is full: the oldest turns are left out, summarised, or nothing is."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

from lookahead_cli.chat.context import SUMMARY_QUESTION
from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.chat.prompts import prompt_ids_of
from lookahead_cli.errors import ContextFullError, InputError, UsageError
from lookahead_cli.models.language_model import load_model
from lookahead_cli.sessions.export import as_json, as_markdown
from lookahead_cli.sessions.store import SessionStore
from tests.chat.talks import TinyAnswerer, ask, heard
from tests.tiny import save_tiny_model

QUESTIONS = tuple(
    f"{number} " + "the quick brown fox and the dog " * 5 for number in ("one", "two", "three", "four")
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("room"), eos_token_id=None, max_position_embeddings=1024)
    return load_model(folder, dtype="float32")


@pytest.fixture
def store(tmp_path):
    opened = SessionStore(tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def talk(model, store):
    talk = Conversation(TinyAnswerer(model), store.create("tiny"))
    for question in QUESTIONS:
        ask(talk, question)
    return talk


@contextmanager
def full(model, talk, spare=4):
    """A context with room for what was said and `spare` more, which is too little for another turn."""
    model.context_length = talk.context.used + spare
    try:
        yield model.context_length
    finally:
        model.context_length = model.runner.context_length


def questions(talk):
    return [each["content"] for each in talk.fed_messages if each["role"] == "user"]


def test_the_tokens_of_what_was_said_are_counted_as_they_are_fed(talk, model, store):
    used = talk.context.used
    assert (used, talk.context.limit) == (len(talk._fed.prompt_ids) + 8, model.context_length)
    talk.session.close()
    again = Conversation(TinyAnswerer(model), store.open(talk.session.id))
    assert again.context.used == len(model.encode_chat(again.fed_messages))
    assert Conversation(TinyAnswerer(model)).context.used == 0
    assert talk.context.share == used / model.context_length


@pytest.mark.parametrize("how", ["ask", "stop"])
def test_a_full_context_is_an_error_that_says_what_to_do_and_nothing_is_lost(talk, model, how):
    before = list(talk.messages)
    talk.when_full = how
    with full(model, talk) as limit:
        with pytest.raises(ContextFullError, match=rf"of {limit} tokens are used.*--when-full drop"):
            ask(talk, "six")
        with pytest.raises(ContextFullError):
            heard(talk.go_on(threading.Event(), print))
        with pytest.raises(InputError, match="question alone"):
            ask(talk, "long " * 1000)
    assert talk.messages == before
    assert [each.content for each in talk.session.messages()] == [each.content for each in before]


def test_the_oldest_turns_are_left_out_and_the_rest_is_fed_as_if_it_had_been_all(talk, model, store):
    talk.when_full = "drop"
    with full(model, talk) as limit:
        *_, footer = ask(talk, "six")
        made, question, answer = talk.messages[-3:]
        assert (made.role, made.content, question.content) == ("summary", "", "six")
        assert questions(talk) == [*QUESTIONS, "six"][-len(questions(talk)) :]
        assert 1 < len(questions(talk)) < 5
        # There is room for more than this turn: the next one need not leave out any.
        assert talk.context.used + limit // 4 <= limit
        apart = [each for each in talk.fed_messages if each["content"] != answer.content]
        prompt = model.encode_chat(apart)
        *_, expected = model.run(prompt, talk.answerer.config)
        assert footer.output_ids == expected.output_ids
        talk.session.close()
        again = Conversation(TinyAnswerer(model), store.open(talk.session.id))
        assert again.fed_messages == talk.fed_messages
    assert store.info(talk.session.id).messages == 10


def test_the_models_own_summary_stands_for_what_is_left_out(talk, model):
    asked = [*talk.fed_messages, {"role": "user", "content": SUMMARY_QUESTION}]
    prompt = prompt_ids_of(model, asked, talk._fed)
    said = []
    talk.make_room("summarise", threading.Event(), said.append)
    *_, expected = model.run(prompt, talk.answerer.config)
    made = talk.messages[-1]
    assert (made.role, made.content) == ("summary", expected.text.strip())
    assert talk.fed_messages[:2] == [
        {"role": "user", "content": SUMMARY_QUESTION},
        {"role": "assistant", "content": made.content},
    ]
    assert questions(talk)[1:] == [QUESTIONS[-1]]
    assert said[-1].label == "summarising what was said"
    assert said[-1].done == 8
    ask(talk, "six")
    markdown = as_markdown(talk.session.info, talk.session.messages())
    assert "> *The first 6 messages are no longer fed; what stands below was written by the model" in markdown
    assert '"covers": 6' in as_json(talk.session.info, talk.session.messages())


def test_a_summary_is_made_when_there_is_no_room_for_the_next_answer(talk, model):
    with full(model, talk):
        heard(talk.ask("six", threading.Event(), print, "summarise"))
        made, question, _ = talk.messages[-3:]
        assert made.role == "summary"
        assert made.content
        assert question.content == "six"
        assert talk.fed_messages[1]["content"] == made.content
        # Leaving out more leaves the summary where it is.
        ask_dropping = talk.ask(QUESTIONS[0], threading.Event(), print, "drop")
        heard(ask_dropping)
        assert talk.fed_messages[1]["content"] == made.content


def test_a_summary_that_is_stopped_changes_nothing(talk, model):
    before = list(talk.messages)
    stopped = threading.Event()
    stopped.set()
    with full(model, talk):
        assert heard(talk.ask("six", stopped, print, "summarise")) == []
        assert heard(talk.go_on(stopped, print, "summarise")) == []
    assert talk.messages == before
    assert [each.content for each in talk.session.messages()] == [each.content for each in before]


def test_an_answer_is_gone_on_with_and_given_again_after_room_is_made(talk, model):
    begun = talk.messages[-1].content
    with full(model, talk):
        heard(talk.go_on(threading.Event(), print, "drop"))
        assert [each.role for each in talk.messages[-3:]] == ["summary", "user", "assistant"]
        assert talk.messages[-1].content.startswith(begun)
        assert talk.messages[-2].content == QUESTIONS[-1]
        assert [each.content for each in talk.session.messages()] == [each.content for each in talk.messages]
        heard(talk.retry(threading.Event(), print, "drop"))
    assert [each.role for each in talk.messages].count("summary") == 1
    assert talk.undo() == QUESTIONS[3]
    assert talk.undo() == QUESTIONS[2]
    assert "summary" not in [each.role for each in talk.messages]
    assert questions(talk) == list(QUESTIONS[:2])


def test_there_must_be_something_to_leave_out(model):
    talk = Conversation(TinyAnswerer(model))
    with pytest.raises(UsageError, match="nothing to leave out"):
        talk.make_room("drop", threading.Event(), print)
    ask(talk, "one two")
    with pytest.raises(UsageError, match="nothing to leave out"):
        talk.make_room("drop", threading.Event(), print)
    ask(talk, "three")
    assert talk.make_room("drop", threading.Event(), print)
    assert questions(talk) == ["three"]
    with pytest.raises(UsageError, match="nothing to leave out"):
        talk.make_room("drop", threading.Event(), print)


def test_a_file_of_sessions_from_before_summaries_is_read_and_goes_on(talk, store):
    before = [each.content for each in talk.session.messages()]
    talk.session.close()
    with store.database.changing() as connection:
        connection.execute("ALTER TABLE message DROP COLUMN covers")
        connection.execute("PRAGMA user_version = 1")
    again = SessionStore(store._folder)
    assert [each.content for each in again.open(talk.session.id).messages()] == before
    again.close()
