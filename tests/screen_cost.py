"""`python -m tests.screen_cost`: decode seconds with the screen against those without it, run alternately."""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lookahead_cli.trace.events import Footer
from lookahead_cli.trace.reader import read_trace
from tests.terminal import Terminal


class BlindTerminal(Terminal):
    """Draws nothing of what it reads: an emulator in Python would cost more than the program."""

    text = ""

    def _take(self, data: bytes) -> None:
        pass


def decode_seconds(trace: Path) -> float:
    *_, footer = read_trace(trace)
    assert isinstance(footer, Footer)
    assert footer.finish_reason != "cancelled"
    return footer.seconds


class End:
    """Sees the footer of a trace; looks twice a second, so that looking costs nothing."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace
        self._next_look = 0.0

    def __call__(self, _: str) -> bool:
        if time.monotonic() < self._next_look or not self._trace.exists():
            return False
        self._next_look = time.monotonic() + 0.5
        with self._trace.open("rb") as stream:
            stream.seek(max(0, self._trace.stat().st_size - 20_000))
            return b'{"type":"footer"' in stream.read()


def without_screen(command: list[str], trace: Path, environment: dict[str, str]) -> float:
    subprocess.run(
        [*command, "--json"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        check=True,
    )
    return decode_seconds(trace)


def with_screen(command: list[str], trace: Path, environment: dict[str, str]) -> float:
    terminal = BlindTerminal(command, 120, 36, environment)
    terminal.read_until(End(trace), 600)
    terminal.press("q")
    assert terminal.exit_code() == 0
    return decode_seconds(trace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--prompt", default="examples/code-fibonacci.py")
    arguments = parser.parse_args()
    environment = {**os.environ, "TERM": "xterm-256color"}
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.runs + 1):
            seconds = {}
            for name, measure in (("without", without_screen), ("with", with_screen)):
                trace = Path(folder) / f"{name}-{number}.jsonl"
                command = [sys.executable, "-m", "lookahead_cli", "visualize", arguments.prompt]
                command += ["--max-new-tokens", str(arguments.tokens), "--record", str(trace)]
                seconds[name] = measure(command, trace, environment)
            ratio = seconds["with"] / seconds["without"]
            warm_up = " (warm-up, not counted)" if number == 0 else ""
            figures = f"without {seconds['without']:.2f} s, with {seconds['with']:.2f} s, ratio {ratio:.3f}"
            print(figures + warm_up, flush=True)
            if number:
                ratios.append(ratio)
    print(f"median ratio {statistics.median(ratios):.3f} over {len(ratios)} alternating runs")


if __name__ == "__main__":
    main()
