"""One turn of a conversation. It reaches the store by public calls alone, so a program can do each of these steps as well.

    add        the user's message, with the lease: nobody else answers this session meanwhile. Its id makes a retry harmless: a turn that
               was answered is returned, and no model is asked
    assemble   the prompt, under its budget, with what is remembered
    call       the model; after a refusal a smaller prompt, after an outage another model (`Session.recover`)
    reply      added with what it cost; while it streams, kept every two seconds (`Session.reply`). Without calls it ends the lease
    tools      the calls of the reply, in parallel, all within one time; their results in the order of the calls; then "assemble" again.
               Where the user says more meanwhile, calls are closed: what is left of the results goes nowhere
    learn      what is worth keeping goes to long-term memory
    compact    old turns and rounds become a summary, where the session says that it is due

Start at `Answering.events`, which is all of it. If you need another order, write your own loop of the same calls (docs/providers.md).
This file is not one to copy as it is: what waits for models and runs tools (`_asking`, `_patience`) is private and may change.
"""

from __future__ import annotations

import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from memspan._asking import END, Asked
from memspan._assistant.failures import calls_of, is_cut, is_paused, says_nothing, told_as, typed, unread, withheld
from memspan._assistant.values import AssistantEvent, AssistantReply
from memspan._fence import is_mapping
from memspan._patience import Begun, begun
from memspan.exceptions import BudgetExceeded, Error, InvalidInput, ModelMismatch, NotFound, ProviderError, SessionMoved, ToolCallClosed
from memspan.model import models
from memspan.providers.provider import chunks_of, is_awaited, response_of
from memspan.session_tools import failure, no_such_tool, result_message, run_call, text_of_result
from memspan.stream import response_text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
    from datetime import tzinfo

    from memspan._assistant.arguments import Setup
    from memspan._assistant.values import Step, Stopped
    from memspan.lease import Lease
    from memspan.long_term import Scope
    from memspan.reply import ToolCall
    from memspan.short_term import Added, Session
    from memspan.transcript import Message, Turn
    from memspan.working import Prompt

__all__ = ["Answering"]

_MORE_TRIES = 3
_TOO_MANY = "at most {} rounds of tools in one turn"
"""Why calls are cancelled."""
_STOPPED = re.compile(rf"\[cancelled: {_TOO_MANY.format('[0-9]+')}\]")
"""The result of such a call, by which a retry knows that the turn is over."""


