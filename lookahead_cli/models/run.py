"""One run as a stream of events: header, steps, footer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.loop import decode
from lookahead_cli.decoding.proposers import Draft, GreedyProposer, make_proposer, rules_of
from lookahead_cli.decoding.records import FinishReason, Step
from lookahead_cli.decoding.stopping import Stopping, StopStrings
from lookahead_cli.errors import InputError, ModelError
from lookahead_cli.models.parallel.ranks import RankLostError
from lookahead_cli.models.sampling import sampler_of
from lookahead_cli.trace.events import Footer, GreedyRun, Header, Progress, StepEvent, TokenText

if TYPE_CHECKING:
    from lookahead_cli.decoding.pool import NGramPool
    from lookahead_cli.models.language_model import LanguageModel

Report = Callable[[Progress], None]


class _TokenBook:
    """Gives the text of each token id once."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._given: set[int] = set()

    def new(self, ids: Iterable[int]) -> Mapping[int, TokenText]:
        fresh = dict.fromkeys(token for token in ids if token not in self._given)
        self._given.update(fresh)
        return {token: self._model.token_text(token) for token in fresh}


def ids_of(step: Step) -> Iterator[int]:
    """Every token id that a step's record names."""
    for node in step.nodes:
        yield node.token
        if node.choice is not None:
            yield node.choice
        if node.detail is not None:
            yield node.detail.runner_up
    for candidate in step.candidates:
        yield from candidate.tokens
    if step.window is not None:
        for row in (*step.window.rows, step.window.new):
            yield from (token for token in row if token is not None)
    if step.pool is not None:
        for change in step.pool.changes:
            yield from change.tokens


def run_events(
    model: LanguageModel,
    prompt_ids: Sequence[int],
    config: LookaheadConfig,
    *,
    greedy: bool = False,
    pool: NGramPool | None = None,
    draft: LanguageModel | None = None,
    cancel: threading.Event | None = None,
    on_progress: Report | None = None,
) -> Generator[Header | StepEvent | Footer, None, None]:
    """Decode a prompt.

    Args:
        model: The model; its KV cache is reused up to the longest common prefix.
        prompt_ids: The prompt.
        config: Settings.
        greedy: Also run greedy decoding afterwards, for the footer.
        pool: N-grams of earlier turns of a conversation.
        draft: The draft model, for method `draft`.
        cancel: Set from another thread to stop within one step.
        on_progress: Called while the prompt is fed and while greedy runs.

    Yields:
        A header, an event a step, a footer. A cancelled run has a footer too.

    Raises:
        InputError: The prompt is empty, or leaves no room in the model's context.
        ModelError: The draft model has another vocabulary.
        RankLostError: A process of a parallel run has ended; after the footer.
    """
    prompt_ids = tuple(prompt_ids)
    runner, reader = model.stepper(config)
    ranks = model.ranks_for(config)
    if draft is not None:
        check_vocabulary(model, draft)
    _check_prompt(model, prompt_ids)
    if pool is not None:
        _check_pool(model, pool)
    book = _TokenBook(model)
    started = time.perf_counter()
    prefilled = runner.prefill(
        prompt_ids[:-1], cancel=cancel, on_progress=_token_progress("reading the prompt", on_progress)
    )
    yield Header(
        model=model.name,
        config=config.as_mapping(),
        dtype=model.dtype,
        device=model.device,
        prompt="".join(model.token_text(token).text for token in prompt_ids),
        prompt_ids=prompt_ids,
        tokens=book.new(prompt_ids),
        ranks=1 if ranks is None else ranks.size,
        prefill_seconds=time.perf_counter() - started,
    )
    output_ids: list[int] = []
    steps = 0
    seconds = 0.0
    finish_reason: FinishReason = "cancelled"
    failure: RankLostError | None = None
    stopping = _stopping(model, config)
    if prefilled:
        drafting = None if draft is None else Draft(draft.runner, reader, _shared_ids(model, draft))
        proposer = make_proposer(config, prompt_ids, pool, drafting)
        steps_of_run = decode(
            runner, prompt_ids[-1], proposer, stopping, reader, rules=rules_of(config), cancel=cancel
        )
        try:
            for step in steps_of_run:
                output_ids += step.token_ids
                steps += 1
                seconds += step.seconds.total
                finish_reason = step.finish_reason or finish_reason
                yield StepEvent(step, book.new(ids_of(step)))
        except RankLostError as error:
            # What was decoded is whole, and gets its footer first.
            failure, finish_reason = error, "failed"
    greedy_run = None
    if greedy and finish_reason not in ("cancelled", "failed"):
        # Rank 0 alone runs it, as it would without the others.
        with nullcontext() if model.ranks is None else model.ranks.every_core():
            greedy_run = _greedy_beside(model, prompt_ids, output_ids, config, cancel, on_progress)
    named = () if greedy_run is None else (greedy_run.expected, greedy_run.got)
    yield Footer(
        output_ids=tuple(output_ids),
        text=text_before_stop(model.text(output_ids), stopping),
        steps=steps,
        compression_ratio=len(output_ids) / steps if steps else 0.0,
        seconds=seconds,
        finish_reason=finish_reason,
        greedy=greedy_run,
        tokens=book.new(token for token in named if token is not None),
    )
    if failure is not None:
        raise failure


