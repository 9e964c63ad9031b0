"""`python -m tests.pictures TRACE`: the README's picture, drawn by the real screen from a recorded run."""

from __future__ import annotations

import asyncio
import math
import sys
from pathlib import Path

from lookahead_cli.tui.app import VisualizeApp
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.theme import load_theme


async def draw(trace: Path, picture: Path, *, columns: int, lines: int, theme: str, back: int) -> None:
    app = VisualizeApp(TraceSource(trace), load_theme(theme), speed=math.inf)
    async with app.run_test(size=(columns, lines)) as pilot:
        while app.view.footer is None:
            await pilot.pause()
        await pilot.press("end", *["left"] * back)
        await pilot.pause()
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(app.export_screenshot(title="lookahead visualize"), encoding="utf-8")


def main() -> None:
    trace = Path(sys.argv[1])
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else Path("docs")
    asyncio.run(draw(trace, folder / "visualize.svg", columns=120, lines=36, theme="dark", back=4))
    asyncio.run(draw(trace, folder / "visualize-small.svg", columns=80, lines=24, theme="light", back=4))


if __name__ == "__main__":
    main()
