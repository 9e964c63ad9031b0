"""Runs for the screens, decoded by the real loop from a small made-up language, without a model."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import make_proposer
from lookahead_cli.decoding.records import Choice
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Footer, GreedyRun, Header, Progress, StepEvent, TokenText
from lookahead_cli.trace.settings import settings_words
from lookahead_cli.tui.source import Rival

WORDS = (
    " the",
    " fox",
    "\n",
    " return",
    "(",
    "n",
    ")",
    " *",
    " fact",
    "\t",
    "    ",
    " 日本",
    " [bold]",
    "é",
    ".",
)
SPLIT = {15: TokenText("�", b"\xf0\x9f"), 16: TokenText("�", b"\x99\x82")}
VOCABULARY = {**{index: TokenText(word) for index, word in enumerate(WORDS)}, **SPLIT}
PROMPT_IDS = (3, 5, 7, 8, 4, 5, 6, 0, 1)

Event = Header | StepEvent | Footer


class Language:
    """Each token follows from the two before it; so it repeats itself, and n-grams come true."""

    def __init__(self, ids: Sequence[int] = tuple(VOCABULARY)) -> None:
        self.ids = tuple(ids)

    def next(self, context: Sequence[int]) -> int:
        return self.ids[zlib.crc32(repr(tuple(context[-2:])).encode()) % len(self.ids)]


@dataclass
class Readout:
    """What the language says after each node."""

    choices: list[int]

    def choice(self, node: int) -> int:
        return self.choices[node]

    def detail(self, node: int) -> Choice:
        return Choice(0.81, (self.choices[node] + 1) % len(VOCABULARY), 0.1)

    def probability(self, node: int, token: int) -> float:
        return 0.81 if self.choices[node] == token else 0.02


@dataclass
class LanguageRunner:
    """A runner of the decoding loop that asks a language."""

    language: Language
    ids: list[int]
    position_limit: int | None = None

    def forward(self, tree: TokenTree) -> list[int]:
        paths: list[list[int]] = []
        for token, parent in zip(tree.tokens, tree.parents, strict=True):
            paths.append([*(paths[parent] if parent >= 0 else self.ids[-2:]), token])
        return [self.language.next(path) for path in paths]

    def read(self, logits: list[int], *_: object) -> Readout:
        return Readout(logits)

    def commit(self, tree: TokenTree, nodes: Sequence[int]) -> None:
        self.ids += [tree.tokens[node] for node in nodes]


def header(config: LookaheadConfig, model: str = "made-up") -> Header:
    return Header(
        model=model,
        config=config.as_mapping(),
        dtype="float32",
        device="cpu",
        prompt="",
        prompt_ids=PROMPT_IDS,
        tokens=dict(VOCABULARY),
        prefill_seconds=0.1,
    )


def run_events(
    config: LookaheadConfig,
    *,
    language: Language | None = None,
    greedy: GreedyRun | None = None,
    cancel: threading.Event | None = None,
) -> Iterator[Event]:
    """A whole run."""
    yield header(config)
    runner = LanguageRunner(language or Language(), list(PROMPT_IDS[:-1]))
    ids: list[int] = []
    steps = 0
    reason = "cancelled"
    stopping = Stopping(config.max_new_tokens)
    proposer = make_proposer(config, PROMPT_IDS)
    for step in decode(runner, PROMPT_IDS[-1], proposer, stopping, runner, cancel=cancel):
        ids += step.token_ids
        steps += 1
        reason = step.finish_reason or reason
        yield StepEvent(step, {})
    yield Footer(
        output_ids=tuple(ids),
        text="",
        steps=steps,
        compression_ratio=len(ids) / steps if steps else 0.0,
        seconds=2.0,
        finish_reason=reason,  # type: ignore[arg-type]
        greedy=greedy,
    )


def settings(
    window: int = 5, ngram: int = 4, guesses: int = 5, tokens: int = 40, **more: object
) -> LookaheadConfig:
    return LookaheadConfig(
        window_size=window, ngram_size=ngram, guess_set_size=guesses, max_new_tokens=tokens, **more
    )  # type: ignore[arg-type]


@dataclass
class ScriptedSource:
    """A source that gives a run, and says how far it was asked."""

    config: LookaheadConfig = field(default_factory=settings)
    recorded: bool = False
    title: str = "made-up · test"
    greedy: GreedyRun | None = None
    failure: Exception | None = None
    # Raised after the footer, as where a process of several has died.
    late_failure: Exception | None = None
    language: Language | None = None
    before: Sequence[Progress] = ()
    # A test that wants to see the loading screen keeps this cleared.
    go: threading.Event = field(default_factory=threading.Event)
    given: int = 0
    closed: bool = False
    # Who races beside it; lanes that a test wants to see growing are held after some steps.
    race_with: Sequence[str] = ("greedy",)
    lane_language: Language | None = None
    lane_failure: Exception | None = None
    held_lanes: Sequence[str] = ()
    lanes_begun: list[str] = field(default_factory=list)
    lanes_ended: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.go.set()

    def change(self, config: LookaheadConfig) -> None:
        self.config = config

    def rivals(self) -> Sequence[Rival]:
        if not self.race_with:
            raise LookaheadError("Nobody races.", "Name somebody.")
        configs = [replace(self.config, method=method) for method in self.race_with]
        return [
            Rival(config.method, settings_words(config.as_mapping()), ScriptedLane(self, config), config)
            for config in configs
        ]

    def events(self, cancel: threading.Event, report: Callable[[Progress], None]) -> Iterator[Event]:
        for progress in self.before:
            report(progress)
        while not self.go.wait(0.01):
            report(Progress("loading"))
        if self.failure is not None:
            raise self.failure
        try:
            for event in run_events(self.config, language=self.language, greedy=self.greedy, cancel=cancel):
                self.given += isinstance(event, StepEvent)
                yield event
            if self.late_failure is not None:
                raise self.late_failure
        finally:
            self.closed = True


@dataclass
class ScriptedLane:
    """A rival of a scripted run."""

    source: ScriptedSource
    config: LookaheadConfig

    def events(self, cancel: threading.Event, report: Callable[[Progress], None]) -> Iterator[Event]:
        source, method = self.source, self.config.method
        source.lanes_begun.append(method)
        if source.lane_failure is not None:
            raise source.lane_failure
        for event in run_events(self.config, language=source.lane_language or source.language, cancel=cancel):
            yield event
            if method in source.held_lanes and isinstance(event, StepEvent) and event.step.index == 4:
                cancel.wait()
        source.lanes_ended.append(method)
