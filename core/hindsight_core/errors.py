"""One error tree: everything this package raises on purpose is a `HindsightError`.

::

    HindsightError
    ├── InvalidInput            an argument is wrong; the message says what would be right (also a ValueError)
    │   └── InvalidSettings     a profile, weight or option is wrong; all faults are listed at once
    ├── NotFound                no memory under that id in the scopes this handle may read (also a LookupError)
    ├── MissingExtra            an optional package is not installed; the message names the command (also an ImportError)
    ├── EmbeddingError          an embedder failed or returned something that is not a vector
    │   └── EmbedderUnavailable it cannot be used at all, whatever the text: unreachable, refused, unknown model
    ├── EmbedderMismatch        the store was written with another embedder
    ├── ExtractionError         an extractor failed; the text itself is kept as an episode
    ├── ModelError              a language model cannot be asked so: wrong key, unknown name, a request it does not take
    │   ├── ModelUnavailable    it gave no answer: unreachable, overloaded or too slow; the same may be asked again later
    │   └── AnswerUnusable      it answered, and the answer cannot be used; asking the same again gives the same
    └── StoreError              the store cannot be read or written
        ├── StoreCorrupted      the file is damaged
        ├── NotAStore           the file belongs to something else
        ├── SchemaTooNew        the file was written by a newer release
        ├── StoreUnwritable     no permission, or no space left
        ├── StoreBusy           another process held the write lock for too long
        └── StoreClosed         the handle was closed

Messages never contain the text of a memory, nor a secret. Errors of other libraries are mapped where they
cross into this package, with the original kept as `__cause__`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class HindsightError(Exception):
    """Root of every error raised on purpose by this package."""


class InvalidInput(HindsightError, ValueError):
    """An argument is wrong; nothing was written."""


class InvalidSettings(InvalidInput):
    """Settings are wrong; `faults` lists all of them."""

    def __init__(self, subject: str, faults: Sequence[str]) -> None:
        self.subject = subject
        self.faults = tuple(faults)
        super().__init__(f"{subject}: " + "; ".join(self.faults))

    def __reduce__(self) -> tuple[type[InvalidSettings], tuple[str, tuple[str, ...]]]:
        return type(self), (self.subject, self.faults)


class NotFound(HindsightError, LookupError):
    """No such memory in the scopes this handle may read."""


class MissingExtra(HindsightError, ImportError):
    """An optional dependency is missing."""

    def __init__(self, feature: str, extra: str) -> None:
        self.feature = feature
        self.extra = extra
        super().__init__(f'{feature} needs an extra: pip install "hindsight-memory[{extra}]"')

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return type(self), (self.feature, self.extra)


class EmbeddingError(HindsightError):
    """An embedder failed, or returned something that is not a finite vector of its dimension."""


class EmbedderUnavailable(EmbeddingError):
    """The embedder cannot be used at all, whatever the text; asking again for each text would only take time."""


class EmbedderMismatch(HindsightError):
    """The store holds vectors of another embedder; nothing was changed."""


class ExtractionError(HindsightError):
    """An extractor failed; the text is kept and can be processed again."""


class ModelError(HindsightError):
    """A language model cannot be asked like this."""


class ModelUnavailable(ModelError):
    """A language model gave no answer.

    `retry_after` is how many seconds it asked to be left alone, where it did; `down` says that nothing listens where it should be.
    """

    def __init__(self, message: str, retry_after: float | None = None, *, down: bool = False) -> None:
        self.retry_after = retry_after
        self.down = down
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.retry_after), {"down": self.down}


class AnswerUnusable(ModelError):
    """A language model answered, and the answer cannot be used."""


class StoreError(HindsightError):
    """The store cannot be read or written."""


class StoreCorrupted(StoreError):
    """The file is damaged."""


class NotAStore(StoreError):
    """The file exists but is not a Hindsight store."""


class SchemaTooNew(StoreError):
    """The file was written by a newer release of this package."""


class StoreUnwritable(StoreError):
    """The file or its folder cannot be written: permissions, or no space left."""


class StoreBusy(StoreError):
    """Another process held the write lock longer than the timeout."""


class StoreClosed(StoreError):
    """The handle was closed; open the store again."""
