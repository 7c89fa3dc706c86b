"""`Assistant`: answers users, and reaches the store by public calls alone. `_assistant/turn.py` has one turn of it.

Start at `Assistant.respond`.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self, cast

from memspan._asking import Asked, awaited
from memspan._assistant.arguments import Setup, check, check_owned, message_of, provider_of, schemas_of, several, several_or_none
from memspan._assistant.turn import Answering
from memspan._assistant.values import AssistantEvent, AssistantReply, Hook, Step, Stopped
from memspan._copies import of_engine
from memspan._flags import check_flags
from memspan._twins import awaitable
from memspan._zones import zone_of
from memspan.engine import Engine
from memspan.engine import open as open_engine
from memspan.function_tools import Function
from memspan.long_term import Scope
from memspan.memory_tools import allowed
from memspan.session_tools import distinct

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Callable, Generator, Iterable, Iterator, Mapping
    from datetime import tzinfo

    from memspan.collection import Collection
    from memspan.providers.provider import Provider
    from memspan.session_tools import MemoryTool
    from memspan.working import Budget, Recalls

__all__ = ["Assistant", "AssistantEvent", "AssistantReply", "Hook", "Step", "Stopped"]


@of_engine("make one with the same arguments there")
class Assistant:
    """Answers users. May be shared between threads, and any number of processes may answer from one store.

    Args:
        engine: An engine, or where its store is; then `close` closes it.
        provider: The way to the model, and to those of `fallbacks` that it serves; other vendors are asked with the environment's keys.
        model: The model that answers. A session of any other is switched to it.
        fallbacks: Models to continue with where it does not answer. All of these and `model` are tried, `model` first. A session stays with
            the one that answered until that fails too, or nothing of it is left in its provider's cache: then it goes back to `model`.
        system: The system prompt; "" is none, and `None` leaves a session the one that it has.
        tools: The application's own: functions with type hints, or `memspan.Function`s. These and `memory_tools` are what the model is
            offered, also in a session that was made with others.
        memory_tools: Which of "remember", "recall", "forget" and "read_result" the model is given.
        allow: Kinds that it may write and forget by them besides: "constraint", "profile", which stand in every prompt to come.
        providers: The ways to single models, by name.
        reads: Scopes whose memory is read along with the user's, a team's for instance: what `Scope.session` takes. `None` leaves a session
            what it has, and so do the next two.
        collections: Collections whose passages prompts may show.
        recalls: What prompts may recall.
        budget: What prompts may cost.
        max_rounds: Rounds of tools in one turn. Calls beyond are cancelled, and the turn is over: what comes next is another message.
        tool_seconds: How long the tools of one reply may run, all together. One that hangs gets an error as its result, and its thread is
            left behind.
        lease_seconds: How long a turn may take until others may take it over; it is prolonged at each call.
        wait_seconds: How long to wait while another worker answers the session.
        learn: Whether to call `Scope.learn` after a reply.
        compact: Whether to call `Session.compact` where it is due, after a reply and between the tool rounds of a long turn. The budget
            says when that is, and none does by default: give `budget=memspan.Budget(compact=memspan.Compact())`.
        hook: Called before and after each step. An error that it raises ends the turn.

    Examples:
        >>> from memspan.testing import FakeProvider
        >>> assistant = memspan.Assistant(engine, FakeProvider(["It listens on 8443."]), model="gpt-4o", system="You are terse.")
        >>> reply = assistant.respond("u-42", "which port does payments-api use?", session="s-1", id="webhook-77")
        >>> reply.text, reply.turn.number, reply.stored
        ('It listens on 8443.', 0, False)
        >>> assistant.respond("u-42", "which port does payments-api use?", session="s-1", id="webhook-77").stored
        True
    """

    def __init__(
        self,
        engine: Engine | str | os.PathLike[str],
        provider: Provider,
        *,
        model: str,
        fallbacks: Iterable[str] = (),
        system: str | None = None,
        tools: Iterable[Callable[..., Any] | Function] = (),
        memory_tools: Iterable[MemoryTool] = (),
        allow: Iterable[str] = (),
        providers: Mapping[str, Provider] | None = None,
        reads: Iterable[Scope] | None = None,
        collections: Iterable[Collection] | None = None,
        recalls: Recalls | None = None,
        budget: Budget | None = None,
        max_rounds: int = 8,
        tool_seconds: float = 60.0,
        lease_seconds: float = 300.0,
        wait_seconds: float = 30.0,
        learn: bool = True,
        compact: bool = True,
        hook: Hook | None = None,
    ) -> None:
        check_flags("making an assistant", learn=learn, compact=compact)
        ways: Mapping[str, Any] = {} if providers is None else providers
        reads, collections = several_or_none("reads", reads), several_or_none("collections", collections)
        fallbacks, tools, memory_tools = several("fallbacks", fallbacks), several("tools", tools), several("memory_tools", memory_tools)
        check(
            provider=provider,
            providers=ways,
            model=model,
            fallbacks=fallbacks,
            memory_tools=memory_tools,
            system=system,
            reads=reads,
            collections=collections,
            recalls=recalls,
            budget=budget,
            max_rounds=max_rounds,
            tool_seconds=tool_seconds,
            lease_seconds=lease_seconds,
            wait_seconds=wait_seconds,
            hook=hook,
        )
        names, kinds = tuple(dict.fromkeys((model, *fallbacks))), allowed(allow)
        functions = distinct(map(Function.of, tools), memory_tools)
        self._setup = Setup(
            model=model,
            models=names,
            providers={name: provider_of(name, provider, ways) for name in names},
            functions=functions,
            memory_tools=memory_tools,
            allow=kinds,
            instructions={"system": system, "tools": schemas_of(model, functions, memory_tools, kinds)},
            reads=reads,
            collections=collections,
            recalls=recalls,
            budget=budget,
            max_rounds=max_rounds,
            tool_seconds=tool_seconds,
            lease_seconds=lease_seconds,
            wait_seconds=wait_seconds,
            learn=learn,
            compact=compact,
            hook=hook,
        )
        check_owned("making an assistant", "reads", engine, reads or ())
        check_owned("making an assistant", "collections", engine, (one.scope for one in collections or ()))
        self._own = not isinstance(engine, Engine)
        self.engine = engine if isinstance(engine, Engine) else open_engine(engine)

    def respond(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002  as `Session.add` names it
        timezone: tzinfo | str | None = None,
    ) -> AssistantReply:
        """Answers a message.

        Args:
            user: Whose memory it is: a user's id, or a scope of the engine, `engine.user("u-42", tenant="acme")` for instance.
            message: The text, or a message with parts.
            session: The conversation, which is created if it is new.
            id: Makes a retry harmless: the same id returns the stored answer, also of a turn that `max_rounds` stopped. A turn that broke
                off goes on; where a later message was answered since, which had this one before it, that answer is returned. Give the
                webhook's.
            timezone: Whose days "today" and "on 7 May" are: the user's, as in `Session.assemble`. UTC by default.

        Raises:
            StoreBusy: Another worker answered this session all the while.
            IdConflict: The id was used with another message.
            Exception: What the provider's SDK raised, where no smaller prompt and no other model helped.
        """
        *_, last = self._turn(user, message, session, id, timezone, streams=False)
        return cast("AssistantReply", cast("AssistantEvent", last).reply)

    def stream(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002  as `Session.add` names it
        timezone: tzinfo | str | None = None,
    ) -> Iterator[AssistantEvent]:
        """Answers a message, and yields what happens meanwhile; the last event has the reply. Closing the iteration ends the call.

        The arguments and errors are those of `respond`.
        """
        return cast("Iterator[AssistantEvent]", self._turn(user, message, session, id, timezone, streams=True))

    async def arespond(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002
        timezone: tzinfo | str | None = None,
    ) -> AssistantReply:
        """The awaitable twin of `respond`: a provider's `acomplete` is awaited, and all else happens in a thread of its own.

        Cancelling it frees the caller. A call that is awaited ends with it, and so does the turn. One that waits in a thread goes on, and
        its answer is there for a retry with the same id.
        """
        async with aclosing(awaited(self._turn(user, message, session, id, timezone, streams=False, awaits=True), whole=True)) as events:
            [last] = [event async for event in events]
        return cast("AssistantReply", last.reply)

    async def astream(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002
        timezone: tzinfo | str | None = None,
    ) -> AsyncIterator[AssistantEvent]:
        """The awaitable twin of `stream`: a provider's `astream` is awaited, and all else happens in a thread of its own.

        Cancelling it frees the caller and ends the call, and what came is kept. A plain `stream` that is silent then ends with its next
        chunk.
        """
        async with aclosing(awaited(self._turn(user, message, session, id, timezone, streams=True, awaits=True), whole=False)) as events:
            async for event in events:
                yield event

    def close(self) -> None:
        """Closes the engine, where it was opened here."""
        if self._own:
            self.engine.close()

    aclose = awaitable(close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        await self.aclose()

    def _turn(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        session_id: str,
        message_id: str | None,
        timezone: tzinfo | str | None,
        *,
        streams: bool,
        awaits: bool = False,
    ) -> Generator[AssistantEvent | Asked, Any]:
        """One turn. With `awaits` it yields what is to be awaited, too, and is sent what that gave."""
        given, zone = message_of(message), zone_of("answering", timezone)
        turn = Answering(self._setup, self._scope_of(user), session_id, zone, streams=streams, awaits=awaits)
        yield from turn.events(given, message_id)

    def _scope_of(self, user: str | Scope) -> Scope:
        if not isinstance(user, Scope):
            return self.engine.user(user)
        check_owned("answering", "user", self.engine, (user,))
        return user
