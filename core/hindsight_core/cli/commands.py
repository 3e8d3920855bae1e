"""One function for each command: open the memory, call the facade, print."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

from rich.table import Table

from hindsight_core import Hindsight
from hindsight_core.cli.output import (
    emit,
    hits_json,
    hits_table,
    pairs_table,
    plain,
    units_table,
    when,
    words,
)
from hindsight_core.clock import FixedClock, SystemClock
from hindsight_core.engine.configure import embedder_of, options_of
from hindsight_core.engine.items import make_item
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Clock, Embedder
from hindsight_core.readers import Input, read_chat, read_input
from hindsight_core.recall import Hits
from hindsight_core.settings import load_settings
from hindsight_core.stores.opening import may_be
from hindsight_core.text.times import as_aware

IN_MEMORY = ":memory:"


def clock(args: Namespace) -> Clock:
    """The present as asked for, else the system's."""
    return FixedClock(as_aware(args.now)) if args.now else SystemClock()


def settle(args: Namespace) -> None:
    """Fill in from the environment and the settings file what no option says."""
    settings = load_settings(
        args.config,
        db=args.db,
        scope="/".join(args.scope) if args.scope else None,
        profile=getattr(args, "profile", None),
        embedder=args.embedder,
        embedding_cache=args.cache,
    )
    args.settings = settings
    args.db, args.profile = settings.db, settings.profile


def embedder(args: Namespace, stack: ExitStack) -> Embedder | None:
    """The embedder asked for, through the cache where there is one."""
    return embedder_of(args.settings, stack)


def opened(args: Namespace, stack: ExitStack, *, make: bool = False, embeds: bool = True) -> Hindsight:
    """The memory the options name.

    Args:
        args: The options.
        stack: Closes it.
        make: Make the file when it is not there.
        embeds: The command needs vectors, and keyword weights.

    Raises:
        InvalidInput: There is no such memory; a mistyped name must not make an empty one.
    """
    if not make and args.db != IN_MEMORY and not may_be(args.db):
        raise InvalidInput(
            f"no memory at {args.db}: remember or ingest something first, or name another with --db"
        )
    options = options_of(args.settings, stack)
    if not embeds:
        options.pop("keywords", None)
    if args.scope:  # a segment of an option may hold a slash
        options["scope"] = tuple(args.scope)
    memory = Hindsight.open(
        args.db, embedder=embedder(args, stack) if embeds else None, clock=clock(args), **options
    )
    return stack.enter_context(memory)


def _text(argument: str) -> str:
    return sys.stdin.read().removesuffix("\n") if argument == "-" else argument


def _object(argument: str | None, name: str) -> Mapping[str, Any] | None:
    if argument is None:
        return None
    try:
        value = json.loads(argument)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"--{name} is not JSON: {error.msg}, column {error.colno}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"--{name} is nested too deeply, or holds too long a number") from error
    if not isinstance(value, dict):
        raise InvalidInput(f"--{name} must be a JSON object")
    return value


def _optional_time(argument: str) -> str | None:
    return None if argument.lower() == "none" else argument


def _floor(argument: str | None) -> float | str | None:
    if argument is None:
        return "profile"
    if argument.lower() == "none":
        return None
    try:
        return float(argument)
    except ValueError:
        raise InvalidInput(f"--floor must be a number in 0..1 or none, not {argument!r}") from None


def _given(args: Namespace, *names: str) -> dict[str, Any]:
    """The options that were given, under the facade's names and in its types."""
    values = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    for name in ("timestamp", "expires_at"):
        if name in values:
            values[name] = _optional_time(values[name])
    if "text" in values:
        values["text"] = _text(values["text"])
    if "metadata" in values:
        values["metadata"] = _object(values["metadata"], "metadata")
    return values


_FIELDS = ("text", "timestamp", "metadata", "importance", "memory_type", "expires_at", "pinned")


def remember(args: Namespace) -> None:
    """`hindsight remember`."""
    with ExitStack() as stack:
        memory = opened(args, stack, make=True)
        units = memory.remember(
            **_given(args, *_FIELDS, "speaker", "session", "id", "turn", "source"),
            consolidate=not args.no_consolidate,
        )
        emit(args.json, plain(units), units_table(units))


