"""How many tokens and rounds fit the time."""

from __future__ import annotations

from lookahead_cli.cli.measuring.plan import Cost, Plan, plan, time_left, why_it_ends, words


def test_all_that_is_wanted_where_it_fits() -> None:
    assert plan(Cost(10.0, 1.0), None, None, 900.0) == Plan(128, 5, 138.0, 900.0)


def test_fewer_tokens_where_one_round_would_not_fit() -> None:
    chosen = plan(Cost(10.0, 10.0), None, None, 900.0)
    assert chosen == Plan(88, 5, 890.0, 900.0)


def test_what_was_asked_for_is_taken() -> None:
    cost = Cost(10.0, 10.0)
    assert plan(cost, 500, 3, 60.0) == Plan(500, 3, 5010.0)
    assert plan(cost, None, 2, 900.0).max_new_tokens == 40
    assert plan(cost, 500, None, 60.0).limit == 60.0


def test_what_was_chosen_is_said() -> None:
    said = words(Plan(128, 5, 138.0, 900.0), 12, 4)
    assert "12 prompts, 4 ways, at most 128 tokens, up to 5 rounds, as many as fit 15 minutes" in said
    assert "a round takes about 2 minutes" in said
    assert "40 tokens, 1 round; a round takes about 30 seconds" in words(Plan(40, 1, 30.0), 1, 2)


def test_what_is_left_is_never_more_than_the_time() -> None:
    chosen = Plan(128, 5, 138.0, 600.0)
    assert time_left(chosen, 0.0, 0, 60) == ", about 10 minutes left"
    assert time_left(chosen, 30.0, 30, 60) == ", about 30 seconds left"
    assert time_left(chosen, 590.0, 30, 60) == ", about 10 seconds left"
    assert time_left(Plan(128, 5), 0.0, 0, 60) == ""


def test_no_round_begins_that_would_not_end_in_time() -> None:
    chosen = Plan(128, 5, 138.0, 900.0)
    assert why_it_ends(chosen, 440.0, 1, 0, 12) is None
    assert "Round 2 would not end in time" in (why_it_ends(chosen, 460.0, 1, 0, 12) or "")
    assert "Round 3 would not end in time" in (why_it_ends(chosen, 640.0, 2, 0, 12) or "")


def test_a_machine_that_slows_down_ends_it_with_what_is_measured() -> None:
    chosen = Plan(128, 5, 138.0, 900.0)
    assert why_it_ends(chosen, 1000.0, 0, 9, 12) is None
    assert "up after 9 prompts of 12" in (why_it_ends(chosen, 1040.0, 0, 9, 12) or "")
    assert "Round 2 takes longer" in (why_it_ends(chosen, 1040.0, 1, 9, 12) or "")
    # There is nothing to show before the first prompt, and a number of rounds that was asked for is run.
    assert why_it_ends(chosen, 9000.0, 0, 0, 12) is None
    assert why_it_ends(Plan(128, 5, 138.0), 9000.0, 1, 0, 12) is None