def _check_prompt(model: LanguageModel, prompt_ids: Sequence[int]) -> None:
    if not prompt_ids:
        raise InputError(
            "The prompt is empty.", "Write something into it: decoding starts from its last token."
        )
    for token in prompt_ids:
        if not 0 <= token < model.vocabulary_size:
            raise InputError(
                f"The prompt has the token id {token}, and the model has {model.vocabulary_size:,} of them.",
                "Encode it with this model's tokenizer.",
            )
    if model.context_length is not None and len(prompt_ids) >= model.context_length:
        raise InputError(
            f"The prompt has {len(prompt_ids):,} tokens and the model's context holds "
            f"{model.context_length:,}, the answer included.",
            "Shorten the prompt, or choose a model with a longer context.",
        )


def _check_pool(model: LanguageModel, pool: NGramPool) -> None:
    for ngram, _ in pool.entries():
        if not all(0 <= token < model.vocabulary_size for token in ngram):
            raise InputError(
                f"The pool has the n-gram {ngram}, and the model has {model.vocabulary_size:,} token ids.",
                "Fill it with ids of this model's tokenizer.",
            )


def check_vocabulary(model: LanguageModel, draft: LanguageModel) -> None:
    """Refuse a draft model that means other tokens by the same ids, or that is the model itself.

    Raises:
        ModelError: Their vocabularies differ, or they are one.
    """
    if draft.runner is model.runner:
        raise ModelError(
            f"{model.name} cannot be its own draft model: each needs a KV cache of its own.",
            "Load it a second time, or take a smaller model of the same family.",
        )
    if model.tokenizer.get_vocab() != draft.tokenizer.get_vocab():
        raise ModelError(
            f"The draft model {draft.name} has another vocabulary than {model.name}.",
            "Take a smaller model of the same family.",
        )


def _shared_ids(model: LanguageModel, draft: LanguageModel) -> int:
    # Models of a family may pad their embeddings to other lengths; no tokenizer makes those ids.
    return min(model.vocabulary_size, draft.vocabulary_size)


def _stopping(model: LanguageModel, config: LookaheadConfig) -> Stopping:
    strings = StopStrings(config.stop, lambda token: _shown_bytes(model, token)) if config.stop else None
    return Stopping(config.max_new_tokens, model.eos_ids, model.runner.context_length, strings)


def _shown_bytes(model: LanguageModel, token: int) -> bytes:
    """The bytes of a token in the output text, which has no special tokens."""
    text = model.token_text(token)
    return b"" if text.special else text.raw


def text_before_stop(text: str, stopping: Stopping) -> str:
    """The text up to where a stop string was complete."""
    return text.encode()[: -stopping.overrun].decode(errors="ignore") if stopping.overrun else text


def _token_progress(label: str, report: Report | None) -> Callable[[int, int], None] | None:
    if report is None:
        return None
    return lambda done, total: report(Progress(label, done, total, "tokens"))


def _greedy_beside(
    model: LanguageModel,
    prompt_ids: tuple[int, ...],
    output_ids: Sequence[int],
    config: LookaheadConfig,
    cancel: threading.Event | None,
    on_progress: Report | None,
) -> GreedyRun | None:
    """Run greedy on the same prompt and compare; None when it was cancelled."""
    runner = model.runner
    if not runner.prefill(prompt_ids[:-1], cancel=cancel):
        return None
    report = _token_progress("greedy, to compare", on_progress)
    steps: list[Step] = []
    finished = False
    sampler = sampler_of(config, runner.device)
    one_by_one = decode(
        runner, prompt_ids[-1], GreedyProposer(), _stopping(model, config), sampler, cancel=cancel
    )
    for step in one_by_one:
        steps.append(step)
        finished = step.finish_reason is not None
        if report is not None:
            report(len(steps), len(output_ids))
    if not finished:
        return None
    expected = [token for step in steps for token in step.token_ids]
    seconds = sum(step.seconds.total for step in steps)
    if expected == list(output_ids):
        return GreedyRun(len(steps), seconds, ids_equal=True)
    shorter = min(len(expected), len(output_ids))
    position = next((at for at in range(shorter) if expected[at] != output_ids[at]), shorter)
    detail = steps[position].nodes[0] if position < len(steps) else None
    return GreedyRun(
        steps=len(steps),
        seconds=seconds,
        ids_equal=False,
        first_difference=position,
        expected=expected[position] if position < len(expected) else None,
        got=output_ids[position] if position < len(output_ids) else None,
        top_two_gap=None if detail is None or detail.detail is None else detail.detail.logit_gap,
    )
