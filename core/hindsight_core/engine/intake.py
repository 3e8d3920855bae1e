"""The way in: from checked items to stored memories.

    items -> episodes stored -> encode -> embed (outside the write lock) -> one transaction: consolidate, put

The episode is committed before anything else is attempted, so a failing extractor or embedder, or a killed process,
never loses words: what is still "pending" is encoded by `reprocess`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hindsight_core.embedding import embed_checked
from hindsight_core.encode import Draft, extract_all, index_text, split
from hindsight_core.engine.foresight import look_ahead, open_pairs, opinions
from hindsight_core.engine.items import Item, fingerprint, make_item
from hindsight_core.engine.keywords import packed_terms
from hindsight_core.engine.parts import Parts, check_models
from hindsight_core.engine.settle import Neighbour, Settler
from hindsight_core.engine.verdicts import Opinions
from hindsight_core.errors import AnswerUnusable, ModelError
from hindsight_core.ports import (
    Extraction,
    ExtractionContext,
    Floats,
    IndexEntry,
    Told,
    Transaction,
    Visibility,
)
from hindsight_core.text.secrets import redact, redact_json
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


def extracted(
    parts: Parts, asked: Sequence[tuple[str, ExtractionContext]]
) -> list[tuple[Extraction, Exception | None]]:
    """What each text is about; rules stand in where the extractor fails, and why it did comes with it."""
    found = extract_all(asked, extractor=parts.extractor, fallback=parts.fallback)
    for why, count in Counter(_reason(error) for _, error in found if error is not None).items():
        log.warning("extraction failed for %d of %d texts (%s); rules stood in", count, len(asked), why)
    return found


def waits(error: Exception | None) -> bool:
    """Whether what failed may succeed later; an answer that cannot be used would be given again."""
    return error is not None and not isinstance(error, AnswerUnusable)


def _reason(error: Exception) -> str:
    """Why, without text of a memory: only messages of our own are known to hold none."""
    return f"{type(error).__name__}: {error}" if isinstance(error, ModelError) else type(error).__name__


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
    """Index entries of texts: vectors and learnt weights in one batch each."""
    found = zip(embed(parts, texts), packed_terms(parts.keywords, texts), strict=True)
    return [IndexEntry(vector=vector, terms=packed) for vector, packed in found]


def _given(item: Item, consolidate: bool) -> dict[str, Any]:
    """What the caller asked for beyond the text, as an episode keeps it while it is pending."""
    asked: dict[str, Any] = {
        "own_id": item.id is not None or None,
        "importance": item.importance,
        "memory_type": item.memory_type and item.memory_type.value,
        "expires_at": item.expires_at and item.expires_at.isoformat(),
        "indexed": None if item.indexed else False,
        "pinned": item.pinned or None,
        "consolidate": None if consolidate else False,
    }
    return {name: value for name, value in asked.items() if value is not None}


def asked_for(episode: Episode) -> tuple[Item, bool]:
    """A pending episode as the item it came from, and whether its units are to be compared with what is there.

    Raises:
        InvalidInput: What it keeps is none of it, as may be in a file that was edited.
    """
    given = dict(episode.given)
    consolidate, own_id = given.pop("consolidate", True), given.pop("own_id", False)
    item = make_item({**given, "text": episode.text, "timestamp": episode.timestamp}, episode.recorded_at)
    return (
        replace(
            item,
            id=episode.id if own_id else None,
            source=episode.source,
            document=episode.source.document is not None,
            metadata=episode.metadata,
        ),
        bool(consolidate),
    )


def _episode(item: Item, episode_id: str, scope: Scope, now: datetime, *, consolidate: bool) -> Episode:
    return Episode(
        scope=scope,
        id=episode_id,
        text=item.text,
        source=replace(item.source, episode=episode_id),
        timestamp=item.timestamp,
        recorded_at=now,
        metadata=item.metadata,
        envelope=item.envelope,
        given=_given(item, consolidate),
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
    drafts: list[Draft] = field(default_factory=list)
    entries: list[IndexEntry] = field(default_factory=list)
    stored: list[MemoryUnit] = field(default_factory=list)
    failed: bool = False


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
    jobs = _jobs(parts, items, scope, now, consolidate=consolidate)
    known = {e.id: e for e in parts.store.episodes(scope, [job.episode.id for job in jobs])}
    todo = []
    for job in jobs:
        earlier = known.get(job.episode.id)
        if job.item.resumable and earlier is not None and earlier.text == job.episode.text:
            there = parts.store.units_of(scope, earlier.id)
            # A forgotten memory comes back when it is told again by its id, not when an old ingest runs again.
            if there or earlier.state == "encoded":
                job.stored = there
                continue
        todo.append(job)
    if todo:
        # What was said is safe from whatever happens next; the write below waits for the disk for both. A model may
        # take minutes, so that before one is asked the words are on the disk.
        slow = parts.extractor is not parts.fallback or parts.judge is not None
        with parts.store.write(actor=actor, batch=batch, now=now, durable=slow) as tx:
            check_models(parts)
            for job in todo:
                tx.put_episode(job.episode)
        opinions = _encode(parts, todo, scope, now, consolidate=consolidate)
        with parts.store.write(actor=actor, batch=batch, now=now) as tx:
            check_models(parts)
            _store_all(parts, tx, todo, scope, now, consolidate=consolidate, opinions=opinions)
    return [job.stored for job in jobs]


def _jobs(
    parts: Parts, items: Sequence[Item], scope: Scope, now: datetime, *, consolidate: bool
) -> list[_Job]:
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
        jobs.append(_Job(item, _episode(item, episode_id, scope, now, consolidate=consolidate)))
    return jobs


def _encode(
    parts: Parts, jobs: Sequence[_Job], scope: Scope, now: datetime, *, consolidate: bool
) -> Opinions:
    """Split, embed and extract; returns what the extractor and the judge think the texts mean for what is near."""
    pieces = [
        (job, content, source)
        for job in jobs
        for content, source in split(job.episode, document=job.item.document)
    ]
    made = entries(parts, [index_text(content, source) for _, content, source in pieces])
    texts = [Told(content, source.speaker, job.episode.timestamp) for job, content, source in pieces]
    compared = [consolidate and job.item.indexed for job, _, _ in pieces]
    near = open_pairs(parts, texts, made, compared, scope, now)
    asked = [
        (one.text, context_of(parts, one, tuple(old for old, _ in known)))
        for one, known in zip(texts, near, strict=True)
    ]
    look_ahead(parts, made, compared, scope, now)
    found = extracted(parts, asked)
    for (job, content, source), entry, (extraction, error) in zip(pieces, made, found, strict=True):
        job.drafts.append(Draft(content=content, source=source, extraction=extraction))
        job.entries.append(entry)
        job.failed |= waits(error)
    return opinions(parts, texts, near, [extraction for extraction, _ in found])


def context_of(parts: Parts, told: Told, near: tuple[Told, ...] = ()) -> ExtractionContext:
    """What an extractor may know of a text."""
    return ExtractionContext(
        timestamp=told.timestamp, speaker=told.speaker, entity_types=parts.profile.entity_types, near=near
    )


def _store_all(
    parts: Parts,
    tx: Transaction,
    jobs: Sequence[_Job],
    scope: Scope,
    now: datetime,
    *,
    consolidate: bool,
    opinions: Opinions,
) -> None:
    """Put the memories of all jobs; with consolidation, each in the light of what is near it."""
    with ExitStack() as stack:
        view = None
        if consolidate and parts.calibration is not None:
            view = stack.enter_context(parts.store.reading(Visibility(scopes=(scope,), now=now)))
        settler = Settler(tx, view, scope, now, parts.calibration, opinions, decay=parts.profile.decay)
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
    tx.put_episode(job.episode if job.failed else replace(job.episode, state="encoded", given={}))


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


def encode_pending(
    parts: Parts, episodes: Sequence[Episode], scope: Scope, now: datetime, *, batch: str
) -> int:
    """Encode episodes that have no memories yet, as after a killed process; returns how many are encoded now.

    It is done as it was asked for when they were told. Told again meanwhile, a text is one memory and not two.
    """
    jobs: dict[bool, list[_Job]] = {}
    for episode in episodes:
        item, consolidate = asked_for(episode)
        jobs.setdefault(consolidate, []).append(_Job(item, episode))
    for consolidate, some in jobs.items():
        opinions = _encode(parts, some, scope, now, consolidate=consolidate)
        with parts.store.write(actor="reprocess", batch=batch, now=now) as tx:
            check_models(parts)
            # Another process may have been at it.
            bare = [job for job in some if not tx.units_of(scope, job.episode.id)]
            _store_all(parts, tx, bare, scope, now, consolidate=consolidate, opinions=opinions)
    return sum(not job.failed for some in jobs.values() for job in some)
