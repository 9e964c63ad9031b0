"""How many tokens and rounds fit the time."""

from __future__ import annotations

from lookahead_cli.cli.measuring.plan import Cost, plan


def test_as_many_rounds_as_fit_at_most_five() -> None:
    cost = Cost(fixed=10.0, per_token=1.0)
    assert plan(cost, None, None, 900.0).rounds == 5
    chosen = plan(cost, None, None, 400.0)
    assert (chosen.max_new_tokens, chosen.rounds, chosen.seconds) == (128, 2, 276.0)


def test_fewer_tokens_where_one_round_would_not_fit() -> None:
    chosen = plan(Cost(fixed=10.0, per_token=10.0), None, None, 900.0)
    assert (chosen.max_new_tokens, chosen.rounds) == (88, 1)
    assert chosen.seconds <= 900.0


def test_what_was_asked_for_is_taken() -> None:
    cost = Cost(fixed=10.0, per_token=10.0)
    assert plan(cost, 500, 3, 60.0).max_new_tokens == 500
    assert plan(cost, 500, 3, 60.0).rounds == 3
    assert plan(cost, None, 2, 900.0).max_new_tokens == 40
    assert plan(cost, 500, None, 60.0).rounds == 1
