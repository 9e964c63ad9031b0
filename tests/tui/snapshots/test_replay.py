"""Pictures of a recorded run and of every screen that opens on it; `make snapshots` renews them."""

from __future__ import annotations

import gzip
import io
import math

from textual.command import CommandList, CommandPalette
from textual.widgets._toast import Toast

from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.search import SearchScreen
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.step_screen import StepScreen
from lookahead_cli.tui.tour.traces import trace_file
from tests.tui.pilots import at_end, drawn, press, wait_until
from tests.tui.snapshots.picture import Camera


def replayed(camera: Camera, name: str, notice: str | None = None) -> VisualizeApp:
    lines = io.StringIO(gzip.decompress(trace_file(name).read_bytes()).decode())
    return VisualizeApp(TraceSource(lines, f"{name}.jsonl"), camera.theme, speed=math.inf, notice=notice)


def notices(app: VisualizeApp) -> list[str]:
    """The notices that are on the screen."""
    return [toast._notification.message for toast in app.screen.query(Toast)]


async def forwards_and_back(camera: Camera) -> None:
    app = replayed(camera, "lookahead")
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await at_end(pilot)
        await camera.take(pilot, "end")
        await press(pilot, *["left"] * 4)
        await camera.take(pilot, "looked-back")
        await press(pilot, "w")
        await camera.take(pilot, "as-it-reads")
        await press(pilot, "w")
        for number, panel in enumerate(("window", "pool", "accepted", "meter"), start=1):
            await press(pilot, str(number))
            await camera.take(pilot, f"alone-{panel}")
        await press(pilot, "escape", "home")
        await camera.take(pilot, "first-step")


async def what_opens_on_a_run(camera: Camera) -> None:
    app = replayed(camera, "lookahead")
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await at_end(pilot)
        await press(pilot, *["left"] * 4)
        await pilot.press("m")
        await wait_until(pilot, lambda: isinstance(app.screen, StepScreen))
        await pilot.press(*["down"] * 7, *["right"] * 3)
        await camera.take(pilot, "mask")
        await pilot.press("t")
        await camera.take(pilot, "tree")
        await pilot.press("escape")
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await camera.take(pilot, "help")
        await pilot.press("escape", "slash")
        await wait_until(pilot, lambda: isinstance(app.screen, SearchScreen))
        await camera.take(pilot, "search")
        await pilot.press(*"append", "enter")
        await wait_until(pilot, lambda: app.screen is app.run_screen)
        await drawn(pilot)
        await camera.take(pilot, "found")
        await pilot.press("ctrl+p")
        await wait_until(pilot, lambda: isinstance(app.screen, CommandPalette))
        commands = len(list(app.get_system_commands(app.run_screen)))
        listed = app.screen.query_one(CommandList)
        await wait_until(pilot, lambda: listed.option_count == commands and not app.screen._show_busy)
        await camera.take(pilot, "palette")


async def what_it_says(camera: Camera) -> None:
    """What cannot be done is said on the screen and changes nothing else."""
    said = (
        (("slash", *"zebra", "enter"), "nothing-found", "does not say 'zebra'"),
        (("s",), "no-settings", "A recording cannot be run again"),
        (("g",), "nobody-races", "A recording races other recordings"),
    )
    for keys, name, words in said:
        app = replayed(camera, "lookahead")
        async with app.run_test(size=camera.size, notifications=True) as pilot:
            await at_end(pilot)
            await pilot.press(*keys)
            await wait_until(pilot, lambda app=app, words=words: any(words in each for each in notices(app)))
            await camera.take(pilot, name)


async def other_methods(camera: Camera) -> None:
    for name in ("greedy", "jacobi", "costly"):
        app = replayed(camera, name, "There is no theme 'x'." if name == "greedy" else None)
        async with app.run_test(size=camera.size, notifications=True) as pilot:
            await at_end(pilot)
            await camera.take(pilot, f"run-{name}")


async def test_forwards_and_back(looks_the_same):
    await looks_the_same(forwards_and_back)


async def test_what_opens_on_a_run(looks_the_same):
    await looks_the_same(what_opens_on_a_run)


async def test_what_it_says(looks_the_same):
    await looks_the_same(what_it_says)


async def test_other_methods(looks_the_same):
    await looks_the_same(other_methods)
