"""What a memory has to beat: the pipelines that people build instead of one.

    vector              nearest passages by cosine
    bm25                Okapi BM25 over words and Chinese character pairs
    bm25-whitespace     the same over `text.split()`, the default of frameworks; a Chinese sentence is one word to it
    hybrid              vector and bm25, joined by reciprocal rank fusion
    hybrid-whitespace   vector and bm25-whitespace, joined alike

BM25 is `rank-bm25`'s (S. Robertson, H. Zaragoza, 2009). Reciprocal rank fusion gives a passage the sum of 1 / (60 + rank)
over the rankings that hold it (G. Cormack, C. Clarke, S. Buettcher, SIGIR 2009). A reranker, where one is given, reorders
the best 50.

They are treated well: they see the same pieces as Hindsight with the speaker's name in front, they know the bank, and
passages that share no word with the question do not take part in keyword rankings. They have no floor, and no time.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import Any

import numpy as np

from hindsight_core.embedding import embed_checked
from hindsight_core.encode import index_text
from hindsight_core.errors import InvalidInput, MissingExtra
from hindsight_core.evaluation.dataset import Memory, Question
from hindsight_core.evaluation.systems import Answer, Found, Stopwatch, distinct
from hindsight_core.ports import Doubles, Embedder, Floats, Ints, Reranker
from hindsight_core.recall import estimate_tokens
from hindsight_core.text.split import pieces
from hindsight_core.unit import Source

RRF_K = 60
RERANKED = 50

_RUNS = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]+|[^\W_\u3400-\u9fff\uf900-\ufaff]+")

Tokenise = Callable[[str], list[str]]


def words_and_pairs(text: str) -> list[str]:
    """Lower-cased words; a run of Chinese becomes its characters and overlapping pairs of them."""
    tokens: list[str] = []
    for run in _RUNS.findall(text.lower()):
        if run[0] < "\u3400":
            tokens.append(run)
        else:
            tokens += [*run, *(run[i : i + 2] for i in range(len(run) - 1))]
    return tokens


@dataclass(frozen=True, slots=True)
class _Bank:
    """One bank, indexed.

    Attributes:
        owners: The memory each piece is of.
        texts: The pieces.
        vectors: float32 (n, dimension), or None.
        keywords: A BM25 index, or None.
    """

    owners: list[str]
    texts: list[str]
    vectors: Floats | None
    keywords: Any


class Baseline:
    """Vector search, keyword search or both, joined by reciprocal rank fusion.

    Args:
        name: Shown in reports.
        embedder: None leaves out vector search.
        tokenise: None leaves out keyword search.
        reranker: Reorders the best 50.

    Raises:
        MissingExtra: Keyword search is wanted and `rank-bm25` is not installed.
    """

    def __init__(
        self,
        name: str,
        *,
        embedder: Embedder | None = None,
        tokenise: Tokenise | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        if embedder is None and tokenise is None:
            raise InvalidInput("a baseline needs an embedder or a tokeniser")
        self.name = name
        self._watch = Stopwatch(embedder) if embedder is not None else None
        self._tokenise = tokenise
        self._bm25 = _bm25() if tokenise is not None else None
        self._reranker = reranker
        self._banks: dict[str, _Bank] = {}

    def load(self, bank: str, memories: Sequence[Memory]) -> None:
        """Index a bank."""
        owners, texts = [], []
        for memory in memories:
            for piece in pieces(memory.text, kind="turn"):
                owners.append(memory.id)
                texts.append(index_text(piece.text, Source(speaker=memory.speaker)))
        vectors = None
        if self._watch is not None:
            vectors = np.zeros((len(texts), self._watch.dimension), np.float32)
            for i, vector in enumerate(embed_checked(self._watch, texts)[0]):
                if vector is not None:
                    vectors[i] = vector
        keywords = None
        if self._tokenise is not None and self._bm25 is not None:
            keywords = self._bm25([self._tokenise(text) for text in texts])
        self._banks[bank] = _Bank(owners, texts, vectors, keywords)

    def ask(self, question: Question, *, now: datetime, k: int, superseded: bool) -> Answer:
        """Rank the question's bank; the turns before a follow-up are put in front of it."""
        bank = self._banks[question.bank]
        query = "\n".join([*question.history, question.text])
        spent = self._watch.spent if self._watch else 0.0
        start = perf_counter()
        order, relevance = self._rank(bank, query)
        order = self._reranked(bank, query, order)
        ranking = distinct(Found(bank.owners[i], relevance[i]) for i in order.tolist())
        seconds = perf_counter() - start - ((self._watch.spent if self._watch else 0.0) - spent)

        def shown(tokens: int) -> set[str]:
            """Pieces one after the other, until the next no longer fits."""
            ids, left = set(), tokens
            for i in order.tolist():
                left -= estimate_tokens(bank.texts[i] + "\n")
                if left < 0:
                    break
                ids.add(bank.owners[i])
            return ids

        return Answer(ranking=ranking[: 3 * k], returned=None, seconds=seconds, shown=shown)

    def close(self) -> None:
        """Forget everything."""
        self._banks.clear()

    def _rank(self, bank: _Bank, query: str) -> tuple[Ints, Doubles]:
        cosine = np.zeros(len(bank.texts))
        rankings: list[Ints] = []
        if self._watch is not None and bank.vectors is not None:
            cosine = (bank.vectors @ self._watch.embed_query(query)).astype(np.float64)
            rankings.append(np.argsort(-cosine, kind="stable"))
        if self._tokenise is not None:
            scores = np.asarray(bank.keywords.get_scores(self._tokenise(query)))
            ranked = np.argsort(-scores, kind="stable")
            rankings.append(ranked[scores[ranked] > 0])
        if len(rankings) == 1:
            return rankings[0], np.clip(cosine, 0.0, 1.0)
        fused = np.zeros(len(bank.texts))
        for ranked in rankings:
            fused[ranked] += 1 / (RRF_K + 1 + np.arange(len(ranked)))
        return np.argsort(-fused, kind="stable"), np.clip(cosine, 0.0, 1.0)

    def _reranked(self, bank: _Bank, query: str, order: Ints) -> Ints:
        if self._reranker is None or not len(order):
            return order
        best = order[:RERANKED]
        scores = np.asarray(self._reranker.rerank(query, [bank.texts[i] for i in best.tolist()]))
        return np.concatenate([best[np.argsort(-scores, kind="stable")], order[RERANKED:]])


def _bm25() -> Any:
    try:
        return importlib.import_module("rank_bm25").BM25Okapi
    except ImportError as error:
        raise MissingExtra("the keyword baseline (rank-bm25)", "eval") from error


BASELINES = ("vector", "bm25", "bm25-whitespace", "hybrid", "hybrid-whitespace")


def baseline(name: str, embedder: Embedder | None, reranker: Reranker | None = None) -> Baseline:
    """A baseline by its name; with a reranker it is called "NAME+rerank".

    Raises:
        InvalidInput: No baseline has that name, or it needs an embedder and there is none.
        MissingExtra: It needs `rank-bm25`.
    """
    if name not in BASELINES:
        raise InvalidInput(f"no baseline is called {name!r}; there are {', '.join(BASELINES)}")
    semantic, spaces = not name.startswith("bm25"), name.endswith("-whitespace")
    if semantic and embedder is None:
        raise InvalidInput(f"the baseline {name!r} needs an embedder")
    tokenise: Tokenise | None = None if name == "vector" else str.split if spaces else words_and_pairs
    return Baseline(
        f"{name}+rerank" if reranker else name,
        embedder=embedder if semantic else None,
        tokenise=tokenise,
        reranker=reranker,
    )
