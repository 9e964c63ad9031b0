"""From what `--model` names to a model in memory: find, check, fetch, load."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from lookahead_cli.errors import LookaheadError, MemoryLimitError, ModelError
from lookahead_cli.models import attention, compiled
from lookahead_cli.models.aliases import Alias
from lookahead_cli.models.compiled import Compile
from lookahead_cli.models.convert import folder_of_gguf, folder_of_wheels
from lookahead_cli.models.devices import Preference, choose_device, choose_dtype
from lookahead_cli.models.hub import fetch_from_hub
from lookahead_cli.models.memory import all_gpus_memory, check_memory, shape_of
from lookahead_cli.models.packed import pack_linears
from lookahead_cli.models.probe import check_tree_attention, needs_trial
from lookahead_cli.models.progress import Report, first_line, ignore, quiet
from lookahead_cli.models.rope import length_dependent_rope
from lookahead_cli.models.sources import Source, find_source
from lookahead_cli.models.support import check_supported
from lookahead_cli.trace.events import Progress

# Where single kinds of layers stretch positions by the largest one fed, the context ends where that begins.
_LENGTH_DEPENDENT_ROPE = ("dynamic", "longrope")
_WEIGHTS = (".safetensors", ".bin")
_TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer.model",
    "tokenizer_config.json",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "tekken.json",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A model in memory, ready to decode.

    Attributes:
        model: The transformers model, in evaluation mode and without gradients.
        tokenizer: Its tokenizer.
        name: Name for people.
        spec: What `--model` said.
        dtype: Type of weights and activations.
        device: Where it is.
        context_length: Positions that can be decoded exactly, None for no limit.
        alias: The alias, where one was given.
        remark: A sentence on what was asked for and cannot be had, None for nothing.
    """

    model: Any
    tokenizer: Any
    name: str
    spec: str
    dtype: torch.dtype
    device: torch.device
    context_length: int | None
    alias: Alias | None = None
    remark: str | None = None


def load_checkpoint(
    spec: str,
    *,
    device: str = "auto",
    dtype: str = "auto",
    prefer: Preference = "float32",
    compile_layers: Compile = "auto",
    tokens_needed: int = 2048,
    nodes_per_step: int = 128,
    on_progress: Report = ignore,
    available_bytes: int | None = None,
) -> Checkpoint:
    """Load the model that `spec` names.

    Args:
        spec: An alias, a hub id, a folder, or a GGUF file.
        device: `auto`, `cpu`, `cuda` or `mps`.
        dtype: `auto`, `float32`, `bfloat16` or `float16`.
        prefer: What `auto` takes on a CPU that has both.
        compile_layers: `auto` takes compiled layers that lie on disk, `on` makes them, `off` does without.
        tokens_needed: Prompt and new tokens, for the memory estimate.
        nodes_per_step: Most nodes of a step, for the memory estimate.
        on_progress: Called with what is being fetched, converted and loaded, one call at a time, from any
            thread; it may raise a LookaheadError to stop the work.
        available_bytes: Free memory of the device; measured when None.

    Raises:
        UsageError: `device` or `dtype` is no such thing.
        ModelError: The model cannot be found, fetched, read, or decoded exactly.
        MemoryLimitError: It does not fit the device.
    """
    source = find_source(spec)
    target = choose_device(device)
    choose_dtype(dtype, target, None, prefer)  # a wrong name is told before anything is fetched
    on_progress(Progress(f"loading {source.name}"))  # importing transformers takes seconds

    together = all_gpus_memory(device, target) if available_bytes is None else None

    def check(config: Any) -> torch.dtype:
        check_supported(config, source.name)
        chosen = choose_dtype(dtype, target, _stored_dtype(config), prefer)
        free = available_bytes if together is None or fits_one(config, chosen) else together
        need(config, chosen, free)
        return chosen

    def fits_one(config: Any, chosen: torch.dtype) -> bool:
        try:
            need(config, chosen, available_bytes)
        except MemoryLimitError:
            return False
        return True

    def need(config: Any, chosen: torch.dtype, free: int | None) -> None:
        check_memory(
            shape_of(config),
            name=source.name,
            dtype=chosen,
            device=target,
            tokens=min(tokens_needed, context_length_of(config) or tokens_needed),
            nodes=nodes_per_step,
            available=free,
        )

    folder = _folder_of(source, on_progress, check)
    config = read_config(folder, source.name)
    chosen = check(config)
    # Straight to the device, without a second copy in main memory; what one cannot hold, to all of them.
    device_map: Any = None if target.type == "cpu" else {"": target}
    if together is not None and not fits_one(config, chosen):
        device_map = "auto"
    model, tokenizer = _load(folder, source, config, chosen, target, device_map, on_progress)
    remark = compiled.compile_layers(model, source.name, compile_layers, on_progress)
    return Checkpoint(
        model=model,
        tokenizer=tokenizer,
        name=source.name,
        spec=source.spec,
        dtype=chosen,
        device=target,
        context_length=context_length_of(config),
        alias=source.alias,
        remark=remark,
    )


