"""Search in memory: the index a store builds from what it keeps, and can always build again.

The index holds memories as columns (`memories`), their vectors (`dense`), an inverted index of their terms
(`postings`) and the order of each session (`groups`). A question is answered in four steps: which memories may be
seen (`mask`), how well each channel finds them, the best of each channel (`select`), and exact columns over their
union. Every number is computed from visible memories alone: what others write changes nothing here.

The index knows nothing of files or locks. Its caller keeps writes away between `visible` and the last answer; a mask
used after a write is refused. Answers are copies and stay what they are.
"""

from hindsight_core.stores.index.mask import Mask
from hindsight_core.stores.index.rows import Rows
from hindsight_core.stores.index.search import SearchIndex

__all__ = ["Mask", "Rows", "SearchIndex"]
