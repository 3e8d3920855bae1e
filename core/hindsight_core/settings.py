"""Settings from code, from the environment and from a TOML file: the first of these that says something holds.

    # hindsight.toml                     environment                          code
    db = "agent.db"                      HINDSIGHT_DB                         Hindsight.configured(db=...)
    embedder = "openai:bge-m3"           HINDSIGHT_EMBEDDER                   ...
    embedder_base_url = "http://..."     HINDSIGHT_EMBEDDER_BASE_URL
    reranker = "onnx:models/reranker"    HINDSIGHT_RERANKER

Every field of `Settings` has one name in all three. A value that is "" is not there. Keys are `Secret`: they are shown by
no repr, log or error, and best kept in the environment, since files are copied around.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from hindsight_core.errors import InvalidInput, InvalidSettings

PREFIX = "HINDSIGHT_"
FILE = f"{PREFIX}CONFIG"
_SWITCHED = ("keywords", "reranker")
"""Fields in which "none" takes back what a later place says."""


class Secret:
    """A key that shows itself to nobody who does not ask for it by name.

    Args:
        value: The key.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The key."""
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> tuple[Any, ...]:
        raise InvalidInput("a secret cannot be pickled")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a memory is opened.

    Attributes:
        db: The memory: a file, or whatever else `Hindsight.open` takes.
        scope: Whose memory; segments are separated by slashes.
        profile: A preset's name, or a JSON file.
        embedder: "auto", "local", "none", "openai:MODEL", "onnx:FOLDER", "sentence-transformers:MODEL" or "bge-m3:MODEL".
        keywords: "bge-m3:MODEL": words get learnt weights; "none", the default: BM25 alone.
        embedder_base_url: Address of an endpoint.
        embedder_api_key: Its key.
        embedding_cache: A file that keeps vectors.
        reranker: "onnx:FOLDER", "sentence-transformers:MODEL" or "llm" (the model below) or "none", the default.
        reranker_candidates: Hits it sees.
        reranker_milliseconds: What it may take.
        llm: A language model's name: it extracts and judges.
        llm_base_url: Address of its endpoint.
        llm_api_key: Its key.
        llm_cache: A file that keeps its answers.
    """

    db: str = "hindsight.db"
    scope: str = "default"
    profile: str = "default"
    embedder: str = "auto"
    keywords: str | None = None
    embedder_base_url: str | None = field(default=None, repr=False)  # an address may hold a password
    embedder_api_key: Secret | None = None
    embedding_cache: str | None = None
    reranker: str | None = None
    reranker_candidates: int = 20
    reranker_milliseconds: float = 500.0
    llm: str | None = None
    llm_base_url: str | None = field(default=None, repr=False)
    llm_api_key: Secret | None = None
    llm_cache: str | None = None


def load_settings(
    file: str | Path | None = None, environment: Mapping[str, str] | None = None, **given: Any
) -> Settings:
    """Settings, each from the first place that has it: what is given here, the environment, the file, the default.

    Args:
        file: A TOML file; by default the one that HINDSIGHT_CONFIG names, if any.
        environment: Variables; the process's own by default.
        given: Fields by name; None is not given.

    Raises:
        InvalidInput: The file cannot be read.
        InvalidSettings: Something is unknown or of the wrong kind; all faults are listed, and no secret is.
    """
    variables = os.environ if environment is None else environment
    named = file or variables.get(FILE) or None
    faults: list[str] = []
    layers = [
        _checked({} if named is None else _read(Path(named)), f"in {named}: ", faults),
        _checked(
            {
                f.name: variables[name]
                for f in fields(Settings)
                if variables.get(name := f"{PREFIX}{f.name.upper()}", "").strip()
            },
            "in the environment: ",
            faults,
        ),
        _checked({name: value for name, value in given.items() if value is not None}, "", faults),
    ]
    if faults:
        raise InvalidSettings("Settings", faults)
    held = {name: value for layer in layers for name, value in layer.items()}
    held |= {name: None for name in _SWITCHED if held.get(name) == "none"}
    return Settings(**held)


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(f"the settings {path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # no TOML, or no UTF-8; the message of either may quote the line
        raise InvalidInput(f"the settings {path} are not TOML in UTF-8") from _without_text(error)


def _without_text(error: ValueError) -> ValueError | None:
    """TOML errors name line and column only; what a decoder quotes is bytes of the file."""
    return error if isinstance(error, tomllib.TOMLDecodeError) else None


def _checked(values: Mapping[str, Any], where: str, faults: list[str]) -> dict[str, Any]:
    """Values in their types; what is wrong is added to the faults, without the value of any."""
    known = {f.name: str(f.type) for f in fields(Settings)}
    held: dict[str, Any] = {}
    for name, value in values.items():
        kind = known.get(name)
        if kind is None:
            # A name like none of ours is not repeated: it may be a key, pasted on the wrong side.
            told = repr(name) if get_close_matches(name, known, n=1) else "such name as one of those given"
            faults.append(f"{where}there is no {told} (there are {', '.join(known)})")
            continue
        if isinstance(value, str) and not value.strip():
            continue
        try:
            held[name] = _typed(value, kind)
        except ValueError:
            wanted = "a number" if kind in ("int", "float") else "a string"
            faults.append(f"{where}{name} must be {wanted}")
    return held


def _typed(value: Any, kind: str) -> Any:
    if isinstance(value, bool):
        raise ValueError
    if kind == "int":
        if isinstance(value, float):
            raise ValueError
        return int(value)
    if kind == "float":
        return float(value)
    if isinstance(value, Path):
        value = str(value)
    if kind.startswith("Secret"):
        if isinstance(value, Secret):
            return value
        value = Secret(value) if isinstance(value, str) else None
    if not isinstance(value, str | Secret):
        raise ValueError
    return value
