"""Changing a memory: update, forget, sweep, take back, read again, and in and out of files."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hindsight_core.engine import direct, lifecycle, schedule, transfer, upkeep
from hindsight_core.engine.aio import off_loop
from hindsight_core.engine.checks import file_path, known_as, text_of
from hindsight_core.engine.exact import ExactQuestions
from hindsight_core.engine.reprocess import Reprocessed, reprocess
from hindsight_core.engine.sweep import Sweep, sweep
from hindsight_core.unit import MemoryUnit, Units


class Changes(ExactQuestions):
    """What a handle does to memories that are there already; each returns what it did."""

    def update(self, id: str | int, **changes: Any) -> MemoryUnit:
        """Change a memory: text, importance, memory_type, metadata, pinned, expires_at, timestamp, status.

        Raises:
            NotFound: No such memory in the written scope.
            InvalidInput: An unknown or malformed change; nothing was changed.
        """
        return upkeep.update(self._parts, self._scope, known_as(id), changes, self._now())

    def forget(self, id: str | int) -> MemoryUnit:
        """Remove a memory and its links; the journal keeps it until its retention ends, so it can be undone."""
        return upkeep.forget(self._parts, self._scope, known_as(id), self._now())

    def erase(self, id: str | int) -> None:
        """Remove a memory for good, from every byte of the store and of the embedding cache. Cannot be undone."""
        upkeep.erase(self._parts, self._scope, known_as(id), self._now())

    def expire(self) -> int:
        """Forget what has expired, in the written scope and below; it is invisible already. Returns how many."""
        return direct.expire(self._parts, self._scope, self._now())

    def clear(self) -> int:
        """Forget every memory of the written scope and below; returns how many."""
        return upkeep.clear(self._parts, self._scope, self._now())

    def forget_session(self, session: str) -> Units:
        """Forget what only this session of the written scope has told, and empty its transcript.

        Returns:
            The memories that are gone; one that was also told elsewhere stays.
        """
        return direct.forget_session(self._parts, self._scope, known_as(session, "session"), self._now())

    def sweep(self, *, dry_run: bool = False, keep: int | None = None, full: bool = False) -> Sweep:
        """Forget on purpose: archive what has faded, delete what nobody reads, merge what says the same.

        Safe to run at any time and any number of times; one journal batch, which `undo` takes back.

        Args:
            dry_run: Only say what would happen, and why.
            keep: At most so many memories stay active; the weakest go first, pinned ones never.
            full: Compare all memories for merging, and not only those that changed since the last sweep.
        """
        return sweep(self._parts, self._scope, self._now(), dry_run=dry_run, keep=keep, full=full)

    def sweep_when_due(self, every: timedelta, *, keep: int | None = None) -> Sweep | None:
        """Sweep if the last sweep of this kind lies `every` back and no other process or thread is at it.

        Returns:
            What it did, or None when it was not due. When that was is kept in the store.
        """
        run = partial(self.sweep, keep=keep)
        return schedule.sweep_when_due(self._parts, self._scope, schedule.interval(every), self._now(), run)

    def sweeping(
        self, every: timedelta = timedelta(days=1), *, keep: int | None = None
    ) -> schedule.SweepScheduler:
        """Sweeps in the background for as long as it runs: `with memory.sweeping(): ...`, or `start` and `stop` it."""
        return schedule.SweepScheduler(self, every, keep=keep)

    def undo(self, batch: str) -> lifecycle.Undone:
        """Take back a batch (of a sweep, an ingest, ...); memories changed since are skipped and reported.

        Raises:
            NotFound: No such batch in the written scope.
        """
        return lifecycle.undo(self._parts, self._scope, text_of(batch, "batch"), self._now())

    def resume(self) -> int:
        """Encode episodes of the written scope that are still pending; returns how many were. See `reprocess`."""
        return self.reprocess().episodes

    def reprocess(self, *, full: bool = False, progress: bool | None = None) -> Reprocessed:
        """Make good what could not be read when it was told: rules stood in for an extractor that failed.

        Memories keep their ids and what they lived through. Interrupted or failed again, it goes on where it was.

        Args:
            full: Also read every other memory of the written scope again, as after a change of extractor.
            progress: Show a progress bar.
        """
        return reprocess(self._parts, self._scope, self._now(), full=full, progress=progress)

    def export(self, path: str | Path) -> int:
        """Write memories and episodes of the written scope and below as JSON lines; returns how many lines."""
        return transfer.export(self._parts, self._scope, file_path(path))

    def import_(self, path: str | Path, *, progress: bool | None = None) -> int:
        """Read what `export` wrote; memories already there are left as they are. Returns how many were added."""
        return transfer.import_(self._parts, self._scope, file_path(path), self._now(), progress)

    # -- the same, off the event loop ------------------------------------------------------------------------

    aupdate = off_loop(update)
    aforget = off_loop(forget)
    aforget_session = off_loop(forget_session)
    aerase = off_loop(erase)
    aexpire = off_loop(expire)
    aclear = off_loop(clear)
    asweep = off_loop(sweep)
    asweep_when_due = off_loop(sweep_when_due)
    aundo = off_loop(undo)
    aresume = off_loop(resume)
    areprocess = off_loop(reprocess)
    aexport = off_loop(export)
    aimport = off_loop(import_)
