"""Vectors on disk, so that the same text is embedded once.

An entry is found by (fingerprint of the embedder, role, SHA-256 of the text) and holds the vector; the text itself is
never written. Queries and passages are kept apart, as embedders treat them differently. The file is an ordinary
SQLite database in WAL mode that several processes may share; losing it costs time only.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import numpy as np

from hindsight_core.embedding.checked import embed_checked
from hindsight_core.errors import EmbeddingError
from hindsight_core.ports import Embedder, Floats
from hindsight_core.sidefile import SideFile

_APPLICATION_ID = 0x48534543
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector (
    fingerprint TEXT NOT NULL, role TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (digest, role, fingerprint)
) WITHOUT ROWID
"""
_CHUNK = 500


class CachedEmbedder:
    """An embedder that remembers its vectors in a file; safe from many threads and processes.

    Args:
        embedder: Asked for what the file does not hold.
        path: The cache file; made when absent.

    Attributes:
        inner: The embedder.

    Raises:
        NotAStore: The file exists and is something else.
        StoreError: It cannot be opened.
    """

    def __init__(self, embedder: Embedder, path: str | Path) -> None:
        self.inner = embedder
        self._file = SideFile(path, kind="embedding cache", application_id=_APPLICATION_ID, schema=_SCHEMA)

    @property
    def dimension(self) -> int:
        """That of the embedder."""
        return self.inner.dimension

    @property
    def fingerprint(self) -> str:
        """That of the embedder: cached vectors are the same vectors."""
        return self.inner.fingerprint

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of passages, shape (n, dimension); only unknown ones are computed, each distinct text once.

        Raises:
            EmbeddingError: A text failed; those that did not are cached before this is raised.
        """
        digests = [_digest(text) for text in texts]
        known = self._read("passage", digests)
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if missing:
            vectors, failures = embed_checked(self.inner, list(missing.values()))
            fresh = {d: v for d, v in zip(missing, vectors, strict=True) if v is not None}
            self._write("passage", fresh)
            if failures:
                raise failures[0][1]
            known |= fresh
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        return np.stack([known[digest] for digest in digests])

    def embed_query(self, text: str) -> Floats:
        """Vector of a question, shape (dimension,)."""
        digest = _digest(text)
        known = self._read("query", [digest])
        if digest not in known:
            known = {digest: np.asarray(self.inner.embed_query(text), dtype=np.float32)}
            if known[digest].shape != (self.dimension,) or not np.isfinite(known[digest]).all():
                raise EmbeddingError(f"the embedder did not return a finite vector of {self.dimension}")
            self._write("query", known)
        return known[digest]

    def erase(self, texts: Iterable[str]) -> None:
        """Remove the vectors of these texts, of every embedder and role, from every byte of the file."""
        digests = [(_digest(text),) for text in texts]
        with self._file.open() as db:
            with db:
                db.executemany("DELETE FROM vector WHERE digest = ?", digests)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Release the file; closing twice is fine."""
        self._file.close()

    def _read(self, role: str, digests: list[bytes]) -> dict[bytes, Floats]:
        found: dict[bytes, Floats] = {}
        wanted = list(dict.fromkeys(digests))
        with self._file.open() as db:
            for start in range(0, len(wanted), _CHUNK):
                part = wanted[start : start + _CHUNK]
                rows = db.execute(
                    "SELECT digest, vector FROM vector "
                    "WHERE fingerprint = ? AND role = ? AND length(vector) = ? "  # of another length: damaged
                    f"AND digest IN ({','.join('?' * len(part))})",
                    (self.fingerprint, role, 4 * self.dimension, *part),
                )
                found.update((digest, np.frombuffer(vector, dtype="<f4").copy()) for digest, vector in rows)
        return found

    def _write(self, role: str, vectors: dict[bytes, Floats]) -> None:
        rows = [(self.fingerprint, role, d, v.astype("<f4").tobytes()) for d, v in vectors.items()]
        with self._file.open() as db, db:
            db.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?, ?)", rows)


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()
