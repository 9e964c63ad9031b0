"""A slice of `make kills`: the real program is killed in mid-answer, and nothing that it had said is lost."""

from __future__ import annotations

import itertools
import random

import pytest

from tests.kills import Kept, Kill, check_kill, kills, messages_in
from tests.tiny import save_tiny_model

pytestmark = pytest.mark.xdist_group("programs")

KILLS = 8


def test_what_was_said_before_a_kill_is_in_the_file_and_the_session_goes_on(tmp_path):
    model = str(save_tiny_model(tmp_path / "model", max_position_embeddings=1 << 15))
    environment = {"OMP_NUM_THREADS": "1"}
    made = list(itertools.islice(kills(tmp_path, model, environment, random.Random(7), 20), KILLS))
    assert [kill.kept >= kill.said for kill in made] == [True] * KILLS
    assert sum(kill.moment == "during" for kill in made) >= KILLS // 2
    questions = [kept.content for kept in messages_in(tmp_path / "data") if kept.role == "user"]
    assert len(questions) == made[-1].turns >= KILLS // 2


class Saying:
    """What a killed program said."""

    def __init__(self, *lines):
        self.lines = list(lines)


STEP = {"type": "step", "step": 0, "ids": [5, 6], "text": "ab"}
QUESTION, WHOLE = Kept("user", "q", ()), Kept("assistant", "abc", (5, 6, 7))


def test_the_comparison_counts_what_was_said_and_what_was_kept():
    assert check_kill([], [QUESTION, WHOLE], "q", Saying(STEP)) == Kill("during", 2, 3, 1)
    assert check_kill([QUESTION, WHOLE, QUESTION], [QUESTION, WHOLE], "q", Saying()) == Kill(
        "before", 0, 0, 1
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([], []),
        ([], [QUESTION]),
        ([], [QUESTION, Kept("assistant", "ab", (5,))]),
        ([], [QUESTION, Kept("assistant", "a", (5, 6))]),
        ([], [Kept("user", "other", ()), WHOLE]),
        ([QUESTION, WHOLE], [QUESTION, Kept("assistant", "ab", (5, 6)), QUESTION, WHOLE]),
        ([QUESTION, WHOLE], [QUESTION, WHOLE]),
    ],
)
def test_the_comparison_finds_every_kind_of_loss(before, after):
    with pytest.raises(AssertionError):
        check_kill(before, after, "q", Saying(STEP))
