"""The peak of a run is that run's own."""

from __future__ import annotations

import sys

import pytest

from lookahead_cli.cli.measuring.memory import forget_peak, peak_bytes

SIZE = 200_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system has no peak that can be set back")
def test_what_was_held_and_given_back_counts_until_it_is_forgotten() -> None:
    forget_peak("cpu")
    before = peak_bytes("cpu")
    held = bytearray(b"x") * SIZE
    del held
    assert peak_bytes("cpu") > before + 0.9 * SIZE
    forget_peak("cpu")
    assert peak_bytes("cpu") < before + 0.5 * SIZE
