"""`python -m tests.kills`: the program is killed at random moments, and what it had said is looked for.

One session goes on from kill to kill, with the command line's own `main` in a process that gets SIGKILL:
mostly some steps into an answer, sometimes while the session is opened, the model loaded or the file closed.
Before and after each kill the file is read as it lies there, without the mending that opening a session does.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookahead_cli.sessions.store import SessionStore
from lookahead_cli.trace.events import Footer
from tests.programs import Program

SESSION = "killed"
MOMENTS = ("before", "during", "after")
TOKENS = 48
_EARLY = 7
"""One kill of so many comes at any moment from the start on."""
_START_SECONDS = 0.8


@dataclass(frozen=True, slots=True)
class Kept:
    """A message as it lies in the file.

    Attributes:
        role: Who said it.
        content: The text; of an unfinished answer, what its steps say.
        ids: An answer's token ids; of an unfinished one, those of its steps.
    """

    role: str
    content: str
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Kill:
    """What a kill found.

    Attributes:
        moment: `before` the first step, `during` the answer, or `after` its end.
        said: Tokens that the program had written to standard output.
        kept: Tokens of that answer in the file.
        turns: Questions in the session afterwards.
    """

    moment: str
    said: int
    kept: int
    turns: int


def messages_in(folder: Path) -> list[Kept]:
    """The session as a kill left it; checks the file's own integrity.

    Raises:
        AssertionError: SQLite finds it damaged.
    """
    store = SessionStore(folder)
    try:
        assert store.database.read("PRAGMA integrity_check") == [("ok",)]
        assert store.database.read("PRAGMA foreign_key_check") == []
        sessions = [info for info in store.sessions() if info.name == SESSION]
        kept = []
        for message in store.messages(sessions[0].id) if sessions else ():
            content, ids = message.content, message.ids
            if message.role == "assistant" and message.finish_reason is None:
                footer = next((each for each in store.trace(message.id) if isinstance(each, Footer)), None)
                if footer is not None:
                    content, ids = content + footer.text, (*ids, *footer.output_ids)
            kept.append(Kept(message.role, content, ids))
        return kept
    finally:
        store.close()


def lasting(messages: Sequence[Kept]) -> list[Kept]:
    """Without a question at the end that no token answers: it returns to the input line."""
    last = len(messages)
    while last and not messages[last - 1].ids:
        last -= 1
    return list(messages[:last])


def check_kill(before: Sequence[Kept], after: Sequence[Kept], question: str, program: Program) -> Kill:
    """Compare what was there, what the program said, and what is there now.

    Raises:
        AssertionError: Something is lost.
    """
    lines = program.lines
    steps = [line for line in lines if line["type"] == "step"]
    said = [token for line in steps for token in line["ids"]]
    stayed = lasting(before)
    new = list(after[len(stayed) :])
    assert list(after[: len(stayed)]) == stayed, "an earlier turn is another one now"
    if said:
        assert [each.role for each in new] == ["user", "assistant"]
        assert new[0].content == question
        assert list(new[1].ids[: len(said)]) == said, "tokens that were said are not in the file"
        assert new[1].content.startswith("".join(line["text"] for line in steps))
    kept = len(new[1].ids) if len(new) > 1 else 0
    moment = "after" if len(lines) > len(steps) else "during" if kept else "before"
    return Kill(moment, len(said), kept, sum(each.role == "user" for each in after))


def kills(
    folder: Path, model: str, environment: dict[str, str], moments: random.Random, steps: int
) -> Iterator[Kill]:
    """Kill the program again and again, in one session that goes on.

    Args:
        folder: Empty, for the data folder and the program's output.
        model: What `--model` says.
        environment: Of the program.
        moments: Chooses when.
        steps: About as many as an answer takes.

    Raises:
        AssertionError: Something is lost.
    """
    data = folder / "data"
    environment = {"LOOKAHEAD_DATA": str(data), "LOOKAHEAD_CONFIG": "/nonexistent", **environment}
    before: list[Kept] = []
    for number in itertools.count(1):
        question = f"Tell me a long story, number {number}."
        arguments = ["chat", "--session", SESSION, "--model", model, "--dtype", "float32", "--jsonl"]
        arguments += ["--max-new-tokens", str(TOKENS), "--prompt", question]
        with Program(arguments, environment, folder / "output.jsonl") as program:
            if number % _EARLY == 0:
                time.sleep(moments.uniform(0, _START_SECONDS))
            else:
                ended = not program.wait_for_lines(moments.randint(1, steps))
                assert not ended or program.exit_code() == 0, program.errors
                time.sleep(moments.uniform(0, 0.005))
            program.kill()
            after = messages_in(data)
            yield check_kill(before, after, question, program)
        before = after


def _run(name: str, count: int, until: float, attempts: Iterator[Kill]) -> int:
    """Make kills until there are enough, or the time is over; returns how many there were."""
    done: list[Kill] = []
    started = time.monotonic()
    while len(done) < count and time.monotonic() < until:
        done.append(next(attempts))
        if len(done) % 20 == 0:
            print(f"{name}: {len(done)} of {count}", file=sys.stderr, flush=True)
    if done:
        moments = ", ".join(f"{sum(each.moment == at for each in done)} {at}" for at in MOMENTS)
        said, ahead = sum(each.said for each in done), [each.kept - each.said for each in done]
        print(f"{name}: {len(done)} kills in {time.monotonic() - started:.0f} s ({moments} the answer),")
        print(f"  {done[-1].turns} turns in one session; integrity ok each time; no earlier turn changed;")
        print(
            f"  {said} tokens had been said, {sum(each.said > each.kept for each in done)} answers lost any;"
        )
        print(
            f"  the file was ahead of the output by {statistics.mean(ahead):.1f} tokens, at most {max(ahead)}"
        )
    if len(done) < count:
        print(f"{name}: stopped by the time, {count - len(done)} kills short", file=sys.stderr)
    return len(done)


def main() -> int:
    """Print the figures; 1 where the time was over before all kills were made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="of a tiny model")
    parser.add_argument("--default-model", type=int, default=5, help="of the default model")
    parser.add_argument("--seconds", type=float, default=900, help="begin no kill after that")
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    arguments = parser.parse_args()
    from tests.tiny import save_tiny_model

    until = time.monotonic() + arguments.seconds
    environment = {"OMP_NUM_THREADS": os.environ.setdefault("OMP_NUM_THREADS", "1")}
    moments = random.Random(arguments.seed)
    wanted = arguments.kills + arguments.default_model
    with tempfile.TemporaryDirectory() as folder:
        tiny, large = Path(folder, "tiny"), Path(folder, "default")
        large.mkdir()
        model = str(save_tiny_model(tiny / "model", max_position_embeddings=1 << 17))
        done = _run("tiny", arguments.kills, until, kills(tiny, model, environment, moments, 24))
        attempts = kills(large, "smollm2-135m", environment, moments, 24)
        done += _run("smollm2-135m", arguments.default_model, until, attempts)
    return int(done < wanted)


if __name__ == "__main__":
    sys.exit(main())
