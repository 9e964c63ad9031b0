"""The presenter layout and the sentence of a step, from runs of the real loop."""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.style import Style

from lookahead_cli.decoding.records import Step
from lookahead_cli.tui.big_text import enlarge
from lookahead_cli.tui.run_view import RunView
from lookahead_cli.tui.story import story
from lookahead_cli.tui.token_text import visible
from tests.tui.pilots import SMALL, at_end, opened, press, screen_text, wait_until
from tests.tui.runs import ScriptedSource, run_events, settings

TITLES = ("JACOBI WINDOW", "N-GRAM POOL", "ACCEPTED TOKENS", "COMPRESSION")


def seen(**more: object) -> RunView:
    view = RunView()
    for event in run_events(settings(**more)):
        view.take(event)
    return view


def told(view: RunView, step: Step) -> str:
    return "".join(text for text, _ in story(step, lambda token: visible(view.token(token))))


@pytest.mark.parametrize("method", ["greedy", "jacobi", "prompt-lookup", "lookahead"])
def test_every_step_is_told_with_its_root_and_what_it_saved(method):
    view = seen(method=method)
    for step in view.steps:
        said, count = told(view, step), len(step.accepted)
        assert visible(view.token(step.nodes[0].token)) in said
        if count == 1:
            assert "One token in one step, none saved." in said
        else:
            saved = "1 step" if count == 2 else f"{count - 1} steps"
            assert f"{count} tokens in one step: {saved} saved." in said
    assert told(view, view.steps[-1]).endswith("Here the text ends: token limit.")


def test_a_hit_names_its_winner_and_by_how_much_it_won():
    view = seen()
    for step in view.steps:
        if len(step.path) < 2 or len(step.candidates) < 2:
            continue
        best = max(step.candidates, key=lambda one: one.matched)
        if best.matched < len(step.path) - 1:
            continue
        assert f" won: {best.matched} of {len(best.tokens)} tokens right" in told(view, step)
        second = sorted(one.matched for one in step.candidates)[-2]
        lead = "as many" if second == best.matched else f"had {second}" if second else "no other had one"
        assert lead in told(view, step)
        break
    else:
        pytest.fail("no hit")


def test_a_miss_says_what_the_model_wanted_instead():
    view = seen()
    step = next(step for step in view.steps if len(step.candidates) > 1 and len(step.path) == 1)
    one = step.candidates[0]
    wanted, got = visible(view.token(one.wanted)), visible(view.token(one.tokens[0]))
    root = visible(view.token(step.nodes[0].token))
    assert told(view, step) == (
        f"None of {len(step.candidates)} candidates after {root} was right: "
        f"the model wanted {wanted} (0.81), not {got} (0.02). One token in one step, none saved."
    )


def test_a_partial_hit_says_where_it_went_wrong():
    view = seen(method="prompt-lookup", tokens=200)
    partial = [
        (step, one)
        for step in view.steps
        for one in step.candidates
        if 0 < one.matched == len(step.path) - 1 < len(one.tokens)
    ]
    step, one = partial[0]
    wanted, got = visible(view.token(one.wanted)), visible(view.token(one.tokens[one.matched]))
    assert f"; then the model wanted {wanted} (0.81), not {got} (0.02)." in told(view, step)


def test_greedy_guesses_nothing_and_jacobi_one_chain():
    greedy, jacobi = seen(method="greedy"), seen(method="jacobi")
    assert all(" nothing was guessed; the model chose " in told(greedy, step) for step in greedy.steps)
    assert all(told(jacobi, step).startswith("Of 4 guesses after ") for step in jacobi.steps)


def test_an_end_that_cuts_the_walk_claims_no_choice_of_the_model():
    view = seen()
    step = next(step for step in view.steps if len(step.accepted) > 2)
    cut = replace(step, accepted=step.accepted[:-1], finish_reason="eos")
    said = told(view, cut)
    assert "then the model" not in said
    assert said.endswith("Here the text ends: ended by the model.")


@pytest.mark.parametrize("height", [1, 3, 5, 8, 12, 30])
@pytest.mark.parametrize("text", ["1.74×", "fact(n)", "日本", "↵", "a" * 60])
def test_large_text_never_leaves_its_room(text, height):
    lines = enlarge([(text, "free"), (text, "bonus")], 70, height, lambda role: Style())
    assert 1 <= len(lines) <= height
    assert all(line.width <= 70 for line in lines)


@pytest.mark.parametrize("size", [SMALL, (120, 36), (200, 60), (60, 20), (20, 5)])
@pytest.mark.parametrize("method", ["lookahead", "jacobi", "greedy", "prompt-lookup"])
async def test_p_shows_few_large_things_and_again_all_panels(size, method):
    source = ScriptedSource(settings(method=method))
    async with opened(source, size) as pilot:
        await at_end(pilot)
        await press(pilot, "left", "p")
        await wait_until(pilot, lambda: bool(pilot.app.run_screen.presenter.text.strip()))
        presenter, view = pilot.app.run_screen.presenter, pilot.app.view
        assert not any(title in screen_text(pilot) for title in TITLES)
        if size[0] >= 80:
            assert f"STEP {view.shown + 1} ACCEPTS" in presenter.text
            assert "█" in presenter.text or "▀" in presenter.text
        if size == SMALL:
            assert "saved." in presenter.text
            assert f"{view.total.emitted} tokens in {view.total.steps} steps" in presenter.text
        await press(pilot, "p")
        if size[0] >= 80:
            await wait_until(pilot, lambda: all(title in screen_text(pilot) for title in TITLES))


async def test_the_step_is_told_below_the_panels_where_there_is_room():
    async with opened(ScriptedSource(), (120, 36)) as pilot:
        await at_end(pilot)
        assert "THIS STEP" in screen_text(pilot)
        await press(pilot, "1")
        assert "THIS STEP" not in screen_text(pilot)
        await press(pilot, "1")
        await wait_until(pilot, lambda: "THIS STEP" in screen_text(pilot))
        await pilot.resize_terminal(*SMALL)
        await wait_until(pilot, lambda: "THIS STEP" not in screen_text(pilot))
