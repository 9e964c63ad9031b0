"""The race on the screen: measured first, played then, left and come back to."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from lookahead_cli.cli.race import recorded_rivals
from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.trace.events import Header
from lookahead_cli.trace.writer import record
from lookahead_cli.tui.race.screen import RaceScreen
from lookahead_cli.tui.source import TraceSource
from tests.tui.pilots import LARGE, SMALL, at_end, opened, press, screen_lines, screen_text, until, wait_until
from tests.tui.runs import Language, ScriptedSource, run_events, settings

HUGE = (200, 60)
THREE = ("greedy", "jacobi", "prompt-lookup")


def racing(pilot: Pilot) -> RaceScreen | None:
    screen = pilot.app.screen
    return screen if isinstance(screen, RaceScreen) else None


async def raced(pilot: Pilot) -> RaceScreen:
    """Press g, and wait until every lane is measured; the race stands at its end."""
    await wait_until(pilot, lambda: pilot.app.view.header is not None)
    await pilot.press("g")
    await wait_until(pilot, lambda: racing(pilot) is not None and racing(pilot).clock is not None)
    await pilot.press("end")
    await wait_until(pilot, lambda: "over" in screen_lines(pilot)[0])
    await pilot.pause()
    return racing(pilot)


def is_told(lines: list[str], lane) -> bool:
    """True where a lane's figures, computed from its steps alone, are on the screen."""
    steps = lane.view.steps
    tokens = sum(len(step.accepted) for step in steps)
    nodes = sum(len(step.nodes) for step in steps) / len(steps)
    seconds = sum(step.seconds.total for step in steps)
    text = "\n".join(lines)
    told = [f"{len(steps)} steps", f"{nodes:.1f} nodes a step", f"{seconds:.2f} s", f"{tokens} of {tokens}"]
    return all(each in text for each in told)


@pytest.mark.parametrize("size", [SMALL, LARGE, HUGE])
@pytest.mark.parametrize("others", [("greedy",), THREE])
async def test_every_lane_has_its_figures_and_the_ids_are_equal(size, others):
    source = ScriptedSource(settings(window=5, ngram=4, guesses=5), race_with=others)
    async with opened(source, size) as pilot:
        screen = await raced(pilot)
        lines = screen_lines(pilot)
        text = "\n".join(lines)
        names = ["greedy", "jacobi 5", "prompt-lookup 5"][: len(others)]
        names.append("lookahead W 5 N 4 G 5")
        assert [lane.name for lane in screen.race.lanes] == names
        assert all(f"─ {name} " in text for name in names)
        assert all(is_told(lines, lane) for lane in screen.race.lanes)
        ratio = 40 / len(pilot.app.view.steps)
        assert f"✓ {names[-1]}: ids equal to greedy's, every one" in text
        assert f"steps {ratio:.2f}×" in text
        assert "1st ■" in text
        assert "★" in text
        assert source.lanes_ended == list(others)
        assert lines[0].startswith("RACE · made-up · float32 · cpu")
        assert all(f"{key} " in lines[-1] for key in ("space", "←", "→", "c", "+", "-", "?", "esc"))
        assert all(len(line.rstrip()) <= size[0] for line in lines)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_lanes_stand_side_by_side_where_there_is_room(size):
    async with opened(ScriptedSource(race_with=THREE[:2]), size) as pilot:
        screen = await raced(pilot)
        rows = {panel.region.y for panel in screen.panels}
        assert len(rows) == (3 if size == SMALL else 1)
        await pilot.resize_terminal(*HUGE)
        await wait_until(pilot, lambda: len({panel.region.y for panel in screen.panels}) == 1)
        await wait_until(pilot, lambda: "RESULT" in screen_text(pilot))
        await pilot.resize_terminal(*SMALL)
        await wait_until(pilot, lambda: len({panel.region.y for panel in screen.panels}) == 3)


