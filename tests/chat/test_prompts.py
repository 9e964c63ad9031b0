"""A conversation goes on from the ids that were fed and generated, and feeds only what is new."""

from __future__ import annotations

import pytest

from lookahead_cli.chat.prompts import Fed, prompt_ids_of
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.models.language_model import load_model
from lookahead_cli.trace.events import Footer
from tests.tiny import save_tiny_model

CONFIG = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=8)
QUESTIONS = ("What is the capital of France?", "And of Italy?", "Name a river.", "Another one, please.")


def user(text):
    return {"role": "user", "content": text}


def turn(model, messages, question, before, config):
    """The conversation with one more turn, what was fed for it, and how many tokens of it were prefilled."""
    asked = (*messages, user(question))
    ids = prompt_ids_of(model, asked, before)
    fed = model.runner.fed_tokens
    events = model.run(ids, config)
    next(events)
    prefilled = model.runner.fed_tokens - fed
    *_, footer = events
    assert isinstance(footer, Footer)
    answered = (*asked, {"role": "assistant", "content": footer.text})
    return answered, Fed(asked, ids, footer.output_ids, footer.text), prefilled


@pytest.mark.parametrize("tokens", [6, 40])
def test_only_what_is_new_is_fed_and_the_ids_are_those_of_a_fresh_run(default_model, tokens):
    model = default_model
    config = LookaheadConfig(window_size=5, ngram_size=3, guess_set_size=5, max_new_tokens=tokens)
    messages, before, _ = turn(model, (), QUESTIONS[0], None, config)
    for question in QUESTIONS[1:]:
        held = len(before.prompt_ids) + len(before.output_ids)
        messages, before, prefilled = turn(model, messages, question, before, config)
        # The last token of an answer was never fed, and the last one of a prompt is the first step's root.
        assert prefilled == len(before.prompt_ids) - held
        assert before.prompt_ids[:held] != before.prompt_ids
    fresh = load_model("smollm2-135m", dtype="float32")
    *_, footer = fresh.run(before.prompt_ids, config)
    assert footer.output_ids == before.output_ids


def test_the_template_itself_gives_the_same_ids_where_encoding_an_answer_again_does(default_model):
    model = default_model
    messages, before, _ = turn(model, (), QUESTIONS[0], None, CONFIG)
    again = (*messages, user(QUESTIONS[1]))
    assert model.text(prompt_ids_of(model, again, before)) == model.text(prompt_ids_of(model, again))


def test_another_conversation_takes_nothing_over(default_model):
    model = default_model
    messages, before, _ = turn(model, (), QUESTIONS[0], None, CONFIG)
    for other in (
        (user("Something else?"), messages[1], user("Why?")),
        (messages[0], {"role": "assistant", "content": "Edited."}, user("Why?")),
        (messages[0],),
    ):
        assert prompt_ids_of(model, other, before) == prompt_ids_of(model, other)


def test_an_answer_that_was_cut_at_a_stop_string_is_encoded_again(default_model):
    model = default_model
    config = LookaheadConfig(max_new_tokens=20, stop=("cap",))
    messages, before, _ = turn(model, (), QUESTIONS[0], None, config)
    assert before.text.endswith("cap")
    again = (*messages, user("Go on."))
    assert prompt_ids_of(model, again, before) == prompt_ids_of(model, again)


def test_a_model_without_a_template_gets_the_texts(tmp_path):
    model = load_model(save_tiny_model(tmp_path), dtype="float32")
    model.tokenizer.chat_template = None
    messages, before, _ = turn(model, (), "one two", None, CONFIG)
    again = (*messages, user("three"))
    ids = prompt_ids_of(model, again, before)
    assert ids[: len(before.prompt_ids) + len(before.output_ids)] == before.prompt_ids + before.output_ids
    assert model.text(ids).endswith("\n\nthree")