class Answering:
    """One turn of an assistant, which may have many at a time.

    Args:
        of: The settings of the assistant.
        scope: Whose memory it is.
        session_id: The conversation.
        timezone: Whose days "today" and "on 7 May" are.
        streams: Whether pieces of the answer are yielded as they come.
        awaits: Whether calls of models are yielded, to be awaited (`memspan._asking`).
    """

    def __init__(self, of: Setup, scope: Scope, session_id: str, timezone: tzinfo | None, *, streams: bool, awaits: bool) -> None:
        self._of, self._scope, self._streams, self._awaits = of, scope, streams, awaits
        self._seen = of.seen_in(scope)
        self._in_zone: dict[str, Any] = {} if timezone is None else {"timezone": timezone}
        self._session = self._open(session_id)
        self._in_hook = self._reads = False

    def events(self, message: Mapping[str, Any], message_id: str | None) -> Generator[AssistantEvent | Asked, Any]:
        """Answers a message."""
        of, session = self._of, self._session
        self._tell("add", "before", message)
        with session.lease(seconds=of.lease_seconds, wait_seconds=of.wait_seconds, message=message, id=message_id) as lease:
            added = cast("Added", lease.added)
            self._tell("add", "after", added)
            if added.action == "rejected":
                raise InvalidInput(f"answering message {message_id!r}: it was redacted, and is not taken again: give another id")
            if added.action == "duplicate" and (stored := _answered(session, added.turn)) is not None:
                yield AssistantEvent("reply", stored.text, stored)
                return
            self._settle()
            answered, rounds, stopped = yield from self._rounds(lease, added.turn)
        # The reply is there, and the next worker may begin: what fails from here on is told to the hook, and loses nothing.
        learned = self._quietly("learn", lambda: self._scope.learn(session, **self._in_zone)) if of.learn else ()
        if of.compact and session.compaction_due:
            self._quietly("compact", session.compact)
        reply = _reply(session.turn(answered), rounds=rounds, stopped=stopped, learned=tuple(learned or ()))
        yield AssistantEvent("reply", reply.text, reply)

    def _open(self, session_id: str) -> Session:
        """The session as it is: a worker that answers it now is not to be disturbed. A new one is made for this assistant."""
        try:
            return self._scope.session(session_id)
        except NotFound:
            pass
        try:
            return self._scope.session(session_id, self._of.located(self._of.model), **self._seen, **self._of.instructions)
        except ModelMismatch:  # somebody else made it in between
            return self._scope.session(session_id)

    def _settle(self) -> None:
        """Gives the session the model, the system prompt, the tools and the budget of this assistant, where it has others.

        Only the holder of the lease may. Others may have changed the session since it was opened, and while this turn waited for the lease:
        so it is read again, and written where something differs.
        """
        model = self._session.model
        if model not in self._of.models or (model != self._of.model and _is_cold(self._session, model)):
            try:
                self._session.switch_model(self._of.located(self._of.model), **self._of.instructions)
                model = self._of.model
                self._compact_due()
            except BudgetExceeded:
                if model not in self._of.models:
                    raise  # else the model that it runs on answers what is too long for the first
        self._scope.session(self._session.id, self._of.located(model), **self._seen, **self._of.instructions)

    def _rounds(self, lease: Lease, turn: int) -> Generator[AssistantEvent | Asked, Any, tuple[int, int, Stopped]]:
        """Asks and runs tools by turns, until a reply calls none; the turn that it stands in, how many rounds it took, what stopped it.

        A reply in which the model paused is a round of the provider's own tools.
        """
        rounds = 0
        while True:
            calls = self._session.pending_tool_calls  # of the reply, or of a worker that died before it could answer them
            if calls and rounds == self._of.max_rounds:
                self._session.cancel_tool_calls(reason=_TOO_MANY.format(self._of.max_rounds))
                return turn, rounds, "max_rounds"
            if calls:
                yield from self._run_tools(calls)
                rounds += 1
                lease.renew()
                self._compact_due()
            turn = yield from self._ask(lease)
            if self._session.pending_tool_calls:
                continue
            if not is_paused(self._session.messages[-1].given):
                return turn, rounds, None
            if rounds == self._of.max_rounds:
                return turn, rounds, "max_rounds"
            rounds += 1
            lease.renew()
            self._compact_due()

    def _ask(self, lease: Lease) -> Generator[AssistantEvent | Asked, Any, int]:
        """Assembles and calls until a reply is there; the turn that it stands in.

        After a refusal it asks smaller, after an outage or an answer that cannot be read a model that was not asked yet, and again where
        the user said more meanwhile.
        """
        prompt = self._assembled()
        left = list(self._of.models)
        for tries in range(len(self._of.models) + _MORE_TRIES):
            if prompt.model in left:
                left.remove(prompt.model)
            if tries:
                lease.renew()  # the provider may have taken minutes to fail
            self._reads = False
            response: Any = None
            try:
                if self._streams:
                    return (yield from self._stream(lease, prompt, is_last=not left))
                response = yield from self._call(prompt)
                self._reads = True
                if left and says_nothing(response):
                    raise withheld(prompt.model)  # noqa: TRY301  as the engine does with a reply that has no content at all
                turn = self._step("reply", response, lambda: self._session.add_response(response, prompt=prompt, lease=lease))  # noqa: B023
                return cast("Turn", turn).number
            except Exception as raised:
                # What a hook raises says nothing of the model, which may have answered.
                error = raised if self._in_hook else typed(raised)
                is_unread = self._reads and type(error) is InvalidInput
                is_ours = isinstance(error, Error) and not is_unread and not isinstance(error, ProviderError | SessionMoved)
                if is_ours or self._in_hook or tries == len(self._of.models) + _MORE_TRIES - 1:
                    if error is raised:
                        raise
                    raise error from raised
                told = unread(response, error) if is_unread else told_as(error)
                prompt = self._assembled() if isinstance(error, SessionMoved) else self._recovered(prompt, error, told, left)
                if self._streams:
                    yield AssistantEvent("restart")
        raise AssertionError("the last try returns or raises")

    def _assembled(self) -> Prompt:
        assemble = partial(self._session.assemble, **self._in_zone)
        try:
            return cast("Prompt", self._step("assemble", None, assemble))
        except BudgetExceeded:
            if self._in_hook or not self._of.compact:
                raise
            # A message that came after a compaction may have no room beside the summary.
            made = self._quietly("compact", self._session.compact)
            if made is None or made.epoch is None:
                raise
        return cast("Prompt", self._step("assemble", None, assemble))

    def _recovered(self, refused: Prompt, error: Exception, told: Exception, left: list[str]) -> Prompt:
        """A prompt that may succeed; without one, the error that there was, and not what it was told as."""
        compact = type(self._session).compact if self._of.compact else None
        try:
            again = partial(self._session.recover, refused, told, models=[self._of.located(model) for model in left], compact=compact)
            prompt = cast("Prompt", self._step("recover", error, again))
        except (ConnectionError, ProviderError) as raised:
            if raised is not told or told is error:
                raise
            raise error from error.__cause__
        # Another model may have less room.
        is_due = prompt.model != refused.model and self._compact_due()
        return self._assembled() if is_due else prompt

    def _compact_due(self) -> bool:
        """Compacts the session where that is due; whether it did."""
        if not self._of.compact or self._session.compaction_due is None:
            return False
        made = self._quietly("compact", self._session.compact)
        return made is not None and made.epoch is not None

    def _call(self, prompt: Prompt) -> Generator[Asked, Any, Any]:
        provider = self._of.providers[prompt.model]
        self._tell("call", "before", prompt)
        if self._awaits and is_awaited(provider, "complete"):
            response = yield Asked(provider, prompt, streams=False)
        else:
            response = response_of(provider, prompt)
        self._tell("call", "after", response)
        return response

    def _stream(self, lease: Lease, prompt: Prompt, *, is_last: bool) -> Generator[AssistantEvent | Asked, Any, int]:
        provider = self._of.providers[prompt.model]
        self._tell("call", "before", prompt)
        with self._session.reply(prompt, lease=lease) as reply:
            asked = Asked(provider, prompt, streams=True) if self._awaits and is_awaited(provider, "stream") else None
            chunks = chunks_of(provider, prompt)  # which asks nothing before its first chunk is wanted
            while (chunk := next(chunks, END) if asked is None else (yield asked)) is not END:
                if piece := reply.feed(chunk):
                    yield AssistantEvent("text", piece)
            self._tell("call", "after", prompt)
            self._reads = True
            response = reply._gatherer.response  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  a turn's own reply
            if not is_last and is_cut(reply.finish) and says_nothing(response()):
                raise withheld(prompt.model)
        self._tell("reply", "after", reply.turn)
        return cast("Turn", reply.turn).number

    def _run_tools(self, calls: tuple[ToolCall, ...]) -> Iterator[AssistantEvent]:
        """Runs the calls of a reply in parallel, and adds their results in the order of the calls.

        Calls are closed where the user says more meanwhile, or where somebody cancels them: their results have no place any more.
        """
        self._tell("tools", "before", calls)
        for call in calls:
            yield AssistantEvent("tool_call", call.name)
        until = time.monotonic() + self._of.tool_seconds
        tools = (self._of.functions, self._of.memory_tools, self._of.allow)
        names = [*(function.name for function in self._of.functions), *self._of.memory_tools]
        all_begun, take_back = begun([partial(run_call, self._session, call, *tools) for call in calls])
        try:
            for call, one in zip(calls, all_begun, strict=True):
                result = _result(call, one, max(until - time.monotonic(), 0.0), self._of.tool_seconds, names)
                try:
                    self._session.add(result)
                except ToolCallClosed:
                    if self._session.pending_tool_calls:
                        continue  # this one was answered by somebody else
                    break
                yield AssistantEvent("tool_result", text_of_result(result))
        finally:
            take_back()
        self._tell("tools", "after", calls)

    def _tell(self, step: Step, when: Literal["before", "after"], value: Any) -> None:
        if self._of.hook is not None:
            self._in_hook = True  # and so it stays where the hook raises
            self._of.hook(step, when, self._session, value)
            self._in_hook = False

    def _step(self, step: Step, value: Any, run: Callable[[], Any]) -> Any:
        self._tell(step, "before", value)
        result = run()
        self._tell(step, "after", result)
        return result

    def _quietly(self, step: Step, run: Callable[[], Any]) -> Any:
        try:
            return self._step(step, None, run)
        except Exception as error:  # noqa: BLE001  the answer is there, and must not be lost over this
            self._tell(step, "after", error)
            return None


