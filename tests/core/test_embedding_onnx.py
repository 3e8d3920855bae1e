"""ONNX models from a folder: tiny ones that these tests build and save, loaded by the code that loads real ones.

The network gives each token its own row of a table, so every vector can be worked out by hand.
"""

import json
import os
import sys

import numpy as np
import pytest

pytest.importorskip("onnx", reason="builds the models")
pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("tokenizers", reason="needs the extra [onnx]")
import onnx
import tokenizers
from onnx import TensorProto, helper, numpy_helper

from hindsight_core import Hindsight
from hindsight_core.embedding import CachedEmbedder, OnnxEmbedder, resolve
from hindsight_core.embedding.prompts import Prompts, prompts_for
from hindsight_core.errors import EmbeddingError, InvalidInput, MissingExtra
from hindsight_core.ports import Embedder

VOCABULARY = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "tea", "mint", "shed", "茶", "query", ":", "passage"]
CLS, SEP = 1, 2
WIDTH = 8
TABLE = np.random.default_rng(7).normal(size=(len(VOCABULARY), WIDTH)).astype(np.float32)


def tokenizer():
    words = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", CLS), ("[SEP]", SEP)]
    )
    return words


def network(inputs=("input_ids", "attention_mask", "token_type_ids"), pooled=False):
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape, name = ["n", "t", WIDTH], "last_hidden_state"
    if pooled:
        nodes.append(helper.make_node("ReduceMax", ["last_hidden_state", "axis"], ["sentence"], keepdims=0))
        shape, name = ["n", WIDTH], "sentence"
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(x, TensorProto.INT64, ["n", "t"]) for x in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(TABLE, "table"), numpy_helper.from_array(np.array([1]), "axis")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.fixture
def save(tmp_path):
    """Writes a model folder as sentence-transformers does and gives its path."""

    def save(name="tiny", model=None, file="onnx/model.onnx", **parts):
        folder = tmp_path / name
        files = {
            "modules.json": [
                {"type": "sentence_transformers.models.Transformer", "path": ""},
                {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
                {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"},
            ],
            "1_Pooling/config.json": {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True},
            "sentence_bert_config.json": {"max_seq_length": 16},
            "config.json": {"pad_token_id": 0},
            **parts,
        }
        for path, content in files.items():
            if content is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
                (folder / path).write_text(text, encoding="utf-8")
        tokenizer().save(str(folder / "tokenizer.json"))
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        onnx.save(model or network(), folder / file)
        return folder

    return save


def rows(*words):
    return TABLE[[CLS, *map(VOCABULARY.index, words), SEP]]


def unit(vector):
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize(
    ("pooling", "by_hand"),
    [
        ({"pooling_mode_mean_tokens": True}, lambda r: r.mean(axis=0)),
        ({"pooling_mode_cls_token": True}, lambda r: r[0]),
        ({"pooling_mode_max_tokens": True}, lambda r: r.max(axis=0)),
        ({"pooling_mode_lasttoken": True}, lambda r: r[-1]),
        ({"pooling_mode": "cls"}, lambda r: r[0]),
        ({"pooling_mode": "lasttoken"}, lambda r: r[-1]),
        ({}, lambda r: r.mean(axis=0)),
    ],
)
def test_the_folder_says_how_tokens_become_a_vector(save, pooling, by_hand):
    embedder = OnnxEmbedder(save(**{"1_Pooling/config.json": pooling}))
    texts = ["tea", "mint tea shed", "茶 tea"]  # of several lengths, so that shorter ones are filled up
    found = embedder.embed_documents(texts)
    assert found.dtype == np.float32
    assert found == pytest.approx(np.stack([unit(by_hand(rows(*text.split()))) for text in texts]), abs=1e-6)


def test_a_text_has_one_vector_however_it_is_batched(save):
    embedder = OnnxEmbedder(save())
    texts = [" ".join(VOCABULARY[4 + i % 4] for i in range(n)) for n in (3, 1, 7, 2, 5) * 9]
    alone = np.stack([embedder.embed_documents([text])[0] for text in texts])
    assert embedder.embed_documents(texts) == pytest.approx(alone, abs=1e-6)


def test_what_the_network_pools_itself_is_taken_as_it_is(save):
    embedder = OnnxEmbedder(save(model=network(pooled=True)))
    assert embedder.embed_query("tea mint") == pytest.approx(unit(rows("tea", "mint").max(axis=0)), abs=1e-6)


def test_only_the_inputs_the_network_has_are_fed(save):
    embedder = OnnxEmbedder(save(model=network(inputs=("input_ids",))))
    assert embedder.dimension == WIDTH
    with pytest.raises(EmbeddingError, match="'pixels'"):
        OnnxEmbedder(save("odd", model=network(inputs=("input_ids", "pixels")))).embed_query("tea")


def test_a_text_longer_than_the_model_reads_is_the_mean_of_its_windows(save):
    embedder = OnnxEmbedder(save(**{"sentence_bert_config.json": {"max_seq_length": 5}}))
    (found,) = embedder.embed_documents(["tea tea tea tea tea tea mint"])
    windows = [rows("tea", "tea", "tea"), rows("tea", "tea", "tea"), rows("mint")]
    by_hand = sum(
        unit(window.mean(axis=0)) * tokens for window, tokens in zip(windows, (3, 3, 1), strict=True)
    )
    assert found == pytest.approx(unit(by_hand), abs=1e-6)


def test_prefixes_of_the_folder_stand_before_each_window(save):
    stored = {"prompts": {"query": "query : ", "document": "passage : "}}
    folder = save(
        **{"config_sentence_transformers.json": stored, "sentence_bert_config.json": {"max_seq_length": 5}}
    )
    embedder = OnnxEmbedder(folder)
    question = rows("query", ":", "tea").mean(axis=0)
    assert embedder.embed_query("tea") == pytest.approx(unit(question), abs=1e-6)
    # Five tokens, of which two are marks and two the prefix: one word to a window.
    halves = [unit(rows("passage", ":", word).mean(axis=0)) for word in ("tea", "mint")]
    assert embedder.embed_documents(["tea mint"])[0] == pytest.approx(unit(halves[0] + halves[1]), abs=1e-6)
    assert OnnxEmbedder(folder, query_prefix="").embed_query("tea") == pytest.approx(
        unit(rows("tea").mean(axis=0)), abs=1e-6
    )


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("BAAI/bge-large-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("models/bge-small-zh/", "为这个句子生成表示以用于检索相关文章：", ""),
        ("BAAI/bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("C:\\models\\e5-small-v2", "query: ", "passage: "),
        ("acme/minilm-l6", "", ""),
        ("acme/zebra-e5x", "", ""),
    ],
)
def test_families_are_known_by_name(name, query, passage):
    assert prompts_for(name, {}) == Prompts(query=query, passage=passage)


def test_an_e5_trained_on_instructions_wants_them_before_questions_only():
    prompts = prompts_for("intfloat/multilingual-e5-large-instruct", {})
    assert prompts.query.startswith("Instruct: ")
    assert prompts.query.endswith("\nQuery: ")
    assert prompts.passage == ""


def test_what_the_caller_says_wins_over_the_folder_and_the_folder_over_the_name():
    stored = {"query": "Q: "}
    assert prompts_for("e5-base", stored) == Prompts(query="Q: ", passage="passage: ")
    assert prompts_for("e5-base", stored, query="", passage="> ") == Prompts(query="", passage="> ")


def test_the_fingerprint_tells_networks_and_settings_apart(save):
    named = OnnxEmbedder(save("a")).fingerprint
    assert named.startswith("onnx/a/8/")
    assert OnnxEmbedder(save("a")).fingerprint == named
    global TABLE
    before, TABLE = TABLE, TABLE + 1e-3
    try:
        other = OnnxEmbedder(save("a")).fingerprint
    finally:
        TABLE = before
    pooled = OnnxEmbedder(save("a", **{"1_Pooling/config.json": {"pooling_mode": "cls"}})).fingerprint
    prefixed = OnnxEmbedder(save("a"), query_prefix="tea ").fingerprint
    assert len({named, other, pooled, prefixed}) == 4


def test_a_file_is_chosen_among_several(save):
    folder = save(file="onnx/model_quantized.onnx")
    with pytest.raises(InvalidInput, match="file="):
        OnnxEmbedder(folder)
    assert OnnxEmbedder(folder, file="onnx/model_quantized.onnx").dimension == WIDTH
    assert OnnxEmbedder(save("flat", file="model.onnx", **{"modules.json": None})).dimension == WIDTH


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ({"modules.json": [{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}]}, "Dense"),
        ({"modules.json": "["}, "cannot be read"),
        ({"modules.json": {}}, "JSON list"),
        ({"config.json": "[]"}, "JSON object"),
        ({"1_Pooling/config.json": {"pooling_mode": "weightedmean"}}, "weightedmean"),
        (
            {"1_Pooling/config.json": {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True}},
            "cls and mean",
        ),
    ],
)
def test_what_cannot_be_run_here_is_refused_at_once(save, parts, what):
    with pytest.raises(InvalidInput, match=what):
        OnnxEmbedder(save(**parts))


def test_a_missing_folder_or_tokenizer_is_named(save, tmp_path):
    with pytest.raises(InvalidInput, match="no folder"):
        OnnxEmbedder(tmp_path / "nowhere")
    folder = save()
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InvalidInput, match=r"tokenizer\.json"):
        OnnxEmbedder(folder)


@pytest.mark.parametrize("name", ["onnx/model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_an_error_of_ours(save, name):
    folder = save()
    (folder / name).write_bytes(b"no such thing")
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        OnnxEmbedder(folder).embed_query("tea")


def test_odd_texts_get_vectors(save):
    embedder = OnnxEmbedder(save())
    found = embedder.embed_documents(["", "\ud83e tea", "  ", "unknown words only"])
    assert np.isfinite(found).all()
    assert embedder.embed_documents([]).shape == (0, WIDTH)


def test_by_name_a_memory_works_with_it(save, tmp_path):
    folder = save()
    assert isinstance(resolve(f"onnx:{folder}"), Embedder)
    for _ in range(2):
        with Hindsight.open(tmp_path / "m.db", embedder=f"onnx:{folder}") as memory:
            memory.remember("mint tea 茶", id="t")
            assert memory.recall("tea", floor=None)[0].unit.id == "t"
            assert memory.stats()["without_vector"] == 0


def test_it_goes_behind_the_cache(save, tmp_path):
    cached = CachedEmbedder(OnnxEmbedder(save()), tmp_path / "v.cache")
    first = cached.embed_documents(["tea", "mint"])
    assert (cached.embed_documents(["mint", "tea"]) == first[::-1]).all()
    cached.close()


def test_without_its_runtime_the_message_names_the_extra(save, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"hindsight-memory\[onnx\]"):
        resolve(f"onnx:{save()}")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_loads_its_own(save):
    embedder = OnnxEmbedder(save(), threads=2)
    wanted = embedder.embed_query("tea").tolist()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(embedder.embed_query("tea").tolist()).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        assert json.load(answer) == wanted
    os.waitpid(child, 0)
