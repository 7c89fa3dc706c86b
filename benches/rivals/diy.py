"""The rival: what a good engineer writes with SQLite in an afternoon, tuned with care.

sqlite-vec for the vectors (one partition a user), FTS5 for the words, reciprocal rank fusion of the two, tiktoken for the budget.
Durable like memspan's default: WAL with synchronous=FULL, one transaction a write. Tuned at 100,000 memories of 100 users, each choice
against its alternatives in one run: a range of row numbers for each user makes FTS5 a quarter faster than the user as an indexed term;
vectors in vec0 take a third of the time of blobs in a table, and int8 ones more time than float32; chunks of 128 load seven times as
fast as the default of 1,024, and search as fast. What it does with conversations is in `diy_session.py`, in the same file on disk.
"""

from __future__ import annotations

import re
import threading
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlite_vec

try:  # a Python that was built without loadable extensions cannot use its own SQLite
    import pysqlite3 as sqlite3
except ImportError:
    import sqlite3

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np

CANDIDATES = 30
RRF_K = 60
FRAME = 4  # tokens of a chat message around its text
REPLY = 3  # tokens that begin the reply
ROOM = 1_500  # tokens of recalled memories
BATCH = 1_000
USER_BITS = 32
_WORDS = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_SCHEMA = """
create table if not exists users(number integer primary key, name text not null unique);
create table if not exists memory(id integer primary key, text text not null, created_at text not null default current_timestamp);
create virtual table if not exists words using fts5(text, content='', contentless_delete=1, tokenize='unicode61');
create virtual table if not exists vectors using
    vec0(user integer partition key, embedding float[{dimensions}] distance_metric=cosine, chunk_size=128);
create table if not exists sessions(number integer primary key, user integer not null, name text not null, unique(user, name));
create table if not exists message(
    id integer primary key, session integer not null, role text not null, content text not null, tokens integer not null,
    created_at text not null default current_timestamp);
create index if not exists message_of_session on message(session, id);
create virtual table if not exists said using fts5(text, content='', contentless_delete=1, tokenize='unicode61');
"""


