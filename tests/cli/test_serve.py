"""`lookahead serve` puts the real screen on a page of this machine."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys

import aiohttp
import pytest

from lookahead_cli.cli import run
from lookahead_cli.errors import ExitCode
from lookahead_cli.trace.writer import record
from tests.tui.runs import run_events, settings


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_what_has_no_screen_is_refused(capsys):
    assert run(["serve", "bench"]) == ExitCode.USAGE
    assert "'bench' has no screen" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["replay", "missing.jsonl"], "There is no trace 'missing.jsonl'"),
        (["visualize", "missing.txt"], "There is no file 'missing.txt'"),
        (["visualize", "-"], "A page has no standard input"),
        (["replay", "--colour"], "No such option"),
    ],
)
def test_a_command_that_cannot_work_is_said_before_it_is_served(capsys, command, said):
    assert run(["serve", *command]) in {ExitCode.USAGE, ExitCode.INPUT}
    assert said in capsys.readouterr().err


def test_a_port_in_use_is_said(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert run(["serve", "--port", str(port), "chat"]) == ExitCode.INPUT
    assert "Choose another one with --port" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with a signal")
async def test_the_screen_is_drawn_and_takes_keys_in_a_browser(tmp_path):
    trace = tmp_path / "trace.jsonl"
    for _ in record(run_events(settings()), trace, lambda error: None):
        pass
    port = free_port()
    command = [sys.executable, "-m", "lookahead_cli", "serve", "--port", str(port), "replay", str(trace)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        assert f"http://127.0.0.1:{port}" in await asyncio.to_thread(server.stderr.readline)
        async with asyncio.timeout(60), aiohttp.ClientSession() as browser:
            page = await page_of(browser, f"http://127.0.0.1:{port}/")
            assert "lookahead replay" in page
            async with browser.ws_connect(f"ws://127.0.0.1:{port}/ws?width=120&height=36") as socket_:
                await drawn(socket_, "JACOBI WINDOW")
                await socket_.send_json(["stdin", "?"])
                await drawn(socket_, "KEYS")
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="ends the server with a signal")
async def test_the_tour_goes_on_in_a_browser():
    port = free_port()
    command = [sys.executable, "-m", "lookahead_cli", "serve", "--port", str(port), "tour", "--stop", "4"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        await asyncio.to_thread(server.stderr.readline)
        async with asyncio.timeout(60), aiohttp.ClientSession() as browser:
            await page_of(browser, f"http://127.0.0.1:{port}/")
            async with browser.ws_connect(f"ws://127.0.0.1:{port}/ws?width=120&height=36") as socket_:
                await drawn(socket_, "stop 4 of 13")
                await socket_.send_json(["stdin", "\x1b[C"])
                await drawn(socket_, "stop 5 of 13")
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait(20) == 0


async def page_of(browser: aiohttp.ClientSession, address: str) -> str:
    while True:
        try:
            async with browser.get(address) as answer:
                return await answer.text()
        except aiohttp.ClientConnectorError:
            await asyncio.sleep(0)


async def drawn(socket_: aiohttp.ClientWebSocketResponse, wanted: str) -> None:
    text = ""
    while wanted not in text:
        message = await socket_.receive()
        assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT), message
        text += message.data.decode(errors="replace") if isinstance(message.data, bytes) else message.data