@pytest.mark.parametrize("size", [(40, 12), (20, 5), (3, 2)])
async def test_a_tiny_terminal_is_survived(size):
    async with opened(ScriptedSource(race_with=THREE), size) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        await pilot.press("g")
        await wait_until(pilot, lambda: racing(pilot) is not None and racing(pilot).clock is not None)
        await pilot.resize_terminal(*LARGE)
        await wait_until(pilot, lambda: "─ prompt-lookup" in screen_text(pilot))


@pytest.mark.parametrize("size", [SMALL, LARGE, HUGE])
@pytest.mark.parametrize("others", [("greedy",), THREE])
async def test_p_shows_the_figures_of_each_lane_in_large_letters_and_again_the_texts(size, others):
    async with opened(ScriptedSource(race_with=others), size) as pilot:
        screen = await raced(pilot)
        await pilot.press("p")
        await wait_until(pilot, lambda: all(panel.presenting for panel in screen.panels))
        for panel in screen.panels:
            total = panel.lane.view.totals[-1]
            small = f"S {total.compression_ratio:.2f}"
            # Four lanes one above another have no room for large letters.
            assert (small in panel.text) == (size == SMALL and len(others) > 1)
            assert f"{total.compression_ratio:.2f}×" not in panel.text
            assert f" {total.emitted} of {total.emitted}" in panel.text
        assert "ids equal to greedy's, every one" in screen_text(pilot)
        await pilot.press("p")
        await wait_until(pilot, lambda: is_told(screen_lines(pilot), screen.race.own))


async def test_a_race_from_the_presenter_layout_is_in_large_letters():
    async with opened(ScriptedSource(), LARGE) as pilot:
        await at_end(pilot)
        await press(pilot, "p")
        await raced(pilot)
        assert all(panel.presenting for panel in racing(pilot).panels)


async def test_a_difference_is_said_with_both_tokens():
    source = ScriptedSource(lane_language=Language((0, 1, 2, 3)))
    async with opened(source) as pilot:
        await raced(pilot)
        text = screen_text(pilot)
        assert "ids differ first at output token" in text
        assert "top two logits" in text
        assert "In float32 ids must be equal" in text


async def test_a_race_can_be_held_sought_quickened_and_played_again():
    async with opened(ScriptedSource(settings(tokens=40)), LARGE) as pilot:
        screen = await raced(pilot)
        clock = screen.clock
        await pilot.press("home")
        assert "true speeds 1× · 0.0 of" in screen_lines(pilot)[0]
        assert "at start" in screen_text(pilot)
        await pilot.press("c")
        steps = max(len(lane.view.steps) for lane in screen.race.lanes)
        assert f"one step each 1× · step 0 of {steps} · ‖" in screen_lines(pilot)[0]
        await pilot.press("right", "full_stop", "right")
        assert f"step 3 of {steps}" in screen_lines(pilot)[0]
        assert screen_text(pilot).count("3 steps") == 2
        await pilot.press("left")
        assert f"step 2 of {steps}" in screen_lines(pilot)[0]
        await pilot.press("plus", "plus")
        assert "one step each 4×" in screen_lines(pilot)[0]
        await pilot.press("minus", "minus", "minus")
        assert "one step each 0.5×" in screen_lines(pilot)[0]
        await pilot.press("space")
        assert clock.playing
        await wait_until(pilot, lambda: "step 3 of" in screen_lines(pilot)[0])
        await pilot.press("space")
        assert "‖" in screen_lines(pilot)[0]
        await pilot.press("end", "space")
        assert clock.playing
        assert clock.at(screen._now()) < steps
        await pilot.press("end", "c")
        assert re.search(r"true speeds 0.5× · \d+\.\d s · ■ over", screen_lines(pilot)[0])
        await pilot.press("space")
        await wait_until(pilot, lambda: "over" in screen_lines(pilot)[0])


