"""Everything the engine needs from outside, as small Protocols, and the values that cross them.

An implementation need not inherit from anything here; it needs the methods. A store is the largest: it keeps
units (`Transaction`, `Library`) and answers probes (`Reading`). A probe is answered with *columns* (NumPy arrays
over candidates), never with per-row objects: fusion is then one pure function over arrays, and it sees the same
inputs whatever the store.
"""

from hindsight_core.ports.arrays import Doubles, Floats, Ids, Ints
from hindsight_core.ports.models import (
    BatchExtractor,
    Clock,
    Embedder,
    Extraction,
    ExtractionContext,
    Extractor,
    Judge,
    Opinion,
    Relation,
    Reranker,
    SparseEmbedder,
    Told,
)
from hindsight_core.ports.reading import Bank, Candidates, Edges, Gist, Probe, Reading, Visibility
from hindsight_core.ports.store import Capabilities, Journal, Library, Store, Vital
from hindsight_core.ports.writing import IndexEntry, Transaction, Use

__all__ = [
    "Bank",
    "BatchExtractor",
    "Candidates",
    "Capabilities",
    "Clock",
    "Doubles",
    "Edges",
    "Embedder",
    "Extraction",
    "ExtractionContext",
    "Extractor",
    "Floats",
    "Gist",
    "Ids",
    "IndexEntry",
    "Ints",
    "Journal",
    "Judge",
    "Library",
    "Opinion",
    "Probe",
    "Reading",
    "Relation",
    "Reranker",
    "SparseEmbedder",
    "Store",
    "Told",
    "Transaction",
    "Use",
    "Visibility",
    "Vital",
]
