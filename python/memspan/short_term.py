"""Short-term memory: a `Session` is one conversation, its transcript, its tasks and the prompts that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from memspan import _core, _records
from memspan._characters import whole
from memspan._core import Limits
from memspan._fence import fenced
from memspan._results import Added, ToolText
from memspan._screening import screened_message
from memspan._twins import awaitable
from memspan._values import dataclass, replace
from memspan.compaction.flush import flush
from memspan.compaction.tool_results import shortened
from memspan.compaction.values import Brief, Compaction, Identifiers, RefusedLine, Summary, summary_of
from memspan.compaction.writing import Written, write
from memspan.embedding import Event
from memspan.exceptions import BudgetExceeded, Error, InvalidInput, NotFound, SessionMoved
from memspan.lease import Lease
from memspan.reply import PartialReply, Reply, ToolCall
from memspan.session_tools import SessionTools, run_call
from memspan.stream import plain, response_text
from memspan.task import Task
from memspan.transcript import Messages, Turn, Turns
from memspan.usage import SessionUsage
from memspan.versions import Version, Versions, text_of, tools_of
from memspan.working import Item, Prompt, stored_budget

if TYPE_CHECKING:
    from datetime import datetime

    from memspan._store import OpenStore
    from memspan.compaction.flush import Flush
    from memspan.compaction.writing import Writer
    from memspan.counting import SdkObject
    from memspan.function_tools import Function
    from memspan.long_term import Scope
    from memspan.model import Model
    from memspan.working import Budget, Format, ToolResults

__all__ = ["Added", "ModelSwitch", "NewMessage", "Session", "ToolText", "set_policy"]

_USAGE_PAGE = 64


@dataclass(frozen=True)
class NewMessage:
    """A row of `Session.add_many`: the arguments of `Session.add`.

    Attributes:
        message: The message: a mapping of OpenAI's or Anthropic's shape, or an SDK's object.
        id: Makes a retry harmless: unique in the session.
        author: Who wrote it.
        created_at: When it was said. A naive time is UTC.
        format: The shape it is in, where the shape itself does not tell.
    """

    message: Mapping[str, Any] | SdkObject
    id: str | None = None
    author: str | None = None
    created_at: datetime | None = None
    format: Format | None = None


@dataclass(frozen=True)
class ModelSwitch(_records.PlannedSwitch):
    """What a switch of models does, or would do.

    Attributes:
        from_model: The model before.
        to_model: The model after.
        max_input_tokens: The limit of prompts for it.
        kept_messages: Messages that stay in prompts.
        left_out_messages: Messages before them: out of prompts, still in the transcript, still found by `search_transcripts`.
        tokens: Tokens of those that stay, counted for the new model.
        first_message: Index of the first that stays.
        fixed_tokens: Tokens of the tools, the system prompt, pinned memory, the summary and the reply's frame with the new model.
        summary: What the messages before became; `None` where all of them stay, or an older summary does.
        refused: As in `Compaction`.
        checked: As in `Compaction`.
    """

    summary: Summary | None = None
    refused: tuple[RefusedLine, ...] = ()
    checked: str = "rules"


@fenced
class Session:
    """One conversation of a scope. Made by `Scope.session`; what it is and holds is in the store, read anew at each use.

    Any number of handles, threads and processes may use one session: writes are ordered, `expect_index` and a prompt's age tell who
    was first. Methods that begin with an `a` are awaitable twins of those without it.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o", system="You are terse.")
        >>> session.add({"role": "user", "content": "which port does payments-api use?"})
        Added(index=0, tokens=11, action='added', turn=0)
        >>> prompt = session.assemble()
        >>> reply = {"role": "assistant", "content": "8443"}  # client.chat.completions.create(**prompt.to_openai())
        >>> session.add_response(reply, prompt=prompt)
        Turn(0, messages 0..2, 1 calls, model=None)
    """

    __slots__ = ("_core", "_results", "_scope", "_store")

    def __init__(self, store: OpenStore, scope: Scope, core: _core.SessionCore, results: ToolResults | None = None) -> None:
        self._results = results
        self._store = store
        self._scope = scope
        self._core = core

    @property
    def id(self) -> str:
        """The id that it was asked for by."""
        return self._core.id

    @property
    def scope(self) -> Scope:
        """Whose session it is."""
        return self._scope

    @property
    def model(self) -> str:
        """The model that it runs on now."""
        return self._core.status().model

    @property
    def ended(self) -> bool:
        """Whether `end` was called: it can be read and forked, and nothing is added any more."""
        return self._core.status().ended

    @property
    def created_at(self) -> datetime:
        """When it was made: aware, in UTC."""
        return self._core.status().created_at

    @property
    def epoch(self) -> int:
        """The number of its epoch: within one, prompts only grow at their end."""
        return self._core.status().epoch

    @property
    def last_added_at(self) -> datetime:
        """When something was last added: aware, in UTC."""
        return self._core.status().last_added_at

    @property
    def system(self) -> str | None:
        """The system prompt of its present epoch."""
        return self._core.instructions()[0]

    @property
    def tools(self) -> SessionTools:
        """The tool schemas of its present epoch, as they were given; called with names, those by which a model uses this memory.

        Examples:
            >>> session = user.session("s-1", model="claude-sonnet-4-5", tools=[])
            >>> session.tools, [tool["name"] for tool in session.tools("recall", "forget")]
            ([], ['recall', 'forget'])
        """
        return SessionTools(self._core.instructions()[1] or [], self.model)

    @property
    def versions(self) -> Versions:
        """The system prompts and tool schemas that it had, by number, with the epoch and the time since which each held.

        `switch_model` takes one of them for `system=` or `tools=`.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", system="You are terse.")
            >>> user.session("s-1", system="You are kind.").versions.system[0]
            Version(number=1, 'You are terse.', epoch=0)
        """
        return Versions.of(self._core.versions())

    @property
    def budget(self) -> Budget:
        """What its prompts may cost: what `Scope.session(budget=)` was given last, or the defaults.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=8_000))
            >>> session.budget == memspan.Budget(max_input_tokens=8_000), user.session("s-1").budget.max_input_tokens
            (True, 8000)
        """
        return stored_budget(self._core.budget())

    @property
    def metadata(self) -> dict[str, Any]:
        """What you keep with it (`Scope.session(metadata=)`); no model ever sees it."""
        return self._core.metadata()

    @property
    def messages(self) -> Messages:
        """Its messages as they were given: a view, of which only that is read that is looked at."""
        return Messages(self._core)

    @property
    def turns(self) -> Turns:
        """Its turns: a view like `messages`."""
        return Turns(self._core)

    @property
    def pending_tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that wait for a result, in their order: what a worker that comes after a crash has to run."""
        return tuple(ToolCall._of(row) for row in self._core.open_calls())  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  rows of the engine

    @property
    def partial_reply(self) -> PartialReply | None:
        """What came of a streamed reply that is not whole; `None` where there is none."""
        row = self._core.partial()
        return None if row is None else _partial(row)

    def turn(self, number: int) -> Turn:
        """A turn by its number, from 0.

        Raises:
            NotFound: The session has no such turn.
        """
        return Turn(self._core, self._core.turn(number))

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
                call of the session that is open. A system message is history like any other, and leaves the window with it: what is to
                stand in every prompt is given as `system=` to `Scope.session`.
            id: Makes a retry harmless: unique in the session, 1 to 1,024 bytes. The same id with the same content is a duplicate.
            expect_index: The index that the message is to have.
            author: Who wrote it, in your words.
            created_at: When it was said. A naive time is UTC.
            format: The shape it is in, where the shape itself does not tell.

        Raises:
            InvalidInput: The message is not of a shape that a provider takes, or answers no open call. Nothing was written.
            IdConflict: The id was used with other content. Nothing was written.
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

    def _written(self, added: Added) -> Added:
        self._store.windows.watch(self._scope, self._core)
        return added

    def _added(self, row: NewMessage, expect_index: int | None) -> Added:
        if self._results is None or self._results.summarise is None:
            return self._core.add(row, expect_index)

        def report(reason: str) -> None:
            self._store.reporter.report(Event("summarise", reason, self._scope, session=self.id))

        return self._core.add_shortened(row, shortened(self._core, row, self._results, report), expect_index)

    def _screened_row(self, message: Mapping[str, Any] | SdkObject | NewMessage) -> NewMessage:
        row = message if isinstance(message, NewMessage) else NewMessage(message)
        return replace(row, message=screened_message(row.message, self._store.policy)) if self._store.policy.transcripts else row

    def add_many(self, messages: Iterable[Mapping[str, Any] | SdkObject | NewMessage]) -> tuple[Added, ...]:
        """Adds messages in order; up to 1,000 of them and 256 KB are one transaction, more are several.

        Args:
            messages: Messages as `add` takes them, or `NewMessage` objects, whose ids make running it again harmless.

        Returns:
            What became of each, in order.

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
                added.extend(self._core.add_many([self._screened_row(message) for message in chunk]))
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

    def add_response(self, response: Mapping[str, Any] | SdkObject, *, prompt: Prompt | None = None, lease: Lease | None = None) -> Turn:
        """Adds a model's reply with what it was billed and what it was sent, in one transaction.

        Args:
            response: What the SDK returned, or its dict: a chat completion, an Anthropic message, or the assistant's message alone.
            prompt: The prompt that the model was sent. The ledger keeps it, and the turn gives it back for ever.
            lease: Ends in the same transaction where the reply calls no tool.

        Returns:
            The turn, with its calls. The same response given twice returns the stored one and writes nothing.

        Raises:
            InvalidInput: The response is of an unknown shape, is a piece of a stream, or says nothing; or the prompt is of another session.
            SessionMoved: The session's length is another than when the prompt was assembled. Nothing was written.

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
        core = None if prompt is None else prompt._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  its core is the engine's
        add = partial(self._core.add_response, holder=None) if lease is None else lease.add_response
        try:
            replied = add(response, core)
        except InvalidInput:
            mended = whole(given := plain(response))  # an SDK may hand out half a character, which no store can hold
            if mended == given:
                raise
            replied = add(mended, core)
        if replied.usage_ignored:
            reason = "the usage of a reply contradicts itself: the reply is stored, and the usage is kept as it came and not counted"
            self._store.reporter.report(Event("usage", reason, self._scope, session=self.id))
        self._store.windows.watch(self._scope, self._core)
        return self.turn(replied.turn)

    def assemble(
        self,
        query: str | None = None,
        *,
        max_input_tokens: int | None = None,
        max_output_tokens: int | None = None,
        items: Iterable[Item] = (),
        budget: Budget | None = None,
        count: Callable[[dict[str, Any]], int] | None = None,
    ) -> Prompt:
        """Makes the next prompt. A pure read: nothing on disk changes, except by `count`.

        The same store, clock and session give the same bytes.

        Cost: one read transaction; a fraction of a millisecond whatever the length of the history.

        Args:
            query: The question to memory, by default the newest user message. It is never sent.
            max_input_tokens: Another limit for this call.
            max_output_tokens: Another reserve for the reply of this call.
            items: The caller's own chunks, which compete for the volatile block.
            budget: Another budget for this call.
            count: Asks the provider what the prompt is, for models whose tokenizer is closed: a function of the request without what only a
                call has, that returns the input tokens; for Anthropic `lambda r: client.messages.count_tokens(**r).input_tokens`.
                The answer is the prompt's `total_tokens`, is learned, and makes the prompt smaller where it is above the limit. Where
                the function fails, the prompt is bounded as without it, and `on_event` is told.

        Raises:
            BudgetExceeded: The system prompt, the tools and the newest message do not fit; every number is in the message and an attribute.
            InvalidInput: An argument breaks its rule.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = user.remember("payments-api listens on port 8443")
            >>> _ = session.add({"role": "user", "content": "which port does payments-api use?"})
            >>> prompt = session.assemble(items=[memspan.Item("Deployed on Friday", id="note-7")])
            >>> [(one.section, one.id) for one in prompt.explain() if one.included and one.section in {"recalled", "retrieved"}]
            [('recalled', 'mem-1'), ('retrieved', 'note-7')]
        """
        vector, why = None, None
        if self._store.embeds_questions:
            question = self._core.question() if query is None else query
            if question is not None:
                vector, why = self._store.query_vector(question, self._scope)
        options = {"query": query, "budget": budget, "max_input_tokens": max_input_tokens, "max_output_tokens": max_output_tokens}
        prompt = Prompt(self._core.assemble(_items(items), vector, why, options))
        if count is not None:
            from memspan._recovery import count_by  # noqa: PLC0415  most prompts are counted here

            prompt = count_by(count, prompt, self, self._core, self._store)
        self._store.windows.watch(self._scope, self._core, prompt.total_tokens)
        return prompt

    def recover(
        self,
        prompt: Prompt,
        error: BaseException | str | Mapping[str, Any],
        *,
        models: Iterable[str | Model] = (),
        compact: Callable[[Session], Compaction] | None = None,
    ) -> Prompt:
        """Another prompt for one that a provider refused or could not answer; to be called with what the SDK raised.

        Too long: a smaller prompt by the numbers of the refusal, a third less where it names none, or the same with a shorter reply where
        that is what does not fit. The limit is kept for this session's next prompts. Overloaded, rate limited or out: the next of `models`,
        to which the session is switched. Otherwise `error` is raised again, with the cure as a note.

        Args:
            prompt: What was sent.
            error: What the SDK raised, its message, or the body of the error.
            models: Models to continue with, in this order. The one that failed and those before it are passed over.
            compact: What makes a summary of the old turns that a smaller prompt leaves out, `memspan.Session.compact` for instance. What
                it raises leaves them out without one, and `on_event` is told.

        Raises:
            BaseException: `error` itself, where no smaller prompt and no other model helps.
            InvalidInput: The same for a message.
            SessionMoved: The session went on since the prompt was assembled.
            BudgetExceeded: Nothing of it can be left out.

        Examples:
            >>> session = user.session("s-1", model="claude-sonnet-4-5", budget=memspan.Budget(max_input_tokens=8_000))
            >>> _ = session.add_many([{"role": "user", "content": f"question {n} " + "of some length " * 90} for n in range(9)])
            >>> prompt = session.assemble()
            >>> smaller = session.recover(prompt, "prompt is too long: 9100 tokens > 8000 maximum")
            >>> smaller.counted_tokens < prompt.counted_tokens
            True
            >>> session.recover(smaller, "529 Overloaded", models=["claude-sonnet-4-5", "gpt-4o"]).model
            'gpt-4o'
        """
        from memspan._recovery import recover  # noqa: PLC0415  most prompts are answered

        return recover(self._core, self, self._store, prompt, error, models=models, compact=compact)

    def lease(
        self,
        *,
        seconds: float = 60,
        wait_seconds: float = 10,
        message: Mapping[str, Any] | SdkObject | None = None,
        id: str | None = None,  # noqa: A002  as `add` names it
    ) -> Lease:
        """The right to answer this session, of one worker at a time; to be used in a `with` or `async with` block.

        Taken with its message and ended by its reply (`add_response(lease=)`, `reply(lease=)`), it costs no transaction of its own.

        Args:
            seconds: How long it lasts where its holder dies: longer than a reply takes, at most a day. `Lease.renew` prolongs it.
            wait_seconds: How long to wait for whoever holds it.
            message: Is added as it is taken, in one transaction: `Lease.added` says what became of it.
            id: Makes a retry of the message harmless, as in `add`.

        Raises:
            StoreBusy: On entering: another worker answers all the while; the message names it. Nothing was added.
        """
        row = None if message is None else self._screened_row(NewMessage(message, id))
        return Lease(self._core, seconds, wait_seconds, row, self._written)

    def reply(self, prompt: Prompt, *, lease: Lease | None = None) -> Reply:
        """Captures a streamed reply as it comes; to be used in a `with` or `async with` block, whose end adds it.

        Args:
            prompt: The prompt that the model was sent.
            lease: As in `add_response`.
        """
        if not isinstance(prompt, Prompt):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"capturing a reply: prompt is what assemble() returned, got a {type(prompt).__name__}: pass the Prompt itself"
            )
        return Reply(self, self._core, prompt, lease)

    def keep_partial_reply(self) -> Turn:
        """Adds what came of a reply that is not whole as the reply: its text, with "interrupted" as the reason why it ended.

        Raises:
            NotFound: There is none, or it says nothing.
            SessionMoved: The session went on since.
        """
        partial = self.partial_reply
        if partial is None or not partial.text:
            raise NotFound(
                f"keeping a partial reply: one must have come, and session {self.id!r} has none that says something: ask the model again"
            )
        if partial.messages != len(self.messages):
            self.drop_partial_reply()
            raise SessionMoved(
                f"keeping a partial reply: the session must be as long as when the model was asked, {partial.messages}, and it has "
                f"{len(self.messages)} messages: ask the model again"
            )
        message = {"role": "assistant", "content": partial.text}
        choice = {"index": 0, "message": message, "finish_reason": "interrupted"}
        return self.add_response({"object": "chat.completion", "choices": [choice]})

    def drop_partial_reply(self) -> bool:
        """Drops what came of a reply that is not whole; `False` where there was none."""
        return self._core.drop_partial()

    def answer(self, call: ToolCall, *, functions: Iterable[Callable[..., Any] | Function] = ()) -> Added:
        """Runs a pending tool call and adds its result. A tool that fails, and arguments that it does not take, are a result that says so.

        Args:
            call: One of `pending_tool_calls`.
            functions: The application's own tools, besides "remember", "recall", "forget" and "read_result".

        Raises:
            InvalidInput: No such tool is known.
            ToolCallClosed: The call has a result. Nothing was written, and the tool was not run where that was known before.
        """
        return self.add(run_call(self, call, functions))

    def usage(self) -> SessionUsage:
        """The planned and the billed cost of its calls, call by call, with totals. Cost: one read of each ledger entry.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add({"role": "user", "content": "2 + 2?"})
            >>> _ = session.add_response(memspan.testing.openai_response("4", input_tokens=12), prompt=session.assemble())
            >>> session.usage()[0].planned, session.usage()[0].input_tokens, session.usage().dollars > 0
            (12, 12, True)
        """
        turns = self._core.status().turns
        pages = (self._core.usage(first, _USAGE_PAGE) for first in range(0, turns, _USAGE_PAGE))
        return SessionUsage._of(row for page in pages for row in page)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  rows of the engine

    def rewind(self, index: int) -> None:
        """Takes back message `index` and everything behind it, with its words, its calls and their ledger. A new epoch begins.

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

        Its role, its place and the ids of its tool calls stay. The bytes on disk are overwritten by `Engine.maintain(compact=True)`.

        Returns:
            Whether it was there; `False` where that was done before.

        Raises:
            NotFound: The session has no such message.
        """
        return self._core.redact(index, reason)

    def delete(self) -> None:
        """Deletes the session with everything in it. Its id is free again."""
        self._core.delete()

    def fork(self, new_id: str, *, at: int | None = None) -> Session:
        """Copies the session under another id; from then on the two go their own ways.

        Args:
            new_id: The id of the copy, which no session of the scope has.
            at: Copy the messages before this index; all of them by default. Calls whose results it would part are refused.

        Raises:
            IdConflict: A session has the id.
            NotFound: The session is shorter than `at`.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}])
            >>> [message.text for message in session.fork("s-2", at=1).messages]
            ['one']
        """
        return Session(self._store, self._scope, self._core.fork(new_id, at), self._results)

    def end(self) -> None:
        """Ends the session and clears its tasks: it can be read and forked from then on. A second time does nothing.

        Where the policy says `learn="end"` or "compaction", it is learnt from first.
        """
        if self._store.policy.learn != "called" and not self.ended:
            self._scope.learn(self)
        self._core.end()

    def task(self, name: str, *, ttl_seconds: float | None = None) -> Task:
        """The state of a task, to be used in a `with` or `async with` block, which clears it at its end.

        Args:
            name: 1 to 1,024 bytes of UTF-8.
            ttl_seconds: Seconds until it is over, counted anew from each write; above 0 and at most 100 years.
        """
        return Task(_core.TaskCore(self._core, name, ttl_seconds), self._core)

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

    def cancel_tool_calls(self, *, reason: str) -> tuple[str, ...]:
        """Answers every call that waits for a result with one that says it was cancelled; a late result raises `ToolCallClosed`.

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

    @property
    def summary(self) -> Summary | None:
        """What prompts show of the messages that were compacted; `None` where none were."""
        found = self._core.summary()
        return None if found is None else summary_of(found, self.model)

    @property
    def compaction_due(self) -> Literal["threshold", "turns", "task_end", "session_end"] | None:
        """Why the session should be compacted now, by its `Budget.compact`; `None` where it need not be. A pure read.

        "threshold": its prompts are as full as the budget says. "turns": that many went by. "task_end": a task ended since. "session_end":
        it ended and was not compacted whole.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(compact=memspan.Compact(every_turns=5)))
            >>> _ = session.add_many([{"role": "user", "content": f"question {n}"} for n in range(6)])
            >>> session.compaction_due, session.compact().covers, session.compaction_due
            ('turns', range(0, 3), None)
        """
        return self._core.compaction_due()

    def compact(
        self,
        *,
        llm: Writer | None = None,
        keep_exchanges: int = 3,
        max_tokens: int | None = None,
        learn: Flush = None,
        timeout_seconds: float | None = None,
    ) -> Compaction:
        """Replaces old turns by a summary in the prompts to come. The transcript stays as it is, and is searched as before.

        A snapshot is read, `learn` and `llm` are called outside of any transaction, and one epoch is committed. Messages that are added
        meanwhile stay behind the boundary, which is the beginning of a turn. Without `llm` the summary is made by rules and is
        deterministic; what a model writes is held against the messages, and where it fails the rules do it alone. The cost is that of the
        messages since the last compaction, not of the history.

        Args:
            llm: Writes the summary: a function `(messages, *, max_tokens) -> str`, synchronous or not.
            keep_exchanges: Newest exchanges that stay as they are, at least 1. A session that ended is compacted whole.
            max_tokens: The most that the summary may have; by default an eighth of a prompt's limit, 200 to 2,000.
            learn: Flushes what should outlive the session before it leaves. `True` calls `Scope.learn`, which learns nothing twice; `None`
                does so where the policy says `learn="compaction"`. A function of the messages, as (index, role, text), returns memories
                as `Scope.remember_many` takes them, or nothing; without an id they get one of the session and their text. What it raises
                is raised, and nothing is compacted.
            timeout_seconds: For each call of `llm`; 120 by default.

        Returns:
            What it did. Where no turn is old enough nothing is written, and `covers` is empty.

        Raises:
            SessionMoved: The session was compacted, rewound, redacted or moved to another model meanwhile. Nothing was changed.
            BudgetExceeded: `max_tokens` is more than half of a prompt's limit.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": f"Build {n} runs on host-{n}."} for n in range(8)])
            >>> compaction = session.compact()
            >>> compaction.covers, compaction.identifiers.left_out, "host-4" in session.summary.text
            (range(0, 5), 0, True)
        """
        draft = self._core.draft(keep_exchanges, max_tokens)
        if draft is None:
            tokens = self._core.fill().tokens
            return Compaction(self.summary, range(0), tokens, tokens, Identifiers(0, 0))
        learned = flush(self, draft, learn, policy=self._store.policy.learn)
        written = write(draft, llm, timeout_seconds)
        made = draft.make()
        committed = self._core.commit(draft, written)
        before, after, epoch = committed.tokens_before, committed.tokens_after, committed.epoch
        counts, summary = Identifiers(made.identifiers, made.kept, made.restored), summary_of(made.summary, self.model)
        return Compaction(
            summary, range(*draft.covers), before, after, counts, written.refused, written.checked, learned, epoch, written.prompt
        )

    def brief(self, task: str, *, max_tokens: int = 1_500, llm: Writer | None = None, timeout_seconds: float | None = None) -> Brief:
        """What another agent must know of this session to take over a task: state, decisions, identifiers, constraints, open questions.

        Made of the newest summary and all messages since, with the same checks as `compact`. A pure read.

        Args:
            task: The other agent's task.
            max_tokens: The most that the brief may have, the task included.
            llm: As for `compact`.
            timeout_seconds: As for `compact`.

        Raises:
            BudgetExceeded: The task alone has more than half of `max_tokens`.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add({"role": "user", "content": "Agreed: deploy.sh must run on host-7 before Friday."})
            >>> print(session.brief("review the deploy script").text)
            ## Task
            - review the deploy script
            ## Constraints & Requirements
            - Agreed: deploy.sh must run on host-7 before Friday.
        """
        model = self.model
        head = f"## Task\n- {' '.join(task.split())}\n"
        room = max_tokens - _core.count_tokens(head, model, None)
        if room < max_tokens / 2:
            raise BudgetExceeded(
                f"making a brief of session {self.id!r}: its task must leave half of max_tokens={max_tokens:,}, and it leaves {room:,}: "
                "shorten the task or raise max_tokens",
                limit_tokens=max_tokens,
            )
        draft = self._core.brief_draft(room)
        written = write(draft, llm, timeout_seconds)
        summary = summary_of(draft.make().summary, model)
        text = f"{head}{summary.text}".rstrip()
        return Brief(task, text, _core.count_tokens(text, model, None), summary, written.checked, written.refused)

    def note(self, text: str) -> int:
        """Adds a note that every prompt of this session shows, whatever leaves its window. It is deleted with the session.

        Returns:
            Its number, for `remove_note`. A note that is there already is not added twice.

        Raises:
            InvalidInput: It is empty or has more than 16 KiB, or the session has 64 notes.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> session.note("The user is on a train: keep answers short."), session.notes
            (1, ((1, 'The user is on a train: keep answers short.'),))
        """
        return self._core.add_note(text)

    @property
    def notes(self) -> tuple[tuple[int, str], ...]:
        """Its notes with their numbers, in the order they were made."""
        return tuple(self._core.notes())

    def remove_note(self, number: int) -> bool:
        """Takes a note out; whether there was one of that number."""
        return self._core.remove_note(number)

    def plan_switch(self, model: str | Model) -> ModelSwitch:
        """What `switch_model` would do without an `llm`. A pure read, exact to the token.

        Raises:
            UnknownModel: The model is not in the registry.
            BudgetExceeded: The system prompt, the tools and the newest message do not fit its window.
        """
        draft = self._core.switch_draft(model)
        return _switched(self._core.plan_switch(model, draft), draft, Written())

    def switch_model(
        self,
        model: str | Model,
        *,
        llm: Writer | None = None,
        system: str | Version | None = None,
        tools: Iterable[Any] | Version | None = None,
        timeout_seconds: float | None = None,
    ) -> ModelSwitch:
        """Moves the session to another model: what does not fit is compacted, the rest recounted, under a new budget, in a new epoch.

        Messages that leave the prompt stay in the transcript, and `Scope.search_transcripts` still finds them. Summary and switch are one
        transaction.

        Args:
            model: Its name in `memspan.models`, or a `Model`.
            llm: Writes the summary of what does not fit; without it the rules do.
            system: Another system prompt, or one of `versions`; `None` keeps the one it has.
            tools: Other tools, or a version of them.
            timeout_seconds: For each call of `llm`; 120 by default.

        Raises:
            UnknownModel: The model is not in the registry.
            BudgetExceeded: The system prompt, the tools and the newest message do not fit its window. Nothing was written.
            SessionMoved: The session was compacted, rewound, redacted or switched meanwhile. Nothing was written.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": f"question {n} " * 100} for n in range(100)])
            >>> switch = session.switch_model("gpt-4")
            >>> switch.max_input_tokens, switch.kept_messages + switch.left_out_messages, session.model, switch.summary is not None
            (4096, 100, 'gpt-4', True)
        """
        system, tools = text_of(system), tools_of(tools)
        draft = self._core.switch_draft(model)
        if draft is not None:
            flush(self, draft, None, policy=self._store.policy.learn)
        written = Written() if draft is None else write(draft, llm, timeout_seconds)
        return _switched(self._core.switch_model(model, system, tools, draft, written), draft, written)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Session) and self._core.is_same(other._core)

    def __hash__(self) -> int:
        return hash((self._scope, self.id))

    def __repr__(self) -> str:
        return f"Session({self.id!r} of {self._scope!r})"

    aturn = awaitable(turn)
    aadd = awaitable(add)
    aadd_many = awaitable(add_many)
    aadd_response = awaitable(add_response)
    aassemble = awaitable(assemble)
    arewind = awaitable(rewind)
    aredact = awaitable(redact)
    adelete = awaitable(delete)
    afork = awaitable(fork)
    aend = awaitable(end)
    arecover = awaitable(recover)
    akeep_partial_reply = awaitable(keep_partial_reply)
    adrop_partial_reply = awaitable(drop_partial_reply)
    aanswer = awaitable(answer)
    ausage = awaitable(usage)
    atool_result = awaitable(tool_result)
    acancel_tool_calls = awaitable(cancel_tool_calls)
    acompact = awaitable(compact)
    abrief = awaitable(brief)
    anote = awaitable(note)
    aremove_note = awaitable(remove_note)
    aplan_switch = awaitable(plan_switch)
    aswitch_model = awaitable(switch_model)


def set_policy(core: _core.SessionCore, budget: Budget) -> None:
    """Stores when a session is to be compacted and how much of a tool result it shows."""
    compact, results = budget.compact, budget.tool_results
    at, every = (None, 0) if compact is None else (compact.at, compact.every_turns or 0)
    core.set_policy(at, every, 0 if results is None else results.max_tokens)


def _switched(plan: _records.PlannedSwitch, draft: _core.CompactionDraft | None, written: Written) -> ModelSwitch:
    summary = None if draft is None else summary_of(draft.make().summary, plan.to_model)
    return ModelSwitch(**vars(plan), summary=summary, refused=written.refused, checked=written.checked)


def _partial(stored: _records.StoredPartial) -> PartialReply:
    response: dict[str, Any] = stored.response
    return PartialReply(response_text(response), stored.messages, stored.began_at, stored.written_at, stored.error, response)


def _items(items: Iterable[Item]) -> tuple[Item, ...]:
    if isinstance(items, str | Item) or not isinstance(items, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"assembling a prompt: items are several memspan.Item, and this is one {type(items).__name__}: put it into a list"
        )
    given = tuple(items)
    for place, item in enumerate(given):
        if not isinstance(item, Item):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"assembling a prompt: items are memspan.Item, and items[{place}] is a {type(item).__name__}: make one, Item(text)",
                item=place,
            )
    return given
