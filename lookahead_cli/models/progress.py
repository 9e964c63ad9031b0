"""Progress bars and warnings of transformers and the hub, turned into `Progress` events.

Whatever those libraries write to standard error would tear a full-screen program.
"""

from __future__ import annotations

import io
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.std import tqdm  # type: ignore[import-untyped]

from lookahead_cli.trace.events import Progress

Report = Callable[[Progress], None]


def first_line(error: BaseException) -> str:
    """What a library says about an error, cut to one sentence."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__).rstrip(".:") + "."


def ignore(progress: Progress) -> None:
    """A report that nobody reads."""


def bar_class(report: Report, label: str) -> type[Any]:
    """A tqdm class that draws nothing and reports instead.

    Args:
        report: Called with each change worth drawing, one at a time.
        label: What is being done.
    """
    lock = threading.Lock()

    class ReportingBar(tqdm):  # type: ignore[misc]  # tqdm is not typed
        monitor_interval = 0  # no thread that redraws

        def __init__(self, *args: Any, **settings: Any) -> None:
            settings.update(file=io.StringIO(), disable=False)
            settings.pop("name", None)
            self._is_second_bar = str(settings.get("desc", "")).startswith("Downloading bytes")
            super().__init__(*args, **settings)

        def display(self, msg: str | None = None, pos: int | None = None) -> bool:
            # The hub counts bytes twice, sent and written, and its files apart; one count is enough.
            if self.unit == "B" and not self._is_second_bar:
                unit = "bytes"
            elif any(word in (self.desc or "") for word in ("weights", "GGUF")):
                unit = "tensors"
            else:
                return True
            with lock:
                report(Progress(label, self.n, self.total or None, unit))
            return True

    return ReportingBar


@contextmanager
def quiet(report: Report, label: str) -> Iterator[None]:
    """Within it, transformers and the hub report instead of writing; afterwards all is as it was."""
    from huggingface_hub.utils import logging as hub_logging
    from transformers.utils import logging as transformers_logging

    bar = bar_class(report, label)
    verbosity = transformers_logging.get_verbosity()
    hub_verbosity = hub_logging.get_verbosity()
    had_bars = transformers_logging.is_progress_bar_enabled()
    set_hook = getattr(transformers_logging, "set_tqdm_hook", None)
    legacy_reader = sys.modules.get("transformers.modeling_gguf_pytorch_utils")
    legacy_bar = getattr(legacy_reader, "tqdm", None)
    previous_hook: Any = None
    transformers_logging.set_verbosity_error()
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if set_hook is not None:
        previous_hook = set_hook(lambda factory, args, settings: bar(*args, **settings))
    elif had_bars:
        transformers_logging.disable_progress_bar()
    if legacy_bar is not None:
        legacy_reader.tqdm = bar  # type: ignore[union-attr]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(verbosity)
        hub_logging.set_verbosity(hub_verbosity)
        if set_hook is not None:
            set_hook(previous_hook)
        elif had_bars:
            transformers_logging.enable_progress_bar()
        if legacy_bar is not None:
            legacy_reader.tqdm = legacy_bar  # type: ignore[union-attr]
