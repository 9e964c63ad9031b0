"""The clock of a race: which step of which lane is shown when, by both clocks."""

from __future__ import annotations

import pytest

from lookahead_cli.tui.race.clock import SPEEDS, STEPS_A_SECOND, LaneTimes, RaceClock

# Greedy: four steps of a second. Lookahead: two steps of 2.5 s, of three tokens and one.
GREEDY = LaneTimes([1.0, 1.0, 1.0, 1.0], [1, 1, 1, 1])
LOOKAHEAD = LaneTimes([2.5, 2.5], [3, 1])


def clock() -> RaceClock:
    return RaceClock([GREEDY, LOOKAHEAD])


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, [-1, -1]),
        (0.99, [-1, -1]),
        (1.0, [0, -1]),
        (2.5, [1, 0]),
        (4.0, [3, 0]),
        (5.0, [3, 1]),
        (9.0, [3, 1]),
    ],
)
def test_at_true_speeds_a_step_is_shown_when_its_seconds_are_over(seconds, shown):
    race = clock()
    race.play(100.0)
    assert race.shown(100.0 + seconds) == shown


@pytest.mark.parametrize(
    ("ticks", "shown"), [(0, [-1, -1]), (1, [0, 0]), (2, [1, 1]), (3, [2, 1]), (4, [3, 1])]
)
def test_with_one_step_each_every_lane_advances_at_every_tick(ticks, shown):
    race = clock()
    race.switch(0.0)
    race.play(0.0)
    assert race.stepwise
    assert race.shown(ticks / STEPS_A_SECOND) == shown
    assert race.course.finish == 4


def test_a_speed_is_a_factor_and_what_was_played_stays_played():
    race = clock()
    race.play(0.0)
    race.change_speed(1, 1.5)
    assert race.speed == 2.0
    assert race.at(1.5) == 1.5
    assert race.at(2.0) == 2.5
    for _ in SPEEDS:
        race.change_speed(-1, 2.0)
    assert race.speed == SPEEDS[0]
    for _ in SPEEDS:
        race.change_speed(1, 2.0)
    assert race.speed == SPEEDS[-1]


def test_a_race_that_is_held_stands_still_and_one_that_is_over_begins_again():
    race = clock()
    race.play(0.0)
    race.pause(2.0)
    assert race.at(50.0) == 2.0
    race.play(50.0)
    assert race.at(51.0) == 3.0
    assert race.over(60.0)
    race.play(60.0)
    assert race.shown(60.0) == [-1, -1]
    assert race.playing


def test_one_step_further_is_one_step_of_the_lane_that_leads():
    race = clock()
    seen = []
    for _ in range(7):
        seen.append(race.at(0.0))
        race.forward(0.0)
    # At 3 s both have three tokens; greedy is done at 4 s, and lookahead alone goes on.
    assert seen == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 5.0]
    race.back(0.0)
    assert race.at(0.0) == 4.0
    for _ in range(9):
        race.back(0.0)
    assert race.at(0.0) == 0.0


def test_one_step_further_is_one_tick_where_all_advance_together():
    race = clock()
    race.switch(0.0)
    for tick in range(1, 5):
        race.forward(0.0)
        assert race.at(0.0) == tick
    race.back(0.0)
    assert race.at(0.0) == 3
    assert not race.playing


def test_the_other_clock_keeps_the_step_of_the_lane_that_leads():
    race = clock()
    race.seek(2.0)
    race.switch(0.0)
    assert race.shown(0.0) == [1, 1]
    race.switch(0.0)
    assert race.stepwise is False
    assert race.shown(0.0)[0] >= 1
    race.seek(99.0)
    race.switch(0.0)
    assert race.over(0.0)
    assert race.shown(0.0) == [3, 1]


def test_places_follow_the_tokens_and_then_the_finish():
    course = clock().course
    assert course.places(0.0) == [None, None]
    assert course.places(1.0) == [1, None]
    assert course.places(2.5) == [2, 1]
    assert course.places(3.0) == [1, 1]
    assert course.places(4.5) == [1, 2]
    assert course.places(5.0) == [1, 2]


def test_lanes_without_a_step_are_survived():
    race = RaceClock([GREEDY, LaneTimes([], [])])
    assert race.course.places(4.0) == [1, None]
    assert race.shown(0.0) == [-1, -1]
    empty = RaceClock([LaneTimes([], [])])
    empty.forward(0.0)
    empty.back(0.0)
    assert empty.over(0.0)
