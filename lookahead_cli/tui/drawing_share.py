"""How often an answer that comes is drawn, so that keys and the decoding thread have their time too."""

from __future__ import annotations

import time

_SHARE = 1 / 3


class DrawingShare:
    """Holds the next drawing back until all that the last one cost is a small share of the time since.

    The cost is the processor time of the thread that draws. It is measured, since it depends on the
    terminal's size, on the length of the paragraph and on the machine.
    """

    def __init__(self) -> None:
        self._began = 0.0
        self._used = -1.0

    def is_due(self) -> bool:
        """True when something may be drawn; whoever asks draws then."""
        now, used = time.monotonic(), time.thread_time()
        if self._used >= 0 and used - self._used > _SHARE * (now - self._began):
            return False
        self._began, self._used = now, used
        return True
