"""The screen of one step from inside: its attention mask, or its token tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from lookahead_cli.tui.explained import Explained
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.key_bar import KeyBar
from lookahead_cli.tui.panels.step_panels import MaskPanel, StepPanel, TreePanel
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.step_tree import CACHE
from lookahead_cli.tui.theme import Theme


class StepScreen(ModalScreen[None]):
    """Shows one step; the run goes on behind it.

    Args:
        theme: The colours.
        view: The run.
        first: What is shown first, `mask` or `tree`.
    """

    DEFAULT_CSS = """
    StepScreen { layout: vertical; background: $background; overflow: hidden; }
    StepScreen StepPanel { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1, 0)", "Up", id="step.up", show=False, tooltip="The node above"),
        Binding("down", "move(1, 0)", "Down", id="step.down", show=False, tooltip="The node below"),
        Binding("left", "move(0, -1)", "Left", id="step.left", show=False, tooltip="The column before"),
        Binding("right", "move(0, 1)", "Right", id="step.right", show=False, tooltip="The column after"),
        Binding(
            "comma", "step(-1)", "Step before", id="step.before", key_display=",", tooltip="Another step"
        ),
        Binding(
            "full_stop", "step(1)", "Step after", id="step.after", key_display=".", tooltip="Another step"
        ),
        Binding("m", "show('mask')", "Mask", id="step.mask", tooltip="The attention mask; again, the run"),
        Binding("t", "show('tree')", "Tree", id="step.tree", tooltip="The token tree; again, the run"),
        Binding("question_mark", "help", "Help", id="step.help", key_display="?", tooltip="What they show"),
        Binding("escape,q", "close", "Close", id="step.close", key_display="esc", tooltip="Back to the run"),
    ]
    EXPLAINS: ClassVar[Sequence[type[Explained]]] = (MaskPanel, TreePanel)

    def __init__(self, theme: Theme, view: RunView, first: str) -> None:
        super().__init__()
        self.mask_panel, self.tree_panel = MaskPanel(theme, id="mask"), TreePanel(theme, id="tree")
        self._colours = theme
        self._view = view
        self._shown: StepPanel = self.mask_panel if first == "mask" else self.tree_panel
        self._index = max(0, view.shown)

    def compose(self) -> ComposeResult:
        """Both panels, one of them in sight."""
        yield self.mask_panel
        yield self.tree_panel
        yield KeyBar(self._colours, ("escape", "question_mark"))

    def on_mount(self) -> None:
        """Show the first panel."""
        self._show(0, CACHE)

    def _show(self, node: int, key: int) -> None:
        count = len(self._view.steps[self._index].nodes)
        for panel in (self.mask_panel, self.tree_panel):
            panel.display = panel is self._shown
            panel.index = self._index
            panel.node = max(0, min(node, count - 1))
            panel.key = max(CACHE, min(key, count - 1))
            panel.show(self._view)

    @on(StepPanel.Pointed)
    def point(self, event: StepPanel.Pointed) -> None:
        """Go to where the mouse is."""
        self._show(
            self._shown.node if event.node is None else event.node,
            self._shown.key if event.key is None else event.key,
        )

    def action_move(self, rows: int, columns: int) -> None:
        """Move the cursor; in the tree up and down follow the lines."""
        node = self._shown.node
        if rows and self._shown is self.tree_panel:
            order = [at for at, _ in self.tree_panel.tree_of(self._view).in_order()]
            node = order[max(0, min(order.index(node) + rows, len(order) - 1))]
        else:
            node += rows
        self._show(node, self._shown.key + columns)

    def action_step(self, by: int) -> None:
        """Look at another step."""
        self._index = max(0, min(self._index + by, self._view.newest))
        self._show(0, CACHE)

    def action_show(self, what: str) -> None:
        """Show the mask or the tree; what is shown already closes."""
        panel = self.mask_panel if what == "mask" else self.tree_panel
        if panel is self._shown:
            self.action_close()
            return
        self._shown = panel
        self._show(panel.node, panel.key)

    def action_help(self) -> None:
        """Say what mask and tree show."""
        self.app.push_screen(HelpScreen(self._colours, self.EXPLAINS, self.BINDINGS))

    def action_close(self) -> None:
        """Back to the run, at the step that was looked at."""
        self._view.look_at(self._index)
        self.dismiss()
