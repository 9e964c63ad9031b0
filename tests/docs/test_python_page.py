"""The examples of the documentation run, top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "python.md"


@pytest.mark.model
@pytest.mark.xdist_group("model")
def test_every_example_of_the_python_page_runs():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 7
    namespace: dict[str, object] = {}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{PAGE.name}, example {number}", "exec"), namespace)
