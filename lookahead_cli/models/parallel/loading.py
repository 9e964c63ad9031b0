"""Loading a model on every rank."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import torch

from lookahead_cli.errors import LookaheadError, ModelError
from lookahead_cli.models.devices import choose_device
from lookahead_cli.models.memory import available_memory
from lookahead_cli.models.parallel.messages import Load
from lookahead_cli.trace.events import Progress

if TYPE_CHECKING:
    from lookahead_cli.models.loading import Checkpoint
    from lookahead_cli.models.parallel.ranks import Ranks


def device_of(wanted: str, ranks: Ranks) -> str:
    """The device of this rank: the next GPU for each, where there are any."""
    chosen = choose_device(wanted)
    if chosen.type != "cuda" or ":" in wanted:
        return wanted
    place = int(os.environ.get("LOCAL_RANK", ranks.rank))
    return f"cuda:{place % torch.cuda.device_count()}"


def shared_memory(wanted: str, ranks: Ranks) -> int:
    """Bytes that each rank may take of the device that several of them share."""
    device = choose_device(wanted)
    here = int(os.environ.get("LOCAL_WORLD_SIZE", ranks.size))
    sharing = here
    if device.type == "cuda" and ":" not in wanted:
        sharing = -(-here // torch.cuda.device_count())
    return available_memory(device) // sharing


def load_on_all(
    load: Callable[[str, int | None], Checkpoint],
    request: Load,
    ranks: Ranks,
    report: Callable[[Progress], None],
) -> tuple[Checkpoint, int]:
    """Load on this rank and wait for the others.

    Args:
        load: Loads on a device, with so much memory.
        request: The model and where it is asked for; rank 0 gives it its number.
        ranks: The others.
        report: Told what is being done.

    Returns:
        What was loaded, and the number under which the ranks know it.

    Raises:
        LookaheadError: It failed on a rank.
    """
    number = 0
    memory = None
    if ranks.leads:
        number = ranks.next_number()
        memory = shared_memory(request.device, ranks)
        ranks.tell(replace(request, number=number))
    failure: LookaheadError | None = None
    loaded: Checkpoint | None = None
    try:
        loaded = load(device_of(request.device, ranks), memory)
    except LookaheadError as error:
        failure = error
    report(Progress("waiting for the other processes"))
    failures = ranks.gather(None if failure is None else (failure.message, failure.hint))
    if failure is not None:
        raise failure
    for rank, other in enumerate(failures):
        if other is not None:
            raise ModelError(f"Rank {rank} cannot load the model: {other[0]}", other[1])
    assert loaded is not None
    ranks.use_device(loaded.device)
    return loaded, number
