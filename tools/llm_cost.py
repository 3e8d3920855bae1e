"""What the language model costs per 1,000 turns, counted by the meter on the shipped sample conversation.

    python tools/llm_cost.py [PRICE_SENT PRICE_RECEIVED]     # per million tokens, in any currency

No model is asked: a stand-in answers every request in full (for each text a summary, its names, its times), and tokens are
counted by the package's own estimate on the real requests and on those answers. A model's own tokenizer gives other counts,
mostly lower ones; the number of calls stays.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hindsight_core import Hindsight, profiles
from hindsight_core.embedding import HashEmbedder
from hindsight_core.llm import Chat, ChatReply, ChatRequest, LLMExtractor, LLMJudge, Tally, Usage
from hindsight_core.recall import estimate_tokens
from hindsight_core.reranking import BoundedReranker, LLMReranker
from hindsight_core.text.entities import find_entities

SAMPLE = Path(__file__).parent.parent / "examples" / "sample_conversation.jsonl"


class StandIn:
    """Answers as a model would that does everything it is told."""

    name = "stand-in"

    def complete(self, request: ChatRequest) -> ChatReply:
        """Answer about every text, pair or passage of the request."""
        asked = request.messages[1].content
        if "grades" in request.schema["properties"]:
            answer: dict[str, Any] = {"grades": [5] * asked.count("<passage ")}
        else:
            data = json.loads(asked)
            items = [_item(told) for told in data.get("texts", ())]
            answer = {"items": items + [{"id": p["id"], "relation": "new"} for p in data.get("pairs", ())]}
        text = json.dumps(answer, ensure_ascii=False)
        sent = sum(estimate_tokens(message.content) for message in request.messages)
        sent += estimate_tokens(json.dumps(request.schema))
        usage = Usage(prompt_tokens=sent, completion_tokens=estimate_tokens(text))
        return ChatReply(text=text, usage=usage)


def _item(told: dict[str, Any]) -> dict[str, Any]:
    text = told["text"]
    named = find_entities(text, types=profiles.ENTITY_TYPES, now=None, speaker=None)
    return {
        "id": told["id"],
        "summary": text[:120],
        "importance": 7,
        "memory_type": "semantic",
        "entities": [{"name": one.name, "type": one.type} for one in named if one.type != "time"],
        "times": [{"words": "last week", "start": "2026-01-05", "end": "2026-01-12"}] * ("last" in text),
        "relations": [],
    }


def measure(price: tuple[float, float]) -> list[tuple[str, Tally]]:
    """The meter per 1,000 turns, for each way to use a model."""
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    turns = [json.loads(line) for line in lines]

    def per_thousand(*, judge: bool, together: bool) -> Tally:
        chat = Chat(StandIn(), price=price)
        part: dict[str, Any] = {"judge": LLMJudge(chat)} if judge else {"extractor": LLMExtractor(chat)}
        with Hindsight.open(":memory:", embedder=HashEmbedder(), **part) as memory:
            if together:
                memory.remember_many(turns)
            else:
                for turn in turns:
                    memory.remember(**turn)
        return _scaled(chat.tally, len(turns))

    def per_thousand_questions(*, recollects: bool) -> Tally:
        chat = Chat(StandIn(), price=price)
        second = BoundedReranker(LLMReranker(chat), candidates=10, milliseconds=60_000)
        with Hindsight.open(
            ":memory:", embedder=HashEmbedder(), reranker=None if recollects else second
        ) as memory:
            memory.remember_many(turns)
            for turn in turns:
                if recollects:
                    memory.recollect(turn["text"], grader=LLMReranker(chat))
                else:
                    memory.recall(turn["text"])
        return _scaled(chat.tally, len(turns))

    return [
        ("extractor, a history at once", per_thousand(judge=False, together=True)),
        ("extractor, turn by turn", per_thousand(judge=False, together=False)),
        ("judge, turn by turn", per_thousand(judge=True, together=False)),
        ("reranker, ten candidates, 1,000 recalls", per_thousand_questions(recollects=False)),
        ("grader, 1,000 messages to recollect", per_thousand_questions(recollects=True)),
    ]


def _scaled(tally: Tally, asked: int) -> Tally:
    factor = 1000 / asked
    return replace(
        tally,
        calls=round(tally.calls * factor),
        prompt_tokens=round(tally.prompt_tokens * factor),
        completion_tokens=round(tally.completion_tokens * factor),
        cost=tally.cost * factor,
    )


def main() -> None:
    """Print the table."""
    price = (float(sys.argv[1]), float(sys.argv[2])) if len(sys.argv) == 3 else (0.15, 0.60)
    table = Table(
        title=f"per 1,000 turns, at {price[0]:g} and {price[1]:g} per million tokens sent and received"
    )
    for heading in ("", "calls", "tokens sent", "tokens received", "cost"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, tally in measure(price):
        counts = (f"{n:,}" for n in (tally.calls, tally.prompt_tokens, tally.completion_tokens))
        table.add_row(name, *counts, f"{tally.cost:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
