"""Short-term memory: a `Session` is one conversation, its transcript, its tasks and the prompts that are made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspan import _core
from memspan._copies import of_engine
from memspan._fence import fenced
from memspan._results import Added, ToolText
from memspan._session.calls import Calls
from memspan._session.compaction import Compacting
from memspan._twins import awaitable
from memspan.compaction.values import ModelSwitch
from memspan.new_message import NewMessage
from memspan.task import Task

if TYPE_CHECKING:
    from memspan.working import Budget

__all__ = ["Added", "ModelSwitch", "NewMessage", "Session", "ToolText", "set_policy"]


@of_engine("take it by its id from the engine there")
@fenced
class Session(Calls, Compacting):
    """One conversation of a scope. Made by `Scope.session`. Everything about it is in the store, and is read anew at each use.

    Any number of handles, threads and processes may use one session: writes are ordered, `expect_index` and a prompt's age show
    who was first. Methods that begin with an `a` are awaitable twins of those without it.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o", system="You are terse.")
        >>> session.add({"role": "user", "content": "which port does payments-api use?"})
        Added(index=0, tokens=11, action='added', turn=0)
        >>> prompt = session.assemble()
        >>> reply = {"role": "assistant", "content": "8443"}  # client.chat.completions.create(**prompt.to_openai())
        >>> session.add_response(reply, prompt=prompt)
        Turn(0, messages 0..2, 1 calls, model=None)
    """

    __slots__ = ()

    def fork(self, new_id: str, *, at: int | None = None) -> Session:
        """Copies the session under another id; from then on the two go their own ways, but that `redact` reaches every copy of a message.

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

    def delete(self) -> None:
        """Deletes the session with everything in it. Its id is free again. Forks keep what they copied."""
        self._core.delete()

    def task(self, name: str, *, ttl_seconds: float | None = None) -> Task:
        """The state of a task, to be used in a `with` or `async with` block, which clears it at its end.

        Args:
            name: 1 to 1,024 bytes of UTF-8.
            ttl_seconds: Seconds until it is over, counted anew from each write; above 0 and at most 100 years.
        """
        return Task(_core.TaskCore(self._core, name, ttl_seconds), self._core)

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks that are not over, for `task`, sorted.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> session.task("review").set("plan", "read the diff")
            >>> session.tasks
            ('review',)
        """
        return tuple(sorted(self._core.tasks()))

    adelete = awaitable(delete)
    afork = awaitable(fork)
    aend = awaitable(end)


def set_policy(core: _core.SessionCore, budget: Budget) -> None:
    """Stores when a session is to be compacted and how much of a tool result it shows."""
    compact, results = budget.compact, budget.tool_results
    at, every = (None, 0) if compact is None else (compact.at, compact.every_turns or 0)
    core.set_policy(at, every, 0 if results is None else results.max_tokens)
