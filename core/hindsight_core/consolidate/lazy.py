"""Regular expressions that are compiled when they are first used: whoever never tells anything pays for none of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any


class Lazy:
    """A pattern with the methods of a compiled one that are used here."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._source = pattern, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._source)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """As of a compiled pattern."""
        return self._compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """As of a compiled pattern."""
        return self._compiled.fullmatch(text)

    def search(self, text: str, start: int = 0, end: int = 1 << 62) -> re.Match[str] | None:
        """As of a compiled pattern."""
        return self._compiled.search(text, start, end)

    def findall(self, text: str) -> list[Any]:
        """As of a compiled pattern."""
        return self._compiled.findall(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """As of a compiled pattern."""
        return self._compiled.finditer(text)

    def sub(self, replacement: str, text: str) -> str:
        """As of a compiled pattern."""
        return self._compiled.sub(replacement, text)
