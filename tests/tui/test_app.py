"""The full-screen program under a pilot: keys, past and now, both sizes, and how it ends."""

from __future__ import annotations

import math
import threading

import pytest

from lookahead_cli.errors import InputError
from lookahead_cli.trace.events import GreedyRun, Progress
from lookahead_cli.trace.writer import record
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.step_tree import StepTree
from lookahead_cli.tui.token_text import visible
from tests.tui.pilots import LARGE, SMALL, at_end, drawn, opened, press, screen_lines, screen_text, wait_until
from tests.tui.runs import ScriptedSource, run_events, settings

TITLES = ("JACOBI WINDOW", "N-GRAM POOL", "ACCEPTED TOKENS", "COMPRESSION")


@pytest.mark.parametrize("size", [LARGE, SMALL, (200, 60), (100, 30), (99, 50)])
@pytest.mark.parametrize("window", [1, 5, 15])
async def test_all_four_panels_are_on_the_screen_and_nothing_of_weight_is_cut(size, window):
    source = ScriptedSource(settings(window=window, ngram=5, guesses=7))
    async with opened(source, size) as pilot:
        await at_end(pilot)
        lines = screen_lines(pilot)
        text = "\n".join(lines)
        assert all(title in text for title in TITLES)
        assert f"made-up · float32 · cpu · W {window} N 5 G 7" in lines[0]
        assert lines[0].rstrip().endswith("■ token limit")
        total = pilot.app.view.total
        assert f"40 tokens in {total.steps} steps" in text
        assert all(f"r{row} " in text for row in range(4))
        assert "new " in text
        assert "key " in text
        assert f"hit {total.hits} of {total.steps} steps" in text
        assert "nodes" in text
        assert "forward" in text
        assert all(f"{key} " in lines[-1] for key in ("space", "←", "→", "+", "m", "p", "g", "?", "q"))


@pytest.mark.parametrize("size", [(60, 20), (40, 12), (20, 5), (3, 2)])
async def test_a_tiny_terminal_is_survived(size):
    async with opened(ScriptedSource(), size) as pilot:
        await at_end(pilot)
        await pilot.resize_terminal(*LARGE)
        await drawn(pilot)
        await wait_until(pilot, lambda: all(title in screen_text(pilot) for title in TITLES))


async def test_a_resize_finds_the_panels_their_places():
    async with opened(ScriptedSource(settings(window=15))) as pilot:
        await at_end(pilot)
        screen = pilot.app.run_screen
        assert screen.window_panel.size.width > 100
        await pilot.resize_terminal(*SMALL)
        await wait_until(pilot, lambda: screen.window_panel.compact)
        await pilot.resize_terminal(240, 50)
        await wait_until(pilot, lambda: not screen.window_panel.compact)
        await drawn(pilot)
        assert screen.window_panel.region.y == screen.pool_panel.region.y


