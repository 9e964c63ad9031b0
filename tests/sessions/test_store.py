"""Sessions survive kills, second programs and second thoughts."""

from __future__ import annotations

import itertools
import random
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lookahead_cli.errors import InputError
from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.session import Session
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.reader import read_trace
from lookahead_cli.tui.tour.traces import open_trace

KILLS = 15


@pytest.fixture(scope="module")
def events() -> list[Header | StepEvent | Footer]:
    with open_trace("lookahead") as lines:
        return list(read_trace(lines))


@pytest.fixture
def store(tmp_path: Path):
    opened = SessionStore(tmp_path)
    yield opened
    opened.close()


def say(session: Session, question: str, events, *, steps: int | None = None) -> int:
    """A question and its answer; with `steps` the answer is left unfinished there."""
    session.ask(question)
    answer = session.answer("tiny")
    for event in events[: None if steps is None else 1 + steps]:
        answer.write(event)
        if isinstance(event, Footer):
            answer.finish(
                event.text,
                event.output_ids,
                event.finish_reason,
                Figures(len(event.output_ids), event.steps, event.seconds, 0.5, 1_000),
            )
    return answer.id


def test_what_was_said_is_there_again(tmp_path, store, events) -> None:
    session = store.create("tiny", "Be brief.")
    answered = say(
        session, "What is a\nlookahead?  And what else is there to know about it, and why?", events
    )
    session.close()
    store.close()
    again = SessionStore(tmp_path)
    (info,) = again.sessions()
    assert (info.name, info.system, info.messages) == (
        "What is a lookahead? And what else is there to…",
        "Be brief.",
        2,
    )
    question, answer = again.messages(info.id)
    footer = events[-1]
    assert question.content.startswith("What is a\n")
    assert (answer.content, answer.ids) == (footer.text, footer.output_ids)
    assert answer.finish_reason == footer.finish_reason
    assert answer.figures == Figures(len(footer.output_ids), footer.steps, footer.seconds, 0.5, 1_000)
    assert list(again.trace(answered)) == events


def test_a_branch_that_was_left_is_not_lost(store, events) -> None:
    session = store.create("tiny")
    first = say(session, "one", events)
    question = session.messages()[0].id
    session.go_back(question)
    second = session.answer("tiny")
    second.write(events[0])
    second.finish("again", (), "eos", Figures())
    assert [message.id for message in session.messages()] == [question, second.id]
    session.go_back(first)
    assert [message.id for message in session.messages()] == [question, first]
    assert list(store.trace(first)) == events


def test_an_unfinished_answer_is_finished_with_what_had_come(store, events) -> None:
    session = store.create("tiny")
    say(session, "one", events)
    broken = say(session, "two", events, steps=2)
    session._lock.release()
    again = store.open(session.id)
    *_, last = again.messages()
    assert (last.id, last.finish_reason) == (broken, "cut")
    assert last.ids == tuple(token for event in events[1:3] for token in event.step.token_ids)
    assert last.content


def test_an_answer_of_which_nothing_came_leaves_its_question(store, events) -> None:
    session = store.create("tiny")
    say(session, "one", events, steps=0)
    session._lock.release()
    assert [message.role for message in store.open(session.id).messages()] == ["user"]


@pytest.mark.parametrize("steps", [None, 0, 2])
def test_an_answer_that_was_gone_on_with_keeps_its_beginning(store, events, steps):
    session = store.create("tiny")
    session.ask("one")
    coming = session.answer("tiny", "Begun. ", (5, 6))
    for event in events[: 0 if steps is None else 1 + steps]:
        coming.write(event)
    session._lock.release()
    *_, last = store.open(session.id).messages()
    came = tuple(token for event in events[1 : 1 + (steps or 0)] for token in event.step.token_ids)
    assert (last.id, last.ids, last.finish_reason) == (coming.id, (5, 6, *came), "cut")
    assert last.content.startswith("Begun. ")


def test_a_file_that_cannot_be_written_is_one_sentence(store):
    session = store.create("tiny")
    store.database._connection.execute("PRAGMA max_page_count = 1")
    with pytest.raises(InputError, match=r"cannot be written: .*full"):
        session.ask("x" * 1_000_000)
    store.database._connection.execute("PRAGMA max_page_count = 1000000")
    session.ask("again")
    assert [message.content for message in session.messages()] == ["again"]


def test_a_session_that_is_open_elsewhere_is_gone_on_with_in_a_copy(tmp_path, store, events) -> None:
    session = store.create("tiny", name="mine")
    say(session, "one", events)
    session.ask("two")
    coming = session.answer("tiny")
    coming.write(events[0])
    other = SessionStore(tmp_path)
    copy = other.open(session.id)
    assert (copy.copied_from, copy.info.name) == ("mine", "mine (2)")
    assert [message.content for message in copy.messages()] == ["one", events[-1].text, "two"]
    assert list(other.trace(copy.messages()[1].id)) == events
    say(copy, "three", events)
    assert [message.content for message in session.messages()][2:] == ["two", ""]
    with pytest.raises(InputError, match="is open"):
        other.delete(session.id)
    session.close()
    assert other.open(session.id).copied_from is None


