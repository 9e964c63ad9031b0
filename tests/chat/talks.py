"""Conversations that a tiny real model answers, read in this thread."""

from __future__ import annotations

import threading

from lookahead_cli.decoding.config import LookaheadConfig


class TinyAnswerer:
    spec = "tiny"

    def __init__(self, model, tokens=8):
        self.model = model
        self.config = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=tokens)

    @property
    def loaded(self):
        return self.model

    def load(self, report):
        return self.model

    def run(self, prompt_ids, cancel, report, config=None):
        return self.model.run(prompt_ids, config or self.config, cancel=cancel)


def heard(events):
    return list(events)


def ask(talk, question, cancel=None):
    return heard(talk.ask(question, cancel or threading.Event(), print))


def contents(session):
    return [message.content for message in session.messages()]
