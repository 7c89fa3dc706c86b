"""The common base of every part of a scope: its name, and the store that it is in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, cast

from memspan._flags import shown
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspan import _core
    from memspan._store import OpenStore
    from memspan.long_term import Scope


class ScopePart:
    """A scope without its calls."""

    __slots__ = ("_core", "_store")

    def __init__(self, store: OpenStore, core: _core.ScopeCore) -> None:
        self._store = store
        self._core = core

    @property
    def id(self) -> str:
        """The id that `Engine.user` or `Engine.shared` was given."""
        return self._core.id

    @property
    def tenant(self) -> str | None:
        """The tenant that it belongs to; `None` without one."""
        return self._core.tenant

    @property
    def type(self) -> Literal["user", "shared"]:
        """Whether it is one user's or shared."""
        return self._core.scope_type

    @property
    def _scope(self) -> Scope:
        """The scope that this is a part of."""
        return cast("Scope", self)

    def _with(self, also: Sequence[Scope], doing: str) -> tuple[Scope, ...]:
        if not isinstance(also, (tuple, list)) and (isinstance(also, ScopePart) or not isinstance(also, Iterable)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"{doing}: also= takes several scopes, and it is {shown(also)}: put it into a list")
        return (self._scope, *also)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScopePart) and self._core.is_same(other._core)

    def __hash__(self) -> int:
        return hash((self.type, self.tenant, self.id))

    def __repr__(self) -> str:
        tenant = "" if self.tenant is None else f", tenant={self.tenant!r}"
        return f"Scope({self.type} {self.id!r}{tenant})"
