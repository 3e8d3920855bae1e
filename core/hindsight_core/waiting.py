"""Remote services: what is wrong with an address, and what an error says about asking again."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

CONNECT_WITHIN = 5.0
"""Seconds a server has to take up a connection; an answer may take longer."""

_NOBODY = frozenset(("ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror"))


def address_fault(address: str | None) -> str | None:
    """What is wrong with the address of a service, without repeating it: it may hold a password. None is the service's own."""
    if address is None:
        return None
    try:
        parts = urlsplit(address)
        complete = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port  # a wrong one raises
    except (ValueError, AttributeError):
        complete = False
    return None if complete else 'base_url (else OPENAI_BASE_URL) must be such as "http://localhost:8080/v1"'


def nobody_listens(error: BaseException) -> bool:
    """Whether no connection came about at all: asking again at once would only take time.

    A connection that breaks, a server that is busy or slow: those may answer the next time.
    """
    return any(kind.__name__ in _NOBODY for one in _chain(error) for kind in type(one).__mro__)


def asked_to_wait(error: BaseException) -> float | None:
    """Seconds that a server asks to be left alone for, by its headers; None where it does not say."""
    headers = getattr(getattr(error, "response", None), "headers", None)
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name)) / unit  # type: ignore[union-attr]
        except (AttributeError, TypeError, ValueError):
            continue
        if 0.0 <= seconds < 86_400.0:
            return seconds
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
