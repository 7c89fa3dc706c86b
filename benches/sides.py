"""Both sides of every comparison behind the same five methods: memspan through its public API, and the rival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import memspan
from corpus import HashingEmbedder
from rivals.diy import Diy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from corpus import Memory


class Side(Protocol):
    """What can be compared."""

    def remember(self, user: str, text: str) -> object: ...
    def load(self, rows: Sequence[Memory]) -> None: ...
    def recall(self, user: str, query: str, limit: int = 10) -> list[str]: ...
    def close(self) -> None: ...


class MemspanSide:
    """memspan as a user drives it."""

    def __init__(self, folder: Path) -> None:
        self._engine = memspan.open(folder / "store.memspan", embedder=HashingEmbedder())

    def remember(self, user: str, text: str) -> object:
        return self._engine.user(user).remember(text)

    def load(self, rows: Sequence[Memory]) -> None:
        by_user: dict[str, list[str]] = {}
        for row in rows:
            by_user.setdefault(row.user, []).append(row.text)
        for user, texts in by_user.items():
            self._engine.user(user).remember_many(texts)

    def recall(self, user: str, query: str, limit: int = 10) -> list[str]:
        return [hit.memory.text for hit in self._engine.user(user).recall(query, limit=limit)]

    def close(self) -> None:
        self._engine.close()


class DiySide:
    """The rival."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._store = Diy(folder / "memory.db", HashingEmbedder())

    def remember(self, user: str, text: str) -> object:
        return self._store.remember(user, text)

    def load(self, rows: Sequence[Memory]) -> None:
        self._store.remember_many((row.user, row.text) for row in rows)

    def recall(self, user: str, query: str, limit: int = 10) -> list[str]:
        return self._store.recall(user, query, limit)

    def close(self) -> None:
        self._store.close()


SIDES: dict[str, Callable[[Path], Side]] = {"memspan": MemspanSide, "diy": DiySide}
