"""Both sides of every comparison behind the same methods: memspan through its public API, and the rival."""

from __future__ import annotations

import tempfile
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import corpus
import memspan
from corpus import HashingEmbedder
from rivals import diy_session, vocabularies
from rivals.diy import Diy

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import tiktoken

    from corpus import Memory

MODEL = "gpt-4o"
LIMIT = 8_000

Synchronous = Literal["full", "normal", "off"]


class Side(Protocol):
    """What can be compared."""

    def remember(self, user: str, text: str) -> object: ...
    def load(self, rows: Sequence[Memory]) -> None: ...
    def recall(self, user: str, query: str, limit: int = 10) -> list[str]: ...
    def conversation(self, user: str, name: str) -> Conversation: ...
    def search(self, user: str, query: str, limit: int = 10) -> list[str]: ...
    def close(self) -> None: ...


class Conversation(Protocol):
    """One conversation of a user. A request is what an SDK's call is given; an empty query asks memory for nothing."""

    def load(self, messages: Sequence[dict[str, str]]) -> None: ...
    def add(self, message: dict[str, str]) -> object: ...
    def request(self, query: str | None = None) -> dict[str, Any]: ...


class MemspanSide:
    """memspan as a user drives it."""

    def __init__(self, folder: Path, *, synchronous: Synchronous = "full") -> None:
        durability: Literal["full", "relaxed"] = "full" if synchronous == "full" else "relaxed"
        self._engine = memspan.open(folder / "store.memspan", embedder=HashingEmbedder(), durability=durability)

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

    def conversation(self, user: str, name: str) -> Conversation:
        return MemspanConversation(self._engine.user(user).session(name, model=MODEL, system=corpus.SYSTEM))

    def search(self, user: str, query: str, limit: int = 10) -> list[str]:
        return [hit.text for hit in self._engine.user(user).search_transcripts(query, limit=limit)]

    def close(self) -> None:
        self._engine.close()


class MemspanConversation:
    """One of memspan's sessions."""

    def __init__(self, session: memspan.Session) -> None:
        self.session = session

    def load(self, messages: Sequence[dict[str, str]]) -> None:
        self.session.add_many(messages)

    def add(self, message: dict[str, str]) -> object:
        return self.session.add(message)

    def request(self, query: str | None = None) -> dict[str, Any]:
        return self.session.assemble(query, max_input_tokens=LIMIT).to_openai()


class DiySide:
    """The rival."""

    def __init__(self, folder: Path, *, synchronous: Synchronous = "full") -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._store = Diy(folder / "memory.db", HashingEmbedder(), synchronous=synchronous)

    def remember(self, user: str, text: str) -> object:
        return self._store.remember(user, text)

    def load(self, rows: Sequence[Memory]) -> None:
        self._store.remember_many((row.user, row.text) for row in rows)

    def recall(self, user: str, query: str, limit: int = 10) -> list[str]:
        return self._store.recall(user, query, limit)

    def conversation(self, user: str, name: str) -> Conversation:
        return DiyConversation(self._store, user, name)

    def search(self, user: str, query: str, limit: int = 10) -> list[str]:
        return diy_session.search(self._store, user, query, limit)

    def close(self) -> None:
        self._store.close()


class DiyConversation:
    """One of the rival's."""

    def __init__(self, store: Diy, user: str, name: str) -> None:
        self._session = diy_session.DiySession(store, user, name, system=corpus.SYSTEM, count=remembered_count())

    def load(self, messages: Sequence[dict[str, str]]) -> None:
        self._session.add_many(messages)

    def add(self, message: dict[str, str]) -> object:
        return self._session.add(message)

    def request(self, query: str | None = None) -> dict[str, Any]:
        return {"model": MODEL, "messages": self._session.context(query, LIMIT), "max_completion_tokens": 4_096}


class OpenSide(Protocol):
    """Opens a side, the rival with what SQLite is to wait for; memspan is durable beside "full" and relaxed beside the others."""

    def __call__(self, folder: Path, *, synchronous: Synchronous = "full") -> Side: ...


SIDES: dict[str, OpenSide] = {"memspan": MemspanSide, "diy": DiySide}


@cache
def oracle() -> tiktoken.Encoding:
    """Tiktoken's encoding of the model."""
    with tempfile.TemporaryDirectory() as folder:
        return vocabularies.openai("o200k_base", Path(folder))


def exact_count() -> Callable[[str], int]:
    """Tiktoken's count, which remembers nothing."""
    encoding = oracle()
    return lambda text: len(encoding.encode_ordinary(text))


@cache
def remembered_count() -> Callable[[str], int]:
    """Tiktoken's count, which remembers what it has counted: memories are recalled more than once."""
    return lru_cache(maxsize=200_000)(exact_count())


def request_texts(request: dict[str, Any]) -> list[list[str]]:
    """The texts of each message."""
    contents = [message["content"] for message in request["messages"]]
    return [[content] if isinstance(content, str) else [part["text"] for part in content] for content in contents]


def request_tokens(request: dict[str, Any]) -> int:
    """What a request of plain messages costs, counted apart from both sides."""
    count = exact_count()
    return 3 + sum(4 + sum(map(count, texts)) for texts in request_texts(request))
