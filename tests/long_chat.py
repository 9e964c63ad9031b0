"""A session of many turns, written through the store as the chat writes it, steps and figures included."""

from __future__ import annotations

import itertools
from pathlib import Path

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.language_model import load_model
from lookahead_cli.sessions.records import Figures
from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.events import Footer

LONG_SESSION = "a long talk"
ANSWER = """\
Answer {number} has *some* Markdown in it:

- a point, and `code` in it;
- another point that is long enough to be broken into lines on every terminal that is not very wide indeed.

```python
def answer():
    return {number}
```
"""


def question(turn: int) -> str:
    """What is asked in a turn."""
    return f"Question {turn}: what is there to say about it?"


def write_long_session(folder: Path, turns: int, model: Path) -> None:
    """Write the session.

    Args:
        folder: The data folder.
        turns: Questions, each with an answer.
        model: A checkpoint; one run of it gives every answer its steps.
    """
    config = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=12)
    loaded = load_model(model, dtype="float32")
    events = list(loaded.run(loaded.encode(question(0)), config))
    footer = events[-1]
    assert isinstance(footer, Footer)
    figures = Figures(len(footer.output_ids), footer.steps, footer.seconds, 0.1, 1 << 30)
    store = SessionStore(folder)
    session = store.create(str(model), name=LONG_SESSION)
    for turn in itertools.islice(itertools.count(1), turns):
        session.ask(question(turn))
        answer = session.answer(str(model))
        for event in events:
            answer.write(event)
        answer.finish(ANSWER.format(number=turn), footer.output_ids, "length", figures)
    session.close()
    store.close()
