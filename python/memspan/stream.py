"""Streamed replies, gathered: from the chunks of any of four dialects to the response that the provider would have sent whole.

`Gatherer.feed` takes the chunks of an SDK's stream, their dicts, or bytes of the server-sent events, cut anywhere. Four dialects are
known by their first chunk: OpenAI's chat completions and compatible servers, Anthropic's messages, OpenAI's responses, Gemini's.

A tool call counts once its arguments are whole, or the stream said that it ended. Thinking without its signature is dropped. Of
several choices, and of several finishes, the first counts. Unknown chunks are passed over.

`memspan.reply` stores the reply.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, cast

from memspan._characters import Halves, whole, whole_text
from memspan._fence import is_list, is_mapping, is_whole, kind_of, text_of
from memspan._values import dataclass, field
from memspan.exceptions import Error, InvalidInput, ProviderError
from memspan.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Gatherer", "get", "json_object", "plain", "response_text"]

_MOST_LINE = 64 << 20
_NOT_PYDANTIC = object()


def get(place: Any, name: str) -> Any:
    """A field of a dict or of an SDK's object; `None` where there is none."""
    if isinstance(place, dict):
        return cast("dict[str, Any]", place).get(name)
    extra: Any = getattr(place, "__pydantic_extra__", _NOT_PYDANTIC)
    if extra is _NOT_PYDANTIC:
        return getattr(place, name, None)
    # Asking a pydantic model for a missing field by getattr costs 5 us, and a chunk lacks most of the fields that are asked for.
    value = place.__dict__.get(name)
    return value if value is not None or not extra else extra.get(name)


def plain(value: Any) -> Any:
    """An SDK's object as the JSON that came."""
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json", exclude_unset=True)
    return value


def json_object(text: str) -> dict[str, Any] | None:
    """The object that a text is in JSON; `None` for anything else, and for an object with NaN or a number too large to hold (1e999)."""
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def _no_number(word: str) -> float:
    raise ValueError(word)


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise ValueError(digits)
    return value


def response_text(response: Any) -> str:
    """The texts of a whole response, of any dialect; of an assistant's message alone too."""
    choices, candidates, output = (_items(get(response, name)) for name in ("choices", "candidates", "output"))
    if choices:
        response = get(choices[0], "message")
    elif candidates:
        parts = _items(get(get(candidates[0], "content"), "parts"))
        return "".join(_said(get(part, "text")) for part in parts if not get(part, "thought"))
    elif output:
        return "".join(_texts(get(item, "content")) for item in output if get(item, "type") == "message")
    return _texts(get(response, "content"))


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(_said(get(block, "text")) for block in _items(content) if get(block, "type") in ("text", "output_text"))


def _items(value: Any) -> list[Any]:
    """A list that came, or none. A provider may send anything, so it is neither hashed nor trusted."""
    return value if is_list(value) else []


