"""An answer is read off a real terminal as Markdown: its list as a list, its code in colours."""

from __future__ import annotations

import pytest

from tests.long_chat import LONG_SESSION, write_long_session
from tests.programs import ProgramTerminal
from tests.tiny import save_tiny_model

pytestmark = pytest.mark.xdist_group("programs")


def test_an_answer_is_markdown_with_its_code_in_colours(tmp_path):
    model = save_tiny_model(tmp_path / "model")
    write_long_session(tmp_path / "data", 1, model)
    environment = {"LOOKAHEAD_DATA": str(tmp_path / "data"), "LOOKAHEAD_CONFIG": "/nonexistent"}
    arguments = ["chat", "--session", LONG_SESSION, "--model", str(model)]
    with ProgramTerminal(arguments, environment) as terminal:
        screen = terminal.read_until(lambda screen: "return 1" in screen and "12 tokens in" in screen)
        assert "• a point, and code in it;" in screen
        assert "some Markdown" in screen
        assert "```" not in screen
        row = next(row for row in terminal.cells if "return 1" in "".join(cell.data for cell in row))
        code = "".join(cell.data for cell in row).index("return 1")
        keyword, number = row[code], row[code + len("return ")]
        assert keyword.fg != number.fg
