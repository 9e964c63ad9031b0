"""Locks, free space and whole-or-nothing folders for the model cache."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from lookahead_cli.errors import ModelError
from lookahead_cli.models.progress import Report
from lookahead_cli.trace.events import Progress

_POLL_SECONDS = 1.0


@contextmanager
def locked(path: Path, report: Report, label: str) -> Iterator[None]:
    """Keep other processes away from `path` meanwhile; waiting for one of them is reported."""
    with disk_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f"{path.name}.lock"))
    while True:
        try:
            with disk_errors(path.parent):
                lock.acquire(timeout=_POLL_SECONDS)
            break
        except Timeout:
            report(Progress(f"waiting for another process that is {label}"))
    try:
        yield
    finally:
        lock.release()


@contextmanager
def whole_folder(final: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `final` when all went well and vanishes otherwise."""
    # One writer at a time holds the lock, so a folder that is still there was left by a killed one.
    partial = final.with_name(f".{final.name}.partial")
    with disk_errors(final.parent):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
    try:
        with disk_errors(final.parent):
            yield partial
            # Something without a configuration may stand there; a folder replaces only an empty one.
            shutil.rmtree(final, ignore_errors=True)
            partial.replace(final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def disk_errors(folder: Path) -> Iterator[None]:
    """Turn a full or unwritable disk into a sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise full_disk(folder) from error
        if is_about(error, folder):
            raise ModelError(
                f"The cache folder '{folder}' cannot be written: {error.strerror}.",
                "Give another one in the environment variable LOOKAHEAD_CACHE.",
            ) from error
        raise


def is_about(error: Exception, folder: Path) -> bool:
    """True for what the operating system says about a folder, something in it, or where it would lie."""
    if not isinstance(error, OSError) or not isinstance(error.filename, str | Path):
        return False
    path, folder = Path(error.filename).absolute(), folder.absolute()
    return path.is_relative_to(folder) or folder.is_relative_to(path)


def need_room(folder: Path, needed: int) -> None:
    """Raise ModelError where fewer than `needed` bytes are free."""
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    with suppress(OSError):
        free = shutil.disk_usage(existing).free
        if free < needed:
            raise full_disk(folder, needed, free)


def full_disk(folder: Path, needed: int | None = None, free: int | None = None) -> ModelError:
    """The error for a disk without room."""
    figures = (
        ""
        if needed is None or free is None
        else f": {needed / 1e6:,.0f} MB needed, {free / 1e6:,.0f} MB free"
    )
    return ModelError(
        f"The disk of the cache folder '{folder}' is full{figures}.",
        "Free some space, or give another folder in the environment variable LOOKAHEAD_CACHE.",
    )
