"""What a process does that is not rank 0: load what rank 0 loads, run what it runs, and say nothing."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from datetime import timedelta

from lookahead_cli.errors import LookaheadError, MemoryLimitError, ModelError, UsageError
from lookahead_cli.models.language_model import LanguageModel, load_model
from lookahead_cli.models.parallel.messages import Drop, Load, Run
from lookahead_cli.models.parallel.ranks import RankLostError, Ranks, StopRun


def main() -> None:
    """Serve as the rank that the arguments say: rank, number of ranks, and the file where they meet."""
    import torch.distributed as dist

    rank, size, meeting = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_rank_0, daemon=True).start()
    # torch has it at run time alone.
    store = dist.FileStore(meeting, size)  # type: ignore[attr-defined]
    store.set(f"rank-{rank}", "ready")
    dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timedelta(seconds=60))
    serve(Ranks())


def _end_with_rank_0() -> None:
    # Rank 0 holds the other end, whatever becomes of it.
    sys.stdin.buffer.read()
    os._exit(0)


def serve(ranks: Ranks) -> None:
    """Do what rank 0 says until it has gone."""
    models: dict[int, LanguageModel] = {}
    try:
        while True:
            match ranks.hear():
                case Load() as load:
                    # Where it fails, rank 0 says so.
                    with suppress(ModelError, MemoryLimitError, UsageError):
                        models[load.number] = load_model(
                            load.spec,
                            device=load.device,
                            dtype=load.dtype,
                            prefer=load.prefer,
                            compile_layers=load.compile_layers,
                            config=load.config,
                            ranks=ranks,
                        )
                case Drop(number):
                    models.pop(number, None)
                case Run() as run:
                    _run(models[run.number], run, ranks)
                case None:
                    return
    except RankLostError:
        return


def _run(model: LanguageModel, run: Run, ranks: Ranks) -> None:
    try:
        try:
            for _ in model.run(run.prompt_ids, run.config, pool=run.pool):
                pass
        except RankLostError:
            raise
        except LookaheadError:
            # Rank 0 met the same, and ends the run.
            ranks.begin_step()
    except StopRun:
        return


if __name__ == "__main__":
    main()
