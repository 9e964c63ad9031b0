"""Stop strings: found across tokens, cut inside one, never one token too many."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.stopping import Stopping, StopStrings
from lookahead_cli.models.language_model import load_model
from lookahead_cli.models.run import _stopping, text_before_stop
from lookahead_cli.trace.events import Footer, StepEvent
from lookahead_cli.tui.token_text import text_of
from tests.tiny import SENTENCES, save_tiny_model

WORDS = {0: b"one ", 1: b"two", 2: b" three", 3: "ü".encode()[:1], 4: "ü".encode()[1:], 5: b""}


def stops(*strings):
    return StopStrings(strings, WORDS.__getitem__)


@pytest.mark.parametrize(
    ("strings", "tokens", "ends_at", "overrun"),
    [
        (("two",), (0, 1, 2), 1, 0),
        (("wo th",), (0, 1, 2), 2, 3),
        (("e two th",), (0, 1, 2), 2, 3),
        (("o",), (0, 1, 2), 0, 3),
        (("three", "wo"), (0, 1, 2), 1, 0),
        (("re", " t"), (0, 1, 2), 1, 2),
        (("re", " th"), (0, 1, 2), 2, 3),
        (("ü",), (0, 3, 4), 2, 0),
        (("e ",), (5, 5, 0), 2, 0),
    ],
)
def test_a_string_is_found_in_the_token_that_completes_it(strings, tokens, ends_at, overrun):
    found = stops(*strings)
    assert [found.completed_by(token) for token in tokens[: ends_at + 1]] == [False] * ends_at + [True]
    assert found.overrun == overrun


def test_a_string_that_is_not_there_is_not_found():
    found = stops("twothree", "ones")
    assert not any(found.completed_by(token) for token in (0, 1, 2, 0, 1))


def test_the_tokens_behind_the_string_are_cut_off():
    stopping = Stopping(10, stop_strings=stops("two"))
    assert stopping.cut([0, 1, 2], 0, 0) == ((0, 1), "stop")
    assert stopping.overrun == 0


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(str(save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")), dtype="float32")


@pytest.mark.parametrize("stop", ["end", "|", "<", "<|im_end|>"])
def test_an_end_marker_is_no_part_of_the_text_that_is_searched(model, stop):
    stopping = _stopping(model, LookaheadConfig(stop=(stop,)))
    marker = model.tokenizer.eos_token_id
    assert model.token_text(marker).text == "<|im_end|>"
    assert stopping.cut([marker], 3, 10) == ((marker,), "eos")
    assert text_before_stop("The capital is Paris.", stopping) == "The capital is Paris."


def test_text_ids_and_stream_end_where_the_string_does_for_every_method(model):
    prompt = model.encode(SENTENCES[0])
    config = LookaheadConfig(window_size=5, ngram_size=3, guess_set_size=5, max_new_tokens=60)
    *_, free = model.run(prompt, replace(config, method="greedy"))
    text = free.text
    starts = [at for at in range(3, len(text) - 3) if text[at : at + 3].isascii()]
    assert starts
    for start in starts[:12]:
        stop = text[start : start + 3]
        end = text.index(stop) + 3
        for method in ("greedy", "lookahead", "jacobi"):
            *events, footer = model.run(prompt, replace(config, method=method, stop=(stop,)))
            assert isinstance(footer, Footer)
            assert (footer.finish_reason, footer.text) == ("stop", text[:end])
            assert footer.output_ids == free.output_ids[: len(footer.output_ids)]
            steps = [event.step for event in events if isinstance(event, StepEvent)]
            tokens = [model.token_text(token) for step in steps for token in step.token_ids]
            assert text_of(tokens, steps[-1].overrun) == text[:end]
            # One token less does not have the string yet.
            assert stop not in model.text(footer.output_ids[:-1])
