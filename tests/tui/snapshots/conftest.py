"""Pages are compared with the files beside the tests; `make snapshots` writes those anew."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.tui.snapshots.picture import SIZES, Camera


class Pages(SingleFileSnapshotExtension):
    """One text file a picture, named after its test, its size and what is on it."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture(params=SIZES, ids=lambda size: "{}x{}".format(*size))
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    return request.param


@pytest.fixture
def looks_the_same(
    size: tuple[int, int], snapshot: SnapshotAssertion
) -> Callable[[Callable[[Camera], Awaitable[None]]], Awaitable[None]]:
    """Goes through screens at one size in every look, and compares each picture with its page."""
    pages = snapshot.use_extension(Pages)

    async def compare(walk: Callable[[Camera], Awaitable[None]]) -> None:
        for name, page in (await Camera(size).film(walk)).items():
            assert page == pages(name=name)

    return compare
