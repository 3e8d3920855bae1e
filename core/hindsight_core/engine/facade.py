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
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from hindsight_core.clock import CountedIds, FixedClock
from hindsight_core.engine import direct, intake, reading, recollection, upkeep
from hindsight_core.engine.aio import off_loop
from hindsight_core.engine.changes import Changes
from hindsight_core.engine.checks import listed, text_of
from hindsight_core.engine.configure import embedder_of, options_of
from hindsight_core.engine.exact import Where
from hindsight_core.engine.items import NOW, Instant, Item, clean, instant, make_item
from hindsight_core.engine.parts import open_parts
from hindsight_core.engine.progress import track
from hindsight_core.engine.reembed import reembed
from hindsight_core.errors import InvalidInput
from hindsight_core.ports import Clock, Embedder, Extractor, Judge, Reranker, SparseEmbedder, Store
from hindsight_core.profile_file import read_profile
from hindsight_core.profiles import DEFAULT, Profile
from hindsight_core.recall import Hit, Hits, estimate_tokens
from hindsight_core.reranking import BoundedReranker, resolve_reranker
from hindsight_core.scope import parse_scope
from hindsight_core.settings import load_settings
from hindsight_core.unit import MemoryType, MemoryUnit, Source, Units

__all__ = ["CountedIds", "FixedClock", "Hindsight"]

BATCH = 256
"""Items remembered per transaction by `remember_many`."""


class Hindsight(Changes):
    """A handle on a memory, bound to the scope it writes and the scopes it may read.

    Open one with `Hindsight.open`; handles of one store share everything but their scopes.
    """

    @classmethod
    def open(
        cls,
        path: str | Path | Store,
        scope: str | Iterable[str] = "default",
        *,
        read: Iterable[str | Iterable[str]] = (),
        profile: Profile | str | Path = DEFAULT,
        embedder: Embedder | Callable[[list[str]], Any] | str | None = "auto",
        keywords: SparseEmbedder | str | None = None,
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
                "sentence-transformers:MODEL", "bge-m3:MODEL", an `Embedder`, a function from a list of strings to vectors, or None: recall
                then works by words, names and time.
            keywords: A model that gives words learnt weights, asked beside BM25: "bge-m3:MODEL" or a
                `SparseEmbedder`. None by default.
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
            EmbedderMismatch: The store holds vectors or weights of another embedder; nothing was changed.
            StoreError: The file cannot be used; the subclass says why and the message what to do.
        """
        own = parse_scope(scope)
        others = [read] if isinstance(read, str) else listed(read, "read")
        reach = (own, *(parse_scope(other) for other in others))
        parts = open_parts(
            path,
            embedder=embedder,
            keywords=keywords,
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

    def within(self, *segments: str) -> Hindsight:
        """A handle on a sub-scope: it writes and reads only there. Closing it closes nothing."""
        below = parse_scope((*self._scope, *parse_scope(segments)))
        return Hindsight(self._parts, below, (below,))

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

    def reembed(self, embedder: Any = None, *, keywords: Any = None, progress: bool | None = None) -> int:
        """Embed memories that lack a vector, or all of the store with a new embedder; resumable.

        Args:
            embedder: The new embedder; None keeps the present one and fills gaps. This handle goes on with the old
                one until the last vector is ready; then the store changes over in one step and must be reopened.
            keywords: The same of the sparse embedder; the weights are computed in one go.
            progress: Show a progress bar.

        Returns:
            How many memories were embedded.
        """
        return reembed(self._parts, self._scope, embedder, keywords, self._now(), progress)

    # -- the same, off the event loop ------------------------------------------------------------------------

    aremember = off_loop(remember)
    aremember_many = off_loop(remember_many)
    akeep = off_loop(keep)
    arecall = off_loop(recall)
    arecollect = off_loop(recollect)
    ause = off_loop(use)
    afeedback = off_loop(feedback)
    areembed = off_loop(reembed)
