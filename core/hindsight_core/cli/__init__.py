"""The command `hindsight`: the facade's verbs on a terminal.

    hindsight remember "I prefer short answers." --speaker user
    hindsight recall "How should I answer?"

Every command prints tables for people, or JSON with `--json` (see `cli.output` for its keys). Exit status: 0 done, 1 an
error of ours, told in one line on standard error, or a finding of `doctor`; 2 wrong usage; 3 `tune` found no gain. All input and output is UTF-8,
whatever the locale says.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from typing import TextIO

__all__ = ["main"]

_INTERRUPTED = 130
_PIPE_CLOSED = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status.

    Args:
        argv: Arguments after the program's name; the process's own by default.
    """
    from hindsight_core.cli.commands import settle
    from hindsight_core.cli.parser import build_parser
    from hindsight_core.errors import HindsightError

    for stream in (sys.stdin, sys.stdout, sys.stderr):
        _speak_utf8(stream)
    logging.basicConfig(level=logging.WARNING, format="hindsight: %(message)s", stream=sys.stderr)
    arguments = build_parser().parse_args([_as_utf8(a) for a in sys.argv[1:]] if argv is None else argv)
    try:
        settle(arguments)
        status: int = arguments.run(arguments) or 0
        sys.stdout.flush()
    except HindsightError as error:
        sys.stderr.write(f"hindsight: {' '.join(str(error).split())}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write(
            "hindsight: interrupted; what was stored stays, and running it again goes on from there\n"
        )
        return _INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more, as after `| head`; keep the interpreter from complaining when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    return status


def _speak_utf8(stream: TextIO) -> None:
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(encoding="utf-8", errors="replace")


def _as_utf8(argument: str) -> str:
    """An argument as typed on a UTF-8 terminal, even when the locale made Python read it as something else."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument
