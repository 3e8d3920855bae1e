"""Labelled questions over banks of memories: the file format that evaluation reads.

One JSON object a line, in any order, the file gzipped or not:

- `{"kind": "memory", "bank", "id", "text", "timestamp", "speaker", "session"?, "seq"?, "scope"?}`
- `{"kind": "question", "bank", "id", "text", "asked_at", "gold": [memory ids], "category", "stale"?, "alt"?,
  "unanswerable"?, "history"?, "scope"?}`

`timestamp` and `asked_at` are ISO or null. A bank is a world of its own: a question searches its bank only. `seq` gives the
order in which memories arrive; without it the file's order does. `stale` are superseded memories, `alt` maps a gold id
to equivalents of it, `history` holds the turns before a follow-up question. Further keys are ignored.

What leaves no doubt about the measurement is accepted with a note: a time that cannot be read counts as null, a gold id
that no memory has counts as never found. Everything else that is wrong refuses the file, all bad lines at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from hindsight_core.errors import InvalidInput
from hindsight_core.readers import Fault, json_lines, refuse
from hindsight_core.text.times import as_aware


class Kind(StrEnum):
    """What a question can be used for.

    ANSWERABLE ones measure recall. UNANSWERABLE ones have no gold memory: the right result is nothing. ADVERSARIAL ones
    are flagged unanswerable and yet have evidence, which a memory should bring up although it does not hold an answer;
    their recall is reported apart, and they count for nothing else. FOREIGN ones were put to a bank of another data set.
    """

    ANSWERABLE = "answerable"
    UNANSWERABLE = "unanswerable"
    ADVERSARIAL = "adversarial"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One thing to remember, as the file gives it."""

    bank: str
    id: str
    text: str
    timestamp: datetime | None = None
    speaker: str | None = None
    session: str | None = None
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question with its labels."""

    bank: str
    id: str
    text: str
    category: str
    kind: Kind
    asked_at: datetime | None = None
    gold: tuple[str, ...] = ()
    stale: frozenset[str] = frozenset()
    alt: Mapping[str, frozenset[str]] = field(default_factory=dict)
    history: tuple[str, ...] = ()

    def blind(self) -> Question:
        """The same without its labels: all that a system may see."""
        return Question(
            bank=self.bank,
            id=self.id,
            text=self.text,
            category="",
            kind=Kind.ANSWERABLE,
            asked_at=self.asked_at,
            history=self.history,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A data set: memories by bank, in order of arrival, questions, and what was noticed while reading it."""

    name: str
    banks: Mapping[str, tuple[Memory, ...]]
    questions: tuple[Question, ...]
    notes: tuple[Fault, ...] = ()

    def limited(self, n: int) -> Dataset:
        """The same banks with n questions, taken evenly over the file so that every kind has its share."""
        total = len(self.questions)
        if n >= total:
            return self
        return replace(self, questions=tuple(self.questions[i * total // n] for i in range(n)))

    def present(self, question: Question) -> datetime | None:
        """The moment a question is asked: as labelled, else the last timestamp of its bank, else None."""
        if question.asked_at is not None:
            return question.asked_at
        return max((m.timestamp for m in self.banks[question.bank] if m.timestamp is not None), default=None)


def load_dataset(path: str | Path, *, namespaces: bool = False) -> Dataset:
    """Read and check a data set.

    Args:
        path: A `.jsonl` or `.jsonl.gz` file; its name up to the first dot names the data set.
        namespaces: Read `scope` as a part of the bank's name, so that a question searches its own scope only.

    Raises:
        InvalidInput: Naming every bad line.
    """
    path = Path(path)
    if not path.is_file():
        raise InvalidInput(f"no such file: {path}")
    memories: list[Memory] = []
    questions: list[tuple[str, Question]] = []
    faults: list[Fault] = []
    notes: list[Fault] = []
    seen: set[tuple[str, str, str]] = set()
    for where, record in json_lines(path):
        try:
            if isinstance(record, Fault):
                faults.append(record)
                continue
            remarks: list[str] = []
            entry = _entry(record, namespaces, remarks)
            notes += [Fault(where, remark) for remark in remarks]
            key = (record["kind"], entry.bank, entry.id)
            if key in seen:
                raise InvalidInput(f"the {record['kind']} id {entry.id!r} is used twice in its bank")
            seen.add(key)
            if isinstance(entry, Memory):
                memories.append(entry)
            else:
                questions.append((where, entry))
        except InvalidInput as error:
            faults.append(Fault(where, str(error)))
    banks = _banks(memories)
    faults += [
        Fault(where, f"the question's bank {question.bank!r} has no memories")
        for where, question in questions
        if question.bank not in banks
    ]
    if faults:
        refuse(str(path), faults, "Mend the data set; nothing was measured")
    if not questions or not banks:
        raise InvalidInput(f"{path}: a data set needs memories and questions")
    known = {bank: {memory.id for memory in held} for bank, held in banks.items()}
    notes += [
        Fault(where, f"no memory of the bank has the gold id {name!r}; it counts as never found")
        for where, question in questions
        for name in question.gold
        if name not in known[question.bank]
    ]
    return Dataset(
        name=path.name.partition(".")[0],
        banks=banks,
        questions=tuple(question for _, question in questions),
        notes=tuple(notes),
    )


def _banks(memories: Sequence[Memory]) -> dict[str, tuple[Memory, ...]]:
    banks: dict[str, list[Memory]] = {}
    for memory in memories:
        banks.setdefault(memory.bank, []).append(memory)
    return {
        bank: tuple(sorted(held, key=lambda memory: -1 if memory.seq is None else memory.seq))
        for bank, held in banks.items()
    }


def _entry(record: Any, namespaces: bool, remarks: list[str]) -> Memory | Question:
    if not isinstance(record, Mapping):
        raise InvalidInput("not a JSON object")
    kind = record.get("kind")
    if kind not in ("memory", "question"):
        raise InvalidInput('"kind" must be "memory" or "question"')
    bank, id = _text(record, "bank"), _text(record, "id")
    if namespaces and record.get("scope") is not None:
        bank = f"{bank}/{_text(record, 'scope')}"
    text = _text(record, "text")
    if kind == "memory":
        seq = record.get("seq")
        if seq is not None and (isinstance(seq, bool) or not isinstance(seq, int)):
            raise InvalidInput('"seq" must be a whole number')
        return Memory(
            bank=bank,
            id=id,
            text=text,
            timestamp=_when(record, "timestamp", remarks),
            speaker=_optional(record, "speaker"),
            session=_optional(record, "session"),
            seq=seq,
        )
    gold = tuple(_texts(record, "gold"))
    if record.get("unanswerable"):
        use = Kind.ADVERSARIAL if gold else Kind.UNANSWERABLE
    else:
        use = Kind.ANSWERABLE if gold else Kind.UNANSWERABLE
    alt = record.get("alt") or {}
    if not isinstance(alt, Mapping):
        raise InvalidInput('"alt" must map gold ids to lists of ids')
    return Question(
        bank=bank,
        id=id,
        text=text,
        category=_optional(record, "category") or "all",
        kind=use,
        asked_at=_when(record, "asked_at", remarks),
        gold=gold,
        stale=frozenset(_texts(record, "stale")),
        alt={name: frozenset(_texts(alt, name)) for name in alt},
        history=tuple(_texts(record, "history")),
    )


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f'"{name}" must be a string that is not blank')
    return value


def _optional(record: Mapping[str, Any], name: str) -> str | None:
    return None if record.get(name) in (None, "") else _text(record, name)


def _texts(record: Mapping[str, Any], name: str) -> list[str]:
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise InvalidInput(f'"{name}" must be a list of strings')
    return value


def _when(record: Mapping[str, Any], name: str, remarks: list[str]) -> datetime | None:
    value = record.get(name)
    if value is None:
        return None
    try:
        return as_aware(value)
    except InvalidInput:
        remarks.append(f'"{name}" is not a time that can be read; it counts as null')
        return None
