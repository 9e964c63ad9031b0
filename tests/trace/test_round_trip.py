"""Traces: what is written is read again; what is damaged is named."""

from __future__ import annotations

import json

import pytest

from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError
from lookahead_cli.trace.events import Footer, GreedyRun, Header, StepEvent, TokenText
from lookahead_cli.trace.reader import read_trace
from lookahead_cli.trace.schema import from_line, to_json
from lookahead_cli.trace.writer import TraceWriter, record


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    from lookahead_cli.models.language_model import load_model
    from tests.tiny import save_tiny_model

    folder = tmp_path_factory.mktemp("model")
    save_tiny_model(folder)
    model = load_model(str(folder))
    config = LookaheadConfig(window_size=5, ngram_size=3, guess_set_size=5, max_new_tokens=16)
    return list(model.run(model.encode("def add(a, b):\n    return 漢"), config, greedy=True))


def written(events, path):
    with TraceWriter(path) as writer:
        for event in events:
            writer.write(event)
    return path


def test_everything_written_is_read_again(events, tmp_path):
    assert list(read_trace(written(events, tmp_path / "t.jsonl"))) == events
    assert isinstance(events[-1].greedy, GreedyRun)
    assert events[-1].greedy.ids_equal


def test_bytes_survive(events):
    tokens = {1: TokenText("\ufffd", b"\xe2\x80"), 3: TokenText("<|end|>", special=True)}
    event = StepEvent(events[1].step, tokens)
    assert from_line(json.dumps(to_json(event))) == event


def test_half_a_character_does_no_harm(events):
    event = StepEvent(events[1].step, {2: TokenText("a\ud800")})
    assert from_line(json.dumps(to_json(event))) == StepEvent(event.step, {2: TokenText("a?")})


def test_unknown_fields_are_kept_and_unknown_lines_passed_over(events, tmp_path):
    path = tmp_path / "t.jsonl"
    lines = [{**to_json(event), "mood": "good"} for event in events]
    lines.insert(1, {"type": "weather"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    read = list(read_trace(path))
    assert [event.extra for event in read] == [{"mood": "good"}] * len(events)
    assert to_json(read[1])["mood"] == "good"


def test_a_killed_run_is_read_up_to_its_last_whole_step(events, tmp_path):
    path = written(events[:4], tmp_path / "t.jsonl")
    with path.open("a") as stream:
        stream.write('{"type":"step","index":3,"posi')
    *steps, footer = read_trace(path)
    assert steps == events[:4]
    assert isinstance(footer, Footer)
    assert (footer.finish_reason, footer.steps) == ("cut", 3)
    assert footer.output_ids == tuple(token for event in events[1:4] for token in event.step.token_ids)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: [lines[0], "nonsense", *lines[1:]], "line 2"),
        (lambda lines: lines[1:], "line 1"),
        (lambda lines: [lines[0].replace('"schema":1', '"schema":9'), *lines[1:]], "schema is 9"),
        (lambda lines: [lines[0], *lines[2:]], "line 2"),
        (lambda lines: [], "line 1"),
        (lambda lines: [lines[0], '{"type":"step","index":NaN}'], "line 2 .* it is not JSON"),
        (lambda lines: [lines[0], '"\\ud800"'], "line 2 .* it is not JSON"),
        (lambda lines: [lines[0], "[1]"], "line 2 .* there is no event in it"),
    ],
)
def test_damage_is_named_with_file_and_line(events, tmp_path, damage, said):
    path = written(events, tmp_path / "t.jsonl")
    path.write_text("".join(line + "\n" for line in damage(path.read_text().splitlines())))
    with pytest.raises(InputError, match=said) as caught:
        list(read_trace(path))
    assert "t.jsonl" in caught.value.message


def test_a_full_disk_ends_the_recording_not_the_run(events):
    said = []
    assert list(record(events, "/dev/full", said.append)) == events
    assert len(said) == 1
    assert isinstance(events[0], Header)


@pytest.mark.parametrize(
    ("line", "change"),
    [
        (2, lambda step: step["nodes"][0].update(parent=9999)),
        (2, lambda step: step.update(path=[77])),
        (-1, lambda footer: footer.update(compression_ratio=9.74)),
        (-1, lambda footer: footer["output_ids"].pop()),
    ],
)
def test_a_trace_that_contradicts_itself_is_refused(events, tmp_path, line, change):
    path = written(events, tmp_path / "t.jsonl")
    lines = path.read_text().splitlines()
    body = json.loads(lines[line])
    change(body)
    lines[line] = json.dumps(body)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="is not part of a trace"):
        list(read_trace(path))
