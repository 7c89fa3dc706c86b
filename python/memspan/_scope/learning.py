"""A scope's work on conversations and on its own memories: it learns, merges, sums up and relates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._fence import is_whole
from memspan._flags import check_flags, check_kinds, shown
from memspan._scope.recalling import Recalling
from memspan._twins import async_iterable, awaitable
from memspan._zones import zone_of
from memspan.exceptions import InvalidInput, NotFound
from memspan.life import Consolidation, Learned, Profile, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime, tzinfo

    from memspan._kept import Memory, Remembered
    from memspan._learning import Work
    from memspan.life import LanguageModel
    from memspan.short_term import Session


_PAGE = 256


class Learning(Recalling):
    """Conversations become memories, and memories that say the same become one."""

    __slots__ = ()

    def learn(
        self,
        source: Session | Iterable[Mapping[str, Any]],
        *,
        llm: LanguageModel | None = None,
        dry_run: bool = False,
        llm_timeout_seconds: float = 60.0,
        timezone: tzinfo | str | None = None,
    ) -> Learned:
        """Learns from a conversation: decides what of it deserves to be stored, and stores that.

        Rules and a small model decide in microseconds, sentence by sentence; docs/life.md has them. Of a session only what is new since the
        last time is read, 500 messages a transaction, so that it may be called after every turn, or by several processes, and nothing is
        learnt twice. A message that is redacted or rewound while a model is asked teaches nothing: the session is read again.
        Unconfirmed sentences of an assistant, quotations, and sentences about the model's instructions wait for `approve`.

        In a shared scope, what a user with a `name` (else an `author`) says of themselves is told of them by that name: "Priya lives in
        Lisbon.", in the slot "priya's home".

        Args:
            source: A session of this scope, or chat messages of role and content; with "id", repeating a message adds nothing, and
                "created_at" is when it was said.
            llm: Refines what the rules left open, in batches: a function `(messages, *, max_tokens) -> str`, synchronous or not.
                Each of its claims must quote its message, in any language, and use no other words; what fails leaves the rules' decisions.
                By default that of `memspan.open`.
            dry_run: Only say what would be stored.
            llm_timeout_seconds: How long one of its calls may take.
            timezone: Whose day "tomorrow" is told from, which is stored behind the word: a `tzinfo`, or a name such as "Europe/Berlin".
                UTC by default, also where `created_at` has another zone: a session keeps the moment alone.

        Returns:
            What became of each part of each message, the discarded ones with their reason.

        Raises:
            InvalidInput: The session is another scope's, a message has no role, or nobody knows the zone.
            NotFound: The session was deleted, or the scope erased, while the messages were judged; nothing more was stored.

        Examples:
            >>> learned = user.learn([{"role": "user", "content": "Call me Ana. What's the weather like?"}])
            >>> [(one.action, one.category, one.text) for one in learned]
            [('added', 'profile', "The user's name is Ana."), ('discarded', 'discard', "What's the weather like?")]
            >>> user.slots["name"].text
            "The user's name is Ana."
        """
        from memspan._learning import learn  # noqa: PLC0415  what few calls need is not paid for at import

        check_flags("learning", dry_run=dry_run)
        zone = zone_of("learning", timezone)
        return learn(self._work(llm, llm_timeout_seconds, dry_run=dry_run, zone=zone), source)

    def _work(self, llm: LanguageModel | None, timeout_seconds: float, *, dry_run: bool, zone: tzinfo | None = None) -> Work:
        from memspan._learning import Work  # noqa: PLC0415
        from memspan._refining import check_model  # noqa: PLC0415

        llm = self._store.llm if llm is None else llm
        check_model("asking a model", llm, timeout_seconds)
        return Work(self._scope, self._core.begun(), self._store, llm, timeout_seconds, dry_run, zone)

    def quarantined(self) -> tuple[Memory, ...]:
        """The memories that wait for `approve`, oldest first: no question finds them, and no prompt shows them. `Memory.reason` says why.

        Examples:
            >>> _ = user.learn([{"role": "user", "content": "My boss said I hate Python."}])
            >>> [memory.text for memory in user.quarantined()]
            ['My boss said I hate Python.']
        """
        return tuple(self._core.quarantined())

    def approve(self, memory_id: str) -> Remembered:
        """Remembers what waits in quarantine, trusted as the user's own word. It gets a new id, and takes its slot as any new value does.

        Where the policy of the store refuses its text by now, the action is "rejected", and it waits on.

        Raises:
            NotFound: No memory of the scope has the id.
            InvalidInput: It is not in quarantine.
        """
        return self._core.approve(memory_id)

    def reject(self, memory_id: str) -> bool:
        """Drops what waits in quarantine. Learning the same message again does not bring it back.

        Returns:
            Whether it was there; `False` where it was rejected before.

        Raises:
            NotFound: No memory of the scope has the id.
            InvalidInput: It is not in quarantine: `forget` takes what is remembered.
        """
        return self._core.reject(memory_id)

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
        same words, in English but for endings and function words, of those that are kept longest the most important. A model may write
        one sentence for three or more that are kept, or that end on the same day (UTC). Its words must be theirs; it is of their kind,
        has the newest of their times and the metadata that all of them have, and ends with the first of them.
        One transaction a cluster: what is merged stays merged when it is interrupted, and a second call finds nothing more to do.

        Args:
            llm: A function `(messages, *, max_tokens) -> str`, synchronous or not. By default that of `memspan.open`.
            dry_run: Only say what would be merged.
            closeness: The cosine from which on two memories are neighbours, 0.5 to 1.
            min_points: Neighbours that make a cluster, the memory itself counted, 2 or more.
            llm_timeout_seconds: How long one call of the model may take.
        """
        from memspan._consolidation import consolidate  # noqa: PLC0415

        check_flags("consolidating", dry_run=dry_run)
        if not is_whole(min_points) or min_points < 2:  # noqa: PLR2004  itself and another
            raise InvalidInput(f"consolidating: min_points is a whole number of 2 or more, and it is {shown(min_points)}: change it")
        return consolidate(self._work(llm, llm_timeout_seconds, dry_run=dry_run), closeness, min_points)

    def profile(self, *, max_tokens: int = 500) -> Profile:
        """The constraints, profile and preferences of the user as they are now, newest first, as one text and as one mapping.

        Untrusted memories are not in it. Cost: a read of the scope's memories of these kinds.

        Args:
            max_tokens: The text ends before it has more (`o200k_base`); 0 or more.

        Raises:
            InvalidInput: `max_tokens` is not a whole number, or is below 0.

        Examples:
            >>> _ = user.remember("Never deploy on Fridays", "constraint")
            >>> _ = user.remember("Prefers Go", "preference", slot="language")
            >>> profile = user.profile()
            >>> profile.text.splitlines(), dict(profile.slots)
            (['Never deploy on Fridays', 'Prefers Go'], {'language': 'Prefers Go'})
        """
        if not (is_whole(max_tokens) and max_tokens >= 0):
            raise InvalidInput(f"making a profile: max_tokens must be a whole number, 0 or more, and it is {shown(max_tokens)}: change it")
        order = {"constraint": 0, "profile": 1, "preference": 2}
        memories = [memory for memory in self.memories(kinds=list(order)) if memory.trust > 0]
        memories.sort(key=lambda memory: (order[memory.kind], -memory.occurred_at.timestamp(), memory.sequence))
        kept = memories[: _fitting([memory.text for memory in memories], max_tokens)]
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
        """Records that one thing is related to another, or that it no longer is. Letter case of names does not count.

        Args:
            subject: The name of the one, 1 to 256 bytes, as of the two that follow.
            relation: The relation, for instance "runs on".
            object: The name of the other.
            since: When it began to hold; now by default.
            memory: The memory of this scope that it was taken from; it is forgotten with that.
            holds: `False` ends the relation now; `at=` still finds it at times before.

        Raises:
            InvalidInput: A name is empty or too long, a relation that does not hold is to end, or `memory` is none of this scope.

        Examples:
            >>> _ = user.relate("payments-api", "runs on", "prod-eu-west-1")
            >>> [(one.relation, one.object) for one in user.neighbors("Payments-API")]
            [('runs on', 'prod-eu-west-1')]
        """
        check_flags("relating", holds=holds)
        if memory is not None:
            from memspan._kept import Memory  # noqa: PLC0415  few give one

            check_kinds("relating", "a Memory", "take it from remember(), get() or recall()", Memory, memory=memory)
        return self._core.relate(subject, relation, object, since, None if memory is None else self._number_of(memory), holds)[0]

    def _number_of(self, memory: Memory) -> int:
        """The number of a memory of this scope. Another scope's may have the same id: the revision that is given must be one of this."""
        written = (memory.id, memory.revision, memory.sequence, memory.created_at, memory.text)
        try:
            own = self._core.history(memory.id)
        except NotFound:
            own = []
        for one in own:
            if (one.id, one.revision, one.sequence, one.created_at, one.text) == written:
                return one._number  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        raise InvalidInput(
            f"relating: memory= is a memory of the same scope, and {self!r} has no such {memory.id!r}: take it from remember(), get() or "
            "recall() of this scope"
        )

    def relations(self) -> Iterator[Relation]:
        """Every relation of this scope in the order in which they were given, those that ended too. Reads 256 at a time.

        Examples:
            >>> _ = user.relate("payments-api", "runs on", "prod-eu-west-1"), user.relate("ada", "owns", "payments-api")
            >>> [(one.subject, one.object) for one in user.relations()]
            [('payments-api', 'prod-eu-west-1'), ('ada', 'payments-api')]
        """
        after = 0
        while page := self._core.relations(after, _PAGE):
            for after, relation in page:  # noqa: B007  the last one is where the next page begins
                yield relation

    def neighbors(self, entity: str, *, at: datetime | None = None) -> tuple[Relation, ...]:
        """The relations that an entity stands in, at either end, in the order in which they were given.

        Args:
            entity: Its name; letter case does not count.
            at: Relations that held at this time; by default those that hold now.
        """
        return tuple(self._core.neighbors(entity, at))

    def paths(self, a: str, b: str, *, max_hops: int = 3, at: datetime | None = None) -> tuple[tuple[Relation, ...], ...]:
        """The shortest paths from one entity to another along relations in either direction; at most 100, none where there is none.

        Args:
            a: Where it begins.
            b: Where it ends.
            max_hops: Relations of a path at most, 1 to 8.
            at: Along relations that held at this time; by default those that hold now.

        Examples:
            >>> _ = user.relate("checkout", "depends on", "payments-api"), user.relate("payments-api", "runs on", "prod-eu-west-1")
            >>> [[one.relation for one in path] for path in user.paths("checkout", "prod-eu-west-1")]
            [['depends on', 'runs on']]
        """
        return tuple(map(tuple, self._core.paths(a, b, max_hops, at)))

    alearn = awaitable(learn, waits=True)
    aquarantined = awaitable(quarantined)
    aapprove = awaitable(approve)
    areject = awaitable(reject)
    aconsolidate = awaitable(consolidate, waits=True)
    aprofile = awaitable(profile)
    arelate = awaitable(relate)
    arelations = async_iterable(relations)
    aneighbors = awaitable(neighbors)
    apaths = awaitable(paths)


def _fitting(lines: list[str], max_tokens: int) -> int:
    """How many of the first lines have so many tokens together. The cost is that of a few times those."""
    from memspan.counting import count_tokens  # noqa: PLC0415

    def fits(count: int) -> bool:
        return count_tokens("\n".join(lines[:count])) <= max_tokens

    low, step = 0, 1
    while low + step <= len(lines) and fits(low + step):
        low, step = low + step, step * 2
    while step > 1:
        step //= 2
        if low + step <= len(lines) and fits(low + step):
            low += step
    return low
