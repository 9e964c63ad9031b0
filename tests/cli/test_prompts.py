"""Prompts are read unchanged and laid out as asked for."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lookahead_cli.cli.prompts import Prompt, encode, read_prompt
from lookahead_cli.errors import UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass
class LetterEncoder:
    """Encodes text as its code points; a conversation starts with -1."""

    has_chat_template: bool = True
    name: str = "letters"

    def encode(self, text: str, *, special_tokens: bool = True) -> tuple[int, ...]:
        assert special_tokens
        return tuple(map(ord, text))

    def encode_chat(self, messages: Sequence[Mapping[str, str]]) -> tuple[int, ...]:
        assert [message["role"] for message in messages] == ["user"]
        return (-1, *map(ord, messages[0]["content"]))


def test_a_file_is_read_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "prompt.txt"
    path.write_bytes("  été\r\n\tx\n".encode())
    assert read_prompt(str(path)) == Prompt("prompt.txt", "  été\r\n\tx\n", is_source_code=False)


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "prompt.md"
    path.write_bytes(b"\xef\xbb\xbfabc")
    assert read_prompt(str(path)).text == "abc"


@pytest.mark.parametrize(
    ("name", "is_source"), [("a.py", True), ("a.C", True), ("a.txt", False), ("a", False)]
)
def test_source_code_is_told_by_its_name(tmp_path: Path, name: str, is_source: bool) -> None:
    path = tmp_path / name
    path.write_text("x = 1\n", encoding="utf-8")
    assert read_prompt(str(path)).is_source_code is is_source


def test_a_dash_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("größer".encode())))
    assert read_prompt("-") == Prompt("-", "größer")


def test_text_is_a_chat_message_and_source_code_is_continued() -> None:
    text, code = Prompt("a.txt", "hi\n"), Prompt("a.py", "hi\n", is_source_code=True)
    assert encode(LetterEncoder(), text, "auto") == (-1, *map(ord, "hi"))
    assert encode(LetterEncoder(), code, "auto") == tuple(map(ord, "hi"))


def test_raw_feeds_the_text_as_it_is() -> None:
    assert encode(LetterEncoder(), Prompt("a.txt", "hi\n"), "raw") == tuple(map(ord, "hi\n"))


def test_a_model_without_a_template_gets_the_text_and_refuses_chat() -> None:
    model = LetterEncoder(has_chat_template=False)
    assert encode(model, Prompt("a.txt", "hi\n"), "auto") == tuple(map(ord, "hi"))
    with pytest.raises(UsageError, match="letters has no chat template"):
        encode(model, Prompt("a.txt", "hi\n"), "chat")


def test_the_examples_are_of_four_kinds_and_can_all_be_read() -> None:
    prompts = [read_prompt(str(path)) for path in sorted(EXAMPLES.iterdir())]
    kinds = [prompt.name.split("-")[0] for prompt in prompts]
    assert set(kinds) == {"arithmetic", "chat", "code", "summary"}
    assert len(prompts) >= 12
    assert all(kinds.count(kind) >= 3 for kind in kinds)
    assert all(prompt.is_source_code == prompt.name.startswith("code-") for prompt in prompts)
