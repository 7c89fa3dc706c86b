"""The part of a scope that changes memories: it remembers, corrects and forgets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan import _core
from memspan._flags import check_flags
from memspan._scope.part import ScopePart
from memspan._twins import awaitable
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from memspan._kept import Memory, Remembered
    from memspan.erasure import ErasureReceipt
    from memspan.new_memory import Kind, Metadata, NewMemory, Source


class Remembering(ScopePart):
    """Memories are written, corrected and forgotten."""

    __slots__ = ()

    def remember(
        self,
        text: str,
        kind: Kind | str = "semantic",
        *,
        slot: str | None = None,
        importance: float = 0.5,
        confidence: float = 1.0,
        trust: int | None = None,
        source: Source | str = "user",
        id: str | None = None,  # noqa: A002  the field's own word
        ttl_seconds: float | None = None,
        occurred_at: datetime | None = None,
        metadata: Metadata | None = None,
        vector: Any = None,
    ) -> Remembered:
        """Remembers a text. Durable when it returns, with its words and its vector, and found at once by every process.

        Cost: one write transaction, shared with writers of other threads; the embedder is called before it.

        Args:
            text: 1 byte to 1 MiB of UTF-8.
            kind: The kind of memory.
            slot: The attribute that it gives a value to, for instance "scripting-language"; letter case does not count. A slot has one
                current value (unless declared `multi`): a new one supersedes, unless it is less trusted or its event is older, in which
                case it goes to history only.
            importance: 0 to 1.
            confidence: 0 to 1: how sure the source was.
            trust: 0 to 3. By default that of the source: user 3, tool 2, assistant 1, anything else 0.
            source: Who said it, 1 to 1,024 bytes.
            id: Makes a retry harmless: unique in the scope. The same id with the same content is a duplicate. The id of a memory that was
                forgotten or has expired stays used.
            ttl_seconds: Seconds until it is forgotten, above 0 and at most 100 years; `None` keeps it.
            occurred_at: When it happened or began to hold; now by default. A naive time is UTC.
            metadata: At most 64 KiB as MessagePack.
            vector: Its embedding, where the caller has it already: float32 or float64 of shape (dimensions,), any length but zero. Needs an
                embedder at `open()`, whose vector it stands for.

        Returns:
            The result: "added", "superseded", "duplicate" or "rejected", the memory as it is stored, and why. A current memory of
            the same text, kind and slot makes it a duplicate, unless the new one is to be kept longer or is trusted more (then it takes
            the other's place), has an `id` of its own, or is an event ("episodic", "task_outcome") of another day, UTC (then it stands
            beside it). A text that the policy refuses is "rejected" and not stored: its memory has no text, and an id if one was given.
            So is one whose id belongs to a memory that was forgotten or has expired, and that memory is returned.

        Raises:
            InvalidInput: An argument breaks one of these rules. Nothing was written.
            IdConflict: The id was used with other content, of which `occurred_at` is part. Nothing was written.
            StoreBusy: Another writer held the store for `busy_timeout_seconds`. Nothing was written.
            ReadOnly: The store was opened with `read_only=True`.

        Examples:
            >>> user.remember("Prefers Python for scripting", "preference", slot="scripting-language").action
            'added'
            >>> done = user.remember("Prefers Go for scripting", "preference", slot="scripting-language")
            >>> done.action, done.memory.text
            ('superseded', 'Prefers Go for scripting')
        """
        fields = {
            "kind": kind,
            "slot": slot,
            "importance": importance,
            "confidence": confidence,
            "trust": trust,
            "source": source,
            "id": id,
            "ttl_seconds": ttl_seconds,
            "occurred_at": occurred_at,
            "metadata": metadata,
            "vector": vector,
            "found": self._store.found_in(text),
        }
        return self._core.remember(text, None if vector is not None else self._store.embedder_for(self._scope), fields)

    def remember_many(self, rows: Iterable[str | Mapping[str, Any] | NewMemory]) -> tuple[Remembered, ...]:
        """Remembers many texts of this scope; up to 1,000 rows and 256 KB are one transaction, more are several.

        Rows are texts, mappings with the arguments of `remember`, or `NewMemory` objects. Running it again with the same ids is harmless.
        A row whose id belongs to a memory that was forgotten or has expired is "rejected", because its id stays used.

        Returns:
            The result of each row, in order.

        Raises:
            Error: Of the first row that cannot be written; its attribute `row` says which. Rows of earlier transactions are stored, none
                of its own.

        Examples:
            >>> done = user.remember_many(["Likes tea", {"text": "Is allergic to nuts", "kind": "constraint", "id": "nuts"}])
            >>> [one.action for one in done]
            ['added', 'added']
        """
        remembered: list[Remembered] = []
        for _, outcomes, _ in self._store.import_rows(rows, scope=self._scope, core=self._core, skip=False):
            remembered.extend(outcome for _, _, outcome in outcomes)
        return tuple(remembered)

    def revise(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        slot: str | None = None,
        importance: float | None = None,
        metadata: Metadata | None = None,
        occurred_at: datetime | None = None,
        reason: str | None = None,
    ) -> Remembered:
        """Corrects a memory: it keeps its id, and its former text becomes history that answers no question any more.

        Args:
            memory_id: Of a current memory.
            text: The new text; `None` leaves it, as with all that follow.
            slot: The slot that it takes now.
            importance: 0 to 1.
            metadata: Takes the place of the old one; `{}` removes it.
            occurred_at: When it happened or began to hold, in truth. A naive time is UTC. That of a memory which has a slot, or took the
                place of others, stays: theirs ended by it.
            reason: Why, for the history.

        Raises:
            NotFound: No memory of the scope has the id.
            InvalidInput: It is not current any more, nothing is to be changed, its `occurred_at` stays, or an argument breaks a rule.

        Examples:
            >>> memory = user.remember("payments-api listens on port 8443").memory
            >>> user.revise(memory.id, "payments-api listens on port 9443", reason="moved").memory.revision
            2
            >>> [revision.state for revision in user.history(memory.id)]
            ['revised', 'current']
        """
        if text is not None:
            _core.check_memory_text(text)  # an embedder never sees what cannot be stored
            found = self._store.found_in(text)
            left, _ = _core.screened(text, self._store.policy, found)
            vector = self._store.stored_vector(text, self._scope) if left == text else None
        else:
            found = vector = None
        return self._core.revise(memory_id, text, slot, importance, metadata, occurred_at, reason, vector, found)

    def forget(self, memory_id: str, *, reason: str | None = None) -> bool:
        """Forgets a memory: its words leave every index and every revision. A record stays that says there was one.

        A slot whose value is forgotten has none; the value before does not come back by itself. The bytes on disk are overwritten by
        `Engine.maintain(compact=True)`.

        Returns:
            Whether it was there; `False` where it was forgotten before, or has expired.

        Raises:
            NotFound: No memory of the scope has the id.

        Examples:
            >>> memory = user.remember("Prefers tea").memory
            >>> user.forget(memory.id, reason="asked to"), len(user.recall("tea"))
            (True, 0)
        """
        return self._core.forget(memory_id, reason)

    def forget_stale(self, unused_days: float = 90, max_importance: float = 0.4, *, dry_run: bool = False) -> tuple[Memory, ...]:
        """Forgets unimportant memories that were neither written nor recalled for a time. Constraints and the profile always stay.

        Args:
            unused_days: For how many days, 0 to 36,525.
            max_importance: Only memories of at most this importance, 0 to 1.
            dry_run: Only say what would be forgotten.

        Returns:
            The memories that were, or would be, forgotten.
        """
        check_flags("forgetting what is stale", dry_run=dry_run)
        return tuple(self._core.forget_stale(unused_days, max_importance, dry_run))

    def forget_from(
        self,
        *,
        source: str | None = None,
        session: str | None = None,
        since: datetime | None = None,
        derived: bool = True,
        dry_run: bool = False,
    ) -> tuple[Memory, ...]:
        """Forgets everything from an origin, current or not, with the memories derived from it. A memory must match all arguments given.

        Args:
            source: Who said it: "user", "tool", "assistant", or the caller's own word.
            session: The id of the session that it was learnt from.
            since: Written at or after this. A naive time is UTC.
            derived: Also what was merged or distilled from it, in any number of steps.
            dry_run: Only say what would be forgotten.

        Returns:
            The memories that were, or would be, forgotten.

        Raises:
            InvalidInput: Neither source, session nor since is given.

        Examples:
            >>> _ = user.remember("The port is 1", source="web")
            >>> [memory.text for memory in user.forget_from(source="web")]
            ['The port is 1']
        """
        check_flags("forgetting by origin", derived=derived, dry_run=dry_run)
        if source is None and session is None and since is None:
            raise InvalidInput("forgetting by origin: at least one of source=, session= and since= is given, and none is: name one")
        return tuple(self._core.forget_from(source, session, since, derived, dry_run))

    def erase(self, *, reason: str | None = None) -> ErasureReceipt:
        """Erases the scope: memories, history, sessions, collections, ledgers, vectors, words, and its name. Other scopes are untouched.

        Nobody finds it from the first commit on. Then its values are removed, and the store is rewritten into a new file without their
        bytes. Where the process dies in between, the next `memspan.open` finishes the work, without a receipt. A later write begins the
        scope anew. Calls that were writing to it raise `NotFound`.

        A scope that was never written to, or that was erased before, has nothing: its receipt has only `bytes_checked`.

        Backups and exports are files of their own: erase there, too. Sessions of other scopes that read this one keep references to
        what their models were sent, which show nothing any more.

        Cost: transactions of 1,024 values, and a rewrite of the store (`Engine.maintain(compact=True)`).

        Args:
            reason: For the receipt alone.

        Raises:
            StoreBusy: Another process wrote to the scope meanwhile, or holds the store: call it again.
            StoreFull: There is no room for the rewritten file; the values are gone, their bytes go with the next call.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> receipt = user.erase(reason="request 4711")
            >>> receipt.memories, receipt.reason, len(user.recall("tea"))
            (1, 'request 4711', 0)
        """
        if reason is not None and not isinstance(reason, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"erasing {self!r}: reason is a str or None, and it is {type(reason).__name__}: leave it out, or give a text"
            )
        from memspan.erasure import receipt  # noqa: PLC0415  few programs erase

        return receipt(self._core.erase(), reason)

    aremember = awaitable(remember, asks=True)
    aremember_many = awaitable(remember_many, asks=True)
    arevise = awaitable(revise, asks=True)
    aforget = awaitable(forget)
    aforget_stale = awaitable(forget_stale)
    aforget_from = awaitable(forget_from)
    aerase = awaitable(erase)
