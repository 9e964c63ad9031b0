"""The lines at the end of a run say what was measured and no more."""

from __future__ import annotations

import pytest

from lookahead_cli.cli.summary import exit_code, summary_lines
from lookahead_cli.errors import ExitCode
from lookahead_cli.trace.events import Footer, GreedyRun, Header


def footer(greedy: GreedyRun | None = None) -> Footer:
    return Footer(
        output_ids=tuple(range(10)),
        text="ten tokens",
        steps=4,
        compression_ratio=2.5,
        seconds=2.0,
        finish_reason="length",
        greedy=greedy,
    )


def header(dtype: str) -> Header:
    return Header("m", {"method": "greedy"}, dtype, "cpu", "p", (1,), {})


def lines(greedy: GreedyRun | None = None) -> list[str]:
    return summary_lines(footer(greedy), lambda token: f"'{token}'")


def test_the_last_line_names_the_compression_ratio() -> None:
    assert "compression ratio S = 2.50" in lines()[-1]
    assert "compression ratio S = 2.50" in lines(GreedyRun(10, 1.0, ids_equal=True))[-1]


def test_steps_and_seconds_are_two_numbers() -> None:
    assert "10 tokens in 4 steps, 2.00 s (5.0 tokens/s)" in lines()[0]


def test_a_time_ratio_is_shown_only_where_greedy_was_really_run() -> None:
    assert not any("time ratio" in line for line in lines())
    slower = lines(GreedyRun(steps=10, seconds=1.0, ids_equal=True))
    assert any("time ratio 0.50x, slower than greedy" in line for line in slower)
    assert any("equal to greedy's" in line for line in slower)


def test_the_first_difference_is_named_with_both_tokens_and_the_gap() -> None:
    different = lines(
        GreedyRun(10, 1.0, ids_equal=False, first_difference=3, expected=7, got=8, top_two_gap=0.0312)
    )
    assert any(
        "output token 4: greedy '7', here '8'; greedy's top two logits differ by 0.0312" in line
        for line in different
    )


@pytest.mark.parametrize(
    ("dtype", "equal", "code"),
    [
        ("float32", True, ExitCode.OK),
        ("float32", False, ExitCode.MISMATCH),
        ("bfloat16", False, ExitCode.OK),
    ],
)
def test_a_difference_fails_where_ids_must_be_equal(dtype: str, equal: bool, code: ExitCode) -> None:
    assert exit_code(header(dtype), footer(GreedyRun(10, 1.0, ids_equal=equal))) == code
