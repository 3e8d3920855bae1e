"""Moving a store over to another embedder or sparse embedder, and filling in what one of them failed on."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from hindsight_core.embedding import (
    CachedEmbedder,
    Keywords,
    dump_calibration,
    embed_checked,
    keywords_of,
    measure,
    resolve,
    resolve_sparse,
)
from hindsight_core.encode import index_text
from hindsight_core.engine import keywords as learnt
from hindsight_core.engine.parts import CALIBRATION, DIMENSION, FINGERPRINT, Parts, adopt_embedder
from hindsight_core.engine.progress import track
from hindsight_core.engine.transfer import everything
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Embedder, Floats, Ids, SparseEmbedder, Store
from hindsight_core.unit import Key, MemoryUnit, Scope

_BATCH = 256


def reembed(
    parts: Parts, scope: Scope, embedder: Any, keywords: Any, now: datetime, progress: bool | None
) -> int:
    """Fill in what is missing, or move the whole store over to another embedder, another sparse one, or both.

    Returns:
        How many memories were embedded or weighed.
    """
    dense = resolve(embedder)
    sparse = resolve_sparse(keywords, dense or parts.embedder)
    if dense is None and sparse is None:
        dense = parts.embedder
        sparse = None if parts.keywords is None else parts.keywords.embedder
    if dense is None and sparse is None:
        raise InvalidInput("there is no embedder to embed with; pass one: reembed(embedder)")
    embedded = 0 if dense is None else _embed(parts, dense, scope, now, progress)
    weighed = 0 if sparse is None else _weigh(parts, sparse, scope, now, progress)
    return max(embedded, weighed)


def _embed(parts: Parts, target: Embedder, scope: Scope, now: datetime, progress: bool | None) -> int:
    """Fill in missing vectors, or move the whole store over to another embedder.

    Moving over is resumable: new vectors are collected in a file beside the store, and only when the last one is there
    the store changes over, in one transaction. Until then it answers with the old ones.
    """
    if parts.store.meta().get(FINGERPRINT) in (None, target.fingerprint):
        return _fill_gaps(parts, target, scope, now, progress)
    path = getattr(parts.store, "path", ":memory:")
    if path == ":memory:":
        vectors = _vectors(parts.store, target, progress)
    else:
        side = Path(f"{path}.reembed")
        cached = CachedEmbedder(target, side)
        try:
            vectors = _vectors(parts.store, cached, progress)
        finally:
            cached.close()
    calibration = measure(target)
    with parts.store.write(actor="reembed", batch=parts.new_id(now), now=now) as tx:
        # What was remembered meanwhile is few, and is embedded under the lock.
        late = [u for u in _every_unit(parts.store) if u.key not in vectors]
        vectors |= dict(
            zip((u.key for u in late), target.embed_documents([_text(u) for u in late]), strict=True)
        )
        tx.set_meta(FINGERPRINT, target.fingerprint)
        tx.set_meta(DIMENSION, str(target.dimension))
        tx.set_meta(CALIBRATION, dump_calibration(calibration))
        tx.set_vectors(vectors)
    if path != ":memory:":
        for name in (f"{path}.reembed", f"{path}.reembed-wal", f"{path}.reembed-shm"):
            Path(name).unlink(missing_ok=True)
    return len(vectors)


def _text(unit: MemoryUnit) -> str:
    return index_text(unit.content, unit.source)


def _every_unit(store: Store) -> list[MemoryUnit]:
    roots = dict.fromkeys(scope[:1] for scope in store.scopes())
    return [unit for root in roots for unit in store.find(everything(root))]


def _vectors(store: Store, embedder: Embedder, progress: bool | None) -> dict[Key, Floats]:
    units = _every_unit(store)
    vectors: dict[Key, Floats] = {}
    starts = range(0, len(units), _BATCH)
    for start in track(starts, total=len(units), step=_BATCH, label="embedding", show=progress):
        part = units[start : start + _BATCH]
        embedded = embedder.embed_documents([_text(unit) for unit in part])
        vectors |= dict(zip((unit.key for unit in part), embedded, strict=True))
    return vectors


def _fill_gaps(parts: Parts, embedder: Embedder, scope: Scope, now: datetime, progress: bool | None) -> int:
    adopt_embedder(parts.store, embedder, now, parts.new_id)
    bare = parts.store.without_vector(everything(scope))
    filled = 0
    starts = range(0, len(bare), _BATCH)
    for start in track(starts, total=len(bare), step=_BATCH, label="embedding", show=progress):
        units = [unit for unit in parts.store.get(bare[start : start + _BATCH]) if unit is not None]
        vectors, failures = embed_checked(embedder, [_text(unit) for unit in units])
        found = {u.key: v for u, v in zip(units, vectors, strict=True) if v is not None}
        if failures and not found:
            raise failures[0][1]
        with parts.store.write(actor="reembed", batch=parts.new_id(now), now=now) as tx:
            tx.set_vectors(found)
        filled += len(found)
    return filled


def _weigh(parts: Parts, embedder: SparseEmbedder, scope: Scope, now: datetime, progress: bool | None) -> int:
    """Fill in missing tokens, or move the whole store over to another sparse embedder, in one step at the end."""
    if parts.store.meta().get(learnt.FINGERPRINT) in (None, embedder.sparse_fingerprint):
        made = learnt.adopt_keywords(parts.store, embedder, now, parts.new_id)
        return _add_tokens(parts, made, scope, now, progress)
    made = keywords_of(embedder)
    packed = _packed(made, _every_unit(parts.store), progress)
    with parts.store.write(actor="reembed", batch=parts.new_id(now), now=now) as tx:
        packed |= _packed(made, [u for u in _every_unit(parts.store) if u.key not in packed], False)
        learnt.note_keywords(tx, made)
        tx.set_terms(packed)
    return len(packed)


def _packed(keywords: Keywords, units: list[MemoryUnit], progress: bool | None) -> dict[Key, Ids]:
    found: dict[Key, Ids] = {}
    starts = range(0, len(units), _BATCH)
    for start in track(starts, total=len(units), step=_BATCH, label="weighing", show=progress):
        part = units[start : start + _BATCH]
        texts = [_text(unit) for unit in part]
        found |= dict(zip((unit.key for unit in part), learnt.packed_terms(keywords, texts), strict=True))
    return found


def _add_tokens(parts: Parts, keywords: Keywords, scope: Scope, now: datetime, progress: bool | None) -> int:
    bare = parts.store.without_tokens(everything(scope))
    starts = range(0, len(bare), _BATCH)
    for start in track(starts, total=len(bare), step=_BATCH, label="weighing", show=progress):
        units = [unit for unit in parts.store.get(bare[start : start + _BATCH]) if unit is not None]
        packed = _packed(keywords, units, False)
        with parts.store.write(actor="reembed", batch=parts.new_id(now), now=now) as tx:
            tx.set_terms(packed)
    return len(bare)
