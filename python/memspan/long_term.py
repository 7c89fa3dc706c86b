"""Long-term memory: what a `Scope` remembers, and how it finds it again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from memspan import _core
from memspan._fence import fenced, is_whole
from memspan._twins import async_iterable, awaitable
from memspan.answer import Answer
from memspan.collection import Collection, cores
from memspan.exceptions import InvalidInput, ModelMismatch, NotFound
from memspan.life import Consolidation, Learned, Profile, Relation
from memspan.new_memory import Kind, Metadata, NewMemory, Source
from memspan.short_term import Session, set_policy
from memspan.slots import Slots

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from memspan._core import Memory, Recalled, Remembered
    from memspan._learning import Work
    from memspan._results import SessionInfo
    from memspan._store import OpenStore
    from memspan.answer import SourceName
    from memspan.compaction.sessions import SessionSummary
    from memspan.erasure import ErasureReceipt
    from memspan.life import LanguageModel
    from memspan.memory_tools import ToolFormat
    from memspan.model import Model
    from memspan.search import AnyHit
    from memspan.transcript import TranscriptHit
    from memspan.working import Budget, Recalls

__all__ = ["Kind", "Metadata", "NewMemory", "Scope", "Slots", "Source"]

_PAGE = 256


@fenced
class Scope:
    """The memory of one user, or of something that many share. Made by `Engine.user` and `Engine.shared`; costs nothing to make.

    Nothing of a scope is ever seen from another: isolation is by storage key, not by a filter. All methods may be called from any
    thread. Methods that begin with an `a` are awaitable twins of those without it.
    """

    __slots__ = ("_core", "_store")

    def __init__(self, store: OpenStore, core: _core.ScopeCore) -> None:
        self._store = store
        self._core = core

    @property
    def id(self) -> str:
        """The id that it was asked for by."""
        return self._core.id

    @property
    def tenant(self) -> str | None:
        """Whose installation it belongs to; `None` where there is only one."""
        return self._core.tenant

    @property
    def type(self) -> Literal["user", "shared"]:
        """Whether it is one user's or shared."""
        return self._core.scope_type

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
            kind: What it is about.
            slot: The attribute that it gives a value to, for instance "scripting-language"; letter case does not count. A slot has one
                current value (unless declared `multi`): a new one supersedes, unless it is less trusted or its event is older, in which
                case it goes to history only.
            importance: 0 to 1.
            confidence: 0 to 1: how sure the source was.
            trust: 0 to 3. By default that of the source: user 3, tool 2, assistant 1, anything else 0.
            source: Who said it, 1 to 1,024 bytes.
            id: Makes a retry harmless: unique in the scope. The same id with the same content is a duplicate.
            ttl_seconds: Seconds until it is forgotten, above 0 and at most 100 years; `None` keeps it.
            occurred_at: When it happened or began to hold; now by default. A naive time is UTC.
            metadata: At most 64 KiB as MessagePack.
            vector: Its embedding, where the caller has it already: float32 or float64 of shape (dimensions,), any length but zero. Needs an
                embedder at `open()`, whose vector it stands for.

        Returns:
            What became of it: "added", "superseded", "duplicate" or "rejected", the memory as it is stored, and why. A current memory of
            the same text, kind and slot makes it a duplicate, unless the new one is to be kept longer or is trusted more (then it takes
            the other's place), or has an `id` of its own (then it stands beside it).

        Raises:
            InvalidInput: An argument breaks one of these rules. Nothing was written.
            IdConflict: The id was used with other content. Nothing was written.
            StoreBusy: Another writer held the store for `busy_timeout_seconds`. Nothing was written.
            ReadOnly: The store was opened with `read_only=True`.

        Examples:
            >>> user.remember("Prefers Python for scripting", "preference", slot="scripting-language").action
            'added'
            >>> done = user.remember("Prefers Go for scripting", "preference", slot="scripting-language")
            >>> done.action, done.memory.text
            ('superseded', 'Prefers Go for scripting')
        """
        return self._core.remember(
            text,
            self._store.found_in(text),
            None if vector is not None else self._store.embedder_for(self),
            kind=kind,
            slot=slot,
            importance=importance,
            confidence=confidence,
            trust=trust,
            source=source,
            id=id,
            ttl_seconds=ttl_seconds,
            occurred_at=occurred_at,
            metadata=metadata,
            vector=vector,
        )

    def remember_many(self, rows: Iterable[str | Mapping[str, Any] | NewMemory]) -> tuple[Remembered, ...]:
        """Remembers many texts of this scope; up to 1,000 rows and 256 KB are one transaction, more are several.

        Rows are texts, mappings with the arguments of `remember`, or `NewMemory` objects. Running it again with the same ids is harmless.

        Returns:
            What became of each row, in order.

        Raises:
            Error: Of the first row that cannot be written; its attribute `row` says which. Rows of earlier transactions are stored, none
                of its own.

        Examples:
            >>> done = user.remember_many(["Likes tea", {"text": "Is allergic to nuts", "kind": "constraint", "id": "nuts"}])
            >>> [one.action for one in done]
            ['added', 'added']
        """
        remembered: list[Remembered] = []
        for _, outcomes, _ in self._store.import_rows(rows, scope=self, core=self._core, skip=False):
            remembered.extend(outcomes)
        return tuple(remembered)

    def revise(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        slot: str | None = None,
        importance: float | None = None,
        metadata: Metadata | None = None,
        reason: str | None = None,
    ) -> Remembered:
        """Corrects a memory: it keeps its id, and what it said before is history that is not believed any more.

        Args:
            memory_id: Of a current memory.
            text: The new text; `None` leaves it, as with all that follow.
            slot: The slot that it takes now.
            importance: 0 to 1.
            metadata: Takes the place of the old one; `{}` removes it.
            reason: Why, for the history.

        Raises:
            NotFound: No memory of the scope has the id.
            InvalidInput: It is not current any more, nothing is to be changed, or an argument breaks a rule.

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
            vector = self._store.stored_vector(text, self) if left == text else None
        else:
            found = vector = None
        return self._core.revise(memory_id, text, slot, importance, metadata, reason, vector, found)

    def recall(
        self,
        query: str,
        limit: int = 10,
        *,
        kinds: Kind | str | Iterable[Kind | str] | None = None,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        valid_at: datetime | None = None,
        known_at: datetime | None = None,
        min_score: float | None = None,
        min_trust: int | None = None,
        max_tokens: int | None = None,
        relevant_only: bool = True,
        timezone: tzinfo | str | None = None,
        also: Sequence[Scope] = (),
    ) -> Answer[Recalled]:
        """Finds the memories that answer a question: by its words and, where there is an embedder, by its meaning.

        Deterministic: the same store, clock and question give the same answer, bit for bit. Never waits for a disk. Cost: one read
        transaction; microseconds for scopes of thousands of memories.

        A time in the question ("last Tuesday", "in May 2023", "3 weeks ago", "before 2024", "2026-03-01"; English) is read: what happened
        then comes first, and nothing is lost. Events also rank a little by recency, and everything but facts by importance and use. Of
        memories that say the same the first is in the answer. `explain()` has every number; docs/ranking.md says where each comes from.

        Args:
            query: The question. An empty one finds nothing.
            limit: The most memories to return, 0 or more.
            kinds: Only these kinds; all by default.
            where: Only memories whose metadata has these keys with these values; a list, tuple or set names alternatives.
            since: Only what happened at or after this. A naive time is UTC, here as below.
            until: Only what happened before this.
            valid_at: What held at this time, superseded values included.
            known_at: What the store knew at this time: revisions that were current then.
            min_score: Only what scores at least this, 0 to 1. Scores compare the answers to one question with each other.
            min_trust: Only what is trusted at least so much, 0 to 3.
            max_tokens: The most tokens that the texts may have together (`o200k_base`).
            relevant_only: Leave out what shares no word with the question and is not near its meaning (a cosine of 0.3). An answer then has
                fewer than `limit` memories, or none. `False` fills it up with the best of the rest, whose scores may be 0.
            timezone: Whose days "yesterday" and "on 7 May" are: a `tzinfo`, or a name such as "Europe/Berlin". UTC by default.
            also: Scopes of the same engine to search along with this one.

        Returns:
            The best first. `.degraded` says whether vectors are missing that could have been used, `.mode` whether they were used at all.

        Raises:
            InvalidInput: An argument breaks one of these rules.

        Examples:
            >>> _ = user.remember("payments-api listens on port 8443 in prod-eu-west-1", metadata={"project": "billing"})
            >>> _ = user.remember("Prefers tea")
            >>> recall = user.recall("which port does payments-api use?", where={"project": ["billing", "shop"]})
            >>> recall[0].memory.text, recall.mode
            ('payments-api listens on port 8443 in prod-eu-west-1', 'hybrid')
        """
        if also is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise InvalidInput("recalling: also= takes further scopes to search, and it is None: leave it out, or give an empty list")
        scopes, zone = self._with(also), _zone(timezone)
        vector, why = self._store.query_vector(query, self)
        found = self._core.recall(
            scopes,
            query,
            vector,
            why,
            limit=limit,
            kinds=kinds,
            where=where,
            since=since,
            until=until,
            valid_at=valid_at,
            known_at=known_at,
            min_score=min_score,
            min_trust=min_trust,
            max_tokens=max_tokens,
            relevant_only=relevant_only,
            timezone=zone,
        )
        return Answer(found.hits, found)

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        sources: Sequence[SourceName] = ("memories", "transcripts", "collections"),
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        min_score: float | None = None,
        max_tokens: int | None = None,
        relevant_only: bool = True,
        timezone: tzinfo | str | None = None,
        also: Sequence[Scope] = (),
    ) -> Answer[AnyHit]:
        """Finds what answers a question in memories, transcripts and collections, all in one order.

        Each hit's score is its own, weighed by how sure its source is. Cost: one read transaction and one vector of the question; in it a
        search per source, scope and collection.

        Args:
            query: The question. An empty one finds nothing.
            limit: At most this many hits, 0 or more.
            sources: What to search.
            where: Only memories, documents and sessions whose metadata has these keys with these values; a list names alternatives.
            since: Only what happened, was said, or was added as this version of a document, at or after this. A naive time is UTC.
            until: Only what did before this.
            min_score: Only hits that score at least this, 0 to 1.
            max_tokens: Stops before the texts together exceed this many tokens (`o200k_base`).
            relevant_only: See `recall`. Messages that have nothing to do with the question are never hits.
            timezone: See `recall`.
            also: Scopes of the same engine to search along with this one.

        Raises:
            InvalidInput: An argument breaks one of these rules.

        Examples:
            >>> _ = user.remember("payments-api listens on port 8443")
            >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "Who owns payments-api? Ada does."})
            >>> best = user.search("who owns payments-api?", sources=("memories", "transcripts"))[0]
            >>> best.source, best.text
            ('transcripts', 'Who owns payments-api? Ada does.')
        """
        from memspan.search import Conditions, checked_sources, search  # noqa: PLC0415  for programs that ask several sources at once

        conditions = Conditions(where, since, until, min_score, max_tokens, relevant_only, _zone(timezone))
        return search(self._with(also), query, limit, checked_sources(sources), conditions)

    def _with(self, also: Sequence[Scope]) -> tuple[Scope, ...]:
        if isinstance(also, Scope) or not isinstance(also, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"searching: also= takes several scopes, and it is {also!r}: put it into a list")
        return (self, *also)

    def get(self, memory_id: str) -> Memory:
        """The newest revision of a memory, current or superseded. Cost: one read transaction.

        Raises:
            NotFound: No memory of the scope has the id, or it was forgotten or expired.

        Examples:
            >>> user.get(user.remember("Prefers tea", id="tea").memory.id).text
            'Prefers tea'
        """
        found = self._core.get(memory_id)
        if found is None:
            raise NotFound(
                f"looking up memory {memory_id[:80]!r} of {self!r}: no memory has that id, or it was forgotten: take ids from remember()",
                id=memory_id,
            )
        return found

    def history(self, memory_id: str) -> tuple[Memory, ...]:
        """Every revision of a memory and of those whose slot it took, oldest first; what was forgotten is there without its text.

        Raises:
            NotFound: No memory of the scope has the id.

        Examples:
            >>> _ = user.remember("Lives in Lisbon", slot="home")
            >>> moved = user.remember("Lives in Porto", slot="home").memory
            >>> [(revision.text, revision.state) for revision in user.history(moved.id)]
            [('Lives in Lisbon', 'superseded'), ('Lives in Porto', 'current')]
        """
        return tuple(self._core.history(memory_id))

    def memories(
        self,
        kinds: Kind | str | Iterable[Kind | str] | None = None,
        *,
        newest_first: bool = False,
        limit: int | None = None,
        since: datetime | None = None,
        states: Literal["current", "all"] = "current",
    ) -> Iterator[Memory]:
        """The memories of this scope in the order in which they were first written. Reads 256 at a time, holds no transaction in between.

        A memory that is written meanwhile may or may not be among them.

        Args:
            kinds: Only these kinds; all by default.
            newest_first: Start with the memory that was written last.
            limit: At most this many.
            since: Only what was written at or after this. A naive time is UTC.
            states: "current", or "all" for superseded and revised values too. Forgotten memories have no text and are never among them.

        Examples:
            >>> _ = user.remember_many(["Prefers tea", {"text": "Never deploy on a Friday", "kind": "constraint"}])
            >>> [memory.text for memory in user.memories("constraint")]
            ['Never deploy on a Friday']
            >>> [memory.text for memory in user.memories(newest_first=True, limit=1)]
            ['Never deploy on a Friday']
        """
        if states not in ("current", "all"):  # a tuple: what was given may have no hash
            raise InvalidInput(f"listing memories: states is 'current' or 'all', and it is {states!r}: choose one", states=repr(states))
        wanted = (_core.ScopeCore.kind_bits(kinds), bool(newest_first), states == "all", since)
        return islice(self._pages(*wanted), limit if limit is None else max(0, limit))

    def _pages(self, kinds: int, newest_first: bool, all_states: bool, since: datetime | None) -> Iterator[Memory]:
        following: int | None = None
        while True:
            page, following = self._core.memories(kinds, newest_first, all_states, since, following, _PAGE)
            yield from page
            if following is None:
                return

    @property
    def slots(self) -> Slots:
        """The slots that have a value, by name."""
        return Slots(self._core)

    def forget(self, memory_id: str, *, reason: str | None = None) -> bool:
        """Forgets a memory: its words leave every index and every revision; what stays says that there was one.

        A slot whose value is forgotten has none; the value before does not come back by itself. The bytes on disk are overwritten by
        `Engine.maintain(compact=True)`.

        Returns:
            Whether it was there; `False` where it was forgotten before.

        Raises:
            NotFound: No memory of the scope has the id.

        Examples:
            >>> memory = user.remember("Prefers tea").memory
            >>> user.forget(memory.id, reason="asked to"), len(user.recall("tea"))
            (True, 0)
        """
        return self._core.forget(memory_id, reason)

    def forget_stale(self, unused_days: float = 90, max_importance: float = 0.4, *, dry_run: bool = False) -> tuple[Memory, ...]:
        """Forgets what was neither written nor recalled for so long and is not important. Constraints and the profile always stay.

        Args:
            unused_days: Days, 0 to 36,525.
            max_importance: Up to this importance, 0 to 1.
            dry_run: Only say what would be forgotten.

        Returns:
            What was, or would be, forgotten.
        """
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
        """Forgets everything from an origin, current or not, and what was derived from it. A memory must match all arguments given.

        Args:
            source: Who said it: "user", "tool", "assistant", or the caller's own word.
            session: The id of the session that it was learnt from.
            since: Written at or after this. A naive time is UTC.
            derived: Also what was merged or distilled from it, in any number of steps.
            dry_run: Only say what would be forgotten.

        Returns:
            What was, or would be, forgotten.

        Raises:
            InvalidInput: Neither source, session nor since is given.

        Examples:
            >>> _ = user.remember("The port is 1", source="web")
            >>> [memory.text for memory in user.forget_from(source="web")]
            ['The port is 1']
        """
        if source is None and session is None and since is None:
            raise InvalidInput("forgetting by origin: at least one of source=, session= and since= is given, and none is: name one")
        return tuple(self._core.forget_from(source, session, since, derived, dry_run))

    def learn(
        self,
        source: Session | Iterable[Mapping[str, Any]],
        *,
        llm: LanguageModel | None = None,
        dry_run: bool = False,
        llm_timeout_seconds: float = 60.0,
    ) -> Learned:
        """Learns from a conversation: decides what of it deserves to be stored, and stores that.

        Rules and a small model decide in microseconds, sentence by sentence; docs/life.md has them. Of a session only what is new since the
        last time is read, 2,000 messages a transaction, so that it may be called after every turn, or by several processes, and nothing is
        learnt twice. What an assistant said and nobody confirmed, quotations and what speaks of the model's instructions wait for
        `approve`.

        Args:
            source: A session of this scope, or chat messages of role and content; with "id", repeating a message adds nothing, and
                "created_at" is when it was said.
            llm: Refines what the rules left open, in batches: called with messages and `max_tokens`, it returns text. Each of its claims
                must quote its message and use no other words; what fails leaves the rules' decisions. By default that of `memspan.open`.
            dry_run: Only say what would be stored.
            llm_timeout_seconds: How long one of its calls may take.

        Returns:
            What became of each part of each message, the discarded ones with their reason.

        Raises:
            InvalidInput: The session is another scope's, or a message has no role.

        Examples:
            >>> learned = user.learn([{"role": "user", "content": "Call me Ana. What's the weather like?"}])
            >>> [(one.action, one.category, one.text) for one in learned]
            [('added', 'profile', "The user's name is Ana."), ('discarded', 'discard', "What's the weather like?")]
            >>> user.slots["name"].text
            "The user's name is Ana."
        """
        from memspan._learning import learn  # noqa: PLC0415  what few calls need is not paid for at import

        return learn(self._work(llm, llm_timeout_seconds, dry_run=dry_run), source)

    def _work(self, llm: LanguageModel | None, timeout_seconds: float, *, dry_run: bool) -> Work:
        from memspan._learning import Work  # noqa: PLC0415
        from memspan._refining import check_model  # noqa: PLC0415

        llm = self._store.llm if llm is None else llm
        check_model("asking a model", llm, timeout_seconds)
        return Work(self, self._core, self._store, llm, timeout_seconds, dry_run)

    def quarantined(self) -> tuple[Memory, ...]:
        """What waits for `approve`, oldest first: no question finds it, and no prompt shows it. `Memory.reason` says why.

        Examples:
            >>> _ = user.learn([{"role": "user", "content": "My boss said I hate Python."}])
            >>> [memory.text for memory in user.quarantined()]
            ['My boss said I hate Python.']
        """
        return tuple(self._core.quarantined())

    def approve(self, memory_id: str) -> Remembered:
        """Remembers what waits in quarantine, trusted as the user's own word. It gets a new id, and takes its slot as any new value does.

        Raises:
            NotFound: No memory of the scope has the id.
            InvalidInput: It is not in quarantine.
        """
        return self._core.approve(memory_id)

    def reject(self, memory_id: str) -> bool:
        """Drops what waits in quarantine. Learning the same message again does not bring it back.

        Raises:
            NotFound: No memory of the scope has the id.
        """
        return self._core.forget(memory_id, "rejected")

    def consolidate(
        self,
        *,
        llm: LanguageModel | None = None,
        dry_run: bool = False,
        closeness: float = 0.8,
        min_points: int = 2,
        llm_timeout_seconds: float = 60.0,
    ) -> Consolidation:
        """Merges memories that say nearly the same. The originals are superseded and stay in `history`.

        Memories without a slot are clustered by their vectors (DBSCAN, exact). By rules one of a cluster stands for those that have the
        same words but for endings and function words. A model may write one sentence for three or more, whose words they must bear out.
        One transaction a cluster: what is merged stays merged when it is interrupted, and a second call finds nothing more to do.

        Args:
            llm: Called with messages and `max_tokens`, returns text. By default that of `memspan.open`.
            dry_run: Only say what would be merged.
            closeness: The cosine from which on two memories are neighbours, 0.5 to 1.
            min_points: Neighbours that make a cluster, the memory itself counted, 2 or more.
            llm_timeout_seconds: How long one call of it may take.
        """
        from memspan._consolidation import consolidate  # noqa: PLC0415

        if not is_whole(min_points) or min_points < 2:  # noqa: PLR2004  itself and another
            raise InvalidInput(f"consolidating: min_points is a whole number of 2 or more, and it is {min_points!r}: change it")
        return consolidate(self._work(llm, llm_timeout_seconds, dry_run=dry_run), closeness, min_points)

    def profile(self, *, max_tokens: int = 500) -> Profile:
        """What is known of the user now: constraints, who they are, what they prefer; newest first, as one text and as one mapping.

        Untrusted memories are not in it. Cost: a read of the scope's memories of these kinds.

        Args:
            max_tokens: The text ends before it has more (`o200k_base`).

        Examples:
            >>> _ = user.remember("Never deploy on Fridays", "constraint")
            >>> _ = user.remember("Prefers Go", "preference", slot="language")
            >>> profile = user.profile()
            >>> profile.text.splitlines(), dict(profile.slots)
            (['Never deploy on Fridays', 'Prefers Go'], {'language': 'Prefers Go'})
        """
        from memspan.counting import count_tokens  # noqa: PLC0415

        order = {"constraint": 0, "profile": 1, "preference": 2}
        memories = [memory for memory in self.memories(kinds=list(order)) if memory.trust > 0]
        memories.sort(key=lambda memory: (order[memory.kind], -memory.occurred_at.timestamp(), memory.sequence))
        kept: list[Memory] = []
        for memory in memories:
            if count_tokens("\n".join(one.text for one in (*kept, memory))) > max_tokens:
                break
            kept.append(memory)
        slots = {memory.slot: memory.text for memory in reversed(memories) if memory.slot is not None}
        return Profile("\n".join(memory.text for memory in kept), slots, tuple(kept))

    def relate(
        self,
        subject: str,
        relation: str,
        object: str,  # noqa: A002  subject, relation, object: what such a triple is called
        *,
        since: datetime | None = None,
        memory: Memory | None = None,
        holds: bool = True,
    ) -> Relation:
        """Says that something stands to something, or no longer does. Names are compared without case.

        Args:
            subject: What it is said of, 1 to 256 bytes, as the two that follow.
            relation: How it stands.
            object: To what.
            since: Since when; now by default.
            memory: The memory that says so.
            holds: `False` ends the relation now; what held before stays queryable.

        Raises:
            InvalidInput: A name is empty or too long, or a relation that does not hold is to end.

        Examples:
            >>> _ = user.relate("payments-api", "runs on", "prod-eu-west-1")
            >>> [(one.relation, one.object) for one in user.neighbors("Payments-API")]
            [('runs on', 'prod-eu-west-1')]
        """
        return self._core.relate(subject, relation, object, since, memory, holds)[0]

    def neighbors(self, entity: str, *, at: datetime | None = None) -> tuple[Relation, ...]:
        """The relations that an entity stands in, at either end, in the order in which they were given.

        Args:
            entity: Its name; letter case does not count.
            at: Those that held at this time; by default those that hold.
        """
        return tuple(self._core.neighbors(entity, at))

    def paths(self, a: str, b: str, *, max_hops: int = 3, at: datetime | None = None) -> tuple[tuple[Relation, ...], ...]:
        """The shortest paths from one entity to another along relations in either direction; at most 100, none where there is none.

        Args:
            a: Where it begins.
            b: Where it ends.
            max_hops: Relations of a path at most, 1 to 8.
            at: Along those that held at this time; by default those that hold.

        Examples:
            >>> _ = user.relate("checkout", "depends on", "payments-api"), user.relate("payments-api", "runs on", "prod-eu-west-1")
            >>> [[one.relation for one in path] for path in user.paths("checkout", "prod-eu-west-1")]
            [['depends on', 'runs on']]
        """
        return tuple(map(tuple, self._core.paths(a, b, max_hops, at)))

    def tools(self, *, format: ToolFormat = "openai", allow: Iterable[str] = ()) -> list[dict[str, Any]]:  # noqa: A002
        """Schemas of tools by which a model remembers, recalls, forgets and lists: `call_tool` does what it asks for.

        Args:
            format: "openai", "openai_responses", "anthropic", "gemini" or "mcp".
            allow: Kinds that it may write besides: "constraint", "profile".

        Examples:
            >>> [tool["function"]["name"] for tool in user.tools()]
            ['remember', 'recall', 'forget', 'list']
        """
        from memspan import memory_tools  # noqa: PLC0415  for programs that let a model write

        return memory_tools.schemas(format, allow)

    def call_tool(self, name: str, arguments: Mapping[str, Any] | str, *, allow: Iterable[str] = ()) -> str:
        """Does what a model asks for by one of `tools`; JSON that it can read. Arguments are checked first; a mistake is its reply.

        The model's memories count as the assistant's word (trust 1), follow the policy, and never take a slot from the user's.

        Args:
            name: Of the tool.
            arguments: As the model wrote them: a mapping, or JSON.
            allow: As of `tools`.

        Examples:
            >>> user.call_tool("remember", {"text": "Prefers tea", "kind": "preference"})
            '{"action": "added", "id": "mem-1", "text": "Prefers tea"}'
            >>> user.call_tool("recall", '{"query": 7}')
            '{"error": "query of recall is a text of 1 to 2,000 characters, and it is not: change it"}'
        """
        from memspan import memory_tools  # noqa: PLC0415  the same

        return memory_tools.call(self, self._core, name, arguments, allow)

    def erase(self, *, reason: str | None = None) -> ErasureReceipt:
        """Erases the scope: memories, history, sessions, collections, ledgers, vectors, words, and its name. Other scopes are untouched.

        Nobody finds it from the first commit on. Then its values are removed, and the store is rewritten into a new file without their
        bytes. Where the process dies in between, the next `memspan.open` finishes the work. A later write begins the scope anew.

        Backups and exports are files of their own: erase there, too. Sessions of other scopes that read this one keep what their models
        were sent by reference, and show it no more.

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

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes every current memory to a file of JSON lines: one object each, with the fields of `Memory.to_dict`.

        Times are ISO 8601 in UTC; bytes are base64 and floats that JSON does not have are "NaN", "Infinity" and "-Infinity", as in the JSON
        mapping of protocol buffers. The file appears whole or not at all: it is written beside its place, synced and renamed.

        Returns:
            How many memories it has.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> user.export("u-42.jsonl")
            1
        """
        from memspan._scope_export import export  # noqa: PLC0415  what few calls need is not paid for at import

        return export(self, path)

    def session(
        self,
        session_id: str,
        model: str | Model | None = None,
        *,
        system: str | None = None,
        tools: Iterable[Any] | None = None,
        reads: Sequence[Scope] | None = None,
        collections: Sequence[Collection] | None = None,
        budget: Budget | None = None,
        recalls: Recalls | None = None,
        metadata: Metadata | None = None,
    ) -> Session:
        """Opens a session of this scope, or makes it. An argument that is `None` leaves the stored value.

        Cost: one read transaction; a write transaction where something is new. Another system prompt, other tools, scopes or another budget
        begin a new epoch.

        Args:
            session_id: 1 to 1,024 bytes of UTF-8, unique in the scope.
            model: A name in `memspan.models`, or a `Model`. A new session needs one; a stored one keeps its own.
            system: The system prompt; "" is none.
            tools: Tool schemas of OpenAI's or Anthropic's shape; an empty list is none.
            reads: Scopes of the same engine whose memory it reads along with this one's.
            collections: Collections of the same engine, whose passages its prompts may show; at most 16.
            budget: What its prompts may cost.
            recalls: What its prompts may recall: how much of each source, of whom, and how sure it must be. Begins no epoch.
            metadata: What you keep with it, at most 64 KiB as MessagePack; `{}` removes it. No model ever sees it.

        Raises:
            NotFound: There is no such session, and no model is named.
            UnknownModel: The model is not in the registry.
            ModelMismatch: The session runs on another model: `Session.switch_model` says it on purpose.
            BudgetExceeded: The budget's floors do not fit. Instructions that do not are an error of `assemble`.
            InvalidInput: Another argument breaks its rule.

        Examples:
            >>> user.session("s-1", model="gpt-4o", system="You are terse.")
            Session('s-1' of Scope(user 'u-42'))
            >>> user.session("s-1").model
            'gpt-4o'
        """
        shown = None if collections is None else cores(collections)
        if isinstance(reads, Scope):
            raise InvalidInput(f"opening a session: reads= takes several scopes, and it is one, {reads!r}: put it into a list")
        along = None if reads is None else tuple(reads)
        core = _core.SessionCore.open(
            self._core,
            session_id,
            model=model,
            system=system,
            tools=tools,
            reads=along,
            budget=budget,
            collections=shown,
            recalls=recalls,
        )
        if budget is not None:
            set_policy(core, budget)
        if metadata is not None:
            core.set_metadata(metadata)
        return Session(self._store, self, core, None if budget is None else budget.tool_results)

    def open_session(self, session_id: str, *, default_model: str | Model, **options: Any) -> Session:
        """Opens a session on the model that it runs on now, or makes it with `default_model`. Never raises `ModelMismatch`.

        Args:
            session_id: See `session`.
            default_model: The model of a session that is new.
            **options: Further arguments of `session`.

        Examples:
            >>> user.open_session("s-1", default_model="gpt-4o").switch_model("gpt-4.1").to_model
            'gpt-4.1'
            >>> user.open_session("s-1", default_model="gpt-4o").model
            'gpt-4.1'
        """
        try:
            return self.session(session_id, **options)
        except NotFound:
            pass
        try:
            return self.session(session_id, default_model, **options)
        except ModelMismatch:  # somebody else made it in between
            return self.session(session_id, **options)

    def sessions(self, *, since: datetime | None = None, newest_first: bool = False) -> Iterator[SessionInfo]:
        """The sessions of this scope in the order in which they were made, without their messages. Reads 256 at a time.

        Args:
            since: Only sessions to which something was added at or after this. A naive time is UTC.
            newest_first: Start with the session that was made last.

        Examples:
            >>> _ = user.session("s-1", model="gpt-4o"), user.session("s-2", model="gpt-4o")
            >>> [info.id for info in user.sessions(newest_first=True)]
            ['s-2', 's-1']
        """
        after = 0
        while page := self._core.sessions(after, _PAGE, newest_first, since):
            for after, info in page:  # noqa: B007  the last one is where the next page begins
                yield info

    def summaries(self, query: str | None = None, *, limit: int = 10) -> tuple[SessionSummary, ...]:
        """The newest summaries of this scope's sessions: of the newest sessions, or those that a question is near to.

        A question is held against the messages, and the lines that stand for the nearest are `lines`. Prompts recall those messages
        themselves. Cost: one search of the transcripts, and a read for each session that is looked at.

        Args:
            query: The question; `None` lists.
            limit: The most that are returned.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": f"We go with port 84{n}3 for api-{n}."} for n in range(8)])
            >>> _ = session.compact()
            >>> [(one.session_id, one.lines[0].text) for one in user.summaries("which port has api-3?")]
            [('s-1', 'We go with port 8433 for api-3.')]
        """
        from memspan.compaction.sessions import summaries  # noqa: PLC0415  few programs ask

        return summaries(self, query, limit)

    asummaries = awaitable(summaries)

    def collection(self, name: str) -> Collection:
        """A collection of this scope: documents, notes or code that are searched by chunks. Reads and writes nothing.

        Args:
            name: 1 to 1,024 bytes of UTF-8, unique in the scope.

        Examples:
            >>> user.collection("handbook")
            Collection('handbook' of Scope(user 'u-42'))
        """
        return Collection(self._store, self, _core.CollectionCore.open(self._core, name))

    def collections(self) -> Iterator[Collection]:
        """The collections of this scope that were written to, in the order of their first write.

        Examples:
            >>> _ = user.collection("notes").add("a", "Tea at four")
            >>> list(user.collections())
            [Collection('notes' of Scope(user 'u-42'))]
        """
        return map(self.collection, self._core.collections())

    def search_transcripts(
        self,
        query: str,
        limit: int = 10,
        *,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Answer[TranscriptHit]:
        """Finds what was said in this scope's sessions, also what is in no prompt any more.

        Messages are found by their words, by the built-in embedding whatever embedder memories have, by who spoke (`name` of the
        message, else `author` of `add`) and by when: what stands beside a message that has the words counts too, and whom and which time
        a question names is preferred. A message that holds every identifier of the question comes first. One that shares no word with
        the question, has none within two messages that does, and is not near its meaning is not a hit. `TranscriptHit.explain` names
        the parts of a score. Cost: one read transaction, a scan of one vector a message.

        Args:
            query: The question; one without a word finds nothing.
            limit: The most hits to return.
            where: Only sessions whose metadata has these keys with these values; a list, tuple or set names alternatives.
            since: Only what was said at or after this (`created_at` of the message, else when it was added). A naive time is UTC.
            until: Only what was said before this.

        Returns:
            The best first, of equals the newest.

        Examples:
            >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "payments-api listens on port 8443"})
            >>> [(hit.session_id, hit.index, hit.text) for hit in user.search_transcripts("port 8443")]
            [('s-1', 0, 'payments-api listens on port 8443')]
        """
        found = self._core.search_transcripts(query, limit=limit, where=where, since=since, until=until)
        return Answer(found.hits, found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and self._core.is_same(other._core)

    def __hash__(self) -> int:
        return hash((self.type, self.tenant, self.id))

    def __repr__(self) -> str:
        tenant = "" if self.tenant is None else f", tenant={self.tenant!r}"
        return f"Scope({self.type} {self.id!r}{tenant})"

    aremember = awaitable(remember)
    aremember_many = awaitable(remember_many)
    arevise = awaitable(revise)
    arecall = awaitable(recall)
    asearch = awaitable(search)
    aget = awaitable(get)
    ahistory = awaitable(history)
    amemories = async_iterable(memories)
    aforget = awaitable(forget)
    aforget_stale = awaitable(forget_stale)
    aforget_from = awaitable(forget_from)
    alearn = awaitable(learn)
    aquarantined = awaitable(quarantined)
    aapprove = awaitable(approve)
    areject = awaitable(reject)
    aconsolidate = awaitable(consolidate)
    aprofile = awaitable(profile)
    arelate = awaitable(relate)
    aneighbors = awaitable(neighbors)
    apaths = awaitable(paths)
    acall_tool = awaitable(call_tool)
    aerase = awaitable(erase)
    aexport = awaitable(export)
    asession = awaitable(session)
    aopen_session = awaitable(open_session)
    asessions = async_iterable(sessions)
    acollections = async_iterable(collections)
    asearch_transcripts = awaitable(search_transcripts)


def _zone(timezone: tzinfo | str | None) -> tzinfo | None:
    """The zone of that name; `None` is UTC."""
    if timezone is None or isinstance(timezone, tzinfo):
        return timezone
    from zoneinfo import ZoneInfo  # noqa: PLC0415

    try:
        return ZoneInfo(timezone)
    except (KeyError, ValueError, TypeError, OSError) as error:
        raise InvalidInput(
            f"recalling: timezone= is a tzinfo or the name of a zone that this machine knows, for instance 'Europe/Berlin', and it is "
            f"{timezone!r}: correct it; where a machine knows no zones at all, pip install tzdata",
            timezone=repr(timezone),
        ) from error
