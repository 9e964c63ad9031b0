"""The person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from lookahead_cli.errors import UsageError

_EDITORS = ("nano", "vim", "vi", "notepad")


def editor_is_named() -> bool:
    """True where the environment says which editor to take."""
    return bool(os.environ.get("VISUAL") or os.environ.get("EDITOR"))


def find_editor() -> list[str]:
    """The editor's command: $VISUAL, $EDITOR, or the first that is there.

    Raises:
        UsageError: There is none.
    """
    named = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    editor = shlex.split(named) if named else next(([each] for each in _EDITORS if shutil.which(each)), [])
    if not editor or shutil.which(editor[0]) is None:
        said = f"The editor '{named}' is not there." if named else "There is no editor."
        raise UsageError(said, "Name one in the environment variable EDITOR.")
    return editor


def edit_file(editor: list[str], file: Path) -> None:
    """Let a file be edited, and wait.

    Raises:
        UsageError: The editor failed.
    """
    ended = subprocess.run([*editor, str(file)], check=False).returncode
    if ended != 0:
        raise UsageError(f"The editor {editor[0]} ended with code {ended}.", f"Edit '{file}' by other means.")


def edit_text(editor: list[str], text: str) -> str:
    """Let a text be edited in a file of its own, and wait.

    Raises:
        UsageError: The editor failed.
    """
    with tempfile.TemporaryDirectory(prefix="lookahead-") as folder:
        file = Path(folder) / "prompt.md"
        file.write_text(text, encoding="utf-8")
        try:
            edit_file(editor, file)
        except UsageError as error:
            raise UsageError(error.message, "The line is as it was.") from error
        return file.read_text(encoding="utf-8", errors="replace").rstrip("\n")
