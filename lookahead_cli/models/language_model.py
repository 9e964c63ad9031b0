"""A loaded model with its tokenizer: text in, a stream of events out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, Literal

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError, ModelError, UsageError
from lookahead_cli.models.loading import Checkpoint, load_checkpoint
from lookahead_cli.models.parallel.loading import load_on_all
from lookahead_cli.models.parallel.messages import Drop, Load, Run
from lookahead_cli.models.parallel.runner import ParallelReader, ParallelRunner
from lookahead_cli.models.run import run_events
from lookahead_cli.models.runner import TransformersRunner
from lookahead_cli.models.sampling import sampler_of
from lookahead_cli.models.tokens import TokenTexts
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent, TokenText

if TYPE_CHECKING:
    from lookahead_cli.decoding.pool import NGramPool
    from lookahead_cli.decoding.runner import Reader
    from lookahead_cli.models.parallel.ranks import Ranks

Message = Mapping[str, str]
_CHANGES_GREEDY = (
    "repetition_penalty", "no_repeat_ngram_size", "min_length", "min_new_tokens", "suppress_tokens",
    "begin_suppress_tokens", "bad_words_ids", "forced_bos_token_id", "forced_eos_token_id", "sequence_bias",
    "exponential_decay_length_penalty", "guidance_scale", "watermarking_config",
    "encoder_repetition_penalty", "encoder_no_repeat_ngram_size",
)  # fmt: skip


class LanguageModel:
    """A model that is ready to decode, one prompt at a time.

    Args:
        checkpoint: What was loaded.
        ranks: The processes that decode together, None for this one alone.
        number: The number under which the others know the model.

    Attributes:
        name: Name for people.
        dtype: `float32`, `bfloat16` or `float16`.
        device: `cpu`, `cuda` or `mps`.
        context_length: Positions that the model has, None for no limit.
        eos_ids: Ids that end a text.
        vocabulary_size: Rows of the embedding; ids lie below it.
        runner: The model's passes and KV cache.
        step_runner: What feeds the steps that are shared with other ranks; the runner where there are none.
        ranks: The processes that decode together, None for this one alone.
        unapplied: What the model's generation config asks for and a run leaves out: of that file the ids
            that end a text are taken, everything else comes from `LookaheadConfig`.
    """

    def __init__(self, checkpoint: Checkpoint, ranks: Ranks | None = None, number: int = 0) -> None:
        self.name = checkpoint.name
        self.dtype = str(checkpoint.dtype).removeprefix("torch.")
        self.device = str(checkpoint.device).split(":")[0]
        self.context_length = checkpoint.context_length
        self.alias = checkpoint.alias
        self.tokenizer: Any = checkpoint.tokenizer
        self.runner = TransformersRunner(checkpoint.model, checkpoint.context_length)
        self.ranks = ranks
        self.step_runner: TransformersRunner | ParallelRunner = self.runner
        if ranks is not None:
            self.step_runner = ParallelRunner(self.runner, ranks)
        self._number = number
        self.vocabulary_size: int = checkpoint.model.get_input_embeddings().num_embeddings
        self.eos_ids = _eos_ids(checkpoint.model, checkpoint.tokenizer)
        self.unapplied = _unapplied(checkpoint.model)
        self._load_remark = checkpoint.remark
        self._texts = TokenTexts(checkpoint.tokenizer)
        self._busy = threading.Lock()
        self._owner = 0

    @property
    def remark(self) -> str | None:
        """Sentences on what was asked for and is not done; None where there are none."""
        said = [sentence for sentence in (self._load_remark, self._unapplied_remark) if sentence is not None]
        return " ".join(said) or None

    @property
    def _unapplied_remark(self) -> str | None:
        if not self.unapplied:
            return None
        asked = ", ".join(
            f"{name} = {value}" if isinstance(value, int | float) else name
            for name, value in self.unapplied.items()
        )
        return f"{self.name}: its generation config asks for {asked}; only what the flags say is applied."

    @property
    def has_chat_template(self) -> bool:
        """True when the tokenizer knows how the model takes a conversation."""
        return bool(getattr(self.tokenizer, "chat_template", None))

    def encode(self, text: str, *, special_tokens: bool = True) -> tuple[int, ...]:
        """Token ids of a text as it is; markers of the vocabulary in it are parsed as such.

        Args:
            text: The text.
            special_tokens: Add what the tokenizer itself adds, such as a beginning-of-sequence token.

        Raises:
            InputError: It holds half a character, which no token stands for.
        """
        _check_characters(text)
        return tuple(self.tokenizer(text, add_special_tokens=special_tokens)["input_ids"])

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Token ids of a conversation, up to where the model's answer begins.

        Raises:
            InputError: A message holds half a character.
            ModelError: The model has no chat template, or it refuses these messages.
        """
        if not self.has_chat_template:
            raise ModelError(
                f"{self.name} has no chat template.",
                "Use --raw to give it the text as it is, or an instruct model.",
            )
        for message in messages:
            for text in message.values():
                _check_characters(text)
        try:
            encoded = self.tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                add_generation_prompt=True,
                tokenize=True,
                return_dict=True,
            )
        except Exception as error:  # a template is a program of the model's author and may raise anything
            raise ModelError(
                f"The chat template of {self.name} refuses this conversation: {error}.",
                "Leave out --system if there is one, or use --raw.",
            ) from error
        return tuple(encoded["input_ids"])

    def text(self, ids: Sequence[int]) -> str:
        """The text of ids, without special tokens."""
        return str(
            self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
        )

    def token_text(self, token: int) -> TokenText:
        """How one token reads."""
        return self._texts(token)

    def ranks_for(self, config: LookaheadConfig) -> Ranks | None:
        """The processes that a run is shared with; a step of one node is not shared."""
        return None if config.method == "greedy" else self.ranks

    def stepper(self, config: LookaheadConfig) -> tuple[TransformersRunner | ParallelRunner, Reader]:
        """What feeds the steps of a run, and what chooses tokens from its passes."""
        sampler = sampler_of(config, self.runner.device)
        ranks = self.ranks_for(config)
        return (self.runner, sampler) if ranks is None else (self.step_runner, ParallelReader(sampler, ranks))

    def release_elsewhere(self) -> None:
        """Let the other ranks forget this model."""
        if self.ranks is not None and self.ranks.leads:
            self.ranks.tell(Drop(self._number))

    def run(
        self,
        prompt_ids: Sequence[int],
        config: LookaheadConfig,
        *,
        greedy: bool = False,
        pool: NGramPool | None = None,
        draft: LanguageModel | None = None,
        cancel: threading.Event | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Iterator[Header | StepEvent | Footer]:
        """Decode a prompt; see `lookahead_cli.models.run.run_events`.

        Only one run at a time holds a model, as a draft model too: one of another thread waits until the
        first has ended or was closed.

        Raises:
            InputError: The prompt is empty or longer than the model's context.
            UsageError: This thread has a run on one of the models that is neither at its end nor closed.
        """
        with ExitStack() as held:
            # In one order everywhere, so that two runs cannot wait for each other.
            for model in sorted({self} if draft is None else {self, draft}, key=id):
                held.enter_context(model._hold())
            ranks = self.ranks_for(config)
            if ranks is None and self.ranks is not None:
                held.enter_context(self.ranks.every_core())
            if ranks is not None:
                _check_parallel(draft)
            if ranks is not None and ranks.leads:
                held.enter_context(ranks.run(Run(self._number, tuple(prompt_ids), config, pool)))
            events = run_events(
                self,
                prompt_ids,
                config,
                greedy=greedy,
                pool=pool,
                draft=draft,
                cancel=cancel,
                on_progress=on_progress,
            )
            held.enter_context(closing(events))
            for event in events:
                if ranks is not None and isinstance(event, StepEvent):
                    ranks.end_step(last=event.step.finish_reason is not None)
                yield event

    @contextmanager
    def _hold(self) -> Iterator[None]:
        if self._busy.locked() and self._owner == threading.get_ident():
            raise UsageError(
                f"Another run on {self.name} is not at its end.",
                "Close its generator, or read it to its end.",
            )
        with self._busy:
            self._owner = threading.get_ident()
            yield


def load_model(
    spec: str | os.PathLike[str],
    *,
    device: str = "auto",
    dtype: str = "auto",
    prefer: Literal["float32", "bfloat16"] = "float32",
    compile_layers: Literal["auto", "on", "off"] = "auto",
    config: LookaheadConfig | None = None,
    ranks: Ranks | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> LanguageModel:
    """Load a model.

    Args:
        spec: An alias, a hub id, a folder, or a `.gguf` file.
        device: `auto`, `cpu`, `cuda` or `mps`.
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        prefer: What `auto` means on a CPU that has both.
        compile_layers: `auto` takes compiled layers that an earlier run left on disk, `on` makes them, which
            takes up to a minute, `off` does without.
        config: Settings of the runs to come, to estimate memory.
        ranks: Processes that decode together, from `start_ranks`; None for this one alone.
        on_progress: Called while something is fetched, converted or read.

    Raises:
        UsageError: An argument is of another kind.
        ModelError: It cannot be found, fetched, read, or decoded exactly.
        MemoryLimitError: It does not fit.
    """
    config = LookaheadConfig() if config is None else config
    if not isinstance(config, LookaheadConfig):
        raise UsageError(f"Settings cannot be {type(config).__name__}.", "Give a LookaheadConfig(…).")
    if prefer not in ("float32", "bfloat16"):
        raise UsageError(f"There is nothing to prefer called {prefer!r}.", "Give 'float32' or 'bfloat16'.")
    if compile_layers not in ("auto", "on", "off"):
        raise UsageError(f"Layers cannot be compiled {compile_layers!r}.", "Give 'auto', 'on' or 'off'.")
    report = on_progress or (lambda _: None)

    def load(where: str, available_bytes: int | None = None) -> Checkpoint:
        return load_checkpoint(
            os.fspath(spec),
            device=where,
            dtype=dtype,
            prefer=prefer,
            compile_layers=compile_layers,
            tokens_needed=config.max_new_tokens,
            nodes_per_step=config.nodes_per_step,
            on_progress=report,
            available_bytes=available_bytes,
        )

    if ranks is None:
        return LanguageModel(load(device))
    # One rank compiles; the others take what lies on disk.
    taken: Literal["auto", "off"] = "off" if compile_layers == "off" else "auto"
    request = Load(0, os.fspath(spec), device, dtype, prefer, config, taken)
    checkpoint, number = load_on_all(load, request, ranks, report)
    return LanguageModel(checkpoint, ranks, number)


def _check_parallel(draft: LanguageModel | None) -> None:
    if draft is not None:
        raise UsageError(
            "A draft model's chain cannot be split over processes.",
            "Leave out one of them.",
        )


def _check_characters(text: str) -> None:
    # What is no text at all is refused by the tokenizer, or by the chat template.
    if (
        isinstance(text, str)
        and not text.isascii()
        and any("\ud800" <= character <= "\udfff" for character in text)
    ):
        raise InputError(
            "The text holds half a character (a lone surrogate), which no token stands for.",
            "Give text that can be written as UTF-8.",
        )


def _eos_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    """Every id that ends a text, as `generate` sees it: the generation config's, else the tokenizer's."""
    declared = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if declared is None:
        declared = tokenizer.eos_token_id
    if declared is None:
        return frozenset()
    return frozenset(declared) if isinstance(declared, list | tuple) else frozenset({int(declared)})


def _unapplied(model: Any) -> Mapping[str, Any]:
    """What of the model's generation config changes the ids of its greedy `generate`, the ends aside."""
    declared = getattr(model, "generation_config", None)
    asked = {name: getattr(declared, name, None) for name in _CHANGES_GREEDY}
    return {name: value for name, value in asked.items() if value is not None and value not in (0, 1.0, [])}
