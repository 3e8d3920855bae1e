"""Keys: the forms under which equal names and equal sentences meet.

Two spellings are one name when they differ only in width, case or spacing ("Redis", "ＲＥＤＩＳ", "redis "), and two
texts say the same words when, beyond that, they differ only in how their last sentence stops.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

_SURROGATE = re.compile("[\ud800-\udfff]")
_STOPS = ".!。！．…~～ "


def storable(text: str) -> str:
    """The text with each lone surrogate, which no encoding can hold, replaced by U+FFFD; of equal length."""
    if text.isascii():
        return text
    return _SURROGATE.sub("\ufffd", text)


def normalise_key(name: str) -> str:
    """The key of a name: NFKC, case-folded, runs of spaces collapsed, none at the ends; idempotent."""
    if name.isascii():
        return " ".join(name.casefold().split())
    folded = name
    # Folding case can undo the normal form and the other way round; Unicode's NFKC_Casefold folds twice as well.
    for _ in range(2):
        folded = unicodedata.normalize("NFKC", folded).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def speaker_key(name: str) -> str:
    """The key under which what somebody said is found, apart from what is said about them."""
    return said_by(normalise_key(name))


def said_by(key: str) -> str:
    """The same for a name that is a key already."""
    return f"said by {key}"


def digest(text: str) -> bytes:
    """Sixteen bytes that are equal for texts that say the same words.

    Case, width, spacing and the final full stop or exclamation mark do not count; a question mark, a sign or any
    other character does.
    """
    words = storable(normalise_key(text).rstrip(_STOPS))
    return blake2b(words.encode(), digest_size=16).digest()