def _is_cold(session: Session, model: str) -> bool:
    """Whether a switch loses nothing of what the provider of a model has in its cache.

    Another model answered last, as where all of them failed, or the time of what is cached is over.
    """
    last = next((call for turn in reversed(session.turns) for call in reversed(turn.calls)), None)
    asked = None if last is None else last.prompt
    if last is None or (asked is not None and asked.model != model):
        return True
    return (session.last_added_at - last.added_at).total_seconds() > models[model].cache.ttl_seconds


def _result(call: ToolCall, one: Begun[dict[str, Any]], seconds: float, limit: float, names: Iterable[str]) -> dict[str, Any]:
    try:
        error = one.error(seconds)
    except TimeoutError:
        return result_message(call, f"the tool was not done after {limit:g} seconds", failed=True)
    if isinstance(error, InvalidInput):  # its words are for a developer, who could run the tool
        return no_such_tool(call, names)
    return one.result() if error is None else failure(call, error)


def _reply(turn: Turn, **about: Any) -> AssistantReply:
    said = next((_said(message) for message in reversed(turn.messages) if message.role == "assistant"), "")
    return AssistantReply(said, turn, turn.usage, turn.model, **about)


def _said(message: Message) -> str:
    """The words of a reply, without the calls that it makes; of one that refuses, the words of that refusal."""
    given = message.given
    said = response_text({"candidates": [{"content": given}]} if message.format == "gemini" else given)
    blocks = [given, *(block for item in given.get("output") or () if is_mapping(item) for block in item.get("content") or ())]
    return said or "".join(block.get("refusal") or "" for block in blocks if is_mapping(block))


def _answered(session: Session, number: int) -> AssistantReply | None:
    """The stored answer to a turn, which makes no calls, or was stopped before the model was done.

    Of a turn that broke off, or was answered together with what the user said meanwhile, it stands in a later one.
    """
    for later in range(number, len(session.turns)):
        turn = session.turn(later)
        messages = list(turn.messages)
        if messages and messages[-1].role == "tool" and _STOPPED.fullmatch(messages[-1].text):
            return _reply(turn, stored=True, stopped="max_rounds")
        if messages and messages[-1].role == "assistant" and not calls_of(messages[-1].given) and not is_paused(messages[-1].given):
            return _reply(turn, stored=True)
    return None
