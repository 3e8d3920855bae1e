"""A store from what a user writes down: a path, a folder, an address."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Store
from hindsight_core.stores.sqlite import SqliteStore

API_KEY = "QDRANT_API_KEY"
_SCHEMES = {"http": "http", "https": "https", "qdrant": "http"}


def open_place(place: str | os.PathLike[str]) -> Store:
    """The store at a place.

    Args:
        place: A file, or ":memory:", is kept by SQLite. A folder (it exists, or the path ends with a slash) is kept by
            Qdrant Edge. "http://", "https://" and "qdrant://" are a Qdrant server; its key is read from the environment
            variable QDRANT_API_KEY, and a path behind the port names the collections: "https://host:6333/agents".

    Raises:
        InvalidInput: An address of another kind.
        MissingExtra: What it needs is not installed.
    """
    text = os.fspath(place)
    if "://" in text:
        return _server(text)
    if text.endswith(("/", os.sep)) or Path(text).is_dir():
        from hindsight_core.stores.qdrant import QdrantStore

        return QdrantStore.open(text)
    return SqliteStore.open(place)


def may_be(place: str) -> bool:
    """Whether a memory may be at a place: a file or a folder that exists, or any address."""
    return "://" in place or Path(place).exists()


def _server(address: str) -> Store:
    try:
        parts = urlsplit(address)
        port = parts.port or 6333
    except ValueError as error:
        raise InvalidInput("an address is such as https://host:6333/name") from error
    if parts.scheme not in _SCHEMES or not parts.hostname or parts.username or parts.query:
        raise InvalidInput(
            f"an address is http://, https:// or qdrant://host:port/name, and the key stands in {API_KEY}"
        )
    from hindsight_core.stores.qdrant import QdrantStore

    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    name = parts.path.strip("/") or "hindsight"
    url = f"{_SCHEMES[parts.scheme]}://{host}:{port}"
    return QdrantStore.connect(url, api_key=os.environ.get(API_KEY), name=name)
