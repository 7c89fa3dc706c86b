"""`Assistant`: one turn of a conversation, from the user's message to the answer, as a program would write it on the public API.

    add        the user's message, with the lease: nobody else answers this session meanwhile. Its id makes a retry harmless: a turn that
               was answered is returned, and no model is asked
    assemble   the prompt, under its budget, with what is remembered
    call       the model; after a refusal a smaller prompt, after an outage another model (`Session.recover`)
    reply      added with what it cost; while it streams, kept every two seconds (`Session.reply`). Without calls it ends the lease
    tools      the calls of the reply, in parallel, each within its time; their results in the order of the calls; then "assemble" again
    learn      what is worth keeping goes to long-term memory
    compact    old turns become a summary, where the session says that it is due

Start at `Assistant.respond`; `_turn` is all of it. Nothing here is private API: if you need another order, copy this file.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import TimeoutError as TooLate
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, TypeVar, cast

from memspan._asking import END, Asked, awaited
from memspan._core import Limits
from memspan._fence import is_mapping, is_number, is_whole, kind_of
from memspan._flags import check_flags, shown
from memspan._patience import begun
from memspan._results import short
from memspan._twins import awaitable
from memspan._values import dataclass, field, replace
from memspan.collection import Collection
from memspan.engine import Engine
from memspan.engine import open as open_engine
from memspan.exceptions import Error, InvalidInput, NotFound, ProviderError
from memspan.function_tools import Function
from memspan.long_term import Scope
from memspan.memory_tools import allowed
from memspan.model import Model, models
from memspan.providers.provider import Provider, chunks_of, is_awaited, provider_for, response_of
from memspan.session_tools import MemoryTool, distinct, failure, format_of, memory_tools, result_message, run_call, text_of_result
from memspan.stream import response_text
from memspan.working import Budget, Recalls

if TYPE_CHECKING:
    import os
    from collections.abc import AsyncIterator, Generator, Iterator, Mapping
    from concurrent.futures import Future

    from memspan.lease import Lease
    from memspan.reply import ToolCall
    from memspan.short_term import Added, Session
    from memspan.transcript import Message, Turn, Usage
    from memspan.working import Prompt

__all__ = ["Assistant", "AssistantEvent", "AssistantReply", "Hook", "Step", "Stopped"]

Step: TypeAlias = Literal["add", "assemble", "call", "reply", "recover", "tools", "learn", "compact"]
"""A step of a turn."""

Stopped: TypeAlias = Literal["max_rounds"] | None
"""Why a turn ended before the model was done."""

Hook: TypeAlias = "Callable[[Step, Literal['before', 'after'], Session, Any], None]"
"""Called before and after each step with the session and what the step is about: the message, the prompt, the response, the error."""

_MORE_TRIES = 3
_TOO_MANY = "at most {} rounds of tools in one turn"
"""Why calls are cancelled."""
_STOPPED = re.compile(rf"\[cancelled: {_TOO_MANY.format('[0-9]+')}\]")
"""The result of such a call, by which a retry knows that the turn is over."""
_T = TypeVar("_T")


@dataclass(frozen=True)
class AssistantReply:
    """An answer.

    Attributes:
        text: What the model said last; "" where it only called tools.
        turn: The turn, with its messages, its calls and their prompts.
        usage: The bill of all calls of the turn.
        model: The model that answered.
        rounds: Rounds of tools that it took.
        stored: Whether it was answered before: the same `id=`, and no model was asked.
        stopped: Why it ended before the model was done: "max_rounds"; `None` otherwise.
        learned: What `Scope.learn` decided of each claim, what it discarded included; empty where nothing learns.
    """

    text: str
    turn: Turn
    usage: Usage | None
    model: str | None
    rounds: int = 0
    stored: bool = False
    stopped: Stopped = None
    learned: tuple[Any, ...] = field(default=(), hash=False)

    def __repr__(self) -> str:
        parts = {"stored": self.stored, "stopped": self.stopped, "learned": len(self.learned)}
        more = "".join(f", {name}={value!r}" for name, value in parts.items() if value)
        return f"AssistantReply({short(self.text)}, model={self.model!r}, turn={self.turn.number}, rounds={self.rounds}{more})"


@dataclass(frozen=True)
class AssistantEvent:
    """Something that happened while an answer came.

    Attributes:
        kind: "text": a piece of the answer. "restart": the pieces since the last call are void, another model begins anew. "tool_call" and
            "tool_result": a tool runs, has run. "reply": the end.
        text: The piece, the name of the tool, or its result; the whole answer at the end.
        reply: The answer, at the end.
    """

    kind: Literal["text", "restart", "tool_call", "tool_result", "reply"]
    text: str = ""
    reply: AssistantReply | None = field(default=None, hash=False)


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
        tool_seconds: How long one tool may run. One that hangs gets an error as its result, and its thread is left behind.
        lease_seconds: How long a turn may take until others may take it over; it is prolonged at each call.
        wait_seconds: How long to wait while another worker answers the session.
        learn: Whether to call `Scope.learn` after a reply.
        compact: Whether to call `Session.compact` after a reply where it is due.
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
        reads, collections = _several_or_none("reads", reads), _several_or_none("collections", collections)
        fallbacks, tools, memory_tools = _several("fallbacks", fallbacks), _several("tools", tools), _several("memory_tools", memory_tools)
        given = (
            provider,
            ways,
            model,
            fallbacks,
            memory_tools,
            system,
            reads,
            collections,
            recalls,
            budget,
            max_rounds,
            tool_seconds,
            lease_seconds,
            wait_seconds,
            hook,
        )
        for (name, is_right, rule), value in zip(_RULES, given, strict=True):
            _check(name, value, is_right(value), rule)
        self._model, self._models = model, tuple(dict.fromkeys((model, *fallbacks)))
        self._providers = {name: _provider_of(name, provider, ways) for name in self._models}
        self._memory_tools, self._allow = memory_tools, allowed(allow)
        self._functions = distinct(map(Function.of, tools), self._memory_tools)
        self._instructions: dict[str, Any] = {"system": system, "tools": self._schemas()}
        self._seen: dict[str, Any] = {"budget": budget, "collections": collections, "recalls": recalls}
        self._reads = reads
        self._max_rounds, self._tool_seconds = max_rounds, tool_seconds
        self._lease_seconds, self._wait_seconds = lease_seconds, wait_seconds
        self._learns, self._compacts, self._hook = learn, compact, hook
        _check_owned("making an assistant", "reads", engine, reads or ())
        _check_owned("making an assistant", "collections", engine, (one.scope for one in collections or ()))
        self._own = not isinstance(engine, Engine)
        self.engine = engine if isinstance(engine, Engine) else open_engine(engine)

    def respond(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002  as `Session.add` names it
    ) -> AssistantReply:
        """Answers a message.

        Args:
            user: Whose memory it is: a user's id, or a scope of the engine, `engine.user("u-42", tenant="acme")` for instance.
            message: The text, or a message with parts.
            session: The conversation, which is created if it is new.
            id: Makes a retry harmless: the same id returns the stored answer, also of a turn that `max_rounds` stopped. A turn that broke
                off goes on. Give the webhook's.

        Raises:
            StoreBusy: Another worker answered this session all the while.
            IdConflict: The id was used with another message.
            Exception: What the provider's SDK raised, where no smaller prompt and no other model helped.
        """
        *_, last = self._turn(user, message, session, id, streams=False)
        return cast("AssistantReply", cast("AssistantEvent", last).reply)

    def stream(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002  as `Session.add` names it
    ) -> Iterator[AssistantEvent]:
        """Answers a message, and yields what happens meanwhile; the last event has the reply. Closing the iteration ends the call.

        The arguments and errors are those of `respond`.
        """
        return cast("Iterator[AssistantEvent]", self._turn(user, message, session, id, streams=True))

    async def arespond(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002
    ) -> AssistantReply:
        """The awaitable twin of `respond`: a provider's `acomplete` is awaited, and all else happens in a thread of its own.

        Cancelling it frees the caller. A call that is awaited ends with it, and so does the turn. One that waits in a thread goes on, and
        its answer is there for a retry with the same id.
        """
        async with aclosing(awaited(self._turn(user, message, session, id, streams=False, awaits=True), whole=True)) as events:
            [last] = [event async for event in events]
        return cast("AssistantReply", last.reply)

    async def astream(
        self,
        user: str | Scope,
        message: str | Mapping[str, Any],
        *,
        session: str = "default",
        id: str | None = None,  # noqa: A002
    ) -> AsyncIterator[AssistantEvent]:
        """The awaitable twin of `stream`: a provider's `astream` is awaited, and all else happens in a thread of its own.

        Cancelling it frees the caller and ends the call, and what came is kept. A plain `stream` that is silent then ends with its next
        chunk.
        """
        async with aclosing(awaited(self._turn(user, message, session, id, streams=True, awaits=True), whole=False)) as events:
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
        *,
        streams: bool,
        awaits: bool = False,
    ) -> Generator[AssistantEvent | Asked, Any]:
        """One turn. With `awaits` it yields what is to be awaited, too, and is sent what that gave."""
        given = {"role": "user", "content": message} if isinstance(message, str) else message
        if not is_mapping(given):
            raise InvalidInput(f"answering: a message is a text or a mapping with a role, and this is of type {kind_of(given)}: pass one")
        if given.get("role") != "user":
            raise InvalidInput(
                f"answering: a message is the user's, and this one's role is {given.get('role')!r:.80}: give it the role 'user'; what "
                "others said goes to session.add"
            )
        scope = self._scope_of(user)
        session = self._open(scope, session_id)
        self._tell("add", "before", session, given)
        with session.lease(seconds=self._lease_seconds, wait_seconds=self._wait_seconds, message=given, id=message_id) as lease:
            added = cast("Added", lease.added)
            self._tell("add", "after", session, added)
            if added.action == "rejected":
                raise InvalidInput(f"answering message {message_id!r}: it was redacted, and is not taken again: give another id")
            if added.action == "duplicate" and (stored := _answered(session, session.turn(added.turn))) is not None:
                yield AssistantEvent("reply", stored.text, stored)
                return
            self._settle(session)
            rounds, stopped = yield from self._rounds(session, lease, streams=streams, awaits=awaits)
        # The reply is there, and the next worker may begin: what fails from here on is told to the hook, and loses nothing.
        learned = self._quietly("learn", session, lambda: scope.learn(session)) if self._learns else ()
        if self._compacts and session.compaction_due:
            self._quietly("compact", session, session.compact)
        reply = _reply(session.turn(added.turn), rounds=rounds, stopped=stopped, learned=tuple(learned or ()))
        yield AssistantEvent("reply", reply.text, reply)

    def _rounds(
        self, session: Session, lease: Lease, *, streams: bool, awaits: bool
    ) -> Generator[AssistantEvent | Asked, Any, tuple[int, Stopped]]:
        """Asks and runs tools by turns, until a reply calls none; how many rounds it took, and what stopped it."""
        rounds = 0
        while True:
            calls = session.pending_tool_calls  # of the reply, or of a worker that died before it could answer them
            if calls and rounds == self._max_rounds:
                session.cancel_tool_calls(reason=_TOO_MANY.format(self._max_rounds))
                return rounds, "max_rounds"
            if calls:
                yield from self._run_tools(session, calls)
                rounds += 1
                lease.renew()
            yield from self._ask(session, lease, streams=streams, awaits=awaits)
            if not session.pending_tool_calls:
                return rounds, None

    def _scope_of(self, user: str | Scope) -> Scope:
        if not isinstance(user, Scope):
            return self.engine.user(user)
        _check_owned("answering", "user", self.engine, (user,))
        return user

    def _seen_in(self, scope: Scope) -> dict[str, Any]:
        """The arguments that say what its sessions may see: of the scopes that are read along, all but the scope itself."""
        return {**self._seen, "reads": None if self._reads is None else [one for one in self._reads if one != scope]}

    def _open(self, scope: Scope, session_id: str) -> Session:
        """The session as it is: a worker that answers it now is not to be disturbed. A new one is made for this assistant."""
        try:
            return scope.session(session_id)
        except NotFound:
            made = self._located(self._model)
            return scope.open_session(session_id, default_model=made, **self._seen_in(scope), **self._instructions)

    def _settle(self, session: Session) -> None:
        """Gives the session the model, the system prompt, the tools and the budget of this assistant, where it has others."""
        model = session.model
        if model not in self._models or (model != self._model and _is_cold(session, model)):
            model = self._model
            session.switch_model(self._located(model), **self._instructions)
        session.scope.session(session.id, self._located(model), **self._seen_in(session.scope), **self._instructions)

    def _located(self, model: str) -> str | Model:
        """A model with the address that its provider sends it to, where that is not the vendor's own."""
        address = self._providers[model].base_url
        return replace(models[model], base_url=address) if address else model

    def _schemas(self) -> list[dict[str, Any]]:
        shape = format_of(self._model)
        own = memory_tools(self._memory_tools, shape, self._allow) if self._memory_tools else []
        return [*(function.schema(shape) for function in self._functions), *own]

    def _ask(self, session: Session, lease: Lease, *, streams: bool, awaits: bool) -> Generator[AssistantEvent | Asked, Any]:
        """Assembles and calls until a reply is there: after a refusal smaller, after an outage a model that was not asked yet."""
        prompt = self._step("assemble", session, None, session.assemble)
        left = list(self._models)
        for tries in range(len(self._models) + _MORE_TRIES):
            if prompt.model in left:
                left.remove(prompt.model)
            try:
                if not streams:
                    response = yield from self._call(session, prompt, awaits=awaits)
                    self._step("reply", session, response, lambda: session.add_response(response, prompt=prompt, lease=lease))  # noqa: B023
                else:
                    yield from self._stream(session, lease, prompt, awaits=awaits)
            except Exception as error:
                if tries == len(self._models) + _MORE_TRIES - 1 or (isinstance(error, Error) and not isinstance(error, ProviderError)):
                    raise
                if _is_hooks(error):  # it says nothing of the model, which may have answered
                    raise
                prompt = self._recovered(session, prompt, error, left)
                if streams:
                    yield AssistantEvent("restart")
            else:
                return

    def _recovered(self, session: Session, refused: Prompt, error: Exception, left: list[str]) -> Prompt:
        """A prompt that may succeed; without one, the error that there was, and not what it was told as."""
        told, compact = _told(error), type(session).compact if self._compacts else None
        try:
            again = partial(session.recover, refused, told, models=[self._located(model) for model in left], compact=compact)
            return cast("Prompt", self._step("recover", session, error, again))
        except ConnectionError as raised:
            if raised is not told:
                raise
            raise error from None

    def _call(self, session: Session, prompt: Prompt, *, awaits: bool) -> Generator[Asked, Any, Any]:
        provider = self._providers[prompt.model]
        self._tell("call", "before", session, prompt)
        if awaits and is_awaited(provider, "complete"):
            response = yield Asked(provider, prompt, streams=False)
        else:
            response = response_of(provider, prompt)
        self._tell("call", "after", session, response)
        return response

    def _stream(self, session: Session, lease: Lease, prompt: Prompt, *, awaits: bool) -> Generator[AssistantEvent | Asked, Any]:
        provider = self._providers[prompt.model]
        self._tell("call", "before", session, prompt)
        with session.reply(prompt, lease=lease) as reply:
            asked = Asked(provider, prompt, streams=True) if awaits and is_awaited(provider, "stream") else None
            chunks = chunks_of(provider, prompt)  # which asks nothing before its first chunk is wanted
            while (chunk := next(chunks, END) if asked is None else (yield asked)) is not END:
                if piece := reply.feed(chunk):
                    yield AssistantEvent("text", piece)
            self._tell("call", "after", session, prompt)
        self._tell("reply", "after", session, reply.turn)

    def _run_tools(self, session: Session, calls: tuple[ToolCall, ...]) -> Iterator[AssistantEvent]:
        """Runs the calls of a reply in parallel, and adds their results in the order of the calls."""
        self._tell("tools", "before", session, calls)
        for call in calls:
            yield AssistantEvent("tool_call", call.name)
        until = time.monotonic() + self._tool_seconds
        futures, take_back = begun([partial(run_call, session, call, self._functions, self._memory_tools, self._allow) for call in calls])
        try:
            for call, future in zip(calls, futures, strict=True):
                result = _result(call, future, max(until - time.monotonic(), 0.0), self._tool_seconds)
                session.add(result)
                yield AssistantEvent("tool_result", text_of_result(result))
        finally:
            take_back()
        self._tell("tools", "after", session, calls)

    def _tell(self, step: Step, when: Literal["before", "after"], session: Session, value: Any) -> None:
        if self._hook is not None:
            self._hook(step, when, session, value)

    def _step(self, step: Step, session: Session, value: Any, run: Callable[[], Any]) -> Any:
        self._tell(step, "before", session, value)
        result = run()
        self._tell(step, "after", session, result)
        return result

    def _quietly(self, step: Step, session: Session, run: Callable[[], Any]) -> Any:
        try:
            return self._step(step, session, None, run)
        except Exception as error:  # noqa: BLE001  the answer is there, and must not be lost over this
            self._tell(step, "after", session, error)
            return None


