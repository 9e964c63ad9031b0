"""Who answers in a chat: a model with its settings and its pool, each of which can be changed on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lookahead_cli.cli.options import ModelOptions, SettingOptions
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError, MemoryLimitError, UsageError

if TYPE_CHECKING:
    import threading

    from lookahead_cli.decoding.pool import NGramPool
    from lookahead_cli.models.language_model import LanguageModel
    from lookahead_cli.models.parallel.ranks import Ranks
    from lookahead_cli.models.pools import PoolRequest
    from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent
    from lookahead_cli.tui.talk import ModelChoice, PoolFigures

_SIZES = ("window_size", "ngram_size", "guess_set_size")


@dataclass(slots=True)
class ChatModel:
    """Decodes with a model that is loaded when it is first needed; its pool lives on from run to run.

    Attributes:
        options: Which model, and where.
        config: The settings of the next run.
        pools: N-grams that are there before the first question.
        remarks: Sentences for the person once the screen is free.
        sizes: What was said of W, N and G; what was not said follows the model.
    """

    options: ModelOptions
    config: LookaheadConfig
    pools: PoolRequest
    remarks: list[str] = field(default_factory=list)
    sizes: SettingOptions | None = None
    _model: LanguageModel | None = None
    _draft: LanguageModel | None = None
    _pool: NGramPool | None = None
    _ranks: Ranks | None = None

    @property
    def spec(self) -> str:
        """What `--model` says."""
        return self.options.spec

    @property
    def loaded(self) -> LanguageModel | None:
        """The model, None until it is loaded."""
        return self._model

    @property
    def title(self) -> str:
        """What answers."""
        if self._model is None:
            return self.options.spec
        return f"{self._model.name} · {self._model.dtype} · {self._model.device}"

    @property
    def knows_roles(self) -> bool:
        """False for a model without a chat template, which goes on with plain text."""
        return self._model is None or self._model.has_chat_template

    def load(self, report: Callable[[Progress], None]) -> LanguageModel:
        """Load the model, if that was not done."""
        if self._model is None:
            from lookahead_cli.trace.events import Progress

            report(Progress("importing torch and transformers"))
            from lookahead_cli.cli.live import load_models
            from lookahead_cli.models.pools import open_pool

            model, self._draft = load_models(self.options, "bfloat16", self.config, report, self._ranks)
            self._ranks = model.ranks
            if model.remark is not None:
                self.remarks.append(model.remark)
            self._pool = open_pool(model, self.config, self.pools)
            self._model = model
        return self._model

    def run(
        self,
        prompt_ids: Sequence[int],
        cancel: threading.Event,
        report: Callable[[Progress], None],
        config: LookaheadConfig | None = None,
    ) -> Generator[Header | StepEvent | Footer, None, None]:
        """The run on a prompt; KV cache and pool of earlier turns are used again.

        With settings of its own it leaves the pool as it is.
        """
        model = self.load(report)
        pool, draft = (self._pool, self._draft) if config is None else (None, None)
        yield from model.run(
            prompt_ids, config or self.config, pool=pool, draft=draft, cancel=cancel, on_progress=report
        )

    def change(self, config: LookaheadConfig) -> None:
        """Take settings for the runs to come; the pool keeps what fits them.

        Raises:
            UsageError: They need a draft model, and none was loaded.
        """
        if config.method == "draft" and self.options.draft_model is None:
            raise UsageError("The method 'draft' needs a draft model.", "Start with --draft-model.")
        if self._model is not None:
            self._pool = self._pool_for(self._model, config)
        self.config = config

    def _pool_for(self, model: LanguageModel, config: LookaheadConfig) -> NGramPool | None:
        """The pool of other settings: n-grams of another length are of no use, a larger G has room."""
        from lookahead_cli.models.pools import PoolRequest, open_pool

        pool = self._pool
        if pool is not None and pool.ngram_size == config.ngram_size:
            if pool.guess_set_size >= config.guess_set_size:
                return pool
            stored = list(pool.entries())
            pool = type(pool)(config.ngram_size, config.guess_set_size)
            for tokens, source in stored:
                pool.insert(tokens, source, -1)
            return pool
        return open_pool(model, config, PoolRequest(texts=self.pools.texts))

    def change_model(self, spec: str, report: Callable[[Progress], None]) -> None:
        """Load another model in place of this one; where that fails, this one stays.

        Raises:
            LookaheadError: The other one cannot be found, fetched, read, or does not fit.
        """
        from lookahead_cli.cli.live import settle_memory
        from lookahead_cli.models.pools import PoolRequest

        options = replace(self.options, model=spec)
        options.check(self.config.method)
        config, pools = self._config_for(spec), PoolRequest(texts=self.pools.texts)
        other = ChatModel(options, config, pools, _ranks=self._ranks)
        try:
            other.load(report)
        except MemoryLimitError:
            if self._model is None:
                raise
            # Not both at once; should the other not fit alone, this one is loaded again when it is needed.
            self._release()
            other.load(report)
        self._release()
        self.options, self.config, self.pools = other.options, other.config, other.pools
        self.remarks += other.remarks
        self._model, self._draft, self._pool = other._model, other._draft, other._pool
        settle_memory()

    def _config_for(self, spec: str) -> LookaheadConfig:
        """The settings with another model's own W, N and G, where nobody chose others."""
        if self.sizes is None:
            return self.config
        here, there = self.sizes.values(self.spec), self.sizes.values(spec)
        followed = [name for name in _SIZES if getattr(self.config, name) == here[name]]
        return replace(self.config, **{name: there[name] for name in followed})

    def _release(self) -> None:
        """Give the model's memory back; its pool is in its file, where one was named."""
        self.close()
        if self._model is not None:
            self._model.release_elsewhere()
        self._model = self._draft = self._pool = None
        from lookahead_cli.cli.live import settle_memory

        settle_memory()
        with suppress(ImportError):
            import torch

            if torch.cuda.is_available():
                torch.cuda.empty_cache()

    def models(self) -> Sequence[ModelChoice]:
        """The models to choose from; it may take a second."""
        from lookahead_cli.cli.model_choices import model_choices

        return model_choices(self.options, self._model)

    def model_names(self) -> Sequence[str]:
        """The short names of models."""
        from lookahead_cli.models.aliases import aliases

        return tuple(aliases())

    def pool_figures(self) -> PoolFigures:
        """What the pool holds.

        Raises:
            UsageError: There is no pool.
        """
        from lookahead_cli.tui.talk import PoolFigures

        pool = self._held_pool()
        return PoolFigures(
            ngrams=len(pool),
            keys=pool.keys,
            ngram_size=pool.ngram_size,
            guess_set_size=pool.guess_set_size,
            sources=Counter[str](source for _, source in pool.entries()),
        )

    def clear_pool(self) -> None:
        """Forget every n-gram.

        Raises:
            UsageError: There is no pool.
        """
        pool = self._held_pool()
        self._pool = type(pool)(pool.ngram_size, pool.guess_set_size)

    def save_pool(self, file: Path) -> None:
        """Write the pool.

        Raises:
            UsageError: There is no pool.
            InputError: The file cannot be written.
        """
        from lookahead_cli.models.pools import save_pool

        pool = self._held_pool()
        assert self._model is not None
        save_pool(self._model, pool, file)

    def load_pool(self, file: Path) -> None:
        """Take the pool of a file in place of this one.

        Raises:
            InputError: There is no such file, or it holds no pool for this model.
            UsageError: The model is not loaded.
        """
        from lookahead_cli.models.pools import PoolRequest, open_pool

        if self._model is None:
            raise UsageError("The model is not loaded yet.", "Wait for it.")
        if not file.exists():
            raise InputError(f"There is no file '{file}'.", "/pool save FILE writes one.")
        self._pool = open_pool(self._model, self.config, PoolRequest(file=file))

    def _held_pool(self) -> NGramPool:
        if self._pool is None:
            raise UsageError(
                "These settings keep no n-gram pool.",
                "/method lookahead with the window among its sources does.",
            )
        return self._pool

    def close(self) -> None:
        """Save the pool, where a file was named."""
        if self._model is not None and self._pool is not None and self.pools.file is not None:
            from lookahead_cli.models.pools import save_pool

            save_pool(self._model, self._pool, self.pools.file)
