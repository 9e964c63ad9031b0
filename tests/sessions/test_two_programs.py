"""Two programs on one data folder: neither damages or loses what the other one, or itself, has said."""

from __future__ import annotations

import random

import pytest

from tests.programs import ProgramTerminal
from tests.tiny import save_tiny_model
from tests.two_programs import NAMES, sessions_in, start, talk

pytestmark = pytest.mark.xdist_group("programs")

ROUNDS = 6


@pytest.fixture
def model(tmp_path):
    return str(save_tiny_model(tmp_path / "model", max_position_embeddings=1 << 15, eos_token_id=None))


def answer_to(messages, question):
    """The answer behind a question."""
    at = [message.content for message in messages].index(question)
    return messages[at + 1]


def test_two_sessions_at_once_keep_every_token_that_was_said_though_programs_are_killed(tmp_path, model):
    talkers = talk(tmp_path, model, ROUNDS, random.Random(5))
    assert len(talkers) == 2 * ROUNDS
    assert sorted(sessions_in(tmp_path / "data")) == sorted(NAMES)
    # The last round is one of the killed ones: what it left is finished when the session is opened again.
    last = [start(tmp_path, model, name, f"{name} asks at last.", f"{name}-last") for name in NAMES]
    assert [each.program.exit_code() for each in last] == [0, 0]
    kept = sessions_in(tmp_path / "data")
    for talker in (*talkers, *last):
        said = talker.said
        assert said
        assert list(answer_to(kept[talker.session], talker.question).ids[: len(said)]) == said
    for name in NAMES:
        questions = [message.content for message in kept[name] if message.role == "user"]
        assert questions == [*(f"{name} asks {number}." for number in range(ROUNDS)), f"{name} asks at last."]
        assert all(each.finish_reason for each in kept[name] if each.role == "assistant")


def test_one_session_in_two_programs_goes_on_in_a_copy_and_both_keep_their_own(tmp_path, model):
    begun = start(tmp_path, model, "shared", "Both know this.", "begun")
    assert begun.program.exit_code() == 0
    environment = {"LOOKAHEAD_DATA": str(tmp_path / "data"), "LOOKAHEAD_CONFIG": "/nonexistent"}
    arguments = ["chat", "--session", "shared", "--model", model, "--dtype", "float32", "-t", "400"]
    with ProgramTerminal(arguments, environment, 100, 40) as terminal:
        terminal.read_until(lambda screen: "float32 · cpu" in screen)
        terminal.press("Only here.\r")
        terminal.read_until(lambda screen: " S " in screen.splitlines()[0])
        # While that answer comes, another program asks in the same session.
        other = start(tmp_path, model, "shared", "Only there.", "other")
        assert other.program.exit_code() == 0
        assert "is open in another chat" in other.program.errors
        terminal.read_until(lambda screen: "; cut by" in " ".join(screen.split()).partition("Only here.")[2])
        terminal.press("\x11")
        assert terminal.exit_code() == 0
    kept = sessions_in(tmp_path / "data")
    assert {name: [each.content for each in said if each.role == "user"] for name, said in kept.items()} == {
        "shared": ["Both know this.", "Only here."],
        "shared (2)": ["Both know this.", "Only there."],
    }
    assert kept["shared"][1].ids == kept["shared (2)"][1].ids == tuple(begun.said)
    assert kept["shared (2)"][-1].ids == tuple(other.said)
    assert len(kept["shared"][-1].ids) == 400
