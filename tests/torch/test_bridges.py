"""Models of Hugging Face through the frameworks' own classes into the core, instructions kept."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="run by make test-torch")
pytest.importorskip("sentence_transformers", reason="run by make test-torch")

from sentence_transformers import SentenceTransformer

from hindsight_core import Hindsight
from hindsight_core.errors import EmbedderMismatch

BGE_ZH = "为这个句子生成表示以用于检索相关文章："


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def own(folder, text):
    return unit(SentenceTransformer(str(folder), device="cpu").encode(text))


@pytest.mark.parametrize(
    ("name", "query", "text"),
    [("bge-large-zh-v1.5", BGE_ZH, None), ("bge-m3", None, None), ("bge-m3", "query : ", "passage : ")],
)
def test_llamaindex(save_model, tmp_path, name, query, text):
    pytest.importorskip("llama_index.embeddings.huggingface", reason="run by make test-torch")
    from llama_index.embeddings.huggingface import HuggingFaceEmbedding

    from hindsight_llamaindex import HindsightRetriever, LlamaIndexEmbedder

    folder = save_model(name)

    def embedder(**changes):
        instructions = {"query_instruction": query, "text_instruction": text, **changes}
        return LlamaIndexEmbedder(HuggingFaceEmbedding(str(folder), device="cpu", **instructions))

    bridged = embedder()
    assert bridged.embed_query("茶 tea") == pytest.approx(own(folder, f"{query or ''}茶 tea"), abs=1e-5)
    (row,) = bridged.embed_documents(["茶 tea"])
    assert row == pytest.approx(own(folder, f"{text or ''}茶 tea"), abs=1e-5)
    with Hindsight.open(tmp_path / "m.db", embedder=bridged) as memory:
        memory.remember("mint tea 茶", id="t")
        (found,) = memory.vectors([memory.get("t")])
        assert found == pytest.approx(own(folder, f"{text or ''}mint tea 茶"), abs=1e-5)
        assert HindsightRetriever(memory).retrieve("tea")[0].node.node_id == "t"
    with pytest.raises(EmbedderMismatch):
        Hindsight.open(tmp_path / "m.db", embedder=embedder(query_instruction="ask : "))


def test_langchain(save_model, tmp_path):
    pytest.importorskip("langchain_huggingface", reason="run by make test-torch")
    from langchain_huggingface import HuggingFaceEmbeddings

    from hindsight_langchain import HindsightRetriever, LangChainEmbedder

    folder = save_model("bge-large-zh-v1.5")
    model = HuggingFaceEmbeddings(
        model_name=str(folder), model_kwargs={"device": "cpu"}, query_encode_kwargs={"prompt": BGE_ZH}
    )
    bridged = LangChainEmbedder(model)
    assert bridged.embed_query("茶 tea") == pytest.approx(own(folder, f"{BGE_ZH}茶 tea"), abs=1e-5)
    assert bridged.embed_documents(["茶 tea"])[0] == pytest.approx(own(folder, "茶 tea"), abs=1e-5)
    with Hindsight.open(tmp_path / "m.db", embedder=bridged) as memory:
        memory.remember("mint tea 茶", id="t")
        assert HindsightRetriever(memory=memory).invoke("tea")[0].id == "t"
