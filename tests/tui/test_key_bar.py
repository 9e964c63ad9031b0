"""The key bar: keys are whole or not there, and the most needed ones are there longest."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding

from lookahead_cli.tui.key_bar import KeyBar
from tests.tui.pilots import at_end, drawn, opened, screen_lines, wait_until
from tests.tui.runs import ScriptedSource, settings


class Keys(App[None]):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = (
        Binding("a", "app.bell", "First"),
        Binding("b", "app.bell_b", "Second"),
        Binding("c", "app.bell_c", "Third"),
    )

    def action_bell_b(self) -> None: ...

    def action_bell_c(self) -> None: ...

    def compose(self) -> ComposeResult:
        yield KeyBar(("c", "a"))


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (40, "a First b Second c Third"),
        (24, "a First b Second c Third"),
        (23, "a First c Third"),
        (15, "a First c Third"),
        (14, "c Third"),
        (7, "c Third"),
        (6, ""),
    ],
)
async def test_the_least_needed_keys_go_first_and_none_is_cut(width, said):
    app = Keys()
    async with app.run_test(size=(width, 5)) as pilot:
        await wait_until(pilot, lambda: screen_lines(pilot)[-1].rstrip() == said)
        await pilot.resize_terminal(60, 5)
        await wait_until(pilot, lambda: screen_lines(pilot)[-1].rstrip() == "a First b Second c Third")
        await pilot.resize_terminal(width, 5)
        await wait_until(pilot, lambda: screen_lines(pilot)[-1].rstrip() == said)


def whole_keys(pilot) -> set[str]:
    """Keys on the last line, each with its word; the words are those of active bindings alone."""
    said = screen_lines(pilot)[-1].rstrip()
    app = pilot.app
    known = {
        f"{app.get_key_display(active.binding)} {active.binding.description}"
        for active in app.screen.active_bindings.values()
    }
    found = {words for words in known if f" {words} " in f" {said} "}
    assert sum(map(len, found)) + len(found) - 1 == len(said), said
    return found


@pytest.mark.parametrize("width", range(60, 140, 7))
@pytest.mark.parametrize("recorded", [False, True])
async def test_no_key_of_a_run_is_cut_at_any_width(width, recorded):
    async with opened(ScriptedSource(settings(), recorded=recorded), (width, 24)) as pilot:
        await at_end(pilot)
        assert {"space Pause", "→ Step", "? Help", "q Quit"} <= whole_keys(pilot)


async def test_at_80_columns_the_most_needed_keys_of_every_screen_are_there():
    async with opened(ScriptedSource(), (80, 24)) as pilot:
        await at_end(pilot)
        assert {"p Present", "m Mask", "g Race", "n Hit", "? Help", "q Quit"} <= whole_keys(pilot)
        await pilot.press("m")
        await wait_until(pilot, lambda: "esc Close" in screen_lines(pilot)[-1])
        assert "t Tree" in whole_keys(pilot)
        await pilot.press("escape", "g")
        await wait_until(pilot, lambda: "esc Run" in screen_lines(pilot)[-1])
        assert {"space Play", "c Clock", "? Help"} <= whole_keys(pilot)
        await pilot.press("escape")
        await drawn(pilot)


async def test_capital_n_goes_back_to_the_step_before_with_several_tokens():
    async with opened(ScriptedSource()) as pilot:
        await at_end(pilot)
        view = pilot.app.view
        several = [step.index for step in view.steps[:-1] if len(step.accepted) > 1]
        await pilot.press("N")
        await wait_until(pilot, lambda: view.shown == several[-1])
        await pilot.press("N")
        await wait_until(pilot, lambda: view.shown == several[-2])
        await pilot.press("n")
        await wait_until(pilot, lambda: view.shown == several[-1])
        await pilot.press("home", "N")
        await drawn(pilot)
        assert view.shown == 0
