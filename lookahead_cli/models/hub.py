"""Fetches a model from the Hugging Face hub into the hub's own cache, small files first.

The configuration comes before the weights, so that a model that cannot be decoded or does not fit is refused
early.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from lookahead_cli.errors import LookaheadError, ModelError
from lookahead_cli.models.aliases import default_model
from lookahead_cli.models.progress import Report, bar_class, quiet
from lookahead_cli.models.storage import is_about

_SMALL_FILES = ("*.json", "*.model", "*.txt", "*.jinja", "*.tiktoken")
# Sub-folders hold other formats of the same weights; `consolidated` is the original form of Mistral's.
_NOT_OURS = ("*/*", "consolidated*")
_NO_HUB_NEEDED = f"the default model {default_model()}, which needs no hub"


def fetch_from_hub(repo: str, report: Report, check: Callable[[Path], None]) -> Path:
    """The folder of the hub's cache that holds the model.

    Args:
        repo: Id on the hub, owner/name.
        report: Called with the bytes fetched.
        check: Called with the folder once it holds the configuration, before the weights are fetched.

    Raises:
        ModelError: The hub cannot be reached, has no such model, or gives it to others only.
    """
    small = _snapshot(repo, _SMALL_FILES, report)
    if not (small / "config.json").is_file():
        raise ModelError(
            f"'{repo}' on the hub is no transformers model: it has no config.json.",
            "Take a repository with safetensors weights, or download a .gguf file and give its path.",
        )
    check(small)
    folder = _snapshot(repo, (*_SMALL_FILES, "*.safetensors"), report)
    if not any(folder.glob("*.safetensors")):
        folder = _snapshot(repo, (*_SMALL_FILES, "pytorch_model*.bin"), report)
        if not any(folder.glob("pytorch_model*.bin")):
            raise ModelError(f"'{repo}' on the hub has no weights that can be read.", "Choose another model.")
    return folder


def _snapshot(repo: str, patterns: Sequence[str], report: Report) -> Path:
    from huggingface_hub import snapshot_download

    label = f"fetching {repo}"
    try:
        with quiet(report, label):
            return Path(
                snapshot_download(
                    repo,
                    allow_patterns=list(patterns),
                    ignore_patterns=list(_NOT_OURS),
                    tqdm_class=bar_class(report, label),
                )
            )
    except LookaheadError:
        raise
    except Exception as error:  # the hub's errors share no base class, and its HTTP library changes
        raise hub_error(repo, error) from error


def hub_error(repo: str, error: Exception) -> ModelError:
    """The sentence for what went wrong between us and the hub."""
    from huggingface_hub import constants, errors

    status = _status(error)
    if isinstance(error, errors.GatedRepoError):
        return ModelError(
            f"'{repo}' is gated: the hub gives it to accounts that agreed to its licence.",
            f"Agree at {constants.ENDPOINT}/{repo} and run `hf auth login`, or take {_NO_HUB_NEEDED}.",
        )
    if isinstance(error, errors.RepositoryNotFoundError) or status == 404:
        return ModelError(
            f"The hub has no model '{repo}', or it is private.",
            "Check the name; for a private model run `hf auth login` first.",
        )
    if status in (401, 403):
        return ModelError(
            f"The hub refused access to '{repo}' ({status}).",
            f"Run `hf auth login` with an account that may read it, or take {_NO_HUB_NEEDED}.",
        )
    if isinstance(error, errors.HFValidationError):
        return ModelError(f"'{repo}' is no hub id.", "A hub id has the form owner/name.")
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return ModelError(
            f"The disk of the hub's cache '{constants.HF_HUB_CACHE}' is full.",
            "Free some space, or give another folder in the environment variable HF_HOME.",
        )
    if isinstance(error, OSError) and is_about(error, Path(constants.HF_HUB_CACHE)):
        return ModelError(
            f"The hub's cache '{constants.HF_HUB_CACHE}' cannot be written: {error.strerror}.",
            "Give another folder in the environment variable HF_HOME.",
        )
    if constants.HF_HUB_OFFLINE:
        return ModelError(
            f"'{repo}' is not in the hub's cache, and HF_HUB_OFFLINE forbids fetching it.",
            f"Unset HF_HUB_OFFLINE, or take {_NO_HUB_NEEDED}.",
        )
    if status is not None:
        return ModelError(
            f"The hub at {constants.ENDPOINT} answered {status} for '{repo}'.",
            f"Try again later, or take {_NO_HUB_NEEDED}.",
        )
    return ModelError(
        f"'{repo}' is not in the hub's cache, and the hub at {constants.ENDPOINT} cannot be reached "
        f"({type(_root(error)).__name__}).",
        f"Check the network, give a local folder, or take {_NO_HUB_NEEDED}.",
    )


def _status(error: BaseException | None) -> int | None:
    """HTTP status of the answer behind the error, None where there was no answer."""
    while error is not None:
        answer: Any = getattr(error, "response", None)
        if answer is not None:
            status: int = answer.status_code
            return status
        error = error.__cause__
    return None


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error
