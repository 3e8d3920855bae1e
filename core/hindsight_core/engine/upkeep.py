"""Keeping what is there: look-up, change, forgetting, feedback, figures and health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from hindsight_core.encode import index_text
from hindsight_core.engine import intake
from hindsight_core.engine.checks import choice, shown
from hindsight_core.engine.items import clean, make_item
from hindsight_core.engine.lifecycle import reinstate
from hindsight_core.engine.parts import Parts, check_models
from hindsight_core.engine.transfer import everything
from hindsight_core.errors import InvalidInput, NotFound
from hindsight_core.journal import feedback_reason
from hindsight_core.ports import Store, Told, Transaction, Visibility
from hindsight_core.scope import covers
from hindsight_core.tables import html_table
from hindsight_core.text.secrets import redact
from hindsight_core.unit import Key, MemoryUnit, Scope, Status, Units

FEEDBACK_STEP = 0.1
_BATCH = 256
_EVERY = frozenset(Status)
_CHANGES = ("text", "importance", "memory_type", "metadata", "pinned", "expires_at", "timestamp", "status")


def lookup(store: Store, scopes: Sequence[Scope], id: str, own: Scope) -> MemoryUnit | None:
    """A memory by id: in the written scope first, then anywhere that may be read."""
    id = clean(id)
    (unit,) = store.get([(own, id)])
    if unit is not None and any(covers(prefix, own) for prefix in scopes):
        return unit
    for prefix in scopes:
        for scope in store.scopes(prefix):
            (unit,) = store.get([(scope, id)])
            if unit is not None:
                return unit
    return None


def _present(tx: Transaction, scope: Scope, id: str) -> MemoryUnit:
    unit = tx.get((scope, clean(id)))
    if unit is None:
        raise NotFound("no memory with that id in the scope this handle writes")
    return unit


def update(parts: Parts, scope: Scope, id: str, changes: Mapping[str, Any], now: datetime) -> MemoryUnit:
    """Change fields of a memory; new text is encoded anew, what the memory lived through stays."""
    unknown = set(changes) - set(_CHANGES)
    if unknown or not changes:
        raise InvalidInput(f"update takes some of {', '.join(_CHANGES)}; got {sorted(unknown) or 'nothing'}")
    fields = {name: value for name, value in changes.items() if name != "status"}
    item = intake.redacted(make_item({"text": "unchanged", **fields}, now), parts.profile)
    (before,) = parts.store.get([(scope, clean(id))])
    if before is None:
        raise NotFound("no memory with that id in the scope this handle writes")
    content, found, entry = before.content, None, None
    if "text" in changes:
        content = item.text
        context = intake.context_of(parts, replace(Told.by(before), text=content))
        ((found, _),) = intake.extracted(parts, [(content, context)])
        (entry,) = intake.entries(parts, [index_text(content, before.source)])
    with parts.store.write(actor="user", batch=parts.new_id(now), now=now) as tx:
        if entry is not None:
            check_models(parts)
        unit = _present(tx, scope, id)
        unit = replace(
            unit,
            content=content if found else unit.content,
            summary=found.summary if found else unit.summary,
            entities=found.entities if found else unit.entities,
            source=replace(unit.source, span=None) if found else unit.source,
            importance=unit.importance if item.importance is None else item.importance,
            memory_type=item.memory_type or unit.memory_type,
            metadata=item.metadata if "metadata" in changes else unit.metadata,
            pinned=item.pinned if "pinned" in changes else unit.pinned,
            expires_at=item.expires_at if "expires_at" in changes else unit.expires_at,
            **intake.redated(unit, item.timestamp if "timestamp" in changes else unit.timestamp),
            status=choice(Status, changes["status"], "status") if "status" in changes else unit.status,
        )
        return tx.put(unit, entry, reason="updated")


def forget(parts: Parts, scope: Scope, id: str, now: datetime) -> MemoryUnit:
    """Remove a memory; the journal keeps it."""
    with parts.store.write(actor="user", batch=parts.new_id(now), now=now) as tx:
        unit = _present(tx, scope, id)
        reinstate(tx, unit)
        tx.remove(unit.key, reason="forgotten")
    return unit


def clear(parts: Parts, scope: Scope, now: datetime) -> int:
    """Forget everything of a scope and below, in one batch."""
    with parts.store.write(actor="user", batch=parts.new_id(now), now=now) as tx:
        keys = [unit.key for unit in parts.store.find(everything(scope))]
        for key in keys:
            tx.remove(key, reason="cleared")
        for below in parts.store.scopes(scope):
            for episode in parts.store.episodes(below):
                tx.put_episode(replace(episode, state="cleared"))
    return len(keys)


def erase(parts: Parts, scope: Scope, id: str, now: datetime) -> None:
    """Remove a memory from every byte of the store, and what caches hold of it."""
    with parts.store.write(actor="user", batch=parts.new_id(now), now=now) as tx:
        unit = _present(tx, scope, id)
        reinstate(tx, unit)
        tx.erase(unit.key)
    wordings = [unit.content, *(o.text for o in unit.occurrences if o.text)]
    searched = [index_text(text, unit.source) for text in wordings]
    kept_by = (
        (parts.embedder, searched),
        (parts.reranker, searched),
        (parts.extractor, wordings),
        (parts.judge, wordings),
    )
    for part, texts in kept_by:
        forget_text = getattr(part, "erase", None)
        if forget_text is not None:
            forget_text(texts)


def feedback(
    parts: Parts, scope: Scope, keys: Sequence[Key], direction: int, now: datetime, question: str
) -> Units:
    """Move importance by a tenth, up or down, within 0..1, and note on which question, so that tuning can learn from it."""
    if isinstance(direction, bool) or not isinstance(direction, int) or direction not in (1, -1):
        raise InvalidInput(f"feedback is +1 or -1, not {shown(direction)}")
    moved = Units()
    asked = redact(clean(question)).text if parts.profile.redact_secrets else clean(question)
    reason = feedback_reason(direction, asked)
    with parts.store.write(actor="feedback", batch=parts.new_id(now), now=now) as tx:
        for key in keys:
            unit = tx.get(key) if covers(scope, key[0]) else None
            if unit is not None:
                importance = min(1.0, max(0.0, round(unit.importance + direction * FEEDBACK_STEP, 6)))
                moved.append(tx.put(replace(unit, importance=importance), None, reason=reason))
    return moved


class Stats(dict[str, Any]):
    """Counts and sizes by name; shows itself as a table in a notebook."""

    def _repr_html_(self) -> str:
        return html_table(("what", "value"), self.items())


def stats(parts: Parts, reach: tuple[Scope, ...], now: datetime) -> Stats:
    """Figures over what may be read, with the settings that explain a recall."""
    figures = Stats(parts.store.stats(Visibility(scopes=reach, now=now, statuses=_EVERY, unindexed=True)))
    del figures["file_bytes"]  # of the whole store: it would tell how much others have to remember
    figures["profile"] = parts.profile.name
    if parts.keywords is not None:
        figures["keywords"] = parts.keywords.embedder.sparse_fingerprint
    figures["embedder"] = parts.embedder.fingerprint if parts.embedder else "none: words, names and time only"
    return figures


def scopes(parts: Parts, reach: tuple[Scope, ...], now: datetime) -> dict[Scope, int]:
    """How many active memories each scope holds."""
    visible = Visibility(scopes=reach, now=now, unindexed=True)
    return dict(sorted(Counter(vital.key[0] for vital in parts.store.vitals(visible)).items()))


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a check found, and what to do about it."""

    problem: str
    remedy: str


def doctor(parts: Parts, reach: tuple[Scope, ...], now: datetime) -> list[Finding]:
    """Check the store and the memories that may be read."""
    findings = [Finding(problem, remedy) for problem, remedy in parts.store.check()]
    figures = parts.store.stats(Visibility(scopes=reach, now=now, statuses=_EVERY, unindexed=True))
    if figures.get("pending"):
        findings.append(Finding(f"{figures['pending']} episodes are not encoded yet", "call reprocess()"))
    if parts.embedder is None:
        findings.append(
            Finding("no embedder: recall works by words, names and time only",
                    'pip install "hindsight-memory[local]", or pass embedder=')
        )  # fmt: skip
    elif figures.get("without_vector"):
        findings.append(Finding(f"{figures['without_vector']} memories have no vector", "call reembed()"))
    if parts.keywords is not None:
        visible = Visibility(scopes=reach, now=now, statuses=_EVERY)
        if bare := parts.store.without_tokens(visible):
            findings.append(Finding(f"{len(bare)} memories have no keyword weights", "call reembed()"))
    return findings
