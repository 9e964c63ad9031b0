"""The key bar: keys are whole or not there, and the most needed ones are there longest."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult
from textual.binding import Binding

from lookahead_cli.tui.key_bar import KeyBar
from lookahead_cli.tui.theme import load_theme
from lookahead_cli.tui.tour.app import TourApp
from lookahead_cli.tui.tour.traces import TourRuns
from tests.tiny import save_tiny_model
from tests.tui.chats import backend, conversation
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
        yield KeyBar(load_theme("dark"), ("c", "a"))


@pytest.mark.parametrize(
    ("width", "said"),
    [
        (40, "a First  b Second  c Third"),
        (26, "a First  b Second  c Third"),
        (25, "a First b Second c Third"),
        (24, "a First b Second c Third"),
        (23, "a First  c Third"),
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
        await wait_until(pilot, lambda: screen_lines(pilot)[-1].rstrip() == "a First  b Second  c Third")
        await pilot.resize_terminal(width, 5)
        await wait_until(pilot, lambda: screen_lines(pilot)[-1].rstrip() == said)


def whole_keys(pilot) -> set[str]:
    """Keys on the last line, each with its word; the words are those of active bindings alone."""
    said = screen_lines(pilot)[-1].rstrip().replace("  ", " ")
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


async def test_at_80_columns_the_keys_of_the_tour_are_whole():
    app = TourApp(load_theme("dark"), TourRuns())
    async with app.run_test(size=(80, 24)) as pilot:
        await wait_until(pilot, lambda: bool(screen_lines(pilot)[-1].strip()))
        assert {"→ Next", "← Back", "o Explore", "? Help", "q Quit"} <= whole_keys(pilot)
        await pilot.press("o")
        await wait_until(pilot, lambda: "esc Back to the tour" in screen_lines(pilot)[-1])
        assert {"space Pause", "→ Step", "p Present", "m Mask"} <= whole_keys(pilot)
        assert "g Race" not in whole_keys(pilot)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("model")))


@pytest.mark.parametrize("width", [60, 80, 120])
async def test_no_key_of_the_chat_is_cut(folder, width):
    async with conversation(backend(folder), (width, 24)) as (pilot, _):
        await wait_until(pilot, lambda: bool(screen_lines(pilot)[-1].strip()))
        assert whole_keys(pilot)


async def test_a_click_on_a_key_presses_it_and_the_mouse_asks_what_it_does():
    async with opened(ScriptedSource(), (120, 36)) as pilot:
        await at_end(pilot)
        line = screen_lines(pilot)[-1]
        at = line.index("m Mask")
        await pilot.hover(KeyBar, offset=(at + 1, 0))
        bar = pilot.app.screen.query_one(KeyBar)
        await wait_until(pilot, lambda: bar.tooltip == "The attention mask of the step")
        await pilot.click(KeyBar, offset=(at + 1, 0))
        await wait_until(pilot, lambda: "ATTENTION MASK" in screen_lines(pilot)[0])


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
