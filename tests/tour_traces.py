"""`python -m tests.tour_traces [NAME...]`: records the runs of `lookahead tour` with the default model."""

from __future__ import annotations

import gzip
import subprocess
import sys

from lookahead_cli.tui.tour.traces import TRACES, trace_file

_CODE, _CHAT = "examples/code-fibonacci.py", "examples/chat-tides.txt"
RUNS = {
    "greedy": (_CODE, "--method", "greedy", "--max-new-tokens", "16"),
    "jacobi": (_CODE, "--method", "jacobi", "-W", "6", "--max-new-tokens", "40"),
    "lookahead": (_CODE, "-W", "5", "-N", "4", "-G", "5", "--max-new-tokens", "64", "--greedy"),
    "costly": (_CHAT, "-W", "15", "-N", "5", "-G", "15", "--max-new-tokens", "24", "--greedy"),
}


def record(name: str) -> None:
    """Decode one prompt, and keep its trace; the same trace gives the same file, byte by byte."""
    command = [
        sys.executable,
        "-m",
        "lookahead_cli",
        "visualize",
        *RUNS[name],
        "--dtype",
        "float32",
        "--json",
    ]
    trace = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    trace_file(name).write_bytes(gzip.compress(trace, mtime=0))


def main() -> None:
    for name in sys.argv[1:] or TRACES:
        record(name)


if __name__ == "__main__":
    main()
