"""The common base of every part of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from memspan._store import OpenStore
    from memspan.engine import Engine


def _now() -> datetime:
    from datetime import UTC, datetime  # noqa: PLC0415  the engine has a clock of its own: this is for what Python does by itself

    return datetime.now(UTC)


class EnginePart:
    """An engine without its calls."""

    __slots__ = ("__weakref__", "_clock", "_core", "_store", "_timeout_seconds")

    def __init__(self, store: OpenStore, timeout_seconds: float | None = None, clock: Callable[[], datetime] | None = None) -> None:
        self._clock = clock or _now
        self._store = store
        self._core = store.core
        self._timeout_seconds = timeout_seconds

    @property
    def _engine(self) -> Engine:
        """The engine that this is a part of."""
        return cast("Engine", self)

    @property
    def path(self) -> Path:
        """The store's folder, with symbolic links resolved."""
        return self._core.path

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._core.closed

    def __repr__(self) -> str:
        return f"Engine({str(self.path)!r}{', closed' if self.closed else ''})"
