"""Commands and their options. Options of every command may stand before or after its name."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

from hindsight_core.cli import commands, measure, moving, tuning
from hindsight_core.profile_file import PRESETS
from hindsight_core.unit import MemoryType, Status

Parser = argparse.ArgumentParser

_TIME = "ISO 8601; without a zone it is read as UTC"


def build_parser() -> Parser:
    """The whole command line."""
    parser = Parser(
        prog="hindsight",
        description="Long-term memory for agents, in one file.",
        epilog="Exit status: 0 done, 1 an error told on standard error (or a finding of doctor), 2 wrong usage, 3 tune found no gain.",
    )
    parser.add_argument("--version", action="version", version=f"hindsight {version('hindsight-memory')}")
    _common(parser, top=True)
    add = _Adder(parser.add_subparsers(title="commands", metavar="COMMAND", required=True))

    command = add("remember", commands.remember, "remember a text")
    command.add_argument("text", help="the text, or - for standard input")
    command.add_argument("--speaker", help="who said it")
    command.add_argument("--session", help="which conversation it belongs to")
    command.add_argument("--timestamp", help=f"when it was said ({_TIME}), or none; default: now")
    command.add_argument("--id", help="your own id; the same id again replaces the text")
    command.add_argument("--turn", type=int, help="position within the session")
    command.add_argument("--source", help="document it comes from; it is then split by paragraphs")
    command.add_argument("--no-consolidate", action="store_true", help="do not compare it with what is there")
    _fields(command)

    command = add(
        "ingest", commands.ingest, "remember files: chats (.jsonl), documents (.md, .txt) or folders of these"
    )
    command.add_argument(
        "paths", nargs="+", metavar="PATH", help="file or folder; - reads a chat from standard input"
    )
    command.add_argument(
        "--skip-bad", action="store_true", help="leave out lines and files that cannot be used"
    )
    command.add_argument("--no-consolidate", action="store_true", help="do not compare with what is there")

    command = add("recall", commands.recall, "find what is remembered about a question")
    _question(command)
    command = add("context", commands.context, "the block of memories that a prompt needs")
    _question(command)
    command.add_argument("--max-tokens", type=int, default=800, help="at most so long (default %(default)s)")

    command = add(
        "recollect",
        commands.recollect,
        "what a message brings to mind; nothing when it is better to say nothing",
    )
    command.add_argument("message", help="what was just said, or - for standard input")
    command.add_argument("-k", type=int, default=5, help="at most so many memories (default %(default)s)")
    command.add_argument("--max-tokens", type=int, default=400, help="at most so long (default %(default)s)")
    command.add_argument(
        "--history",
        action="append",
        default=[],
        metavar="TURN",
        help="a turn before it; repeat, oldest first",
    )

    command = add("find", commands.find, "memories that match exactly, newest first")
    _filters(command, exact=True)
    command.add_argument("--limit", type=int, help="at most so many")
    command.add_argument("--offset", type=int, default=0, help="leave out so many")
    command = add("aggregate", commands.aggregate, "count memories")
    command.add_argument("--by", help="entity, type, status, day, speaker, session or metadata.KEY")
    _filters(command, exact=True)
    command = add("get", commands.get, "one memory, whatever its status")
    command.add_argument("id")

    command = add("history", commands.history, "every value a fact has had, oldest first")
    command.add_argument("id")
    command = add("transcript", commands.transcript, "a session as it was told")
    command.add_argument("session")

    command = add("update", commands.update, "change a memory")
    command.add_argument("id")
    command.add_argument("--text", help="new text, or - for standard input")
    command.add_argument("--timestamp", help=f"when it was said ({_TIME}), or none")
    command.add_argument("--status", choices=[str(status) for status in Status])
    _fields(command)
    command = add("forget", commands.forget, "remove a memory; the journal still holds it")
    command.add_argument("id")
    command = add("erase", commands.erase, "remove a memory from every byte, for good")
    command.add_argument("id")
    command.add_argument("--yes", action="store_true", help="do not ask")

    command = add("sweep", commands.sweep, "forget on purpose: archive, merge and delete by the profile")
    command.add_argument("--dry-run", action="store_true", help="only say what would happen, and why")
    command.add_argument("--keep", type=int, metavar="N", help="at most so many stay active")
    command.add_argument(
        "--full",
        action="store_true",
        help="compare all memories, and not only what changed since the last sweep",
    )
    command.add_argument(
        "--if-due",
        metavar="SPAN",
        help="only when the last such sweep lies so far back: 30m, 24h, 7d; fit for cron, which may call it more often",
    )
    command = add("undo", commands.undo, "take back a batch, such as that of a sweep")
    command.add_argument("batch")

    command = add("export", commands.export, "write memories and episodes to a file of JSON lines")
    command.add_argument("path")
    command = add("import", commands.import_, "read what export wrote")
    command.add_argument("path")

    command = add(
        "migrate", moving.migrate, "move a memory to another store, journal and all; broken off, it goes on"
    )
    command.add_argument(
        "source", metavar="SRC", help="a file, a folder (Qdrant Edge) or the address of a Qdrant server"
    )
    command.add_argument(
        "target", metavar="DST", help="the same; a folder that is not there yet ends with a slash"
    )

    add("stats", commands.stats, "counts and sizes")
    add("doctor", commands.doctor, "what is wrong, and what to do about it; status 1 when anything is")
    add("scopes", commands.scopes, "the scopes a file holds")
    add("resume", commands.resume, "encode what an interrupted run left behind")
    add("reembed", commands.reembed, "embed what has no vector, or all of it anew for another embedder")

    measure.add_options(
        add("eval", measure.evaluate_files, "measure recall on labelled questions", profile=False)
    )
    tuning.add_options(add("tune", tuning.tune_files, "fit a profile to labelled questions or to feedback"))
    return parser


class _Adder:
    """Adds one command after the other."""

    def __init__(self, commands: Any) -> None:
        self._commands = commands

    def __call__(
        self, name: str, run: Callable[[argparse.Namespace], int | None], help: str, *, profile: bool = True
    ) -> Parser:
        command: Parser = self._commands.add_parser(
            name, help=help, description=help[0].upper() + help[1:] + "."
        )
        _common(command, top=False, own=not profile)
        command.set_defaults(run=run)
        return command


def _common(parser: Parser, *, top: bool, own: bool = False) -> None:
    """Options of every command. Below the top they have no default, so as not to undo what stands before the command.

    Args:
        parser: Where they are added.
        top: Whether they stand before the command.
        own: The command has its own `--json` and `--profile`.
    """

    def default(value: Any) -> Any:
        return value if top else argparse.SUPPRESS

    group = parser.add_argument_group("of every command")
    group.add_argument(
        "--db",
        metavar="PLACE",
        default=default(None),
        help="the memory: a file, a folder, or the address of a Qdrant server (default: $HINDSIGHT_DB, else hindsight.db)",
    )
    group.add_argument(
        "--scope",
        action="append",
        default=default(None),
        help='whose memory (default "default"); repeat it for the segments of a sub-scope',
    )
    group.add_argument(
        "--embedder",
        metavar="NAME",
        default=default(None),
        help="local: the bundled model; auto (the default): the same where installed; none: words, names and time only; "
        "openai:MODEL, onnx:FOLDER, sentence-transformers:MODEL or bge-m3:MODEL",
    )
    group.add_argument(
        "--cache",
        metavar="FILE",
        default=default(None),
        help="keep vectors here, so that no text is embedded twice (default: $HINDSIGHT_EMBEDDING_CACHE)",
    )
    group.add_argument(
        "--config",
        metavar="FILE",
        default=default(None),
        help="settings in TOML, for what neither an option nor the environment says (default: $HINDSIGHT_CONFIG)",
    )
    group.add_argument("--now", default=default(None), help=f"the present moment ({_TIME})")
    if not own:
        group.add_argument(
            "--profile",
            metavar="NAME|FILE",
            default=default(None),
            help=f"{', '.join(PRESETS)}, or a JSON file",
        )
        group.add_argument("--json", action="store_true", default=default(False), help="print JSON")


def _fields(command: Parser) -> None:
    command.add_argument("--metadata", metavar="JSON", help="an object of your own")
    command.add_argument("--importance", type=float, help="0..1; by default judged")
    command.add_argument("--memory-type", choices=[str(kind) for kind in MemoryType])
    command.add_argument("--expires-at", metavar="TIME", help="gone after this instant")
    command.add_argument("--pinned", action=argparse.BooleanOptionalAction, help="never swept")


def _filters(command: Parser, *, exact: bool) -> None:
    command.add_argument("--where", metavar="JSON", help='a filter, such as {"type": "semantic"}')
    command.add_argument("--since", metavar="TIME", help=f"dated at or after ({_TIME})")
    command.add_argument("--until", metavar="TIME", help="dated before")
    if exact:
        command.add_argument("--entity", help="names this")
        command.add_argument("--status", choices=[str(status) for status in Status], help="default: active")


def _question(command: Parser) -> None:
    command.add_argument("query", help="the question, or - for standard input")
    command.add_argument("-k", type=int, default=5, help="at most so many memories (default %(default)s)")
    command.add_argument(
        "--history",
        action="append",
        default=[],
        metavar="TURN",
        help="a turn before the question; repeat, oldest first",
    )
    _filters(command, exact=False)
    command.add_argument("--as-of", metavar="TIME", help="by what held then")
    command.add_argument("--known-at", metavar="TIME", help="by what was known then")
    command.add_argument("--include-history", action="store_true", help="superseded memories too")
    command.add_argument("--include-archived", action="store_true", help="archived memories too")
    command.add_argument("--floor", help="least relevance in 0..1, or none; default: the profile's")
