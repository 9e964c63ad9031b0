"""A recorded trace as a source."""

from __future__ import annotations

import threading

import pytest

from lookahead_cli.errors import InputError
from lookahead_cli.trace.events import Footer, Header, StepEvent
from lookahead_cli.trace.writer import TraceWriter
from lookahead_cli.tui.source import TraceSource
from tests.tui.runs import run_events, settings


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "run.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        writer = TraceWriter(stream)
        for event in run_events(settings()):
            writer.write(event)
    return path


def test_a_trace_gives_back_the_run(trace):
    source = TraceSource(trace)
    assert source.recorded
    assert source.title == "run.jsonl"
    said = []
    events = list(source.events(threading.Event(), said.append))
    assert isinstance(events[0], Header)
    assert isinstance(events[-1], Footer)
    steps = [event.step for event in events if isinstance(event, StepEvent)]
    assert [step.token_ids for step in steps] == [
        event.step.token_ids for event in run_events(settings()) if isinstance(event, StepEvent)
    ]
    assert said == []


def test_reading_stops_when_it_is_cancelled(trace):
    cancel = threading.Event()
    cancel.set()
    assert len(list(TraceSource(trace).events(cancel, lambda progress: None))) == 1


def test_a_missing_trace_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl"):
        list(TraceSource(tmp_path / "none.jsonl").events(threading.Event(), lambda progress: None))
