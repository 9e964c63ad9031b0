"""Token ids of every setting against transformers' own greedy `generate`, on the default model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.language_model import LanguageModel
from lookahead_cli.models.stock import stock
from lookahead_cli.trace.events import Footer

SETTINGS = ((15, 5, 15), (7, 5, 7), (5, 3, 5), (1, 2, 0))
EXAMPLES = Path(__file__).parents[2] / "examples"
PROMPTS = Path(__file__).parents[1] / "prompts"
METHODS: dict[str, dict[str, Any]] = {
    "lookahead": {"window_size": 7, "guess_set_size": 7},
    "jacobi": {"method": "jacobi", "window_size": 7},
    "prompt-lookup": {"method": "prompt-lookup", "window_size": 10, "ngram_size": 3},
    "recycled": {"sources": ("prompt", "recycled"), "node_budget": 16},
}


GEMMA: dict[str, dict[str, Any]] = {
    "W15 N5 G15": {},
    "W5 N3 G5": {"window_size": 5, "ngram_size": 3, "guess_set_size": 5},
    "jacobi": {"method": "jacobi", "window_size": 7},
    "prompt-lookup": {"method": "prompt-lookup", "window_size": 10, "ngram_size": 3},
    "all sources": {
        "window_size": 5,
        "ngram_size": 4,
        "guess_set_size": 5,
        "sources": ("window", "prompt", "recycled"),
        "node_budget": 16,
    },
}
GEMMA_PROMPT = 760
GEMMA_TOKENS = 64
"""Prompt and output, in tokens: both past the 512 positions of Gemma 3's sliding window."""
ROUNDING = 0.5
"""Logits of 16 to 32 lie 1/8 apart in bfloat16; a difference at a gap of many of these is a fault."""


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt with one configuration."""

    prompt: Path
    name: str
    tokens: int
    settings: dict[str, Any] = field(hash=False)

    @property
    def key(self) -> str:
        return f"{self.prompt.name} {self.name} x{self.tokens}"

    @property
    def config(self) -> LookaheadConfig:
        return LookaheadConfig(max_new_tokens=self.tokens, **self.settings)


def setting_case(prompt: Path, setting: tuple[int, int, int], tokens: int) -> Case:
    window, ngram, guesses = setting
    sizes = {"window_size": window, "ngram_size": ngram, "guess_set_size": guesses}
    return Case(prompt, f"W{window} N{ngram} G{guesses}", tokens, sizes)


def example_cases(tokens: int = 128) -> list[Case]:
    """Every example at every setting."""
    return [setting_case(prompt, setting, tokens) for prompt in files(EXAMPLES) for setting in SETTINGS]


def method_cases(tokens: int = 256) -> list[Case]:
    """The forty prompts with every method."""
    return [Case(prompt, name, tokens, METHODS[name]) for prompt in files(PROMPTS) for name in METHODS]


def long_text() -> str:
    """All examples, one after the other."""
    return "\n\n".join(path.read_text(encoding="utf-8") for path in files(EXAMPLES))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())


def prompt_ids(model: LanguageModel, prompt: Path) -> tuple[int, ...]:
    return model.encode_chat([{"role": "user", "content": prompt.read_text(encoding="utf-8")}])


def reference_ids(model: LanguageModel, ids: Sequence[int], tokens: int) -> list[int]:
    """What `generate(do_sample=False)` gives, with nothing of ours in the model."""
    inputs = torch.tensor([list(ids)])
    with stock(model.runner.model) as plain:
        output = plain.generate(
            inputs,
            attention_mask=torch.ones_like(inputs),
            do_sample=False,
            num_beams=1,
            max_new_tokens=tokens,
        )
    return output[0, len(ids) :].tolist()


def run_case(model: LanguageModel, case: Case, *, greedy: bool = False) -> Footer:
    return run_ids(model, prompt_ids(model, case.prompt), case.config, greedy=greedy)


def run_ids(
    model: LanguageModel, ids: Sequence[int], config: LookaheadConfig, *, greedy: bool = False
) -> Footer:
    *_, footer = model.run(ids, config, greedy=greedy)
    assert isinstance(footer, Footer)
    return footer
