"""`hindsight migrate`: a memory from one place to another."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import ExitStack

from hindsight_core.cli.commands import clock
from hindsight_core.cli.output import emit, pairs_table
from hindsight_core.errors import InvalidInput
from hindsight_core.stores.moving import copy
from hindsight_core.stores.opening import may_be, open_place


def migrate(args: Namespace) -> None:
    """Move everything, verified; broken off, the same command goes on."""
    if not may_be(args.source):
        raise InvalidInput(f"no memory at {args.source}")
    if _same(args.source, args.target):
        raise InvalidInput("the two places are the same")
    with ExitStack() as stack:
        source = open_place(args.source)
        stack.callback(source.close)
        target = open_place(args.target)
        stack.callback(target.close)
        moved = copy(source, target, name=_name(args.source), now=clock(args).now())
    figures = {**moved.counts, "checksum": moved.checksum}
    emit(args.json, figures, pairs_table(figures.items(), ("moved", "records")))


def _name(place: str) -> str:
    return place.rstrip("/") if "://" in place else os.path.realpath(place)


def _same(one: str, other: str) -> bool:
    return _name(one) == _name(other)
