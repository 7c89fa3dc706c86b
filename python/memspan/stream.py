"""Streamed replies, gathered: from the chunks of any of four dialects to the response that the provider would have sent whole.

`Gatherer.feed` takes the chunks of an SDK's stream, their dicts, or bytes of the server-sent events, cut anywhere. Four dialects are
known by their first chunk: OpenAI's chat completions and compatible servers, Anthropic's messages, OpenAI's responses, Gemini's.

A tool call counts once its arguments are whole, or the stream said that it ended. Thinking without its signature is dropped. Of
several choices, and of several finishes, the first counts. Unknown chunks are passed over.

`memspan.reply` stores the reply.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memspan._characters import Halves, whole, whole_text
from memspan._dialects import dialect_of, fail
from memspan._fence import kind_of, text_of
from memspan._fields import get, items, plain, said
from memspan.exceptions import Error, InvalidInput, ProviderError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspan._dialects import Dialect

__all__ = ["Gatherer", "response_text"]

_MOST_LINE = 64 << 20


def response_text(response: Any) -> str:
    """The texts of a whole response, of any dialect; of an assistant's message alone too."""
    choices, candidates, output = (items(get(response, name)) for name in ("choices", "candidates", "output"))
    if choices:
        response = get(choices[0], "message")
    elif candidates:
        parts = items(get(get(candidates[0], "content"), "parts"))
        return "".join(said(get(part, "text")) for part in parts if not get(part, "thought"))
    elif output:
        return "".join(_texts(get(item, "content")) for item in output if get(item, "type") == "message")
    return _texts(get(response, "content"))


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(said(get(block, "text")) for block in items(content) if get(block, "type") in ("text", "output_text"))


class Gatherer:
    """Gathers one reply.

    Attributes:
        text: The reply's text so far.
        finish: Why the reply ended, in the provider's word; `None` while it goes on.
    """

    __slots__ = ("_dialect", "_events", "_halves")

    def __init__(self) -> None:
        self._dialect: Dialect | None = None
        self._events = _Events()
        self._halves = Halves()

    @property
    def text(self) -> str:
        """The reply's text so far."""
        return "" if self._dialect is None else whole_text("".join(self._dialect.said))

    @property
    def finish(self) -> str | None:
        """Why the reply ended."""
        return None if self._dialect is None else self._dialect.finish

    @property
    def started(self) -> bool:
        """Whether anything came that a reply is made of."""
        return self._dialect is not None

    @property
    def finished(self) -> bool:
        """Whether the provider said that the reply is whole."""
        return self._dialect is not None and self._dialect.whole

    def feed(self, chunk: Any) -> str:
        """Takes one chunk; the text that it added.

        Raises:
            ProviderError: The chunk says that the reply failed.
            InvalidInput: It is not a chunk of a stream.
        """
        if isinstance(chunk, bytes | bytearray | str):
            return "".join(self._take(event) for event in self._events.split(chunk))
        return self._take(chunk)

    def response(self) -> dict[str, Any]:
        """The response as far as it came, in its provider's shape."""
        if self._dialect is None:
            raise InvalidInput("ending a stream: at least one chunk must have come, and none has: send the request again")
        try:
            response: dict[str, Any] = whole(self._dialect.response())
        except Exception as wrong:
            raise _misread(self.text, wrong) from wrong
        return response

    def _take(self, chunk: Any) -> str:
        try:
            if self._dialect is None:
                self._dialect = dialect_of(chunk)
            if (kind := get(chunk, "type")) in (None, "error") and get(chunk, "error"):
                fail(plain(get(chunk, "error")))
            if kind == "error" and get(chunk, "message"):  # the event of OpenAI's responses, which is the error itself
                fail(plain(chunk))
            return "" if self._dialect is None else self._halves.take(self._dialect.take(chunk))
        except Exception as wrong:
            if isinstance(wrong, Error):
                raise
            raise _misread(chunk, wrong) from wrong


def _misread(given: object, wrong: Exception) -> ProviderError:
    """The error for what a provider sent, where reading it raised: the fence around whatever may come."""
    return ProviderError(
        f"reading a streamed reply: a chunk must have the shape of its dialect, got {_shown(given)} ({type(wrong).__name__}: "
        f"{text_of(wrong)}): what came is in partial_reply, send the request again"
    )


def _shown(given: object) -> str:
    try:
        return str(plain(given))[:200].encode("utf-8", "replace").decode()
    except Exception:  # noqa: BLE001  nested too deep, or an SDK's object that cannot say what it is
        return f"a {kind_of(given)}"


# --- server-sent events -----------------------------------------------------------------------------------------------------------------


class _Events:
    """Cuts bytes into the JSON of `data:` lines; a line that is not whole waits for the rest."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = bytearray()  # which grows without being copied by each piece

    def split(self, piece: bytes | bytearray | str) -> Iterator[Any]:
        self._rest += whole_text(piece).encode() if isinstance(piece, str) else piece
        if len(self._rest) > _MOST_LINE:
            raise InvalidInput(f"reading a streamed reply: an event may have {_MOST_LINE:,} bytes, and one has more: end the stream")
        if b"\n" not in piece if not isinstance(piece, str) else "\n" not in piece:
            return
        *lines, self._rest = self._rest.split(b"\n")
        for line in lines:
            data = line.strip()
            if not data.startswith(b"data:"):
                continue
            body = bytes(data[5:].strip())
            if body == b"[DONE]":
                continue
            try:
                yield json.loads(body)
            except (ValueError, RecursionError) as error:
                raise ProviderError(
                    f"reading a streamed reply: an event must be JSON, got {body[:200]!r}: what came is in partial_reply, send the request "
                    "again"
                ) from error
