"""Helpers for screens under a pilot: conditions are waited for, never slept for."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.source import RunSource
from lookahead_cli.tui.theme import load_theme

LARGE, SMALL = (120, 36), (80, 24)


async def wait_until(pilot: Pilot, condition: Callable[[], bool], seconds: float = 30) -> None:
    """Let the program run until the condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():
            await pilot.pause()
            await asyncio.sleep(0)


async def until(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait for something that comes true after the program has left the screen."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.001)


@asynccontextmanager
async def opened(
    source: RunSource,
    size: tuple[int, int] = LARGE,
    *,
    paused: bool = False,
    speed: float = math.inf,
    theme: str = "dark",
    exit_when_done: bool = False,
) -> AsyncIterator[Pilot]:
    """The program, showing a run."""
    app = VisualizeApp(source, load_theme(theme), paused=paused, speed=speed, exit_when_done=exit_when_done)
    async with app.run_test(size=size) as pilot:
        yield pilot


async def at_end(pilot: Pilot) -> None:
    """Until the run has ended and its last step is on the screen."""
    await wait_until(pilot, lambda: pilot.app.view.at_end)
    await drawn(pilot)


async def drawn(pilot: Pilot) -> None:
    """Until what the program knows is on the screen."""
    before = pilot.app.redraws
    pilot.app.want_redraw()
    await wait_until(pilot, lambda: pilot.app.redraws > before)
    await pilot.pause()


async def press(pilot: Pilot, *keys: str) -> None:
    """Press keys, and wait until the screen has followed."""
    await pilot.press(*keys)
    await drawn(pilot)


def screen_lines(pilot: Pilot) -> list[str]:
    """What is on the whole screen, line by line."""
    screen = pilot.app.screen
    strips = screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip) for strip in strips]


def screen_text(pilot: Pilot) -> str:
    return "\n".join(screen_lines(pilot))
