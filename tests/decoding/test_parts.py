"""Tree, window, pool, stopping and settings, each alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.records import Origin
from lookahead_cli.decoding.stopping import Stopping
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.decoding.verify import walk
from lookahead_cli.decoding.window import JacobiWindow
from lookahead_cli.errors import UsageError

POOL = Origin("pool", source="window", born=0)
WINDOW = Origin("window", row=1, column=0)


def test_equal_paths_are_one_node_and_the_pool_is_credited_first():
    tree = TokenTree(1, 10)
    first = tree.add(0, 5, WINDOW)
    assert tree.add(0, 5, POOL) == first
    assert (len(tree), tree.merged) == (2, 1)
    assert tree.credited(first) == (POOL, WINDOW)


def test_no_node_is_fed_at_or_past_the_context_length():
    tree = TokenTree(1, 10, position_limit=12)
    child = tree.add(0, 5, POOL)
    assert tree.positions() == [10, 11]
    assert tree.add(child, 6, POOL) is None
    assert tree.add(None, 7, POOL) is None


def test_the_walk_follows_the_models_choices_and_stops_at_the_first_that_is_no_child():
    tree = TokenTree(1, 0)
    a = tree.add(0, 5, POOL)
    b = tree.add(a, 6, POOL)
    tree.add(0, 7, POOL)
    assert walk(tree, [5, 6, 9, 0].__getitem__) == (0, a, b)
    assert walk(tree, [8, 6, 9, 0].__getitem__) == (0,)


def test_the_window_hangs_row_zero_in_a_chain_and_columns_below_it():
    window = JacobiWindow(3, 4, [11, 12, 13], seed=0)
    window.rows = [[13, 1, 2], [3, 4, 5], [6, 7, 8]]
    tree = TokenTree(13, 100)
    window.grow(tree)
    record = window.record(window.outputs(list(range(20, 29)).__getitem__))
    position = tree.positions()
    for row in range(3):
        for column in range(3):
            assert position[record.nodes[row][column]] == 100 + row + column
    assert window.ngrams(record.new)[1] == (1, (1, 4, 7, record.new[1]))


def test_the_oldest_row_leaves_and_the_outputs_are_the_newest():
    window = JacobiWindow(3, 3, [90], seed=0)
    window.rows = [[0, 1, 2], [3, 4, 5]]
    window.shift(50, [6, None, 8])
    assert window.rows == [[50, 4, 5], [6, 90, 8]]
    assert window.record([1, 2, 3]).refilled == ((1, 1),)


def test_a_new_window_is_random_but_for_the_current_token():
    window = JacobiWindow(2, 3, [90, 91], seed=0)
    assert window.rows[0][0] == 91
    assert window.record([1, 2]).refilled == ((0, 1), (1, 0), (1, 1))


def test_the_pool_keeps_the_newest_of_each_key():
    pool = NGramPool(3, 2)
    pool.insert((1, 2, 3), "window", 0)
    pool.insert((1, 4, 5), "window", 1)
    assert [change.event for change in pool.insert((1, 2, 3), "output", 2)] == ["refresh"]
    changes = pool.insert((1, 6, 7), "window", 3)
    assert [(change.event, change.tokens) for change in changes] == [
        ("insert", (1, 6, 7)),
        ("evict", (1, 4, 5)),
    ]
    newest = pool.candidates(1)
    assert [(ngram.tokens, ngram.source, ngram.born) for ngram in newest] == [
        ((6, 7), "window", 3),
        ((2, 3), "output", 0),
    ]
    assert (len(pool), pool.keys) == (2, 1)


def test_a_guess_set_of_none_keeps_nothing():
    pool = NGramPool(3, 0)
    assert pool.insert_text([1, 2, 3, 4], "prompt") == []
    assert pool.candidates(1) == []


def test_each_end_cuts_at_its_own_token():
    stopping = Stopping(10, frozenset({7, 8}), context_length=100)
    assert stopping.cut([1, 8, 2], 0, 5) == ((1, 8), "eos")
    assert stopping.cut([1, 2, 3], 8, 5) == ((1, 2), "length")
    assert stopping.cut([1, 2, 3], 0, 97) == ((1, 2), "context")
    assert stopping.cut([1, 2, 3], 0, 5) == ((1, 2, 3), None)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"window_size": 0}, "W = 0"),
        ({"ngram_size": 1}, "N = 1"),
        ({"guess_set_size": -1}, "G = -1"),
        ({"max_new_tokens": 0}, "max-new-tokens = 0"),
        ({"method": "magic"}, "'magic'"),
        ({"temperature": -0.7}, "temperature = -0.7"),
        ({"temperature": 1e-40}, "too low to divide logits by"),
        ({"top_p": 0.0}, "top-p = 0"),
        ({"min_p": 1.5}, "min-p = 1.5"),
        ({"sources": ("magic",)}, "source called"),
        ({"sources": ()}, "without any source"),
        ({"stop": ("",)}, "empty stop string"),
        ({"stop": "end"}, "stop = end is no list"),
        ({"stop": None}, "stop = None is no list"),
        ({"stop": ("\ud800",)}, "half a character"),
        ({"repetition_penalty": 1e-40}, "repetition-penalty = 1e-40"),
        ({"top_p": Fraction(3, 2)}, "top-p = 1.5"),
        ({"sources": "recycled"}, "sources = recycled is no list"),
        ({"window_size": 2.5}, "window-size = 2.5 is no whole number"),
        ({"temperature": float("inf")}, "temperature = inf is no finite"),
        ({"top_p": float("nan")}, "top-p = nan is no finite"),
    ],
)
def test_settings_that_cannot_work_are_named(setting, said):
    with pytest.raises(UsageError, match=said):
        LookaheadConfig(**setting)
