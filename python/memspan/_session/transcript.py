"""The transcript of a session: messages, replies, tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from memspan._characters import whole, with_finite_usage
from memspan._core import Limits
from memspan._fence import is_mapping
from memspan._fields import plain
from memspan._flags import check_kinds, check_several
from memspan._results import Added
from memspan._screening import screened_message
from memspan._session.part import SessionPart
from memspan._twins import awaitable
from memspan._values import replace
from memspan.compaction.tool_results import shortened
from memspan.embedding import Event
from memspan.exceptions import Error, InvalidInput
from memspan.new_message import NewMessage
from memspan.reply import ToolCall
from memspan.session_tools import result_message, run_call
from memspan.transcript import Turn
from memspan.working import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from memspan._core import PromptCore
    from memspan._records import Replied
    from memspan._results import ToolText
    from memspan.counting import SdkObject
    from memspan.function_tools import Function
    from memspan.lease import Lease
    from memspan.working import Format

_BESIDE = ("id", "created_at", "author")
"""The arguments of `add` that a row of an application's own often has among its fields."""

_ARGUMENTS = ("message", *_BESIDE, "format")

_OF_VENDORS = ("msg_", "chatcmpl-")
"""How ids begin that vendors give to messages of every role. An assistant's message may have any."""


class Transcript(SessionPart):
    """Messages are added, read, answered and taken back."""

    __slots__ = ()

    def turn(self, number: int) -> Turn:
        """A turn by its number, from 0.

        Raises:
            NotFound: The session has no such turn.
        """
        return Turn(self._core, self._core.turn(number, None))

    @property
    def pending_tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that wait for a result, in their order. A worker that takes over after a crash has to run them."""
        return tuple(ToolCall._of(row) for row in self._core.open_calls())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  rows of the engine

    def add(
        self,
        message: Mapping[str, Any] | SdkObject,
        *,
        id: str | None = None,  # noqa: A002  the field's own word
        expect_index: int | None = None,
        author: str | None = None,
        created_at: datetime | None = None,
        format: Format | None = None,  # noqa: A002
    ) -> Added:
        """Adds a message. Durable when it returns, stored as it was given, counted, and found by its words at once.

        Cost: one write transaction, shared with writers of other threads; its size does not depend on the session's length.

        Args:
            message: A mapping of OpenAI's or Anthropic's shape, or an SDK's object; at most 64 MiB as JSON. Tool results must answer a
                call of the session that is open. A system message is history like any other, and leaves the window with it: give
                `system=` to `Scope.session` for what every prompt must have. A mapping that has `created_at`, `author`, or an `id` of
                your own in it is refused: they are arguments.
            id: Makes a retry harmless: unique in the session, 1 to 1,024 bytes. The same id with the same content is a duplicate.
            expect_index: The index that the message is to have.
            author: Who wrote it, in your words.
            created_at: When it was said. A naive time is UTC. A retry gives the same, or none; a message that was stored without one stays
                without.
            format: The shape it is in, where the shape itself does not tell.

        Raises:
            InvalidInput: The message is not of a shape that a provider takes, or answers no open call. Nothing was written.
            IdConflict: The id was used with other content, or with another `created_at`. Nothing was written.
            SessionMoved: The session has another length than `expect_index`. Nothing was written.
            ToolCallClosed: The result is of a call that was cancelled. Nothing was written.
            StoreBusy: Another writer held the store for `busy_timeout_seconds`. Nothing was written.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> session.add({"role": "user", "content": "hello"}, id="m-1")
            Added(index=0, tokens=5, action='added', turn=0)
            >>> session.add({"role": "user", "content": "hello"}, id="m-1").action
            'duplicate'
        """
        added = self._added(self._screened_row(NewMessage(message, id, author, created_at, format)), expect_index)
        self._store.windows.watch(self._scope, self._core)
        return added

    def add_many(self, messages: Iterable[Mapping[str, Any] | SdkObject | NewMessage]) -> tuple[Added, ...]:
        """Adds messages in order; up to 1,000 of them and 256 KB are one transaction, more are several.

        Args:
            messages: Messages as `add` takes them, or with their ids and times: `NewMessage` objects, or mappings with the arguments of
                `add` ("message", "id", "author", "created_at", "format"). Ids make running it again harmless.

        Returns:
            The result of each, in order.

        Raises:
            Error: Of the first message that cannot be added; its attribute `row` says which. Messages of earlier transactions are stored,
                none of its own.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> talk = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
            >>> [one.index for one in session.add_many(talk)]
            [0, 1]
        """
        if isinstance(messages, str | bytes | Mapping) or not isinstance(messages, Iterable):  # pyright: ignore
            kind = type(messages).__name__  # pyright: ignore[reportUnknownArgumentType]
            raise InvalidInput(f"adding messages: they must be several, and this is one {kind}: put it into a list")
        iterator, first, added = iter(messages), 0, list[Added]()
        while chunk := list(islice(iterator, Limits.MAX_BATCH_ROWS)):
            try:
                added.extend(self._core.add_many([self._screened_row(_row_of(row, at), at) for at, row in enumerate(chunk)]))
            except Error as error:
                place = error.fields.get("row")
                if isinstance(place, int):
                    error.fields["row"] = first + place
                    setattr(error, "row", first + place)  # noqa: B010  fields are attributes too, and no class declares them
                    error.add_note(f"in message {first + place:,}")
                raise
            first += len(chunk)
        self._store.windows.watch(self._scope, self._core)
        return tuple(added)

    def add_response(
        self,
        response: Mapping[str, Any] | SdkObject,
        *,
        prompt: Prompt | None = None,
        lease: Lease | None = None,
        created_at: datetime | None = None,
    ) -> Turn:
        """Adds a model's reply with what it was billed and what it was sent, in one transaction.

        Args:
            response: The SDK's response, or its dict: a chat completion, an Anthropic message, or the assistant's message alone.
            prompt: The prompt that the model was sent. The ledger keeps it, and `Turn.prompt` gives it back at any later time.
            lease: Ends in the same transaction where the reply calls no tool and is not a pause of Claude's.
            created_at: When it was said, for a reply of the past. A naive time is UTC. A retry gives the same, or none. The call in the
                ledger keeps the time at which it was added.

        Returns:
            The turn, with its calls. The same response given twice returns the stored one and writes nothing.

        Raises:
            InvalidInput: The response is of an unknown shape, is a piece of a stream, or says nothing; or the prompt is of another session.
            IdConflict: The response was added before, with another `created_at` or with other content. Nothing was written.
            SessionMoved: The session's length is another than when the prompt was assembled. Or neither a prompt nor the response's id was
                given, and the newest message is such a reply that was redacted: it may be the same. Nothing was written.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add({"role": "user", "content": "2 + 2?"})
            >>> turn = session.add_response(memspan.testing.openai_response("4", input_tokens=12), prompt=session.assemble())
            >>> turn.usage.input_tokens, turn.prompt.total_tokens
            (12, 12)
        """
        if prompt is not None and not isinstance(prompt, Prompt):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"adding a response: prompt is what assemble() returned, got a {type(prompt).__name__} (prompt=): pass the Prompt itself"
            )
        if lease is not None:
            from memspan.lease import Lease  # noqa: PLC0415  few programs take a lease

            check_kinds("adding a response", "a Lease", "take it from Session.lease()", Lease, lease=lease)
        core = None if prompt is None else prompt._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  its core is the engine's
        plain = partial(self._core.add_response, holder=None, expect_index=None)
        return self._add_reply(response, core, partial(plain if lease is None else lease.add_response, created_at=created_at))

    def _add_reply(self, response: Any, prompt: PromptCore | None, add: Callable[[Any, PromptCore | None], Replied]) -> Turn:
        """Adds a reply by the engine's call for it; its turn."""
        try:
            replied = add(response, prompt)
        except InvalidInput:
            mended = with_finite_usage(whole(given := plain(response)))  # no store can hold half a character, or NaN
            if mended == given:
                raise
            replied = add(mended, prompt)
        if replied.usage_ignored:
            reason = "the usage of a reply contradicts itself: the reply is stored, and the usage is kept as it came and not counted"
            self._store.reporter.report(Event("usage", reason, self._scope, session=self.id))
        self._store.windows.watch(self._scope, self._core)
        return self._turn_of_reply(replied.turn)

    def _turn_of_reply(self, number: int) -> Turn:
        """The turn of a reply that was added: its earlier calls are those of the turn returned last, where they still hold."""
        last = self._answered if self._answered is not None and self._answered[0].number == number else None
        calls = () if last is None else last[0].calls
        stored = self._core.turn(number, None if last is None else (len(calls), last[1]))
        turn = Turn(self._core, stored, calls)
        self._answered = (turn, stored.mark)
        return turn

    def rewind(self, index: int) -> None:
        """Takes back message `index` and everything behind it, with its words, its calls and their ledger. A new epoch begins.

        It changes this session alone: forks keep what they copied, and prompts may recall it from there. `redact` takes a text out of all.
        Memories that were learnt from those messages alone are forgotten with them, and a partial reply is dropped.

        Raises:
            NotFound: The session is shorter.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
            >>> session.rewind(1)
            >>> [message.text for message in session.messages]
            ['one']
        """
        self._core.rewind(index)

    def redact(self, index: int, *, reason: str | None = None) -> bool:
        """Takes the text out of a message, for good: out of the transcript, the index and every prompt to come.

        So it does in the same transaction with the copies of the message: in forks of this session, in the session that it is a fork of,
        and in other forks of that one. Forks made before 0.12.0 do not say where theirs came from, and keep it.

        Its role, its place and the ids of its tool calls stay. The bytes on disk are overwritten by `Engine.maintain(compact=True)`. In
        the same transaction memories that were learnt from it alone are forgotten, and a partial reply is dropped. A memory stays if
        another message repeated it later, if a program remembered it itself, before or since, or if a tool remembered it first:
        `Scope.forget` removes it. If a tool stated a memory that was known already, that was a duplicate that left no trace, and the
        memory goes too.

        Returns:
            Whether it was there; `False` where that was done before.

        Raises:
            NotFound: The session has no such message.
        """
        return self._core.redact(index, reason)

    def answer(self, call: ToolCall, *, functions: Iterable[Callable[..., Any] | Function] = (), allow: Iterable[str] = ()) -> Added:
        """Runs a pending tool call and adds its result. A tool that fails, and arguments that it does not take, are a result that says so.

        A call that waits for no result here is refused before its tool is run. Where two workers run one call at once, each runs the tool,
        and one of them adds its result: `lease` keeps them apart.

        Args:
            call: One of `pending_tool_calls`.
            functions: The application's own tools, besides "remember", "recall", "forget" and "read_result".
            allow: Kinds that the model may write and forget besides: "constraint", "profile", which stand in every prompt.

        Raises:
            InvalidInput: No such tool is known, or the call is of another session or was taken back. The tool was not run.
            ToolCallClosed: The call has a result, or the conversation went on without one. Nothing was written, and the tool was not run,
                unless that came about while it ran.
            Closed: The session was ended. The tool was not run.
        """
        check_kinds("answering a tool call", "a ToolCall", "take it from pending_tool_calls", ToolCall, call=call)
        check_several("answering a tool call", "several functions", functions=functions)
        check_several("answering a tool call", "several kinds", allow=allow)
        self._check_waits(call)
        return self.add(run_call(self._session, call, functions, allow=allow))

    def _check_waits(self, call: ToolCall) -> None:
        """Refuses a call that waits for no result of this session, as adding its result would, before its tool is run."""
        length = len(self._session.messages)
        waiting = next((one for one in self.pending_tool_calls if one.id == call.id), None)
        if waiting is None or self._session.ended:
            # The engine says why. It adds nothing: where the call was made since, the session has another length.
            self.add(result_message(call, "[not run]"), expect_index=length)
        elif (waiting.name, waiting.message_index) != (call.name, call.message_index):
            raise InvalidInput(
                f"answering a tool call: it must be one that waits in session {self._session.id!r}, and {call.id!r} is there a call of "
                f"{waiting.name!r} in message {waiting.message_index:,}, got one of {call.name!r} in message {call.message_index:,}: "
                "take it from pending_tool_calls of its own session",
                call_id=call.id,
            )

    def cancel_tool_calls(self, *, reason: str) -> tuple[str, ...]:
        """Answers every call that waits for a result with one that says it was cancelled; a late result raises `ToolCallClosed`.

        Args:
            reason: Stands in the results. Brackets that are not in pairs become parentheses.

        Returns:
            The ids of those calls.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> call = {"id": "call_1", "type": "function", "function": {"name": "deploy", "arguments": "{}"}}
            >>> _ = session.add_many([{"role": "user", "content": "deploy"}, {"role": "assistant", "tool_calls": [call]}])
            >>> session.pending_tool_calls[0].name, session.cancel_tool_calls(reason="the user said stop"), session.pending_tool_calls
            ('deploy', ('call_1',), ())
        """
        return tuple(self._core.cancel_tool_calls(reason))

    def tool_result(self, key: str, *, offset: int = 0, max_tokens: int = 2_000) -> ToolText:
        """Reads a long tool result that prompts show shortened.

        Args:
            key: The key in the marker of the shortened result.
            offset: The first character of the part.
            max_tokens: The most that is returned, at least 1.

        Raises:
            NotFound: The key is not one of this session.
        """
        return self._core.tool_result(key, offset, max_tokens)

    def _written(self, added: Added) -> Added:
        self._store.windows.watch(self._scope, self._core)
        return added

    def _added(self, row: NewMessage, expect_index: int | None) -> Added:
        if self._results is None or self._results.summarise is None:
            return self._core.add(row, expect_index)

        def report(reason: str) -> None:
            self._store.reporter.report(Event("summarise", reason, self._scope, session=self.id))

        return self._core.add_shortened(row, shortened(self._core, row, self._results, report), expect_index)

    def _screened_row(self, row: NewMessage, place: int | None = None) -> NewMessage:
        _check_keys(row, place)
        return replace(row, message=screened_message(row.message, self._store.policy)) if self._store.policy.transcripts else row

    aturn = awaitable(turn)
    aadd = awaitable(add, asks=True)
    aadd_many = awaitable(add_many, asks=True)
    aadd_response = awaitable(add_response, asks=True)
    arewind = awaitable(rewind)
    aredact = awaitable(redact)
    aanswer = awaitable(answer, waits=True)
    acancel_tool_calls = awaitable(cancel_tool_calls)
    atool_result = awaitable(tool_result)


