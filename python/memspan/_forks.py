"""A fork copies locks and open files, and only one thread. The child gets new locks, and closes the files of the other threads."""

from __future__ import annotations

import _frozen_importlib  # that of `import`, which is always there
import os
import sys
import threading
from typing import Any, Protocol
from weakref import WeakSet

__all__ = ["Lock", "renewed_in_child"]


class _Renewed(Protocol):
    def _renew(self) -> None: ...


_renewed: WeakSet[_Renewed] = WeakSet()


def renewed_in_child(one: _Renewed) -> None:
    """Has `one._renew()` called in every child that is forked while `one` lives."""
    _renewed.add(one)


class Lock:
    """A lock, for `with lock.native:`. In the child of a fork it is free, unless the thread that forked holds it.

    The object of the `with` statement is written in C, so that a signal's handler that raises comes before it is taken or inside of the
    block, and never between. The thread that holds it may take it again: a handler, or a `__del__`, that calls memspan would otherwise wait
    for what it interrupted. So what it guards must be whole, or harmless, behind each step.
    """

    __slots__ = ("__weakref__", "native")

    def __init__(self) -> None:
        self.native = threading.RLock()
        renewed_in_child(self)

    def _renew(self) -> None:
        if self.native.acquire(blocking=False):
            self.native.release()
        else:
            self.native = threading.RLock()


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
