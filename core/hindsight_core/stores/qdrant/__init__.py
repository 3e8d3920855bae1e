"""`QdrantStore`: the store for when one file is not enough. One data model, three ways to reach it.

- `QdrantStore.connect("https://...", api_key=...)`: a Qdrant server or cluster, shared by many processes.
- `QdrantStore.open("folder")`: Qdrant Edge, the same engine inside this process, one opener at a time.
- `QdrantStore.connect(":memory:")`: the client's memory mode, for tests.

What is guaranteed. A write is all or nothing, also when its process is killed half-way (`commit` says how, without
transactions). One writer at a time in a store, all processes together. The journal is complete and in order. What a
reader sees while another process's write is being carried out may be a part of that write; a reading itself does not
change under its reader. Erasing leaves no trace in any point, but bytes stay in segments until the engine merges
them, and in snapshots.

A recall asks a server for its counters, and when nothing has changed in a scope of moderate size that is all; see `scene`
and `far` for the rest. Uses and links live in small points beside the units (`schema`), so neither rewrites a vector.
"""

from hindsight_core.stores.qdrant.store import QdrantStore

__all__ = ["QdrantStore"]
