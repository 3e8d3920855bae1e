"""Learnt keywords: whose weights a store holds, and those of what is written and asked.

They stand in the packed terms, before the words (see `text.learnt`). What a sparse embedder fails on keeps its words alone, and
these are asked instead; `reembed()` adds the tokens later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import numpy as np

from hindsight_core.embedding import Keywords, keywords_of, sparse_checked
from hindsight_core.errors import EmbedderMismatch, EmbeddingError, StoreCorrupted
from hindsight_core.ports import Ids, SparseEmbedder, Store, Transaction
from hindsight_core.text.tokens import pack, terms

log = logging.getLogger(__name__)

FINGERPRINT = "keywords.fingerprint"
SCALE = "keywords.scale"


def check_keywords(meta: Mapping[str, str], embedder: SparseEmbedder | None) -> None:
    """Refuse a sparse embedder whose tokens do not fit what a store with these settings holds; nothing is written.

    Raises:
        EmbedderMismatch: Naming both, and the ways out.
    """
    held = meta.get(FINGERPRINT)
    if held is not None and embedder is not None and held != embedder.sparse_fingerprint:
        raise EmbedderMismatch(
            f"this store holds keyword weights of {held}, but the sparse embedder given is {embedder.sparse_fingerprint}. "
            "Open it with the first, or move it over: Hindsight.open(path, scope, keywords=None).reembed(keywords=NEW)"
        )


def adopt_keywords(
    store: Store, embedder: SparseEmbedder, now: datetime, new_id: Callable[[datetime], str]
) -> Keywords:
    """Write down whose weights the store holds, and their scale (measured once)."""
    meta = store.meta()
    if meta.get(FINGERPRINT) == embedder.sparse_fingerprint and SCALE in meta:
        try:
            return Keywords(embedder, float(meta[SCALE]))
        except ValueError as error:
            raise StoreCorrupted(
                "the store's settings cannot be read; restore the file from a copy"
            ) from error
    made = keywords_of(embedder)
    with store.write(actor="engine", batch=new_id(now), now=now) as tx:
        note_keywords(tx, made)
    return made


def note_keywords(tx: Transaction, keywords: Keywords) -> None:
    """Write down whose weights the store holds from now on."""
    tx.set_meta(FINGERPRINT, keywords.embedder.sparse_fingerprint)
    tx.set_meta(SCALE, repr(keywords.scale))


def packed_terms(keywords: Keywords | None, texts: Sequence[str]) -> list[Ids]:
    """Packed terms of texts: their words, and their tokens where a sparse embedder weighs them (failures are logged, no text)."""
    words = [pack(terms(text)) for text in texts]
    if keywords is None or not texts:
        return words
    tokens, failures = sparse_checked(keywords.embedder, list(texts))
    if failures:
        log.warning(
            "weighing keywords failed for %d of %d texts (%s); stored without, reembed() adds them",
            len(failures),
            len(texts),
            type(failures[0][1]).__name__,
        )
    return [
        word if token is None else np.concatenate([token, word])
        for word, token in zip(words, tokens, strict=True)
    ]


def question_weights(keywords: Keywords | None, text: str) -> Mapping[int, float]:
    """Learnt weights of a question; none without a sparse embedder, or when it fails (logged): its words are asked then."""
    if keywords is None:
        return {}
    try:
        return keywords.of_question(text)
    except EmbeddingError as error:
        log.warning("weighing the question failed (%s); asked by its words", type(error).__name__)
        return {}
