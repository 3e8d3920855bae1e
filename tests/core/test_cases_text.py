"""Texts that break things: longer than an embedder takes, half a character, and Chinese on its way through."""

import json

import pytest

from hindsight_core.embedding import HashEmbedder
from hindsight_core.llm import Chat, ChatReply, LLMExtractor, LLMJudge
from hindsight_core.reranking import BoundedReranker, LLMReranker
from hindsight_core.text.counting import estimate_tokens

LAST = "the gate word is marigold"
LIMIT = 8192


class Limited:
    """Refuses a batch that holds a text beyond its limit, as endpoints do."""

    def __init__(self):
        self._words = HashEmbedder()
        self.dimension, self.fingerprint = self._words.dimension, "limited"
        self.refused = 0

    def embed_documents(self, texts):
        if any(estimate_tokens(text) > LIMIT for text in texts):
            self.refused += 1
            raise RuntimeError("400: maximum context length is 8192 tokens")
        return self._words.embed_documents(texts)

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def long_text(kind):
    filler = {
        "english": "The ferry to the island leaves twice a day. ",
        "one word": "a",
        "chinese": "岛上的渡轮每天开两班冬天的星期日除外",
        "mixed": "岛上的ferry每天开两班",
    }[kind]
    size = estimate_tokens(filler * 1000) / 1000
    return filler * int(41_000 / size) + "\n" + LAST


@pytest.mark.parametrize("kind", ["english", "one word", "chinese", "mixed"])
@pytest.mark.parametrize("source", [None, "notes.md"])
def test_a55_a_message_longer_than_the_embedder_takes_is_kept_to_its_last_line(open_memory, kind, source):
    memory = open_memory(embedder=Limited())
    text = long_text(kind)
    assert estimate_tokens(text) >= 40_000
    memory.remember(text, source=source)
    memory.remember("The shed is green.", id="shed")
    assert "marigold" in memory.recall("marigold")[0].unit.content
    assert memory.stats()["without_vector"] == 0
    assert memory.recall("Which colour is the shed?")[0].unit.id == "shed"


def test_a55_records_kept_whole_are_embedded_in_pieces(open_memory):
    embedder = Limited()
    memory = open_memory(embedder=embedder)
    memory.keep([{"id": "long", "text": long_text("chinese")}, {"id": "short", "text": "The shed is green."}])
    assert embedder.refused
    assert all(vector is not None for vector in memory.vectors(memory.find()))
    assert memory.recall("marigold")[0].unit.id == "long"


def test_a55_one_bad_piece_does_not_lose_the_others(open_memory):
    class Picky(Limited):
        def embed_documents(self, texts):
            if any("island" in text for text in texts):
                raise RuntimeError("400")
            return super().embed_documents(texts)

    memory = open_memory(embedder=Picky())
    memory.remember(long_text("english"))
    assert LAST in memory.recall("What is the gate word?")[0].unit.content


def test_a55_a_question_may_be_as_long(open_memory):
    memory = open_memory(embedder=Limited())
    memory.remember(LAST)
    assert memory.recall(long_text("chinese"), floor=None)[0].unit.content == LAST


LONE = "\ud83e"
DIRTY = f"Ines keeps bees {LONE} behind the shed."


def test_a56_half_a_character_anywhere_is_no_crash_and_the_same_twice(open_memory):
    memory = open_memory(scope=f"user{LONE}")
    (first,) = memory.remember(
        DIRTY, speaker=f"Ines{LONE}", metadata={f"k{LONE}": f"v{LONE}"}, session=f"s{LONE}"
    )
    (again,) = memory.remember(DIRTY, speaker=f"Ines{LONE}", session="other")
    assert again.id == first.id
    assert [o.source.session for o in again.occurrences] == ["other"]
    assert memory.recall(f"Who keeps bees {LONE}?")[0].unit.id == first.id
    assert "bees" in memory.recall("bees").context().encode().decode()
    assert memory.recollect(f"Who keeps bees {LONE}?")
    assert memory.stats()["memories"] == 1


def test_a56_it_survives_the_file_and_the_way_out_and_in(open_memory, tmp_path):
    memory = open_memory(tmp_path / "a.db", scope=f"user{LONE}")
    memory.remember(DIRTY)
    memory.export(tmp_path / "x.jsonl")
    memory.close()
    assert open_memory(tmp_path / "a.db", scope=f"user{LONE}").recall("bees")
    other = open_memory(tmp_path / "b.db")
    assert other.import_(tmp_path / "x.jsonl") >= 1


CHINESE = "网关的端口是 7420，证书六月到期。"


class Scribe:
    """A chat model that says nothing useful and keeps what it was asked."""

    name = "scribe"

    def __init__(self):
        self.prompts = []

    def complete(self, request):
        self.prompts += [message.content for message in request.messages]
        return ChatReply(text="{}")


def test_a57_chinese_is_written_as_it_is_in_prompts_contexts_and_files(open_memory, tmp_path):
    scribe = Scribe()
    chat = Chat(scribe, attempts=1)
    memory = open_memory(
        extractor=LLMExtractor(chat),
        judge=LLMJudge(chat),
        reranker=BoundedReranker(LLMReranker(chat), milliseconds=None),
    )
    memory.remember(CHINESE, speaker="王芳", metadata={"项目": "红隼"})
    memory.remember("网关的端口改成 7421 了。", speaker="王芳")
    hits = memory.recall("网关用哪个端口?", floor=None)
    memory.export(tmp_path / "x.jsonl")
    written = (tmp_path / "x.jsonl").read_text(encoding="utf-8")
    told = [*scribe.prompts, hits.context(), memory.recollect("网关用哪个端口?"), written]
    assert all("\\u" not in text for text in told)
    assert any("端口是 7420" in prompt for prompt in scribe.prompts)
    assert "端口" in hits.context()
    assert {"网关", "红隼", "项目", "王芳"} <= {
        word for word in ("网关", "红隼", "项目", "王芳") if word in written
    }
    assert json.loads(written.splitlines()[0])


def test_a57_in_both_adapters(open_memory):
    memory = open_memory()
    memory.remember(CHINESE, speaker="王芳", metadata={"项目": "红隼"})
    llama = pytest.importorskip("llama_index.core", reason="needs llama-index-core")
    pytest.importorskip("langchain_core", reason="needs langchain-core")
    from hindsight_langchain import HindsightMemory, create_memory_tools
    from hindsight_llamaindex import HindsightRetriever

    assert llama
    (found,) = HindsightRetriever(memory).retrieve("网关用哪个端口?")
    shown = [found.node.get_content(metadata_mode="llm"), found.node.to_json()]
    shown.append(str(HindsightMemory(memory=memory).load_memory_variables({"input": "网关用哪个端口?"})))
    recall = next(tool for tool in create_memory_tools(memory) if "recall" in tool.name)
    shown.append(str(recall.invoke({"query": "网关用哪个端口?"})))
    assert all("\\u" not in text for text in shown[:1] + shown[2:])
    assert sum("证书六月到期" in text for text in shown) >= 3
