"""`python -m tests.long_trace TRACE`: what opening a long recording costs, and going to any of its steps."""

from __future__ import annotations

import asyncio
import json
import math
import random
import sys
import time
from pathlib import Path

import psutil

from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.theme import load_theme


async def measure(trace: Path) -> dict[str, float]:
    """Processor seconds, since other work on the machine must not decide; mebibytes."""
    started = time.process_time()
    app = VisualizeApp(TraceSource(trace), load_theme("dark"), speed=math.inf, paused=True)
    async with app.run_test(size=(120, 36)):
        while app.view.footer is None:
            await asyncio.sleep(0.01)
        opened = time.process_time() - started
        seconds = []
        for index in random.Random(1).sample(range(len(app.view.steps)), 50):
            before = time.process_time()
            app.view.look_at(index)
            app.run_screen.draw(app.play_state())
            seconds.append(time.process_time() - before)
        return {
            "steps": len(app.view.steps),
            "open": opened,
            "go": max(seconds),
            # The peak that the system keeps is also that of the process which started this one.
            "memory": psutil.Process().memory_info().rss / (1 << 20),
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measure(Path(sys.argv[1])))))
