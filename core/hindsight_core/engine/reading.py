"""The way out: from a question to hits, and from hits to a context block that counts as use."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np

from hindsight_core.embedding import embed_query_checked, local_background
from hindsight_core.engine.checks import choice, shown, whole
from hindsight_core.engine.keywords import question_weights
from hindsight_core.engine.overtaken import latest_value_first, looked_through
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.rerank import reranked
from hindsight_core.errors import EmbeddingError, InvalidInput, NotFound, StoreBusy, StoreUnwritable
from hindsight_core.filters import Filter
from hindsight_core.locks import Lock
from hindsight_core.ports import Floats, Reading, Store, Use, Visibility
from hindsight_core.profiles import Profile
from hindsight_core.recall import Hit, Hits, analyse, hear, rank, render, searched
from hindsight_core.recall.hits import Signal
from hindsight_core.recall.relevance import beside_the_surest, relevance
from hindsight_core.recall.succession import newest_first
from hindsight_core.scope import covers
from hindsight_core.strength import after_use
from hindsight_core.unit import Key, LinkKind, MemoryUnit, Scope, Status

log = logging.getLogger(__name__)

_REMEMBERED_RECALLS = 256
MOST_CANDIDATES = 10_000
"""Candidates a channel may bring at most, however many hits are asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A recall as asked, checked."""

    query: str
    k: int
    now: datetime
    history: tuple[str, ...]
    where: Mapping[str, Any] | None
    scopes: tuple[Scope, ...]
    as_of: datetime | None
    known_at: datetime | None
    include_history: bool
    include_archived: bool
    floor: float | None
    vector: Floats | None = None
    fill: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.query, str):
            raise InvalidInput(f"query must be a string, not {type(self.query).__name__}")
        whole(self.k, "k")
        floor = self.floor
        number = isinstance(floor, int | float) and not isinstance(floor, bool)
        if floor is not None and not (number and 0.0 <= floor <= 1.0):
            raise InvalidInput(f"floor must be a number in 0..1 or None, not {shown(floor)}")

    @property
    def visible(self) -> Visibility:
        """What the store may show for it."""
        statuses = {Status.ACTIVE}
        if self.include_history:
            statuses.add(Status.SUPERSEDED)
        if self.include_archived:
            statuses.add(Status.ARCHIVED)
        return Visibility(
            scopes=self.scopes,
            now=self.now,
            statuses=frozenset(statuses),
            where=Filter.parse(self.where) if self.where is not None else None,
            as_of=self.as_of,
            known_at=self.known_at,
        )


def dated(
    where: Mapping[str, Any] | None,
    since: datetime | None,
    until: datetime | None,
    *,
    entity: str | None = None,
) -> Mapping[str, Any] | None:
    """The caller's filter with the shorthands folded in."""
    if since is not None and until is not None and since > until:
        raise InvalidInput("since lies after until; swap them")
    clauses: list[Mapping[str, Any]] = [where] if where is not None else []
    if since is not None:
        clauses.append({"timestamp": {"$gte": since}})
    if until is not None:
        clauses.append({"timestamp": {"$lt": until}})
    if entity is not None:
        clauses.append({"entity": entity})
    if not clauses:
        return None
    return clauses[0] if len(clauses) == 1 else {"$and": clauses}


def exact(
    *, scopes: tuple[Scope, ...], now: datetime, where: Mapping[str, Any] | None, status: Status | str | None
) -> Visibility:
    """What an exact question may see: active memories, or those of the status asked for."""
    statuses = frozenset({Status.ACTIVE if status is None else choice(Status, status, "status")})
    parsed: Filter | None = Filter.parse(where) if where is not None else None
    return Visibility(scopes=scopes, now=now, statuses=statuses, where=parsed, unindexed=True)