async def test_while_a_lane_is_measured_it_grows_and_the_screen_says_so():
    source = ScriptedSource(settings(tokens=40), race_with=THREE[:2], held_lanes=("jacobi",))
    async with opened(source, (160, 40)) as pilot:
        await at_end(pilot)
        await pilot.press("g")
        wanted = (
            "measuring jacobi 5: 6 of 40 tokens, alone on the machine; the race starts when all are measured"
        )
        await wait_until(pilot, lambda: re.search("measuring jacobi 5: [5-9] of 40", screen_text(pilot)))
        said = re.sub("[5-9] of 40", "6 of 40", screen_text(pilot))
        assert wanted in said
        assert "✓ ready" in said
        assert "measuring, 3 of 3" in screen_lines(pilot)[0]
        for key in ("space", "left", "right", "home", "end", "c", "plus"):
            await pilot.press(key)
        assert racing(pilot).clock is None
        # Left within a step: greedy is kept, and the lane that was not done is measured anew.
        await pilot.press("escape")
        await wait_until(pilot, lambda: source.lanes_ended == ["greedy", "jacobi"])
        assert pilot.app.screen is pilot.app.run_screen
        assert pilot.app.view.at_end
        source.held_lanes = ()
        screen = await raced(pilot)
        assert source.lanes_begun == ["greedy", "jacobi", "jacobi"]
        assert len(screen.race.lanes[1].view.footer.output_ids) == 40
        await pilot.press("g")
        await raced(pilot)
        assert len(source.lanes_begun) == 3