def _check(name: str, value: object, is_right: bool, rule: str) -> None:
    if not is_right:
        raise InvalidInput(f"making an assistant: {name} must be {rule}, and it is {shown(value)}: change it")


def _check_owned(doing: str, name: str, engine: object, scopes: Iterable[Scope]) -> None:
    """Refuses scopes of another engine, which has another store or is opened beside this one."""
    for scope in scopes:
        of = getattr(engine, scope.type, None)
        if of is None or of(scope.id, tenant=scope.tenant) != scope:
            raise InvalidInput(
                f"{doing}: {name} must be of the assistant's engine, and {scope!r} is of another: give the assistant an Engine, and take "
                "it from that"
            )


def _several(name: str, given: Iterable[_T]) -> tuple[_T, ...]:
    value: object = given
    _check(name, value, _is_several(value), "several, as in a list")
    return tuple(given)


def _several_or_none(name: str, given: Iterable[_T] | None) -> tuple[_T, ...] | None:
    return None if given is None else _several(name, given)


def _is_several(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes)


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(one, str) for one in values)


def _is_time(value: object) -> bool:
    return is_number(value) and 0 <= cast("float", value) <= Limits.MAX_WAIT_SECONDS


def _is_time_above_none(value: object) -> bool:
    return _is_time(value) and value != 0


_RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("provider", lambda one: isinstance(one, Provider), "a memspan.providers.Provider, OpenAI() for instance, or a subclass"),
    ("providers", lambda ways: is_mapping(ways) and all(isinstance(one, Provider) for one in ways.values()), "Providers by model"),
    ("model", lambda one: isinstance(one, str), "the name of one in memspan.models"),
    ("fallbacks", _are_texts, "names of models"),
    ("memory_tools", _are_texts, "names of tools"),
    ("system", lambda one: one is None or isinstance(one, str), "a text, or None"),
    ("reads", lambda given: given is None or all(isinstance(one, Scope) for one in given), "memspan.Scopes, or None"),
    ("collections", lambda given: given is None or all(isinstance(one, Collection) for one in given), "memspan.Collections, or None"),
    ("recalls", lambda one: one is None or isinstance(one, Recalls), "a memspan.Recalls, or None"),
    ("budget", lambda one: one is None or isinstance(one, Budget), "a memspan.Budget, or None"),
    ("max_rounds", lambda one: is_whole(one) and one >= 0, "a whole number of 0 or more"),
    ("tool_seconds", _is_time_above_none, "a number above 0 and at most a day"),
    ("lease_seconds", _is_time_above_none, "a number above 0 and at most a day"),
    ("wait_seconds", _is_time, "a number from 0 to a day"),
    ("hook", lambda one: one is None or callable(one), "a function, or None"),
)
"""What the arguments of an assistant must be, in the order in which they are looked at."""


