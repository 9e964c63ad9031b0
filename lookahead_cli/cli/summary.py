"""How a run ended, in a few lines: the greedy run beside it, steps, seconds and the compression ratio."""

from __future__ import annotations

from collections.abc import Callable

from lookahead_cli.errors import ExitCode
from lookahead_cli.trace.events import Footer, GreedyRun, Header
from lookahead_cli.trace.words import ENDINGS, counted, number


def summary_lines(footer: Footer, token: Callable[[int], str]) -> list[str]:
    """The lines at the end of a run; the last one names the compression ratio.

    Args:
        footer: How the run ended.
        token: The visible text of a token id.
    """
    tokens = len(footer.output_ids)
    run = f"{counted(tokens, 'token')} in {counted(footer.steps, 'step')}"
    if footer.seconds > 0:
        run += f", {footer.seconds:.2f} s ({tokens / footer.seconds:.1f} tokens/s)"
    lines = [f"{run}; {ENDINGS[footer.finish_reason]}"]
    if footer.greedy is not None:
        lines.extend(_greedy_lines(footer, footer.greedy, token))
    ratio = f"S = {footer.compression_ratio:.2f}" if footer.steps else "S: none yet, no step was decoded"
    lines.append(f"compression ratio {ratio} (tokens / steps); greedy decoding has S = 1.00")
    return lines


def exit_code(header: Header | None, footer: Footer | None) -> ExitCode:
    """The exit code of a finished run: ids that differ from greedy in float32 are a failure."""
    if header is None or footer is None:
        return ExitCode.OK
    if footer.greedy is not None and not footer.greedy.ids_equal and header.dtype == "float32":
        return ExitCode.MISMATCH
    return ExitCode.OK


def _greedy_lines(footer: Footer, greedy: GreedyRun, token: Callable[[int], str]) -> list[str]:
    speed = f"greedy beside it: {counted(greedy.steps, 'step')}, {greedy.seconds:.2f} s"
    if footer.seconds > 0:
        ratio = greedy.seconds / footer.seconds
        speed += f"; time ratio {ratio:.2f}x, {'quicker' if ratio > 1 else 'slower'} than greedy"
    if greedy.ids_equal:
        return [speed, "token ids: equal to greedy's, every one"]
    assert greedy.first_difference is not None
    difference = f"token ids: first difference at output token {number(greedy.first_difference)}"
    if greedy.expected is not None:
        difference += f": greedy {token(greedy.expected)}"
        difference += f", here {'the end' if greedy.got is None else token(greedy.got)}"
    if greedy.top_two_gap is not None:
        difference += f"; greedy's top two logits differ by {greedy.top_two_gap:.4g} there"
    return [speed, difference]
