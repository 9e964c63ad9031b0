import warnings

import pytest
from huggingface_hub.utils import are_progress_bars_disabled
from huggingface_hub.utils import logging as hub_logging
from transformers.utils import logging as transformers_logging

from lookahead_cli.models.progress import bar_class, first_line, quiet


def _state():
    hook = transformers_logging.set_tqdm_hook(None)
    transformers_logging.set_tqdm_hook(hook)
    return (
        transformers_logging.get_verbosity(),
        hub_logging.get_verbosity(),
        transformers_logging.is_progress_bar_enabled(),
        are_progress_bars_disabled(),
        hook,
        list(warnings.filters),
    )


def test_bars_and_warnings_are_reported_and_not_written(capfd):
    reports = []
    with quiet(reports.append, "loading it"):
        for _ in transformers_logging.tqdm(range(3), desc="Loading weights"):
            pass
        transformers_logging.get_logger("transformers.some").warning("torn screen")
        hub_logging.get_logger("huggingface_hub.some").warning("torn screen")
        warnings.warn("torn screen", stacklevel=1)
    assert capfd.readouterr() == ("", "")
    assert {(report.label, report.total, report.unit) for report in reports} == {("loading it", 3, "tensors")}
    assert reports[-1].done == 3


def test_everything_is_as_before_afterwards():
    before = _state()
    with quiet(lambda progress: None, "x"):
        assert _state() != before
    assert _state() == before
    with pytest.raises(KeyError), quiet(lambda progress: None, "x"):
        raise KeyError
    assert _state() == before


def test_bytes_are_counted_once_where_the_hub_counts_them_twice(capfd):
    reports = []
    bar = bar_class(reports.append, "fetching it")
    bar(total=10, unit="B", desc="Downloading bytes").update(10)
    bar(total=4, unit="it", desc="Fetching 4 files").update(1)
    assert reports == []
    with bar(total=10, unit="B", desc="Reconstructing") as written:
        written.update(10)
    assert (reports[-1].done, reports[-1].total, reports[-1].unit) == (10, 10, "bytes")
    assert capfd.readouterr() == ("", "")


def test_an_error_is_cut_to_one_sentence():
    assert first_line(ValueError("Too bad.\nLong story")) == "Too bad."
    assert first_line(KeyError()) == "KeyError."