async def test_a_run_that_is_held_goes_on_for_the_race_and_is_held_again_after_it():
    source = ScriptedSource(settings(tokens=100_000))
    async with opened(source, paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        await pilot.press("right")
        await wait_until(pilot, lambda: len(pilot.app.view.steps) == 1)
        await pilot.press("g")
        await wait_until(pilot, lambda: len(pilot.app.view.steps) > 5)
        await wait_until(pilot, lambda: "measuring lookahead" in screen_text(pilot))
        assert source.lanes_begun == []
        await pilot.press("g")
        await press(pilot)
        assert "paused" in screen_lines(pilot)[0]
        given = source.given
        await press(pilot, "right")
        await wait_until(pilot, lambda: source.given == given + 1)


async def test_new_settings_end_the_race():
    source = ScriptedSource(settings(tokens=40))
    async with opened(source) as pilot:
        await raced(pilot)
        await pilot.press("escape")
        await press(pilot)
        await pilot.press("s")
        await wait_until(pilot, lambda: "NEXT RUN" in screen_text(pilot))
        pilot.app.screen.query_one("#window_size").value = "2"
        await pilot.pause()
        await pilot.press("enter")
        await wait_until(pilot, lambda: pilot.app.view.setting("window_size") == 2 and pilot.app.view.at_end)
        screen = await raced(pilot)
        assert [lane.name for lane in screen.race.lanes] == ["greedy", "lookahead W 2 N 4 G 5"]
        assert all(is_told(screen_lines(pilot), lane) for lane in screen.race.lanes)


async def test_a_lane_that_cannot_be_measured_is_said_and_the_run_is_still_there():
    source = ScriptedSource(lane_failure=InputError("The prompt is too long.", "Shorten it."))
    async with opened(source) as pilot:
        await at_end(pilot)
        await pilot.press("g")
        await wait_until(pilot, lambda: "The prompt is too long. Shorten it." in screen_text(pilot))
        await pilot.press("q")
        await wait_until(pilot, lambda: pilot.app.screen is pilot.app.run_screen)
        assert pilot.app.failure is None


async def test_nobody_to_race_with_is_one_sentence(tmp_path):
    async with opened(TraceSource(recorded(tmp_path / "one.jsonl"))) as pilot:
        await at_end(pilot)
        await pilot.press("g")
        await wait_until(pilot, lambda: bool(pilot.app._notifications))
        said = next(iter(pilot.app._notifications)).message
        assert "--race OTHER" in said
        assert racing(pilot) is None


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("colours", [True, False])
async def test_every_theme_and_no_colours_at_all_show_who_is_first(theme, colours, monkeypatch):
    if not colours:
        monkeypatch.setenv("NO_COLOR", "1")
    async with opened(ScriptedSource(), SMALL, theme=theme) as pilot:
        await raced(pilot)
        text = screen_text(pilot)
        assert "1st ■" in text
        assert "2nd ■" in text


async def test_help_and_the_command_palette_know_the_race():
    async with opened(ScriptedSource(), HUGE) as pilot:
        await at_end(pilot)
        assert "Race" in {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
        screen = await raced(pilot)
        assert all(binding.id and binding.tooltip for binding in screen.BINDINGS)
        names = {command.title for command in pilot.app.get_system_commands(screen)}
        assert {"Play", "Back", "Step", "Start", "End", "Clock", "Faster", "Slower", "Run"} <= names
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: "KEYS" in screen_text(pilot))
        assert "the lanes are measured one after another" in re.sub(r"[\s│]+", " ", screen_text(pilot))
        await pilot.press("escape")
        await wait_until(pilot, lambda: pilot.app.screen is screen)


async def test_leaving_the_program_while_a_lane_is_measured_stops_it():
    source = ScriptedSource(held_lanes=("greedy",))
    async with opened(source) as pilot:
        await at_end(pilot)
        await pilot.press("g")
        await wait_until(pilot, lambda: source.lanes_begun == ["greedy"])
        await pilot.press("ctrl+q")
        await wait_until(pilot, lambda: not pilot.app.is_running)
    await until(lambda: source.lanes_ended == ["greedy"])


# Recordings.


def recorded(path: Path, **changes: object) -> Path:
    """A recorded run; `prompt_ids` and `model` change its header, the rest its settings."""
    head = {name: changes.pop(name) for name in ("prompt_ids", "model") if name in changes}
    events = (
        replace(event, **head) if isinstance(event, Header) else event
        for event in run_events(settings(**changes))
    )
    for _ in record(events, path, lambda error: None):
        pass
    return path


async def test_recordings_of_one_prompt_race(tmp_path):
    run = recorded(tmp_path / "run.jsonl")
    others = [
        str(recorded(tmp_path / "greedy.jsonl", method="greedy")),
        str(recorded(tmp_path / "small.jsonl", window=2)),
    ]
    source = TraceSource.named(str(run), recorded_rivals(str(run), others))
    async with opened(source) as pilot:
        screen = await raced(pilot)
        names = ["greedy", "lookahead W 2 N 4 G 5", "lookahead W 5 N 4 G 5"]
        assert [lane.name for lane in screen.race.lanes] == names
        assert all(is_told(screen_lines(pilot), lane) for lane in screen.race.lanes)
        assert screen_text(pilot).count("ids equal to greedy's, every one") == 2


async def test_without_greedy_the_first_recording_is_compared_with(tmp_path):
    run, other = recorded(tmp_path / "run.jsonl"), recorded(tmp_path / "small.jsonl", window=2)
    async with opened(TraceSource.named(str(run), recorded_rivals(str(run), [str(other)]))) as pilot:
        await raced(pilot)
        assert "lookahead W 5 N 4 G 5: ids equal to lookahead W 2 N 4 G 5's, every one" in screen_text(pilot)


@pytest.mark.parametrize(
    ("changes", "said"),
    [({"prompt_ids": (1, 2)}, "have different prompts"), ({"model": "another"}, "is a run of another")],
)
def test_recordings_of_other_prompts_or_models_are_refused(tmp_path, changes, said):
    run, other = recorded(tmp_path / "run.jsonl"), recorded(tmp_path / "other.jsonl", **changes)
    with pytest.raises(InputError, match=said):
        recorded_rivals(str(run), [str(other)])


def test_a_recording_on_standard_input_cannot_race(tmp_path):
    with pytest.raises(UsageError, match="not standard input"):
        recorded_rivals("-", [str(tmp_path / "other.jsonl")])
