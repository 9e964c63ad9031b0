"""`lookahead compare` on a tiny model."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from lookahead_cli.cli import run
from lookahead_cli.cli.measuring.rounds import measure, results_of
from lookahead_cli.cli.measuring.ways import OwnWay
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.decoding.records import Accepted, Choice, Node, Origin, Step
from lookahead_cli.errors import ExitCode
from lookahead_cli.trace.events import Footer, StepEvent
from tests.tiny import save_tiny_model


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return str(save_tiny_model(tmp_path_factory.mktemp("models") / "tiny"))


@pytest.fixture
def prompt(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text("One two three four five.")
    return str(path)


def compared(capsys, prompt, model, *more, code=ExitCode.OK):
    arguments = ["compare", prompt, "--model", model, "--dtype", "float32", "-t", "8", "--json", *more]
    assert run(arguments) == code
    return json.loads(capsys.readouterr().out)["results"]


def test_greedy_and_the_usual_methods_have_equal_ids(capsys, prompt, model):
    results = compared(capsys, prompt, model, "-W", "3", "-N", "3", "-G", "2", "--strict")
    assert [result["name"] for result in results] == [
        "greedy",
        "jacobi 3",
        "prompt-lookup 3",
        "lookahead W 3 N 3 G 2",
    ]
    assert all(result["ids_equal"] == 1 for result in results)
    assert all(result["prompts"][0]["difference"] is None for result in results)


def test_methods_and_settings_are_chosen(capsys, prompt, model):
    more = ("--method", "lookahead", "--method", "lookahead-reference", "-s", "2,3,2", "-s", "3,2,0")
    names = [result["name"] for result in compared(capsys, prompt, model, *more)]
    assert names == [
        "greedy",
        "lookahead W 2 N 3 G 2",
        "lookahead W 3 N 2 G 0",
        "lookahead-reference W 2 N 3 G 2",
        "lookahead-reference W 3 N 2 G 0",
    ]


def test_a_draft_model_and_sampling_have_equal_ids_too(capsys, prompt, model):
    more = (
        "--method",
        "draft",
        "--draft-model",
        model,
        "-W",
        "3",
        "--temperature",
        "1",
        "--top-k",
        "5",
        "--strict",
    )
    greedy, draft = compared(capsys, prompt, model, *more)
    assert draft["ids_equal"] == 1
    # A draft that is the model itself is always right: four tokens a step.
    assert draft["steps"] < greedy["steps"] / 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--method", "magic"], "There is no method called 'magic'"),
        (["--method", "draft"], "needs a draft model"),
        (["-s", "1,2"], "'1,2' is no setting"),
        (["--sources", "stars"], "There is no source called 'stars'"),
        (["--repeats", "0"], "--repeats 0"),
    ],
)
def test_what_cannot_be_compared_is_said(capsys, prompt, arguments, said):
    assert run(["compare", prompt, *arguments]) == ExitCode.USAGE
    assert said in capsys.readouterr().err


class Disagreeing:
    """Greedy says 1 2 3; every other method says 1 9."""

    device = "cpu"

    def run(self, prompt_ids, config, *, draft=None):
        ids = (1, 2, 3) if config.method == "greedy" else (1, 9)
        for index, token in enumerate(ids):
            node = Node(0, -1, index, (Origin("root"),), token, Choice(0.5, 9, 0.4), matched=True)
            yield StepEvent(Step(index, index, index, (node,), (0,), (Accepted(token, None),)), {})
        yield Footer(
            output_ids=ids,
            text="",
            steps=len(ids),
            compression_ratio=1.0,
            seconds=1.0,
            finish_reason="length",
        )


def test_the_first_difference_is_named_with_both_tokens_and_the_gap():
    ways = [OwnWay(Disagreeing(), config) for config in (LookaheadConfig(method="greedy"), LookaheadConfig())]
    _, result = results_of(ways, ["prompt"], list(measure(ways, [(1,)], 3, 1)))
    other = result.measurements[0]
    difference = other.difference
    assert (difference.position, difference.expected, difference.got) == (1, 2, 9)
    assert difference.top_two_gap == pytest.approx(0.2231, abs=1e-4)
    assert not other.ids_equal


def test_a_difference_is_explained_and_strict_fails_on_it(capsys, prompt, monkeypatch):
    model = SimpleNamespace(
        name="made-up",
        dtype="float32",
        device="cpu",
        has_chat_template=False,
        context_length=None,
        remark=None,
        encode=lambda text, **_: (1,),
        token_text=lambda token: SimpleNamespace(text=f"<{token}>"),
        run=Disagreeing().run,
    )
    monkeypatch.setattr("lookahead_cli.cli.live.load_models", lambda *_: (model, None))
    assert run(["compare", prompt, "--method", "jacobi", "--raw", "--strict"]) == ExitCode.MISMATCH
    said = capsys.readouterr().out
    assert "first difference at output token 2: greedy '<2>', here '<9>'" in said
    assert "top two logits are 0.22 apart" in said
    assert "In float32 ids must be equal" in said
    model.dtype = "bfloat16"
    assert run(["compare", prompt, "--method", "jacobi", "--raw", "--strict"]) == ExitCode.OK
    assert "In bfloat16 products of different widths round differently" in capsys.readouterr().out