def ingest(args: Namespace) -> None:
    """`hindsight ingest`: every input is read and checked before anything is stored."""
    now = clock(args).now()

    def check(item: dict[str, Any]) -> object:
        return make_item(item, now)

    read: list[Input] = []
    for path in args.paths:
        if path == "-":
            read.append(read_chat(sys.stdin.buffer, "standard input", check=check, skip_bad=args.skip_bad))
        else:
            read.append(read_input(path, check=check, skip_bad=args.skip_bad))
    items = [item for one in read for item in one.items]
    skipped = [(path, fault) for path, one in zip(args.paths, read, strict=True) for fault in one.skipped]
    with ExitStack() as stack:
        memory = opened(args, stack, make=True)
        before = memory.stats()["memories"]
        memory.resume()
        memory.remember_many(items, consolidate=not args.no_consolidate, progress=sys.stderr.isatty())
        after = memory.stats()["memories"]
    figures = {"items": len(items), "added": after - before, "memories": after}
    left_out = [{"path": path, "where": fault.where, "what": fault.what} for path, fault in skipped]
    shown = [pairs_table(figures.items(), ("", ""))]
    if skipped:
        shown.append(pairs_table(((f"{p}: {f.where}", f.what) for p, f in skipped), ("left out", "why")))
    emit(args.json, {**figures, "skipped": left_out}, *shown)


def _recall(args: Namespace, memory: Hindsight) -> Hits:
    return memory.recall(
        _text(args.query),
        k=args.k,
        history=args.history,
        where=_object(args.where, "where"),
        since=args.since,
        until=args.until,
        as_of=args.as_of,
        known_at=args.known_at,
        include_history=args.include_history,
        include_archived=args.include_archived,
        floor=_floor(args.floor),
    )


def recall(args: Namespace) -> None:
    """`hindsight recall`."""
    with ExitStack() as stack:
        hits = _recall(args, opened(args, stack))
        nothing = "Nothing relevant is known. (--floor none shows the nearest there is.)"
        emit(args.json, hits_json(hits), hits_table(hits) if hits else words(nothing))


def context(args: Namespace) -> None:
    """`hindsight context`: the block as it is, so that it can be piped into a prompt."""
    with ExitStack() as stack:
        hits = _recall(args, opened(args, stack))
        block = hits.context(args.max_tokens)
        if args.json:
            emit(True, {"context": block, "recall_id": hits.recall_id, "hits": len(hits)})
        elif block:
            sys.stdout.write(block + "\n")


def recollect(args: Namespace) -> None:
    """`hindsight recollect`: the block, or nothing at all."""
    with ExitStack() as stack:
        memory = opened(args, stack)
        block = memory.recollect(
            _text(args.message), k=args.k, max_tokens=args.max_tokens, history=args.history
        )
        if args.json:
            emit(True, {"context": block})
        elif block:
            sys.stdout.write(block + "\n")


def find(args: Namespace) -> None:
    """`hindsight find`."""
    with ExitStack() as stack:
        memory = opened(args, stack, embeds=False)
        units = memory.find(**_exact(args), limit=args.limit, offset=args.offset)
        emit(args.json, plain(units), units_table(units))


def aggregate(args: Namespace) -> None:
    """`hindsight aggregate`."""
    with ExitStack() as stack:
        counts = opened(args, stack, embeds=False).aggregate(args.by, **_exact(args))
        ordered = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        emit(args.json, dict(ordered), pairs_table(ordered, (args.by or "", "memories")))


def _exact(args: Namespace) -> dict[str, Any]:
    return {
        "entity": args.entity,
        "where": _object(args.where, "where"),
        "since": args.since,
        "until": args.until,
        "status": args.status,
    }


def get(args: Namespace) -> None:
    """`hindsight get`."""
    with ExitStack() as stack:
        unit = opened(args, stack, embeds=False).get(args.id)
        rows = plain(unit)
        shown = ((k, v if isinstance(v, str) else json.dumps(v, ensure_ascii=False)) for k, v in rows.items())
        emit(args.json, rows, pairs_table(shown, ("field", "value")))


def history(args: Namespace) -> None:
    """`hindsight history`."""
    with ExitStack() as stack:
        units = opened(args, stack, embeds=False).history(args.id)
        emit(args.json, plain(units), units_table(units))


def transcript(args: Namespace) -> None:
    """`hindsight transcript`."""
    with ExitStack() as stack:
        episodes = opened(args, stack, embeds=False).transcript(args.session)
        table = Table()
        for name in ("when", "speaker", "text"):
            table.add_column(name, overflow="fold")
        for told in episodes:
            table.add_row(
                when(told.timestamp),
                words(told.source.speaker or ""),
                words(told.text, longest=len(told.text)),
            )
        emit(args.json, plain(episodes), table)


def update(args: Namespace) -> None:
    """`hindsight update`."""
    with ExitStack() as stack:
        unit = opened(args, stack).update(args.id, **_given(args, *_FIELDS, "status"))
        emit(args.json, plain(unit), units_table([unit]))


def forget(args: Namespace) -> None:
    """`hindsight forget`."""
    with ExitStack() as stack:
        unit = opened(args, stack, embeds=False).forget(args.id)
        emit(args.json, plain(unit), units_table([unit], "forgotten"))


