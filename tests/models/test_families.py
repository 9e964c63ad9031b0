"""A slice of the exactness of every family; `make exact` has the whole table."""

from __future__ import annotations

import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.loading import context_length_of
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.support import reason_against
from tests.exact.families import (
    BORDER_PROMPTS,
    BORDERED,
    FAMILIES,
    METHODS,
    FamilyCase,
    decoded,
    differing_corners,
    family_model,
    generated,
    prompt_of,
)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_accepted_and_exact_past_its_sliding_window(family):
    assert reason_against(family_model(family).config) is None
    for method in METHODS:
        assert not list(differing_corners(FamilyCase(family, method, 50), [(5, 3, 5)])), method


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_exact_from_one_token_on_and_up_to_the_last_position(family):
    assert not list(differing_corners(FamilyCase(family, "lookahead", 1), [(15, 5, 15), (1, 2, 0)]))
    model = family_model(family)
    limit = context_length_of(model.config)
    prompt = (prompt_of(50) * 6)[: limit - 6]
    config = LookaheadConfig(window_size=5, ngram_size=3, guess_set_size=5, max_new_tokens=40)
    assert decoded(model, prompt, config) == generated(model, prompt, 6)


@pytest.mark.parametrize("family", BORDERED)
@pytest.mark.parametrize("length", BORDER_PROMPTS)
def test_a_text_is_exact_across_the_border_of_its_position_embeddings(family, length):
    for method in METHODS:
        assert not list(differing_corners(FamilyCase(family, method, length), [(5, 3, 5)])), method


@pytest.mark.parametrize("family", BORDERED)
def test_one_runner_is_exact_on_both_sides_of_the_border_in_turn(family):
    model = family_model(family)
    runner = TransformersRunner(model, context_length_of(model.config))
    config = LookaheadConfig(window_size=5, ngram_size=3, guess_set_size=5, max_new_tokens=20)
    for length in (50, 80, 50, 30, 70, 55):
        prompt = prompt_of(length)
        assert decoded(model, prompt, config, runner) == generated(model, prompt, 20), length
