"""One recall's view of scopes too large to be held: the engine finds, this package measures.

The channels are one batched search: the nearest vectors, the best by words and by names (two sparse vectors), and what lies
in an asked-for time, of memories that hold and of those that were superseded, for every part of the question together.
Everything comes with its payload, so every signal is computed here, exactly, from what is stored, and the best of each
channel are chosen by those numbers. Associations are one batched search more: the neighbours in a session, the ends of stored
links and what rare words of the best hits lead to. After each of the two the uses and links of what it found are looked up by
id, since they are kept beside the memories. What signals are measured against must not come from other scopes, so it is not
the engine's own statistics (`measuring`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Bank, Candidates, Edges, Floats, Ints, Probe, Visibility
from hindsight_core.stores.codec import decode_scope
from hindsight_core.stores.index.reading import with_links
from hindsight_core.stores.qdrant import filters
from hindsight_core.stores.qdrant.columns import Columns
from hindsight_core.stores.qdrant.measuring import Measured, Measuring, bm25
from hindsight_core.stores.qdrant.points import (
    DENSE,
    NAMES,
    WORDS,
    Condition,
    Payload,
    PointId,
    Query,
    among,
    both,
    either,
    no,
    ranged,
)
from hindsight_core.stores.qdrant.scene import Scene
from hindsight_core.stores.qdrant.schema import TENANT, sparse, unit_id, unpacked
from hindsight_core.stores.qdrant.view import View, links_in
from hindsight_core.text.hashing import COUNT_BITS
from hindsight_core.unit import LinkKind, Status

_KINDS = list(LinkKind)
_STATUSES = list(Status)
_MORE = 2
"""So many times as many as asked for are fetched by words: the engine weighs them a little differently."""
_MOST_STEPS = 4_000
_FOREMOST = 64
_LONGEST = 1e15


class FarReading(Measuring):
    """See `ports.Reading`. Rows are numbers of this reading."""

    def __init__(self, view: View, scene: Scene, dimension: int | None) -> None:
        super().__init__(view, scene, dimension)
        self._asked: dict[int, Probe] = {}
        self._waiting: list[Query] = []
        self._dated: set[Visibility] = set()

    # -- searching -------------------------------------------------------------------------------------------

    def expect(self, probes: Sequence[Probe]) -> None:
        """What these need goes out with the next request."""
        for probe in probes:
            if id(probe) not in self._asked:
                self._asked[id(probe)] = probe
                self._waiting += self._channels(probe)

    def begin_search(self, visible: Visibility, vectors: Sequence[Floats]) -> None:
        """What `expect` is told of is enough: nothing is compared here."""

    def begin_near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> None:
        """One request is asked when it is needed."""

    def _fetch(self, queries: Sequence[Query] = ()) -> list[list[int]]:
        """The rows that some queries find; what is expected comes along."""
        waiting, self._waiting = self._waiting, []
        return self._ask([*waiting, *queries])[len(waiting) :]

    def search(self, probe: Probe) -> tuple[Candidates, Bank]:
        """Union of the top candidates of every channel that is on."""
        self.expect([probe])
        self._fetch()
        if self._dimension is None and probe.vector is not None:
            probe = replace(probe, vector=None)
        rows = self._shown(probe.visible)
        measured = self._measure(probe, rows)
        best = self._best(probe, rows, measured)
        return self.signals(probe, best), measured.bank

    def _channels(self, probe: Probe) -> list[Query]:
        condition = filters.seen(probe.visible).condition
        words, names = self._weighted(probe)
        found = []
        vector = None if self._dimension is None else probe.vector
        if vector is not None:
            found.append(Query(where=condition, vector=vector, using=DENSE, limit=probe.top))
        if words.indices:
            found.append(Query(where=condition, vector=words, using=WORDS, limit=_MORE * probe.top))
        if len(probe.learnt):
            tokens = sparse(probe.learnt, probe.learnt_weights)
            found.append(Query(where=condition, vector=tokens, using=WORDS, limit=probe.top))
        if names.indices:
            found.append(Query(where=condition, vector=names, using=NAMES, limit=probe.top))
        if len(probe.windows):
            inside = both(condition, either(*(_within(start, end) for start, end in probe.windows.tolist())))
            if vector is not None:
                found.append(Query(where=inside, vector=vector, using=DENSE, limit=probe.top))
            if words.indices:
                found.append(Query(where=inside, vector=words, using=WORDS, limit=_MORE * probe.top))
            found.append(Query(where=inside, by="order", limit=probe.top))
        if probe.visible not in self._dated:
            self._dated.add(probe.visible)
            found.append(Query(where=condition, by="order", limit=1))  # the newest
        return found

    def _best(self, probe: Probe, rows: Ints, measured: Measured) -> Ints:
        """The best rows of each channel, by exact numbers, in order of arrival."""
        counts = self._once(Columns.counts, probe.terms, rows)
        length = self._of(lambda block: block.length, rows)
        keyword = bm25(counts, length, measured, probe) @ probe.term_weights
        cosine = self._once(Columns.cosine, probe.vector, rows)
        entity = self._once(Columns.named, probe.entities, rows) @ measured.names
        time = self._of(lambda block: block.rows.timestamp, rows)
        ids = np.array([self._payloads[row]["id"] for row in rows.tolist()], object)
        seq = self._of(lambda block: block.rows.seq, rows)

        def first(at: Ints, *columns: NDArray[np.floating]) -> Ints:
            order = np.lexsort((seq[at], ids[at], *reversed([column[at] for column in columns])))
            return at[order[: probe.top]]

        chosen = [
            first(np.flatnonzero(keyword > 0), -keyword),
            first(np.flatnonzero(entity > 0), -entity),
            first(np.flatnonzero(~np.isnan(cosine)), -cosine),
        ]
        if len(probe.learnt):
            learnt = self._once(Columns.learnt, probe, rows).sum(axis=1)
            chosen.append(first(np.flatnonzero(learnt > 0), -learnt))
        if len(probe.windows):
            inside = np.flatnonzero(self._of(lambda block: block.in_window(probe.windows), rows))
            newest = np.where(np.isnan(time), np.inf, -time)
            chosen.append(first(inside, -(np.nan_to_num(cosine) + keyword), newest))
        best = np.unique(np.concatenate(chosen))
        return rows[best[np.argsort(seq[best])]]

    def signals(self, probe: Probe, rows: Ints) -> Candidates:
        """Exact signals for given rows, in that order."""
        self._check()
        if not np.isin(rows, self._shown(probe.visible)).all():
            raise InvalidInput("rows must come from this reading")
        if self._dimension is None and probe.vector is not None:
            probe = replace(probe, vector=None)
        known = self._measured.get(id(probe))
        measured = self._measure(probe, self._shown(probe.visible)) if known is None else known[1]
        length = self._of(lambda block: block.length, rows)
        counts = self._once(Columns.counts, probe.terms, rows)
        status = self._of(lambda block: block.rows.status, rows)
        weight = self._of(lambda block: block.rows.weight, rows)
        weight_at = self._of(lambda block: block.rows.weight_at, rows)
        for place, row in enumerate(rows.tolist()):
            used = self._asides.get(self._ids[row], {})
            if "weight" in used:
                weight[place] = used["weight"]
                weight_at[place] = datetime.fromisoformat(used["weight_at"]).timestamp()
            past = self._past.get(probe.visible, {}).get(self._ids[row])
            if past is not None:
                status[place] = _STATUSES.index(past.status)
        return Candidates(
            rows=rows,
            ids=[self._payloads[row]["id"] for row in rows.tolist()],
            cosine=self._once(Columns.cosine, probe.vector, rows),
            terms=bm25(counts, length, measured, probe),
            entities=self._once(Columns.named, probe.entities, rows),
            timestamp=self._of(lambda block: block.rows.timestamp, rows),
            in_window=self._of(lambda block: block.in_window(probe.windows), rows),
            importance=self._of(lambda block: block.rows.importance, rows),
            weight=weight,
            weight_at=weight_at,
            memory_type=self._of(lambda block: block.rows.memory_type, rows),
            status=status,
            seq=self._of(lambda block: block.rows.seq, rows),
            group=self._groups(rows),
            length=length,
            learnt=self._once(Columns.learnt, probe, rows) if len(probe.learnt) else None,
        )

    def _groups(self, rows: Ints) -> Ints:
        codes: dict[tuple[str, str], int] = {}
        return np.array(
            [
                -1 if (group := _group(self._payloads[row])) is None else codes.setdefault(group, len(codes))
                for row in rows.tolist()
            ],
            np.int64,
        )

    def holders(self, probe: Probe) -> tuple[Ints, Ints]:
        """The best memories by words alone, and how many hold each term."""
        words = replace(probe, vector=None, entities=probe.entities[:0], windows=probe.windows[:0])
        self.expect([probe])
        self._fetch()
        rows = self._shown(probe.visible)
        measured = self._measure(words, rows)
        self._measured[id(probe)] = probe, measured
        return self._best(words, rows, measured), measured.bank.term_df

    def held(self, probe: Probe, rows: Ints) -> NDArray[np.bool_]:
        """Which rows hold which term."""
        known = self._measured.get(id(probe))
        passed_over = known[1].passed_over if known is not None else np.zeros(len(probe.terms), np.bool_)
        found: NDArray[np.bool_] = self._once(Columns.counts, probe.terms, rows) > 0
        return found & ~passed_over

    # -- associations ----------------------------------------------------------------------------------------

    def neighbours(
        self, probe: Probe, rows: Ints, *, reach: int, entities: int, hub: int, links: Ints | None = None
    ) -> Edges:
        """Edges from `rows` to visible memories: within groups, over shared entities, and stored links."""
        self._check()
        condition = filters.seen(probe.visible).condition
        queries = []
        if reach > 0 and (steps := self._steps(self._foremost(probe, rows), reach)):
            here = no({"has_id": [self._ids[row] for row in sorted(self._fetched)]})
            queries.append(Query(where=both(condition, either(*steps), here), limit=_MOST_STEPS))
        ends = self._ends(links)
        if missing := [other for _, other, _ in ends if other not in self._row]:
            queries.append(Query(where=both(condition, {"has_id": missing}), limit=len(missing)))
        shares = self._shares(probe, rows, entities, hub) if entities > 0 else []
        queries += [
            Query(where=both(condition, among("names", [name >> COUNT_BITS])), by="order", limit=entities + 1)
            for name, _, _ in shares
        ]
        answers = self._fetch(queries)
        shown = set(self._shown(probe.visible).tolist())
        found = list(self._follow(rows, reach, shown)) if reach > 0 else []
        by_name = dict(
            zip([name for name, _, _ in shares], answers[len(queries) - len(shares) :], strict=True)
        )
        shared = [
            (row, other, name, degree)
            for name, degree, holders in shares
            for row in holders
            for other in [o for o in by_name[name] if o != row and o in shown][:entities]
        ]
        edges = Edges(
            source=np.array([s for s, _, _ in found] + [s for s, *_ in shared], np.int64),
            target=np.array([t for _, t, _ in found] + [t for _, t, *_ in shared], np.int64),
            kind=np.repeat(
                np.array([_KINDS.index(LinkKind.FOLLOWS), _KINDS.index(LinkKind.ENTITY)], np.int8),
                [len(found), len(shared)],
            ),
            distance=np.array([d for *_, d in found] + [1] * len(shared), np.int32),
            entity=np.array([0] * len(found) + [name for _, _, name, _ in shared], np.uint64),
            degree=np.array([0] * len(found) + [degree for *_, degree in shared], np.int32),
        )
        stored = [
            (source, self._row[other], kind)
            for source, other, kind in ends
            if other in self._row and self._row[other] in shown
        ]
        return with_links(edges, np.array(stored, np.int64).reshape(-1, 3))

    def _ends(self, rows: Ints | None) -> list[tuple[int, PointId, int]]:
        """Stored links of some rows: row, point of the other end, kind."""
        if rows is None:
            return []
        found: list[tuple[int, PointId, int]] = []
        for row in dict.fromkeys(rows.tolist()):
            scope = decode_scope(self._payloads[row][TENANT])
            found += [
                (row, unit_id((scope, link.id)), _KINDS.index(link.kind))
                for link in links_in(self._asides.get(self._ids[row]))
            ]
        return found

    def _foremost(self, probe: Probe, rows: Ints) -> Ints:
        """The rows with most evidence: only theirs neighbours are worth a fetch; others keep those that are here."""
        known = self._measured.get(id(probe))
        if known is None or len(rows) <= _FOREMOST:
            return rows
        bank = known[1].bank
        counts = self._once(Columns.counts, probe.terms, rows)
        length = self._of(lambda block: block.length, rows)
        words = bm25(counts, length, known[1], probe) @ probe.term_weights / max(bank.keyword_std, 1e-9)
        meaning = (self._once(Columns.cosine, probe.vector, rows) - bank.cosine_mean) / max(
            bank.cosine_std, 1e-9
        )
        return rows[np.argsort(-(words + np.nan_to_num(meaning)), kind="stable")[:_FOREMOST]]

    def _steps(self, rows: Ints, reach: int) -> list[Condition]:
        """Where the neighbours of some rows are: by session and turn, overlapping stretches joined."""
        turns: dict[tuple[str, str], list[int]] = {}
        whole: set[tuple[str, str]] = set()
        for row in rows.tolist():
            payload = self._payloads[row]
            group = _group(payload)
            if group is None:
                continue
            if "turn" in payload:
                turns.setdefault(group, []).append(payload["turn"])
            else:
                whole.add(group)
        found: list[Condition] = [both(*_inside(group)) for group in sorted(whole)]
        for group, each in turns.items():
            if group not in whole:
                found += [
                    both(*_inside(group), ranged("turn", gte=start, lte=end))
                    for start, end in _stretches(each, _far(reach))
                ]
        return found

    def _follow(self, rows: Ints, reach: int, shown: set[int]) -> Iterable[tuple[int, int, int]]:
        """Rows up to `reach` steps from some rows in the same session: row, other, distance."""
        seeds = {row: group for row in rows.tolist() if (group := _group(self._payloads[row])) is not None}
        groups = set(seeds.values())
        members: dict[tuple[str, str], list[int]] = {group: [] for group in groups}
        for row in shown:
            if (own := _group(self._payloads[row])) in groups and own is not None:
                members[own].append(row)
        for own, each in members.items():
            each.sort(key=lambda row: _order(self._payloads[row]))
            for place, row in enumerate(each):
                if seeds.get(row) != own:
                    continue
                for step in (*range(-reach, 0), *range(1, reach + 1)):
                    if 0 <= place + step < len(each):
                        other = each[place + step]
                        if _close(self._payloads[row], self._payloads[other], reach):
                            yield row, other, abs(step)

    def _shares(self, probe: Probe, rows: Ints, limit: int, hub: int) -> list[tuple[int, int, list[int]]]:
        """Entities that some rows name and others too: hash, number of memories naming it, the rows."""
        holders: dict[int, list[int]] = {}
        for row in rows.tolist():
            for name in unpacked(self._payloads[row].get("e", ""), np.uint64).tolist():
                holders.setdefault(name, []).append(row)
        asked = replace(probe, vector=None, terms=probe.terms[:0], term_weights=probe.term_weights[:0])
        asked = replace(asked, entities=np.array(list(holders), np.uint64))
        df = self._measure(asked, self._shown(probe.visible)).bank.entity_df.tolist()
        return [
            (name, degree, each)
            for (name, each), degree in zip(holders.items(), df, strict=True)
            if 1 < degree <= hub
        ]

    # -- by vector -------------------------------------------------------------------------------------------

    def near(self, visible: Visibility, vectors: Floats, *, top: int, least: float) -> tuple[Ints, Floats]:
        """The nearest visible memories of each vector, by cosine, best first; filled up with -1 and nan."""
        rows = np.full((len(vectors), top), -1, np.int64)
        cosines = np.full((len(vectors), top), np.nan, np.float32)
        self._check()
        if self._dimension is None:
            return rows, cosines
        condition = filters.seen(visible).condition
        self._ask([Query(where=condition, vector=vector, using=DENSE, limit=top) for vector in vectors])
        shown = self._shown(visible)
        ids = np.array([self._payloads[row]["id"] for row in shown.tolist()], object)
        for i, vector in enumerate(vectors):
            cosine = self._of(partial(Columns.cosine, vector=vector), shown)
            near = np.flatnonzero(cosine >= least)
            order = near[np.lexsort((ids[near], -cosine[near]))][:top]
            rows[i, : len(order)] = shown[order]
            cosines[i, : len(order)] = cosine[order]
        return rows, cosines


def _within(start: float, end: float) -> Condition:
    """Said in a window, or (nearly) about a time in it; exactly is for `Columns.in_window`."""
    low, high = max(start, -_LONGEST), min(end, _LONGEST)
    return either(
        ranged("at", gte=low * 1e6, lt=high * 1e6),
        both(ranged("span_from", lt=high), ranged("span_to", gte=low)),
    )


def _group(payload: Payload) -> tuple[str, str] | None:
    return (payload[TENANT], payload["group"]) if "group" in payload else None


def _inside(group: tuple[str, str]) -> tuple[Condition, Condition]:
    return among(TENANT, [group[0]]), among("group", [group[1]])


def _far(reach: int) -> int:
    """How many turns away a memory `reach` steps away may be: some turns are not seen, or gave no memory."""
    return 2 * reach + 1


def _stretches(turns: Iterable[int], far: int) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for turn in sorted(set(turns)):
        if found and turn - far <= found[-1][1] + 1:
            found[-1] = found[-1][0], turn + far
        else:
            found.append((turn - far, turn + far))
    return found


def _close(one: Payload, other: Payload, reach: int) -> bool:
    return "turn" not in one or "turn" not in other or abs(one["turn"] - other["turn"]) <= _far(reach)


def _order(payload: Payload) -> tuple[bool, int, bool, int, int]:
    turn, at = payload.get("turn"), payload.get("at")
    return turn is None, turn or 0, at is None, at or 0, payload["seq"]
