"""A run is named by its settings."""

from __future__ import annotations

import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.trace.settings import settings_words

SIZES = {"window_size": 7, "ngram_size": 5, "guess_set_size": 3}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "greedy"}, "greedy"),
        ({"method": "jacobi"}, "jacobi 7"),
        ({}, "lookahead W 7 N 5 G 3"),
        ({"sources": ("prompt",)}, "lookahead W 7 N 5 G 3 prompt"),
        ({"sources": ("prompt", "recycled"), "node_budget": 16}, "lookahead prompt+recycled 16 nodes"),
        ({"method": "lookahead-reference"}, "lookahead-reference W 7 N 5 G 3"),
        ({"method": "greedy", "temperature": 0.7}, "greedy, temperature 0.7"),
    ],
)
def test_a_run_is_named_by_its_settings(settings, words):
    assert settings_words(LookaheadConfig(**(SIZES | settings)).as_mapping()) == words


def test_a_trace_of_before_sources_is_the_papers_own():
    assert settings_words({"method": "lookahead", **SIZES}) == "lookahead W 7 N 5 G 3"
