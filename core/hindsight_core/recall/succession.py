"""Where history is shown, a newer statement stands above the one it superseded."""

from __future__ import annotations

from collections.abc import Sequence

from hindsight_core.recall.hits import Hit
from hindsight_core.unit import LinkKind


def newest_first(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, each directly above the best of those it succeeds; all others keep their order."""
    found = list(hits)
    for place, hit in enumerate(hits):
        links = hit.unit.related_ids
        past = {link.id for link in links if link.kind is LinkKind.EVOLVES and link.outgoing}
        if not past or not place:
            continue
        scope = hit.unit.scope
        place = next(at for at, one in enumerate(found) if one is hit)
        above = (
            at for at, one in enumerate(found[:place]) if one.unit.id in past and one.unit.scope == scope
        )
        found.insert(next(above, place), found.pop(place))
    return found
