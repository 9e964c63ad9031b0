"""Sets of prompts: files, folders of them, and JSON lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from lookahead_cli.cli.prompts import Prompt, read_prompt
from lookahead_cli.errors import InputError, UsageError

_JSON_LINES = ".jsonl"
_KIND = re.compile(r"[^-_.\d]*")
_AN_OBJECT = 'Write one object a line: {"prompt": …}, {"messages": […]} or {"text": …}.'


def read_prompts(names: Sequence[str] | None, most: int = 0) -> tuple[list[Prompt], list[str]]:
    """Read prompts.

    Args:
        names: Files, folders, and files of JSON lines; without any, ./examples.
        most: Most prompts of each folder and of each file of JSON lines, spread over their kinds, a kind
            being the first word of a name; 0 takes all.

    Returns:
        The prompts, sorted by name within a folder; and a sentence on each set that was not taken whole.

    Raises:
        InputError: One cannot be used, or a folder is empty.
        UsageError: Nothing was named and there is no ./examples.
    """
    if not names:
        if not Path("examples").is_dir():
            raise UsageError("There is no ./examples folder here.", "Name prompt files, or a folder of them.")
        names = ["examples"]
    prompts: list[Prompt] = []
    remarks: list[str] = []
    for name in names:
        inside = _read_set(name)
        if inside is None:
            prompts.append(read_prompt(name))
            continue
        chosen = spread(inside, most)
        if len(chosen) < len(inside):
            remarks.append(
                f"'{name}' has {len(inside)} prompts; {len(chosen)} of them are taken, the first of each "
                "kind by name (--most-prompts 0 takes all)."
            )
        prompts += chosen
    return prompts, remarks


def spread(prompts: Sequence[Prompt], most: int) -> list[Prompt]:
    """At most so many of them, the first of each kind by turns, in their order; 0 takes all."""
    if not most or len(prompts) <= most:
        return list(prompts)
    kinds: dict[str, list[int]] = {}
    for index, prompt in enumerate(prompts):
        found = _KIND.match(prompt.name)
        kinds.setdefault(found[0] if found else "", []).append(index)
    by_turns = [index for turn in zip_longest(*kinds.values()) for index in turn if index is not None]
    return [prompts[index] for index in sorted(by_turns[:most])]


def _read_set(name: str) -> list[Prompt] | None:
    """The prompts of a folder or of JSON lines, None for a file that is one prompt."""
    path = Path(name)
    if path.is_dir():
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if not files:
            raise InputError(f"The folder '{name}' holds no files.", "Name a folder of prompts.")
        prompts: list[Prompt] = []
        for file in files:
            prompts += _read_lines(file) if _is_json_lines(file) else [read_prompt(str(file))]
        return prompts
    return _read_lines(path) if _is_json_lines(path) else None


def _is_json_lines(path: Path) -> bool:
    return path.suffix.lower() == _JSON_LINES


def _read_lines(path: Path) -> list[Prompt]:
    text = read_prompt(str(path)).text
    lines = enumerate(text.splitlines(), start=1)
    return [_prompt_of(line, path, number) for number, line in lines if line.strip()]


def _prompt_of(line: str, path: Path, number: int) -> Prompt:
    from json import JSONDecodeError, loads

    place = f"'{path}', line {number}"
    try:
        content = loads(line)
    except JSONDecodeError as error:
        raise InputError(f"{place}: no JSON ({error.msg}).", _AN_OBJECT) from None
    if not isinstance(content, dict):
        raise InputError(f"{place}: no object.", _AN_OBJECT)
    name = str(content.get("name") or f"{path.name}:{number}")
    for key in ("prompt", "text"):
        value = content.get(key)
        if isinstance(value, str) and value.strip():
            # A prompt is a person's message; a text is gone on with as it is.
            return Prompt(name, value, is_source_code=key == "text")
    messages = content.get("messages")
    if isinstance(messages, list) and messages and all(_is_message(each) for each in messages):
        turns = tuple({"role": each["role"], "content": each["content"]} for each in messages)
        return Prompt(name, turns[-1]["content"], messages=turns)
    raise InputError(f"{place}: no prompt in it.", _AN_OBJECT)


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("role", "content"))
