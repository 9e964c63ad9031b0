import json

import pytest

from lookahead_cli import locations
from lookahead_cli.errors import ModelError, UnsupportedModelError
from lookahead_cli.models.convert import folder_of_gguf
from lookahead_cli.models.progress import ignore
from tests.models.tiny_gguf import write_tiny_gguf
from tests.tiny import SENTENCES, tiny_tokenizer


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def gguf(tmp_path):
    return write_tiny_gguf(tmp_path / "tiny.gguf")


def _accept(config):
    pass


def test_the_converted_copy_equals_what_transformers_reads(gguf):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = folder_of_gguf(gguf, ignore, _accept)
    converted = AutoModelForCausalLM.from_pretrained(folder)
    direct = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    expected, got = direct.state_dict(), converted.state_dict()
    assert expected.keys() == got.keys()
    assert all(torch.equal(expected[name], got[name]) for name in expected)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert tokenizer.chat_template == tiny_tokenizer().chat_template
    assert [tokenizer(text).input_ids for text in SENTENCES] == [
        AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)(text).input_ids for text in SENTENCES
    ]
    assert (converted.generation_config.bos_token_id, converted.generation_config.eos_token_id) == (1, 2)


def test_a_second_start_takes_the_copy(gguf, monkeypatch):
    first = folder_of_gguf(gguf, ignore, _accept)
    monkeypatch.setattr("lookahead_cli.models.convert._convert", None)
    assert folder_of_gguf(gguf, ignore, _accept) == first
    assert json.loads((first / "origin.json").read_text())["gguf"] == str(gguf)


def test_a_changed_file_is_converted_anew(gguf):
    first = folder_of_gguf(gguf, ignore, _accept)
    write_tiny_gguf(gguf, end_of_turn=5)
    second = folder_of_gguf(gguf, ignore, _accept)
    assert first != second
    assert json.loads((second / "generation_config.json").read_text())["eos_token_id"] == [2, 5]


def test_a_failed_conversion_leaves_nothing_behind(gguf):
    def refuse(config):
        raise ModelError("refused")

    with pytest.raises(ModelError, match="refused"):
        folder_of_gguf(gguf, ignore, refuse)
    assert [path.name for path in locations.models_folder().iterdir() if path.is_dir()] == []


def test_an_architecture_that_transformers_cannot_convert_is_named(tmp_path):
    path = write_tiny_gguf(tmp_path / "odd.gguf", architecture="plamo")
    with pytest.raises(UnsupportedModelError, match="architecture 'plamo'"):
        folder_of_gguf(path, ignore, _accept)


def test_converting_writes_nothing_to_the_terminal_and_reports_instead(gguf, capfd):
    reports = []
    folder_of_gguf(gguf, reports.append, _accept)
    assert capfd.readouterr() == ("", "")
    assert any(progress.unit == "tensors" and progress.total for progress in reports)


def test_a_disk_without_room_is_told_before_the_work(gguf, monkeypatch):
    import shutil

    usage = shutil.disk_usage(gguf.parent)._replace(free=1000)
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage)
    with pytest.raises(ModelError, match=r"is full: .* needed, 0 MB free"):
        folder_of_gguf(gguf, ignore, _accept)


def test_a_cache_folder_that_is_a_file_is_told(gguf, tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("")
    monkeypatch.setenv("LOOKAHEAD_CACHE", str(blocked))
    with pytest.raises(ModelError, match="cannot be written"):
        folder_of_gguf(gguf, ignore, _accept)
