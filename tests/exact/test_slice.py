"""Three prompts of different kinds at every setting, on the default model."""

from __future__ import annotations

import pytest

from tests.exact.tables import (
    EXAMPLES,
    METHODS,
    SETTINGS,
    Case,
    prompt_ids,
    reference_ids,
    run_case,
    setting_case,
)

pytestmark = [pytest.mark.model, pytest.mark.xdist_group("model")]


@pytest.mark.parametrize("name", ["code-fibonacci.py", "chat-tides.txt", "summary-library.txt"])
def test_ids_equal_greedy_generate_at_every_setting(default_model, name):
    prompt = EXAMPLES / name
    expected = reference_ids(default_model, prompt_ids(default_model, prompt), 32)
    for setting in SETTINGS:
        footer = run_case(default_model, setting_case(prompt, setting, 32))
        assert list(footer.output_ids) == expected, setting
        assert len(expected) / footer.steps == footer.compression_ratio
    for method, settings in METHODS.items():
        footer = run_case(default_model, Case(prompt, method, 32, settings))
        assert list(footer.output_ids) == expected, method
