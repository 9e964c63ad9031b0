import pytest

from lookahead_cli.errors import ExitCode, ModelError
from lookahead_cli.models.sources import find_source


def _error(spec):
    with pytest.raises(ModelError) as caught:
        find_source(str(spec))
    assert caught.value.exit_code is ExitCode.MODEL
    assert caught.value.hint
    return str(caught.value)


def test_an_alias_with_wheels_comes_from_them():
    source = find_source("smollm2-135m")
    assert source.wheels_of is source.alias is not None
    assert source.name == "SmolLM2-135M-Instruct"
    assert source.hub is None


def test_another_alias_comes_from_the_hub():
    source = find_source("mistral-7b")
    assert source.hub == source.alias.hub


def test_a_hub_id_is_taken_as_it_is():
    source = find_source("someone/Some-Model_1.5")
    assert (source.hub, source.name, source.alias) == ("someone/Some-Model_1.5", "Some-Model_1.5", None)


def test_a_folder_with_a_configuration_is_a_model(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    assert find_source(str(tmp_path)).folder == tmp_path


def test_a_folder_wins_over_a_hub_id_of_the_same_name(tmp_path, monkeypatch):
    folder = tmp_path / "owner" / "name"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert find_source("owner/name").folder is not None


def test_a_gguf_file_is_a_model_whatever_its_name(tmp_path):
    path = tmp_path / "weights.bin"
    path.write_bytes(b"GGUF....")
    assert find_source(str(path)).gguf == path


def test_an_unknown_alias_offers_the_nearest_names():
    message = _error("codelama-7b")
    assert "no model alias 'codelama-7b'" in message
    assert "codellama-7b" in message


def test_an_unknown_alias_like_no_other_lists_all():
    assert "tinyllama" in _error("zzzzzzzz")


@pytest.mark.parametrize("spec", ["./missing", "/no/such/model", "missing.gguf", "a/b/c", "~/no-such-model"])
def test_a_path_that_is_not_there_is_told_from_an_alias(spec):
    assert f"no file or folder '{spec}'" in _error(spec)


def test_an_empty_name_is_refused():
    assert "no file or folder ''" in _error("  ")


def test_a_folder_without_a_configuration_is_no_model(tmp_path):
    assert "no config.json" in _error(tmp_path)


def test_a_folder_with_a_gguf_file_points_to_it(tmp_path):
    (tmp_path / "some.gguf").write_bytes(b"GGUF")
    assert str(tmp_path / "some.gguf") in _error(tmp_path)


def test_a_text_file_is_no_model(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text("hello")
    assert "no GGUF file" in _error(path)
