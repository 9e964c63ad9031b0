"""The program as one of several that torchrun has started: rank 0 is the program, the others serve it."""

from __future__ import annotations

import os
import signal
import sys


def under_torchrun() -> bool:
    """True where torchrun has started this process as one of several."""
    return "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def serves() -> bool:
    """True for every rank but the first: it has no screen, and its arguments are those of rank 0."""
    return under_torchrun() and os.environ.get("RANK", "0") != "0"


def serve() -> None:
    """Do what rank 0 says, in silence, until it has gone."""
    with open(os.devnull, "r+b") as nowhere:  # noqa: PTH123 - os.devnull is no path of ours
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere.fileno(), stream.fileno())
    # torchrun sends them to all; rank 0 ends the run, and this process with it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    from lookahead_cli.models.parallel.worker import serve
    from lookahead_cli.models.parallel.workers import join_torchrun

    serve(join_torchrun())
    # Rank 0 may be gone, and with it what gloo's threads talk to: they abort an interpreter that shuts down.
    os._exit(0)


def outlive_the_others() -> None:
    """Let rank 0 say what became of a rank that died, before torchrun ends it too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
