"""The settings of the next run: what they cost is shown before they are taken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, get_args

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Select, Static

from lookahead_cli.decoding.config import LookaheadConfig, Method
from lookahead_cli.errors import UsageError
from lookahead_cli.trace.words import counted
from lookahead_cli.tui.theme import Theme

_NUMBERS = (
    ("window_size", "W, columns of the window", "integer"),
    ("ngram_size", "N, length of an n-gram", "integer"),
    ("guess_set_size", "G, candidates a step", "integer"),
    ("temperature", "temperature", "number"),
    ("max_new_tokens", "most new tokens", "integer"),
)


class SettingsScreen(ModalScreen[LookaheadConfig | None]):
    """Asks for settings; gives them, or None where it was closed.

    Args:
        theme: The colours.
        config: The settings of the run that is shown.
    """

    DEFAULT_CSS = """
    SettingsScreen { align: center middle; background: $background 60%; }
    SettingsScreen #settings { width: 62; max-width: 100%; height: auto; border: round $primary; padding: 0 2;
        background: $surface; border-title-color: $primary; border-subtitle-color: $foreground-muted; }
    SettingsScreen Grid { grid-size: 2; grid-columns: 1fr 26; grid-rows: 1; height: auto; }
    SettingsScreen Input { border: none; height: 1; padding: 0 1; }
    SettingsScreen Select { height: 1; }
    SettingsScreen #cost { height: auto; min-height: 2; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "Close", id="settings.close", tooltip="Go on with the run as it is"),
    ]

    def __init__(self, theme: Theme, config: LookaheadConfig) -> None:
        super().__init__()
        self._colours = theme
        self._config = config

    def compose(self) -> ComposeResult:
        """A line a setting, and what they cost."""
        # A draft model is loaded at the start or not at all.
        methods = [name for name in get_args(Method) if name != "draft" or self._config.method == "draft"]
        with Vertical(id="settings") as box:
            box.border_title = "NEXT RUN"
            box.border_subtitle = "enter runs · tab next · esc closes"
            with Grid():
                yield Label("method")
                yield Select(
                    [(name, name) for name in methods],
                    value=self._config.method,
                    allow_blank=False,
                    compact=True,
                    id="method",
                )
                for name, label, kind in _NUMBERS:
                    yield Label(label)
                    yield Input(
                        f"{getattr(self._config, name):g}",
                        type="number" if kind == "number" else "integer",
                        compact=True,
                        id=name,
                    )
            yield Static(id="cost", markup=False)

    def on_mount(self) -> None:
        """The sizes are what is changed most."""
        self.query_one("#window_size", Input).focus()
        self.say_cost()

    def _asked(self) -> LookaheadConfig:
        """The settings as they stand.

        Raises:
            UsageError: They cannot work.
        """
        values: dict[str, Any] = {}
        for name, label, kind in _NUMBERS:
            text = self.query_one(f"#{name}", Input).value
            try:
                values[name] = float(text) if kind == "number" else int(text)
            except ValueError:
                raise UsageError(f"'{text}' is no number for {label}.", "Type digits.") from None
        values["method"] = self.query_one("#method", Select).value
        return replace(self._config, **values)

    @on(Input.Changed)
    @on(Select.Changed)
    def say_cost(self) -> None:
        """Nodes a step, before anything runs; or why it cannot."""
        style = self._colours.style
        try:
            asked = self._asked()
        except UsageError as error:
            text = Text(str(error), style("rejected"))
        else:
            text = Text(f"at most {counted(asked.nodes_per_step, 'node')} a step", style("accepted"))
            text.append(f", now {self._config.nodes_per_step}; greedy feeds 1", style("muted"))
        self.query_one("#cost", Static).update(text)

    @on(Input.Submitted)
    def take(self) -> None:
        """Run with these, where they can work."""
        try:
            asked = self._asked()
        except UsageError:
            self.app.bell()
            return
        self.dismiss(asked)

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)