class Diy:
    """One SQLite file, one connection a thread.

    Args:
        path: The file; made where there is none.
        embedder: The same object that memspan is given.
        synchronous: What SQLite waits for. "full": what was committed is on disk. "normal": a power cut undoes all commits since the last
            checkpoint. "off": it may also damage the file.
    """

    def __init__(self, path: str | Path, embedder: Any, *, synchronous: str = "full") -> None:
        self._path = Path(path)
        self._embedder = embedder
        self._synchronous = synchronous
        self._local = threading.local()
        self._connections: list[Any] = []
        self.connection().executescript(_SCHEMA.format(dimensions=embedder.dimensions))

    def remember(self, user: str, text: str) -> int:
        """Stores one memory; on disk when it returns."""
        [vector] = self._embedder.embed([text])
        connection = self.connection()
        connection.execute("begin immediate")
        try:
            row = self._insert(connection, self._newest(connection, user) + 1, text, vector)
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
        return row

    def remember_many(self, rows: Iterable[tuple[str, str]]) -> None:
        """Stores (user, text) rows, a thousand a transaction, embedded a thousand at a time."""
        connection = self.connection()
        batch = list(rows)
        for start in range(0, len(batch), BATCH):
            chunk = sorted(batch[start : start + BATCH], key=itemgetter(0))  # FTS5 flushes whenever row numbers fall
            vectors = self._embedder.embed([text for _, text in chunk])
            connection.execute("begin immediate")
            try:
                newest: dict[str, int] = {}
                for (user, text), vector in zip(chunk, vectors, strict=True):
                    row = newest.get(user) or self._newest(connection, user)
                    newest[user] = self._insert(connection, row + 1, text, vector)
            except BaseException:
                connection.execute("rollback")
                raise
            connection.execute("commit")

    def recall(self, user: str, query: str, limit: int = 10) -> list[str]:
        """The texts that answer best, by reciprocal rank fusion of both searches."""
        connection = self.connection()
        number = self._user(connection, user)
        if number is None:
            return []
        [vector] = self._embedder.embed([query])
        near = connection.execute(
            "select rowid from vectors where embedding match ? and k = ? and user = ?", (vector.tobytes(), CANDIDATES, number)
        ).fetchall()
        words = any_word(query)
        first = number << USER_BITS
        said = (
            connection.execute(
                "select rowid from words where words match ? and rowid between ? and ? order by rank limit ?",
                (words, first, first + (1 << USER_BITS) - 1, CANDIDATES),
            ).fetchall()
            if words
            else []
        )
        scores: dict[int, float] = {}
        for ranked in (near, said):
            for rank, (number,) in enumerate(ranked, 1):
                scores[number] = scores.get(number, 0.0) + 1 / (RRF_K + rank)
        best = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        marks = ",".join("?" * len(best))
        texts = dict(connection.execute(f"select id, text from memory where id in ({marks})", best))
        return [texts[number] for number in best]

    def context(
        self,
        user: str,
        query: str,
        system: str,
        messages: Sequence[dict[str, str]],
        *,
        count: Callable[[str], int],
        max_tokens: int = 8_000,
    ) -> list[dict[str, str]]:
        """System prompt, recalled memories (at most 1,500 tokens), then the newest messages that fit; `count` is tiktoken's."""
        left = max_tokens - count(system) - FRAME - REPLY
        lines = self.lines(user, query, min(ROOM, left), count)
        left -= sum(tokens for _, tokens in lines)
        kept: list[dict[str, str]] = []
        for message in reversed(messages):
            tokens = count(message["content"]) + FRAME
            if tokens > left:
                break
            left -= tokens
            kept.append(message)
        return [{"role": "system", "content": "\n".join([system, *(line for line, _ in lines)])}, *reversed(kept)]

    def lines(self, user: str, query: str, room: int, count: Callable[[str], int]) -> list[tuple[str, int]]:
        """What is recalled, as lines of the system prompt with their tokens: the best until `room` is full."""
        lines = []
        for text in self.recall(user, query):
            tokens = count(text) + 3
            if tokens > room:
                break
            room -= tokens
            lines.append((f"- {text}", tokens))
        return lines

    def user(self, name: str) -> int:
        """The number of a user, new or not; within the caller's transaction."""
        connection = self.connection()
        number = self._user(connection, name)
        return number if number is not None else connection.execute("insert into users(name) values (?)", (name,)).lastrowid

    def texts(self, user: str) -> list[str]:
        """Every memory of a user, oldest first."""
        connection = self.connection()
        first = (self._user(connection, user) or 0) << USER_BITS
        rows = connection.execute("select text from memory where id between ? and ? order by id", (first, first + (1 << USER_BITS) - 1))
        return [text for (text,) in rows] if first else []

    def close(self) -> None:
        """Closes the connections of all threads."""
        for connection in self._connections:
            connection.close()

    def _newest(self, connection: Any, user: str) -> int:
        """The number of a user's newest memory: neighbouring numbers let FTS5 and the table read one range."""
        first: int = self.user(user) << USER_BITS
        [newest] = connection.execute(
            "select max(id) from memory where id between ? and ?", (first, first + (1 << USER_BITS) - 1)
        ).fetchone()
        return newest or first

    def _insert(self, connection: Any, row: int, text: str, vector: np.ndarray) -> int:
        connection.execute("insert into memory(id, text) values (?, ?)", (row, text))
        connection.execute("insert into words(rowid, text) values (?, ?)", (row, text))
        connection.execute("insert into vectors(rowid, user, embedding) values (?, ?, ?)", (row, row >> USER_BITS, vector.tobytes()))
        return row

    def _user(self, connection: Any, name: str) -> int | None:
        row = connection.execute("select number from users where name = ?", (name,)).fetchone()
        return row[0] if row else None

    def connection(self) -> Any:
        """This thread's connection, opened and tuned at its first use."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(str(self._path), isolation_level=None, timeout=30, check_same_thread=False, cached_statements=64)
            if not hasattr(connection, "enable_load_extension"):
                raise RuntimeError("this Python's SQLite cannot load extensions: pip install pysqlite3-binary")
            connection.enable_load_extension(True)
            sqlite_vec.load(connection)
            connection.enable_load_extension(False)
            synchronous = f"synchronous={self._synchronous}"
            for pragma in ("journal_mode=wal", synchronous, "mmap_size=1073741824", "cache_size=-65536", "temp_store=memory"):
                connection.execute(f"pragma {pragma}")
            self._local.connection = connection
            self._connections.append(connection)
        return connection


def any_word(query: str) -> str:
    """The query as FTS5 reads it: any of its words."""
    return " OR ".join(f'"{word}"' for word in dict.fromkeys(_WORDS.findall(query)))
