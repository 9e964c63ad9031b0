"""A live source runs its prompt again with other settings, on the model that it has loaded."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from lookahead_cli.cli.live import LiveSource, RunRequest
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.cli.prompts import Prompt
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.trace.reader import read_trace
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("live-model")))


def test_the_model_stays_loaded_the_ids_are_the_same_and_each_run_has_its_recording(folder, tmp_path):
    config = LookaheadConfig(window_size=5, ngram_size=3, guess_set_size=5, max_new_tokens=20)
    source = LiveSource(
        RunRequest(
            model=ModelOptions(model=folder, device="cpu", dtype="float32"),
            prompt=Prompt("prompt.txt", "One two three four."),
            style="raw",
            config=config,
            pools=PoolRequest(),
            record=tmp_path / "run.jsonl",
        )
    )
    *_, first = source.events(threading.Event(), lambda progress: None)
    source.change(replace(config, window_size=2, guess_set_size=0))
    assert source.config.window_size == 2
    said = []
    *_, second = source.events(threading.Event(), lambda progress: said.append(progress.label))
    assert second.output_ids == first.output_ids
    assert not any(label.startswith("loading") for label in said)
    recorded = [list(read_trace(tmp_path / name)) for name in ("run.jsonl", "run-2.jsonl")]
    assert [events[0].config["window_size"] for events in recorded] == [5, 2]
    assert [events[-1].output_ids for events in recorded] == [first.output_ids, second.output_ids]