async def test_one_key_press_is_one_step_while_it_is_held():
    source = ScriptedSource()
    async with opened(source, paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        await drawn(pilot)
        assert "paused · live" in screen_lines(pilot)[0]
        assert source.given == 0
        for count, key in enumerate(("right", "full_stop", "right"), start=1):
            await pilot.press(key)
            await wait_until(pilot, lambda count=count: len(pilot.app.view.steps) == count)
        assert source.given == 3
        await drawn(pilot)
        assert "step 3 ·" in screen_lines(pilot)[0]


async def test_space_lets_a_held_run_go_on():
    async with opened(ScriptedSource(), paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        await pilot.press("space")
        await at_end(pilot)


async def test_space_holds_a_run_that_goes_on():
    source = ScriptedSource(settings(tokens=4000), recorded=False)
    async with opened(source, speed=32.0) as pilot:
        await wait_until(pilot, lambda: len(pilot.app.view.steps) >= 2)
        await press(pilot, "space")
        assert "paused" in screen_lines(pilot)[0]
        given = source.given
        await press(pilot, "right")
        await wait_until(pilot, lambda: source.given > given)


async def test_looking_back_shows_the_step_as_it_was_and_end_returns():
    async with opened(ScriptedSource()) as pilot:
        await at_end(pilot)
        newest = pilot.app.view.newest
        now = pilot.app.run_screen.accepted_panel.text
        await press(pilot, "left", "left")
        assert pilot.app.view.shown == newest - 2
        assert f"step {newest - 1}/{newest + 1} · ◄ THE PAST · ended" in screen_lines(pilot)[0]
        assert pilot.app.run_screen.accepted_panel.text != now
        await press(pilot, "home")
        assert pilot.app.view.shown == 0
        assert "1 token in 1 step" in screen_text(pilot) or "tokens in 1 step" in screen_text(pilot)
        await press(pilot, "left")
        assert pilot.app.view.shown == 0
        await press(pilot, "right")
        assert pilot.app.view.shown == 1
        await press(pilot, "end")
        assert pilot.app.view.following
        assert pilot.app.run_screen.accepted_panel.text == now
        assert "THE PAST" not in screen_text(pilot)


async def test_a_live_run_goes_on_while_one_looks_back():
    async with opened(ScriptedSource(settings(tokens=4000)), speed=32.0) as pilot:
        await wait_until(pilot, lambda: len(pilot.app.view.steps) >= 3)
        await press(pilot, "home")
        known = len(pilot.app.view.steps)
        assert "THE PAST · running" in screen_lines(pilot)[0]
        await wait_until(pilot, lambda: len(pilot.app.view.steps) > known)
        assert pilot.app.view.shown == 0


async def test_n_goes_to_the_next_step_with_several_tokens():
    async with opened(ScriptedSource()) as pilot:
        await at_end(pilot)
        await press(pilot, "home")
        expected = pilot.app.view.next_multi()
        await press(pilot, "n")
        assert pilot.app.view.shown == expected


async def test_n_runs_a_held_run_on_to_the_next_step_with_several_tokens():
    source = ScriptedSource()
    async with opened(source, paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        await pilot.press("n")
        view = pilot.app.view
        await wait_until(pilot, lambda: bool(view.steps) and len(view.steps[-1].accepted) > 1)
        assert all(len(step.accepted) == 1 for step in view.steps[:-1])
        await drawn(pilot)
        assert "paused" in screen_lines(pilot)[0]
        assert source.given == len(view.steps)


@pytest.mark.parametrize(
    ("speed", "key", "said"),
    [(4.0, "plus", "8 steps/s"), (2.0, "minus", "1 step/s"), (32.0, "plus", "full speed")],
)
async def test_plus_and_minus_change_the_speed(speed, key, said):
    async with opened(ScriptedSource(settings(tokens=100_000)), speed=speed) as pilot:
        await wait_until(pilot, lambda: bool(pilot.app.view.steps))
        await press(pilot, key)
        assert f"► {said} · live" in screen_lines(pilot)[0]


async def test_help_explains_the_panels_and_the_keys_and_q_closes_it_alone():
    async with opened(ScriptedSource(), SMALL) as pilot:
        await at_end(pilot)
        await pilot.press("question_mark")
        await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        await pilot.pause()
        text = screen_text(pilot)
        assert "KEYS" in text
        assert "One step forward" in text
        await pilot.press("pagedown")
        await wait_until(pilot, lambda: "JACOBI WINDOW" in screen_text(pilot))
        await pilot.press("q")
        await wait_until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))
        assert pilot.app.is_running


async def test_a_click_on_the_timeline_goes_to_that_step():
    async with opened(ScriptedSource()) as pilot:
        await at_end(pilot)
        await pilot.click("#timeline", offset=(3, 0))
        await drawn(pilot)
        assert pilot.app.view.shown == 3
        assert len(pilot.app.run_screen.timeline.text.rstrip()) == len(pilot.app.view.steps)


async def test_a_long_run_scrolls_its_timeline():
    async with opened(ScriptedSource(settings(tokens=400), recorded=False), SMALL) as pilot:
        await at_end(pilot)
        assert len(pilot.app.view.steps) > 80
        await pilot.click("#timeline", offset=(79, 0))
        await drawn(pilot)
        assert pilot.app.view.shown == pilot.app.view.newest
        await press(pilot, "home")
        await pilot.click("#timeline", offset=(5, 0))
        await drawn(pilot)
        assert pilot.app.view.shown == 5


async def test_what_is_loaded_is_shown_until_the_first_step():
    source = ScriptedSource(before=[Progress("fetching \x1b[31mmodel", 31e6, 93e6, "bytes")])
    source.go.clear()
    async with opened(source) as pilot:
        await wait_until(pilot, lambda: "loading" in pilot.app.run_screen.loading_panel.text)
        text = screen_text(pilot)
        assert "GETTING READY" in text
        assert "✓ fetching ␛[31mmodel" in text
        assert "made-up · test" in text
        assert "JACOBI WINDOW" not in text
        source.go.set()
        await at_end(pilot)
        assert "GETTING READY" not in screen_text(pilot)


async def test_greedy_beside_it_is_told_at_the_end():
    greedy = GreedyRun(steps=40, seconds=3.0, ids_equal=True)
    async with opened(ScriptedSource(greedy=greedy)) as pilot:
        await at_end(pilot)
        text = screen_text(pilot)
        assert "time 1.50× (measured)" in text
        assert "equal to greedy's, every one" in text


@pytest.mark.parametrize("key", ["q", "ctrl+c", "ctrl+q"])
async def test_leaving_stops_the_run_and_lets_it_end_itself(key):
    source = ScriptedSource(settings(tokens=4000))
    async with opened(source, paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        await pilot.press("right")
        await wait_until(pilot, lambda: len(pilot.app.view.steps) == 1)
        await pilot.press(key)
        await wait_until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.view.footer is not None
        assert pilot.app.view.footer.finish_reason == "cancelled"
        assert source.closed


async def test_leaving_while_loading_stops_the_loading():
    source = ScriptedSource()
    source.go.clear()
    async with opened(source) as pilot:
        await wait_until(pilot, lambda: "loading" in pilot.app.run_screen.loading_panel.text)
        await pilot.press("q")
        await wait_until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.failure is None
        assert pilot.app.view.footer is None


async def test_a_source_that_fails_closes_the_screen_and_keeps_the_error():
    error = InputError("The prompt is empty.", "Write something into it.")
    async with opened(ScriptedSource(failure=error)) as pilot:
        await wait_until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.failure is error


async def test_a_run_that_breaks_off_stays_in_sight_and_says_why():
    error = InputError("Rank 1 of 2 (SIGKILL) has ended.", "What was decoded so far is kept.")
    async with opened(ScriptedSource(late_failure=error)) as pilot:
        await wait_until(pilot, lambda: bool(pilot.app._notifications))
        (notice,) = pilot.app._notifications
        assert notice.message == str(error)
        assert pilot.app.is_running
        assert pilot.app.view.footer is not None
        await pilot.press("q")
        await wait_until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.failure is error


@pytest.mark.parametrize("recorded", [False, True])
async def test_it_leaves_by_itself_at_the_end_when_asked_to(recorded):
    source = ScriptedSource(recorded=recorded)
    async with opened(source, exit_when_done=True) as pilot:
        await wait_until(pilot, lambda: not pilot.app.is_running)
        assert pilot.app.view.footer is not None


async def test_a_recording_is_read_ahead_and_played_from_its_first_step():
    source = ScriptedSource(recorded=True)
    async with opened(source, speed=1.0) as pilot:
        view = pilot.app.view
        await wait_until(pilot, lambda: view.footer is not None)
        await drawn(pilot)
        assert view.shown < view.newest
        assert f"/{len(view.steps)} · ► 1 step/s · recorded" in screen_lines(pilot)[0]
        await press(pilot, "space")
        assert "‖ paused · recorded" in screen_lines(pilot)[0]
        await press(pilot, "end")
        assert "■ token limit · recorded" in screen_lines(pilot)[0]
        await press(pilot, "left")
        assert view.shown == view.newest - 1
        await press(pilot, "end", "space")
        assert view.shown < view.newest
        assert "► 1 step/s · recorded" in screen_lines(pilot)[0]


async def test_a_key_does_not_wait_for_the_next_step_of_a_slow_recording():
    async with opened(ScriptedSource(recorded=True), speed=0.01) as pilot:
        await wait_until(pilot, lambda: "step 1/" in screen_lines(pilot)[0])
        await pilot.press("p")
        await wait_until(pilot, lambda: "STEP 1 ACCEPTS" in screen_text(pilot), seconds=10)


async def test_a_recording_without_a_speed_limit_ends_at_once():
    async with opened(ScriptedSource(recorded=True), speed=math.inf) as pilot:
        await at_end(pilot)


async def test_many_steps_a_second_cost_few_redraws():
    source = ScriptedSource(settings(tokens=3000))
    async with opened(source) as pilot:
        await at_end(pilot)
        assert pilot.app.redraws < source.given / 2


async def test_greedy_decoding_is_shown_without_window_and_pool():
    async with opened(ScriptedSource(settings(method="greedy"))) as pilot:
        await at_end(pilot)
        text = screen_text(pilot)
        assert "greedy decoding has no window" in text
        assert "40 tokens in 40 steps" in text
        assert "made-up · float32 · cpu · greedy" in text


async def test_text_of_a_model_never_steers_the_terminal():
    source = ScriptedSource(title="\x1b]0;evil\x07[red]x")
    source.go = threading.Event()
    async with opened(source) as pilot:
        await wait_until(pilot, lambda: "evil" in screen_text(pilot))
        assert "\x1b" not in screen_text(pilot)
        assert "[red]x" in screen_text(pilot)
        source.go.set()
        await at_end(pilot)


async def test_every_key_says_what_it_does():
    async with opened(ScriptedSource()) as pilot:
        assert all(binding.id and binding.tooltip for binding in pilot.app.BINDINGS)
        await at_end(pilot)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_a_number_gives_a_panel_the_whole_screen_and_again_shows_all(size):
    async with opened(ScriptedSource(settings(window=15, ngram=5, guesses=15)), size) as pilot:
        await at_end(pilot)
        for number, title in enumerate(TITLES, start=1):
            await press(pilot, str(number))
            lines = screen_lines(pilot)
            assert [said for said in TITLES if said in "\n".join(lines)] == [title]
            assert lines[1].startswith("╭─ ")
            assert lines[-3].startswith("╰─")
        await press(pilot, "4")
        assert all(title in "\n".join(screen_lines(pilot)) for title in TITLES)
        await press(pilot, "2", "escape")
        assert all(title in "\n".join(screen_lines(pilot)) for title in TITLES)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_the_mask_says_of_each_cell_why(size):
    async with opened(ScriptedSource(settings(window=5, ngram=4, guesses=5)), size) as pilot:
        await at_end(pilot)
        view = pilot.app.view
        await press(pilot, "left", "m")
        await pilot.pause()
        text = screen_text(pilot)
        assert "ATTENTION MASK" in text
        assert f"step {view.shown + 1} of {len(view.steps)}" in text
        assert "the text before" in text
        tree = StepTree(view.step)
        await pilot.press("down", "right")
        await pilot.pause()
        assert tree.why(1, 0) in screen_text(pilot)
        await pilot.press(*["right"] * 3, "up")
        await pilot.pause()
        assert tree.why(0, 3) in screen_text(pilot)


@pytest.mark.parametrize("size", [SMALL, LARGE])
async def test_the_tree_shows_the_walk_and_what_the_model_wants(size):
    async with opened(ScriptedSource(settings(window=5, ngram=4, guesses=5)), size) as pilot:
        await at_end(pilot)
        view = pilot.app.view
        view.look_at(max(range(len(view.steps)), key=lambda index: len(view.steps[index].path)))
        await press(pilot, "t")
        await pilot.pause()
        text = screen_text(pilot)
        assert "TOKEN TREE" in text
        assert text.count("✓") == len(view.step.path) + 1  # The legend has one too.
        assert f"after it the model wants {visible(view.token(view.step.nodes[0].choice))} (0.81)" in text
        shown = view.shown
        await pilot.press("comma")
        await pilot.pause()
        assert f"step {shown} of" in screen_text(pilot)
        await pilot.press("m")
        await pilot.pause()
        assert "ATTENTION MASK" in screen_text(pilot)
        await pilot.press("escape")
        await drawn(pilot)
        assert view.shown == shown - 1
        assert all(title in screen_text(pilot) for title in TITLES)


async def test_the_mouse_asks_about_the_cell_it_is_on():
    async with opened(ScriptedSource(settings(window=5, ngram=4, guesses=5)), LARGE) as pilot:
        await at_end(pilot)
        await press(pilot, "m")
        await pilot.pause()
        mask = pilot.app.screen.mask_panel
        lines = screen_lines(pilot)
        y = next(y for y, line in enumerate(lines) if line.startswith("│  2 "))
        x = next(x for x, glyph in enumerate(lines[y]) if glyph == "◆")
        await pilot.hover("#mask", offset=(x, y))
        await pilot.pause()
        assert (mask.node, mask.key) == (2, 2)
        assert "may see itself" in screen_text(pilot)


async def test_a_text_is_searched_for_and_a_missing_one_is_said():
    async with opened(ScriptedSource(settings(tokens=80))) as pilot:
        await at_end(pilot)
        view = pilot.app.view
        await pilot.press("slash", *"fact", "enter")
        await wait_until(pilot, lambda: view.shown < view.newest)
        said = [view.tokens[token].text for token in view.step.token_ids]
        assert any("f" in text for text in said)
        shown = view.shown
        await pilot.press("slash", *"zzz", "enter")
        await wait_until(
            pilot, lambda: any("does not say" in note.message for note in pilot.app._notifications)
        )
        assert view.shown == shown


async def test_the_command_palette_has_every_action():
    async with opened(ScriptedSource(settings(tokens=100_000)), paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.header is not None)
        names = {command.title for command in pilot.app.get_system_commands(pilot.app.screen)}
        assert {"Pause", "Step", "Mask", "Tree", "Find", "Help", "Quit", "Faster", "Slower"} <= names
        await pilot.press("ctrl+p", *"pause")
        await wait_until(pilot, lambda: pilot.app.screen.query("OptionList").first().option_count == 1)
        await pilot.press("enter")
        await wait_until(pilot, lambda: bool(pilot.app.view.steps))


async def settle(pilot, name, text):
    field = pilot.app.screen.query_one(f"#{name}")
    field.value = text
    await wait_until(pilot, lambda: field.value == text)
    await pilot.pause()


@pytest.mark.parametrize("size", [SMALL, LARGE])
@pytest.mark.parametrize("tokens", [40, 100_000])
async def test_a_run_is_run_again_with_other_settings_and_their_cost_is_said_before(size, tokens):
    source = ScriptedSource(settings(window=5, ngram=4, guesses=5, tokens=tokens))
    async with opened(source, size) as pilot:
        view = pilot.app.view
        await wait_until(pilot, lambda: len(view.steps) > 3)
        await pilot.press("s")
        await wait_until(pilot, lambda: "NEXT RUN" in screen_text(pilot))
        assert "at most 30 nodes a step, now 30" in screen_text(pilot)
        await settle(pilot, "window_size", "2")
        await settle(pilot, "max_new_tokens", "20")
        assert "at most 21 nodes a step, now 30" in screen_text(pilot)
        await pilot.press("enter")
        await wait_until(pilot, lambda: view.setting("window_size") == 2 and view.at_end)
        await drawn(pilot)
        assert "W 2 N 4 G 5" in screen_text(pilot)
        assert view.total.emitted == 20
        await press(pilot, "left", "end")


async def test_settings_that_cannot_work_are_not_taken():
    async with opened(ScriptedSource()) as pilot:
        await at_end(pilot)
        await pilot.press("s")
        await settle(pilot, "ngram_size", "1")
        assert "N = 1 cannot work" in screen_text(pilot)
        await pilot.press("enter")
        await pilot.pause()
        assert "NEXT RUN" in screen_text(pilot)
        await pilot.press("escape")
        await drawn(pilot)
        assert "NEXT RUN" not in screen_text(pilot)


async def test_a_recording_is_not_run_again(tmp_path):
    path = tmp_path / "trace.jsonl"
    for _ in record(run_events(settings()), path, lambda error: None):
        pass
    async with opened(TraceSource(path)) as pilot:
        await pilot.press("s")
        await wait_until(pilot, lambda: bool(pilot.app._notifications))
        assert "NEXT RUN" not in screen_text(pilot)


async def test_the_output_is_shown_as_it_reads_and_with_its_marks_again():
    async with opened(ScriptedSource()) as pilot:
        await at_end(pilot)
        panel = pilot.app.run_screen.accepted_panel
        marked = panel.text
        assert "␣" in marked
        assert "★" in marked.split("\n", 1)[1].rsplit("\n", 1)[0]
        await press(pilot, "w")
        inside = panel.text.split("\n", 1)[1].rsplit("\n", 1)[0]
        assert not any(mark in inside for mark in "␣★↵⇥")
        assert "n * fact" in inside
        await press(pilot, "w")
        assert panel.text == marked


async def test_what_came_into_the_pool_and_what_made_room_is_listed_where_there_is_room():
    async with opened(ScriptedSource(settings(guesses=1)), (200, 60)) as pilot:
        await at_end(pilot)
        view = pilot.app.view
        index = next(
            step.index for step in view.steps if {"insert", "evict"} <= {c.event for c in step.pool.changes}
        )
        pilot.app.go(index)
        await drawn(pilot)
        text = pilot.app.run_screen.pool_panel.text
        changes = view.steps[index].pool.changes
        marks = [line[2] for line in text.split("\n")]
        assert marks.count("▾") == sum(change.event == "insert" for change in changes)
        assert marks.count("−") == sum(change.event == "evict" for change in changes)
