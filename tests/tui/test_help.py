"""The help: a section a panel with its legend, from `?` and from the command palette."""

from __future__ import annotations

import pytest
from textual.widgets import OptionList

from lookahead_cli.tui.explained import explained_on
from lookahead_cli.tui.help import HelpScreen
from lookahead_cli.tui.keys import EXPLAINED
from lookahead_cli.tui.loading import LoadingPanel
from lookahead_cli.tui.panels.step_panels import MaskPanel, TreePanel
from lookahead_cli.tui.race.panels import LanePanel, ResultPanel
from tests.tui.pilots import at_end, opened, screen_lines, screen_text, wait_until
from tests.tui.runs import ScriptedSource

TALL = (100, 160)


def words(pilot) -> str:
    """What the help says, wherever its lines break."""
    inside = pilot.app.screen.query_one("#help").content_region
    lines = screen_lines(pilot)[inside.y : inside.bottom]
    return " ".join(" ".join(line[inside.x : inside.right] for line in lines).split())


def is_explained(part, said: str) -> bool:
    legend = " ".join(f"{mark} {meaning}" for mark, _, meaning in part.LEGEND)
    return " ".join(f"{part.TITLE} {legend} {part.HELP}".split()) in said


async def helped(pilot) -> str:
    await wait_until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
    await wait_until(pilot, lambda: "esc close" in screen_text(pilot))
    return words(pilot)


@pytest.mark.parametrize("part", [*EXPLAINED, LanePanel, ResultPanel])
def test_every_panel_has_a_legend_and_a_help_text_in_whole_sentences(part):
    assert part.LEGEND
    assert part.HELP.endswith(".")


@pytest.mark.parametrize("size", [(80, 24), (100, 30), (120, 36), (200, 60)])
async def test_every_panel_shows_its_legend_at_every_size_and_no_mark_without_its_meaning(size):
    async with opened(ScriptedSource(), size) as pilot:
        await at_end(pilot)
        for panel in pilot.app.run_screen.panels:
            frame = panel.text.splitlines()[0 if panel.compact else -1]
            meanings = [f"{mark} {meaning}" for mark, _, meaning in panel.LEGEND]
            shown = [words for words in meanings if words in frame]
            assert shown
            assert shown == meanings[: len(shown)]
            assert "…" not in frame


def test_what_is_shown_while_loading_has_a_legend():
    assert LoadingPanel.LEGEND


async def test_the_help_of_a_run_has_a_section_a_panel_with_its_legend():
    async with opened(ScriptedSource(), TALL) as pilot:
        await at_end(pilot)
        await pilot.press("question_mark")
        said = await helped(pilot)
        assert all(is_explained(part, said) for part in EXPLAINED)
        assert "/ Find a text in the output" in said


async def test_mask_and_tree_are_explained_where_they_are_looked_at():
    async with opened(ScriptedSource(), TALL) as pilot:
        await at_end(pilot)
        await pilot.press("m", "question_mark")
        said = await helped(pilot)
        assert is_explained(MaskPanel, said)
        assert is_explained(TreePanel, said)
        assert "The attention mask; again, the run" in said
        await pilot.press("escape")
        await wait_until(pilot, lambda: "row sees column" in screen_text(pilot))


async def test_the_race_is_explained_where_it_is_seen():
    async with opened(ScriptedSource(), TALL) as pilot:
        await at_end(pilot)
        await pilot.press("g")
        await wait_until(pilot, lambda: explained_on(pilot.app.screen) == (LanePanel, ResultPanel))
        await pilot.press("question_mark")
        said = await helped(pilot)
        assert is_explained(LanePanel, said)
        assert is_explained(ResultPanel, said)


@pytest.mark.parametrize("part", EXPLAINED)
async def test_the_palette_opens_the_help_of_one_panel_alone(part):
    async with opened(ScriptedSource(), (120, 40)) as pilot:
        await at_end(pilot)
        title = f"Help: {part.TITLE.capitalize()}"
        await pilot.press("ctrl+p", *title)
        listed = pilot.app.screen.query(OptionList)
        await wait_until(pilot, lambda: bool(listed) and listed.first().option_count == 1)
        await pilot.press("enter")
        said = await helped(pilot)
        assert is_explained(part, said)
        assert "KEYS" not in said
        await pilot.press("escape")
        await wait_until(pilot, lambda: pilot.app.screen is pilot.app.run_screen)
