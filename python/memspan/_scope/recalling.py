"""The part of a scope that answers questions and lists its memories."""

from __future__ import annotations

from functools import partial
from itertools import islice
from sys import maxsize
from typing import TYPE_CHECKING, Any, Literal

from memspan import _core
from memspan._fence import is_whole
from memspan._flags import check_flags, shown
from memspan._scope.part import ScopePart
from memspan._twins import async_iterable, awaitable
from memspan._zones import zone_of
from memspan.answer import Answer
from memspan.exceptions import InvalidInput, NotFound
from memspan.slots import Slots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from memspan._kept import Memory, Recalled
    from memspan.answer import SourceName
    from memspan.long_term import Scope
    from memspan.new_memory import Kind
    from memspan.search import AnyHit

_PAGE = 256


class Recalling(ScopePart):
    """Questions are answered, and memories looked up and listed."""

    __slots__ = ()

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

        A time in the question ("last Tuesday", "in May 2023", "3 weeks ago", "before 2024", "2026-03-01"; English) is read: events of
        that time come first, and nothing is lost. Events also rank a little by recency, and everything but facts by importance and use. Of
        memories that say the same the first is in the answer. Every fifth place, or the end of a shorter answer, is for a memory that was
        told later of the same as the first fact ("fired tobias" behind "my agent is Tobias Frell"). `explain()` has every number;
        docs/ranking.md says where each comes from.

        A question for a time alone ("What did I do yesterday?") gets what happened then, from all of that time and in its order, and
        one that asks for all about the user ("What do you know about me?") what binds and who the user is first. Nothing fills these up.

        Args:
            query: The question. An empty one finds nothing.
            limit: The most memories to return, 0 or more.
            kinds: Only these kinds; all by default.
            where: Only memories whose metadata has these keys with these values; a list, tuple or set names alternatives. Where the
                metadata has a list, one of its items must be such a value.
            since: Only memories whose event time is at or after this. A naive time is UTC, here as below.
            until: Only memories whose event time is before this.
            valid_at: Only memories that held at this time, superseded values included.
            known_at: Only memories that the store knew at this time: the revisions that were current then.
            min_score: Only hits that score at least this, 0 to 1. Scores compare the answers to one question with each other. Above 0 it
                keeps out memories that were only told later of the same.
            min_trust: Only memories of at least this trust, 0 to 3.
            max_tokens: The most tokens that the texts may have together (`o200k_base`).
            relevant_only: Leave out what shares no word with the question and is not near its meaning (a cosine of 0.3, or of 0.2 where the
                `confidence` of the answer is 0.15 or more). An answer then has fewer than `limit` memories, or none. `False` fills it up
                with the best of the rest, whose scores may be 0.
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
        scopes, zone = self._with(also, "recalling"), zone_of("recalling", timezone)
        check_flags("recalling", relevant_only=relevant_only)
        vector, why = self._store.query_vector(query, self._scope)
        found = self._core.recall(
            scopes,
            query,
            vector,
            why,
            {
                "limit": limit,
                "kinds": kinds,
                "where": where,
                "since": since,
                "until": until,
                "valid_at": valid_at,
                "known_at": known_at,
                "min_score": min_score,
                "min_trust": min_trust,
                "max_tokens": max_tokens,
                "relevant_only": relevant_only,
                "timezone": zone,
            },
        )
        return Answer(found)

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

        Each hit's score is its own, weighed by how sure its source is. A text that two sources have is there once. Cost: one read
        transaction and one vector of the question; in it a search per source, scope and collection.

        Args:
            query: The question. An empty one finds nothing.
            limit: The most hits to return, 0 or more.
            sources: The sources to search.
            where: Only memories, documents and sessions whose metadata has these keys with these values; a list names alternatives. Where
                the metadata has a list, one of its items must be such a value.
            since: Only what happened, was said, or was added as this version of a document, at or after this. A naive time is UTC.
            until: Only what happened, was said or was added before this.
            min_score: Only hits that score at least this, 0 to 1.
            max_tokens: The most tokens that the texts may have together (`o200k_base`).
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

        check_flags("searching", relevant_only=relevant_only)
        conditions = Conditions(where, since, until, min_score, max_tokens, relevant_only, zone_of("searching", timezone))
        return search(self._with(also, "searching"), query, limit, checked_sources(sources), conditions)

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
                f"looking up memory {memory_id[:80]!r} of {self!r}: no memory has that id, or it was forgotten or expired: "
                "take ids from remember()",
                id=memory_id,
            )
        return found

    def history(self, memory_id: str) -> tuple[Memory, ...]:
        """Every revision of a memory and of those whose slot it took, oldest first. Forgotten revisions are listed without their text.

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
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        states: Literal["current", "all"] = "current",
    ) -> Iterator[Memory]:
        """The memories of this scope in the order in which they were first written. Reads 256 at a time, holds no transaction in between.

        A memory that is written meanwhile may or may not be among them.

        Args:
            kinds: Only these kinds; all by default.
            newest_first: Start with the memory that was written last.
            limit: The most memories to return.
            where: Only memories whose metadata has these keys with these values; a list, tuple or set names alternatives. Where the
                metadata has a list, one of its items must be such a value.
            since: Only what was written at or after this (`known_from`). A naive time is UTC.
            until: Only what was written before this.
            states: "current", or "all" for superseded and revised values too. Forgotten memories have no text and are never among them.

        Raises:
            InvalidInput: `limit` is not a whole number, or is below 0, or another argument is not of its kind.

        Examples:
            >>> _ = user.remember_many(["Prefers tea", {"text": "Never deploy on a Friday", "kind": "constraint"}])
            >>> [memory.text for memory in user.memories("constraint")]
            ['Never deploy on a Friday']
            >>> [memory.text for memory in user.memories(newest_first=True, limit=1)]
            ['Never deploy on a Friday']
            >>> _ = user.remember("The lift is out of order", metadata={"project": "house"})
            >>> [memory.text for memory in user.memories(where={"project": ["house", "garden"]})]
            ['The lift is out of order']
        """
        if states not in ("current", "all"):  # a tuple: what was given may have no hash
            raise InvalidInput(
                f"listing memories: states is 'current' or 'all', and it is {shown(states)}: choose one", states=shown(states)
            )
        check_flags("listing memories", newest_first=newest_first)
        if limit is not None and not (is_whole(limit) and 0 <= limit <= maxsize):
            rule = "limit must be a whole number, 0 or more, or None"
            raise InvalidInput(f"listing memories: {rule}, and it is {shown(limit)}: pass one, or leave it out for all")
        pages = partial(self._core.memories, _core.ScopeCore.kind_bits(kinds), newest_first, states == "all", since, until, where)
        return islice(self._pages(pages), limit)

    @staticmethod
    def _pages(read: Callable[[int | None, int], tuple[list[Memory], int | None]]) -> Iterator[Memory]:
        following: int | None = None
        while True:
            page, following = read(following, _PAGE)
            yield from page
            if following is None:
                return

    @property
    def slots(self) -> Slots:
        """The slots that have a value, by name."""
        return Slots(self._core)

    arecall = awaitable(recall, asks=True)
    asearch = awaitable(search, asks=True)
    aget = awaitable(get)
    ahistory = awaitable(history)
    amemories = async_iterable(memories)
