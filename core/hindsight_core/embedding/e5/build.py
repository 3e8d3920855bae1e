"""From the installed weights to a model that ONNX Runtime can run, made once and kept in the user's cache folder.

The float form is run over the shipped list of unrelated texts to see the ranges of its channels; with those the byte
form is made, and kept together with the float form's vector of one text. Whenever a model is opened, kept or new, it
has to reproduce that vector: a damaged file, or a CPU whose byte products saturate, shows here and not in the answers.
"""

from __future__ import annotations

import hashlib
import logging
import os
import platform
import sys
import tempfile
from base64 import b64decode, b64encode
from itertools import chain
from pathlib import Path

import numpy as np
import onnxruntime as ort

from hindsight_core.embedding.e5.encoder import Ranges, byte_encoder, float_encoder
from hindsight_core.embedding.e5.tokens import Tokens
from hindsight_core.embedding.e5.weights import Vocabulary, Weights, checksum
from hindsight_core.embedding.unrelated import PASSAGES, QUERIES
from hindsight_core.errors import EmbeddingError
from hindsight_core.ports import Floats

log = logging.getLogger(__name__)

_BUILD = 2
"""Counts changes of what is built, so that a kept model of an older kind is not used."""

_LEVELS = (127, 63)
_AGREEMENT = 0.999
_WITNESS = PASSAGES[0]
_NOTE = "witness"


def cache_folder() -> Path:
    """Where derived files are kept: HINDSIGHT_CACHE_DIR, else the platform's folder for caches."""
    if chosen := os.environ.get("HINDSIGHT_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "win32":
        return (
            Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "hindsight" / "Cache"
        )
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "hindsight"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hindsight"


def open_model(weights: Weights, vocabulary: Vocabulary, tokens: Tokens) -> ort.InferenceSession:
    """The byte form, from the cache folder or built and kept there.

    Raises:
        EmbeddingError: No form of the model gives right vectors on this machine.
    """
    key = f"{checksum(weights.path)}/{_BUILD}/{platform.machine()}"
    path = cache_folder() / f"e5-{hashlib.sha256(key.encode()).hexdigest()[:24]}.onnx"
    windows = Windows(weights, vocabulary)
    if (kept := _kept(path)) is not None and (session := _trusted(kept, windows, tokens)) is not None:
        return session
    log.info("preparing the bundled embedding model (once, a few seconds)")
    try:
        ranges, witness = _survey(windows, tokens)
    except Exception as error:  # ONNX Runtime has no common error class
        raise EmbeddingError("this ONNX Runtime cannot run the bundled model") from error
    for levels in _LEVELS:
        model = byte_encoder(weights, ranges, levels, {_NOTE: b64encode(witness.tobytes()).decode()})
        if (session := _trusted(model, windows, tokens)) is not None:
            _keep(path, model)
            return session
    raise EmbeddingError("the bundled model does not give right vectors with this ONNX Runtime")


class Windows:
    """Runs windows of tokens through a session.

    A window is what the model sees at once: begin, at most 510 tokens, end.

    Args:
        weights: The weights.
        vocabulary: Its special ids.
    """

    def __init__(self, weights: Weights, vocabulary: Vocabulary) -> None:
        self.weights = weights
        self.room = weights.positions - 2
        self._begin = vocabulary.begin
        self._end = vocabulary.end

    def means(self, session: ort.InferenceSession, windows: list[list[int]]) -> Floats:
        """Mean hidden state of windows of equal length (at most `room` ids): shape (n, width), not normalised."""
        (hidden,) = session.run([session.get_outputs()[0].name], self._feed(windows))
        means: Floats = hidden.mean(axis=1)
        return means

    def results(self, session: ort.InferenceSession, window: list[int]) -> list[Floats]:
        """All results for one window, each of shape (tokens, width)."""
        return [result[0] for result in session.run(None, self._feed([window]))]

    def _feed(self, windows: list[list[int]]) -> dict[str, Floats]:
        ids = np.array([[self._begin, *window, self._end] for window in windows], np.int64)
        return {"tokens": self.weights.embedded(ids)}


def session_of(model: bytes) -> ort.InferenceSession:
    """A session that computes in the calling thread only: callers run batches side by side instead.

    A pool of its own would have its threads wait for each other after every operator (spinning, by default).
    """
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Beyond "basic" the residual sum is fused with the norm into an operator that is ten times slower on CPUs.
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.log_severity_level = 3
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _survey(windows: Windows, tokens: Tokens) -> tuple[list[Ranges], Floats]:
    """Run the float form over the shipped texts: ranges of its channels, and the vector of the witness."""
    session = session_of(float_encoder(windows.weights))
    texts = [f"passage: {text}" for text in PASSAGES] + [f"query: {text}" for text in QUERIES]
    seen = tokens.encode(texts)
    joined = list(chain.from_iterable(seen))  # full windows too, for the later positions
    seen += [joined[at : at + windows.room] for at in range(0, len(joined), windows.room)]
    ranges = [Ranges(windows.weights.width) for _ in session.get_outputs()[1:]]
    for window in seen:
        for channel, rows in zip(ranges, windows.results(session, window)[1:], strict=True):
            channel.see(rows)
    return ranges, _witness(session, windows, tokens)


def _witness(session: ort.InferenceSession, windows: Windows, tokens: Tokens) -> Floats:
    (mean,) = windows.means(session, tokens.encode([f"passage: {_WITNESS}"]))
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def _trusted(model: bytes, windows: Windows, tokens: Tokens) -> ort.InferenceSession | None:
    """The model's session, if it can be opened and reproduces the vector it was made with."""
    try:
        session = session_of(model)
        expected = np.frombuffer(b64decode(session.get_modelmeta().custom_metadata_map[_NOTE]), np.float32)
        agreement = float(_witness(session, windows, tokens) @ expected)
    except Exception as error:  # noqa: BLE001 - ONNX Runtime has no common error class; the model is then rebuilt
        log.debug("a prepared model cannot be used: %s", type(error).__name__)
        return None
    return session if agreement >= _AGREEMENT else None


def _kept(path: Path) -> bytes | None:
    """The kept model, if it is there and whole (the file is its SHA-256, then the model)."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def _keep(path: Path, model: bytes) -> None:
    """Write the file under another name first, so that no process ever sees a part of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".e5-")
    except OSError as error:
        log.warning(
            "cannot keep the prepared model in %s (%s); it is prepared again next time", path.parent, error
        )
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(model).digest() + model)
        os.replace(name, path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        log.warning(
            "cannot keep the prepared model in %s (%s); it is prepared again next time", path.parent, error
        )
