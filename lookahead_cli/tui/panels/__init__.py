"""The four panels of a run; each shows one side of the step that a `RunView` looks at."""

from lookahead_cli.tui.panels.accepted import AcceptedPanel
from lookahead_cli.tui.panels.base import Panel
from lookahead_cli.tui.panels.meter import MeterPanel
from lookahead_cli.tui.panels.pool import PoolPanel
from lookahead_cli.tui.panels.window import WindowPanel

__all__ = ["AcceptedPanel", "MeterPanel", "Panel", "PoolPanel", "WindowPanel"]
