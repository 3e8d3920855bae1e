"""What the handles of one open store share, and how it is put together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from hindsight_core.clock import SystemClock, TimeOrderedIds
from hindsight_core.embedding import (
    Calibration,
    EndpointEmbedder,
    Keywords,
    dump_calibration,
    load_calibration,
    measure,
    resolve,
    resolve_sparse,
)
from hindsight_core.encode import RulesExtractor
from hindsight_core.engine.keywords import adopt_keywords, check_keywords
from hindsight_core.errors import (
    EmbedderMismatch,
    EmbedderUnavailable,
    InvalidInput,
    MissingExtra,
    StoreCorrupted,
)
from hindsight_core.ports import Clock, Embedder, Extractor, Judge, Store
from hindsight_core.profiles import Profile
from hindsight_core.reranking import BoundedReranker, resolve_reranker
from hindsight_core.stores.opening import open_place
from hindsight_core.text.counting import token_counter

log = logging.getLogger(__name__)

FINGERPRINT = "embedder.fingerprint"
DIMENSION = "embedder.dimension"
CALIBRATION = "embedder.calibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The engine's parts, shared by all handles of one store.

    Attributes:
        store: Where memories live.
        embedder: Or None: three channels work.
        extractor: Finds summary, entities, importance, type.
        fallback: Stands in when the extractor fails.
        judge: Says what a text means for another where rules cannot tell; None: the rules decide alone.
        profile: Settings.
        clock: The time.
        new_id: Makes an id for something made at an instant.
        calibration: Of the embedder's cosines; None without an embedder.
        count_tokens: Counts tokens for context blocks.
        reranker: Or None: the fused order stands.
        keywords: Gives words learnt weights; None: BM25 alone.
        closes: Closes what was opened along with the store: caches, connections.
    """

    store: Store
    embedder: Embedder | None
    extractor: Extractor
    fallback: Extractor
    judge: Judge | None
    profile: Profile
    clock: Clock
    new_id: Callable[[datetime], str]
    calibration: Calibration | None
    count_tokens: Callable[[str], int]
    reranker: BoundedReranker | None = None
    keywords: Keywords | None = None
    closes: ExitStack = field(default_factory=ExitStack)


def default_embedder(wanted: Any) -> Embedder | None:
    """The embedder for what the caller passed; "auto" means the bundled one where it is installed, else none."""
    if wanted != "auto":
        return resolve(wanted)
    try:
        return resolve("local")
    except MissingExtra as missing:
        log.warning("no embedder: recall works by words, names and time only. %s", missing)
        return None


def open_store(path: str | Path | Store) -> Store:
    """A store from a path or an address, or a store as it is."""
    if isinstance(path, str | Path):
        return open_place(path)
    if isinstance(path, Store):
        return path
    raise InvalidInput(f"open() takes a path, an address or a store, not {type(path).__name__}")


def check_embedder(meta: Mapping[str, str], embedder: Embedder | None) -> None:
    """Refuse an embedder whose vectors do not fit what a store with these settings holds; nothing is written.

    Raises:
        EmbedderMismatch: Naming both, and the ways out.
    """
    held = meta.get(FINGERPRINT)
    if held is None or embedder is None or held == embedder.fingerprint:
        return
    size = meta.get(DIMENSION, "?")
    raise EmbedderMismatch(
        f"this store holds vectors of {held} ({size} dimensions), but the embedder given is {embedder.fingerprint} "
        f"({embedder.dimension} dimensions). Open it with the first, or move it over: "
        f"Hindsight.open(path, scope, embedder=None).reembed(NEW)"
    )


def _reach(meta: Mapping[str, str], embedder: Embedder | None) -> None:
    """Take an endpoint that is away at its name, so that a store of its vectors opens without it.

    Raises:
        EmbedderUnavailable: It cannot be asked, and the store holds no vectors of a model of this name.
    """
    try:
        if embedder is None or embedder.fingerprint:
            return
    except EmbedderUnavailable as away:
        endpoint = getattr(embedder, "inner", embedder)
        held, size = meta.get(FINGERPRINT), meta.get(DIMENSION, "")
        if held is None or not size.isdigit() or not isinstance(endpoint, EndpointEmbedder):
            raise
        if not endpoint.expect(held, int(size)):
            raise
        log.warning("%s: until it is back, recall works by words, names and time only", away)


