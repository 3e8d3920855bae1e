"""From an episode to drafts: split, then extract from each piece.

A draft is a memory before it has an id and a place. Encoding is pure: the same episode gives the same drafts.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from hindsight_core.ports import Extraction, ExtractionContext, Extractor
from hindsight_core.text.split import pieces
from hindsight_core.unit import Episode, Source

_MARKDOWN = frozenset({".md", ".markdown", ".mdx", ".rst", ".ipynb"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One memory to be.

    Attributes:
        content: The piece of the episode's text, byte-exact.
        source: The episode's, with span, section and the piece's turn.
        extraction: What the extractor found in it.
        failed: The extractor failed on this piece and the fallback stood in.
    """

    content: str
    source: Source
    extraction: Extraction
    failed: Exception | None = None


def index_text(content: str, source: Source) -> str:
    """What is embedded and searched: the content with its speaker, or with its heading path."""
    if source.section:
        return f"{source.section}\n{content}"
    return f"{source.speaker}: {content}" if source.speaker else content


def _kind(episode: Episode, document: bool) -> str:
    if not document:
        return "turn"
    name = episode.source.uri or episode.source.document or ""
    return "markdown" if PurePath(name).suffix.lower() in _MARKDOWN else "document"


def encode(
    episode: Episode,
    *,
    document: bool,
    entity_types: frozenset[str],
    extractor: Extractor,
    fallback: Extractor,
) -> list[Draft]:
    """Split an episode and extract from each piece.

    Args:
        episode: The text with its time and speaker.
        document: Whether to split by paragraphs; a turn stays whole up to 2,000 characters.
        entity_types: What to look for.
        extractor: Finds summary, entities, importance, type.
        fallback: Stands in for a piece on which the extractor fails; the words are never lost.

    Returns:
        Drafts in order of the text.
    """
    context = ExtractionContext(
        timestamp=episode.timestamp, speaker=episode.source.speaker, entity_types=entity_types
    )
    drafts = []
    for number, piece in enumerate(pieces(episode.text, kind=_kind(episode, document))):
        failed: Exception | None = None
        try:
            extraction = extractor.extract(piece.text, context)
        except Exception as error:  # noqa: BLE001 (any extractor's fault: kept on the draft, reported by the engine)
            failed = error
            extraction = fallback.extract(piece.text, context)
        turn = number if document else episode.source.turn
        source = Source(
            speaker=episode.source.speaker,
            document=episode.source.document,
            uri=episode.source.uri,
            session=episode.source.session,
            turn=turn,
            section=piece.heading or episode.source.section,
            span=piece.span,
            episode=episode.id,
        )
        drafts.append(Draft(content=piece.text, source=source, extraction=extraction, failed=failed))
    return drafts
