"""`python -m tests.pictures TRACE`: the README's pictures, drawn by the real screens from recorded runs."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path

from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.theme import load_theme
from lookahead_cli.tui.tour.app import TourApp
from lookahead_cli.tui.tour.lesson import STOPS
from lookahead_cli.tui.tour.traces import TourRuns


async def draw(
    trace: Path, picture: Path, *keys: str, size: tuple[int, int] = (120, 36), theme: str = "dark"
) -> None:
    app = VisualizeApp(TraceSource(trace), load_theme(theme), speed=math.inf)
    async with app.run_test(size=size) as pilot:
        while app.view.footer is None:
            await pilot.pause()
        await pilot.press("end", *keys)
        await pilot.pause()
        await pilot.pause()
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(app.export_screenshot(title="lookahead visualize"), encoding="utf-8")


async def draw_tour(picture: Path, stop: str) -> None:
    first = next(index for index, one in enumerate(STOPS) if one.name == stop)
    app = TourApp(load_theme("dark"), TourRuns(), first)
    async with app.run_test(size=(120, 36)) as pilot:
        await pilot.pause()
        await pilot.pause()
        picture.write_text(app.export_screenshot(title="lookahead tour"), encoding="utf-8")


def main() -> None:
    trace = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path("docs")
    asyncio.run(draw(trace, folder / "visualize.svg", "N"))
    asyncio.run(draw(trace, folder / "visualize-small.svg", "N", size=(80, 24), theme="light"))
    asyncio.run(draw(trace, folder / "presenter.svg", "N", "p"))
    asyncio.run(draw_tour(folder / "tour.svg", "Window"))


if __name__ == "__main__":
    main()
