"""A slice of `make chat-latency`: a thousand turns are opened, and typed into while an answer comes."""

from __future__ import annotations

import statistics

import pytest

from tests.chat_latency import measure, write_sessions

pytestmark = pytest.mark.xdist_group("programs")

TURNS = 1000


def test_a_thousand_turns_open_in_a_second_and_letters_are_there_at_once(tmp_path):
    model = str(write_sessions(tmp_path, TURNS))
    measured = measure(tmp_path, model, TURNS, letters=12, rounds=2, flags=["-t", "7000"])
    # Other work on the machine takes turns as well: processor time, or seconds times what it leaves.
    assert measured.opened_processor < 1
    assert statistics.median(measured.idle) < 0.05
    medians = [statistics.median(line) for line in measured.streaming]
    print(medians, measured.shares)
    assert min(each * share for each, share in zip(medians, measured.shares, strict=True)) < 0.05
    assert measured.tokens > 48