def _folder_of(source: Source, report: Report, check: Any) -> Path:
    if source.wheels_of is not None:
        return folder_of_wheels(source.wheels_of, report, check)
    if source.gguf is not None:
        return folder_of_gguf(source.gguf, report, check)
    if source.hub is not None:
        return fetch_from_hub(source.hub, report, lambda folder: check(read_config(folder, source.name)))
    assert source.folder is not None
    if not any(path.suffix in _WEIGHTS for path in source.folder.iterdir()):
        raise ModelError(
            f"'{source.folder}' holds a configuration and no weights.",
            "Fetch the model again, its .safetensors files too.",
        )
    return source.folder


def read_config(folder: Path, name: str) -> Any:
    """The transformers configuration of the model in `folder`.

    Raises:
        ModelError: It cannot be read, or describes a kind of model that transformers does not know.
    """
    from transformers import AutoConfig, __version__

    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"The configuration of {name} is damaged: '{folder / 'config.json'}' is no JSON.",
            "Fetch the model again, or choose another one.",
        ) from error
    try:
        with quiet(ignore, name):
            return AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # a damaged configuration can raise anything
        raise ModelError(
            f"The configuration of {name} cannot be read by transformers {__version__}: {first_line(error)}",
            "Update transformers, or choose another model; code that comes with a model is never run.",
        ) from error


def context_length_of(config: Any) -> int | None:
    """Positions up to which the model can be decoded exactly; None where it names no limit."""
    text = config.get_text_config(decoder=True)
    limit: int | None = getattr(text, "max_position_embeddings", None)
    stretching = length_dependent_rope(config)
    if stretching is not None and limit is not None:
        return int(limit * stretching.factor)
    rope = getattr(text, "rope_parameters", None) or {}
    # Models with several kinds of layers hold one set of parameters for each kind.
    for parameters in (value for value in rope.values() if isinstance(value, dict)):
        if parameters.get("rope_type") in _LENGTH_DEPENDENT_ROPE:
            original = parameters.get("original_max_position_embeddings") or limit
            limit = original if limit is None else min(limit, original or limit)
    return limit


def _stored_dtype(config: Any) -> torch.dtype | None:
    stored = getattr(config, "dtype", None) or getattr(config.get_text_config(decoder=True), "dtype", None)
    return getattr(torch, stored, None) if isinstance(stored, str) else stored


def _attention_for(config: Any) -> str:
    # sdpa leaves out the soft cap on attention logits that Gemma 2 was trained with.
    text = config.get_text_config(decoder=True)
    return "eager" if getattr(text, "attn_logit_softcapping", None) else attention.NAME


def _load(
    folder: Path,
    source: Source,
    config: Any,
    dtype: torch.dtype,
    device: torch.device,
    device_map: Any,
    report: Report,
) -> tuple[Any, Any]:
    from transformers import AutoTokenizer

    label = f"loading {source.name}"
    report(Progress(label))
    if not any((folder / file).is_file() for file in _TOKENIZER_FILES):
        raise ModelError(
            f"{source.name} has no tokenizer: '{folder}' holds no {_TOKENIZER_FILES[0]}.",
            "Put the tokenizer's files beside the weights, or choose another model.",
        )
    try:
        with quiet(report, label):
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # tokenizer files can fail in as many ways as there are kinds
        raise ModelError(
            f"The tokenizer of {source.name} cannot be read: {first_line(error)}",
            "Check that the folder holds tokenizer.json, or choose another model.",
        ) from error
    try:
        with quiet(report, label):
            model, notes = _read_weights(folder, config, dtype, device_map)
    except LookaheadError:
        raise
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise MemoryLimitError(
            f"The memory of {device.type} ran out while {source.name} was loaded.",
            "Close other programs, or take --dtype bfloat16 or a smaller model.",
        ) from error
    except (
        Exception
    ) as error:  # safetensors, torch and transformers each have their own errors for damaged weights
        raise ModelError(
            f"The weights of {source.name} cannot be read: {first_line(error)}",
            "Fetch the model again, or choose another one.",
        ) from error
    missing = sorted(notes["missing_keys"])
    if missing:
        # transformers would fill them with random numbers.
        raise ModelError(
            f"The weights of {source.name} lack {len(missing)} tensors, such as {missing[0]}.",
            "Fetch the model again, or choose another one.",
        )
    model.requires_grad_(False).eval()
    pack_linears(model, lambda done, total: report(Progress(label, done, total, "layers")))
    if needs_trial(config):
        report(Progress(f"trying tree attention on {source.name}"))
        check_tree_attention(model, source.name)
    return model, tokenizer


def _read_weights(
    folder: Path, config: Any, dtype: torch.dtype, device_map: Any
) -> tuple[Any, dict[str, Any]]:
    from transformers import AutoModelForCausalLM

    attention.register()
    settings: dict[str, Any] = {
        "config": config,
        "dtype": dtype,
        "local_files_only": True,
        "trust_remote_code": False,
        "output_loading_info": True,
        "device_map": device_map,
    }
    try:
        loaded = AutoModelForCausalLM.from_pretrained(
            folder, attn_implementation=_attention_for(config), **settings
        )
    except ValueError as error:
        if "scaled_dot_product_attention" not in str(error):
            raise
        loaded = AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", **settings)
    model, notes = loaded
    return model, notes
