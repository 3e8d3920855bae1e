"""Memories that nobody said: as many as wanted, for measuring speed.

What decides the speed of a recall is kept close to life. Words follow Zipf's law (frequency ~ 1 / rank), so that some
postings are long; two turns in three are English, the rest Chinese; twenty turns make a session; turns have subjects, and
vectors cluster by them; names, settings and versions occur. All of it comes from a seed.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from hindsight_core.ports import Floats

DIMENSION = 384
START = datetime(2030, 1, 1, tzinfo=UTC)
SESSION = 20

_SYLLABLES = "ba de fi go ku la me ni po ru sa te vi wo xu ya ze chi dro fle gri pla sto tra".split()  # noqa: SIM905
_HAN = "天地水火山石田土木林花草风雨雪云日月星光书笔纸画车船路桥门窗房屋衣食米茶酒盐刀布金银铜铁红黄蓝白黑大小高低长短新旧早晚春夏秋冬东西南北上下左右前后"
_VOCABULARY = 20_000
_TOPICS = 400
_TOPIC_WORDS = 30
_NAMES = 300


class Synthetic:
    """A generator of turns and of questions about them; equal seeds give equal texts."""

    def __init__(self, seed: int = 7) -> None:
        self._rng = np.random.default_rng(seed)
        rng = self._rng
        self._words = [self._word(2 + int(n)) for n in rng.integers(0, 3, _VOCABULARY)]
        self._chinese = ["".join(pair) for pair in rng.choice(list(_HAN), (_VOCABULARY // 4, 2))]
        self._names = [self._word(2).capitalize() for _ in range(_NAMES)]
        self._topics = rng.integers(0, _VOCABULARY, (_TOPICS, _TOPIC_WORDS))
        self._ranks = {size: _zipf(size) for size in (_VOCABULARY, len(self._chinese))}

    def turns(self, n: int, first: int = 0) -> Iterator[dict[str, Any]]:
        """Items for `remember_many`, numbered from `first`; a session takes an hour, and every six hours one begins."""
        topic = 0
        for number in range(first, first + n):
            session, turn = divmod(number, SESSION)
            if turn == 0 or number == first:
                topic = int(self._rng.integers(_TOPICS))
            yield {
                "text": self._turn(topic),
                "id": f"t{number:07d}",
                "speaker": self._names[session % 40] if turn % 2 == 0 else "assistant",
                "session": f"s{session:06d}",
                "timestamp": START + timedelta(hours=6 * session, minutes=3 * turn),
            }

    def questions(self, n: int) -> list[str]:
        """Questions on topics that turns have, in both languages."""
        found = []
        for number in range(n):
            topic = int(self._rng.integers(_TOPICS))
            own = self._own(topic, 3)
            name = self._names[int(self._rng.integers(_NAMES))]
            if number % 3 == 2:
                chinese = "".join(self._chinese[i % len(self._chinese)] for i in self._topics[topic][:2])
                found.append(f"{self._subject(topic)} {name}上次说的{chinese}是什么")
            else:
                found.append(f"{self._subject(topic)} what did {name} say about {' '.join(own)}?")
        return found

    def _turn(self, topic: int) -> str:
        rng = self._rng
        length = int(rng.integers(8, 40))
        name = self._names[int(rng.integers(_NAMES))]
        if rng.random() < 1 / 3:
            drawn = self._draw(len(self._chinese), length // 2)
            own = [self._chinese[int(i) % len(self._chinese)] for i in rng.choice(self._topics[topic], 4)]
            return (
                f"{self._subject(topic)} {name}说"
                + "".join([*own, *(self._chinese[i] for i in drawn)])
                + "。"
            )
        words = [*self._own(topic, length // 3), *(self._words[i] for i in self._draw(_VOCABULARY, length))]
        rng.shuffle(words)
        detail = (
            f"{words[0]}.{words[1]} {rng.integers(1, 9)}.{rng.integers(0, 20)}"
            if rng.random() < 0.2
            else name
        )
        return f"{self._subject(topic)} {' '.join(words)} {detail}."

    def _subject(self, topic: int) -> str:
        return f"topic{topic}"

    def _own(self, topic: int, n: int) -> list[str]:
        return [self._words[i] for i in self._rng.choice(self._topics[topic], n)]

    def _draw(self, size: int, n: int) -> list[int]:
        return [int(i) for i in np.searchsorted(self._ranks[size], self._rng.random(n))]

    def _word(self, syllables: int) -> str:
        return "".join(self._rng.choice(_SYLLABLES, syllables))


def _zipf(size: int) -> Any:
    share = 1 / np.arange(1, size + 1)
    return np.cumsum(share) / share.sum()


class TopicEmbedder:
    """Vectors of 384 numbers for synthetic texts: the centre of the topic they begin with, and noise of their own."""

    dimension = DIMENSION
    fingerprint = f"synthetic-topics/{DIMENSION}/1"

    def __init__(self) -> None:
        self._centres = np.random.default_rng(11).standard_normal((_TOPICS, DIMENSION), dtype=np.float32)

    def embed_documents(self, texts: list[str]) -> Floats:
        """Vectors of turns, shape (n, 384)."""
        return (
            np.stack([self.embed_query(text) for text in texts])
            if texts
            else np.zeros((0, DIMENSION), np.float32)
        )

    def embed_query(self, text: str) -> Floats:
        """Vector of one text, shape (384,)."""
        said = text.partition(": ")[2] or text
        name = said.split(maxsplit=1)[0].removeprefix("topic") if said.strip() else ""
        noise = np.random.default_rng(zlib.crc32(text.encode())).standard_normal(DIMENSION, dtype=np.float32)
        vector = noise if not name.isdecimal() else self._centres[int(name) % _TOPICS] + noise
        return (vector / np.linalg.norm(vector)).astype(np.float32)