class RecallLog:
    """The latest recalls of a handle, so that feedback can name one by its id. Rendered ones are in the store too."""

    def __init__(self) -> None:
        self._recalls: OrderedDict[str, tuple[str, tuple[Key, ...]]] = OrderedDict()
        self._lock = Lock()

    def add(self, recall_id: str, question: str, keys: Sequence[Key]) -> None:
        """Remember what a recall gave."""
        with self._lock:
            self._recalls[recall_id] = (question, tuple(keys))
            while len(self._recalls) > _REMEMBERED_RECALLS:
                self._recalls.popitem(last=False)

    def keys_of(self, what: Hits | Hit | str, store: Store, scope: Scope) -> list[Key]:
        """The memories that hits, one hit, or the id of a past recall refer to.

        Raises:
            NotFound: No recall of this scope has that id.
        """
        if isinstance(what, Hit):
            return [what.unit.key]
        if isinstance(what, Hits):
            return [hit.unit.key for hit in what]
        if not isinstance(what, str):
            raise InvalidInput(f"feedback takes hits, a hit or the id of a recall, not {type(what).__name__}")
        with self._lock:
            if what in self._recalls:
                return list(self._recalls[what][1])
        logged = store.recall_log(what)
        if logged is None or logged[0] != scope:
            raise NotFound("no recall with that id; pass the hits themselves or hits.recall_id")
        return logged[1]

    def question_of(self, what: Hits | Hit | str) -> str:
        """The question that hits, or the id of one of the latest recalls, answer; "" where it is not known."""
        if isinstance(what, Hits):
            return what.query
        with self._lock:
            return self._recalls[what][0] if isinstance(what, str) and what in self._recalls else ""


def question_vectors(parts: Parts, texts: Sequence[str]) -> list[Floats]:
    """One query vector per text; empty without an embedder, or when it fails: an outage must not end recall."""
    if parts.embedder is None:
        return []
    try:
        return [embed_query_checked(parts.embedder, text) for text in texts]
    except EmbeddingError as error:
        log.warning("the question has no vector (%s); recall works by words, names and time only", error)
        return []


def recall(parts: Parts, request: Request, log: RecallLog, scope: Scope) -> Hits:
    """One recall: analyse, search and rank under one consistent view, then attach each fact's history."""
    recall_id = parts.new_id(request.now)

    def show(
        hits: Hits, max_tokens: int, count_tokens: Callable[[str], int] | None = None, ids: bool = False
    ) -> str:
        return _show(parts, hits, max_tokens, count_tokens or parts.count_tokens, ids, scope, request.now)

    found: list[Hit] = []
    if request.k and (request.query.strip() or request.vector is not None):

        def embed(texts: list[str]) -> list[Floats]:
            if request.vector is None:
                return question_vectors(parts, texts)
            asked = len(texts) - len(request.history)
            return [request.vector] * asked + question_vectors(parts, texts[asked:])

        second = parts.reranker if request.query.strip() else None
        wanted = looked_through(request.query, request.k)
        k = wanted if second is None else max(wanted, second.candidates)
        weigh = partial(question_weights, parts.keywords)
        heard = hear(request.query, embed=embed, weigh=weigh, history=request.history)
        more: list[Hit] = []
        visible = request.visible
        with parts.store.reading(visible) as view:
            view.begin_search(searched(visible), heard.vectors)
            question = analyse(heard, request.now)
            found = rank(
                view,
                question,
                visible=visible,
                profile=_reaching(parts.profile, k),
                calibration=parts.calibration,
                k=k,
                floor=request.floor,
            )
            if request.fill:
                more = _next_nearest(view, question.aspects[0].vector, found, request, parts)
        if second is not None:
            found = reranked(second, "\n".join([*request.history, request.query]), found)[:wanted]
        found = latest_value_first(request.query, newest_first(found + more))[: request.k]
        found = _with_history(parts.store, found, request.now)
    log.add(recall_id, request.query, [hit.unit.key for hit in found])
    return Hits(found, query=request.query, recall_id=recall_id, render=show)


def _reaching(profile: Profile, k: int) -> Profile:
    """A profile whose channels bring at least as many candidates as are asked for."""
    return profile if k <= profile.channel_top else replace(profile, channel_top=min(k, MOST_CANDIDATES))


def _next_nearest(
    view: Reading, vector: Floats | None, found: Sequence[Hit], request: Request, parts: Parts
) -> list[Hit]:
    """The nearest memories that are not among the hits, to fill up to k; nothing but distance speaks for them."""
    missing = request.k - len(found)
    if missing <= 0 or vector is None or parts.calibration is None:
        return []
    near, measured = view.near(request.visible, vector[None, :], top=request.k, least=-1.0)
    rows, cosines = near[0][near[0] >= 0], measured[0][near[0] >= 0]
    background = local_background(parts.calibration, vector, view.vectors(rows))
    sure = beside_the_surest(relevance(cosines, background, np.zeros(len(rows))))
    there = {hit.unit.key for hit in found}
    more = [
        Hit(
            unit=unit,
            score=0.0,
            relevance=float(sure[place]),
            signals={"vector": Signal(raw=float(cosines[place]), value=0.0, weighted=0.0)},
        )
        for place, unit in enumerate(view.units(rows))
        if unit.key not in there
    ]
    return more[:missing]


