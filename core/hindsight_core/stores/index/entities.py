"""Memories that share an entity: where association may flow besides the order of a session."""

from __future__ import annotations

import numpy as np

from hindsight_core.ports import Ids, Ints
from hindsight_core.stores.index.columns import Small, ranges
from hindsight_core.stores.index.mask import Mask
from hindsight_core.stores.index.memories import Memories
from hindsight_core.stores.index.postings import Postings


def shared(
    memories: Memories, postings: Postings, mask: Mask, seeds: Ints, *, limit: int, hub: int
) -> tuple[Ints, Ints, Ids, Small]:
    """The newest visible memories that name an entity a (visible, distinct) seed names.

    Args:
        memories: The columns.
        postings: Which memories name an entity.
        mask: What is visible.
        seeds: Slots.
        limit: At most so many per seed and entity; undated memories count as oldest, equal times by arrival.
        hub: Entities named by more visible memories than this are passed over.

    Returns:
        Seeds, other memories, hash of the entity and number of visible memories naming it, an entry for each pair.
    """
    position, named = memories.entities.of(seeds)
    entities, which = np.unique(named, return_inverse=True)
    pairs = np.unique(position * len(entities) + which)  # a memory may name an entity twice
    position, which = np.divmod(pairs, max(len(entities), 1))
    lists = postings.find(entities, mask)
    degree = lists.df
    follow = (degree > 1) & (degree <= hub)
    sizes = np.where(follow, degree, 0)
    slots = lists.slots[ranges(lists.bounds[:-1], lists.bounds[:-1] + sizes)]
    # One more than asked for, in case the seed is itself among the newest.
    newest, bounds = _newest(
        memories, np.repeat(np.arange(len(entities)), sizes), slots, len(entities), limit + 1
    )

    start, stop = bounds[which], bounds[which + 1]
    pair = np.repeat(np.arange(len(which)), stop - start)
    at = ranges(start, stop)
    source, target = seeds[position[pair]], newest[at]
    itself = source == target
    has_itself = np.bincount(pair[itself], minlength=len(which)) > 0
    keep = ~itself & (has_itself[pair] | (at - start[pair] < limit))
    entity = which[pair[keep]]
    return source[keep], target[keep], entities[entity], degree[entity].astype(np.int32)


def _newest(memories: Memories, entity: Ints, slots: Ints, count: int, limit: int) -> tuple[Ints, Ints]:
    """Up to `limit` newest slots of each entity, newest first, and the bounds of each entity's.

    Slots come entity by entity, ascending. Later arrivals are mostly newer, so the last `limit` of an entity give a
    bound that spares sorting most others.
    """
    time = memories.timestamp.view[slots]
    time = np.where(np.isnan(time), -np.inf, time)
    stop = np.searchsorted(entity, np.arange(1, count + 1))
    last = np.flatnonzero(stop[entity] - np.arange(len(entity)) <= limit)
    bound = np.full(count, np.inf)
    np.minimum.at(bound, entity[last], time[last])
    late = np.flatnonzero(time >= bound[entity])
    entity, slots, time = entity[late], slots[late], time[late]
    order = np.lexsort((-memories.seq.view[slots], -time, entity))
    entity, slots = entity[order], slots[order]
    start = np.searchsorted(entity, np.arange(count))
    keep = np.arange(len(entity)) - start[entity] < limit
    return slots[keep], np.searchsorted(entity[keep], np.arange(count + 1))
