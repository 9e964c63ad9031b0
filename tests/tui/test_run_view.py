"""What a view of a run knows at each step."""

from __future__ import annotations

from lookahead_cli.trace.events import Footer, Progress, StepEvent
from lookahead_cli.tui.run_view import RunView
from tests.tui.runs import header, run_events, settings


def seen(recorded: bool = False) -> RunView:
    view = RunView(recorded=recorded)
    for event in run_events(settings()):
        view.take(event)
    return view


def test_the_newest_step_is_followed_until_one_looks_back():
    view = RunView()
    events = list(run_events(settings()))
    for event in events[:6]:
        view.take(event)
    assert view.shown == view.newest == 4
    view.look_at(1)
    view.take(events[6])
    assert (view.shown, view.newest, view.following) == (1, 5, False)
    view.look_at(99)
    assert view.following
    view.take(events[7])
    assert view.shown == 6


def test_a_recording_is_not_followed():
    view = seen(recorded=True)
    assert view.shown == -1
    view.look_at(0)
    assert view.shown == 0


def test_looking_before_the_first_step_looks_at_the_first():
    view = seen()
    view.look_at(-5)
    assert view.shown == 0
    empty = RunView()
    empty.look_at(0)
    assert empty.step is None
    assert empty.total.compression_ratio == 0.0


def test_running_figures_end_where_the_footer_says():
    view = seen()
    assert view.footer is not None
    assert view.at_end
    total = view.total
    assert total.emitted == len(view.footer.output_ids)
    assert total.steps == view.footer.steps
    assert total.compression_ratio == view.footer.compression_ratio
    assert sum(total.histogram) == total.steps
    assert sum((k + 1) * count for k, count in enumerate(total.histogram)) == total.emitted
    guessed = sum(len(step.accepted) - 1 for step in view.steps)
    assert sum(total.credits.values()) == guessed > 0


def test_the_next_step_with_several_tokens_is_found():
    view = seen()
    view.look_at(0)
    found = view.next_multi()
    assert found is not None
    assert len(view.steps[found].accepted) > 1
    assert all(len(step.accepted) == 1 for step in view.steps[1:found])
    view.look_at(view.newest)
    assert view.next_multi() is None


def test_a_new_header_starts_a_new_run_and_keeps_the_texts():
    view = seen()
    view.take(header(settings()))
    assert view.steps == []
    assert view.footer is None
    assert view.shown == -1
    assert view.tokens


def test_progress_goes_when_the_next_event_comes():
    view = seen()
    view.take(Progress("greedy, to compare", 1, 40))
    assert view.progress is not None
    view.take(Footer((), "", 0, 0.0, 0.0, "cancelled"))
    assert view.progress is None


def test_a_token_without_a_text_is_shown_by_its_id():
    view = RunView()
    token = view.token(12345)
    assert token is not None
    assert token.text == "#12345"
    assert view.token(None) is None


def test_steps_are_taken_in_order():
    view = seen()
    assert [step.index for step in view.steps] == list(range(len(view.steps)))
    assert all(isinstance(event, StepEvent) for event in list(run_events(settings()))[1:-1])


def test_a_text_is_found_from_the_shown_step_on_and_then_from_the_first():
    view = seen()
    output = "".join(view.tokens[token].text for step in view.steps for token in step.token_ids)
    wanted = output[5:12].upper()
    view.look_at(0)
    found = view.find(wanted)
    assert found is not None
    before = sum(len(view.tokens[token].text) for step in view.steps[:found] for token in step.token_ids)
    within = sum(len(view.tokens[token].text) for token in view.steps[found].token_ids)
    assert before <= output.lower().find(wanted.lower(), before) < before + within
    view.look_at(view.newest)
    assert view.find(wanted) is not None
    assert view.find("no such text") is None
