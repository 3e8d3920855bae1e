"""Sweeping on time: once per interval, however many processes and threads look after the same scope.

When a scope was last swept stands in the store. Whoever finds a sweep due claims it in a write transaction, which only
one can hold at a time; the others see the claim and leave it. A claim is a lease: when its owner dies on the
way, the sweep is due again an hour later. All of it is told in the store's own file, so it survives restarts,
and a clock that was set back does not stop it: a time that lies ahead of the present counts for nothing.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from hindsight_core.engine.checks import shown
from hindsight_core.engine.parts import Parts
from hindsight_core.engine.sweep import Sweep
from hindsight_core.errors import InvalidInput, StoreClosed
from hindsight_core.unit import Scope

if TYPE_CHECKING:
    from hindsight_core.engine.changes import Changes

log = logging.getLogger(__name__)

LEASE = timedelta(hours=1)
"""So long a claimed sweep may take before another may begin one."""
_LOOK = timedelta(minutes=10)
"""A scheduler looks at least so often: another process may have swept, or died sweeping."""


def interval(every: Any) -> timedelta:
    """The interval as given, checked."""
    if not isinstance(every, timedelta) or every <= timedelta():
        raise InvalidInput(f"every must be a timedelta above zero, not {shown(every)}")
    return every


def sweep_when_due(
    parts: Parts, scope: Scope, every: timedelta, now: datetime, run: Callable[[], Sweep]
) -> Sweep | None:
    """Run a sweep when the last one of the scope lies `every` back, and nobody else is at it.

    Args:
        parts: The engine's parts.
        scope: Which scope.
        every: The interval.
        now: The present moment.
        run: Sweeps.

    Returns:
        What it did, or None when it was not due.
    """
    claim = parts.new_id(now)
    with parts.store.write(actor="sweep", batch=claim, now=now) as tx:
        held = json.loads(parts.store.meta().get(_name(scope), "{}"))
        if not _due(held, every, now):
            return None
        tx.set_meta(_name(scope), json.dumps({**held, "claimed": now.isoformat(), "by": claim}))
    try:
        done = run()
    except BaseException:
        _settle(parts, scope, claim, now, swept=False)
        raise
    _settle(parts, scope, claim, now, swept=True)
    return done


def _name(scope: Scope) -> str:
    return f"sweep-schedule.{json.dumps(scope, ensure_ascii=False)}"


def _due(held: dict[str, str], every: timedelta, now: datetime) -> bool:
    return not (_within(held.get("swept"), every, now) or _within(held.get("claimed"), LEASE, now))


def _within(at: str | None, span: timedelta, now: datetime) -> bool:
    return at is not None and timedelta() <= now - datetime.fromisoformat(at) < span


def _settle(parts: Parts, scope: Scope, claim: str, now: datetime, *, swept: bool) -> None:
    """Give the claim up: the sweep counts from when it began, or is due again at once."""
    with parts.store.write(actor="sweep", batch=claim, now=now) as tx:
        held = json.loads(parts.store.meta().get(_name(scope), "{}"))
        if held.get("by") == claim:
            last = (
                {"swept": now.isoformat()} if swept else {"swept": held["swept"]} if "swept" in held else {}
            )
            tx.set_meta(_name(scope), json.dumps(last))


class SweepScheduler:
    """Sweeps a memory in the background while the process lives: `with SweepScheduler(memory, every): ...`.

    Any number of them, in any number of processes, sweep a scope once per interval. A sweep that fails is logged, without
    any memory text, and tried again.

    Args:
        memory: The handle whose scope is swept; its clock tells the time.
        every: The interval.
        keep: As for `Hindsight.sweep`.
        look: How often to look whether it is due; waiting for it is the only thing that the system's clock decides.
    """

    def __init__(
        self,
        memory: Changes,
        every: timedelta = timedelta(days=1),
        *,
        keep: int | None = None,
        look: timedelta = _LOOK,
    ) -> None:
        self._memory = memory
        self._every = interval(every)
        self._keep = keep
        self._wait = min(interval(look), self._every).total_seconds()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin; starting twice is fine."""
        if self._thread is None:
            self._stopped.clear()
            self._thread = threading.Thread(target=self._run, name="hindsight-sweep", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """End, after the sweep that is under way; stopping twice is fine."""
        self._stopped.set()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def look(self) -> Sweep | None:
        """Sweep now if it is due, which is what the thread does again and again; a failure is logged, and None."""
        try:
            return self._memory.sweep_when_due(self._every, keep=self._keep)
        except StoreClosed:
            self._stopped.set()  # for good: there is nothing left to sweep
        except Exception as error:  # noqa: BLE001 (the thread must outlive whatever a store or an extension raises)
            # Its name only: the message of an error that is not ours may quote a memory.
            log.warning("a scheduled sweep failed (%s); it is tried again", type(error).__name__)
        return None

    def _run(self) -> None:
        while True:
            self.look()
            if self._stopped.wait(self._wait):
                return

    def __enter__(self) -> SweepScheduler:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()
