"""The file: how it is recognised, created and brought up to date.

A store is a SQLite file with our `application_id`. Migrations are applied in order, each in one transaction with the
record of it, so a file is never between two versions. A file of something else, or of a newer release, is left
as it is.

What is where: `unit` holds what search, filters and sorting need; `body` the unit as JSON; `entry` what the search index
needs in bulk (vector, packed terms, entity hashes, time spans); `attribute` every value of what can have several
(entities, metadata, episodes); `link` each link once for each of its ends; `event` the journal; `counter` what has no
events: uses and replaced vectors, numbered so that `unit.used` and `unit.embedded` say what to read again. Instants are
microseconds since 1970 where they are compared, and ISO text with their offset where they are read back.
"""

from __future__ import annotations

import sqlite3

from hindsight_core.errors import NotAStore, SchemaTooNew

APPLICATION_ID = 0x48534D31  # "HSM1"
PAGE_SIZE = 8192  # three 384-dimensional vectors with their terms fit one page, without overflow

_FIRST = """
CREATE TABLE scope (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE unit (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    digest BLOB NOT NULL,
    type TEXT NOT NULL,
    status TEXT NOT NULL,
    importance REAL,
    weight REAL,
    weight_at TEXT NOT NULL,
    last_access TEXT,
    access_count INTEGER NOT NULL,
    pinned INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    timestamp INTEGER,
    recorded_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_to INTEGER,
    expires_at INTEGER,
    speaker TEXT,
    session TEXT,
    document TEXT,
    uri TEXT,
    turn INTEGER,
    day TEXT,
    used INTEGER NOT NULL DEFAULT 0,
    embedded INTEGER NOT NULL DEFAULT 0,
    UNIQUE (scope, id)
);
CREATE INDEX unit_time ON unit (scope, timestamp, seq);
CREATE INDEX unit_digest ON unit (digest);
CREATE INDEX unit_used ON unit (used) WHERE used > 0;
CREATE INDEX unit_embedded ON unit (embedded) WHERE embedded > 0;
CREATE TABLE body (row INTEGER PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE entry (
    row INTEGER PRIMARY KEY,
    vector BLOB,
    terms BLOB NOT NULL,
    entities BLOB NOT NULL,
    spans BLOB NOT NULL
);
CREATE TABLE attribute (
    path TEXT NOT NULL, kind TEXT NOT NULL, value NOT NULL, row INTEGER NOT NULL,
    PRIMARY KEY (path, kind, value, row)
) WITHOUT ROWID;
CREATE TABLE link (
    row INTEGER NOT NULL, other INTEGER NOT NULL, kind TEXT NOT NULL, outgoing INTEGER NOT NULL,
    PRIMARY KEY (row, other, kind, outgoing)
) WITHOUT ROWID;
CREATE TABLE episode (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    session TEXT,
    turn INTEGER,
    timestamp INTEGER,
    state TEXT NOT NULL,
    json TEXT NOT NULL,
    UNIQUE (scope, id)
);
CREATE INDEX episode_session ON episode (scope, session);
CREATE TABLE event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    row INTEGER,
    scope INTEGER NOT NULL,
    id TEXT NOT NULL,
    before TEXT,
    after TEXT,
    reason TEXT NOT NULL,
    actor TEXT NOT NULL,
    batch TEXT NOT NULL,
    at INTEGER NOT NULL,
    written TEXT NOT NULL,
    erased INTEGER NOT NULL,
    vector BLOB,
    terms BLOB
);
CREATE INDEX event_key ON event (scope, id);
CREATE INDEX event_batch ON event (batch);
CREATE INDEX event_at ON event (at);
CREATE TABLE recall (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    scope TEXT NOT NULL,
    at TEXT NOT NULL,
    keys TEXT NOT NULL
);
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE counter (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO counter VALUES ('uses', 0), ('vectors', 0), ('wipe', 0);
"""

MIGRATIONS: tuple[tuple[str, str], ...] = (("first layout", _FIRST),)
"""Name and statements of each version, the first being version 1. Only ever append."""


def prepare(connection: sqlite3.Connection, path: str) -> None:
    """Create the schema in an empty file, or bring an older one up to date.

    Raises:
        NotAStore: The file belongs to something else; it is left as it is.
        SchemaTooNew: It was written by a newer release; it is left as it is.
    """
    while (version := _version(connection, path)) < len(MIGRATIONS):
        connection.execute("BEGIN IMMEDIATE")
        try:
            # Another process may have done it while this one waited for the lock.
            if _version(connection, path) == version:
                _apply(connection, version)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()


def _version(connection: sqlite3.Connection, path: str) -> int:
    found = connection.execute("PRAGMA application_id").fetchone()[0]
    if found != APPLICATION_ID:
        if found or connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise NotAStore(f"{path} is a SQLite file of something else; give another path")
        return 0
    version = int(connection.execute("SELECT max(version) FROM migration").fetchone()[0])
    if version > len(MIGRATIONS):
        raise SchemaTooNew(
            f"{path} has layout {version}, this release knows {len(MIGRATIONS)}; upgrade hindsight-memory"
        )
    return version


def _apply(connection: sqlite3.Connection, version: int) -> None:
    if version == 0:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("CREATE TABLE migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    name, script = MIGRATIONS[version]
    for statement in script.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO migration VALUES (?, ?)", (version + 1, name))
