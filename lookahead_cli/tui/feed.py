"""A run driven in a worker thread: events go into a queue, the screen takes them out when it redraws."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lookahead_cli.errors import LookaheadError
from lookahead_cli.trace.events import Footer, Header, Progress, StepEvent
from lookahead_cli.tui.pacing import Pacer
from lookahead_cli.tui.source import EventSource

_TURN_SECONDS = 0.0005


@contextmanager
def short_turns() -> Iterator[None]:
    """Give the decoding thread the interpreter back soon while a screen is drawn beside it.

    A pass asks for the interpreter at each operation; CPython's own turn, 5 ms, is as long as a redraw.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class _StoppedError(LookaheadError):
    """The person left while the model was being loaded."""


class Feed:
    """Runs a source and keeps what came until it is taken.

    Args:
        source: Where the run comes from.
        pacer: Holds the run between two steps; None for a run that is only read.
        on_news: Called in the worker thread when something came after the queue was empty.
    """

    def __init__(self, source: EventSource, pacer: Pacer | None, on_news: Callable[[], None]) -> None:
        self.failure: BaseException | None = None
        self.source = source
        self._pacer = pacer
        self._on_news = on_news
        self._cancel = threading.Event()
        self._finished = threading.Event()
        self._lock = threading.Lock()
        self._queue: deque[Header | StepEvent | Footer | Progress] = deque()
        self._told = False
        self._started = False

    @property
    def cancelled(self) -> bool:
        """True once the run was told to stop."""
        return self._cancel.is_set()

    @property
    def ended(self) -> bool:
        """True once the worker is done; what it left may still be there to take."""
        return self._finished.is_set()

    @property
    def has_news(self) -> bool:
        """True where something came since the last time."""
        with self._lock:
            return bool(self._queue)

    @property
    def finished(self) -> bool:
        """True once the worker is done and all is taken; asked after `take`, no end is missed."""
        with self._lock:
            return self._finished.is_set() and not self._queue

    def cancel(self) -> None:
        """Stop the run within one step."""
        self._cancel.set()
        if self._pacer is not None:
            self._pacer.release()

    def take(self) -> list[Header | StepEvent | Footer | Progress]:
        """Everything that came since the last time."""
        with self._lock:
            taken = list(self._queue)
            self._queue.clear()
            self._told = False
        return taken

    def drive(self) -> None:
        """Run the source to its end; called in the worker thread."""
        with short_turns():
            self._drive()

    def _drive(self) -> None:
        try:
            events = self.source.events(self._cancel, self._put_progress)
            for event in events:
                self._started = True
                self._put(event)
                if self._pacer is None or isinstance(event, Footer):
                    continue
                if isinstance(event, Header):
                    self._pacer.wait()
                elif event.step.finish_reason is None:
                    self._pacer.wait(len(event.step.accepted))
        except _StoppedError:
            pass
        except BaseException as error:  # it is raised again where the screen was opened
            self.failure = error
        finally:
            self._finished.set()
            self._tell()

    def _put_progress(self, progress: Progress) -> None:
        # Loading knows nothing of `cancel`; a run that has begun ends by itself, with its footer.
        if self._cancel.is_set() and not self._started:
            raise _StoppedError("Stopped.")
        self._put(progress)

    def _put(self, event: Header | StepEvent | Footer | Progress) -> None:
        with self._lock:
            self._queue.append(event)
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            told, self._told = self._told, True
        if not told:
            self._on_news()