def _provider_of(model: str, provider: Provider, providers: Mapping[str, Provider]) -> Provider:
    """The way to a model, which is found when the assistant is made: a name that nobody knows is not to be told in an outage."""
    models[model]
    return providers.get(model) or (provider if provider.serves(model) else provider_for(model))


def _is_cold(session: Session, model: str) -> bool:
    """Whether a switch loses nothing of what the provider of a model has in its cache.

    Another model answered last, as where all of them failed, or the time of what is cached is over.
    """
    last = next((call for turn in reversed(session.turns) for call in reversed(turn.calls)), None)
    asked = None if last is None else last.prompt
    if last is None or (asked is not None and asked.model != model):
        return True
    return (session.last_added_at - last.added_at).total_seconds() > models[model].cache.ttl_seconds


def _is_hooks(error: Exception) -> bool:
    """Whether it was raised by a hook, or below one."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not Assistant._tell.__code__:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        trace = trace.tb_next
    return trace is not None


def _told(error: Exception) -> Any:
    """Of a stream that failed in its middle, what the provider said; of one that ended early, an outage."""
    if not isinstance(error, ProviderError):
        return error
    return getattr(error, "error", None) or ConnectionError(error.message)


def _result(call: ToolCall, future: Future[dict[str, Any]], seconds: float, limit: float) -> dict[str, Any]:
    try:
        error = future.exception(timeout=seconds)
    except TooLate:
        return result_message(call, f"the tool was not done after {limit:g} seconds", failed=True)
    if isinstance(error, InvalidInput):  # no such tool
        return result_message(call, error.message, failed=True)
    return future.result() if error is None else failure(call, error)


def _reply(turn: Turn, **about: Any) -> AssistantReply:
    said = next((_said(message) for message in reversed(turn.messages) if message.role == "assistant"), "")
    return AssistantReply(said, turn, turn.usage, turn.model, **about)


def _said(message: Message) -> str:
    """The words of a reply, without the calls that it makes; of one that refuses, the words of that refusal."""
    given = message.given
    said = response_text({"candidates": [{"content": given}]} if message.format == "gemini" else given)
    blocks = [given, *(block for item in given.get("output") or () if is_mapping(item) for block in item.get("content") or ())]
    return said or "".join(block.get("refusal") or "" for block in blocks if is_mapping(block))


def _answered(session: Session, turn: Turn) -> AssistantReply | None:
    """The stored answer, where the turn has one that makes no calls, or was stopped before the model was done."""
    messages = list(turn.messages)
    if messages and messages[-1].role == "tool" and _STOPPED.fullmatch(messages[-1].text):
        return _reply(turn, stored=True, stopped="max_rounds")
    if not messages or messages[-1].role != "assistant" or (session.pending_tool_calls and turn.number == len(session.turns) - 1):
        return None
    return _reply(turn, stored=True)