def _said(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _piece(value: Any) -> str:
    """A piece of a reply; "" where none came."""
    if value is None or isinstance(value, str):
        return value or ""
    raise TypeError(f"a text was expected, and it is a {kind_of(value)}")


def _place(value: Any) -> int:
    """The place of a block; the first where it is not said."""
    if value is None or is_whole(value):
        return value or 0
    raise TypeError(f"a place was expected, and it is a {kind_of(value)}")


def _object(value: Any) -> dict[str, Any]:
    """An object that came, or was left out."""
    found = plain(value)
    if found is None or isinstance(found, dict):
        return cast("dict[str, Any]", found or {})
    raise TypeError(f"an object was expected, and it is a {kind_of(found)}")


class Gatherer:
    """Gathers one reply.

    Attributes:
        text: The reply's text so far.
        finish: Why the reply ended, in the provider's word; `None` while it goes on.
    """

    __slots__ = ("_dialect", "_events", "_halves")

    def __init__(self) -> None:
        self._dialect: _Dialect | None = None
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
                self._dialect = _dialect_of(chunk)
            if (kind := get(chunk, "type")) in (None, "error") and get(chunk, "error"):
                _fail(plain(get(chunk, "error")))
            if kind == "error" and get(chunk, "message"):  # the event of OpenAI's responses, which is the error itself
                _fail(plain(chunk))
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


def _fail(error: Any) -> NoReturn:
    """Raises what a provider says in place of a reply."""
    raise ProviderError(
        f"reading a streamed reply: the provider says that it failed, {str(error)[:500]}: what came is in partial_reply, send the "
        "request again",
        error=error,
        refusal=Refusal.of(error if is_mapping(error) else str(error)),
    )


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


# --- dialects ---------------------------------------------------------------------------------------------------------------------------


@dataclass()
class _Dialect:
    said: list[str] = field(default_factory=list)
    finish: str | None = None
    whole: bool = False

    def take(self, chunk: Any) -> str:
        raise NotImplementedError

    def response(self) -> dict[str, Any]:
        raise NotImplementedError


def _dialect_of(chunk: Any) -> _Dialect | None:
    kind = get(chunk, "type")
    if isinstance(kind, str):
        if kind.startswith("response."):
            return _Responses()
        if kind in ("message_start", "message_delta", "message_stop", "ping") or kind.startswith("content_block_"):
            return _Anthropic()
    if get(chunk, "choices") is not None:
        return _Chat()
    if any(get(chunk, name) is not None for name in ("candidates", "usageMetadata", "usage_metadata", "promptFeedback", "prompt_feedback")):
        return _Gemini()
    if kind == "error" or get(chunk, "error") or isinstance(chunk, dict) or get(chunk, "model_dump") is not None:
        return None
    raise InvalidInput(
        "reading a streamed reply: a chunk is what the SDK's stream yields, its dict, or bytes of the events, got a "
        f"{type(chunk).__name__}: feed what the stream gives"
    )


@dataclass()
class _Call:
    id: str = ""
    name: str = ""
    kind: str = "function"
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        return bool(self.name) and json_object(self.arguments) is not None


@dataclass()
class _Chat(_Dialect):
    """Chat completions."""

    id: str | None = None
    model: str | None = None
    usage: Any = None
    thoughts: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)

    def take(self, chunk: Any) -> str:
        self.id = self.id or get(chunk, "id")
        self.model = self.model or get(chunk, "model")
        usage = get(chunk, "usage")
        if usage is not None:
            self.usage = plain(usage)
        choice = None
        for one in get(chunk, "choices") or ():
            if not get(one, "index"):
                choice = one
                break
        if choice is None:
            return ""
        finish = get(choice, "finish_reason")
        if finish and self.finish is None:
            self.finish, self.whole = str(finish), True
            if usage is None and (own := get(get(chunk, "x_groq"), "usage")) is not None:
                self.usage = plain(own)
        delta = get(choice, "delta")
        return self._delta(get(choice, "message") if delta is None else delta)  # some servers send the last chunk whole

    def _delta(self, delta: Any) -> str:
        for name, kept in (("reasoning_content", self.thoughts), ("refusal", self.refusal)):
            piece = get(delta, name)
            if isinstance(piece, str) and piece:
                kept.append(piece)
        for given in get(delta, "tool_calls") or ():
            self._call(given)
        text = get(delta, "content")
        if isinstance(text, list):  # Mistral's parts
            text = "".join(_said(get(part, "text")) for part in _items(text) if get(part, "type") in (None, "text"))
        if not isinstance(text, str) or not text:
            return ""
        self.said.append(text)
        return text

    def _call(self, given: Any) -> None:
        index, call_id = get(given, "index"), get(given, "id")
        newest = max(self.calls, default=-1)
        if not isinstance(index, int):
            index = newest + 1 if call_id and all(call.id != call_id for call in self.calls.values()) else max(newest, 0)
        known = self.calls.get(index)
        if known is not None and call_id and known.id and call_id != known.id:  # one index for several calls: Gemini's endpoint
            index, known = newest + 1, None
        call = known or self.calls.setdefault(index, _Call())
        call.id = call.id or str(call_id or "")
        custom = get(given, "custom")
        if custom is not None:
            call.kind = "custom"
        function = get(given, "function") if custom is None else custom
        call.name = call.name or str(get(function, "name") or "")
        piece = get(function, "arguments") if custom is None else get(function, "input")
        if isinstance(piece, dict):  # Ollama's own
            piece = json.dumps(piece)
        if isinstance(piece, str) and piece:
            call.pieces.append(piece)

    def response(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.said) or None}
        if self.refusal:
            message["refusal"] = "".join(self.refusal)
        if self.thoughts:
            message["reasoning_content"] = "".join(self.thoughts)
        calls = [call for _, call in sorted(self.calls.items()) if self.whole or call.is_whole()]
        if calls:
            message["tool_calls"] = [_chat_call(call, place, {call.id for call in calls}) for place, call in enumerate(calls)]
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        found: dict[str, Any] = {"id": self.id, "object": "chat.completion", "model": self.model, "choices": [choice]}
        if self.usage is not None:
            found["usage"] = self.usage
        return found


