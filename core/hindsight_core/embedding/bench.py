"""How fast the bundled model runs here, and how well its two runtimes agree: `python -m hindsight_core.embedding.bench`.

Prints tokens per second of the engine and of ONNX Runtime for batches of 32 texts, the time of one short question, the
cosines between the two runtimes' vectors, and the calibration backgrounds.
"""

from __future__ import annotations

import argparse
import sys
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from hindsight_core.embedding.calibrate import measure
from hindsight_core.embedding.e5.tokens import Tokens
from hindsight_core.embedding.e5.weights import Weights, installed
from hindsight_core.embedding.local import LocalEmbedder
from hindsight_core.embedding.unrelated import PASSAGES, QUERIES
from hindsight_core.ports import Floats

_BATCH = 32
_LENGTHS = (64, 256)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the measurements and print them."""
    parser = argparse.ArgumentParser(prog="python -m hindsight_core.embedding.bench", description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    threads = parser.parse_args(arguments).threads
    fast = LocalEmbedder(threads=threads, runtime="onnx")
    slow = LocalEmbedder(threads=threads, runtime="engine")
    _print(f"{fast.fingerprint}, {threads} threads, batches of {_BATCH}")
    for length in _LENGTHS:
        texts = _texts(length)
        engine, onnx = (_cost(partial(each.embed_documents, texts)) for each in (slow, fast))
        _print(
            f"{length:4d} tokens: engine {_BATCH * length / engine.wall:6.0f} tokens/s ({_BATCH * length / engine.cpu:.0f} a "
            f"CPU second), onnx {_BATCH * length / onnx.wall:6.0f} ({_BATCH * length / onnx.cpu:.0f}): "
            f"{engine.wall / onnx.wall:.1f} times faster"
        )
    engine, onnx = (_cost(partial(each.embed_query, QUERIES[0])) for each in (slow, fast))
    _print(f"one short question: engine {1000 * engine.wall:.1f} ms, onnx {1000 * onnx.wall:.1f} ms")
    sample = [*PASSAGES, "\n".join(PASSAGES[:30]), "".join(PASSAGES[30:54]), "好", "ok"]
    cosines = np.sum(slow.embed_documents(sample) * fast.embed_documents(sample), axis=1)
    _print(f"cosine of the two: lowest {cosines.min():.5f}, mean {cosines.mean():.5f}")
    background = measure(fast)
    _print(f"backgrounds: question-passage {background.query:.4f}, passage-passage {background.passage:.4f}")


def _texts(length: int) -> list[str]:
    """A batch of texts of so many tokens (prefix, begin and end included), no two alike."""
    tokens = Tokens(Weights(installed()).vocabulary())
    words = " ".join(PASSAGES).split(" ")

    def size(start: int, count: int) -> int:
        return len(tokens.encode([f"passage: {' '.join(words[start : start + count])}"])[0]) + 2

    texts = []
    for start in range(_BATCH):
        count = bisect_right(range(length), length, key=partial(size, start)) - 1
        texts.append(" ".join(words[start : start + count]))
    return texts


class _Cost(NamedTuple):
    wall: float
    cpu: float


def _cost(call: Callable[[], Floats]) -> _Cost:
    """Seconds of the best of three runs, after one to warm up; CPU seconds are those of all threads together."""
    call()
    costs = []
    for _ in range(3):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        costs.append(_Cost(time.perf_counter() - wall, time.process_time() - cpu))
    return min(costs)


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
