"""Sets of prompts: folders, files, JSON lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from lookahead_cli.cli.measuring.prompt_sets import read_prompts, spread
from lookahead_cli.cli.prompts import Prompt, encode
from lookahead_cli.errors import InputError


def test_a_folder_gives_the_first_of_each_kind_by_turns(tmp_path: Path) -> None:
    for name in ("chat-b", "chat-a", "chat-c", "code-a", "sum-a", "sum-b"):
        (tmp_path / f"{name}.txt").write_text("text")
    prompts, remarks = read_prompts([str(tmp_path)], 4)
    assert [prompt.name for prompt in prompts] == ["chat-a.txt", "chat-b.txt", "code-a.txt", "sum-a.txt"]
    assert "has 6 prompts; 4 of them are taken" in remarks[0]
    everything, remarks = read_prompts([str(tmp_path)])
    assert (len(everything), remarks) == (6, [])


def test_a_kind_that_runs_out_leaves_its_turns_to_the_others() -> None:
    prompts = [Prompt(name, "text") for name in ("a-1", "a-2", "a-3", "b-1")]
    assert [prompt.name for prompt in spread(prompts, 3)] == ["a-1", "a-2", "b-1"]


def test_json_lines_hold_prompts_conversations_and_texts(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(
        '{"prompt": "Why?", "name": "why"}\n\n'
        '{"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]}\n'
        '{"text": "def f(", "more": 1}\n'
    )
    why, talk, text = read_prompts([str(file)])[0]
    assert [why.name, talk.name, text.name] == ["why", "set.jsonl:3", "set.jsonl:4"]
    assert [message["role"] for message in talk.messages] == ["system", "user"]
    model = Remembering()
    for prompt in (why, talk, text):
        encode(model, prompt, "auto")
    assert model.seen == [
        [{"role": "user", "content": "Why?"}],
        [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "def f(",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: no JSON"),
        ("[1]", "line 2: no object"),
        ('{"prompt": 3}', "line 2: no prompt in it"),
        ('{"messages": [{"role": "user"}]}', "line 2: no prompt in it"),
    ],
)
def test_a_line_that_is_no_prompt_is_named(tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(f'{{"prompt": "Why?"}}\n{line}\n')
    with pytest.raises(InputError, match=said):
        read_prompts([str(file)])


class Remembering:
    """A tokenizer that keeps what it was given."""

    name = "remembering"
    has_chat_template = True

    def __init__(self) -> None:
        self.seen: list[object] = []

    def encode(self, text, *, special_tokens=True):
        self.seen.append(text)
        return (1,)

    def encode_chat(self, messages):
        self.seen.append(list(messages))
        return (1,)
