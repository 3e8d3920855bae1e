"""From an episode to drafts: split, then extract from each piece.

A draft is a memory before it has an id and a place. With the rules encoding is pure: the same episode gives the same drafts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from hindsight_core.ports import BatchExtractor, Extraction, ExtractionContext, Extractor
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
    """

    content: str
    source: Source
    extraction: Extraction


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


def split(episode: Episode, *, document: bool) -> list[tuple[str, Source]]:
    """The pieces of an episode in order, each with where it comes from.

    Args:
        episode: The text with its time and speaker.
        document: Whether to split by paragraphs; a turn stays whole up to 2,000 characters.
    """
    found = []
    for number, piece in enumerate(pieces(episode.text, kind=_kind(episode, document))):
        source = Source(
            speaker=episode.source.speaker,
            document=episode.source.document,
            uri=episode.source.uri,
            session=episode.source.session,
            turn=number if document else episode.source.turn,
            section=piece.heading or episode.source.section,
            span=piece.span,
            episode=episode.id,
        )
        found.append((piece.text, source))
    return found


def extract_all(
    asked: Sequence[tuple[str, ExtractionContext]], *, extractor: Extractor, fallback: Extractor
) -> list[tuple[Extraction, Exception | None]]:
    """What each piece is about; where the extractor fails the fallback stands in, and what failed comes with it.

    Args:
        asked: Pieces of text with what may be known besides.
        extractor: Finds summary, entities, importance, type.
        fallback: Stands in, piece by piece; it does not fail.
    """
    found: list[tuple[Extraction, Exception | None]] = []
    for (text, context), result in zip(asked, _results(asked, extractor), strict=True):
        if isinstance(result, Exception):
            found.append((fallback.extract(text, context), result))
        else:
            found.append((result, None))
    return found


def _results(
    asked: Sequence[tuple[str, ExtractionContext]], extractor: Extractor
) -> Sequence[Extraction | Exception]:
    results: list[Extraction | Exception] = []
    try:
        if isinstance(extractor, BatchExtractor):
            return extractor.extract_many(asked)
    except Exception as error:  # noqa: BLE001 (any extractor's fault: kept with the piece, reported by the engine)
        return [error] * len(asked)
    for text, context in asked:
        try:
            results.append(extractor.extract(text, context))
        except Exception as error:  # noqa: BLE001 (as above)
            results.append(error)
    return results