def _chat_call(call: _Call, place: int, taken: set[str]) -> dict[str, Any]:
    key, made = "input" if call.kind == "custom" else "arguments", f"call_{place}"
    while made in taken:
        made += "_"
    return {"id": call.id or made, "type": call.kind, call.kind: {"name": call.name, key: call.arguments}}


@dataclass()
class _Anthropic(_Dialect):
    """Anthropic's messages."""

    message: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    blocks: dict[int, dict[str, Any]] = field(default_factory=dict)
    pieces: dict[int, list[str]] = field(default_factory=dict)
    stopped: set[int] = field(default_factory=set)

    def take(self, chunk: Any) -> str:
        kind = get(chunk, "type")
        if kind == "content_block_delta":
            return self._delta(_place(get(chunk, "index")), get(chunk, "delta"))
        if kind == "message_start":
            started = _object(get(chunk, "message"))
            self.message = {key: started[key] for key in ("id", "type", "role", "model") if key in started}
            self.usage.update(_known(started.get("usage")))
        elif kind == "content_block_start":
            index, block = _place(get(chunk, "index")), dict(_object(get(chunk, "content_block")))
            text = _piece(block.get("text")) if block.get("type") == "text" else ""
            self.blocks[index], self.pieces[index] = block, [text]
            if text:
                self.said.append(text)
                return text
        elif kind == "content_block_stop":
            self.stopped.add(_place(get(chunk, "index")))
        elif kind == "message_delta":
            finish = get(get(chunk, "delta"), "stop_reason")
            if finish and self.finish is None:
                self.finish = str(finish)
            self.usage.update(_known(get(chunk, "usage")))
        elif kind == "message_stop":
            self.whole = self.finish is not None
        return ""

    def _delta(self, index: int, delta: Any) -> str:
        kind = get(delta, "type")
        pieces = self.pieces.setdefault(index, [])
        if kind == "text_delta":
            text = _piece(get(delta, "text"))
            self.blocks.setdefault(index, {"type": "text"})
            pieces.append(text)
            self.said.append(text)
            return text
        if kind == "input_json_delta":
            pieces.append(_piece(get(delta, "partial_json")))
        elif kind == "thinking_delta":
            pieces.append(_piece(get(delta, "thinking")))
        elif kind == "signature_delta":
            block = self.blocks.setdefault(index, {"type": "thinking"})
            block["signature"] = _piece(block.get("signature")) + _piece(get(delta, "signature"))
        elif kind == "citations_delta":
            block = self.blocks.setdefault(index, {"type": "text"})
            block["citations"] = [*_items(block.get("citations")), plain(get(delta, "citation"))]
        return ""

    def response(self) -> dict[str, Any]:
        built = (self._block(index) for index in sorted(self.blocks))
        content = [block for block in built if block is not None]
        found = {"type": "message", "role": "assistant", **self.message, "content": content, "stop_reason": self.finish}
        if self.usage:
            found["usage"] = self.usage
        return found

    def _block(self, index: int) -> dict[str, Any] | None:
        block, joined = dict(self.blocks[index]), "".join(self.pieces.get(index, ()))
        kind = block.get("type")
        if kind == "text":
            return {**block, "text": joined} if joined or self.whole else None
        if kind == "thinking":
            return {**block, "thinking": joined or block.get("thinking", "")} if block.get("signature") else None
        if kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            if not joined:
                return block if index in self.stopped or self.whole else None
            given = json_object(joined)
            if given is None and not (self.whole and index in self.stopped):
                return None
            return {**block, "input": {"input": joined} if given is None else given}
        return block if index in self.stopped or self.whole else None


def _known(usage: Any) -> dict[str, Any]:
    return {key: value for key, value in _object(usage).items() if value is not None}


