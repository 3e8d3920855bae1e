"""The disk cache of vectors: computes what is missing, once; keeps no text; erases for good."""

import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindsight_core.embedding import CachedEmbedder, HashEmbedder
from hindsight_core.errors import EmbeddingError, NotAStore, StoreClosed, StoreError
from hindsight_core.ports import Embedder


class Counting(HashEmbedder):
    """Remembers what it was asked for; questions differ from passages; "bad" fails."""

    def __init__(self, dimension: int = 16) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        self.asked += texts
        if "bad" in texts:
            raise ValueError("400")
        return np.stack([super(Counting, self).embed_query(text) for text in texts])

    def embed_query(self, text: str) -> np.ndarray:
        self.asked.append("? " + text)
        return super().embed_query("query: " + text)


def test_only_what_is_missing_is_embedded_each_text_once(tmp_path: Path) -> None:
    inner = Counting()
    cache = CachedEmbedder(inner, tmp_path / "vectors.db")
    first = cache.embed_documents(["one", "two", "one"])
    second = cache.embed_documents(["two", "三", "one"])
    assert inner.asked == ["one", "two", "三"]
    assert np.array_equal(first[[1, 0]], second[[0, 2]])
    assert np.array_equal(first[0], first[2])
    assert first == pytest.approx(HashEmbedder(16).embed_documents(["one", "two", "one"]), abs=1e-6)


def test_it_is_an_embedder_of_the_same_fingerprint(tmp_path: Path) -> None:
    cache = CachedEmbedder(HashEmbedder(32), tmp_path / "vectors.db")
    assert isinstance(cache, Embedder)
    assert (cache.dimension, cache.fingerprint) == (32, HashEmbedder(32).fingerprint)
    assert cache.embed_documents([]).shape == (0, 32)


def test_questions_and_passages_are_kept_apart(tmp_path: Path) -> None:
    inner = Counting()
    cache = CachedEmbedder(inner, tmp_path / "vectors.db")
    passage, question = cache.embed_documents(["port"])[0], cache.embed_query("port")
    assert not np.array_equal(passage, question)
    assert np.array_equal(cache.embed_query("port"), question)
    assert inner.asked == ["port", "? port"]


def test_another_embedder_shares_the_file_but_no_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    small, large = Counting(16), Counting(64)
    assert CachedEmbedder(small, path).embed_query("x").shape == (16,)
    assert CachedEmbedder(large, path).embed_query("x").shape == (64,)
    assert large.asked == ["? x"]


def test_vectors_outlive_the_handle(tmp_path: Path) -> None:
    with_first = CachedEmbedder(Counting(), tmp_path / "vectors.db")
    before = with_first.embed_documents(["kept"])
    with_first.close()
    inner = Counting()
    assert np.array_equal(CachedEmbedder(inner, tmp_path / "vectors.db").embed_documents(["kept"]), before)
    assert inner.asked == []


def test_a_closed_cache_says_so(tmp_path: Path) -> None:
    cache = CachedEmbedder(HashEmbedder(16), tmp_path / "vectors.db")
    cache.close()
    cache.close()
    with pytest.raises(StoreClosed):
        cache.embed_query("x")


def test_good_texts_of_a_failing_batch_are_kept(tmp_path: Path) -> None:
    inner = Counting()
    cache = CachedEmbedder(inner, tmp_path / "vectors.db")
    with pytest.raises(EmbeddingError):
        cache.embed_documents(["one", "bad", "two"])
    inner.asked.clear()
    cache.embed_documents(["one", "two"])
    assert inner.asked == []


@pytest.mark.parametrize("role", ["passage", "query"])
def test_a_vector_that_is_not_finite_is_never_kept(tmp_path: Path, role: str) -> None:
    class Broken(HashEmbedder):
        def embed_query(self, text: str) -> np.ndarray:
            return np.full(self.dimension, np.nan, np.float32)

    cache = CachedEmbedder(Broken(16), tmp_path / "vectors.db")
    with pytest.raises(EmbeddingError):
        cache.embed_query("x") if role == "query" else cache.embed_documents(["x"])
    assert rows(tmp_path / "vectors.db") == 0


def rows(path: Path) -> int:
    with sqlite3.connect(path) as db:
        (count,) = db.execute("SELECT count(*) FROM vector").fetchone()
    db.close()
    return int(count)


def every_byte(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.iterdir()))


def test_no_text_is_ever_written(tmp_path: Path) -> None:
    cache = CachedEmbedder(HashEmbedder(16), tmp_path / "vectors.db")
    cache.embed_documents(["the heron password"])
    cache.embed_query("白鹭的口令")
    held = every_byte(tmp_path)
    assert b"heron" not in held
    assert "白鹭".encode() not in held


def test_erasing_removes_every_role_and_byte(tmp_path: Path) -> None:
    cache = CachedEmbedder(HashEmbedder(64), tmp_path / "vectors.db")
    gone = [cache.embed_documents(["forget me"])[0], cache.embed_query("forget me")]
    kept = cache.embed_documents(["keep me"])[0]
    cache.erase(["forget me", "never seen"])
    held = every_byte(tmp_path)
    assert kept.tobytes() in held
    assert not any(vector.tobytes() in held for vector in gone)
    assert rows(tmp_path / "vectors.db") == 1


def test_dirty_text_is_cached_like_any_other(tmp_path: Path) -> None:
    inner = Counting()
    cache = CachedEmbedder(inner, tmp_path / "vectors.db")
    once, again = (cache.embed_documents(["lone \ud83e and \0 nul"]) for _ in range(2))
    assert np.array_equal(once, again)
    assert len(inner.asked) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(st.lists(st.text(st.characters(codec=None), max_size=8), max_size=8))
def test_the_cache_never_changes_an_answer(tmp_path: Path, texts: list[str]) -> None:
    cache = CachedEmbedder(HashEmbedder(16), tmp_path / "vectors.db")
    for _ in range(2):
        assert cache.embed_documents(texts) == pytest.approx(
            HashEmbedder(16).embed_documents(texts), abs=1e-6
        )
    cache.close()


def test_a_damaged_row_is_computed_anew(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    cache = CachedEmbedder(HashEmbedder(16), path)
    before = cache.embed_documents(["x"])
    with sqlite3.connect(path) as db:
        db.execute("UPDATE vector SET vector = x'0000'")
    db.close()
    assert np.array_equal(cache.embed_documents(["x"]), before)


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a database, and longer than the header of one. " * 40)
    with sqlite3.connect(other) as db:
        db.execute("CREATE TABLE contacts (name TEXT)")
    db.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(NotAStore):
            CachedEmbedder(HashEmbedder(16), path)
        assert path.read_bytes() == before


def test_a_folder_that_is_not_there_is_a_store_error(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        CachedEmbedder(HashEmbedder(16), tmp_path / "missing" / "vectors.db")


def test_threads_and_processes_share_one_file(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    code = (
        "import sys; from hindsight_core.embedding import CachedEmbedder, HashEmbedder;"
        "c = CachedEmbedder(HashEmbedder(16), sys.argv[1]);"
        "[c.embed_documents([f'text {i}']) for i in range(40)]"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(3)]
    cache = CachedEmbedder(HashEmbedder(16), path)
    errors: list[Exception] = []

    def work() -> None:
        try:
            for i in range(40):
                cache.embed_documents([f"text {i}", f"more {i}"])
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert errors == []
    assert rows(path) == 80
