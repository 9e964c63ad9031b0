"""Every figure on the screen is the one that its trace gives, worked out by other code."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from textual.pilot import Pilot

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.trace.writer import record
from lookahead_cli.tui.source import TraceSource
from lookahead_cli.tui.tour.traces import trace_file
from tests.tiny import SENTENCES, save_tiny_model
from tests.tui import readings as read
from tests.tui.pilots import LARGE, SMALL, drawn, opened, press, screen_lines, wait_until
from tests.tui.recomputed import RecordedRun, TriedNGram

SIZES = {"window_size": 5, "ngram_size": 4, "guess_set_size": 5}
RUNS: dict[str, dict[str, object]] = {
    "lookahead": SIZES,
    "lookahead, wide": {"window_size": 15, "ngram_size": 5, "guess_set_size": 15},
    "lookahead, no prompt": {**SIZES, "sources": ("window",)},
    "lookahead, strict": {**SIZES, "paper_strict": True},
    "lookahead-reference": {**SIZES, "method": "lookahead-reference"},
    "jacobi": {"method": "jacobi", "window_size": 7},
    "prompt-lookup": {"method": "prompt-lookup", "window_size": 6, "ngram_size": 3},
    "recycled": {"sources": ("recycled",), "node_budget": 12},
    "recycled and prompt": {"sources": ("prompt", "recycled"), "node_budget": 16},
    "all sources": {**SIZES, "sources": ("window", "prompt", "recycled"), "node_budget": 16},
    "draft": {"method": "draft", "window_size": 4},
    "greedy": {"method": "greedy"},
    "sampling": {**SIZES, "temperature": 0.7, "top_p": 0.9, "seed": 3},
}
BESIDE_GREEDY = {"lookahead", "jacobi", "recycled and prompt"}
OF_THE_TOUR = ("lookahead", "jacobi", "greedy", "costly")

# What has to be read somewhere in a run of the method, on the larger screen: a reading that always fails
# would compare nothing.
ALWAYS = {
    "ratio",
    "tokens and steps",
    "greedy's steps",
    "histogram",
    "nodes a step",
    "nodes",
    "seconds",
    "phases",
}
POOLED = {"pool", "hits", "changes", "candidates", "wanted"}
WINDOWED = {"window", "new row"}
MUST_SEE = {
    "lookahead": {*ALWAYS, *POOLED, *WINDOWED, "merged", "free", "collected", "time ratio", "matched"},
    "lookahead, wide": {*ALWAYS, *POOLED, *WINDOWED, "merged"},
    "jacobi": {*ALWAYS, *WINDOWED, "time ratio"},
    "prompt-lookup": {*ALWAYS, "candidates", "hits"},
    "recycled": {*ALWAYS, "candidates", "hits"},
    "greedy": ALWAYS,
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory) -> dict[str, Path]:
    """Recorded runs of a real, tiny model, whose tokens are of every kind."""
    from lookahead_cli import load_model

    folder = tmp_path_factory.mktemp("figures")
    model = load_model(str(save_tiny_model(folder / "model")), dtype="float32")
    draft = load_model(str(save_tiny_model(folder / "draft", spread=0.31)), dtype="float32")
    prompt = model.encode("".join(SENTENCES[:3]))
    paths = {f"tour, {name}": trace_file(name) for name in OF_THE_TOUR}
    for number, (name, settings) in enumerate(RUNS.items()):
        config = LookaheadConfig(max_new_tokens=48, **settings)
        helper = draft if config.method == "draft" else None
        run = model.run(prompt, config, greedy=name in BESIDE_GREEDY, draft=helper)
        paths[name] = folder / f"{number}.jsonl"
        for _ in record(run, paths[name], raise_):
            pass
    return paths


def raise_(error: OSError) -> None:
    raise error


class Comparison:
    """Compares the screen of a run with its trace, step by step, and counts what could be read."""

    def __init__(self, pilot: Pilot, run: RecordedRun) -> None:
        self._pilot = pilot
        self._run = run
        self.seen: Counter[str] = Counter()

    def _same(self, what: str, shown: object, expected: object) -> None:
        if shown is None or shown == {} or shown == []:
            return
        self.seen[what] += 1
        assert shown == expected, f"{what}: {shown} on the screen, {expected} in the trace"

    def _rounded(self, what: str, shown: str | None, value: float) -> None:
        if shown is None:
            return
        self.seen[what] += 1
        assert read.is_rounded(shown, value), f"{what}: {shown} on the screen, {value} in the trace"

    def all_panels(self, shown: int) -> None:
        assert f"step {shown + 1}/{len(self._run.steps)} " in screen_lines(self._pilot)[0]
        self.meter(shown)
        self.pool(shown)
        self.window(shown)
        self.output(shown)

    def _panel(self, name: str) -> list[str]:
        return read.panel_lines(self._pilot, getattr(self._pilot.app.run_screen, f"{name}_panel"))

    def meter(self, shown: int) -> None:
        run, lines = self._run, self._panel("meter")
        text = "\n".join(lines)
        self._rounded("ratio", read.ratio(lines), run.ratio(shown))
        counts = read.numbers(text, r"# tokens? in # steps?")
        self._same("tokens and steps", counts, (str(run.emitted(shown)), str(shown + 1)))
        greedy = read.number_after(text, r"greedy (?:takes )?(?=\d+(?: steps?$| ·|$))")
        self._same("greedy's steps", greedy, str(run.emitted(shown)))
        self._rounded("saved", read.number_after(text, r"(?=\d+ % of them saved)"), run.saved_percent(shown))
        self._same("histogram", read.histogram(text), run.histogram(shown))
        free = read.number_after(text, r"(?m)^free +")
        self._same("free tokens", free, str(run.free_tokens(shown)))
        self._same("free", read.credits(text), run.free(shown))
        self._rounded(
            "nodes a step", read.number_after(text, r"(?=[\d.]+ (?:nodes )?a step)"), run.nodes_a_step(shown)
        )
        self._same("nodes", read.number_after(text, r"· now "), str(run.nodes(shown)))
        merged = read.number_after(text, r"(?:a step|now \d+), (?=\d+ merged)")
        self._same("merged", merged, str(run.merged(shown)))
        assert merged is not None or not run.merged(shown) or "now" not in text
        self._rounded("seconds", read.number_after(text, r"(?:time +|· )(?=[\d.]+ s\b)"), run.seconds(shown))
        for phase, milliseconds in run.phases(shown).items():
            name = "read-out" if phase == "readout" else phase
            self._rounded(
                "phases", read.number_after(text, rf"(?<!a )\b{name} +(?=[\d.]+\b(?! a))"), milliseconds
            )
        self._time_ratio(text, shown)

    def _time_ratio(self, text: str, shown: int) -> None:
        shown_ratio = read.number_after(text, r"time (?=[\d.]+× \(measured\))")
        ratio = self._run.time_ratio() if shown == len(self._run.steps) - 1 else None
        assert ratio is not None or shown_ratio is None, (
            "a time ratio where greedy was not run, or in the past"
        )
        if ratio is not None:
            self._rounded("time ratio", shown_ratio, ratio)
            self._rounded(
                "greedy's seconds",
                read.number_after(text, r"greedy +(?=[\d.]+ s:)"),
                self._run.greedy_seconds(),
            )
            assert "equal to greedy's, every one" in text

    def pool(self, shown: int) -> None:
        run, lines = self._run, self._panel("pool")
        text = "\n".join(lines)
        size = read.numbers(text, r"# n-grams · # keys")
        pool = run.pool(shown)
        self._same("pool", size, None if pool is None else tuple(map(str, pool)))
        self._same("hits", read.numbers(text, r"hit # of # steps"), (str(run.hits(shown)), str(shown + 1)))
        percent = read.numbers(text, r"hit # of # steps \(# %\)")
        self._rounded("hit rate", percent and percent[2], 100 * run.hits(shown) / (shown + 1))
        counts = run.changes(shown)
        changes = read.numbers(text, r"# new, # seen again, # dropped")
        self._same("changes", changes, tuple(str(counts[event]) for event in ("insert", "refresh", "evict")))
        for event, tokens in read.changes(lines):
            self.seen["n-grams changed"] += 1
            assert any(event == one and cut(tokens, whole) for one, whole in run.changed(shown)), (
                event,
                tokens,
            )
        tried = run.candidates(shown)
        number = read.number_after(text, r"(?=\d+ candidates?\b)")
        self._same("candidates", number, str(len(tried)))
        if lines[0].startswith("key "):
            self.seen["key"] += 1
            assert read.is_cut(lines[0].split()[1], run.key(shown))
        self._candidates(read.candidates(lines), tried)

    def _candidates(self, shown: list[read.ReadCandidate], tried: list[TriedNGram]) -> None:
        left = list(tried)
        for one in shown:
            same = next((other for other in left if self._is(one, other)), None)
            assert same is not None, f"{one} on the screen, {left} in the trace"
            left.remove(same)
            self.seen["matched" if "✓" in one.marks else "not matched"] += 1
            self.seen["wanted"] += one.wanted is not None
        if shown:
            best = [other.marks.count("✓") for other in tried]
            assert [one.marks.count("✓") for one in shown] == sorted(best, reverse=True)[: len(shown)]

    @staticmethod
    def _is(one: read.ReadCandidate, other: TriedNGram) -> bool:
        if (one.marks, one.source, one.seen_in_step) != (other.marks, other.source, other.seen_in_step):
            return False
        reasons = ((one.wanted, other.wanted), (one.got, other.got))
        return cut(one.tokens, other.tokens) and all(
            shown is None
            or (known is not None and read.is_cut(shown[0], known[0]) and read.is_rounded(shown[1], known[1]))
            for shown, known in reasons
        )

    def window(self, shown: int) -> None:
        run, lines = self._run, self._panel("window")
        rows, new = read.window(lines)
        expected = run.window(shown)
        assert bool(rows) is (expected is not None)
        if expected is None:
            return
        for row, by_column in rows.items():
            for column, said in by_column.items():
                cell = expected[0][row][column]
                self.seen["window"] += 1
                assert said.startswith("✓") is cell.came_true, (row, column, said)
                assert read.is_cut(said.lstrip("✓○"), cell.token or ""), (row, column, said, cell)
        for column, said in new.items():
            self.seen["new row"] += 1
            assert read.is_cut(said.lstrip("○"), expected[1][column].token or "")
        for column, (is_new, tokens) in read.collected(lines).items():
            self.seen["collected"] += 1
            was_new, whole = run.collected(shown)[column]
            assert (is_new, len(tokens)) == (was_new, len(whole))
            assert cut(tokens, whole)

    def output(self, shown: int) -> None:
        text = "".join(self._panel("accepted"))
        self.seen["output"] += 1
        assert text
        assert self._run.output(shown).endswith(text), (text, self._run.output(shown)[-len(text) :])


def cut(shown: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return len(shown) == len(whole) and all(map(read.is_cut, shown, whole))


async def go_to(pilot: Pilot, index: int) -> None:
    pilot.app.go(index)
    await drawn(pilot)
    await wait_until(pilot, lambda: pilot.app.view.shown == index)


@pytest.mark.parametrize("size", [LARGE, SMALL])
@pytest.mark.parametrize("name", [*RUNS, *(f"tour, {name}" for name in OF_THE_TOUR)])
async def test_every_figure_on_the_screen_is_the_traces_own(traces, tmp_path, name, size):
    run = RecordedRun(traces[name])
    path = tmp_path / "run.jsonl"
    path.write_text(run.source, encoding="utf-8")
    async with opened(TraceSource(path), size, paused=True) as pilot:
        await wait_until(pilot, lambda: pilot.app.view.footer is not None)
        comparison = Comparison(pilot, run)
        for index in run.corners():
            await go_to(pilot, index)
            comparison.all_panels(index)
        # A panel alone has room for what did not fit beside the others.
        await go_to(pilot, len(run.steps) // 2)
        for key, panel in enumerate(("window", "pool", "output", "meter"), start=1):
            await press(pilot, str(key))
            getattr(comparison, panel)(len(run.steps) // 2)
            await press(pilot, "escape")
    missing = MUST_SEE.get(name, ALWAYS) - comparison.seen.keys()
    assert not missing, f"never read: {missing}; read: {comparison.seen}"