@dataclass()
class _Responses(_Dialect):
    """OpenAI's responses."""

    ended: dict[str, Any] | None = None
    begun: dict[str, Any] = field(default_factory=dict)
    items: dict[int, dict[str, Any]] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    texts: dict[int, list[str]] = field(default_factory=dict)

    def take(self, chunk: Any) -> str:
        kind = str(get(chunk, "type"))
        if kind in {"response.output_text.delta", "response.refusal.delta"}:
            delta = _piece(get(chunk, "delta"))
            self.texts.setdefault(_place(get(chunk, "output_index")), []).append(delta)
            if kind == "response.refusal.delta":
                return ""
            self.said.append(delta)
            return delta
        if kind in {"response.created", "response.in_progress"}:
            started = _object(get(chunk, "response"))
            self.begun = {key: started[key] for key in ("id", "model", "created_at") if key in started}
        elif kind in {"response.output_item.added", "response.output_item.done"}:
            index = _place(get(chunk, "output_index"))
            self.items[index] = dict(_object(get(chunk, "item")))
            if kind.endswith("done"):
                self.done.add(index)
        elif kind in {"response.completed", "response.incomplete", "response.failed"}:
            self._end(_object(get(chunk, "response")))
        return ""

    def _end(self, response: dict[str, Any]) -> None:
        if self.ended is not None:
            return
        error: Any = response.get("error")
        if response.get("status") == "failed" or error:
            _fail(error)
        reason = _object(response.get("incomplete_details")).get("reason")
        self.ended, self.whole, self.finish = response, True, str(reason or response.get("status") or "completed")

    def response(self) -> dict[str, Any]:
        if self.ended is not None:
            return self.ended
        output = [item for index in sorted({*self.items, *self.texts}) if (item := self._item(index)) is not None]
        return {"object": "response", **self.begun, "status": "incomplete", "output": output}

    def _item(self, index: int) -> dict[str, Any] | None:
        if index in self.done:
            return self.items[index]
        text = "".join(self.texts.get(index, ()))
        if not text:
            return None
        return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]}


@dataclass()
class _Gemini(_Dialect):
    """Gemini's `generateContent`."""

    parts: list[tuple[dict[str, Any], list[str]]] = field(default_factory=list)
    """Each with the pieces of its text, none where it is no text."""
    about: dict[str, Any] = field(default_factory=dict)

    def take(self, chunk: Any) -> str:
        for name, snake in (("responseId", "response_id"), ("modelVersion", "model_version"), ("usageMetadata", "usage_metadata")):
            value = get(chunk, name)
            if value is None:
                value = get(chunk, snake)
            if value is not None:
                self.about[name] = _camel(value) if name == "usageMetadata" else value
        candidate = next((one for one in get(chunk, "candidates") or () if not get(one, "index")), None)
        feedback = get(chunk, "promptFeedback") or get(chunk, "prompt_feedback")
        if feedback is not None:
            blocked = get(feedback, "blockReason") or get(feedback, "block_reason")
            if blocked and self.finish is None:
                self.finish, self.whole = _word(blocked), True
        if candidate is None:
            return ""
        added = "".join(self._part(part) for part in get(get(candidate, "content"), "parts") or ())
        finish = get(candidate, "finishReason") or get(candidate, "finish_reason")
        if finish and self.finish is None:
            self.finish, self.whole = _word(finish), True
        return added

    def _part(self, part: Any) -> str:
        text, thought = get(part, "text"), bool(get(part, "thought"))
        signature = get(part, "thoughtSignature") or get(part, "thought_signature")
        if not isinstance(text, str):
            self.parts.append((_camel(part), []))
            return ""
        last, pieces = self.parts[-1] if self.parts else (dict[str, Any](), list[str]())
        if not pieces or "thoughtSignature" in last or bool(last.get("thought")) != thought:
            last, pieces = {"text": "", **({"thought": True} if thought else {})}, list[str]()
            self.parts.append((last, pieces))
        pieces.append(text)
        if signature:
            last["thoughtSignature"] = _base64(signature)
        if thought:
            return ""
        self.said.append(text)
        return text

    def response(self) -> dict[str, Any]:
        parts = [{**part, "text": "".join(pieces)} if pieces else part for part, pieces in self.parts]
        candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": self.finish}
        return {**self.about, "candidates": [candidate]}


def _word(value: Any) -> str:
    return str(getattr(value, "value", value))


def _base64(value: Any) -> str:
    if isinstance(value, bytes):
        import base64  # noqa: PLC0415  for the one SDK that hands out bytes

        return base64.b64encode(value).decode()
    return str(value)


def _camel(value: Any) -> dict[str, Any]:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return cast("dict[str, Any]", dump(mode="json", by_alias=True, exclude_none=True))
    return dict(_object(value))
