"""Whole sampled texts against their exact distribution, for every proposer.

The model is a small random language whose logits are a function of the text, so what the real logits
processors and `inverse_transform`'s intervals make of them is remembered by path: a run of three tokens takes
a fraction of a millisecond, and fifty thousand independent ones a minute.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import Draft, make_proposer, rules_of
from lookahead_cli.decoding.records import Choice
from lookahead_cli.decoding.sampling import SeededUniforms
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.models.sampling import sampler_of

VOCABULARY = 12
LENGTH = 3
PROMPT = (1, 2, 3, 1, 2, 4, 1, 2)
FULL = 50_000
METHODS: dict[str, dict[str, Any]] = {
    "greedy": {"method": "greedy"},
    "lookahead": {"window_size": 5, "ngram_size": 3, "guess_set_size": 5},
    "jacobi": {"method": "jacobi", "window_size": 5},
    "prompt-lookup": {"method": "prompt-lookup", "window_size": 5, "ngram_size": 3},
    "draft": {"method": "draft", "window_size": 3},
    "reference": {"method": "lookahead-reference", "window_size": 5, "ngram_size": 3, "guess_set_size": 5},
    "recycled": {"sources": ("prompt", "recycled"), "node_budget": 12},
    "all sources": {
        "window_size": 3,
        "ngram_size": 3,
        "guess_set_size": 5,
        "sources": ("window", "prompt", "recycled"),
        "node_budget": 12,
    },
}
SAMPLING: dict[str, Any] = {"temperature": 0.9, "top_k": 6, "repetition_penalty": 1.2}
# One test in a thousand may fail by chance; there are several.
LEVEL = 0.001 / len(METHODS)


def config_of(method: str) -> LookaheadConfig:
    return LookaheadConfig(max_new_tokens=LENGTH, **SAMPLING, **METHODS[method])


class Language:
    """Logits and processed probabilities by text, remembered."""

    def __init__(self, config: LookaheadConfig) -> None:
        self._processors = sampler_of(config).processors
        self._known: dict[tuple[int, ...], tuple[list[float], list[float], list[int]]] = {}

    def after(self, text: tuple[int, ...]) -> tuple[list[float], list[float], list[int]]:
        """Probabilities after `text`, cumulated ones, and the tokens from the likeliest on."""
        if text not in self._known:
            generator = torch.Generator().manual_seed(hash(text) % (1 << 62))
            scores = 2 * torch.randn(1, VOCABULARY, generator=generator)
            order = scores[0].argsort(descending=True).tolist()
            assert self._processors is not None
            probabilities = self._processors(torch.tensor([text]), scores.clone())[0].double().softmax(-1)
            cumulated = probabilities.cumsum(-1)
            self._known[text] = probabilities.tolist(), cumulated.tolist(), order
        return self._known[text]


class PathRunner:
    """A runner whose logits are the texts themselves."""

    position_limit = None

    def __init__(self, ids: Sequence[int]) -> None:
        self.ids = list(ids)

    def has_room_for(self, _tokens: int) -> bool:
        return True

    def forward(self, tree: TokenTree) -> list[tuple[int, ...]]:
        texts: list[tuple[int, ...]] = []
        for token, parent in zip(tree.tokens, tree.parents, strict=True):
            texts.append((*(texts[parent] if parent >= 0 else tuple(self.ids)), token))
        return texts

    def commit(self, tree: TokenTree, nodes: Sequence[int]) -> None:
        self.ids += [tree.tokens[node] for node in nodes]

    def prefill(self, ids: Sequence[int]) -> bool:
        self.ids = list(ids)
        return True


class PathReadout:
    """What the language says after each text."""

    choices = ()

    def __init__(
        self, language: Language, texts: Sequence[tuple[int, ...]], uniforms: Any, first: int
    ) -> None:
        self.language = language
        self.texts = texts
        self.choices = [None] * len(texts)  # type: ignore[assignment]
        self._uniforms = uniforms
        self._first = first

    def choice(self, node: int) -> int:
        _, cumulated, _ = self.language.after(self.texts[node])
        depth = len(self.texts[node]) - len(self.texts[0])
        point = self._uniforms(self._first + depth) * cumulated[-1]
        return bisect.bisect_right(cumulated, point)

    def probability(self, node: int, token: int) -> float:
        return self.language.after(self.texts[node])[0][token]

    def detail(self, node: int) -> Choice:
        choice = self.choice(node)
        return Choice(self.probability(node, choice), choice, 0.0)

    def likeliest(self, count: int) -> tuple[list[list[int]], list[list[float]]]:
        answers = [self.language.after(text) for text in self.texts]
        tokens = [order[:count] for _, _, order in answers]
        return tokens, [[each[0][token] for token in row] for each, row in zip(answers, tokens, strict=True)]


class PathSampler:
    """Draws with numbers of one long stream, so that many texts are independent."""

    readout = PathReadout

    def __init__(self, language: Language, text_number: int) -> None:
        self._language = language
        self._stream = SeededUniforms(99)
        self._start = LENGTH * text_number

    def read(
        self, texts: Sequence[tuple[int, ...]], _tree: TokenTree, _ids: Sequence[int], emitted_before: int
    ) -> PathReadout:
        return self.readout(self._language, texts, lambda at: self._stream(self._start + at), emitted_before)


def sampled_texts(
    config: LookaheadConfig, count: int, kind: type[PathSampler] = PathSampler
) -> Counter[tuple[int, ...]]:
    """How often each text of LENGTH tokens was drawn, by the real loop and proposer."""
    language = Language(config)
    rules = rules_of(config)
    texts: Counter[tuple[int, ...]] = Counter()
    for number in range(count):
        sampler = kind(language, number)
        draft = Draft(PathRunner(PROMPT[:-1]), sampler) if config.method == "draft" else None
        proposer = make_proposer(config, PROMPT, draft=draft)
        runner = PathRunner(PROMPT[:-1])
        steps = decode(runner, PROMPT[-1], proposer, Stopping(LENGTH), sampler, rules=rules)
        texts[tuple(token for step in steps for token in step.token_ids)] += 1
    return texts


def exact_shares(config: LookaheadConfig) -> dict[tuple[int, ...], float]:
    """The probability of every text of LENGTH tokens."""
    language = Language(config)
    shares: dict[tuple[int, ...], float] = {(): 1.0}
    for _ in range(LENGTH):
        shares = {
            (*text, token): share * each
            for text, share in shares.items()
            for token, each in enumerate(language.after((*PROMPT, *text))[0])
            if each > 0
        }
    return shares


def chi_square_p(counts: Mapping[Any, int], shares: Mapping[Any, float], total: int) -> float:
    """The probability of a chi-square statistic as large as this one; rare cells are joined into one."""
    rare = [cell for cell, share in shares.items() if share * total < 5]
    cells = [(counts.get(cell, 0), share * total) for cell, share in shares.items() if share * total >= 5]
    expected = sum(shares[cell] for cell in rare) * total
    if expected >= 5:
        cells.append((sum(counts.get(cell, 0) for cell in rare), expected))
    statistic = sum((seen - wanted) ** 2 / wanted for seen, wanted in cells)
    freedom = torch.tensor((len(cells) - 1) / 2, dtype=torch.float64)
    return 1 - float(torch.special.gammainc(freedom, torch.tensor(statistic / 2, dtype=torch.float64)))


def p_value(method: str, count: int) -> float:
    """How likely a deviation as large as the drawn one is, if the distribution is exact."""
    config = config_of(method)
    return chi_square_p(sampled_texts(config, count), exact_shares(config), count)
