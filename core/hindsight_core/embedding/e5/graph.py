"""Writing an ONNX model: just enough of the format for one network, without the `onnx` package.

An ONNX file is a protocol buffer; the field numbers are those of onnx.proto (onnx/onnx, IR version 8).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_OPERATORS = (("", 17), ("com.microsoft", 1))


class Graph:
    """A graph under construction; constants and operators return the name of their value."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, value: NDArray[Any] | np.generic) -> str:
        """Add a constant tensor."""
        array = np.asarray(value, order="C")
        name = f"c{len(self._constants)}"
        dims = b"".join(_field(1, size) for size in array.shape)
        data_type = _field(2, _TYPES[array.dtype.name])
        self._constants.append(_field(5, dims + data_type + _field(8, name) + _field(9, array.tobytes())))
        return name

    def add(
        self, operator: str, *inputs: str, domain: str = "", **attributes: int | float | list[int]
    ) -> str:
        """Add an operator with one result."""
        name = f"v{len(self._nodes)}"
        body = b"".join(_field(1, value) for value in inputs) + _field(2, name) + _field(4, operator)
        for key, value in attributes.items():
            if isinstance(value, list):
                content = b"".join(_field(8, item) for item in value) + _field(20, 7)
            elif isinstance(value, float):
                content = _field(2, value) + _field(20, 1)
            else:
                content = _field(3, value) + _field(20, 2)
            body += _field(5, _field(1, key) + content)
        if domain:
            body += _field(7, domain)
        self._nodes.append(_field(1, body))
        return name

    def model(
        self,
        inputs: Mapping[str, Sequence[int | str]],
        outputs: Mapping[str, Sequence[int | str]],
        notes: Mapping[str, str],
    ) -> bytes:
        """The finished file.

        Args:
            inputs: Name and shape of each float32 input; a string names a size that varies.
            outputs: The same of the results.
            notes: Stored with the model.
        """
        values = [_field(11, _value(name, shape)) for name, shape in inputs.items()]
        values += [_field(12, _value(name, shape)) for name, shape in outputs.items()]
        graph = b"".join([*self._nodes, _field(2, "encoder"), *self._constants, *values])
        return b"".join(
            [
                _field(1, 8),
                _field(7, graph),
                *(_field(8, _field(1, domain) + _field(2, version)) for domain, version in _OPERATORS),
                *(_field(14, _field(1, key) + _field(2, value)) for key, value in notes.items()),
            ]
        )


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    dims = b"".join(
        _field(1, _field(2, size) if isinstance(size, str) else _field(1, size)) for size in shape
    )
    return _field(1, name) + _field(2, _field(1, _field(1, _TYPES["float32"]) + _field(2, dims)))


def _field(number: int, value: int | float | str | bytes) -> bytes:
    """One field of a protocol buffer message."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    value &= 0xFFFF_FFFF_FFFF_FFFF
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    digits.append(value)
    return bytes(digits)
