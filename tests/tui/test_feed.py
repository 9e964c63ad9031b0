"""A run driven in a worker thread: nothing that it gave is lost, its end least of all."""

from __future__ import annotations

from lookahead_cli.trace.events import Footer
from lookahead_cli.tui.feed import Feed
from tests.tui.runs import ScriptedSource


def test_a_feed_has_not_finished_before_all_of_it_is_taken():
    told = []
    feed = Feed(ScriptedSource(recorded=True), None, lambda: told.append(True))
    feed.drive()
    assert told == [True]
    assert not feed.finished
    assert isinstance(feed.take()[-1], Footer)
    assert feed.finished


def test_an_end_that_comes_after_all_was_taken_is_told():
    taken, told = [], []
    source = ScriptedSource(recorded=True)
    feed = Feed(source, None, lambda: told.append((taken.extend(feed.take()), feed.finished)))
    feed.drive()
    assert isinstance(taken[-1], Footer)
    assert told[-1][1]
