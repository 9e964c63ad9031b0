"""The exactness table: token ids of every setting against transformers' own greedy `generate`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.language_model import LanguageModel
from lookahead_cli.trace.events import Footer

SETTINGS = ((15, 5, 15), (7, 5, 7), (5, 3, 5), (1, 2, 0))
EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt at one setting."""

    prompt: Path
    setting: tuple[int, int, int]
    tokens: int

    @property
    def key(self) -> str:
        return f"{self.prompt.name} W{self.setting[0]} N{self.setting[1]} G{self.setting[2]} x{self.tokens}"


def all_cases(tokens: int) -> list[Case]:
    prompts = sorted(path for path in EXAMPLES.iterdir() if path.is_file())
    return [Case(prompt, setting, tokens) for prompt in prompts for setting in SETTINGS]


def prompt_ids(model: LanguageModel, prompt: Path) -> tuple[int, ...]:
    return model.encode_chat([{"role": "user", "content": prompt.read_text(encoding="utf-8")}])


def reference_ids(model: LanguageModel, ids: Sequence[int], tokens: int) -> list[int]:
    """What `generate(do_sample=False)` gives."""
    inputs = torch.tensor([list(ids)])
    output = model.runner.model.generate(
        inputs, attention_mask=torch.ones_like(inputs), do_sample=False, num_beams=1, max_new_tokens=tokens
    )
    return output[0, len(ids) :].tolist()


def run_case(model: LanguageModel, case: Case) -> Footer:
    window, ngram, guesses = case.setting
    config = LookaheadConfig(
        window_size=window, ngram_size=ngram, guess_set_size=guesses, max_new_tokens=case.tokens
    )
    *_, footer = model.run(prompt_ids(model, case.prompt), config)
    assert isinstance(footer, Footer)
    return footer