def bare(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message without the fields that are arguments of `add`, for a session that nobody keeps."""
    return {name: field for name, field in message.items() if name not in _BESIDE}


def _row_of(row: object, place: int) -> NewMessage:
    """A row of `add_many`: a message, or the arguments of `add`."""
    if isinstance(row, NewMessage):
        return row
    if not is_mapping(row) or "message" not in row or "role" in row:
        return NewMessage(cast("Any", row))
    given = dict(row)
    if given.keys() - {*_ARGUMENTS}:
        raise InvalidInput(
            f"adding messages: a mapping with 'message' has the arguments of add(), {', '.join(map(repr, _ARGUMENTS))}, and it has "
            f"{sorted(map(str, given))}: change its keys",
            row=place,
        )
    return NewMessage(**given)


def _check_keys(row: NewMessage, place: int | None) -> None:
    """Refuses a mapping that has arguments of `add` among its fields and not as these, since they would do nothing.

    Rows of assistants come from their providers, and their fields are kept.
    """
    message = row.message
    if not is_mapping(message) or message.get("role") not in ("user", "system", "developer", "tool"):
        return
    found = [name for name in _BESIDE if getattr(row, name) is None and message.get(name) not in (None, "")]
    own = str(message.get("id"))
    if "id" in found and (own.startswith(_OF_VENDORS) or own == message.get("tool_call_id")):
        found.remove("id")
    if found:
        raise InvalidInput(
            f"adding a message: its fields are the provider's, and it has {', '.join(map(repr, found))} among them, which would do "
            f"nothing: take them out, and give them as arguments: NewMessage(message, {', '.join(f'{name}=...' for name in found)})",
            **({} if place is None else {"row": place}),
        )
