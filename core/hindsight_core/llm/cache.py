"""Answers on disk, so that the same question to the same model is paid for once.

An answer is found by SHA-256 of model, messages and schema. Unlike a vector it holds words, so it is kept together with
digests of the memories in its prompt, and goes when one of them is erased.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from hindsight_core.llm.chat import ChatReply, ChatRequest, Usage
from hindsight_core.sidefile import SideFile

_APPLICATION_ID = 0x48534C43
_SCHEMA = """
CREATE TABLE IF NOT EXISTS reply (
    key BLOB PRIMARY KEY, text TEXT NOT NULL, prompt_tokens INTEGER, completion_tokens INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS about (digest BLOB NOT NULL, key BLOB NOT NULL, PRIMARY KEY (digest, key)) WITHOUT ROWID
"""


class ReplyCache:
    """Answers of language models in a file; safe from many threads and processes.

    Args:
        path: The file; made when absent.

    Raises:
        NotAStore: The file exists and is something else.
        StoreError: It cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self._file = SideFile(path, kind="answer cache", application_id=_APPLICATION_ID, schema=_SCHEMA)

    def get(self, name: str, request: ChatRequest) -> ChatReply | None:
        """The answer the model of this name gave to exactly this request; None when it was not asked."""
        with self._file.open() as db:
            row = db.execute(
                "SELECT text, prompt_tokens, completion_tokens FROM reply WHERE key = ?",
                (_key(name, request),),
            ).fetchone()
        if row is None:
            return None
        usage = None if row[1] is None else Usage(prompt_tokens=row[1], completion_tokens=row[2])
        return ChatReply(text=row[0], usage=usage)

    def put(self, name: str, request: ChatRequest, reply: ChatReply) -> None:
        """Keep an answer."""
        key, usage = _key(name, request), reply.usage
        counts = (None, None) if usage is None else (usage.prompt_tokens, usage.completion_tokens)
        with self._file.open() as db, db:
            db.execute("INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?)", (key, reply.text, *counts))
            db.executemany(
                "INSERT OR IGNORE INTO about VALUES (?, ?)", [(_digest(text), key) for text in request.about]
            )

    def erase(self, texts: Iterable[str]) -> None:
        """Remove every answer to a prompt that held one of these texts, from every byte of the file."""
        with self._file.open() as db:
            with db:
                for text in texts:
                    keys = [
                        key
                        for (key,) in db.execute("SELECT key FROM about WHERE digest = ?", (_digest(text),))
                    ]
                    for key in keys:
                        db.execute("DELETE FROM reply WHERE key = ?", (key,))
                        db.execute("DELETE FROM about WHERE key = ?", (key,))
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        """Release the file; closing twice is fine."""
        self._file.close()


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _key(name: str, request: ChatRequest) -> bytes:
    messages = [(message.role, message.content) for message in request.messages]
    return _digest(json.dumps([name, messages, request.schema], sort_keys=True))
