"""How many rows each of a stop's panels gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.tour.lesson import PanelName

_LEAST: Mapping[PanelName, int] = {"accepted": 3, "meter": 3, "mask": 12, "tree": 6}
_METER_ROWS = 13  # Apart from one for each bar of the histogram.
_MUCH = 20


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows there are.

    Attributes:
        room: Rows for all panels together.
        compact: True where a panel's frame is one row, and not two.
    """

    room: int
    compact: bool

    @property
    def frame(self) -> int:
        """Rows of a frame."""
        return 1 if self.compact else 2


def wanted_rows(name: PanelName, view: RunView) -> int:
    """Rows in which a panel can show all of a step, without its frame."""
    step = view.step
    assert step is not None
    if name == "window":
        collected = 2 + len(step.window.new) if step.window is not None and step.pool is not None else 0
        return least_rows(name, view) + collected
    if name == "pool":
        return 4 + 2 * len(step.candidates)
    if name == "meter":
        return _METER_ROWS + len(view.total.histogram)
    if name == "accepted":
        return 6
    return len(step.nodes) + (6 if name == "mask" else 4)


def least_rows(name: PanelName, view: RunView) -> int:
    """Rows without which a panel is not worth showing, without its frame."""
    step = view.step
    assert step is not None
    if name == "window":
        return len(step.window.rows) + 2 if step.window is not None else 1
    if name == "pool":
        return 1 + len(step.candidates)
    return _LEAST[name]


def rows_of(names: Sequence[PanelName], view: RunView, rows: Rows) -> Mapping[PanelName, int]:
    """Rows of each panel, its frame included; a second one that finds no room is left out.

    Room that the panels cannot use stays free: their last lines belong to their first. The
    output alone takes what is over, since there is always more of it.

    Args:
        names: The panels, the most important first.
        view: The run, looking at the stop's step.
        rows: The rows there are.
    """
    room = max(1, rows.room)
    main, *others = names
    wanted = wanted_rows(main, view) + rows.frame
    if not others:
        return {main: min(room, wanted)}
    second = others[0]
    second_wanted = wanted_rows(second, view) + rows.frame
    left = room - min(second_wanted, least_rows(second, view) + rows.frame)
    least = least_rows(main, view) + rows.frame
    if left >= wanted:
        over = max(0, room - wanted - second_wanted)
        height = wanted + (over if main == "accepted" else 0)
    elif main == "window" and left >= least:
        # The n-grams below it are told all or not at all: the other panel has more use for a part.
        height = least
    elif left >= _MUCH or (main == "pool" and left >= least):
        height = left
    else:
        return {main: min(room, wanted)}
    rest = room - height
    return {main: height, second: rest if second == "accepted" else min(rest, second_wanted)}
