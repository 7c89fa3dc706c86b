"""The four dialects of streams: what their chunks say, and the response that each would have sent whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn, cast

from memspan._fence import is_list, is_mapping, is_whole, kind_of
from memspan._fields import dumped, get, items, json_object, plain, said
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput, ProviderError
from memspan.refusals import Refusal

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass()
class Dialect:
    said: list[str] = field(default_factory=list)
    finish: str | None = None
    whole: bool = False

    def take(self, chunk: Any) -> str:
        raise NotImplementedError

    def response(self) -> dict[str, Any]:
        raise NotImplementedError


def dialect_of(chunk: Any) -> Dialect | None:
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


def fail(error: Any) -> NoReturn:
    """Raises what a provider says in place of a reply."""
    raise ProviderError(
        f"reading a streamed reply: the provider says that it failed, {str(error)[:500]}: what came is in partial_reply, send the "
        "request again",
        error=error,
        refusal=Refusal.of(error if is_mapping(error) else str(error)),
    )


@dataclass()
class _Call:
    index: int | None = None
    id: str = ""
    name: str = ""
    kind: str = "function"
    pieces: list[str] = field(default_factory=list)
    signed: Any = None
    """Its `extra_content`, which Google wants back."""

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)

    def is_whole(self) -> bool:
        return bool(self.name) and json_object(self.arguments) is not None


@dataclass()
class _Parts:
    """A content that is a list of parts, as Mistral sends it, from its pieces: text, thinking, references.

    Neighbouring texts are one, and so is neighbouring thinking. Parts of other types are passed over.
    """

    kept: list[tuple[dict[str, Any], list[str] | _Parts | None]] = field(default_factory=list)
    """The fields of each part, and the pieces of its text, or its thinking."""

    def add(self, part: Any) -> str:
        """Takes a piece of a part; the text that it adds."""
        kind = get(part, "type")
        if kind in (None, "text"):
            return self.say(said(get(part, "text")))
        given = plain(part) if kind in ("thinking", "reference") else None
        if not is_mapping(given):
            return ""
        if kind == "reference":
            self.kept.append(({**given}, None))
        elif is_list(thinking := given.get("thinking")):
            self._think(given, thinking)
        return ""

    def _think(self, given: Mapping[str, Any], thinking: list[Any]) -> None:
        fields, inner = self.kept[-1] if self.kept else ({}, None)
        if not isinstance(inner, _Parts):
            fields, inner = dict[str, Any](), _Parts()
            self.kept.append((fields, inner))
        fields.update(given)
        for piece in thinking:
            inner.add(piece)

    def say(self, text: str) -> str:
        """Takes a piece of a text, and gives it back."""
        if text:
            pieces = self.kept[-1][1] if self.kept else None
            if not isinstance(pieces, list):
                pieces = list[str]()
                self.kept.append(({"type": "text"}, pieces))
            pieces.append(text)
        return text

    def is_text(self) -> bool:
        return all(isinstance(pieces, list) for _, pieces in self.kept)

    def whole(self) -> list[dict[str, Any]]:
        """The parts as a whole reply has them."""
        return [_whole_part(fields, pieces) for fields, pieces in self.kept]


def _whole_part(fields: dict[str, Any], pieces: list[str] | _Parts | None) -> dict[str, Any]:
    if isinstance(pieces, _Parts):
        return {**fields, "thinking": pieces.whole()}
    return fields if pieces is None else {**fields, "text": "".join(pieces)}


@dataclass()
class _Chat(Dialect):
    """Chat completions."""

    id: str | None = None
    model: str | None = None
    usage: Any = None
    thoughts: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, _Call] = field(default_factory=dict)
    parts: _Parts = field(default_factory=_Parts)

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
            text = "".join([self.parts.add(part) for part in items(text)])
        elif isinstance(text, str):
            self.parts.say(text)
        if not isinstance(text, str) or not text:
            return ""
        self.said.append(text)
        return text

    def _call(self, given: Any) -> None:
        index, call_id = get(given, "index"), get(given, "id")
        index = index if isinstance(index, int) else None
        call = self.calls.setdefault(self._place(index, call_id), _Call(index))
        call.id = call.id or str(call_id or "")
        custom = get(given, "custom")
        if custom is not None:
            call.kind = "custom"
        function = get(given, "function") if custom is None else custom
        call.name = call.name or str(get(function, "name") or "")
        call.signed = call.signed or plain(get(given, "extra_content"))
        piece = get(function, "arguments") if custom is None else get(function, "input")
        if isinstance(piece, dict):  # Ollama's own
            piece = json.dumps(piece)
        if isinstance(piece, str) and piece:
            call.pieces.append(piece)

    def _place(self, index: int | None, call_id: Any) -> int:
        """The place of the call that a piece belongs to: by its index, and by its id where a server gives one index to several calls."""
        places = [place for place, call in self.calls.items() if index in (None, call.index)]
        known = next((place for place in places if call_id and self.calls[place].id == call_id), None)
        if known is not None:
            return known
        if places and not (call_id and self.calls[places[-1]].id):
            return places[-1]
        return max(self.calls, default=-1) + 1 if index is None or index in self.calls else index

    def response(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.said) or None}
        if self.refusal:
            message["refusal"] = "".join(self.refusal)
        if self.thoughts:
            message["reasoning_content"] = "".join(self.thoughts)
        calls = [call for _, call in sorted(self.calls.items()) if self.whole or call.is_whole()]
        if calls:
            message["tool_calls"] = [_chat_call(call, place, {call.id for call in calls}) for place, call in enumerate(calls)]
        if self.whole and not calls and not self.refusal:
            message["content"] = "".join(self.said)  # as a whole reply has it that says nothing
        if not self.parts.is_text():
            message["content"] = self.parts.whole()
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        found: dict[str, Any] = {"id": self.id, "object": "chat.completion", "model": self.model, "choices": [choice]}
        if self.usage is not None:
            found["usage"] = self.usage
        return found


def _chat_call(call: _Call, place: int, taken: set[str]) -> dict[str, Any]:
    key, made = "input" if call.kind == "custom" else "arguments", f"call_{place}"
    while made in taken:
        made += "_"
    said = {"id": call.id or made, "type": call.kind, call.kind: {"name": call.name, key: call.arguments}}
    return {**said, "extra_content": call.signed} if call.signed else said


@dataclass()
class _Anthropic(Dialect):
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
            begun = _piece(block.get(block["type"])) if block.get("type") in ("text", "thinking") else ""
            self.blocks[index], self.pieces[index] = block, [begun]
            if begun and block["type"] == "text":
                self.said.append(begun)
                return begun
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
            block["citations"] = [*items(block.get("citations")), plain(get(delta, "citation"))]
        elif kind == "compaction_delta":
            block = self.blocks.setdefault(index, {"type": "compaction"})
            block["content"] = _piece(block.get("content")) + _piece(get(delta, "content"))
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
            return {**block, "thinking": joined} if block.get("signature") else None
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
class _Responses(Dialect):
    """OpenAI's responses."""

    ended: dict[str, Any] | None = None
    begun: dict[str, Any] = field(default_factory=dict)
    items: dict[int, dict[str, Any]] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)
    texts: dict[int, list[str]] = field(default_factory=dict)
    refusals: dict[int, list[str]] = field(default_factory=dict)

    def take(self, chunk: Any) -> str:
        kind = str(get(chunk, "type"))
        if kind in {"response.output_text.delta", "response.refusal.delta"}:
            delta, refuses = _piece(get(chunk, "delta")), kind == "response.refusal.delta"
            (self.refusals if refuses else self.texts).setdefault(_place(get(chunk, "output_index")), []).append(delta)
            if refuses:
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
            fail(error)
        reason = _object(response.get("incomplete_details")).get("reason")
        self.ended, self.whole, self.finish = response, True, str(reason or response.get("status") or "completed")

    def response(self) -> dict[str, Any]:
        if self.ended is not None:
            return self.ended
        output = [item for index in sorted({*self.items, *self.texts, *self.refusals}) if (item := self._item(index)) is not None]
        return {"object": "response", **self.begun, "status": "incomplete", "output": output}

    def _item(self, index: int) -> dict[str, Any] | None:
        if index in self.done:
            return self.items[index]
        text, refusal = "".join(self.texts.get(index, ())), "".join(self.refusals.get(index, ()))
        said: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}] if text else []
        refused = [{"type": "refusal", "refusal": refusal}] if refusal else []
        return {"type": "message", "role": "assistant", "content": said + refused} if said or refused else None


@dataclass()
class _Gemini(Dialect):
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
    if callable(getattr(value, "model_dump", None)):
        return cast("dict[str, Any]", dumped(value, by_alias=True))
    return dict(_object(value))


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
