"""Who answers in a chat: changed on the way, with tiny real models."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from lookahead_cli.chat.conversation import Conversation
from lookahead_cli.cli.chat_model import ChatModel
from lookahead_cli.cli.options import ModelOptions, SettingOptions
from lookahead_cli.decoding.config import LookaheadConfig
from lookahead_cli.errors import InputError, MemoryLimitError, ModelError, UsageError
from lookahead_cli.models.aliases import Alias
from lookahead_cli.models.pools import PoolRequest
from lookahead_cli.trace.events import Footer
from tests.tiny import save_tiny_model

CONFIG = LookaheadConfig(window_size=3, ngram_size=3, guess_set_size=3, max_new_tokens=8)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return [
        str(save_tiny_model(tmp_path_factory.mktemp("models") / name, kind, eos_token_id=None))
        for name, kind in (("first", "llama"), ("second", "qwen2"))
    ]


def answerer(folder, pools=None):
    options = ModelOptions(model=folder, device="cpu", dtype="float32")
    return ChatModel(options, CONFIG, pools or PoolRequest())


def silently(_):
    pass


def answer(talk, question):
    footer = [each for each in talk.ask(question, threading.Event(), silently) if isinstance(each, Footer)]
    return footer[-1].output_ids


def test_another_model_goes_on_with_the_conversation_as_if_it_had_been_there_from_the_start(folders):
    talk = Conversation(answerer(folders[0]))
    answer(talk, "one two")
    talk.change_model(folders[1], silently)
    assert (talk.answerer.spec, len(talk.messages)) == (folders[1], 2)
    fresh = Conversation(answerer(folders[1]))
    fresh.messages = list(talk.messages)
    assert answer(talk, "three") == answer(fresh, "three")


def test_a_model_that_is_not_there_or_is_stopped_while_it_loads_leaves_the_one_before(folders):
    chat = answerer(folders[0])
    talk = Conversation(chat)
    answer(talk, "one two")
    before = chat.load(silently)

    def stop(progress):
        raise InputError("Stopped.")

    for spec, report, error in ((folders[1], stop, InputError), ("smollm9", silently, ModelError)):
        with pytest.raises(error):
            talk.change_model(spec, report)
        assert (chat.spec, chat.load(silently)) == (folders[0], before)


def test_where_both_do_not_fit_the_one_before_makes_room(folders, monkeypatch):
    chat = answerer(folders[0])
    chat.load(silently)
    loaded = []

    def load(options, prefer, config, report, ranks):
        loaded.append(chat._model is not None)
        if chat._model is not None:
            raise MemoryLimitError("Too large.")
        return real(options, prefer, config, report)

    from lookahead_cli.cli import live

    real = live.load_models
    monkeypatch.setattr(live, "load_models", load)
    chat.change_model(folders[1], silently)
    assert loaded == [True, False]
    assert chat.load(silently).name == "second"


def test_the_pool_is_counted_emptied_saved_and_loaded(folders, tmp_path):
    chat = answerer(folders[0])
    with pytest.raises(UsageError, match="keep no n-gram pool"):
        chat.pool_figures()
    answer(Conversation(chat), "one two three four")
    figures = chat.pool_figures()
    assert figures.ngrams == sum(figures.sources.values()) > figures.keys > 0
    chat.save_pool(tmp_path / "pool.json")
    chat.clear_pool()
    assert chat.pool_figures().ngrams == 0
    with pytest.raises(InputError, match="no file"):
        chat.load_pool(tmp_path / "nowhere.json")
    chat.load_pool(tmp_path / "pool.json")
    assert chat.pool_figures() == figures


def test_a_larger_g_keeps_the_pool_another_n_begins_one_and_greedy_needs_none(folders):
    chat = answerer(folders[0])
    talk = Conversation(chat)
    greedy = answer(talk, "one two three four")
    before = chat.pool_figures()
    chat.change(replace(CONFIG, guess_set_size=9))
    assert chat.pool_figures() == replace(before, guess_set_size=9)
    chat.change(replace(CONFIG, ngram_size=4))
    assert (chat.pool_figures().ngrams, chat.pool_figures().ngram_size) == (0, 4)
    again = [each for each in talk.retry(threading.Event(), silently) if isinstance(each, Footer)][-1]
    assert again.output_ids == greedy
    chat.change(replace(CONFIG, method="greedy"))
    again = [each for each in talk.retry(threading.Event(), silently) if isinstance(each, Footer)][-1]
    assert (again.output_ids, again.compression_ratio) == (greedy, 1.0)
    with pytest.raises(UsageError, match="needs a draft model"):
        chat.change(replace(CONFIG, method="draft"))


def test_the_choice_names_what_is_here_first_and_says_what_fits(folders, monkeypatch):
    chat = answerer("smollm2-135m")
    choices = chat.models()
    here = [choice.here for choice in choices]
    assert here == sorted(here, reverse=True)
    default = next(choice for choice in choices if choice.spec == "smollm2-135m")
    assert (default.current, default.dtype, default.fits) == (True, "float32", True)
    assert default.memory_bytes == 4 * 134_515_008

    from lookahead_cli.models import memory

    monkeypatch.setattr(memory, "available_memory", lambda device: 10**6)
    assert not any(choice.fits for choice in chat.models())


def test_another_model_has_its_own_sizes_unless_others_were_chosen(folders, monkeypatch):
    kept = {"licence": "x", "parameters": 1, "bytes": 1}
    own = Alias(name="x", title="x", hub="a/b", window_size=9, ngram_size=4, **kept)
    chosen = SettingOptions(guess_set_size=2)
    config = LookaheadConfig(max_new_tokens=8, **chosen.values(folders[0]))
    for changed, sizes in (({}, (9, 4, 2)), ({"window_size": 3}, (3, 4, 2))):
        chat = answerer(folders[0])
        chat.sizes = chosen
        chat.change(replace(config, **changed))
        with monkeypatch.context() as patched:
            patched.setattr(
                "lookahead_cli.models.aliases.find_alias", lambda spec: own if spec == folders[1] else None
            )
            chat.change_model(folders[1], silently)
        config_now = chat.config
        assert (config_now.window_size, config_now.ngram_size, config_now.guess_set_size) == sizes
        assert len(answer(Conversation(chat), "one two")) == 8
