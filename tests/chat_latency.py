"""`python -m tests.chat_latency`: a long session is opened, and typed into while an answer comes.

The command line's own program on a pseudo-terminal. Letters are typed at moments that do not depend
on what the screen shows, and its output is kept with the time of each piece; a terminal emulator reads it
afterwards, so that its own slowness is no part of what is measured.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tests.long_chat import LONG_SESSION, write_long_session
from tests.programs import ProgramTerminal
from tests.terminal import Terminal
from tests.tiny import save_tiny_model

CTRL_Q, CTRL_U, ESC = "\x11", "\x15", "\x1b"
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_EMPTY = "Ask something"
_FIGURES = re.compile(r"([\d,]+) tokens? in ([\d,]+) steps?")
_PAUSE_SECONDS = (0.05, 0.2)


class ClockedTerminal(ProgramTerminal):
    """Keeps when each piece of the output came; while `is_kept` is set nothing of it is drawn."""

    is_kept = False

    def __init__(self, arguments: Sequence[str], environment: dict[str, str]) -> None:
        self.pieces: list[tuple[float, bytes]] = []
        super().__init__(arguments, environment)

    def _take(self, data: bytes) -> None:
        if self.is_kept:
            self.pieces.append((time.perf_counter(), data))
        else:
            super()._take(data)

    def type(self, letters: str, pauses: random.Random) -> list[float]:
        """Type, and return the seconds from each key to its letter on the screen."""
        pressed = []
        self.is_kept = True
        for letter in letters:
            self.read_for(pauses.uniform(*_PAUSE_SECONDS))
            pressed.append(time.perf_counter())
            self.press(letter)
        self.read_for(1.0)
        self.is_kept = False
        seen: list[float] = []
        for moment, data in self.pieces:
            self._take(data)
            shown = input_line(self.text)
            if letters.startswith(shown):
                seen += [moment] * (len(shown) - len(seen))
        self.pieces.clear()
        assert len(seen) == len(letters), f"{letters[len(seen) :]!r} is not on the screen:\n{self.text}"
        return [after - before for before, after in zip(pressed, seen, strict=True)]


def input_line(screen: str) -> str:
    """What stands in the line where questions are typed."""
    return screen.splitlines()[-2].strip()


def is_idle(screen: str) -> bool:
    """True once the model is loaded, and the line is empty."""
    return "float32 · cpu" in screen and input_line(screen).startswith(_EMPTY)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured.

    Attributes:
        opened: Seconds from the start of a program that has imported its libraries to the last answer.
        opened_processor: The same in processor time.
        idle: Seconds from key to letter while nothing is answered.
        streaming: The same while an answer comes, line by line.
        shares: Of a processor, what other work on the machine left for one thread, measured after each line.
        tokens: Of that answer.
        steps: Of that answer.
    """

    opened: float
    opened_processor: float
    idle: list[float]
    streaming: list[list[float]]
    shares: list[float]
    tokens: int
    steps: int


def words(letters: int, chosen: random.Random) -> str:
    """A line to type."""
    return "".join(chosen.choice(_LETTERS) for _ in range(letters))


def write_sessions(folder: Path, turns: int) -> Path:
    """Write a model that never ends an answer, and the long session; returns the model."""
    # An id beyond the vocabulary ends a text, and is never chosen.
    model = save_tiny_model(folder / "model", max_position_embeddings=1 << 13, eos_token_id=1 << 20)
    write_long_session(folder / "data", turns, model)
    return model


def has_ended(screen: str) -> bool:
    """Whether the answer was stopped, or came to where the model's context ends before that."""
    words = " ".join(screen.split())
    return "; stopped" in words or "; context full" in words


