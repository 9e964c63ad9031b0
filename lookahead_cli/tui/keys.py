"""The keys of the run's screen, and the panels that its numbers stand for."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from lookahead_cli.tui.panels import AcceptedPanel, MeterPanel, PoolPanel, WindowPanel
from lookahead_cli.tui.panels.step_panels import MaskPanel, TreePanel
from lookahead_cli.tui.timeline import Timeline

PANELS = (WindowPanel, PoolPanel, AcceptedPanel, MeterPanel)
EXPLAINED = (*PANELS, Timeline, MaskPanel, TreePanel)
"""What the help of a run explains."""

RUN_NEEDED = (
    *("escape", "question_mark", "q", "space", "right", "left", "p", "m", "g"),
    *("n", "plus", "minus", "end", "slash", "t", "s", "w"),
)
"""The keys, the most needed first: a narrow key bar leaves out the last ones."""

RUN_KEYS: list[BindingType] = [
    Binding("space", "pause", "Pause", id="run.pause", tooltip="Hold the run, or let it go on"),
    Binding("left", "earlier", "Back", id="run.back", key_display="←", tooltip="Look at the step before"),
    Binding("right,full_stop", "forward", "Step", id="run.step", key_display="→", tooltip="One step forward"),
    Binding("home", "first", "First", id="run.first", show=False, tooltip="Look at the first step"),
    Binding("end", "last", "Now", id="run.last", tooltip="Back to the newest step, and follow the run"),
    Binding("n", "next_multi", "Hit", id="run.next", tooltip="Next step that emits several tokens"),
    Binding(
        "N",
        "previous_multi",
        "Hit before",
        id="run.previous",
        show=False,
        tooltip="The step before that emitted several tokens",
    ),
    Binding(
        "plus,equals_sign",
        "speed(1)",
        "Faster",
        id="run.faster",
        key_display="+",
        tooltip="More steps a second",
    ),
    Binding("minus", "speed(-1)", "Slower", id="run.slower", key_display="-", tooltip="Fewer steps a second"),
    Binding("m", "inside('mask')", "Mask", id="run.mask", tooltip="The attention mask of the step"),
    Binding("t", "inside('tree')", "Tree", id="run.tree", tooltip="The token tree of the step"),
    Binding(
        "p", "present", "Present", id="run.present", tooltip="Large text for a lecture hall, or all panels"
    ),
    Binding("g", "race", "Race", id="run.race", tooltip="Race against greedy, same prompt"),
    Binding("slash", "search", "Find", id="run.find", key_display="/", tooltip="Find a text in the output"),
    Binding("s", "settings", "Settings", id="run.settings", tooltip="Run again otherwise"),
    Binding(
        "w",
        "rendering",
        "Text",
        id="run.text",
        tooltip="The output as it reads, or with whitespace and free tokens marked",
    ),
    *(
        Binding(
            str(number),
            f"zoom({number - 1})",
            panel.TITLE.capitalize(),
            id=f"run.zoom{number}",
            show=False,
            tooltip="That panel on the whole screen; again, all four",
        )
        for number, panel in enumerate(PANELS, start=1)
    ),
    Binding("escape", "zoom", "All panels", id="run.unzoom", show=False, tooltip="All four panels"),
    Binding("question_mark", "help", "Help", id="app.help", key_display="?", tooltip="What the panels say"),
    Binding("q", "leave", "Quit", id="app.quit", tooltip="Stop the run within one step, and leave"),
    Binding(
        "ctrl+c",
        "interrupt",
        "Quit",
        id="app.stop",
        show=False,
        priority=True,
        tooltip="The same, with exit code 130 before the end",
    ),
    Binding("ctrl+q", "leave", "Quit", id="app.close", show=False, priority=True, tooltip="The same"),
]
