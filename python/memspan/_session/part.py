"""The common base of every part of a session: its scope, its id and its settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memspan.session_tools import SessionTools
from memspan.transcript import Messages, Turn, Turns
from memspan.versions import Versions
from memspan.working import stored_budget

if TYPE_CHECKING:
    from datetime import datetime

    from memspan import _core
    from memspan._store import OpenStore
    from memspan.long_term import Scope
    from memspan.short_term import Session
    from memspan.working import Budget, ToolResults


class SessionPart:
    """A session without its calls."""

    __slots__ = ("_answered", "_core", "_results", "_scope", "_store")

    def __init__(self, store: OpenStore, scope: Scope, core: _core.SessionCore, results: ToolResults | None = None) -> None:
        self._results = results
        self._store = store
        self._scope = scope
        self._core = core
        self._answered: tuple[Turn, tuple[int, int]] | None = None  # the turn of the last reply added here, and its mark

    @property
    def _session(self) -> Session:
        """The session that this is a part of."""
        return cast("Session", self)

    @property
    def id(self) -> str:
        """The id that `Scope.session` was given."""
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
        """The tool schemas of its present epoch, as they were given.

        Called with names, it gives the schemas of the tools by which a model uses this memory.

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
        """The limits of its prompts: the last `Scope.session(budget=)`, or the defaults.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=8_000))
            >>> session.budget == memspan.Budget(max_input_tokens=8_000), user.session("s-1").budget.max_input_tokens
            (True, 8000)
        """
        return stored_budget(self._core.budget())

    @property
    def metadata(self) -> dict[str, Any]:
        """Your own mapping (`Scope.session(metadata=)`); no model ever sees it."""
        return self._core.metadata()

    @property
    def messages(self) -> Messages:
        """Its messages as they were given: a view that reads only the messages you look at."""
        return Messages(self._core)

    @property
    def turns(self) -> Turns:
        """Its turns: a view like `messages`."""
        return Turns(self._core)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SessionPart) and self._core.is_same(other._core)

    def __hash__(self) -> int:
        return hash((self._scope, self.id))

    def __repr__(self) -> str:
        return f"Session({self.id!r} of {self._scope!r})"