def measure(
    folder: Path, model: str, turns: int, letters: int, rounds: int, flags: Sequence[str]
) -> Measured:
    """Open the long session, type, ask, and type while the answer comes.

    Args:
        folder: Where `data` has the session; a copy of it is used.
        model: What `--model` says.
        turns: How many it has.
        letters: To be typed at a time.
        rounds: How often.
        flags: More of the command line.
    """
    data = folder / f"data of {Path(model).name}"
    shutil.copytree(folder / "data", data)
    environment = {"LOOKAHEAD_DATA": str(data), "LOOKAHEAD_CONFIG": "/nonexistent"}
    arguments = ["chat", "--session", LONG_SESSION, "--model", model, "--dtype", "float32"]
    chosen = random.Random(1)
    with ProgramTerminal(["themes"], environment) as first:
        first.exit_code()
    started = time.perf_counter()
    with ClockedTerminal([*arguments, "--when-full", "drop", *flags], environment) as terminal:
        terminal.read_until(lambda screen: f"return {turns}" in screen)
        opened, opened_processor = time.perf_counter() - started, terminal.processor_seconds
        terminal.read_until(is_idle)
        idle = typed_line(terminal, letters, chosen)
        terminal.press("Go on.\r")
        terminal.read_until(lambda screen: " S " in screen.splitlines()[0])
        streaming, shares = [], []
        for _ in range(rounds):
            streaming.append(typed_line(terminal, letters, chosen))
            shares.append(processor_share())
        terminal.press(ESC)
        text = terminal.read_until(has_ended)
        tokens, steps = _FIGURES.findall(text)[-1]
        terminal.press(CTRL_Q)
        assert terminal.exit_code() == 0
    counts = [int(each.replace(",", "")) for each in (tokens, steps)]
    return Measured(opened, opened_processor, idle, streaming, shares, *counts)


def processor_share() -> float:
    """How much of a processor one thread gets beside all that runs now."""
    started, used = time.perf_counter(), time.thread_time()
    while time.thread_time() - used < 0.1:
        pass
    return (time.thread_time() - used) / (time.perf_counter() - started)


def typed_line(terminal: ClockedTerminal, letters: int, chosen: random.Random) -> list[float]:
    """Type a line and take it away."""
    seconds = terminal.type(words(letters, chosen), chosen)
    terminal.press(CTRL_U)
    terminal.read_until(lambda screen: input_line(screen).startswith(_EMPTY))
    return seconds


def cold_start(folder: Path, model: str, turns: int) -> float:
    """Seconds from the shell's command to the end of the conversation on the screen."""
    environment = {**os.environ, "TERM": "xterm-256color", "LOOKAHEAD_DATA": str(folder / "data")}
    program = str(Path(sys.executable).with_name("lookahead"))
    started = time.perf_counter()
    terminal = Terminal([program, "chat", "--session", LONG_SESSION, "--model", model], 120, 36, environment)
    terminal.read_until(lambda screen: f"return {turns}" in screen)
    seconds = time.perf_counter() - started
    Terminal.end_all()
    return seconds


def _milliseconds(seconds: Iterable[float]) -> str:
    ordered = sorted(1000 * each for each in seconds)
    late, nine = sum(each > 50 for each in ordered), ordered[int(0.9 * len(ordered))]
    return (
        f"median {statistics.median(ordered):.1f} ms, nine of ten under {nine:.1f}, "
        f"at most {ordered[-1]:.1f}; {late} of {len(ordered)} over 50"
    )


def main() -> None:
    """Print the figures, of a tiny model at full speed and of the default model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=1000)
    parser.add_argument("--letters", type=int, default=40, help="typed in a line")
    parser.add_argument("--lines", type=int, default=3, help="typed during an answer")
    parser.add_argument("--model", default="smollm2-135m", help="measured besides the tiny one")
    arguments = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiny = str(write_sessions(folder, arguments.turns))
        cold = [cold_start(folder, tiny, arguments.turns) for _ in range(3)]
        print(f"from the shell's command to the end of {arguments.turns} turns on the screen:", end=" ")
        print(", ".join(f"{seconds:.2f} s" for seconds in cold))
        for model in (tiny, arguments.model):
            flags = ["-t", "7000", *(("--temperature", "1") if model == tiny else ())]
            got = measure(folder, model, arguments.turns, arguments.letters, arguments.lines, flags)
            print(f"{'a tiny model' if model == tiny else model}:")
            print(f"  opened in {got.opened:.2f} s, {got.opened_processor:.2f} s of processor time, ", end="")
            print("libraries imported before")
            print(f"  a letter while nothing is answered: {_milliseconds(got.idle)}")
            print(f"  during an answer, {got.tokens} tokens in {got.steps} steps: ", end="")
            print(_milliseconds(chain(*got.streaming)), flush=True)


if __name__ == "__main__":
    main()
