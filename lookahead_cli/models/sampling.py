"""The sampler of a run's settings, with transformers' own logits processors."""

from __future__ import annotations

from typing import Any

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.sampling import Sampler, SeededUniforms


def sampler_of(config: LookaheadConfig, device: Any = "cpu") -> Sampler:
    """How tokens are chosen with these settings; processors come in the order of `generate`."""
    processors = _processors(config, device)
    uniforms = SeededUniforms(config.seed) if config.samples else None
    return Sampler(processors or None, uniforms)


def _processors(config: LookaheadConfig, device: Any) -> Any:
    from transformers.generation import logits_process as transformers_has

    processors = transformers_has.LogitsProcessorList()
    if config.repetition_penalty != 1.0:
        processors.append(transformers_has.RepetitionPenaltyLogitsProcessor(float(config.repetition_penalty)))
    if config.no_repeat_ngram_size:
        processors.append(transformers_has.NoRepeatNGramLogitsProcessor(int(config.no_repeat_ngram_size)))
    if not config.samples:
        return processors
    if config.temperature != 1.0:
        processors.append(transformers_has.TemperatureLogitsWarper(float(config.temperature)))
    if config.top_k:
        processors.append(transformers_has.TopKLogitsWarper(int(config.top_k)))
    if config.top_p < 1.0:
        processors.append(transformers_has.TopPLogitsWarper(float(config.top_p)))
    if config.min_p:
        processors.append(transformers_has.MinPLogitsWarper(float(config.min_p)))
    if config.typical_p < 1.0:
        processors.append(transformers_has.TypicalLogitsWarper(float(config.typical_p)))
    return processors
