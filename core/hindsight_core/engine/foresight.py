"""Before the write: what is near the texts that come in, and what a model thinks they mean for it.

Asking takes seconds, so it happens outside the write lock. What others write meanwhile is not judged but is not harmed
either: inside the lock neighbours are searched anew, and an opinion counts only for the very pair of texts it was about.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime

import numpy as np

from hindsight_core.embedding import calibrate
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.settle import LEAST, NEAR, begin, neighbourhood
from hindsight_core.engine.verdicts import Opinions, is_open, verdict_on
from hindsight_core.ports import BatchExtractor, Extraction, IndexEntry, Relation, Told, Visibility
from hindsight_core.unit import Scope

log = logging.getLogger(__name__)

Near = list[tuple[Told, float]]


def look_ahead(
    parts: Parts, made: Sequence[IndexEntry], compared: Sequence[bool], scope: Scope, now: datetime
) -> None:
    """Let the store begin to search what is near the new texts, while they are read.

    The write asks for it inside its lock; if something has changed since, it is searched anew.
    """
    wanted = [entry for entry, compare in zip(made, compared, strict=True) if compare]
    if parts.calibration is not None and wanted:
        with parts.store.reading(Visibility(scopes=(scope,), now=now)) as view:
            begin(view, wanted, scope, now, parts.calibration)


def open_pairs(
    parts: Parts,
    texts: Sequence[Told],
    made: Sequence[IndexEntry],
    compared: Sequence[bool],
    scope: Scope,
    now: datetime,
) -> list[Near]:
    """For each text what is near it, the nearest first, and left open by the rules; empty when no one is to be asked.

    Args:
        parts: The engine's parts.
        texts: What comes in, in order.
        made: Its index entries.
        compared: Which of the texts are compared with others at all.
        scope: Where they are written.
        now: The present moment.
    """
    pairs: list[Near] = [[] for _ in texts]
    asks = parts.judge is not None or isinstance(parts.extractor, BatchExtractor)
    if not asks or parts.calibration is None or not any(compared):
        return pairs
    with parts.store.reading(Visibility(scopes=(scope,), now=now)) as view:
        stored = neighbourhood(view, made, scope, now, parts.calibration)
    earlier: list[int] = []
    for at, (text, entry) in enumerate(zip(texts, made, strict=True)):
        if not compared[at] or entry.vector is None:
            continue
        near = [(one.gist.told, one.similarity) for one in stored[at]]
        if earlier:
            vectors = np.stack([vector for i in earlier if (vector := made[i].vector) is not None])
            similar = calibrate(vectors @ entry.vector, parts.calibration.passage)
            near += [(texts[i], float(s)) for i, s in zip(earlier, similar, strict=True) if s >= LEAST]
        earlier.append(at)
        near.sort(key=lambda one: -one[1])
        pairs[at] = [(old, s) for old, s in near[:NEAR] if is_open(verdict_on(text, old, s))]
    return pairs


def opinions(
    parts: Parts, texts: Sequence[Told], near: Sequence[Near], found: Sequence[Extraction]
) -> Opinions:
    """What the extractor said of the open pairs, and the judge of the others."""
    said: dict[tuple[Told, Told], Relation] = {}
    for text, extraction in zip(texts, found, strict=True):
        said.update(((text, one.known), one.relation) for one in extraction.opinions)
    if parts.judge is None:
        return said
    unsaid = {
        (text, old): similarity
        for text, known in zip(texts, near, strict=True)
        for old, similarity in known
        if (text, old) not in said
    }
    pairs = sorted(unsaid, key=lambda pair: -unsaid[pair])
    try:
        relations = parts.judge.judge(pairs) if pairs else []
    except Exception as error:  # noqa: BLE001 (any judge's fault)
        log.warning("the judge failed (%s); the rules decide", type(error).__name__)
        return said
    return said | {pair: one for pair, one in zip(pairs, relations, strict=True) if one is not None}
