"""The call of a model: its prompt, another one where it was refused, its reply as it comes, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from memspan._flags import check_function
from memspan._session.transcript import Transcript
from memspan._twins import awaitable
from memspan._zones import zone_of
from memspan.exceptions import InvalidInput, NotFound, SessionMoved
from memspan.lease import Lease
from memspan.new_message import NewMessage
from memspan.reply import PartialReply, Reply
from memspan.usage import SessionUsage
from memspan.working import Item, Prompt

if TYPE_CHECKING:
    from datetime import tzinfo

    from memspan import _records
    from memspan.compaction.values import Compaction
    from memspan.counting import SdkObject
    from memspan.model import Model
    from memspan.short_term import Session
    from memspan.transcript import Turn
    from memspan.working import Budget

_USAGE_PAGE = 64


class Calls(Transcript):
    """The calls of a session: prompts are made, and their replies captured."""

    __slots__ = ()

    def assemble(
        self,
        query: str | None = None,
        *,
        max_input_tokens: int | None = None,
        max_output_tokens: int | None = None,
        items: Iterable[Item] = (),
        budget: Budget | None = None,
        count: Callable[[dict[str, Any]], int] | None = None,
        timezone: tzinfo | str | None = None,
    ) -> Prompt:
        """Makes the next prompt. A pure read: nothing on disk changes, except by `count`.

        The same store, clock and session give the same bytes.

        Cost: one read transaction; a fraction of a millisecond whatever the length of the history.

        Args:
            query: The question to memory, by default the newest user message. It is never sent. Within a turn's tool rounds neither it nor
                `items` is looked at: the block that was sent stands still. Where the block is chosen anew in a turn (a cut of the window,
                `compact`, `switch_model`, `fork`), those of that call count, and where it has none, those of the turn's first call.
            max_input_tokens: Another limit for this call.
            max_output_tokens: Another reserve for the reply of this call.
            items: The caller's own chunks, which compete for the volatile block. Of the first call's items those that it showed go on.
            budget: Another budget for this call.
            count: Asks the provider what the prompt is, for models whose tokenizer is closed: a function of the request without what only a
                call has, that returns the input tokens; for Anthropic `lambda r: client.messages.count_tokens(**r).input_tokens`.
                The answer is the prompt's `total_tokens`, is learned, and makes the prompt smaller where it is above the limit. Where
                the function fails, or answers what this prompt cannot cost (less than a quarter of its counted tokens, or more than
                20 times as many and 4,000), the prompt is bounded as without it, and `on_event` is told.
            timezone: Whose days "yesterday" and "on 7 May" are, where the question names a time: a `tzinfo`, or a name such as
                "Europe/Berlin". UTC by default.

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
        check_function("assembling a prompt", "count", count)
        vector, why = None, None
        if self._store.embeds_questions:
            question = self._core.question() if query is None else query
            if question is not None:
                vector, why = self._store.query_vector(question, self._scope)
        zone = zone_of("assembling a prompt", timezone)
        limits = {"max_input_tokens": max_input_tokens, "max_output_tokens": max_output_tokens}
        options = {"query": query, "budget": budget, "timezone": zone, **limits}
        prompt = Prompt(self._core.assemble(_items(items), vector, why, options))
        if count is not None:
            from memspan._recovery import count_by  # noqa: PLC0415  most prompts are counted here

            prompt = count_by(count, prompt, self._session, self._core, self._store)
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
        only the reply does not fit. The limit is kept for this session's next prompts. Overloaded, rate limited or down: the next of
        `models`, to which the session is switched. Otherwise `error` is raised again, with the cure as a note.

        Args:
            prompt: The prompt that was sent.
            error: The SDK's exception, its message, or the body of the error.
            models: Models to continue with, in this order. The one that failed and those before it are passed over, and so are those whose
                window is too small for the newest message and the instructions.
            compact: A function that makes a summary of the old turns that a smaller prompt leaves out, `memspan.Session.compact` for
                instance. If it raises, they are left out without a summary, and `on_event` is told.

        Raises:
            BaseException: `error` itself, where no smaller prompt and no other model helps.
            InvalidInput: The same for a message.
            SessionMoved: Something was added to the session since the prompt was assembled.
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

        return recover(self._core, self._session, self._store, prompt, error, models=models, compact=compact)

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
            wait_seconds: How long to wait for the present holder.
            message: A message that is added in the transaction that takes the lease: `Lease.added` says what became of it.
            id: Makes a retry of the message harmless, as in `add`.

        Raises:
            StoreBusy: On entering: another worker held the lease all the time; the message names it. Nothing was added.
            InvalidInput: An id without a message, or a time out of its range.
        """
        if message is None and id is not None:
            raise InvalidInput("taking a lease: id= is the message's, and no message is given: give message= too, or leave id= out")
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
        return Reply(self._session, self._core, prompt, lease, self._store.reporter.report)

    @property
    def partial_reply(self) -> PartialReply | None:
        """The part of a streamed reply that arrived before it broke off; `None` where there is none."""
        row = self._core.partial()
        return None if row is None else _partial(row)

    def keep_partial_reply(self) -> Turn:
        """Adds what came of a reply that is not whole as the reply: its text, with "interrupted" as the reason why it ended.

        Raises:
            NotFound: There is none, or it says nothing.
            SessionMoved: Something was added to the session since.
        """
        kept = self.partial_reply
        if kept is None or not kept.text:
            raise NotFound(
                f"keeping a partial reply: one must have come, and session {self.id!r} has none that says something: ask the model again"
            )
        message = {"role": "assistant", "content": kept.text}
        choice = {"index": 0, "message": message, "finish_reason": "interrupted"}
        response = {"object": "chat.completion", "choices": [choice]}
        try:
            add = partial(self._core.add_response, holder=None, expect_index=kept.messages, created_at=None)
            return self._add_reply(response, None, add)
        except SessionMoved:
            self.drop_partial_reply()
            raise

    def drop_partial_reply(self) -> bool:
        """Drops what came of a reply that is not whole; `False` where there was none."""
        return self._core.drop_partial()

    aassemble = awaitable(assemble, asks=True)
    arecover = awaitable(recover, waits=True)
    ausage = awaitable(usage)
    akeep_partial_reply = awaitable(keep_partial_reply)
    adrop_partial_reply = awaitable(drop_partial_reply)


def _partial(stored: _records.StoredPartial) -> PartialReply:
    from memspan.stream import response_text  # noqa: PLC0415  few turns break off

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
