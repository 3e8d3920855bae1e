"""`Hindsight`: the facade. One handle writes one scope and reads the scopes it was given.

    memory = Hindsight.open("agent.db", scope="user-42")
    memory.remember("I prefer short answers.", speaker="user")
    hits = memory.recall("How should I answer?")
    print(hits.context(max_tokens=800))

Synchronous and thread-safe; the `a`-methods run the same off the event loop and never start a loop of their own, so
both work in Jupyter and inside a running loop. A write returns what it stored or raises. A read writes nothing,
except that rendering a context counts as a use of what it shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.engine import (
    direct,
    intake,
    lifecycle,
    network,
    reading,
    recollection,
    schedule,
    transfer,
    upkeep,
)
from hindsight_core.engine.aio import off_loop
from hindsight_core.engine.checks import file_path, known_as, listed, text_of, whole
from hindsight_core.engine.configure import embedder_of, options_of
from hindsight_core.engine.items import NOW, Instant, Item, clean, instant, make_item
from hindsight_core.engine.parts import Parts, open_parts
from hindsight_core.engine.progress import track
from hindsight_core.engine.reprocess import Reprocessed, reprocess
from hindsight_core.engine.sweep import Sweep, sweep
from hindsight_core.errors import InvalidInput, NotFound
from hindsight_core.ports import Clock, Embedder, Extractor, Floats, Judge, Reranker, Store
from hindsight_core.profile_file import read_profile
from hindsight_core.profiles import DEFAULT, Profile
from hindsight_core.recall import Hit, Hits, estimate_tokens
from hindsight_core.reranking import BoundedReranker, resolve_reranker
from hindsight_core.scope import narrow, parse_scope
from hindsight_core.settings import load_settings
from hindsight_core.unit import Episode, MemoryType, MemoryUnit, Scope, Source, Status, Units

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["CountedIds", "FixedClock", "Hindsight"]

BATCH = 256
"""Items remembered per transaction by `remember_many`."""

Where = Mapping[str, Any]


class Hindsight:
    """A handle on a memory, bound to the scope it writes and the scopes it may read.

    Open one with `Hindsight.open`; handles of one store share everything but their scopes.
    """

    def __init__(self, parts: Parts, scope: Scope, read: tuple[Scope, ...]) -> None:
        self._parts = parts
        self._scope = scope
        self._reach = read
        self._recalls = reading.RecallLog()

    @classmethod
    def open(
        cls,
        path: str | Path | Store,
        scope: str | Iterable[str] = "default",
        *,
        read: Iterable[str | Iterable[str]] = (),
        profile: Profile | str | Path = DEFAULT,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = "auto",
        extractor: Extractor | None = None,
        judge: Judge | None = None,
        clock: Clock | None = None,
        new_id: Callable[[datetime], str] | None = None,
        count_tokens: Any = estimate_tokens,
        reranker: Reranker | BoundedReranker | str | None = None,
    ) -> Self:
        """Open a memory; the file is made when it is not there.

        Args:
            path: A file, ":memory:" for nothing on disk, a folder (ending with a slash) or the address of a server for
                Qdrant (see `stores.opening`), or a store.
            scope: Whose memory this handle writes and reads: a name or a tuple of names.
            read: A list of further scopes it may read, such as a shared one. Reading covers what lies below a scope.
            profile: Weights, decay and the other settings: one of `profiles`, its name, or a file that `hindsight tune` wrote.
            embedder: "auto" (the bundled model where installed, else none), "local", "openai:MODEL", "onnx:FOLDER",
                "sentence-transformers:MODEL", an `Embedder`, a function from a list of strings to vectors, or None: recall
                then works by words, names and time.
            extractor: Finds summary, entities, importance and type; rules by default. See `llm.LLMExtractor`.
            judge: Says what a text means for an earlier one where rules cannot tell; none by default. See `llm.LLMJudge`.
            clock: The time; the system's by default.
            new_id: Makes ids; time-ordered by default.
            count_tokens: Counts tokens for context blocks: a function, or a model's tokenizer (tiktoken, tokenizers,
                transformers); an estimate by default.
            reranker: Looks at the best hits again: "onnx:FOLDER", "sentence-transformers:MODEL", or a `Reranker`; see
                `reranking`. None by default.

        Raises:
            InvalidInput: A malformed scope.
            EmbedderMismatch: The store holds vectors of another embedder; nothing was changed.
            StoreError: The file cannot be used; the subclass says why and the message what to do.
        """
        own = parse_scope(scope)
        others = [read] if isinstance(read, str) else listed(read, "read")
        reach = (own, *(parse_scope(other) for other in others))
        parts = open_parts(
            path,
            embedder=embedder,
            extractor=extractor,
            judge=judge,
            profile=read_profile(profile) if isinstance(profile, str | Path) else profile,
            clock=clock,
            new_id=new_id,
            count_tokens=count_tokens,
            reranker=reranker,
        )
        return cls(parts, own, reach)

    @classmethod
    def configured(cls, file: str | Path | None = None, **given: Any) -> Self:
        """Open the memory that settings name; each is taken from the first place that has it.

        Args:
            file: A TOML file, the last place; by default the one that HINDSIGHT_CONFIG names. Before it comes the
                environment (HINDSIGHT_DB, HINDSIGHT_EMBEDDER, ...).
            given: Fields of `settings.Settings` by name, the first place.

        Raises:
            InvalidSettings: Something is unknown or of the wrong kind; all faults are listed.
            MissingExtra: Something the settings name is not installed.
            HindsightError: As for `open`.
        """
        settings = load_settings(file, **given)
        with ExitStack() as stack:
            options = options_of(settings, stack)
            memory = cls.open(settings.db, embedder=embedder_of(settings, stack), **options)
            memory._parts.closes.push(stack.pop_all())
        return memory

    # -- the handle ------------------------------------------------------------------------------------------

    @property
    def scope(self) -> Scope:
        """The scope this handle writes."""
        return self._scope

    @property
    def reach(self) -> tuple[Scope, ...]:
        """The scopes it reads, each with what lies below it."""
        return self._reach

    @property
    def profile(self) -> Profile:
        """Its settings."""
        return self._parts.profile

    @property
    def parts(self) -> Parts:
        """The engine's parts: store, embedder, clock, ...; for adapters."""
        return self._parts

    def within(self, *segments: str) -> Hindsight:
        """A handle on a sub-scope: it writes and reads only there. Closing it closes nothing."""
        below = parse_scope((*self._scope, *parse_scope(segments)))
        return Hindsight(self._parts, below, (below,))

    def close(self) -> None:
        """Close the store for every handle of it; closing twice is fine."""
        self._parts.store.close()
        self._parts.closes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # a handle is a reference to an open store; what holds one is copied with the same

    def __reduce__(self) -> tuple[Any, ...]:
        raise InvalidInput(
            "a handle on an open memory cannot be pickled; open the file again where it is needed"
        )

    def __repr__(self) -> str:
        return f"<Hindsight scope={'/'.join(self._scope)!r} profile={self.profile.name!r}>"

    def _now(self, now: Instant | None = None) -> datetime:
        return instant(self._parts.clock.now() if now is None else now, "now")  # type: ignore[return-value]

    def _scopes(self, scope: str | Iterable[str] | None) -> tuple[Scope, ...]:
        if scope is None:
            return self._reach
        wanted = parse_scope(scope)
        if not narrow(self._reach, wanted):
            raise InvalidInput(
                "a per-call scope can only narrow what this handle reads; open another handle instead"
            )
        return (wanted,)

    # -- remember --------------------------------------------------------------------------------------------

    def remember(
        self,
        text: str,
        *,
        speaker: str | None = None,
        session: str | None = None,
        timestamp: Instant | NOW | None = NOW.NOW,
        id: str | int | None = None,
        turn: int | None = None,
        source: str | Path | Mapping[str, Any] | Source | None = None,
        metadata: Mapping[str, Any] | None = None,
        importance: float | None = None,
        memory_type: MemoryType | str | None = None,
        expires_at: Instant | None = None,
        indexed: bool = True,
        pinned: bool = False,
        consolidate: bool = True,
    ) -> Units:
        """Remember one text.

        Args:
            text: What was said or written. A turn stays one memory up to 2,000 characters; a document (one with a
                `source`) is split by paragraphs.
            speaker: Who said it.
            session: Which conversation it belongs to; neighbours in it help recall.
            timestamp: When it was said (datetime or ISO string; naive is read as UTC). Default: now. None: undated.
            id: Your own id. Telling the same id again replaces its text and keeps what the memory lived through.
            turn: Position within the session; by default the order of time and arrival.
            source: Document name or path, a mapping (document, uri, section, turn), or a `Source`.
            metadata: A JSON object of your own, open to filters.
            importance: 0..1; by default judged by the rubric.
            memory_type: "episodic", "semantic" or "procedural"; by default judged.
            expires_at: Gone after this instant.
            indexed: False keeps it from search; it is found by key and by filter.
            pinned: Never swept.
            consolidate: False skips the comparison with what is remembered already.

        Returns:
            The memories that now hold it: new ones, or an existing one that gained an occurrence.

        Raises:
            InvalidInput: Naming the argument and the remedy; nothing was stored.
        """
        fields = {
            "text": text, "speaker": speaker, "session": session, "timestamp": timestamp, "id": id, "turn": turn,
            "source": source, "metadata": metadata, "importance": importance, "memory_type": memory_type,
            "expires_at": expires_at, "indexed": indexed, "pinned": pinned,
        }  # fmt: skip
        now = self._now()
        return Units(self._take_in([make_item(fields, now)], now, consolidate=consolidate)[0])

    def remember_many(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        consolidate: bool = True,
        resumable: bool = True,
        progress: bool | None = None,
    ) -> list[Units]:
        """Remember many items, in batches; running an interrupted ingest again adds nothing twice.

        Args:
            items: Mappings with the keyword arguments of `remember` plus "text", and "envelope" for JSON that is to come
                back with the episode but is no part of the memory.
            consolidate: As for `remember`.
            resumable: Take an equal item for one that is stored already; False takes it for said again, as a chat needs.
            progress: Show a progress bar; by default for 1,000 items and more on a terminal or in a notebook.

        Returns:
            Per item what `remember` would return. An item without an id is known again by its text, speaker,
            session, source and given timestamp.

        Raises:
            InvalidInput: Naming the position of the first bad item; nothing was stored.
        """
        now = self._now()
        checked: list[Item] = []
        for position, fields in enumerate(listed(items, "items")):
            try:
                checked.append(make_item(fields, now, resumable=resumable))
            except InvalidInput as error:
                raise InvalidInput(f"item {position}: {error}") from error
        done: list[Units] = []
        batches = range(0, len(checked), BATCH)
        for start in track(batches, total=len(checked), step=BATCH, label="remembering", show=progress):
            part = self._take_in(checked[start : start + BATCH], now, consolidate=consolidate)
            done.extend(Units(units) for units in part)
        return done

    def _take_in(self, items: Sequence[Item], now: datetime, *, consolidate: bool) -> list[list[MemoryUnit]]:
        batch = self._parts.new_id(now)
        return intake.take_in(
            self._parts, items, self._scope, now, batch=batch, consolidate=consolidate, actor="user"
        )

    def keep(
        self,
        items: Iterable[Mapping[str, Any]],
        *,
        vectors: Sequence[Any] | None = None,
        drop: Iterable[str | tuple[Iterable[str], str]] = (),
    ) -> Units:
        """Keep records exactly as given, each one memory under its own id; for key-value and vector interfaces.

        Unlike `remember` it never splits, merges or compares, writes no episode, and replaces all that an id held.
        Everything, drops included, is one transaction; items win over drops.

        Args:
            items: Mappings as for `remember_many`, with an "id", and where wanted a "scope" at or below the written one.
            vectors: One per item, made by this memory's embedder; None among them is embedded here.
            drop: Ids, or (scope, id) pairs, to forget; those not there are passed over.

        Returns:
            The memories as stored, one per distinct key.
        """
        now = self._now()
        kept = direct.records(self._parts, items, vectors, self._scope, now)
        dropped = direct.keys(self._scope, drop)
        if not kept and not dropped:
            return Units()
        return Units(direct.keep(self._parts, kept, dropped, now, batch=self._parts.new_id(now)))

    # -- recall ----------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        *,
        k: int = 5,
        now: Instant | None = None,
        history: Sequence[str] = (),
        where: Where | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        scope: str | Iterable[str] | None = None,
        as_of: Instant | None = None,
        known_at: Instant | None = None,
        include_history: bool = False,
        include_archived: bool = False,
        floor: float | str | None = "profile",
        vector: Sequence[float] | None = None,
        fill: bool = False,
    ) -> Hits:
        """Find what is remembered about a question.

        Args:
            query: The question, in any language; "last week" and the like refer to `now`.
            k: At most so many hits.
            now: The present moment; the clock's by default.
            history: The turns before a follow-up question, oldest first.
            where: A filter, such as {"type": "semantic", "metadata.project": "kestrel"}; see `filters`.
            since: Only memories dated at or after.
            until: Only memories dated before.
            scope: Narrow the scopes read by this handle.
            as_of: Answer by what held at that instant.
            known_at: Answer by what was known at that instant.
            include_history: Also superseded memories, each directly below its successor.
            include_archived: Also archived memories.
            floor: Least relevance; None returns the best there is, however far off. Default: the profile's.
            vector: The question's vector where it is known already, made by this memory's embedder; the question may
                then be "".
            fill: Where fewer than k speak to the question, add the next nearest by meaning, with score 0; for interfaces
                that promise k results.

        Returns:
            Hits, best first; empty when nothing relevant is known.
        """
        return reading.recall(
            self._parts,
            reading.Request(
                query=clean(query) if isinstance(query, str) else query,
                k=k,
                now=self._now(now),
                history=tuple(
                    clean(text_of(turn, "a turn of history")) for turn in listed(history, "history")
                ),
                where=reading.dated(where, instant(since, "since"), instant(until, "until")),
                scopes=self._scopes(scope),
                as_of=instant(as_of, "as_of"),
                known_at=instant(known_at, "known_at"),
                include_history=include_history,
                include_archived=include_archived,
                floor=self.profile.floor if floor == "profile" else floor,  # type: ignore[arg-type]
                vector=direct.fitting(self._parts, vector),
                fill=fill,
            ),
            self._recalls,
            self._scope,
        )

    def recollect(
        self,
        message: str,
        *,
        max_tokens: int = 400,
        k: int = 5,
        now: Instant | None = None,
        history: Sequence[str] = (),
        grader: Reranker | BoundedReranker | str | None = None,
    ) -> str | None:
        """What a message brings to mind: a context block, or None when it is better to say nothing.

        Args:
            message: What was just said, a question or not.
            max_tokens: Limit for the whole block.
            k: At most so many memories.
            now: The present moment; the clock's by default.
            history: The turns before, oldest first.
            grader: Has the last word on what helps, such as `reranking.LLMReranker("gpt-4o-mini")`; rules alone by default.
        """
        last_word = resolve_reranker(grader)
        if isinstance(message, str) and not recollection.says_something(message):
            return None
        hits = self.recall(message, k=k, now=now, history=history)
        worth = recollection.worth_telling(hits, self.profile, message, last_word)
        return None if worth is None else worth.context(max_tokens) or None

    def feedback(self, what: Hits | Hit | str, direction: int) -> Units:
        """Thumb up (+1) or down (-1) for a recall (hits or its id) or one hit: moves importance by 0.1.

        Where the question is known (hits, some of them such as `hits[:1]`, or the id of one of the latest recalls of this
        handle) it is noted in the journal, secrets redacted, for `hindsight tune --feedback` to learn from.

        Returns:
            The memories that moved; those of other scopes than the written one stay as they are.
        """
        keys = self._recalls.keys_of(what, self._parts.store, self._scope)
        return upkeep.feedback(
            self._parts, self._scope, keys, direction, self._now(), self._recalls.question_of(what)
        )

    def use(self, hits: Hits | Hit) -> None:
        """Say that hits were really used, as rendering a context does by itself; within an hour it counts once."""
        used = [hits] if isinstance(hits, Hit) else listed(hits, "hits")
        if not all(isinstance(hit, Hit) for hit in used):
            raise InvalidInput("use takes hits of a recall")
        if used:
            now = self._now()
            recall_id = hits.recall_id if isinstance(hits, Hits) else self._parts.new_id(now)
            keys = [hit.unit.key for hit in used]
            reading.use(self._parts, keys, self._scope, recall_id, keys, now)

    def vectors(self, units: Iterable[MemoryUnit]) -> list[Floats | None]:
        """The vectors of memories, float32 (dimension,); None where there is none."""
        wanted = listed(units, "units")
        if not all(isinstance(unit, MemoryUnit) for unit in wanted):
            raise InvalidInput("vectors takes memories")
        return reading.vectors(self._parts, [unit.key for unit in wanted], self._reach, self._now())

    # -- exact questions -------------------------------------------------------------------------------------

    def get(self, id: str | int, *, scope: str | Iterable[str] | None = None) -> MemoryUnit:
        """A memory by id, whatever its status.

        Raises:
            NotFound: None under that id in what this handle reads.
        """
        unit = upkeep.lookup(self._parts.store, self._scopes(scope), known_as(id), self._scope)
        if unit is None:
            raise NotFound("no memory with that id in the scopes this handle reads")
        return unit

    def find(
        self,
        *,
        entity: str | None = None,
        where: Where | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        status: Status | str | None = None,
        scope: str | Iterable[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Units:
        """Memories that match exactly, newest first; superseded and archived ones only when `status` asks for them."""
        visible = self._visible(entity, where, since, until, status, scope)
        if limit is not None:
            whole(limit, "limit")
        return Units(self._parts.store.find(visible, limit=limit, offset=whole(offset, "offset")))

    def aggregate(
        self,
        by: str | None = None,
        *,
        entity: str | None = None,
        where: Where | None = None,
        since: Instant | None = None,
        until: Instant | None = None,
        status: Status | str | None = None,
        scope: str | Iterable[str] | None = None,
    ) -> dict[str, int]:
        """Counts by "entity", "type", "status", "day", "speaker", "session" or "metadata.KEY"."""
        if by is not None:
            text_of(by, "by")
        return self._parts.store.count(self._visible(entity, where, since, until, status, scope), by=by)

    def _visible(
        self,
        entity: str | None,
        where: Where | None,
        since: Instant | None,
        until: Instant | None,
        status: Status | str | None,
        scope: str | Iterable[str] | None,
    ) -> Any:
        return reading.exact(
            scopes=self._scopes(scope),
            now=self._now(),
            where=reading.dated(where, instant(since, "since"), instant(until, "until"), entity=entity),
            status=status,
        )

    def scopes(self) -> dict[Scope, int]:
        """The scopes read by this handle that hold active memories, with how many."""
        return upkeep.scopes(self._parts, self._reach, self._now())

    def transcript(self, session: str) -> list[Episode]:
        """The episodes of one session of the written scope, in order."""
        return self._parts.store.episodes(self._scope, session=known_as(session, "session"))

    # -- change and forget -----------------------------------------------------------------------------------

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

    def history(self, id: str | int) -> Units:
        """The timeline of a fact: every value it has had, oldest first.

        Raises:
            NotFound: None under that id in what this handle reads.
        """
        return lifecycle.history(self._parts, self.get(id))

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

    def reembed(self, embedder: Any = None, *, progress: bool | None = None) -> int:
        """Embed memories that lack a vector, or all of the store with a new embedder; resumable.

        Args:
            embedder: The new embedder; None keeps the present one and fills gaps. This handle goes on with the old
                one until the last vector is ready; then the store changes over in one step and must be reopened.
            progress: Show a progress bar.

        Returns:
            How many memories were embedded.
        """
        return upkeep.reembed(self._parts, self._scope, embedder, self._now(), progress)

    # -- in and out ------------------------------------------------------------------------------------------

    def export(self, path: str | Path) -> int:
        """Write memories and episodes of the written scope and below as JSON lines; returns how many lines."""
        return transfer.export(self._parts, self._scope, file_path(path))

    def import_(self, path: str | Path, *, progress: bool | None = None) -> int:
        """Read what `export` wrote; memories already there are left as they are. Returns how many were added."""
        return transfer.import_(self._parts, self._scope, file_path(path), self._now(), progress)

    def stats(self) -> upkeep.Stats:
        """Counts and sizes over what this handle reads."""
        return upkeep.stats(self._parts, self._reach, self._now())

    def doctor(self) -> list[upkeep.Finding]:
        """Check the store: what is wrong and what to do about it; empty when all is well."""
        return upkeep.doctor(self._parts, self._reach, self._now())

    # -- the network -----------------------------------------------------------------------------------------

    def graph(self, *, now: Instant | None = None) -> nx.MultiDiGraph[str]:
        """Memories, the entities they name and the links between them, as a networkx graph; see `hindsight_core.graph`.

        Raises:
            MissingExtra: networkx is not installed.
        """
        return network.graph(self._parts, self._reach, self._now(now))

    @property
    def names(self) -> network.Names:
        """Which names mean one thing in the written scope: merge and split them, and undo that."""
        return network.Names(self._parts, self._scope, self._now())

    # -- the same, off the event loop ------------------------------------------------------------------------

    aremember = off_loop(remember)
    aremember_many = off_loop(remember_many)
    akeep = off_loop(keep)
    arecall = off_loop(recall)
    arecollect = off_loop(recollect)
    ause = off_loop(use)
    afeedback = off_loop(feedback)
    aget = off_loop(get)
    afind = off_loop(find)
    aaggregate = off_loop(aggregate)
    aupdate = off_loop(update)
    aforget = off_loop(forget)
    aforget_session = off_loop(forget_session)
    atranscript = off_loop(transcript)
    aerase = off_loop(erase)
    aclear = off_loop(clear)
    asweep = off_loop(sweep)
    asweep_when_due = off_loop(sweep_when_due)
    ahistory = off_loop(history)
    agraph = off_loop(graph)
    aexport = off_loop(export)
    aimport = off_loop(import_)
    astats = off_loop(stats)
    avectors = off_loop(vectors)
    ascopes = off_loop(scopes)
    aexpire = off_loop(expire)
    aundo = off_loop(undo)
    aresume = off_loop(resume)
    areprocess = off_loop(reprocess)
    areembed = off_loop(reembed)
    adoctor = off_loop(doctor)
