"""Options that several commands share, in groups that a command takes as one parameter."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from lookahead_cli.cli import complete
from lookahead_cli.cli.groups import option
from lookahead_cli.decoding.config import SOURCES, LookaheadConfig, Method
from lookahead_cli.errors import UsageError

_MOST_PROCESSES = 64
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")
SMALL_WINDOW, SMALL_NGRAM, SMALL_GUESS_SET = 7, 5, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which model, and where."""

    model: Annotated[
        str | None,
        option(
            "--model",
            "-m",
            metavar="MODEL",
            panel="Model",
            complete=complete.models,
            help="An alias (see `lookahead models`), a hub id, a local folder, or a .gguf file. "
            "Default: SmolLM2 135M.",
        ),
    ] = None
    device: Annotated[
        str,
        option(
            "--device",
            metavar="DEVICE",
            panel="Model",
            shown=True,
            complete=complete.devices,
            help="auto, cpu, cuda or mps.",
        ),
    ] = "auto"
    dtype: Annotated[
        str,
        option(
            "--dtype",
            metavar="DTYPE",
            panel="Model",
            shown=True,
            complete=complete.dtypes,
            help="auto, float32, bfloat16 or float16. Only float32 promises greedy decoding's ids.",
        ),
    ] = "auto"
    parallel: Annotated[
        int,
        option(
            "--parallel",
            metavar="N",
            panel="Model",
            shown=True,
            help="Processes that each hold the whole model and feed a part of every step's tree; under "
            "torchrun they are its own.",
        ),
    ] = 1
    compile: Annotated[
        Literal["auto", "on", "off"],
        option(
            "--compile",
            metavar="WHEN",
            panel="Model",
            shown=True,
            complete=complete.compilings,
            help="Compiled layers: auto takes what lies on disk, on makes it once (up to a minute), off does "
            "without.",
        ),
    ] = "auto"
    draft_model: Annotated[
        str | None,
        option(
            "--draft-model",
            metavar="MODEL",
            panel="Model",
            complete=complete.models,
            help="A smaller model with the same vocabulary, which guesses for --method draft.",
        ),
    ] = None

    @property
    def spec(self) -> str:
        """The model that was asked for, or the one that needs no hub."""
        from lookahead_cli.models.aliases import default_model

        return default_model() if self.model is None else self.model

    def check(self, method: str) -> None:
        """Refuse names that name no model, device or type, before torch is imported for them.

        Raises:
            ModelError: A name is no alias, no path that is there, and no hub id.
            UsageError: There is no such device or type; or a draft model is missing, or has nothing to do.
        """
        from lookahead_cli.models.sources import find_source

        if not _DEVICE.fullmatch(self.device):
            raise UsageError(
                f"There is no device called '{self.device}'.", f"Choose {', '.join(complete.DEVICES)}."
            )
        if self.dtype not in complete.DTYPES:
            raise UsageError(
                f"There is no dtype called '{self.dtype}'.", f"Choose {', '.join(complete.DTYPES)}."
            )
        if not 1 <= self.parallel <= _MOST_PROCESSES:
            raise UsageError(
                f"--parallel {self.parallel} cannot work.", f"Give 1 to {_MOST_PROCESSES} processes."
            )
        if self.parallel > 1 and method == "draft":
            raise UsageError("A draft model's chain cannot be split over processes.", "Leave out --parallel.")
        find_source(self.spec)
        if self.draft_model is not None:
            find_source(self.draft_model)
            if method != "draft":
                raise UsageError("--draft-model has nothing to do here.", "Add --method draft.")
        elif method == "draft":
            raise UsageError("The method 'draft' needs a draft model.", "Name one with --draft-model.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingOptions:
    """The sizes of a decoding step."""

    window_size: Annotated[
        int | None,
        option(
            "--window-size",
            "-W",
            metavar="W",
            panel="Decoding",
            help="Columns of the 2D window: how far ahead is guessed. Default: the alias's settings, else 7.",
        ),
    ] = None
    ngram_size: Annotated[
        int | None,
        option(
            "--ngram-size",
            "-N",
            metavar="N",
            panel="Decoding",
            help="Length of an n-gram; the window has N-1 rows. Default: the alias's settings, else 5.",
        ),
    ] = None
    guess_set_size: Annotated[
        int | None,
        option(
            "--guess-set-size",
            "-G",
            metavar="G",
            panel="Decoding",
            help="Most pool candidates verified in one step. Default: the alias's settings, else 7.",
        ),
    ] = None
    sources: Annotated[
        str,
        option(
            "--sources",
            metavar="LIST",
            panel="Decoding",
            shown=True,
            complete=complete.sources,
            help="Where lookahead takes guesses from: window, prompt (with the output), recycled (what "
            "earlier steps saw after the same tokens).",
        ),
    ] = "window,prompt"
    node_budget: Annotated[
        int,
        option(
            "--node-budget",
            metavar="NODES",
            panel="Decoding",
            shown=True,
            help="Nodes of a step that the recycled source fills the tree up to.",
        ),
    ] = 32
    seed: Annotated[
        int,
        option(
            "--seed",
            metavar="SEED",
            panel="Decoding",
            shown=True,
            help="Seed of the draws when sampling, and of the window's random tokens, which change the "
            "steps, never the text.",
        ),
    ] = 0

    def values(self, spec: str) -> dict[str, Any]:
        """What was asked for, else what the alias names, else (7, 5, 7) for small trees.

        Raises:
            UsageError: A source that there is not.
        """
        from lookahead_cli.models.aliases import find_alias

        alias = find_alias(spec)
        named = (
            (None, None, None)
            if alias is None
            else (alias.window_size, alias.ngram_size, alias.guess_set_size)
        )
        return {
            "window_size": _first(self.window_size, named[0], SMALL_WINDOW),
            "ngram_size": _first(self.ngram_size, named[1], SMALL_NGRAM),
            "guess_set_size": _first(self.guess_set_size, named[2], SMALL_GUESS_SET),
            "sources": parse_sources(self.sources),
            "node_budget": self.node_budget,
            "seed": self.seed,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingOptions:
    """How tokens are chosen, and where the text ends."""

    temperature: Annotated[
        float,
        option(
            "--temperature",
            metavar="T",
            panel="Sampling",
            shown=True,
            help="0 takes the likeliest token; above, tokens are drawn from the logits divided by it.",
        ),
    ] = 0.0
    top_k: Annotated[
        int,
        option("--top-k", metavar="K", panel="Sampling", help="Draw from the K likeliest tokens; 0 for all."),
    ] = 0
    top_p: Annotated[
        float,
        option(
            "--top-p",
            metavar="P",
            panel="Sampling",
            help="Draw from the smallest set of tokens with probability P; 1 for all.",
        ),
    ] = 1.0
    min_p: Annotated[
        float,
        option(
            "--min-p",
            metavar="P",
            panel="Sampling",
            help="Least probability, as a share of the likeliest token's; 0 for none.",
        ),
    ] = 0.0
    typical_p: Annotated[
        float,
        option(
            "--typical-p", metavar="P", panel="Sampling", help="Locally typical sampling; 1 for all tokens."
        ),
    ] = 1.0
    repetition_penalty: Annotated[
        float,
        option(
            "--repetition-penalty",
            metavar="R",
            panel="Sampling",
            help="Makes tokens that the text has less likely; 1 for none. Also without a temperature.",
        ),
    ] = 1.0
    no_repeat_ngram: Annotated[
        int,
        option(
            "--no-repeat-ngram",
            metavar="SIZE",
            panel="Sampling",
            help="No n-gram of this size comes twice; 0 for no limit. Also without a temperature.",
        ),
    ] = 0
    stop: Annotated[
        list[str] | None,
        option(
            "--stop",
            metavar="TEXT",
            panel="Sampling",
            help="Ends the text where it says TEXT; may be given several times.",
        ),
    ] = None

    def values(self) -> dict[str, Any]:
        """As settings of a run."""
        return {
            "temperature": self.temperature,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "min_p": self.min_p,
            "typical_p": self.typical_p,
            "repetition_penalty": self.repetition_penalty,
            "no_repeat_ngram_size": self.no_repeat_ngram,
            "stop": tuple(self.stop or ()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolOptions:
    """N-grams that are there before the first step."""

    pool_from: Annotated[
        list[Path] | None,
        option(
            "--pool-from",
            metavar="FILE",
            panel="Pool",
            help="Put the n-grams of a text file into the pool; may be given several times.",
        ),
    ] = None
    pool: Annotated[
        Path | None,
        option(
            "--pool",
            metavar="FILE",
            panel="Pool",
            help="Take the pool from a file, where there is one, and save it there at the end.",
        ),
    ] = None


DecodingMethod = Annotated[
    Method, option("--method", panel="Decoding", shown=True, help="Who guesses; greedy is nobody.")
]
MaxNewTokens = Annotated[
    int,
    option(
        "--max-new-tokens", "-t", metavar="TOKENS", panel="Decoding", shown=True, help="Most tokens emitted."
    ),
]
ChatOrRaw = Annotated[
    bool | None,
    option(
        "--chat/--raw",
        panel="Decoding",
        help="Send the text through the model's chat template, or feed it as it is, special tokens in it "
        "parsed. Default: --chat for a text file where the model has a template, --raw for source code.",
    ),
]
Theme = Annotated[
    str | None,
    option(
        "--theme",
        metavar="THEME",
        panel="Output",
        complete=complete.themes,
        help="A theme's name (see `lookahead themes`) or its file.",
    ),
]
Plain = Annotated[
    bool,
    option(
        "--plain",
        panel="Output",
        help="Print a step at a time instead of the full screen; chosen by itself where standard output is "
        "no terminal.",
    ),
]
Compact = Annotated[bool, option("--compact", panel="Output", help="Like --plain, with one line a step.")]
Paused = Annotated[bool, option("--paused", panel="Output", help="Start paused: one step a key press.")]
Presenter = Annotated[
    bool, option("--presenter", panel="Output", help="Start with large text for a lecture hall (key p).")
]
Speed = Annotated[
    float | None,
    option(
        "--speed",
        metavar="STEPS",
        panel="Output",
        help="Steps a second on the full screen. Default: as fast as the model.",
    ),
]


def config_of(
    spec: str,
    setting: SettingOptions,
    sampling: SamplingOptions | None = None,
    *,
    max_new_tokens: int,
    method: Method = "lookahead",
) -> LookaheadConfig:
    """The settings of a run.

    Raises:
        UsageError: A value that cannot work.
    """
    chosen = {} if sampling is None else sampling.values()
    return LookaheadConfig(method=method, max_new_tokens=max_new_tokens, **setting.values(spec), **chosen)


def parse_sources(text: str) -> tuple[Any, ...]:
    """Sources such as `window,prompt`, in their own order.

    Raises:
        UsageError: There is no such source.
    """
    asked = [name.strip() for name in text.split(",") if name.strip()]
    for name in asked:
        if name not in SOURCES:
            raise UsageError(f"There is no source called '{name}'.", f"Choose from {', '.join(SOURCES)}.")
    return tuple(source for source in SOURCES if source in asked)


def _first(asked: int | None, named: int | None, otherwise: int) -> int:
    return asked if asked is not None else named if named is not None else otherwise
