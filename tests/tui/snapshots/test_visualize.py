"""Pictures of a run that is decoded now, from its loading to its end; `make snapshots` renews them."""

from __future__ import annotations

import math
from types import SimpleNamespace
from unittest.mock import patch

from lookahead_cli.trace.events import Progress
from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.settings_screen import SettingsScreen
from tests.tui.pilots import at_end, drawn, press, screen_text, wait_until
from tests.tui.snapshots.picture import Camera
from tests.tui.snapshots.recorded import LiveRun, Rerun

_HELD_AFTER = 11
_LOADED = (
    Progress("fetching SmolLM2-135M-Instruct", 269_000_000, 269_000_000, "bytes"),
    Progress("loading the weights", 272, 272, "tensors"),
    Progress("reading the prompt", 24, 68, "tokens"),
)


def shown(camera: Camera, source: LiveRun, *, presenter: bool = False) -> VisualizeApp:
    return VisualizeApp(source, camera.theme, speed=math.inf, presenter=presenter)


async def getting_ready(camera: Camera) -> None:
    source = LiveRun(Rerun("fibonacci-lookahead"))
    app = shown(camera, source)
    seconds = 0.0
    clock = SimpleNamespace(monotonic=lambda: seconds)
    with patch("lookahead_cli.tui.loading.time", clock):
        async with app.run_test(size=camera.size, notifications=True) as pilot:
            await wait_until(pilot, lambda: source.say is not None)
            for progress in _LOADED:
                source.say(progress)
                await wait_until(pilot, lambda label=progress.label: label in screen_text(pilot))
                seconds += 2.4
            await drawn(pilot)
            await camera.take(pilot, "getting-ready")


async def while_it_runs(camera: Camera) -> None:
    source = LiveRun(Rerun("fibonacci-lookahead", held_after=_HELD_AFTER))
    source.may_begin.set()
    app = shown(camera, source)
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await wait_until(pilot, lambda: len(app.view.steps) == _HELD_AFTER)
        await drawn(pilot)
        await camera.take(pilot, "running")
        await press(pilot, "left", "left")
        await camera.take(pilot, "running-looked-back")
        await press(pilot, "end", "space")
        await camera.take(pilot, "held")
        await pilot.press("q")
        await wait_until(pilot, lambda: not app.is_running)


async def at_its_end(camera: Camera) -> None:
    source = LiveRun(Rerun("fibonacci-lookahead"))
    source.may_begin.set()
    app = shown(camera, source)
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await at_end(pilot)
        await camera.take(pilot, "ended")
        await pilot.press("s")
        await wait_until(pilot, lambda: isinstance(app.screen, SettingsScreen) and app.focused is not None)
        await wait_until(pilot, lambda: "nodes a step, now" in screen_text(pilot))
        await camera.take(pilot, "settings")
        await pilot.press("backspace", "0")
        await wait_until(pilot, lambda: "the window needs a column" in screen_text(pilot))
        await camera.take(pilot, "settings-that-cannot-work")


async def for_an_audience(camera: Camera) -> None:
    source = LiveRun(Rerun("fibonacci-lookahead"))
    source.may_begin.set()
    app = shown(camera, source, presenter=True)
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await at_end(pilot)
        await camera.take(pilot, "presented")
        await press(pilot, *["left"] * 5)
        await camera.take(pilot, "presented-looked-back")


async def test_getting_ready(looks_the_same):
    await looks_the_same(getting_ready)


async def test_while_it_runs(looks_the_same):
    await looks_the_same(while_it_runs)


async def test_at_its_end(looks_the_same):
    await looks_the_same(at_its_end)


async def test_for_an_audience(looks_the_same):
    await looks_the_same(for_an_audience)
