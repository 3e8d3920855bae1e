"""The way in: from checked items to stored memories.

    items -> episodes stored -> encode -> embed (outside the write lock) -> one transaction: consolidate, put

The episode is committed before anything else is attempted, so a failing extractor or embedder, or a killed process,
never loses words: what is still "pending" is encoded by `resume`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.embedding import embed_checked
from hindsight_core.encode import Draft, encode, index_text
from hindsight_core.engine.items import Item, fingerprint
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.settle import Neighbour, Settler
from hindsight_core.ports import Extraction, ExtractionContext, Floats, IndexEntry, Transaction, Visibility
from hindsight_core.text.secrets import redact, redact_json
from hindsight_core.text.tokens import pack, terms
from hindsight_core.unit import Episode, MemoryUnit, Scope, Status

if TYPE_CHECKING:
    from hindsight_core.profiles import Profile

log = logging.getLogger(__name__)


def redacted(item: Item, profile: Profile) -> Item:
    """The item without secrets, where the profile says so."""
    if not profile.redact_secrets:
        return item
    names = ("speaker", "session", "document", "uri", "section")
    told: dict[str, Any] = {
        name: redact(text).text for name in names if (text := getattr(item.source, name)) is not None
    }
    return replace(
        item,
        text=redact(item.text).text,
        metadata=redact_json(item.metadata),
        envelope=redact_json(item.envelope),
        source=replace(item.source, **told),
    )


def extracted(parts: Parts, text: str, context: ExtractionContext) -> Extraction:
    """What a text is about; rules stand in for an extractor that fails."""
    try:
        return parts.extractor.extract(text, context)
    except Exception as error:  # noqa: BLE001 (any extractor's fault)
        log.warning("extraction failed (%s); rules stood in", type(error).__name__)
        return parts.fallback.extract(text, context)


def embed(parts: Parts, texts: Sequence[str]) -> list[Floats | None]:
    """One vector per text; None without an embedder or for a text on which it failed (logged, no text)."""
    if parts.embedder is None or not texts:
        return [None] * len(texts)
    vectors, failures = embed_checked(parts.embedder, list(texts))
    for index, error in failures:
        log.warning(
            "embedding text %d of %d failed (%s); stored without a vector, reembed() adds it",
            index + 1,
            len(texts),
            type(error).__name__,
        )
    failed = {index for index, _ in failures}
    return [None if i in failed else vectors[i] for i in range(len(texts))]


def entries(parts: Parts, texts: Sequence[str]) -> list[IndexEntry]:
    """Index entries of texts: vectors in one batch, terms one by one."""
    return [
        IndexEntry(vector=vector, terms=pack(terms(text)))
        for text, vector in zip(texts, embed(parts, texts), strict=True)
    ]


def _episode(item: Item, episode_id: str, scope: Scope, now: datetime) -> Episode:
    return Episode(
        scope=scope,
        id=episode_id,
        text=item.text,
        source=replace(item.source, episode=episode_id),
        timestamp=item.timestamp,
        recorded_at=now,
        metadata=item.metadata,
        envelope=item.envelope,
    )


def _unit(parts: Parts, item: Item, draft: Draft, scope: Scope, unit_id: str, now: datetime) -> MemoryUnit:
    found = draft.extraction
    importance = found.importance if item.importance is None else item.importance
    return MemoryUnit(
        scope=scope,
        id=unit_id,
        content=draft.content,
        summary=found.summary,
        entities=found.entities,
        timestamp=item.timestamp,
        valid_from=item.timestamp,
        recorded_at=now,
        expires_at=item.expires_at,
        pinned=item.pinned,
        indexed=item.indexed,
        importance=importance,
        weight=importance,
        weight_at=now,
        source=draft.source,
        memory_type=item.memory_type or found.memory_type,
        caller_id=item.id is not None,
        metadata=item.metadata,
    )


def _unit_ids(parts: Parts, item: Item, count: int, now: datetime) -> list[str]:
    if item.id is None:
        return [parts.new_id(now) for _ in range(count)]
    return [item.id] if count == 1 else [f"{item.id}#{i}" for i in range(1, count + 1)]


@dataclass(slots=True)
class _Job:
    """One episode on its way in."""

    item: Item
    episode: Episode
    drafts: list[Draft]
    entries: list[IndexEntry]
    stored: list[MemoryUnit]


def take_in(
    parts: Parts,
    items: Sequence[Item],
    scope: Scope,
    now: datetime,
    *,
    batch: str,
    consolidate: bool,
    actor: str,
) -> list[list[MemoryUnit]]:
    """Remember items; of a resumable one whose episode is already encoded with the same text nothing changes.

    Returns:
        Per item the units that now hold it: new ones, or existing ones that gained an occurrence.
    """
    jobs = _jobs(parts, items, scope, now)
    known = {e.id: e for e in parts.store.episodes(scope, [job.episode.id for job in jobs])}
    todo = []
    for job in jobs:
        earlier = known.get(job.episode.id)
        if job.item.resumable and earlier is not None and earlier.text == job.episode.text:
            there = parts.store.units_of(scope, earlier.id) if earlier.state != "pending" else []
            # A forgotten memory comes back when it is told again by its id, not when an old ingest runs again.
            if there or earlier.state == "encoded":
                job.stored = there
                continue
        todo.append(job)
    if todo:
        # What was said is safe from whatever happens next; the write below waits for the disk for both.
        with parts.store.write(actor=actor, batch=batch, now=now, durable=False) as tx:
            for job in todo:
                tx.put_episode(job.episode)
        _encode(parts, todo)
        with parts.store.write(actor=actor, batch=batch, now=now) as tx:
            _store_all(parts, tx, todo, scope, now, consolidate=consolidate)
    return [job.stored for job in jobs]


def _jobs(parts: Parts, items: Sequence[Item], scope: Scope, now: datetime) -> list[_Job]:
    seen: Counter[str] = Counter()
    jobs = []
    for raw in items:
        item = redacted(raw, parts.profile)
        if item.id is not None:
            episode_id = item.id
        elif item.resumable:
            first = fingerprint(item, 0)
            episode_id = fingerprint(item, seen[first]) if seen[first] else first
            seen[first] += 1
        else:
            episode_id = parts.new_id(now)
        jobs.append(_Job(item, _episode(item, episode_id, scope, now), [], [], []))
    return jobs


def _encode(parts: Parts, jobs: Sequence[_Job]) -> None:
    for job in jobs:
        job.drafts = encode(
            job.episode,
            document=job.item.document,
            entity_types=parts.profile.entity_types,
            extractor=parts.extractor,
            fallback=parts.fallback,
        )
        for draft in job.drafts:
            if draft.failed is not None:
                log.warning(
                    "extraction failed (%s); rules stood in, the episode stays pending",
                    type(draft.failed).__name__,
                )
    texts = [index_text(draft.content, draft.source) for job in jobs for draft in job.drafts]
    ready = iter(entries(parts, texts))
    for job in jobs:
        job.entries = [next(ready) for _ in job.drafts]


def _store_all(
    parts: Parts, tx: Transaction, jobs: Sequence[_Job], scope: Scope, now: datetime, *, consolidate: bool
) -> None:
    """Put the memories of all jobs; with consolidation, each in the light of what is near it."""
    with ExitStack() as stack:
        view = None
        if consolidate and parts.calibration is not None:
            view = stack.enter_context(parts.store.reading(Visibility(scopes=(scope,), now=now)))
        settler = Settler(tx, view, scope, now, parts.calibration)
        compared = [consolidate and job.item.indexed for job in jobs]
        wanted = [
            entry for job, compare in zip(jobs, compared, strict=True) if compare for entry in job.entries
        ]
        near = iter(settler.prepare(wanted))
    for job, compare in zip(jobs, compared, strict=True):
        _store(parts, tx, job, now, settler, near if compare else None)


def _store(
    parts: Parts,
    tx: Transaction,
    job: _Job,
    now: datetime,
    settler: Settler,
    near: Iterator[list[Neighbour]] | None,
) -> None:
    item, scope = job.item, job.episode.scope
    ids = _unit_ids(parts, item, len(job.drafts), now)
    before = tx.units_of(scope, job.episode.id) if item.id is not None else []
    for draft, entry, unit_id in zip(job.drafts, job.entries, ids, strict=True):
        unit = _unit(parts, item, draft, scope, unit_id, now)
        neighbours = None if near is None else next(near)
        earlier = tx.get(unit.key) if item.id is not None else None
        if earlier is not None:
            again = revised(earlier, unit, item, now)
            job.stored.append(earlier if again == earlier else tx.put(again, entry, reason="revised"))
        elif neighbours is not None:
            job.stored.append(settler.settle(unit, entry, neighbours, mergeable=item.id is None))
        else:
            job.stored.append(tx.put(unit, entry, reason="remembered"))
    kept = {unit.id for unit in job.stored}
    for part in before:
        if part.id not in kept and part.source.episode == job.episode.id:
            tx.remove(part.key, reason="no longer part of the text")
    failed = any(draft.failed is not None for draft in job.drafts)
    tx.put_episode(job.episode if failed else replace(job.episode, state="encoded"))


def revised(earlier: MemoryUnit, new: MemoryUnit, item: Item, now: datetime) -> MemoryUnit:
    """An existing memory with new content: what it says changes, what it has lived through stays.

    One that had expired begins a new life, and one that had been archived wakes up: it was told again.
    """
    if earlier.expires_at is not None and earlier.expires_at <= now:
        return replace(new, related_ids=earlier.related_ids)
    asleep = earlier.status is Status.ARCHIVED
    return replace(
        earlier,
        content=new.content,
        summary=new.summary,
        entities=new.entities,
        source=new.source,
        indexed=new.indexed,
        **redated(earlier, new.timestamp if item.dated else earlier.timestamp),
        metadata=new.metadata or earlier.metadata,
        importance=earlier.importance if item.importance is None else item.importance,
        memory_type=item.memory_type or earlier.memory_type,
        expires_at=item.expires_at or earlier.expires_at,
        pinned=item.pinned or earlier.pinned,
        status=Status.ACTIVE if asleep else earlier.status,
        weight=max(earlier.weight, new.weight) if asleep else earlier.weight,
        weight_at=now if asleep else earlier.weight_at,
    )


def redated(unit: MemoryUnit, timestamp: datetime | None) -> dict[str, Any]:
    """The fields that say when something was told; what held from then on moves along."""
    moves = unit.valid_from == unit.timestamp
    return {"timestamp": timestamp, "valid_from": timestamp if moves else unit.valid_from}


def resume(parts: Parts, scope: Scope, now: datetime) -> int:
    """Encode episodes of exactly this scope that are still pending; returns how many became encoded."""
    done = 0
    for episode in parts.store.episodes(scope):
        if episode.state != "pending":
            continue
        item = Item(
            text=episode.text,
            id=episode.id,
            timestamp=episode.timestamp,
            dated=True,
            source=episode.source,
            document=episode.source.document is not None,
            metadata=episode.metadata,
        )
        present = parts.store.units_of(scope, episode.id)
        job = _Job(replace(item, id=episode.id if _named(present, episode.id) else None), episode, [], [], [])
        _encode(parts, [job])
        with parts.store.write(actor="resume", batch=parts.new_id(now), now=now) as tx:
            if not _named(present, episode.id):
                for unit in present:
                    tx.remove(unit.key, reason="encoded anew")
            _store_all(parts, tx, [job], scope, now, consolidate=False)
        done += not any(draft.failed for draft in job.drafts)
    return done


def _named(units: Sequence[MemoryUnit], episode: str) -> bool:
    """Whether the caller named these memories: then their ids are kept."""
    return any(unit.caller_id for unit in units) or not units
