"""A fork copies locks and open files, and only one thread. The child gets new locks, and closes the files of the other threads."""

from __future__ import annotations

import _frozen_importlib  # that of `import`, which is always there
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakSet

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Lock", "renewed_in_child"]


class _Renewed(Protocol):
    def _renew(self) -> None: ...


_renewed: WeakSet[_Renewed] = WeakSet()


def renewed_in_child(one: _Renewed) -> None:
    """Has `one._renew()` called in every child that is forked while `one` lives."""
    _renewed.add(one)


class Lock:
    """A lock for `with`. In the child of a fork it is free, unless the thread that forked holds it."""

    __slots__ = ("__weakref__", "_lock", "_owner")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner: int | None = None
        renewed_in_child(self)

    def __enter__(self) -> None:
        self._lock.acquire()
        self._owner = threading.get_ident()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._owner = None
        self._lock.release()

    def _renew(self) -> None:
        if self._owner != threading.get_ident():
            self._lock, self._owner = threading.Lock(), None


def _is_ours(name: str) -> bool:
    """Whether a module is of this package or of the standard library: one that the child does not itself run in."""
    root, _, rest = name.partition(".")
    return bool(rest) if root == "memspan" else root in sys.stdlib_module_names


def _forget_imports() -> None:
    """Lets the child import what another thread was importing at the fork. Python renews no lock of a module, and keeps it half made."""
    own = threading.get_ident()
    locks: dict[str, Any] = getattr(_frozen_importlib, "_module_locks", {})  # by name, a weak reference to each
    for name, reference in list(locks.items()):
        lock = reference() if _is_ours(name) else None
        if lock is not None and lock.owner != own:
            del locks[name]
            if getattr(getattr(sys.modules.get(name), "__spec__", None), "_initializing", False):
                for half in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
                    del sys.modules[half]


def _renew_all() -> None:
    _forget_imports()
    for one in list(_renewed):
        one._renew()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
