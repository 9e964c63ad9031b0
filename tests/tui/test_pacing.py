"""Pacing: steps come when they may, and never when they may not."""

from __future__ import annotations

import math
import threading

import pytest

from lookahead_cli.tui.pacing import SPEEDS, Pacer, Player, next_speed


class Worker:
    """A thread that takes steps as the pacer lets it."""

    def __init__(self, pacer: Pacer, emitted: int = 1) -> None:
        self.pacer = pacer
        self.steps = 0
        self.emitted = emitted
        self.stop = False
        self._condition = threading.Condition()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self.stop:
            self.pacer.wait(self.emitted)
            with self._condition:
                self.steps += 1
                self._condition.notify_all()

    def reached(self, steps: int) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: self.steps >= steps, timeout=10)

    def end(self) -> None:
        self.stop = True
        self.pacer.release()
        self._thread.join(timeout=10)
        assert not self._thread.is_alive()


def test_a_paused_run_takes_one_step_a_key_press():
    worker = Worker(Pacer(paused=True))
    for count in range(1, 4):
        assert worker.steps == count - 1
        worker.pacer.step()
        assert worker.reached(count)
    worker.end()


def test_a_run_goes_on_after_play_and_holds_after_pause():
    pacer = Pacer(paused=True)
    worker = Worker(pacer)
    pacer.play()
    assert worker.reached(50)
    pacer.pause()
    assert pacer.paused
    worker.end()


def test_a_hurried_run_is_neither_held_nor_slow_and_is_held_again_after_it():
    pacer = Pacer(paused=True, speed=0.5)
    worker = Worker(pacer)
    pacer.hurry(True)
    assert worker.reached(50)
    assert pacer.paused
    pacer.hurry(False)
    steps = worker.steps
    assert worker.steps <= steps + 1
    worker.end()


def test_a_release_ends_every_wait():
    worker = Worker(Pacer(paused=True))
    worker.end()
    assert worker.steps >= 1


def test_seeking_holds_at_a_step_with_several_tokens():
    pacer = Pacer(paused=True)
    pacer.seek_multi()
    assert not pacer.paused
    pacer.wait(1)
    assert not pacer.paused
    pacer.step()
    pacer.wait(3)
    assert pacer.paused


def test_the_next_step_waits_for_its_time():
    now = [0.0]
    pacer = Pacer(paused=False, speed=4.0, clock=lambda: now[0])
    pacer.wait()
    now[0] = 0.25
    pacer.wait()
    now[0] = 0.75
    pacer.wait()
    assert pacer.speed == 4.0


@pytest.mark.parametrize(
    ("speed", "by", "expected"),
    [
        (1.0, 1, 2.0),
        (32.0, 1, math.inf),
        (math.inf, 1, math.inf),
        (math.inf, -1, 32.0),
        (0.5, -1, 0.5),
        (5.0, -1, 4.0),
        (5.0, 1, 8.0),
    ],
)
def test_speeds_go_up_and_down_and_stop_at_the_ends(speed, by, expected):
    assert next_speed(speed, by) == expected
    assert tuple(sorted(SPEEDS)) == SPEEDS


def test_a_recording_is_played_at_its_speed():
    player = Player(paused=False, speed=4.0)
    assert player.due(0, 100, now=10.0) == 0
    assert player.due(0, 100, now=10.3) == 1
    assert player.due(1, 100, now=11.0) == 4


def test_a_recording_waits_at_the_last_step_that_was_read():
    player = Player(paused=False, speed=10.0)
    player.due(0, 2, now=0.0)
    assert player.due(0, 2, now=5.0) == 2
    assert player.due(2, 50, now=5.15) == 3


def test_a_held_recording_stays_where_it_is_and_goes_on_from_there():
    player = Player(paused=False, speed=1.0)
    player.due(0, 9, now=0.0)
    player.paused = True
    assert player.due(5, 9, now=100.0) == 5
    player.paused = False
    assert player.due(5, 9, now=101.0) == 5
    assert player.due(5, 9, now=102.0) == 6


def test_a_recording_without_a_limit_goes_straight_to_the_end():
    assert Player(paused=False, speed=math.inf).due(0, 77, now=0.0) == 77