def check_models(parts: Parts) -> None:
    """Refuse to write vectors or weights of models that the store was moved away from after it was opened here.

    Called inside the write, where no other process can move it; vectors of two models would be mixed otherwise.

    Raises:
        EmbedderMismatch: Naming both, and the ways out.
    """
    meta = parts.store.meta()
    check_embedder(meta, parts.embedder)
    check_keywords(meta, None if parts.keywords is None else parts.keywords.embedder)


def adopt_embedder(
    store: Store, embedder: Embedder, now: datetime, new_id: Callable[[datetime], str]
) -> Calibration:
    """Write down whose vectors the store holds, and how its cosines are calibrated (measured once)."""
    meta = store.meta()
    if meta.get(FINGERPRINT) == embedder.fingerprint and CALIBRATION in meta:
        try:
            return load_calibration(meta[CALIBRATION])
        except (ValueError, KeyError, TypeError) as error:
            raise StoreCorrupted(
                "the store's settings cannot be read; restore the file from a copy"
            ) from error
    written = dump_calibration(measure(embedder))
    with store.write(actor="engine", batch=new_id(now), now=now) as tx:
        tx.set_meta(FINGERPRINT, embedder.fingerprint)
        tx.set_meta(DIMENSION, str(embedder.dimension))
        tx.set_meta(CALIBRATION, written)
    return load_calibration(written)  # as every later opening reads it, to the last digit


def _check_kinds(*, profile: object, extractor: object, judge: object, clock: object, new_id: object) -> None:
    """Refuse parts that cannot do their work before the store is touched."""
    fit = {
        "profile must be a Profile, such as profiles.DEFAULT": isinstance(profile, Profile),
        "extractor needs a method extract": extractor is None
        or callable(getattr(extractor, "extract", None)),
        "judge needs a method judge": judge is None or callable(getattr(judge, "judge", None)),
        "clock needs a method now": clock is None or callable(getattr(clock, "now", None)),
        "new_id must be a function from an instant to an id": new_id is None or callable(new_id),
    }
    for rule, kept in fit.items():
        if not kept:
            raise InvalidInput(rule)


def open_parts(
    path: str | Path | Store,
    *,
    embedder: Any,
    keywords: Any = None,
    extractor: Extractor | None,
    judge: Judge | None,
    profile: Profile,
    clock: Clock | None,
    new_id: Callable[[datetime], str] | None,
    count_tokens: Any,
    reranker: Any = None,
) -> Parts:
    """Open a store and put the parts together; on any error the store is closed again."""
    _check_kinds(profile=profile, extractor=extractor, judge=judge, clock=clock, new_id=new_id)
    counter, second = token_counter(count_tokens), resolve_reranker(reranker)
    chosen = default_embedder(embedder)
    sparse = resolve_sparse(keywords, chosen)
    clock, new_id = clock or SystemClock(), new_id or TimeOrderedIds()
    store = open_store(path)
    try:
        calibration, weighing = None, None
        _reach(store.meta(), chosen)
        check_embedder(store.meta(), chosen)
        check_keywords(store.meta(), sparse)
        if sparse is not None:
            weighing = adopt_keywords(store, sparse, clock.now(), new_id)
        if chosen is not None:
            calibration = adopt_embedder(store, chosen, clock.now(), new_id)
    except BaseException:
        store.close()
        raise
    rules = RulesExtractor()
    return Parts(
        store=store,
        embedder=chosen,
        extractor=extractor or rules,
        fallback=rules,
        judge=judge,
        profile=profile,
        clock=clock,
        new_id=new_id,
        calibration=calibration,
        count_tokens=counter,
        reranker=second,
        keywords=weighing,
    )