def erase(args: Namespace) -> None:
    """`hindsight erase`: cannot be undone, so it asks, or wants --yes where nobody can be asked."""
    if not args.yes:
        if not sys.stdin.isatty():
            raise InvalidInput("erase cannot be undone; say --yes")
        sys.stderr.write(f"Erase {args.id} from every byte of {args.db}? This cannot be undone. [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise InvalidInput("not erased")
    with ExitStack() as stack:
        opened(args, stack).erase(args.id)
        emit(args.json, {"erased": args.id}, words(f"erased {args.id}"))


def sweep(args: Namespace) -> None:
    """`hindsight sweep`."""
    if args.if_due and (args.dry_run or args.full):
        raise InvalidInput("--if-due goes neither with --dry-run nor with --full")
    with ExitStack() as stack:
        memory = opened(args, stack)
        if args.if_due:
            found = memory.sweep_when_due(span(args.if_due), keep=args.keep)
            if found is None:
                emit(args.json, {"due": False}, words("not due yet"))
                return
            done = found
        else:
            done = memory.sweep(dry_run=args.dry_run, keep=args.keep, full=args.full)
        table = Table()
        for name in ("memory", "fate", "why"):
            table.add_column(name, overflow="fold")
        for step in done.steps:
            table.add_row(words(step.key[1]), str(step.fate), words(step.reason))
        counted = ", ".join(f"{count} {fate}" for fate, count in done.counts.items()) or "nothing to do"
        taken_back = f"; hindsight undo {done.batch} takes it back" if done.batch else ""
        shown = [table] if done.steps else []
        last = words(f"{done.looked_at} memories looked at: {counted}{taken_back}")
        emit(args.json, {**plain(done), "counts": done.counts}, *shown, last)


def span(text: str) -> timedelta:
    """A span of time such as 30m, 24h or 7d."""
    unit = {"m": "minutes", "h": "hours", "d": "days"}.get(text[-1:])
    if unit is None or not text[:-1].isascii() or not text[:-1].isdecimal() or len(text) > 6:
        raise InvalidInput(f"a span of time is a number and m, h or d, such as 24h, and not {text!r}")
    return timedelta(**{unit: int(text[:-1])})


def undo(args: Namespace) -> None:
    """`hindsight undo`."""
    with ExitStack() as stack:
        done = opened(args, stack).undo(args.batch)
        rows = [(key[1], "restored") for key in done.restored]
        rows += [(key[1], f"left as it is: {why}") for key, why in done.skipped]
        emit(args.json, plain(done), pairs_table(rows, ("memory", "what became of it")))


def export(args: Namespace) -> None:
    """`hindsight export`."""
    with ExitStack() as stack:
        count = opened(args, stack, embeds=False).export(args.path)
        emit(
            args.json,
            {"path": args.path, "memories": count},
            words(f"{count} memories written to {args.path}"),
        )


def import_(args: Namespace) -> None:
    """`hindsight import`."""
    with ExitStack() as stack:
        count = opened(args, stack, make=True).import_(args.path, progress=sys.stderr.isatty())
        emit(
            args.json, {"path": args.path, "added": count}, words(f"{count} memories added from {args.path}")
        )


def stats(args: Namespace) -> None:
    """`hindsight stats`."""
    with ExitStack() as stack:
        figures = opened(args, stack).stats()
        emit(args.json, plain(figures), pairs_table(figures.items(), ("what", "value")))


def doctor(args: Namespace) -> int:
    """`hindsight doctor`: status 1 when something is found."""
    with ExitStack() as stack:
        findings = opened(args, stack).doctor()
        rows = [(finding.problem, finding.remedy) for finding in findings]
        emit(
            args.json,
            plain(findings),
            pairs_table(rows, ("problem", "remedy")) if rows else words("All is well."),
        )
        return int(bool(findings))


def scopes(args: Namespace) -> None:
    """`hindsight scopes`: all of the file, not only what --scope names."""
    with ExitStack() as stack:
        held = opened(args, stack, embeds=False).parts.store.scopes()
        emit(args.json, [list(scope) for scope in held], *(words(" / ".join(scope)) for scope in held))


def resume(args: Namespace) -> None:
    """`hindsight resume`."""
    with ExitStack() as stack:
        count = opened(args, stack).resume()
        emit(args.json, {"resumed": count}, words(f"{count} episodes encoded"))


def reembed(args: Namespace) -> None:
    """`hindsight reembed`."""
    with ExitStack() as stack:
        chosen = embedder(args, stack)
        keywords = args.settings.keywords
        if chosen is None and keywords is None:
            raise InvalidInput("reembed needs an embedder; name one with --embedder")
        # Opened without one, since the store may hold the vectors of another.
        memory = opened(args, stack, embeds=False)
        count = memory.reembed(chosen, keywords=keywords, progress=sys.stderr.isatty())
        emit(args.json, {"embedded": count}, words(f"{count} memories embedded"))