def test_names_are_found_by_their_beginning_and_never_twice(store) -> None:
    for name in ("Alpha one", "Alpha two", "beta"):
        store.create("tiny", name=name).close()
    assert store.find("Beta").name == "beta"
    assert store.find("alpha O").name == "Alpha one"
    with pytest.raises(InputError, match=r"begin with 'alpha': 'Alpha two', 'Alpha one'"):
        store.find("alpha")
    with pytest.raises(InputError, match="no session called 'gamma'"):
        store.find("gamma")
    assert store.rename(store.find("beta").id, " Alpha one ") == "Alpha one (2)"
    with pytest.raises(InputError, match="needs a name"):
        store.rename(store.find("Alpha one (2)").id, " ")


def test_a_text_is_found_in_names_and_messages(store, events) -> None:
    session = store.create("tiny", name="groceries")
    say(session, "100% of_it", events)
    store.create("tiny", name="other").close()
    assert [info.name for info in store.sessions("100% OF_")] == ["groceries"]
    assert [info.name for info in store.sessions("GROC")] == ["groceries"]
    assert store.sessions("100x") == []
    assert len(store.sessions()) == 2


def test_a_deleted_session_leaves_nothing(tmp_path, store, events) -> None:
    session = store.create("tiny")
    say(session, "one", events)
    session.close()
    store.delete(session.id)
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        for table in ("session", "message", "trace"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    with pytest.raises(InputError, match="deleted meanwhile"):
        session.ask("again")


def test_a_session_in_which_nothing_was_said_is_none(store) -> None:
    store.create("tiny").close()
    assert store.sessions() == []


def test_a_file_of_a_newer_version_is_left_alone(tmp_path) -> None:
    SessionStore(tmp_path).close()
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(InputError, match="newer version"):
        SessionStore(tmp_path)


def test_a_folder_that_cannot_be_used_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="LOOKAHEAD_DATA"):
        SessionStore(tmp_path / "file")


def test_a_thousand_turns_open_in_a_part_of_a_second(store, events) -> None:
    session = store.create("tiny", name="long")
    for turn in range(1000):
        session.ask(f"question {turn}")
        answer = session.answer("tiny")
        answer.finish(events[-1].text, events[-1].output_ids, events[-1].finish_reason, Figures())
    session.close()
    started = time.process_time()
    again = store.open(session.id)
    assert len(again.messages()) == 2000
    assert time.process_time() - started < 0.5


def test_two_threads_and_two_stores_write_at_once_and_nothing_is_lost(tmp_path, events) -> None:
    def talk(store: SessionStore, name: str) -> None:
        session = store.create("tiny", name=name)
        for turn in range(15):
            say(session, f"{name} {turn}", events)
        session.close()

    stores = [SessionStore(tmp_path), SessionStore(tmp_path)]
    threads = [
        threading.Thread(target=talk, args=(store, f"{number}-{at}"))
        for (number, store), at in itertools.product(enumerate(stores), range(2))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sessions = SessionStore(tmp_path).sessions()
    assert len(sessions) == 4
    assert {info.messages for info in sessions} == {30}


WRITER = """
import sys
from pathlib import Path
from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.reader import read_trace
events = list(read_trace(sys.argv[2]))
session = SessionStore(Path(sys.argv[1])).create("tiny")
turn = 0
while True:
    session.ask(f"question {turn}")
    answer = session.answer("tiny")
    for event in events:
        answer.write(event)
        print(turn, answer._lines, flush=True)
    answer.finish(events[-1].text, events[-1].output_ids, events[-1].finish_reason, Figures())
    turn += 1
"""


def test_after_a_kill_everything_that_was_written_is_there(tmp_path, events) -> None:
    from lookahead_cli.trace.writer import TraceWriter

    trace = tmp_path / "trace.jsonl"
    with TraceWriter(trace) as writer:
        for event in events:
            writer.write(event)
    moments = random.Random(7)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(trace)], stdout=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            wanted = moments.randrange(1, 60)
            said = list(itertools.islice(child.stdout, wanted))
            child.kill()
            said += child.stdout.readlines()
        turns, lines = map(int, [line for line in said if line.endswith("\n")][-1].split())
        store = SessionStore(folder)
        assert store.database.read("PRAGMA integrity_check") == [("ok",)]
        ((session,),) = store.database.read("SELECT id FROM session")
        answers = [each for each in store.open(session).messages() if each.role == "assistant"]
        assert len(answers) >= turns
        assert all(each.ids == events[-1].output_ids for each in answers[:turns])
        if lines > 1:
            written = [
                token
                for event in events[1:lines]
                if isinstance(event, StepEvent)
                for token in event.step.token_ids
            ]
            assert list(answers[turns].ids[: len(written)]) == written
        store.close()
