"""The tour under a pilot: every stop at every size, its keys, and the whole screen behind `o`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.theme import load_theme
from lookahead_cli.tui.tour.app import TourApp
from lookahead_cli.tui.tour.explore import ExploreScreen
from lookahead_cli.tui.tour.lesson import STOPS
from lookahead_cli.tui.tour.pictures import KINDS
from lookahead_cli.tui.tour.traces import TourRuns
from tests.tui.pilots import screen_lines, screen_text, wait_until
from tests.tui.tour.recomputed import ON_THE_SCREEN

SMALL, MIDDLE, LARGE, HUGE = (80, 24), (100, 30), (120, 36), (200, 60)


@asynccontextmanager
async def opened(size: tuple[int, int], *, first: int = 0, theme: str = "dark") -> AsyncIterator[Pilot]:
    app = TourApp(load_theme(theme), TourRuns(), first)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


async def settled(pilot: Pilot) -> None:
    """Until each widget was drawn at its new size."""
    await pilot.pause()
    await pilot.pause()


async def press(pilot: Pilot, *keys: str) -> None:
    await pilot.press(*keys)
    await settled(pilot)


def lesson_words(pilot: Pilot) -> list[str]:
    """What is on the screen where the lesson is."""
    region = pilot.app.tour_screen.lesson.region
    lines = screen_lines(pilot)[region.y : region.bottom]
    return " ".join(line[region.x : region.right] for line in lines).split()


def words_of(index: int) -> list[str]:
    stop = STOPS[index]
    view = TourRuns().view(stop.trace)
    stop.look(view)
    return (stop.title + " " + "".join(text for text, _ in stop.parts(view))).split()


def visible_panels(pilot: Pilot) -> list[str]:
    return [name for name, panel in pilot.app.tour_screen.panels.items() if panel.display]


@pytest.mark.parametrize("size", [SMALL, MIDDLE, LARGE, HUGE, (100, 24), (80, 50)])
async def test_every_stop_is_whole_at_every_size(size):
    async with opened(size) as pilot:
        for index, stop in enumerate(STOPS):
            lines = screen_lines(pilot)
            text = "\n".join(lines)
            assert f"stop {index + 1} of {len(STOPS)}" in lines[0]
            assert f"►{index + 1} {stop.name} " in lines[1]
            wanted = words_of(index)
            assert lesson_words(pilot)[: len(wanted)] == wanted
            assert KINDS[stop.panels[0]].TITLE in text
            # The first panel is the first to be read.
            titles = [line for line in lines if any(kind.TITLE in line for kind in KINDS.values())]
            assert KINDS[stop.panels[0]].TITLE in titles[0]
            for name in visible_panels(pilot):
                panel = pilot.app.tour_screen.panels[name]
                assert panel.region.bottom <= size[1] - 1
                assert panel.text.strip()
            assert all(f"{key} " in lines[-1] for key in ("→", "←", "↑", "↓", "o", "?", "q"))
            await press(pilot, "right")


@pytest.mark.parametrize("size", [LARGE, HUGE])
async def test_the_figures_of_the_text_stand_on_the_panels(size):
    async with opened(size) as pilot:
        for stop in STOPS:
            view = pilot.app.tour_screen.view
            assert set(visible_panels(pilot)) == set(stop.panels)
            said = stop.figures(view)
            title = screen_lines(pilot)[0]
            panels = "\n".join(pilot.app.tour_screen.panels[name].text for name in stop.panels)
            text = " ".join(f"{title}\n{panels}".split())
            for phrase in ON_THE_SCREEN[stop.name]:
                assert " ".join(phrase.format(**said).split()) in text, (stop.name, phrase)
            await press(pilot, "right")


async def test_the_window_points_at_the_cells_that_the_text_names():
    async with opened(LARGE, first=3) as pilot:
        assert pilot.app.tour_screen.panels["window"].pointed == {(0, 2), (1, 1), (2, 0)}
        await press(pilot, "right")
        column = int(STOPS[4].figures(pilot.app.tour_screen.view)["column"])
        assert pilot.app.tour_screen.panels["window"].pointed == {(row, column) for row in range(4)}
        await press(pilot, "down")
        assert not pilot.app.tour_screen.panels["window"].pointed


async def test_the_keys_go_through_the_stops():
    async with opened(SMALL) as pilot:
        screen = pilot.app.tour_screen
        for key, index in (
            ("space", 1),
            ("enter", 2),
            ("left", 1),
            ("end", len(STOPS) - 1),
            ("right", len(STOPS) - 1),
            ("home", 0),
            ("left", 0),
        ):
            await press(pilot, key)
            assert screen.index == index


async def test_a_click_on_a_stop_goes_there():
    async with opened(LARGE) as pilot:
        x = screen_lines(pilot)[1].index("7 Verify")
        await pilot.click("#stops", offset=(x, 0))
        await settled(pilot)
        assert pilot.app.tour_screen.stop.name == "Verify"


async def test_up_and_down_look_at_other_steps_and_say_so():
    async with opened(SMALL, first=2) as pilot:
        view = pilot.app.tour_screen.view
        told = view.shown
        await press(pilot, "down")
        assert view.shown == told + 1
        assert f"◄ the text is about step {told + 1} · step {told + 2}/{len(view.steps)}" in screen_text(
            pilot
        )
        assert lesson_words(pilot) == words_of(2)
        await press(pilot, "comma", "up")
        assert view.shown == told - 1
        await press(pilot, "full_stop")
        assert "the text is about" not in screen_text(pilot)


async def test_another_stop_of_the_same_run_starts_at_its_own_step():
    async with opened(SMALL, first=3) as pilot:
        await press(pilot, "down", "down", "right")
        assert "the text is about" not in screen_text(pilot)
        assert lesson_words(pilot) == words_of(4)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_o_opens_the_whole_screen_at_the_step_and_esc_comes_back(size):
    async with opened(size, first=7) as pilot:
        view = pilot.app.tour_screen.view
        shown = view.shown
        await pilot.press("o")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ExploreScreen))
        await settled(pilot)
        text = screen_text(pilot)
        titles = ("JACOBI WINDOW", "N-GRAM POOL", "ACCEPTED TOKENS", "COMPRESSION")
        assert all(title in text for title in titles)
        assert f"step {shown + 1}/{len(view.steps)}" in screen_lines(pilot)[0]
        await press(pilot, "right", "n", "end", "home", "left")
        assert view.shown == 0
        await press(pilot, "m")
        assert "ATTENTION MASK" in screen_text(pilot)
        await press(pilot, "escape")
        await press(pilot, "2")
        assert "JACOBI WINDOW" not in screen_text(pilot)
        await press(pilot, "escape")
        assert pilot.app.screen is pilot.app.tour_screen
        assert view.shown == shown
        assert lesson_words(pilot)[: len(words_of(7))] == words_of(7)


async def test_the_whole_screen_plays_searches_and_presents():
    async with opened(LARGE, first=7) as pilot:
        view = pilot.app.tour_screen.view
        await pilot.press("o")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ExploreScreen))
        await press(pilot, "home", "plus", "plus", "plus")
        assert view.shown == 0
        await pilot.press("space")
        await wait_until(pilot, lambda: view.shown >= 3)
        await pilot.press("space")
        await settled(pilot)
        held = view.shown
        assert "paused" in screen_lines(pilot)[0]
        await pilot.press("slash", *"append", "enter")
        await wait_until(pilot, lambda: view.shown == view.find("append"))
        assert view.shown != held
        await pilot.press("p")
        await wait_until(pilot, lambda: f"STEP {view.shown + 1} ACCEPTS" in screen_text(pilot))
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: "Find a text in the output" in screen_text(pilot))
        await pilot.press("escape", "escape")
        await wait_until(pilot, lambda: pilot.app.screen is pilot.app.tour_screen)
        assert lesson_words(pilot)[: len(words_of(7))] == words_of(7)


async def test_a_resize_behind_the_whole_screen_is_followed():
    async with opened(SMALL, first=3) as pilot:
        await pilot.press("o")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, ExploreScreen))
        await pilot.resize_terminal(*LARGE)
        await settled(pilot)
        await press(pilot, "escape")
        await settled(pilot)
        assert lesson_words(pilot)[: len(words_of(3))] == words_of(3)
        assert pilot.app.tour_screen.panels["accepted"].region.bottom == LARGE[1] - 1


@pytest.mark.parametrize("size", [(60, 20), (40, 12), (20, 5), (3, 2)])
async def test_a_tiny_terminal_is_survived(size):
    async with opened(size) as pilot:
        await press(pilot, *["right"] * len(STOPS))
        await pilot.resize_terminal(*LARGE)
        await settled(pilot)
        assert lesson_words(pilot)[: len(words_of(12))] == words_of(12)


async def test_help_explains_the_keys_of_the_tour_and_the_panels():
    async with opened(LARGE) as pilot:
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await settled(pilot)
        text = screen_text(pilot)
        assert "The next stop" in text
        assert "Leave the tour" in text
        await press(pilot, "escape")
        assert pilot.app.screen is pilot.app.tour_screen


async def test_a_resize_finds_text_and_panels_their_places():
    async with opened(LARGE, first=3) as pilot:
        for size in (SMALL, HUGE, (99, 40), (40, 12), MIDDLE):
            await pilot.resize_terminal(*size)
            await settled(pilot)
            if size[0] >= 80:
                assert lesson_words(pilot)[: len(words_of(3))] == words_of(3)


@pytest.mark.parametrize("theme", ["light", "projector"])
async def test_the_colours_are_the_themes(theme):
    async with opened(LARGE, theme=theme) as pilot:
        title = pilot.app.tour_screen.title_line.render_lines(pilot.app.tour_screen.title_line.size.region)[0]
        colours = {segment.style.bgcolor.name for segment in title if segment.style and segment.style.bgcolor}
        assert colours == {load_theme(theme).background}


async def test_without_colours_every_stop_can_be_read(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(LARGE) as pilot:
        for index in range(len(STOPS)):
            assert lesson_words(pilot)[: len(words_of(index))] == words_of(index)
            await press(pilot, "right")


@pytest.mark.parametrize(("key", "interrupted"), [("q", False), ("ctrl+q", False), ("ctrl+c", True)])
async def test_leaving(key, interrupted):
    async with opened(SMALL) as pilot:
        await pilot.press(key)
        await wait_until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.interrupted is interrupted


async def test_every_key_says_what_it_does():
    async with opened(SMALL) as pilot:
        bindings = [*pilot.app.BINDINGS, *pilot.app.tour_screen.BINDINGS, *ExploreScreen.BINDINGS]
        assert all(binding.id and binding.tooltip for binding in bindings)
        names = {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
        assert {"Next", "Back", "Explore", "Help", "Quit"} <= names
