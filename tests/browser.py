"""A real browser without a window: open a page, press keys, read what a program sends it, take pictures."""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_browser() -> str | None:
    """A Chromium that is installed here."""
    return next((found for name in _NAMES if (found := shutil.which(name)) is not None), None)


class Page:
    """One page, told what to do in the browser's own protocol (DevTools)."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._session: str | None = None
        self._count = 0
        self._sent = ""

    async def open(self, address: str, width: int, height: int) -> None:
        target = await self._do(
            "Target.createTarget", url="about:blank", width=width, height=height, newWindow=True
        )
        attached = await self._do("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Runtime"):
            await self._do(f"{domain}.enable")
        await self._do("Page.bringToFront")
        await self._do("Page.navigate", url=address)

    async def click(self, x: int, y: int) -> None:
        """Click, as a person does before typing."""
        for kind in ("mousePressed", "mouseReleased"):
            await self._do("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    async def press(self, key: str, text: str = "", code: int = 0) -> None:
        """Press a key, as a person does: `text` is what it types."""
        about: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": code}
        await self._do("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", text=text, **about)
        await self._do("Input.dispatchKeyEvent", type="keyUp", **about)

    async def until_sent(self, *wanted: str) -> None:
        """Wait until the program has sent all these words to the page since the last time."""
        while not all(each in self._sent for each in wanted):
            self._take(await self._socket.receive_json())
        self._sent = ""

    async def picture(self, is_as_wanted: Callable[[bytes], bool] = lambda _: True) -> bytes:
        """A PNG of the page, once it is as wanted and the same twice: what was sent is then drawn."""
        before, now = b"", await self._shot()
        while now != before or not is_as_wanted(now):
            before, now = now, await self._shot()
        return now

    async def _shot(self) -> bytes:
        # Two frames: the first may have begun before what was sent arrived.
        frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))"
        await self._do("Runtime.evaluate", expression=frames, awaitPromise=True)
        return base64.b64decode((await self._do("Page.captureScreenshot", format="png"))["data"])

    async def _do(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._count += 1
        number = self._count
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        await self._socket.send_json(message)
        while True:
            answer = await self._socket.receive_json()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            self._take(answer)

    def _take(self, event: dict[str, Any]) -> None:
        if event.get("method") != "Network.webSocketFrameReceived":
            return
        frame = event["params"]["response"]
        data = frame["payloadData"]
        # 1 is text, 2 is bytes.
        self._sent += base64.b64decode(data).decode(errors="replace") if frame["opcode"] == 2 else data


@asynccontextmanager
async def opened_page(browser: str, folder: Path) -> AsyncIterator[Page]:
    """A browser with nothing of a person's own in it; its profile is in the folder."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    process = subprocess.Popen(
        [
            *(browser, "--headless=new", "--disable-gpu", "--no-first-run", "--hide-scrollbars", *sandbox),
            *(f"--user-data-dir={folder}", "--remote-debugging-port=0", "about:blank"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    told = folder / "DevToolsActivePort"
    try:
        while not told.exists() or told.read_text().count("\n") < 1:
            assert process.poll() is None, f"{browser} ended with {process.returncode}"
            await asyncio.sleep(0.01)
        port, path = told.read_text().split()
        async with (
            aiohttp.ClientSession() as client,
            client.ws_connect(f"ws://127.0.0.1:{port}{path}", max_msg_size=0) as socket,
        ):
            yield Page(socket)
    finally:
        process.terminate()
        process.wait(20)
