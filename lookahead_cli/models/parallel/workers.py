"""The other processes: started here, or by torchrun; each serves until rank 0 has gone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import IO, Any

import torch
import torch.distributed as dist

from lookahead_cli.errors import UsageError
from lookahead_cli.models.parallel.ranks import RankLostError, Ranks
from lookahead_cli.trace.events import Progress

_MEETING = timedelta(seconds=60)
_POLL_SECONDS = 0.05
# A process that was killed closes its connections a moment before its end can be read.
_LAST_WORDS_SECONDS = 2.0
_PACKAGES = Path(__file__).parents[3]


def join_torchrun() -> Ranks:
    """Meet the processes that torchrun has started."""
    if not dist.is_initialized():
        dist.init_process_group("gloo", timeout=_MEETING)
    return Ranks()


def start_ranks(size: int, report: Callable[[Progress], None] = lambda _: None) -> Ranks:
    """Start `size` - 1 processes beside this one, which becomes rank 0; they end with it.

    Args:
        size: Processes in all.
        report: Told what is being done.

    Raises:
        UsageError: This process leads others already.
        RankLostError: One of them ended before it was ready.
    """
    if dist.is_initialized():
        raise UsageError("This process is one of several already.", "Use one group of ranks in a program.")
    report(Progress(f"starting {size - 1} more process{'es' if size > 2 else ''}"))
    cores, threads = torch.get_num_threads(), threads_of(size)
    torch.set_num_threads(threads)
    folder = Path(tempfile.mkdtemp(prefix="lookahead-ranks-"))
    meeting = folder / "meeting"
    # torch has it at run time alone.
    store = dist.FileStore(str(meeting), size)  # type: ignore[attr-defined]
    started = [_start(rank, size, meeting, threads) for rank in range(1, size)]
    try:
        _wait_for_all(store, started)
        os.environ.setdefault("GLOO_SOCKET_IFNAME", _LOOPBACK)
        dist.init_process_group("gloo", store=store, rank=0, world_size=size, timeout=_MEETING)
        ranks = Ranks(lambda: _who_died(started))
    except BaseException:
        _end(started, folder)
        raise
    ranks.end = weakref.finalize(ranks, _end, started, folder)
    ranks.cores = cores
    ranks.process_ids = tuple(process.pid for _, process, _ in started)
    return ranks


def threads_of(size: int) -> int:
    """Threads of each process: its part of the cores, or what OMP_NUM_THREADS says."""
    if "OMP_NUM_THREADS" in os.environ:
        return torch.get_num_threads()
    return max(1, torch.get_num_threads() // size)


_LOOPBACK = "lo0" if sys.platform == "darwin" else "lo"

Started = tuple[int, "subprocess.Popen[bytes]", IO[bytes]]


def _start(rank: int, size: int, meeting: Path, threads: int) -> Started:
    """Start one; it ends when its standard input does, so it cannot outlive this process."""
    said = (meeting.parent / f"rank-{rank}").open("w+b")
    paths = [str(_PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    module = "lookahead_cli.models.parallel.worker"
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module, str(rank), str(size), str(meeting)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=said,
        # Ctrl+C is for rank 0, which ends the run on all.
        start_new_session=True,
        env={
            "GLOO_SOCKET_IFNAME": _LOOPBACK,
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "PYTHONPATH": os.pathsep.join(paths),
        },
    )
    return rank, process, said


def _wait_for_all(store: Any, started: Sequence[Started]) -> None:
    missing = {f"rank-{rank}" for rank, _, _ in started}
    while missing:
        if any(process.poll() is not None for _, process, _ in started):
            raise RankLostError(f"{_who_died(started)} has ended.", "Start the command again.")
        missing = {key for key in missing if not store.check([key])}
        time.sleep(_POLL_SECONDS)


def _who_died(started: Sequence[Started]) -> str | None:
    """Such as `Rank 1 of 2 (SIGKILL)`, with the last line that it said; None where all are there."""
    deadline = time.monotonic() + _LAST_WORDS_SECONDS
    while time.monotonic() < deadline:
        for rank, process, said in started:
            code = process.poll()
            if code is not None:
                said.seek(0)
                lines = said.read().decode(errors="replace").strip().splitlines()
                why = signal.Signals(-code).name if code < 0 else lines[-1] if lines else f"code {code}"
                return f"Rank {rank} of {len(started) + 1} ({why})"
        time.sleep(_POLL_SECONDS)
    return None


def _end(started: Sequence[Started], folder: Path) -> None:
    for _, process, said in started:
        with suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        said.close()
    for _, process, _ in started:
        try:
            process.wait(timeout=_LAST_WORDS_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if dist.is_initialized():
        dist.destroy_process_group()
    shutil.rmtree(folder, ignore_errors=True)
