"""The panels of a stop, made by name and pointed where the stop points."""

from __future__ import annotations

from collections.abc import Mapping

from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, Panel, PoolPanel, WindowPanel
from lookahead_cli.tui.panels.step_panels import MaskPanel, StepPanel, TreePanel
from lookahead_cli.tui.theme import Theme
from lookahead_cli.tui.tour.lesson import PanelName
from lookahead_cli.tui.tour.pointing import Pointer

KINDS: Mapping[PanelName, type[Panel]] = {
    "window": WindowPanel,
    "pool": PoolPanel,
    "accepted": AcceptedPanel,
    "meter": MeterPanel,
    "mask": MaskPanel,
    "tree": TreePanel,
}


def panel_of(name: PanelName, theme: Theme, pointer: Pointer, step: int) -> Panel:
    """A panel that is to show a step.

    Args:
        name: Which panel.
        theme: The colours.
        pointer: What stands out.
        step: Index of the step.
    """
    panel = KINDS[name](theme, id=name)
    point(panel, pointer, step)
    return panel


def point(panel: Panel, pointer: Pointer, step: int) -> None:
    """Let what a pointer names stand out on a panel that is to show a step."""
    if isinstance(panel, WindowPanel):
        panel.pointed = pointer.cells
    elif isinstance(panel, StepPanel):
        panel.index, panel.node, panel.key = step, pointer.node, pointer.key
