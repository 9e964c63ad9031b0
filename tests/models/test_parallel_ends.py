"""How several processes that decode together end: killed, refused, or all at once."""

from __future__ import annotations

import os
import signal
import time

import psutil
import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import ModelError
from lookahead_cli.models.api import generate
from lookahead_cli.models.language_model import load_model
from lookahead_cli.models.parallel.ranks import RankLostError
from lookahead_cli.models.parallel.workers import start_ranks
from lookahead_cli.trace.events import Footer, Header
from tests.tiny import save_tiny_model

PROMPT = "The quick brown fox jumps over the lazy dog. The quick"
CONFIG = LookaheadConfig(max_new_tokens=40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("tiny"))


def read_into(taken, events):
    for event in events:
        taken.append(event)  # an error of the source must not take what came before it


def test_a_rank_that_is_killed_ends_the_run_with_its_footer_and_one_sentence(folder):
    ranks = start_ranks(2)
    try:
        model = load_model(folder, ranks=ranks, dtype="float32")
        events = model.run(model.encode(PROMPT), CONFIG)
        assert isinstance(next(events), Header)
        first = next(events)
        os.kill(ranks.process_ids[0], signal.SIGKILL)
        started = time.monotonic()
        rest = []
        with pytest.raises(RankLostError, match=r"Rank 1 of 2 \(SIGKILL\) has ended"):
            read_into(rest, events)
        assert time.monotonic() - started < 10
        footer = rest[-1]
        assert isinstance(footer, Footer)
        assert footer.finish_reason == "failed"
        assert footer.output_ids[: len(first.step.token_ids)] == first.step.token_ids
        with pytest.raises(RankLostError):
            generate(model, PROMPT, CONFIG)
    finally:
        ranks.end()
    assert not any(psutil.pid_exists(number) for number in ranks.process_ids)


def test_a_model_that_a_rank_cannot_load_is_said_and_another_one_can_be(folder, tmp_path):
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    ranks = start_ranks(2)
    try:
        with pytest.raises(ModelError, match="no weights"):
            load_model(tmp_path, ranks=ranks)
        assert generate(load_model(folder, ranks=ranks), PROMPT, CONFIG)
    finally:
        ranks.end()


def test_a_chat_loads_another_model_on_the_same_ranks(folder, tmp_path):
    from lookahead_cli.cli.chat_model import ChatModel
    from lookahead_cli.cli.options import ModelOptions
    from lookahead_cli.models.pools import PoolRequest

    other = save_tiny_model(tmp_path, seed=1)
    options = ModelOptions(model=str(folder), device="cpu", dtype="float32", parallel=2)
    chat = ChatModel(options, CONFIG, PoolRequest())
    first = chat.load(lambda _: None)
    ranks = first.ranks
    try:
        assert generate(first, PROMPT, CONFIG) == generate(load_model(folder), PROMPT, CONFIG)

        chat.change_model(str(other), lambda _: None)

        second = chat.loaded
        assert second is not None
        assert second.ranks is ranks
        assert generate(second, PROMPT, CONFIG) == generate(load_model(other), PROMPT, CONFIG)
    finally:
        ranks.end()
