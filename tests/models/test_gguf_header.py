import pytest

from lookahead_cli.errors import ModelError
from lookahead_cli.models.gguf_header import read_gguf_header
from tests.models.tiny_gguf import write_tiny_gguf


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf")


def test_a_whole_file_ends_where_its_header_says(tiny):
    header = read_gguf_header(tiny)
    assert header.end == tiny.stat().st_size
    assert header.metadata["general.architecture"] == "llama"
    assert header.parameters == 320 * 32 + 32 + 2 * (2 * 32 + 2 * 32 * 32 + 2 * 16 * 32 + 3 * 32 * 64)


@pytest.mark.parametrize("share", [0.001, 0.05, 0.3, 0.6, 0.99])
def test_a_truncated_file_is_told_as_such(tiny, tmp_path, share):
    data = tiny.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(data[: max(4, int(len(data) * share))])
    with pytest.raises(ModelError, match="truncated or damaged") as caught:
        read_gguf_header(path)
    assert "Fetch the file again." in str(caught.value)


def test_a_file_that_lacks_its_last_byte_is_truncated(tiny, tmp_path):
    path = tmp_path / "cut.gguf"
    path.write_bytes(tiny.read_bytes()[:-1])
    with pytest.raises(ModelError, match="truncated"):
        read_gguf_header(path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<html>not found</html>"])
def test_a_file_of_another_kind_is_no_gguf(tmp_path, content):
    path = tmp_path / "wrong.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="no GGUF file"):
        read_gguf_header(path)


def test_random_bytes_behind_the_magic_are_damage(tmp_path):
    path = tmp_path / "noise.gguf"
    path.write_bytes(b"GGUF" + (3).to_bytes(4, "little") + bytes(range(256)) * 8)
    with pytest.raises(ModelError, match="truncated or damaged"):
        read_gguf_header(path)


def test_an_old_version_is_named(tmp_path):
    path = tmp_path / "old.gguf"
    path.write_bytes(b"GGUF" + (1).to_bytes(4, "little") + bytes(64))
    with pytest.raises(ModelError, match="GGUF version 1"):
        read_gguf_header(path)


def test_one_part_of_a_split_model_is_refused(tmp_path):
    import gguf

    path = tmp_path / "part.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint16("split.count", 3)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(ModelError, match="one of 3 parts"):
        read_gguf_header(path)
