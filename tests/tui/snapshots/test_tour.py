"""Pictures of every stop of the tour; `make snapshots` renews them."""

from __future__ import annotations

from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.tour.app import TourApp
from lookahead_cli.tui.tour.explore import ExploreScreen
from lookahead_cli.tui.tour.lesson import STOPS
from lookahead_cli.tui.tour.traces import TourRuns
from tests.tui.pilots import wait_until
from tests.tui.snapshots.picture import Camera


async def every_stop(camera: Camera) -> None:
    app = TourApp(camera.theme, TourRuns())
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        for number, stop in enumerate(STOPS, start=1):
            await wait_until(pilot, lambda stop=stop: app.tour_screen.stop is stop)
            await camera.take(pilot, f"stop-{number:02}")
            await pilot.press("right")


async def what_opens_on_a_stop(camera: Camera) -> None:
    app = TourApp(camera.theme, TourRuns(), 5)
    async with app.run_test(size=camera.size, notifications=True) as pilot:
        await pilot.press("down")
        await camera.take(pilot, "another-step")
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await camera.take(pilot, "help")
        await pilot.press("escape", "o")
        await wait_until(pilot, lambda: isinstance(app.screen, ExploreScreen))
        await camera.take(pilot, "explore")


async def test_every_stop(looks_the_same):
    await looks_the_same(every_stop)


async def test_what_opens_on_a_stop(looks_the_same):
    await looks_the_same(what_opens_on_a_stop)
