"""Conversations in the rival's file: what the same good engineer adds the next afternoon.

A table of messages with the tokens of each, counted once by tiktoken when it is stored; FTS5 over the texts; one transaction a message.
A prompt walks from the newest message back and stops when it is full: SQLite steps over the index as far as it is asked to, so that
this one, too, costs what the window costs, whatever the length of the history. Numbers of messages run in a range for each user, as
those of memories do, and for the same reason.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from rivals.diy import BATCH, FRAME, REPLY, ROOM, USER_BITS, any_word

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rivals.diy import Diy


class DiySession:
    """One conversation of one user.

    Args:
        store: Whose file it is in.
        user: Whose conversation it is.
        name: Unique for the user.
        system: The system prompt.
        count: tiktoken's count of a text. It is given one that remembers what it has counted.
    """

    def __init__(self, store: Diy, user: str, name: str, *, system: str, count: Callable[[str], int]) -> None:
        self._store = store
        self._user = user
        self._system = system
        self._count = count
        connection = store.connection()
        self._first = store.user(user) << USER_BITS
        connection.execute("insert or ignore into sessions(user, name) values (?, ?)", (self._first, name))
        [self._number] = connection.execute("select number from sessions where user = ? and name = ?", (self._first, name)).fetchone()

    def add(self, message: dict[str, str]) -> int:
        """Stores one message; on disk when it returns."""
        return self._add([message], [self._tokens(message)])

    def add_many(self, messages: Sequence[dict[str, str]]) -> None:
        """Stores messages, a thousand a transaction."""
        for start in range(0, len(messages), BATCH):
            chunk = messages[start : start + BATCH]
            self._add(chunk, [self._tokens(message) for message in chunk])

    def context(self, query: str | None = None, max_tokens: int = 8_000) -> list[dict[str, str]]:
        """System prompt, memories recalled for the query (by default the newest user message), then the newest messages that fit."""
        newest = self._newest_first()
        ahead = []
        if query is None:
            for role, content, tokens in newest:
                ahead.append((role, content, tokens))
                if role == "user":
                    query = content
                    break
        left = max_tokens - self._count(self._system) - FRAME - REPLY
        lines = self._store.lines(self._user, query, min(ROOM, left), self._count) if query else []
        left -= sum(tokens for _, tokens in lines)
        kept = []
        for role, content, tokens in chain(ahead, newest):
            left -= tokens
            if left < 0:
                break
            kept.append({"role": role, "content": content})
        kept.append({"role": "system", "content": "\n".join([self._system, *(line for line, _ in lines)])})
        kept.reverse()
        return kept

    def _tokens(self, message: dict[str, str]) -> int:
        return self._count(message["content"]) + FRAME

    def _newest_first(self) -> Any:
        return self._store.connection().execute(
            "select role, content, tokens from message where session = ? order by id desc", (self._number,)
        )

    def _add(self, messages: Sequence[dict[str, str]], tokens: Sequence[int]) -> int:
        connection = self._store.connection()
        connection.execute("begin immediate")
        try:
            [newest] = connection.execute(
                "select max(id) from message where id between ? and ?", (self._first, self._first + (1 << USER_BITS) - 1)
            ).fetchone()
            row: int = newest or self._first
            for message, count in zip(messages, tokens, strict=True):
                row += 1
                connection.execute(
                    "insert into message(id, session, role, content, tokens) values (?, ?, ?, ?, ?)",
                    (row, self._number, message["role"], message["content"], count),
                )
                connection.execute("insert into said(rowid, text) values (?, ?)", (row, message["content"]))
        except BaseException:
            connection.execute("rollback")
            raise
        connection.execute("commit")
        return row


def search(store: Diy, user: str, query: str, limit: int = 10) -> list[str]:
    """The texts of this user's messages, of all conversations, that have words of the query; the best by BM25 first."""
    words = any_word(query)
    if not words:
        return []
    first = store.user(user) << USER_BITS
    rows = store.connection().execute(
        "select content from (select rowid as at, rank as score from said where said match ? and rowid between ? and ? "
        "order by rank limit ?) join message on message.id = at order by score",
        (words, first, first + (1 << USER_BITS) - 1, limit),
    )
    return [content for (content,) in rows]
