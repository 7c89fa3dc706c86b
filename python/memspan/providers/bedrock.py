"""`Bedrock`: Amazon's Converse, which is Anthropic's messages in other words. `converse` has the words of content."""

from __future__ import annotations

import base64
import importlib
from typing import TYPE_CHECKING, Any

from memspan import InvalidInput, ProviderError, UnknownModel, models
from memspan._copies import of_process
from memspan.providers.converse import LONGEST_NAME, Content, with_cache_points
from memspan.providers.provider import Provider
from memspan.providers.thinking import without_thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memspan import Prompt

__all__ = ["Bedrock"]

_CACHING = frozenset({"anthropic", "amazon"})
"""The vendors whose models take cache points; the others refuse them."""
_USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadInputTokens": "cache_read_input_tokens",
    "cacheWriteInputTokens": "cache_creation_input_tokens",
}


@of_process("connections")
class Bedrock(Provider):
    """Amazon Bedrock's Converse. Replies have the shape of Anthropic's messages, whatever the model.

    Args:
        client: A `boto3.client("bedrock-runtime")` of your own; by default one is made, with the environment's credentials.
        timeout_seconds: How long one call may take; of a stream, how long it may be silent. A client of your own has its own.
        names: The ids of models, inference profiles or ARNs by the registry's names: `{"claude-sonnet-4-5":
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0"}`.
        options: Given to Converse with every request: `guardrailConfig`, `additionalModelRequestFields`. If `thinking` among the latter
            is enabled, it is left out where a turn goes on with tools that another model called, as `Anthropic` does.
        client_options: Given to `boto3.client` where one is made: `region_name`, `endpoint_url`, `config`.

    Raises:
        MissingExtra: `boto3` is not installed, and no client is given.
    """

    package = "boto3"
    extra = "bedrock"
    address_variable = "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"
    vendors = None
    awaits = False

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        del stream  # another operation
        return self._converse(prompt._to_converse(), options)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  a part of it

    def _converse(self, given: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        """Converse's arguments for a request of Anthropic's messages."""
        vendor = _caching(given["model"])
        messages, system = _content(given, vendor)
        request: dict[str, Any] = {"messages": messages, "inferenceConfig": {"maxTokens": given["max_tokens"]}}
        if system:
            request["system"] = system
        if tools := _tools(given, vendor):
            request["toolConfig"] = {"tools": tools}
        asked = {**self._options, **options}
        if fields := asked.get("additionalModelRequestFields"):
            asked["additionalModelRequestFields"] = without_thinking(fields, given["messages"])
        return {"modelId": self._names.get(given["model"], given["model"]), **request, **asked}

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        if not stream:
            return _response(client.converse(**request), request["modelId"])
        return _events(client.converse_stream(**request), request["modelId"])

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        parts = [(one["role"], [{"type": "text", "text": one["content"]}]) for one in messages]
        system = [block for role, blocks in parts if role == "system" for block in blocks]
        said = [{"role": role, "content": blocks} for role, blocks in parts if role != "system"]
        return self._converse({"model": model, "messages": said, "max_tokens": max_tokens, "system": system}, {})

    def _named(self, request: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        del options
        return {key: value for key, value in request.items() if key != "model"}  # it is named already

    def _address_of(self, client_options: Mapping[str, Any]) -> Any:
        return client_options.get("endpoint_url")

    def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
        del awaitable
        limits = importlib.import_module("botocore.config").Config(read_timeout=self._timeout)
        return sdk.client("bedrock-runtime", **{"config": limits, **options})


# --- what is sent ---------------------------------------------------------------------------------------------------------------------


def _caching(model: str) -> str:
    """The vendor of a model that takes cache points; "" of one that takes none."""
    try:
        vendor = models[model].vendor
    except UnknownModel:
        return ""
    return vendor if vendor in _CACHING else ""


def _content(given: Mapping[str, Any], vendor: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The messages and the system prompt. A block that is stored otherwise than Anthropic has it is an error of its message."""
    content, messages, place = Content(vendor), list[dict[str, Any]](), "the system prompt"
    try:
        system = content.of_message(given.get("system") or ())
        for index, one in enumerate(given["messages"]):
            place = f"messages[{index}] of the request"
            messages.append({"role": one["role"], "content": content.of_message(one["content"])})
    except (LookupError, TypeError, AttributeError, ValueError) as wrong:
        raise InvalidInput(
            f"asking Converse: {place} must have Anthropic's shape and whole base64, and it has not ({type(wrong).__name__}: {wrong}): "
            "take that message back with Session.rewind or Session.redact"
        ) from wrong
    return messages, system


def _tools(given: Mapping[str, Any], vendor: str) -> list[dict[str, Any]]:
    """The tools; where none are offered any more, those that were called, without which Converse refuses their calls."""
    own = [tool for tool in given.get("tools", ()) if "input_schema" in tool]  # others run at Anthropic
    tools = with_cache_points(
        ((_tool(tool["name"], tool["input_schema"], tool.get("description")), "cache_control" in tool) for tool in own), vendor
    )
    blocks = [block for message in given["messages"] for block in message["content"]]
    called = dict.fromkeys(block["name"] for block in blocks if block["type"] == "tool_use")
    return tools or [_tool(name, {"type": "object"}, None) for name in called]


def _tool(name: str, schema: Mapping[str, Any], description: str | None) -> dict[str, Any]:
    about = {"description": description} if description else {}
    return {"toolSpec": {"name": name[:LONGEST_NAME], **about, "inputSchema": {"json": schema}}}


# --- what comes back ------------------------------------------------------------------------------------------------------------------


def _message(given: Mapping[str, Any], model: str) -> dict[str, Any]:
    about: dict[str, Any] = given.get("ResponseMetadata") or {}
    request_id = about.get("RequestId")
    return {"type": "message", "role": "assistant", "model": model, **({"id": request_id} if request_id else {})}


def _response(given: Mapping[str, Any], model: str) -> dict[str, Any]:
    try:
        output: dict[str, Any] = given.get("output") or {}
        message = output.get("message")
        if not message:
            raise InvalidInput("reading Converse's answer: it must have a message, and has none: ask again")
        content = [block for block in map(_received, message["content"]) if block is not None]
        return {**_message(given, model), "content": content, "stop_reason": given.get("stopReason"), "usage": _usage(given.get("usage"))}
    except (TypeError, AttributeError, LookupError) as wrong:
        raise _misread("Converse's answer", wrong) from wrong


def _misread(what: str, wrong: Exception) -> ProviderError:
    return ProviderError(f"reading {what}: it must have Converse's shape, and it has not ({type(wrong).__name__}: {wrong}): ask again")


def _usage(given: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: given[key] for key, name in _USAGE.items() if key in given} if given else {}


def _received(block: Mapping[str, Any]) -> dict[str, Any] | None:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    if "toolUse" in block:
        call = block["toolUse"]
        return {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": call["input"]}
    reasoning = block.get("reasoningContent", {})
    if "redactedContent" in reasoning:
        return {"type": "redacted_thinking", "data": base64.b64encode(reasoning["redactedContent"]).decode()}
    if "reasoningText" in reasoning:
        text = reasoning["reasoningText"]
        return {"type": "thinking", "thinking": text.get("text", ""), "signature": text.get("signature", "")}
    return None


def _events(given: Mapping[str, Any], model: str) -> Iterator[dict[str, Any]]:
    """Converse's events as Anthropic's. Converse opens blocks of calls alone, and tells the usage behind the end."""
    opened, ended = set[int](), dict[str, Any]()
    source = given["stream"]
    try:
        yield {"type": "message_start", "message": {**_message(given, model), "content": []}}
        for event in source:
            try:
                read = _read(event, opened, ended)
            except (TypeError, AttributeError, LookupError, ValueError) as wrong:
                raise _misread("Converse's stream", wrong) from wrong
            yield from read
    finally:
        source.close()
    if ended.get("stop_reason") is not None:
        yield {"type": "message_delta", "delta": {"stop_reason": ended["stop_reason"]}, "usage": ended.get("usage", {})}
        yield {"type": "message_stop"}


def _read(event: Mapping[str, Any], opened: set[int], ended: dict[str, Any]) -> list[dict[str, Any]]:
    """The chunks for the blocks of an event. Facts about the end go into `ended`."""
    found: list[dict[str, Any]] = []
    for kind, body in event.items():
        if kind == "messageStop":
            ended["stop_reason"] = body.get("stopReason")
        elif kind == "metadata":
            ended["usage"] = _usage(body.get("usage"))
        else:
            found += _block_events(kind, body, opened)
    return found


def _block_events(kind: str, body: Mapping[str, Any], opened: set[int]) -> Iterator[dict[str, Any]]:
    index = body.get("contentBlockIndex", 0)
    if kind == "contentBlockStart" and "toolUse" in body.get("start", {}):
        call = body["start"]["toolUse"]
        opened.add(index)
        yield _start(index, {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": {}})
    elif kind == "contentBlockDelta":
        begun, delta = _delta(body.get("delta", {}))
        if begun is not None and index not in opened:
            opened.add(index)
            yield _start(index, begun)
        if delta is not None:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
    elif kind == "contentBlockStop":
        yield {"type": "content_block_stop", "index": index}


def _start(index: int, block: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(delta: Mapping[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The block that such a piece begins, and the piece."""
    if "text" in delta:
        return {"type": "text", "text": ""}, {"type": "text_delta", "text": delta["text"]}
    if "toolUse" in delta:
        return None, {"type": "input_json_delta", "partial_json": delta["toolUse"].get("input", "")}
    reasoning = delta.get("reasoningContent", {})
    if "redactedContent" in reasoning:
        return {"type": "redacted_thinking", "data": base64.b64encode(reasoning["redactedContent"]).decode()}, None
    begun = {"type": "thinking", "thinking": "", "signature": ""}
    if "text" in reasoning:
        return begun, {"type": "thinking_delta", "thinking": reasoning["text"]}
    if "signature" in reasoning:
        return begun, {"type": "signature_delta", "signature": reasoning["signature"]}
    return None, None
