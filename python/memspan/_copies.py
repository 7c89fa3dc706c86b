"""Copies of objects that hold more than values: a part of the engine, connections, locks. None of them can be pickled, and each says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["of_engine", "of_process"]

_C = TypeVar("_C", bound=type)


def of_engine(instead: str, *, changes: bool = False) -> Callable[[_C], _C]:
    """A class whose objects hold a part of the engine. A copy of one is itself, and pickling one is refused.

    Args:
        instead: The way that a caller has who wants one elsewhere.
        changes: Whether it changes with its use: then a copy is refused too.
    """
    return _holding("a part of the engine", instead, changes)


def of_process(holds: str) -> Callable[[_C], _C]:
    """A class whose objects hold what belongs to their process. A copy of one is itself, and pickling one is refused."""
    return _holding(holds, "make one with the same arguments there", changes=False)


def _holding(holds: str, instead: str, changes: bool) -> Callable[[_C], _C]:
    def make(cls: _C) -> _C:
        rule = f"it must be made of values alone, and it holds {holds}"

        def itself(self: Any, _memo: object = None) -> Any:
            if changes:
                raise InvalidInput(f"copying a {cls.__name__}: {rule}: {instead}")
            return self

        def refuse(_self: object, _protocol: object) -> NoReturn:
            raise InvalidInput(f"pickling a {cls.__name__}: {rule}: {instead}")

        for name, method in (("__copy__", itself), ("__deepcopy__", itself), ("__reduce_ex__", refuse)):
            setattr(cls, name, method)
        return cls

    return make
