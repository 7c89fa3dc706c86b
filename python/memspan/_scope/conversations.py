"""The conversations of a scope: its sessions, their messages and their summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._fence import is_whole
from memspan._flags import check_flags, check_several, shown
from memspan._scope.part import ScopePart
from memspan._twins import async_iterable, awaitable
from memspan._zones import zone_of
from memspan.answer import Answer
from memspan.collection import Collection, cores
from memspan.exceptions import InvalidInput, ModelMismatch, NotFound
from memspan.short_term import Session, set_policy
from memspan.versions import check_schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, tzinfo

    from memspan._results import SessionInfo
    from memspan.compaction.sessions import SessionSummary
    from memspan.long_term import Scope
    from memspan.model import Model
    from memspan.new_memory import Metadata
    from memspan.transcript import TranscriptHit
    from memspan.working import Budget, Recalls

_PAGE = 256


class Conversations(ScopePart):
    """Sessions are opened, listed and searched."""

    __slots__ = ()

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
            tools: Tool schemas of OpenAI's or Anthropic's shape; an empty list is none. That of a function is `Function.of(it).schema()`.
            reads: Scopes of the same engine whose memory it reads along with this one's.
            collections: Collections of the same engine, whose passages its prompts may show; at most 16.
            budget: The limits of its prompts.
            recalls: Limits on recalled texts in its prompts: how much of each source, of whom, and how sure it must be. Begins no epoch.
            metadata: Your own mapping, kept with it, at most 64 KiB as MessagePack; `{}` removes it. No model ever sees it.

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
        if isinstance(reads, ScopePart):
            raise InvalidInput(f"opening a session: reads= takes several scopes, and it is one, {reads!r}: put it into a list")
        check_schemas("opening a session", tools)
        if reads is not None:
            check_several("opening a session", "several scopes", reads=reads)
        along = None if reads is None else tuple(reads)
        options = {
            "model": model,
            "system": system,
            "tools": tools,
            "reads": along,
            "budget": budget,
            "collections": shown,
            "recalls": recalls,
        }
        core = self._core.session(session_id, options)
        if budget is not None:
            set_policy(core, budget)
        if metadata is not None:
            core.set_metadata(metadata)
        return Session(self._store, self._scope, core, None if budget is None else budget.tool_results)

    def open_session(
        self,
        session_id: str,
        *,
        default_model: str | Model,
        system: str | None = None,
        tools: Iterable[Any] | None = None,
        reads: Sequence[Scope] | None = None,
        collections: Sequence[Collection] | None = None,
        budget: Budget | None = None,
        recalls: Recalls | None = None,
        metadata: Metadata | None = None,
    ) -> Session:
        """Opens a session on the model that it runs on now, or makes it with `default_model`. Never raises `ModelMismatch`.

        Args:
            session_id: See `session`.
            default_model: The model of a session that is new.
            system: See `session`, as for all that follow.
            tools: Tool schemas.
            reads: Scopes that it reads along.
            collections: Collections whose passages its prompts may show.
            budget: The limits of its prompts.
            recalls: Limits on recalled texts in its prompts.
            metadata: Your own mapping.

        Examples:
            >>> user.open_session("s-1", default_model="gpt-4o").switch_model("gpt-4.1").to_model
            'gpt-4.1'
            >>> user.open_session("s-1", default_model="gpt-4o").model
            'gpt-4.1'
        """
        options: dict[str, Any] = {
            "system": system,
            "tools": tools,
            "reads": reads,
            "collections": collections,
            "budget": budget,
            "recalls": recalls,
            "metadata": metadata,
        }
        try:
            return self.session(session_id, **options)
        except NotFound:
            pass
        try:
            return self.session(session_id, default_model, **options)
        except ModelMismatch:  # somebody else made it in between
            return self.session(session_id, **options)

    def sessions(
        self,
        *,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
    ) -> Iterator[SessionInfo]:
        """The sessions of this scope in the order in which they were made, without their messages. Reads 256 at a time.

        Args:
            where: Only sessions whose metadata has these keys with these values; a list, tuple or set names alternatives. Where the
                metadata has a list, one of its items must be such a value.
            since: Only sessions to which something was last added at or after this. A naive time is UTC.
            until: Only sessions to which something was last added before this.
            newest_first: Start with the session that was made last.

        Raises:
            InvalidInput: An argument is not of its kind, as soon as the first session is asked for.

        Examples:
            >>> _ = user.session("s-1", model="gpt-4o"), user.session("s-2", model="gpt-4o", metadata={"channel": "web"})
            >>> [info.id for info in user.sessions(newest_first=True)]
            ['s-2', 's-1']
            >>> [info.id for info in user.sessions(where={"channel": "web"})]
            ['s-2']
        """
        after = 0
        check_flags("listing sessions", newest_first=newest_first)
        while page := self._core.sessions(after, _PAGE, newest_first, since, until, where):
            for after, info in page:  # noqa: B007  the last one is where the next page begins
                yield info

    def summaries(self, query: str | None = None, *, limit: int = 10) -> tuple[SessionSummary, ...]:
        """The newest summaries of this scope's sessions: of the newest sessions, or those that a question is near to.

        A question is held against the messages, and the lines that stand for the nearest are `lines`. Prompts recall those messages
        themselves. Cost: one search of the transcripts, and a read for each session that is looked at.

        Args:
            query: The question; `None` lists.
            limit: The most that are returned, 0 or more.

        Raises:
            InvalidInput: `limit` is not a whole number, or is below 0.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": f"We go with port 84{n}3 for api-{n}."} for n in range(8)])
            >>> _ = session.compact()
            >>> [(one.session_id, one.lines[0].text) for one in user.summaries("which port has api-3?")]
            [('s-1', 'We go with port 8433 for api-3.')]
        """
        if not (is_whole(limit) and limit >= 0):
            raise InvalidInput(f"listing summaries: limit must be a whole number, 0 or more, and it is {shown(limit)}: pass one")
        from memspan.compaction.sessions import summaries  # noqa: PLC0415  few programs ask

        return summaries(self._scope, query, limit)

    def search_transcripts(
        self,
        query: str,
        limit: int = 10,
        *,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        timezone: tzinfo | str | None = None,
    ) -> Answer[TranscriptHit]:
        """Finds what was said in this scope's sessions, also what is in no prompt any more.

        Messages are found by their words, by the built-in embedding whatever embedder memories have, by who spoke (`name` of the message,
        else `author` of `add`) and by when. Messages beside one that has the words count too, and the person and the time that a question
        names is preferred. A message that holds every identifier of the question comes first. One that shares no word with the question,
        has none within two messages that does, and is not near its meaning is not a hit. The copies of a message in forks are one hit, and
        so is a question that is asked again. `TranscriptHit.explain` names the parts of a score. Cost: one read transaction, a scan of one
        vector a message.

        Args:
            query: The question; one without a word finds nothing.
            limit: The most hits to return.
            where: Only sessions whose metadata has these keys with these values; a list, tuple or set names alternatives. Where the
                metadata has a list, one of its items must be such a value.
            since: Only what was said at or after this (`created_at` of the message, else when it was added). A naive time is UTC.
            until: Only what was said before this.
            timezone: Whose days "yesterday" and "on 7 May" are: a `tzinfo`, or a name such as "Europe/Berlin". UTC by default.

        Returns:
            The best first, of equals the newest. A question that asks for a time alone ("What did I say in May?") gets what the user said
            then, from all of that time and in its order.

        Examples:
            >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "payments-api listens on port 8443"})
            >>> [(hit.session_id, hit.index, hit.text) for hit in user.search_transcripts("port 8443")]
            [('s-1', 0, 'payments-api listens on port 8443')]
        """
        zone = zone_of("searching transcripts", timezone)
        given = {"limit": limit, "where": where, "since": since, "until": until, "timezone": zone}
        return Answer(self._core.search_transcripts(query, given))

    asession = awaitable(session)
    aopen_session = awaitable(open_session)
    asessions = async_iterable(sessions)
    asummaries = awaitable(summaries)
    asearch_transcripts = awaitable(search_transcripts)
