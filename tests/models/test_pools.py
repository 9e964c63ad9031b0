"""Pools from texts and on disk, tied to a tokenizer and an N."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError
from lookahead_cli.models.language_model import load_model
from lookahead_cli.models.pools import PoolRequest, open_pool, save_pool
from lookahead_cli.trace.events import Footer, StepEvent
from tests.tiny import SENTENCES, save_tiny_model

CONFIG = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=16)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(str(save_tiny_model(tmp_path_factory.mktemp("models") / "tiny")), dtype="float32")


def run(model, pool, config=CONFIG):
    *events, footer = model.run(model.encode(SENTENCES[3]), config, pool=pool)
    assert isinstance(footer, Footer)
    return [event.step for event in events if isinstance(event, StepEvent)], footer


def test_a_pool_is_saved_and_read_again_in_the_same_order(model, tmp_path):
    pool = open_pool(model, CONFIG, PoolRequest())
    run(model, pool)
    save_pool(model, pool, tmp_path / "pool.json")
    again = open_pool(model, CONFIG, PoolRequest(file=tmp_path / "pool.json"))
    assert sorted(again.entries()) == sorted(pool.entries())
    for key in {tokens[0] for tokens, _ in pool.entries()}:
        assert [each.tokens for each in again.candidates(key)] == [
            each.tokens for each in pool.candidates(key)
        ]
    assert [path.name for path in tmp_path.iterdir()] == ["pool.json"]


def test_a_second_run_on_a_kept_pool_has_the_same_ids_and_no_more_steps(model):
    pool = open_pool(model, CONFIG, PoolRequest())
    first_steps, first = run(model, pool)
    steps, footer = run(model, pool)
    assert footer.output_ids == first.output_ids
    assert footer.steps <= first.steps
    # What was there before step 0 was born before step 0.
    assert all(candidate.born < 0 for candidate in steps[0].candidates)
    assert steps[0].candidates
    assert not any(candidate.source == "window" for candidate in first_steps[0].candidates)


def test_the_n_grams_of_a_text_are_candidates_with_their_provenance(model):
    _, footer = run(model, open_pool(model, CONFIG, PoolRequest()))
    pool = open_pool(model, CONFIG, PoolRequest(texts=(SENTENCES[3] + footer.text,)))
    steps, informed = run(model, pool)
    assert informed.output_ids == footer.output_ids
    assert "file" in {candidate.source for step in steps for candidate in step.candidates}


def test_a_foreign_pool_is_refused(model, tmp_path):
    path = tmp_path / "pool.json"
    save_pool(model, open_pool(model, CONFIG, PoolRequest(texts=SENTENCES[:1])), path)
    body = json.loads(path.read_text())
    path.write_text(json.dumps(body | {"tokenizer": "0" * 64}))
    with pytest.raises(InputError, match="another tokenizer"):
        open_pool(model, CONFIG, PoolRequest(file=path))
    path.write_text(json.dumps(body))
    with pytest.raises(InputError, match="n-grams of 3 tokens, and N is 5"):
        open_pool(model, LookaheadConfig(ngram_size=5), PoolRequest(file=path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "is no saved pool"),
        ("[]", "is no saved pool"),
        ('{"type": "lookahead-pool"}', "another format"),
    ],
)
def test_what_is_no_pool_is_said(model, tmp_path, text, said):
    path = tmp_path / "pool.json"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        open_pool(model, CONFIG, PoolRequest(file=path))


def test_a_damaged_pool_is_said(model, tmp_path):
    path = tmp_path / "pool.json"
    save_pool(model, open_pool(model, CONFIG, PoolRequest(texts=SENTENCES[:1])), path)
    body = json.loads(path.read_text())
    for ngrams in (
        [[[1, 2], "prompt"]],
        [[[1, 2, 3], "nowhere"]],
        [[[1, 2, 9999], "prompt"]],
        [[[1, -1, 3], "prompt"]],
        [[[1.0, 2, 3], "prompt"]],
        [7],
        None,
    ):
        path.write_text(json.dumps(body | {"ngrams": ngrams}))
        with pytest.raises(InputError, match="is damaged"):
            open_pool(model, CONFIG, PoolRequest(file=path))


@pytest.mark.parametrize("sources", [("prompt", "recycled"), ("recycled",)])
def test_without_a_window_the_texts_of_a_pool_are_evidence_and_the_output_is_kept(model, sources, tmp_path):
    config = replace(CONFIG, sources=sources, node_budget=8)
    assert open_pool(model, config, PoolRequest()) is None
    _, footer = run(model, None, config)
    pool = open_pool(model, config, PoolRequest(texts=(SENTENCES[3] + footer.text,)))
    steps, informed = run(model, pool, config)
    assert informed.output_ids == footer.output_ids
    assert "file" in {candidate.source for step in steps for candidate in step.candidates}
    assert all(len(step.nodes) <= 8 for step in steps)
    fresh = open_pool(model, config, PoolRequest(file=tmp_path / "pool.json"))
    run(model, fresh, config)
    assert "output" in {source for _, source in fresh.entries()}


def test_a_smaller_g_takes_the_newest_and_loses_nothing(model, tmp_path):
    path = tmp_path / "pool.json"
    wide = replace(CONFIG, guess_set_size=15)
    pool = open_pool(model, wide, PoolRequest(texts=(" ".join(SENTENCES),)))
    save_pool(model, pool, path)
    narrow = replace(CONFIG, guess_set_size=1)
    again = open_pool(model, narrow, PoolRequest(file=path))
    assert sorted(again.entries()) == sorted(pool.entries())
    steps, _ = run(model, again, narrow)
    assert all(len(step.candidates) <= 1 for step in steps)
