"""A chat screen under a pilot, answered by a tiny real model."""

from __future__ import annotations

from contextlib import asynccontextmanager

import pyperclip

from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.cli.attachments import attachment
from lookahead_cli.cli.chat import ChatModel
from lookahead_cli.cli.options import ModelOptions
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.tui.answer_view import AnswerView
from lookahead_cli.tui.chat import ChatApp
from lookahead_cli.tui.chat_column import Rows
from lookahead_cli.tui.theme import load_theme
from tests.tui.pilots import LARGE

# A person's own clipboard is theirs.
pyperclip.set_clipboard("no")


class HeldAfterThreeSteps(ChatModel):
    """Goes on after its third event only when it is let, or stopped."""

    def run(self, prompt_ids, cancel, report):
        for number, event in enumerate(super().run(prompt_ids, cancel, report)):
            yield event
            if number == 3:
                cancel.wait(60)


def loading_when(allowed):
    class Held(ChatModel):
        def load(self, report):
            allowed.wait(60)
            return super().load(report)

    return Held


def backend(folder, kind=ChatModel):
    config = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=12)
    return kind(ModelOptions(model=folder, device="cpu", dtype="float32"), config, PoolRequest())


@asynccontextmanager
async def conversation(
    answers, size=LARGE, system=None, session=None, kept=None, when_full="ask", checks=False
):
    talk = Conversation(answers, session, system, when_full)
    app = ChatApp(talk, load_theme("dark"), attach=attachment, kept=kept, checks=checks)
    async with app.run_test(size=size) as pilot:
        yield pilot, app


async def ask(pilot, question):
    await pilot.press(*question, "enter")


def said(app):
    shown = app.query("#talk > *").results()
    return "\n".join(
        f"{each.query_one('.name').render()} {each.text}\n{each.figures or ''}"
        if isinstance(each, AnswerView)
        else "\n".join("  ".join(pair) for pair in each.pairs)
        if isinstance(each, Rows)
        else str(each.render())
        for each in shown
    )


def messages(app):
    return [(said.role, said.content) for said in app.talk.messages]


def titles(app):
    return str(app.query_one("#title").render())


async def command(pilot, text):
    pilot.app.query_one("PromptInput").put(text)
    await pilot.press("enter")
