"""Who sees whom in a step is what the decoder's own mask says, and is told in words."""

from __future__ import annotations

import pytest
import torch

from lookahead_cli.models.masks import ancestors
from lookahead_cli.tui.step_tree import CACHE, StepTree, origin_name
from tests.tui.panels.drawing import decoded
from tests.tui.runs import settings


@pytest.fixture(scope="module")
def steps():
    return decoded(settings(window=5, ngram=4, guesses=5, tokens=60)).steps


def test_it_is_the_mask_that_the_model_was_given(steps):
    for step in steps:
        fed = ancestors([node.parent for node in step.nodes], torch.device("cpu"))
        tree = StepTree(step)
        assert [
            [tree.sees(query, key) for key in range(len(tree))] for query in range(len(tree))
        ] == fed.tolist()
        assert all(tree.sees(query, CACHE) for query in range(len(tree)))


def test_the_reason_fits_the_mask(steps):
    step = max(steps, key=lambda step: len(step.nodes))
    tree = StepTree(step)
    for query in range(len(tree)):
        for key in (CACHE, *range(len(tree))):
            assert tree.why(query, key).startswith("may see" if tree.sees(query, key) else "may not see")
    child = next(index for index, node in enumerate(step.nodes) if node.parent == 0)
    assert "its parent" in tree.why(child, 0)
    assert "stands later" in tree.why(0, child)
    siblings = tree.children[0]
    if len(siblings) > 1:
        assert "same position" in tree.why(siblings[0], siblings[1])


def test_every_node_comes_once_below_its_parent(steps):
    for step in steps:
        order = [node for node, _ in StepTree(step).in_order()]
        assert sorted(order) == list(range(len(step.nodes)))
        assert all(order.index(step.nodes[node].parent) < order.index(node) for node in order if node)


def test_origins_have_names(steps):
    names = {origin_name(origin) for step in steps for node in step.nodes for origin in node.origins}
    assert "current token" in names
    assert any(name.startswith("window r0 +") for name in names)
    assert any(name.startswith("pool, ") for name in names)
