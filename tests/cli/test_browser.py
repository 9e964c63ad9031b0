"""`lookahead serve` in a real browser: the screen is drawn, and a key that is pressed does what it says."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.browser import Page, find_browser, opened_page
from tests.cli.test_serve import free_port, page_of
from tests.tiny import save_tiny_model

BROWSER = find_browser()
pytestmark = pytest.mark.skipif(
    BROWSER is None or sys.platform == "win32", reason="no Chromium is installed, or the system is Windows"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("browser") / "tiny")


@asynccontextmanager
async def served(tmp_path: Path, model: Path, *arguments: str) -> AsyncIterator[Page]:
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("The quick brown fox jumps over the lazy dog, and the dog")
    port = free_port()
    run = ("visualize", str(prompt), "--model", str(model), "--dtype", "float32", "--max-new-tokens", "24")
    command = [sys.executable, "-m", "lookahead_cli", "serve", "--port", str(port), *run, *arguments]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        async with asyncio.timeout(90):
            async with aiohttp.ClientSession() as client:
                await page_of(client, f"http://127.0.0.1:{port}/")
            assert BROWSER is not None
            async with opened_page(BROWSER, tmp_path / "profile") as page:
                await page.open(f"http://127.0.0.1:{port}/?fontsize=14", 1200, 720)
                yield page
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


async def pictured(page: Page, tmp_path: Path, *names: str) -> None:
    """Keep a picture under one name; it differs from those that were taken before."""
    (*before, name) = names
    others = [(tmp_path / f"{each}.png").read_bytes() for each in before]
    picture = await page.picture(lambda picture: picture not in others)
    (tmp_path / f"{name}.png").write_bytes(picture)


async def test_a_run_is_decoded_in_a_browser_and_its_help_opens_with_a_key(tmp_path, model):
    async with served(tmp_path, model) as page:
        await page.until_sent("JACOBI WINDOW", "N-GRAM POOL", "token limit")
        await pictured(page, tmp_path, "run")
        await page.click(200, 8)
        await page.press("?", "?")
        await page.until_sent("KEYS")
        await pictured(page, tmp_path, "run", "help")
        await page.press("Escape", code=27)
        await page.press("ArrowLeft", code=37)
        await page.until_sent("THE PAST")
        await pictured(page, tmp_path, "run", "help", "past")


async def test_a_race_is_run_in_a_browser_and_its_clock_is_changed_with_a_key(tmp_path, model):
    async with served(tmp_path, model, "--race") as page:
        await page.until_sent("RACE", "TRUE SPEEDS")
        await page.click(200, 8)
        await page.press("End", code=35)
        await page.until_sent("RESULT")
        await pictured(page, tmp_path, "result")
        await page.press("c", "c")
        await page.until_sent("one step each")
        await pictured(page, tmp_path, "result", "steps")
