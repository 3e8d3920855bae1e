"""`SqliteStore`: everything in one SQLite file, searched in memory.

The file (`schema`) is the single source of truth. A write is one transaction (`transaction`) that journals each change; a
reading first brings the in-memory index level with the journal (`catchup`) and then holds one snapshot (`reading`).
Several processes, threads and handles may share a file; nothing but the file is shared between them.
"""

from hindsight_core.stores.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
