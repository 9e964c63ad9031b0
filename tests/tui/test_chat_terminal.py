"""What the chat does with a real terminal: an editor on it, and the clipboard behind it."""

from __future__ import annotations

import base64
import os
import stat
import sys

from tests.terminal import Terminal
from tests.tiny import save_tiny_model


def test_the_persons_own_editor_has_the_terminal_and_gives_the_question_back(tmp_path):
    folder = save_tiny_model(tmp_path / "model")
    editor = tmp_path / "editor"
    # It reads a line from the terminal, as an editor reads keys.
    editor.write_text('#!/bin/sh\necho "EDITOR HERE"\nread line\nprintf " %s\\n" "$line" >> "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "OMP_NUM_THREADS": "1",
        "VISUAL": str(editor),
        "LOOKAHEAD_DATA": str(tmp_path / "data"),
    }
    command = [sys.executable, "-m", "lookahead_cli", "chat", "--model", str(folder), "-t", "4"]
    terminal = Terminal([*command, "--dtype", "float32"], 80, 24, environment)
    terminal.read_until(lambda text: "model · float32 · cpu" in text)
    terminal.press("one")
    terminal.read_until(lambda text: "one" in text)
    for keys, question in (("\x1bOS", "one two"), ("\x18\x05", "one two three")):
        terminal.press(keys)
        terminal.read_until(lambda text: "EDITOR HERE" in text)
        terminal.press(f"{question.rpartition(' ')[2]}\r")
        terminal.read_until(lambda text, question=question: question in text and "Editor" in text)
    terminal.press("\r")
    terminal.read_until(lambda text: "you: one two three" in text and "tokens in" in text)
    sent = b""
    take = terminal._take

    def watch(data):
        nonlocal sent
        sent += data
        take(data)

    terminal._take = watch
    terminal.press("/copy\r")
    terminal.read_until(lambda text: "Copied the last answer" in text)
    copied = base64.b64decode(sent.partition(b"\x1b]52;c;")[2].partition(b"\a")[0]).decode()
    assert copied
    terminal.press("\x11")
    assert terminal.exit_code() == 0
