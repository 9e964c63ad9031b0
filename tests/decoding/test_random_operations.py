"""Window, pool and tree against slow, obvious models of each, over random operations."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from lookahead_cli.decoding.pool import NGramPool
from lookahead_cli.decoding.records import Origin
from lookahead_cli.decoding.tree import TokenTree
from lookahead_cli.decoding.window import JacobiWindow
from lookahead_cli.models.masks import ancestors

TOKENS = st.integers(0, 4)
# 250 examples of up to 40 operations each: some 10,000 operations a test on the average of half that length.
MANY = settings(max_examples=500, deadline=None)


@MANY
@given(
    st.integers(2, 4),
    st.integers(0, 3),
    st.lists(
        st.tuples(st.lists(TOKENS, min_size=4, max_size=4), st.sampled_from(["window", "output"])),
        min_size=20,
        max_size=40,
    ),
)
def test_the_pool_is_a_list_of_the_newest_n_grams_of_each_key(ngram_size, guess_set_size, insertions):
    pool = NGramPool(ngram_size, guess_set_size)
    obvious: list[tuple[int, ...]] = []  # oldest first
    for step, (tokens, source) in enumerate(insertions):
        ngram = tuple(tokens[:ngram_size])
        changes = pool.insert(ngram, source, step)
        before = [known for known in obvious if known[0] == ngram[0]]
        if guess_set_size == 0:
            assert changes == []
            continue
        known = ngram in obvious
        if known:
            obvious.remove(ngram)
        obvious.append(ngram)
        evicted = before[0] if not known and len(before) == guess_set_size else None
        if evicted is not None:
            obvious.remove(evicted)
        events = [(change.event, change.tokens) for change in changes]
        expected = [("refresh" if known else "insert", ngram)]
        assert events == expected + ([("evict", evicted)] if evicted is not None else [])
        for key in range(5):
            newest_first = [other[1:] for other in reversed(obvious) if other[0] == key]
            assert [candidate.tokens for candidate in pool.candidates(key)] == newest_first
        assert (len(pool), pool.keys) == (len(obvious), len({other[0] for other in obvious}))


@MANY
@given(
    st.lists(st.tuples(st.integers(0, 30), TOKENS), min_size=20, max_size=40),
    st.booleans(),
    st.integers(2, 9),
)
def test_the_tree_is_a_set_of_paths(additions, merge, limit):
    tree = TokenTree(9, 100, 100 + limit, merge=merge)
    paths = [(9,)]  # the obvious model: each node's path
    for number, (parent, token) in enumerate(additions):
        parent %= len(paths)
        node = tree.add(parent, token, Origin("pool", source="prompt", born=number))
        path = (*paths[parent], token)
        if len(path) > limit:
            assert node is None
        elif merge and path in paths:
            assert node == paths.index(path)
        else:
            assert node == len(paths)
            paths.append(path)
    assert len(tree) == len(paths)
    assert tree.positions() == [100 + len(path) - 1 for path in paths]
    assert sum(len(origins) for origins in tree.origins) == len(tree) + tree.merged
    for node, path in enumerate(paths):
        for token in range(5):
            children = [
                child
                for child, other in enumerate(paths)
                if tree.parents[child] == node and other == (*path, token)
            ]
            assert list(tree.children(node, token)) == children


@MANY
@given(st.lists(st.tuples(st.integers(0, 30), TOKENS), min_size=1, max_size=40))
def test_a_node_sees_exactly_its_ancestors_and_itself(additions):
    tree = TokenTree(9, 0)
    for parent, token in additions:
        tree.add(parent % len(tree), token, Origin("draft"))
    visible = ancestors(tree.parents, "cpu")
    for node in range(len(tree)):
        chain, other = {node}, node
        while tree.parents[other] >= 0:
            other = tree.parents[other]
            chain.add(other)
        assert {seen for seen in range(len(tree)) if visible[node, seen]} == chain


@MANY
@given(
    st.integers(1, 5),
    st.integers(2, 5),
    st.lists(
        st.tuples(TOKENS, st.lists(st.one_of(st.none(), TOKENS), min_size=5, max_size=5)),
        min_size=10,
        max_size=40,
    ),
    st.integers(0, 1000),
)
def test_the_window_is_the_last_outputs(window_size, ngram_size, moves, seed):
    prompt = [7, 8, 9]
    window = JacobiWindow(window_size, ngram_size, prompt, seed)
    draws = random.Random(seed)
    rows = [[draws.choice(prompt) for _ in range(window_size)] for _ in range(ngram_size - 1)]
    rows[0][0] = prompt[-1]
    for root, outputs in moves:
        outputs = outputs[:window_size]
        assert window.rows == rows
        ngrams = window.ngrams(outputs)
        assert ngrams == [
            (column, (*(row[column] for row in rows), outputs[column]))
            for column in range(window_size)
            if outputs[column] is not None
        ]
        window.shift(root, outputs)
        rows = [*rows[1:], [draws.choice(prompt) if token is None else token for token in outputs]]
        rows[0][0] = root
