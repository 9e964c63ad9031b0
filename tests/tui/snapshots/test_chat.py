"""Pictures of a conversation whose answers were recorded; `make snapshots` renews them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from textual.pilot import Pilot

from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.cli.attachments import attachment
from lookahead_cli.cli.chat import ChatModel
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.tui.chat import ChatApp
from lookahead_cli.tui.picker import PickScreen
from tests.tiny import save_tiny_model
from tests.tui.pilots import screen_text, wait_until
from tests.tui.snapshots.picture import Camera
from tests.tui.snapshots.recorded import LiveRun, Rerun, rerun

pytestmark = pytest.mark.xdist_group("chat snapshots")

_PLANETS = "Name three planets in a numbered list, each in one short sentence."
_CODE = "Write a Python function that adds the numbers of a list. Show the code first."
_THEN = 1_780_000_000.0


class RecordedModel(ChatModel):
    """A tiny model reads what is asked; what it answers was recorded from the default one."""

    answers: tuple[Rerun, ...] = ()

    def run(self, prompt_ids, cancel, report):
        answer, *self.answers = self.answers
        return rerun(answer.name, cancel, answer.held_after)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("chat-snapshots") / "SmolLM2-135M-Instruct"
    return save_tiny_model(folder, max_position_embeddings=2048)


@asynccontextmanager
async def talking(camera: Camera, model: Path, *answers: Rerun) -> AsyncIterator[Pilot]:
    """A conversation at one hour, whose times are those of the recordings."""
    fixed = {
        "lookahead_cli.chat.conversation.time": SimpleNamespace(perf_counter=lambda: 1.0),
        "lookahead_cli.chat.answering.time": SimpleNamespace(perf_counter=lambda: 1.4),
        "lookahead_cli.sessions.session.time": SimpleNamespace(time=lambda: _THEN),
        "lookahead_cli.sessions.store.time": SimpleNamespace(time=lambda: _THEN),
        "lookahead_cli.tui.chat_commands.time": SimpleNamespace(
            strftime=time.strftime, localtime=time.gmtime
        ),
        "lookahead_cli.chat.answering._peak_bytes": lambda _: 612_000_000,
    }
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        for name, value in fixed.items():
            stack.enter_context(patch(name, value))
        config = LiveRun(Rerun("adds")).config
        backend = RecordedModel(
            ModelOptions(model=str(model), device="cpu", dtype="float32"), config, PoolRequest()
        )
        backend.answers = answers
        store = SessionStore(folder)
        earlier = store.create("smollm2-135m", name="bread")
        earlier.ask("How long does bread bake?")
        earlier.close()
        session = store.create("smollm2-135m", name="a first talk")
        app = ChatApp(Conversation(backend, session), camera.theme, attach=attachment)
        async with app.run_test(size=camera.size, notifications=True) as pilot:
            await wait_until(pilot, lambda: not app.turns.busy)
            yield pilot
        session.close()


async def ask(pilot: Pilot, question: str) -> None:
    pilot.app.line.put(question)
    await pilot.press("enter")


async def ended(pilot: Pilot, count: int) -> None:
    await wait_until(pilot, lambda: not pilot.app.turns.busy and len(pilot.app.talk.messages) == 2 * count)
    await wait_until(pilot, lambda: "tokens in" in screen_text(pilot))


async def asked_and_answered(camera: Camera, model: Path) -> None:
    async with talking(camera, model, Rerun("planets"), Rerun("adds")) as pilot:
        await camera.take(pilot, "empty")
        await ask(pilot, _PLANETS)
        await ended(pilot, 1)
        await ask(pilot, _CODE)
        await ended(pilot, 2)
        await camera.take(pilot, "answered")
        await pilot.press("f3")
        await camera.take(pilot, "tokens")
        await pilot.press("f3", "f2")
        await camera.take(pilot, "panels-turned")


async def stopped(camera: Camera, model: Path) -> None:
    async with talking(camera, model, Rerun("adds", held_after=24)) as pilot:
        await ask(pilot, _CODE)
        await wait_until(pilot, lambda: len(pilot.app.view.steps) == 24)
        await camera.take(pilot, "streaming")
        await pilot.press("escape")
        await wait_until(pilot, lambda: "; stopped" in screen_text(pilot))
        await camera.take(pilot, "stopped")


async def chosen_from(camera: Camera, model: Path) -> None:
    async with talking(camera, model) as pilot:
        await pilot.press("slash", "s")
        await wait_until(pilot, lambda: "/sessions" in screen_text(pilot))
        await camera.take(pilot, "commands")
        await ask(pilot, "/sessions")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, PickScreen))
        await wait_until(pilot, lambda: len(pilot.app.screen.rows) > 0)
        await camera.take(pilot, "sessions")
        await pilot.press("escape")
        await ask(pilot, "/undo")
        await wait_until(pilot, lambda: "nothing to take back" in screen_text(pilot))
        await camera.take(pilot, "complaint")


@pytest.mark.parametrize("walk", [asked_and_answered, stopped, chosen_from], ids=lambda walk: walk.__name__)
async def test_a_conversation(looks_the_same, model, walk):
    await looks_the_same(lambda camera: walk(camera, model))
