"""Technical entities: keys, versions, identifiers, paths. Their shape gives them away in any language.

A text is first cut into runs of the characters such names are written with; a run that is not a plain word is then
matched as a whole against the shapes. Matching whole runs keeps this linear and spares ordinary prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Mention(NamedTuple):
    """A name found at a place in a text."""

    start: int
    end: int
    name: str
    type: str


_RUN = r"[A-Za-z0-9_.@/\\:#~+$%=&?-]"
_CANDIDATE = re.compile(rf"(?<!{_RUN})(?![A-Z]?[a-z]*[.:?]?(?!{_RUN})){_RUN}+")
_PIECE = re.compile(r"[^=&?]+")
_FILE_ENDING = (
    "py|pyi|ipynb|js|mjs|jsx|ts|tsx|java|kt|go|rs|rb|php|c|cc|cpp|h|hpp|cs|swift|scala|sh|bash|ps1|sql|"
    "html?|css|scss|vue|json|jsonl|"
    "ya?ml|toml|ini|cfg|conf|env|xml|csv|tsv|parquet|md|rst|txt|log|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|"
    "mp3|mp4|zip|tar|gz|whl|lock|db"
)
_DOMAIN_ENDING = "com|org|net|io|dev|cn|edu|gov|ai|app|co|de|uk|fr|jp|eu|info|cloud|local"
_SHAPE = re.compile(
    rf"""
      (?P<url>[a-z][a-z0-9+.]{{1,15}}://\S+)
    | (?P<email>[\w.+-]+@[\w-]+(?:\.[\w-]+)+)
    | (?P<uuid>[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}})
    | (?P<hash>(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{{7,64}})
    | (?P<phone>1[3-9]\d{{9}}|\+\d{{8,14}})
    | (?P<ticket>[A-Z][A-Z0-9]{{0,9}}-\d{{1,6}}|\#\d{{2,7}})
    | (?P<version>v\d+(?:\.\d+)*(?:-[A-Za-z0-9.]+)?|(?!(?:19|20)\d\d\.)\d+(?:\.\d+){{2,}}(?:-[A-Za-z0-9.]+)?)
    | (?P<path>(?=.*[A-Za-z])(?:~|\.{{1,2}})?(?:/[\w.@+-]+){{2,}}/?|[A-Za-z]:\\[\w.\\-]+|(?:[\w.-]+/)+[\w-]+\.(?:{_FILE_ENDING})
        |[\w-]+(?:\.[\w-]+)*\.(?:{_FILE_ENDING})|\.env(?:\.\w+)?|~/[\w.-]+)
    | (?P<domain>(?:[a-z0-9-]+\.)+(?:{_DOMAIN_ENDING})(?::\d+)?(?:/\S*)?|localhost:\d+)
    | (?P<key>--[a-z][a-z0-9-]+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|(?=\S*[a-z]{{3}})_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+_*
        |[a-z][\w-]*(?:\.[a-z][\w-]*){{2,}}|[a-z]{{2,}}[a-z0-9]*(?:[A-Z][a-z0-9]+)+)
    """,
    re.VERBOSE | re.ASCII,
)
_TYPE = {
    "url": "path",
    "email": "identifier",
    "uuid": "identifier",
    "hash": "identifier",
    "phone": "identifier",
    "ticket": "identifier",
    "version": "version",
    "path": "path",
    "domain": "path",
    "key": "config",
}
_TOLD_VERSION = re.compile(
    r"(?:\bversions?|\brelease|版本号?)\s{0,2}(?:is|was|to|为|是|[:：])?\s{0,2}v?(\d+(?:\.\d+)+)"
    r"|(?<![\d.])(\d+\.\d+)\s?版"
    r"|\b(?!Section|Figure|Fig|Chapter|Table|Step|Part|Equation|Algorithm|Appendix|Phase|About|Around|Only|"
    r"Over)"
    r"[A-Z][A-Za-z]+ (\d{1,2}\.\d+)(?![\d.%]|\s?(?:million|billion|percent|[kKM]\b|hours|%))"
)
_CODE_NAME = re.compile(r"`([A-Za-z][A-Za-z0-9]{2,40})(?:\(\))?`")
_CODE_WORDS = frozenset(
    [
        "true",
        "false",
        "null",
        "none",
        "int",
        "str",
        "string",
        "float",
        "bool",
        "list",
        "dict",
        "object",
        "void",
        "self",
        "this",
        "return",
    ]
)


def technical(text: str) -> Iterator[Mention]:
    """Keys, versions, identifiers and paths, in no particular order."""
    for run in _CANDIDATE.finditer(text):
        found = run[0]
        pieces = (
            [(0, found)]
            if "://" in found
            else [(piece.start(), piece[0]) for piece in _PIECE.finditer(found)]
        )
        for offset, piece in pieces:
            name = piece.strip(":").rstrip(".-/:" if "://" not in piece else ".:-")
            if len(name) > 1 and (shape := _SHAPE.fullmatch(name)) is not None:
                start = run.start() + offset + piece.index(name)
                yield Mention(start, start + len(name), name, _TYPE[shape.lastgroup or ""])
    if "." in text:
        for told in _TOLD_VERSION.finditer(text):
            group = told.lastindex or 0
            yield Mention(told.start(group), told.end(group), told[group], "version")
    if "`" in text:
        for code in _CODE_NAME.finditer(text):
            if code[1].lower() not in _CODE_WORDS:
                yield Mention(code.start(1), code.end(1), code[1], "system")