def vectors(
    parts: Parts, keys: Sequence[Key], scopes: tuple[Scope, ...], now: datetime
) -> list[Floats | None]:
    """Vectors by key, None where there is none."""
    visible = Visibility(scopes=scopes, now=now, statuses=frozenset(Status))
    with parts.store.reading(visible) as view:
        rows = view.rows_of(keys)
        found: list[Floats | None] = [None] * len(keys)
        known = np.flatnonzero(rows >= 0)
        for place, vector in zip(known.tolist(), view.vectors(rows[known]), strict=True):
            found[place] = None if np.isnan(vector).any() else vector
        return found


def _with_history(store: Store, hits: Sequence[Hit], now: datetime) -> list[Hit]:
    """Attach earlier values and contradictions, one look-up for all hits."""
    wanted: dict[Key, None] = {}
    for hit in hits:
        for link in hit.unit.related_ids:
            if (link.kind is LinkKind.EVOLVES and link.outgoing) or link.kind is LinkKind.CONTRADICTS:
                wanted[(hit.unit.scope, link.id)] = None
    if not wanted:
        return list(hits)
    keys = list(wanted)
    linked = {key: unit for key, unit in zip(keys, store.get(keys), strict=True) if unit is not None}

    def pick(unit: MemoryUnit, kind: LinkKind, status: Status) -> tuple[MemoryUnit, ...]:
        others = [
            linked[(unit.scope, link.id)]
            for link in unit.related_ids
            if link.kind is kind
            and (link.outgoing or kind is LinkKind.CONTRADICTS)
            and (unit.scope, link.id) in linked
        ]
        alive = [o for o in others if o.status is status and (o.expires_at is None or o.expires_at > now)]
        return tuple(sorted(alive, key=lambda o: (o.timestamp or o.recorded_at, o.seq), reverse=True))

    return [
        replace(
            hit,
            predecessors=pick(hit.unit, LinkKind.EVOLVES, Status.SUPERSEDED),
            contradicts=pick(hit.unit, LinkKind.CONTRADICTS, Status.ACTIVE),
        )
        for hit in hits
    ]


def _show(
    parts: Parts,
    hits: Hits,
    max_tokens: int,
    count_tokens: Callable[[str], int],
    ids: bool,
    scope: Scope,
    now: datetime,
) -> str:
    block, fitting = render(list(hits), whole(max_tokens, "max_tokens"), count_tokens, ids=ids)
    if fitting:
        shown_keys, keys = [hit.unit.key for hit in fitting], [hit.unit.key for hit in hits]
        try:
            use(parts, shown_keys, scope, hits.recall_id, keys, now)
        except (StoreBusy, StoreUnwritable) as error:
            # What is known is worth more than the count of its use: a full disk must not end recall.
            log.warning("that memories were shown could not be noted (%s)", type(error).__name__)
    return block


def use(
    parts: Parts, keys: Sequence[Key], scope: Scope, recall_id: str, recalled: Sequence[Key], now: datetime
) -> None:
    """Record a real use of memories of the written scope; within the refractory period it counts once."""
    own = [key for key in keys if covers(scope, key[0])]
    profile = parts.profile
    with parts.store.write(actor="use", batch=recall_id, now=now) as tx:
        uses = []
        for key in own:
            unit = tx.get(key)
            if unit is None:
                continue
            if unit.last_access and (now - unit.last_access).total_seconds() < profile.refractory:
                continue
            rest = (now - unit.weight_at).total_seconds()
            weight = after_use(unit.weight, rest, decay=profile.decay, bonus=profile.retrieval_bonus)
            uses.append(Use(key=key, weight=weight, at=now, access_count=unit.access_count + 1))
        tx.use(uses)
        tx.log_recall(recall_id, scope, now, list(recalled))
