"""Themes: every role readable, every mistake in a file named in a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lookahead_cli.errors import InputError, UsageError
from lookahead_cli.locations import packaged_themes_folder
from lookahead_cli.tui.theme import Theme, available_themes, load_theme, load_theme_or_default

SHIPPED = sorted(path.stem for path in packaged_themes_folder().glob("*.toml"))
ROLES = ("foreground", "muted", "accent", "accepted", "free", "bonus", "rejected", "wanted", "pool_hit")


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LOOKAHEAD_CONFIG", str(tmp_path))
    folder = tmp_path / "themes"
    folder.mkdir()
    return folder


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    lights = sorted((light(one), light(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def dark_file() -> str:
    return (packaged_themes_folder() / "dark.toml").read_text(encoding="utf-8")


def test_a_dark_a_light_and_a_projector_theme_ship():
    assert {"dark", "light", "projector"} <= set(SHIPPED)
    assert {entry.name for entry in available_themes()} == set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_every_role_can_be_read_on_its_ground(name):
    theme = load_theme(name)
    assert theme.name == name
    least = 7.0 if name == "projector" else 4.5
    for ground in (theme.panel, theme.background):
        for colour in (*(theme.colour(role) for role in ROLES), *theme.window):
            assert contrast(colour, ground) >= least, (colour, ground)
    for shade in theme.shades:
        for role in ("foreground", "free"):
            assert contrast(theme.colour(role), shade) >= 4.5, (role, shade)


@pytest.mark.parametrize("name", SHIPPED)
def test_roles_side_by_side_differ(name):
    theme = load_theme(name)
    assert len({theme.colour(role) for role in ROLES}) == len(ROLES)
    assert len(set(theme.shades)) == len(theme.shades)


@pytest.mark.parametrize("name", SHIPPED)
def test_newer_window_rows_stand_out_more(name):
    theme = load_theme(name)
    ratios = [contrast(colour, theme.panel) for colour in theme.window]
    assert ratios == sorted(ratios)
    assert theme.colour("age_0") == theme.window[-1]
    assert theme.colour("age_99") == theme.window[0]


def test_an_unknown_name_offers_the_nearest():
    with pytest.raises(UsageError) as caught:
        load_theme("drak")
    assert "dark" in caught.value.hint


def test_a_theme_of_ones_own_wins_over_one_that_ships(own_folder):
    (own_folder / "dark.toml").write_text(dark_file().replace("#7aa2f7", "#00ff00"), encoding="utf-8")
    (own_folder / "mine.toml").write_text(dark_file().replace('"dark"', '"mine"'), encoding="utf-8")
    assert load_theme("dark").accent == "#00ff00"
    assert load_theme("mine").name == "mine"
    assert [entry.name for entry in available_themes() if entry.own] == ["dark", "mine"]


def test_a_theme_is_loaded_from_a_path(tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(dark_file(), encoding="utf-8")
    assert load_theme(str(path)).name == "dark"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("freee", "free ="), "there is no role 'freee', did you mean 'free'"),
        (("accepted =", "# accepted ="), "it has no 'accepted'"),
        (('"#7aa2f7"', '"blue"'), "at 'accent', 'blue' is no colour such as '#7aa2f7'"),
        (("dark = true", "dark = "), "is not TOML"),
        (("window = [", "window = ['x', "), "at 'window.0', 'x' is no colour"),
    ],
)
def test_a_broken_file_is_named_in_one_sentence_and_the_default_used(own_folder, change, said):
    before, after = change
    text = dark_file()
    text = text + '\nfreee = "#ffffff"\n' if before == "freee" else text.replace(before, after)
    path = own_folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_theme("mine")
    assert str(path) in caught.value.message
    assert said in caught.value.message
    theme, complaint = load_theme_or_default("mine")
    assert theme.name == "dark"
    assert complaint is not None
    assert complaint.startswith(caught.value.message)


def test_a_file_that_is_not_text_is_named(own_folder):
    (own_folder / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not text"):
        load_theme("mine")


def test_a_missing_file_is_named():
    with pytest.raises(InputError, match=r"no theme file '/nowhere/x\.toml'"):
        load_theme("/nowhere/x.toml")


def test_a_broken_theme_that_shadows_the_default_does_no_harm(own_folder):
    (own_folder / "dark.toml").write_text("=", encoding="utf-8")
    theme, complaint = load_theme_or_default(None)
    assert theme.name == "dark"
    assert complaint is not None


def test_an_unknown_role_looks_like_ordinary_text():
    theme = load_theme("dark")
    assert theme.colour("window") == theme.foreground
    assert theme.style("no such role").color == theme.style("foreground").color


def test_themes_need_no_textual():
    code = (
        "import sys, lookahead_cli.tui.theme, lookahead_cli.tui.token_text; print('textual' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_a_theme_cannot_be_changed():
    theme = load_theme("dark")
    with pytest.raises(ValueError, match="frozen"):
        theme.accent = "#000000"
    assert isinstance(theme, Theme)
