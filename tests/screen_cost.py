"""`python -m tests.screen_cost`: decode seconds with the screen against those without it, run alternately.

One process in a pseudo-terminal loads the model once and decodes the same prompt by turns, in a thread of
its own, with the real screen and with nothing, so that both runs of a pair meet the machine in the same mood.
What the screen writes is read and not drawn: a terminal emulator in Python would cost more than the program.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.terminal import Terminal


class BlindTerminal(Terminal):
    """Draws nothing of what it reads."""

    text = ""

    def _take(self, data: bytes) -> None:
        pass


class LoadedRun:
    """A live run of a model that is in memory already."""

    title = "screen cost"
    recorded = False

    def __init__(self, model: Any, prompt_ids: tuple[int, ...], config: Any) -> None:
        self._run = (model, prompt_ids, config)

    def events(self, cancel: Any, report: Any) -> Iterator[Any]:
        model, prompt_ids, config = self._run
        return model.run(prompt_ids, config, cancel=cancel, on_progress=report)


def in_thread(work: Callable[[], Any]) -> Any:
    """What `work` returns; torch makes new helper threads for each thread that uses it, on both sides."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(work).result()


def measure_inside(arguments: argparse.Namespace) -> None:
    """Write one line of figures a pair, the warm-up first."""
    from lookahead_cli.cli.live import settle_memory
    from lookahead_cli.cli.prompts import encode, read_prompt
    from lookahead_cli.decoding.config import LookaheadConfig
    from lookahead_cli.models.language_model import load_model
    from lookahead_cli.tui.app import VisualizeApp
    from lookahead_cli.tui.theme import load_theme

    model = load_model("smollm2-135m", dtype="float32")
    settle_memory()
    prompt_ids = encode(model, read_prompt(arguments.prompt), "auto")
    config = LookaheadConfig(window_size=7, ngram_size=5, guess_set_size=7, max_new_tokens=arguments.tokens)
    with Path(arguments.inside).open("w") as stream:
        for _ in range(arguments.runs + 1):
            footer = in_thread(lambda: list(model.run(prompt_ids, config))[-1])
            run = LoadedRun(model, prompt_ids, config)
            app = VisualizeApp(run, load_theme("dark"), exit_when_done=True)
            app.run()
            seen = app.view.footer
            assert seen is not None
            assert seen.output_ids == footer.output_ids
            figures = {
                "without": footer.seconds,
                "with": seen.seconds,
                "redraws_a_step": app.redraws / seen.steps,
            }
            stream.write(json.dumps(figures) + "\n")
            stream.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompt", default="examples/code-fibonacci.py")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        measure_inside(arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.jsonl"
        command = [sys.executable, "-m", "tests.screen_cost", *sys.argv[1:], "--inside", str(figures)]
        terminal = BlindTerminal(command, 120, 36, {**os.environ, "TERM": "xterm-256color"})
        assert terminal.exit_code(3600) == 0
        pairs = [json.loads(line) for line in figures.read_text().splitlines()]
    ratios = [pair["with"] / pair["without"] for pair in pairs]
    for number, (pair, ratio) in enumerate(zip(pairs, ratios, strict=True)):
        line = f"without {pair['without']:.2f} s, with {pair['with']:.2f} s, ratio {ratio:.3f}"
        line += f", {pair['redraws_a_step']:.2f} redraws a step"
        print(line + (" (warm-up, not counted)" if number == 0 else ""))
    counted = ratios[1:]
    print(f"median ratio {statistics.median(counted):.3f} over {len(counted)} alternating runs")


if __name__ == "__main__":
    main()
