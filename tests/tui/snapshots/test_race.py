"""Pictures of a race, measured and played; `make snapshots` renews them."""

from __future__ import annotations

import gzip
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from textual.pilot import Pilot

from lookahead_cli.cli.race import recorded_rivals
from lookahead_cli.errors import InputError
from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.race.screen import RaceScreen
from lookahead_cli.tui.source import TraceSource
from tests.tui.pilots import screen_text, wait_until
from tests.tui.snapshots.picture import Camera
from tests.tui.snapshots.recorded import LiveRun, Rerun, recording


@asynccontextmanager
async def racing(camera: Camera, *against: Rerun) -> AsyncIterator[Pilot]:
    """The screen of a race, whose clock stands still at its start where there is one."""
    source = LiveRun(Rerun("fibonacci-lookahead"), against)
    source.may_begin.set()
    app = VisualizeApp(source, camera.theme, speed=math.inf, race=True)
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await wait_until(pilot, lambda: isinstance(app.screen, RaceScreen))
        yield pilot


async def played(camera: Camera) -> None:
    async with racing(camera, Rerun("fibonacci-greedy"), Rerun("fibonacci-jacobi")) as pilot:
        await wait_until(pilot, lambda: pilot.app.screen.clock is not None)
        await pilot.press("home", *["right"] * 12)
        await camera.take(pilot, "true-speeds")
        await pilot.press("c", "right")
        await camera.take(pilot, "one-step-each")
        await pilot.press("end")
        await camera.take(pilot, "result")
        await pilot.press("p")
        await camera.take(pilot, "presenter")
        await pilot.press("p")
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await camera.take(pilot, "help")


async def measured(camera: Camera) -> None:
    held = Rerun("fibonacci-jacobi", held_after=9)
    async with racing(camera, Rerun("fibonacci-greedy"), held) as pilot:
        await wait_until(pilot, lambda: len(pilot.app.race.lanes[1].view.steps) == held.held_after)
        await camera.take(pilot, "measuring")


async def impossible(camera: Camera) -> None:
    failing = Rerun("fibonacci-greedy", failure=InputError("The prompt is too long.", "Shorten it."))
    async with racing(camera, failing) as pilot:
        await wait_until(pilot, lambda: "The prompt is too long. Shorten it." in screen_text(pilot))
        await camera.take(pilot, "no-race")


async def with_other_ids(camera: Camera) -> None:
    """A number type of fewer bits may choose another token, which the screen says."""
    with TemporaryDirectory() as folder:
        greedy, other = (unpacked(name, Path(folder)) for name in ("bicycle-greedy", "bicycle-bfloat16"))
        source = TraceSource.named(greedy, recorded_rivals(greedy, [other]))
        app = VisualizeApp(source, camera.theme, speed=math.inf, race=True)
        async with app.run_test(size=camera.size, notifications=True) as pilot:
            await wait_until(
                pilot, lambda: isinstance(app.screen, RaceScreen) and app.screen.clock is not None
            )
            await pilot.press("end")
            await wait_until(pilot, lambda: "ids differ first at output token 1" in screen_text(pilot))
            await camera.take(pilot, "other-ids")


def unpacked(name: str, folder: Path) -> str:
    file = folder / f"{name}.jsonl"
    file.write_bytes(gzip.decompress(recording(name).read_bytes()))
    return str(file)


async def test_played(looks_the_same):
    await looks_the_same(played)


async def test_measured(looks_the_same):
    await looks_the_same(measured)


async def test_impossible(looks_the_same):
    await looks_the_same(impossible)


async def test_with_other_ids(looks_the_same):
    await looks_the_same(with_other_ids)
