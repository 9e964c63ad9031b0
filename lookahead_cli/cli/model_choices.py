"""The models to choose from in a chat: short names and what the hub's cache holds, and whether they fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lookahead_cli.cli.models import is_cached
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.models.aliases import aliases
from lookahead_cli.tui.talk import ModelChoice

if TYPE_CHECKING:
    from lookahead_cli.models.language_model import LanguageModel

# Weights alone are no run: cache and logits come on top.
_ROOM = 1.1
_WEIGHTS = (".safetensors", ".bin")


def model_choices(options: ModelOptions, current: LanguageModel | None) -> Sequence[ModelChoice]:
    """What may answer: models that are on this machine first.

    Args:
        options: Device and type that were asked for.
        current: The model that answers now; its memory is free for another one.
    """
    from lookahead_cli.models.devices import choose_device, choose_dtype
    from lookahead_cli.models.memory import available_memory

    device = choose_device(options.device)
    dtype = choose_dtype(options.dtype, device, None, "bfloat16")
    free = available_memory(device) + _bytes_of(current)
    listed = [
        ModelChoice(
            spec=alias.name,
            title=alias.title,
            here=is_cached(alias),
            download_bytes=alias.bytes,
            dtype=str(dtype).removeprefix("torch."),
            memory_bytes=alias.parameters * dtype.itemsize,
            fits=alias.parameters * dtype.itemsize * _ROOM <= free,
            current=alias.name == options.spec,
        )
        for alias in aliases().values()
    ]
    known = {alias.hub for alias in aliases().values()}
    for hub, size in _in_the_hubs_cache():
        if hub not in known:
            listed.append(
                ModelChoice(
                    spec=hub,
                    title=hub.rpartition("/")[2],
                    here=True,
                    download_bytes=size,
                    dtype="as stored",
                    memory_bytes=size,
                    fits=size * _ROOM <= free,
                    current=hub == options.spec,
                )
            )
    return sorted(listed, key=lambda choice: not choice.here)


def _in_the_hubs_cache() -> Iterator[tuple[str, int]]:
    """Models of the hub that lie in its cache with their weights, and the weights' bytes."""
    from huggingface_hub import scan_cache_dir
    from huggingface_hub.errors import CacheNotFound

    try:
        repositories = scan_cache_dir().repos
    except CacheNotFound:
        return
    for repository in sorted(repositories, key=lambda each: each.repo_id):
        files = {file.blob_path: file for revision in repository.revisions for file in revision.files}
        size = sum(file.size_on_disk for file in files.values() if file.file_name.endswith(_WEIGHTS))
        if repository.repo_type == "model" and size:
            yield repository.repo_id, size


def _bytes_of(model: LanguageModel | None) -> int:
    if model is None:
        return 0
    return sum(each.numel() * each.element_size() for each in model.runner.model.parameters())
