"""The processes that decode one text together, and what they tell each other: a few numbers a step.

Rank 0 leads: it says what is to be done, and before each step whether there is another one. All ranks run the
same loop, so they come to the same exchanges in the same order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from lookahead_cli.errors import LookaheadError

# A person may look at a step for as long as they like; that a rank has died is told by its connection.
_FOREVER = timedelta(days=365)


class RankLostError(LookaheadError):
    """A process of a parallel run has ended, or no longer does what the others do."""


class StopRun(Exception):  # noqa: N818 - no error: rank 0 has no further step
    """Rank 0 has ended the run."""


class Ranks:
    """This process among all.

    Args:
        who_died: Says which rank has ended, for the person; None where nothing is known of the others.

    Attributes:
        end: Ends the processes that were started for this one.
        process_ids: Theirs.
        cores: Threads that one process may take while the others wait; None to leave them as they are.
    """

    end: Callable[[], object] = staticmethod(lambda: None)
    process_ids: tuple[int, ...] = ()
    cores: int | None = None

    def __init__(self, who_died: Callable[[], str | None] | None = None) -> None:
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()
        self._who_died = who_died or (lambda: None)
        self._control = dist.new_group(backend="gloo", timeout=_FOREVER)
        self._data: Any = self._control
        self._device = torch.device("cpu")
        self._in_run = False
        self._in_step = False
        self._broken = False
        self._models = 0

    @property
    def leads(self) -> bool:
        """True for rank 0."""
        return self.rank == 0

    def next_number(self) -> int:
        """A number for a model, which no other one has."""
        self._models += 1
        return self._models

    def use_device(self, device: torch.device) -> None:
        """Exchange numbers over the link between GPUs, where each rank has its own; all ranks call this."""
        kinds: list[Any] = [None] * self.size
        with self._watched():
            dist.all_gather_object(kinds, (device.type, device.index), group=self._control)
        apart = device.type == "cuda" and len(set(kinds)) == self.size and dist.is_nccl_available()
        if apart and self._data is self._control:
            torch.cuda.set_device(device)
            self._data, self._device = dist.new_group(backend="nccl"), device

    def tell(self, message: object) -> None:
        """Rank 0 says what is to be done."""
        with self._watched():
            dist.broadcast_object_list([message], src=0, group=self._control)

    def hear(self) -> Any:
        """The others wait for what is to be done."""
        message: list[Any] = [None]
        with self._watched():
            dist.broadcast_object_list(message, src=0, group=self._control)
        return message[0]

    def gather(self, value: object) -> list[Any]:
        """What every rank has to say, in the order of ranks."""
        values: list[Any] = [None] * self.size
        with self._watched():
            dist.all_gather_object(values, value, group=self._control)
        return values

    @contextmanager
    def run(self, message: object) -> Iterator[None]:
        """Rank 0 begins a run, and ends it on all ranks where it did not end by itself."""
        if self._broken:
            raise RankLostError("A process of this parallel run has ended.", "Start the command again.")
        self.tell(message)
        self._in_run = True
        try:
            yield
        finally:
            if self._in_run and not self._broken:
                self._stop()

    @contextmanager
    def every_core(self) -> Iterator[None]:
        """Take the threads of all processes, for work that they do not share."""
        threads = torch.get_num_threads()
        if self.cores is not None:
            torch.set_num_threads(self.cores)
        try:
            yield
        finally:
            torch.set_num_threads(threads)

    def begin_step(self) -> None:
        """Rank 0 begins another step; the others wait for that.

        Raises:
            StopRun: On the others, where rank 0 begins none.
            RankLostError: A rank has ended.
        """
        go_on = torch.ones(1, dtype=torch.long)
        with self._watched():
            dist.broadcast(go_on, src=0, group=self._control)
        if not go_on.item():
            raise StopRun
        self._in_step = True

    def end_step(self, *, last: bool) -> None:
        """The step's exchanges are done; the run ended by itself with the last one, which every rank sees."""
        self._in_step = False
        if last:
            self._in_run = False

    def _stop(self) -> None:
        self._in_run = False
        if self._in_step:
            # The others stand in the middle of a step and cannot be reached there.
            self._broken = True
            return
        with self._watched():
            dist.broadcast(torch.zeros(1, dtype=torch.long), src=0, group=self._control)

    def sum(self, numbers: Sequence[float], dtype: torch.dtype = torch.float64) -> list[Any]:
        """The sum over ranks; a rank gives zeros where it is not the one to answer."""
        total = torch.tensor(numbers, dtype=dtype, device=self._device)
        with self._watched():
            dist.all_reduce(total, group=self._data)
        return total.tolist()

    @contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except RuntimeError as error:
            self._broken = True
            who = self._who_died() or "A process of this parallel run"
            raise RankLostError(f"{who} has ended.", "What was decoded so far is kept.") from error
