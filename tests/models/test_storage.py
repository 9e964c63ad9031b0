import pytest

from lookahead_cli.errors import ModelError
from lookahead_cli.models.storage import disk_errors, locked, whole_folder


def _ignore(progress):
    pass


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/none"])
def test_a_cache_that_cannot_be_made_is_named(tmp_path, folder):
    (tmp_path / "file").write_text("no folder")
    with (
        pytest.raises(ModelError, match="cannot be written") as caught,
        locked(tmp_path / folder / "model", _ignore, "fetching"),
    ):
        pass
    assert "LOOKAHEAD_CACHE" in caught.value.hint


def test_what_fails_elsewhere_is_not_blamed_on_the_cache(tmp_path):
    with pytest.raises(FileNotFoundError), disk_errors(tmp_path / "cache"):
        (tmp_path / "input").read_bytes()


def test_a_folder_appears_whole_or_not_at_all(tmp_path):
    final = tmp_path / "model"
    with pytest.raises(ZeroDivisionError), whole_folder(final) as partial:
        (partial / "half").write_bytes(bytes(1 // 0))
    assert list(tmp_path.iterdir()) == []
    with whole_folder(final) as partial:
        (partial / "all").write_text("")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
