"""The errors that a person sees, and the exit codes they end with."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every `lookahead` command; the docstring-like comments are printed by the README's
    table."""

    OK = 0
    """The command did what it was asked to."""
    FAILURE = 1
    """Something unexpected failed; a bug, unless the message says otherwise."""
    USAGE = 2
    """The command line is wrong: an unknown option, a bad value, W = 0 or N = 1."""
    INPUT = 3
    """A prompt or trace cannot be used: missing, empty, binary, damaged, or longer than the context."""
    MODEL = 4
    """A model cannot be found, fetched, read, or decoded exactly."""
    MEMORY = 5
    """The model, its cache and its logits do not fit the memory of the device."""
    MISMATCH = 6
    """Token ids differ from greedy decoding where they must be equal."""
    INTERRUPTED = 130
    """Stopped by Ctrl+C; what was decoded so far was kept."""


class LookaheadError(Exception):
    """Base of every error of ours.

    Args:
        message: One sentence that says what is wrong, naming the thing.
        hint: One sentence that says what to do next.
    """

    exit_code: ExitCode = ExitCode.FAILURE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class UsageError(LookaheadError):
    """A setting has a value that cannot work."""

    exit_code = ExitCode.USAGE


class InputError(LookaheadError):
    """A prompt or a trace cannot be used."""

    exit_code = ExitCode.INPUT


class ContextFullError(InputError):
    """A conversation leaves no room for an answer, and nobody said what to leave out."""


class ModelError(LookaheadError):
    """A model cannot be found, fetched or read."""

    exit_code = ExitCode.MODEL


class UnsupportedModelError(ModelError):
    """A model cannot be decoded exactly with a token tree."""


class MemoryLimitError(LookaheadError):
    """A model does not fit the device."""

    exit_code = ExitCode.MEMORY
