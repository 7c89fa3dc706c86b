"""The upkeep of a store: maintenance, the vectors of another embedder, metrics and checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspan._embedding import Embedding
from memspan._engine.part import EnginePart
from memspan._flags import check_flags, check_function, shown
from memspan._twins import awaitable
from memspan.embedding import BuiltIn
from memspan.exceptions import EmbedderError, InvalidInput
from memspan.reports import CheckReport, MaintenanceReport, ReembedReport

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from memspan.embedding import Embedder
    from memspan.erasure import Retention
    from memspan.maintenance import Maintenance


class Upkeep(EnginePart):
    """The store is maintained, embedded anew, measured and checked."""

    __slots__ = ()

    def maintain(self, *, compact: bool = False, retention: Retention | None = None) -> MaintenanceReport:
        """Does what can wait: forgets what expired, makes missing vectors, stores buffered recalls, clears up after interrupted deletes.

        It makes many short transactions, and other writers come between. Call it now and then, for instance once a day. It also builds
        graphs over the vectors of very large scopes (`GraphOptions`): half a minute or more for 100,000 memories, during which everything
        else goes on.

        Args:
            compact: Also rewrite the store into a new, smaller file, without the bytes of what was forgotten. Writers wait while it
                does, and every process moves over by itself.
            retention: How long sessions and memories are kept. Older ones are removed first.

        Raises:
            StoreIo: With `error.outcome == "done"` the store is rewritten, and files of before, with what was forgotten, cannot be
                removed: compact again, or open the store again. No error of a compaction loses anything.
            OutcomeUnknown: The disk failed while the new file took the place of the old one. Both have everything.

        Examples:
            >>> engine.maintain().expired
            0
        """
        check_flags("maintaining a store", compact=compact)
        sessions, memories = self._delete_old(retention)
        over = self._core.forget_over_cap()
        done = self._core.maintain(self._store.embed)  # an embedder that failed was logged, and what is left is in the report
        if compact:
            self._core.compact()
        contents = self._core.metrics()
        lacking, size = contents["to_embed"], contents["file_bytes"]
        return MaintenanceReport(
            done.expired,
            done.made,
            lacking,
            done.recalls,
            done.sessions,
            compact,
            size,
            done.collections,
            done.graphs,
            over,
            sessions,
            memories,
        )

    def _delete_old(self, retention: Retention | None) -> tuple[int, int]:
        if retention is None:
            return 0, 0
        from memspan.erasure import Retention, delete_old  # noqa: PLC0415  what few calls need is not paid for at import

        if not isinstance(retention, Retention):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"maintaining a store: retention must be a memspan.Retention, not a {type(retention).__name__}: make one")
        return delete_old(self._engine.scopes(), retention, self._clock())

    def maintenance(self, every: timedelta | float = 86_400.0, *, compact: bool = False, retention: Retention | None = None) -> Maintenance:
        """Maintains the store again and again in a thread of its own, while a `with` block runs.

        One process maintains at a time: another that comes meanwhile, or less than `every` after the last run, does nothing.

        Args:
            every: The time from the end of one run to the start of the next: a `timedelta`, or seconds; at least a second.
            compact: As of `maintain`.
            retention: The same.

        Raises:
            InvalidInput: `every` is less than a second.

        Examples:
            >>> with engine.maintenance(every=3600) as running:
            ...     running.wait_for_report(timeout_seconds=30).expired
            0
        """
        check_flags("maintaining a store", compact=compact)
        from memspan.maintenance import Maintenance  # noqa: PLC0415  it takes logging along

        return Maintenance(self._engine, every, compact=compact, retention=retention)

    def reembed(self, embedder: Embedder | None = None, *, progress: Callable[[int, int], object] | None = None) -> ReembedReport:
        """Makes the vectors of another embedding, scope by scope, while the store is in use.

        The new vectors of a scope are made beside the old ones, by which its questions are answered meanwhile (with the embedder that
        this engine had before, or the built-in one; else by words alone, marked degraded). When they are whole, one short transaction
        makes them those that are searched, and the old ones are removed in steps. When the call is interrupted or the process dies,
        finished vectors stay, and the next call continues from there. `maintain` does the same without a report.

        It may run in a thread or a process of its own; `areembed` waits for it without blocking an event loop.

        Args:
            embedder: The new one, which this engine uses from now on; by default that of `memspan.open`. Other engines and the next
                `memspan.open` must be given it too.
            progress: Called with how many vectors were made, and how many were missing at the beginning, after each step of at most 256;
                an `async def` function is refused.

        Raises:
            InvalidInput: The engine has no embedder and none is given, the object given is not an embedder, or `progress` is not a
                function. Nothing was changed.
            EmbedderError: It failed, as its attribute `reason` says; `made` says how many vectors it made. The old vectors stay in use.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> engine.reembed(memspan.testing.FakeEmbedder())
            ReembedReport(made=1, missing=0)
            >>> user.recall("tea").mode
            'hybrid'
        """
        check_function("reembedding a store", "progress", progress)
        if isinstance(embedder, str):
            raise InvalidInput(
                f"reembedding a store: embedder is an object, or None for that of memspan.open, and it is {shown(embedder)}: pass one, for "
                "instance memspan.embedding.BuiltIn()"
            )
        if embedder is not None:
            self._store.exchange(Embedding(embedder, self._timeout_seconds), built_in=type(embedder) is BuiltIn)
        if self._core.space is None:
            raise InvalidInput(
                "reembedding a store: it needs an embedder, and this engine was opened without one: pass one, for instance "
                "memspan.embedding.BuiltIn()"
            )
        made, missing = 0, self._core.metrics()["to_embed"]

        def made_more(step: int) -> None:
            nonlocal made
            made += step
            if progress is not None:
                progress(made, missing)

        try:
            self._core.reembed(self._store.embed, made_more)
        except EmbedderError as error:
            raise EmbedderError(
                f"reembedding {self!r}: {made:,} of {missing:,} vectors were made, and then the embedder failed ({error.reason}): the old "
                "vectors stay in use: call reembed() again to continue",
                reason=error.reason,
                made=made,
                missing=missing,
            ) from error
        return ReembedReport(made, self._core.metrics()["to_embed"])

    def metrics(self) -> dict[str, int]:
        """Counts of the store's contents, and of events since this process opened it. Its engines share the counters.

        `file_bytes` is the size of the data file, and `free_bytes` the part of it that is free. Where both grow from one call to the
        next, a process that was stopped while it read keeps free pages from being used.

        Cost: one read for each scope, and one of the list of free pages.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> {name: engine.metrics()[name] for name in ("scopes", "memories", "commits")}
            {'scopes': 1, 'memories': 1, 'commits': 1}
        """
        return self._core.metrics()

    def check(self) -> CheckReport:
        """Reads the whole store: every value against its checksum, a scope's index, vectors, slots and counters against its records.

        It repairs nothing: restore damaged values from a backup. Cost: the whole store, under one read transaction; writers go on. A
        damaged page of LMDB's own can end the process; `memspan check` does the same in a process of its own.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> engine.check().sound
            True
        """
        counted, findings = self._core.check()
        return CheckReport(**counted, findings=tuple(findings))

    amaintain = awaitable(maintain, waits=True)
    areembed = awaitable(reembed, waits=True)
    ametrics = awaitable(metrics)
    acheck = awaitable(check, waits=True)
