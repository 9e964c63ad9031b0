"""What a GGUF file says about itself, read without its tensors.

Layout: magic, version, counts, metadata, tensor table, padding, tensors
(https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). Reading it ourselves tells a damaged file from a
good one in a moment; the readers of `gguf` and transformers take seconds and fail on damage in many ways.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from lookahead_cli.errors import ModelError

MAGIC = b"GGUF"
_STRING, _ARRAY = 8, 9
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_LONGEST_KEPT_ARRAY = 64


@dataclass(frozen=True, slots=True)
class GGUFHeader:
    """What a GGUF file says about itself.

    Attributes:
        metadata: Its metadata, long arrays left out.
        parameters: Elements of all tensors.
        end: Size that the file has when it is whole.
    """

    metadata: dict[str, Any]
    parameters: int
    end: int


class _Cursor:
    """Reads forward through the file; running off its end raises `struct.error`."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.position = 0

    def take(self, layout: str) -> Any:
        (value,) = self.take_all(layout)
        return value

    def take_all(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from(f"<{layout}", self._data, self.position)
        self.position += struct.calcsize(f"<{layout}")
        return values

    def skip(self, count: int) -> None:
        self.position += count
        if self.position > len(self._data):
            raise struct.error("past the end")

    def string(self) -> str:
        start = self.position + 8
        self.skip(8 + self.take_at("Q"))
        return self._data[start : self.position].decode("utf-8", "replace")

    def take_at(self, layout: str) -> Any:
        return struct.unpack_from(f"<{layout}", self._data, self.position)[0]

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.take(_FORMATS[kind])
        element, count = self.take_all("IQ")
        if element == _STRING:
            for _ in range(count):
                self.skip(8 + self.take_at("Q"))
            return None
        if element == _ARRAY:
            for _ in range(count):
                self.value(_ARRAY)
            return None
        if count <= _LONGEST_KEPT_ARRAY:
            return list(self.take_all(f"{count}{_FORMATS[element]}"))
        self.skip(count * struct.calcsize(f"<{_FORMATS[element]}"))
        return None


def read_gguf_header(path: Path) -> GGUFHeader:
    """Read the header of a GGUF file.

    Raises:
        ModelError: It is no GGUF file, truncated, one part of several, or of a kind that cannot be read.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        magic = file.read(4)
        if magic != MAGIC:
            raise ModelError(
                f"'{path}' is no GGUF file: it does not begin with the letters GGUF.",
                "Give the .gguf file of a language model; if this one was downloaded, fetch it again.",
            )
        try:
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                header = _read(_Cursor(data), path)
        except (struct.error, KeyError, OverflowError, MemoryError) as error:
            raise _truncated(path, size, None) from error
    if header.end > size:
        raise _truncated(path, size, header.end)
    if header.metadata.get("split.count", 1) > 1:
        raise ModelError(
            f"'{path}' is one of {header.metadata['split.count']} parts of a model.",
            "Merge the parts into one file first (`llama-gguf-split --merge`).",
        )
    return header


def _read(cursor: _Cursor, path: Path) -> GGUFHeader:
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    cursor.skip(len(MAGIC))
    version, tensor_count, value_count = cursor.take_all("IQQ")
    if version not in (2, 3):
        raise ModelError(
            f"'{path}' is GGUF version {version}; versions 2 and 3 can be read.", "Convert the model again."
        )
    metadata: dict[str, Any] = {}
    for _ in range(value_count):
        key = cursor.string()
        metadata[key] = cursor.value(cursor.take("I"))
    parameters = longest = 0
    for _ in range(tensor_count):
        name = cursor.string()
        shape = cursor.take_all(f"{cursor.take('I')}Q")
        kind, offset = cursor.take_all("IQ")
        try:
            block, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(kind)]
        except (ValueError, KeyError) as error:
            raise ModelError(
                f"Tensor {name} of '{path}' has type {kind}, which the installed gguf does not know.",
                "Update gguf (`pip install -U gguf`), or take another quantisation of the model.",
            ) from error
        parameters += prod(shape)
        longest = max(longest, offset + prod(shape) // block * block_bytes)
    alignment = metadata.get("general.alignment") or 32
    start = -(-cursor.position // alignment) * alignment
    return GGUFHeader(metadata, parameters, start + longest)


def _truncated(path: Path, size: int, end: int | None) -> ModelError:
    rest = "inside its header" if end is None else f"{(end - size) / 1e6:,.1f} MB too early"
    return ModelError(
        f"'{path}' is truncated or damaged: it ends after {size / 1e6:,.1f} MB, {rest}.",
        "Fetch the file again.",
    )
