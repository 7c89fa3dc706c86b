"""What each vendor publishes of its requests: a function for each, that gives the vendor's complaint, or `None`.

Sources: the API references of OpenAI (chat completions, responses), Anthropic (messages, prompt caching, extended thinking), Google (Gemini,
function calling), Mistral; and the public threads that `memspan/refusals.py` and `dialects.tsv` name.
"""

# ruff: noqa: C901, E501, PLR0911, PLR0912  a rule a line
from __future__ import annotations

import hashlib
import json
import re
from itertools import pairwise
from typing import Any

import memspan
from memspan import dialects

CHAT_FIELDS = {
    "model",
    "messages",
    "tools",
    "stream",
    "stream_options",
    "temperature",
    "tool_choice",
    "prompt_cache_key",
    "max_tokens",
    "max_completion_tokens",
}
ANTHROPIC_FIELDS = {"model", "messages", "system", "tools", "max_tokens", "stream", "temperature", "thinking", "tool_choice"}
RESPONSES_FIELDS = {"model", "input", "tools", "max_output_tokens", "store", "include", "stream", "prompt_cache_key", "reasoning"}
CHAT_MESSAGES = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "audio"},
    "tool": {"role", "content", "tool_call_id"},
}
CHAT_PARTS = {"text": {"text"}, "image_url": {"image_url"}, "file": {"file"}, "input_audio": {"input_audio"}}
ANTHROPIC_BLOCKS = {
    "text": {"text", "cache_control", "citations"},
    "image": {"source", "cache_control"},
    "document": {"source", "title", "context", "citations", "cache_control"},
    "tool_use": {"id", "name", "input", "caller", "cache_control"},
    "tool_result": {"tool_use_id", "content", "is_error", "cache_control"},
    "thinking": {"thinking", "signature"},
    "redacted_thinking": {"data"},
}
RESPONSES_ITEMS = {
    "message": {"role", "content", "id", "status"},
    "reasoning": {"id", "summary", "encrypted_content", "content", "status"},
    "function_call": {"id", "call_id", "name", "arguments", "status"},
    "function_call_output": {"id", "call_id", "output", "status"},
    "custom_tool_call": {"id", "call_id", "name", "input"},
    "custom_tool_call_output": {"id", "call_id", "output"},
}
GEMINI_PARTS = {"text", "thought", "thought_signature", "function_call", "function_response", "inline_data", "file_data"}
NO_PREFILL = re.compile(r"claude-(opus-4-[67]|sonnet-4-6|(opus|sonnet|haiku)-[5-9])")
_SIGNED = re.compile(r"[0-9a-f]{24}")
_NAMES = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_WEB = re.compile(r"https?://")
_DATA_URL = re.compile(r"data:([^;,]+);base64,")
_ANTHROPICS_IMAGES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
_GEMINIS = re.compile(r"application/pdf|text/.+|image/(png|jpeg|webp|heic|heif|gif|avif|bmp)")
_CALL_IDS = {"mistral": r"[A-Za-z0-9]{9}", "openai": r".{1,40}", "bedrock": r"[A-Za-z0-9_-]{1,64}"}


def chat(body: dict[str, Any], name: str = "openai") -> str | None:
    """Chat completions, by the rules of one server."""
    rules = dialects[name]
    unknown = set(body) - CHAT_FIELDS
    wrong = {"max_tokens", "max_completion_tokens"} - {rules.output_parameter}
    if unknown or wrong & set(body):
        return f"Extra inputs are not permitted: {sorted(unknown | wrong & set(body))}"
    if body.get("stream_options") and not rules.stream_usage:
        return "Extra inputs are not permitted: ['stream_options']"
    kinds = {"function", "custom"} if name == "openai" else {"function"}
    if strange := [tool["type"] for tool in body.get("tools", ()) if tool["type"] not in kinds]:
        return f"Invalid value: '{strange[0]}'. Supported values are: {sorted(kinds)}"
    if not all(_NAMES.fullmatch(tool[tool["type"]]["name"]) for tool in body.get("tools", ())):
        return "Invalid 'tools[0].function.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'."
    messages = body["messages"]
    if not messages:
        return "'messages' must contain at least one message"
    roles = [message["role"] for message in messages]
    talk = [role for role in roles if role not in {"system", "developer"}]
    if not rules.system_anywhere and (any(role in {"system", "developer"} for role in roles[1:]) or not talk):
        return "Unexpected role 'system' after role 'user'"
    if talk and talk[0] == "assistant" and not rules.begins_with_assistant:
        return "Conversation roles must begin with user"
    if roles[-1] == "assistant" and not rules.ends_with_assistant and not messages[-1].get("tool_calls"):
        return "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"
    if not rules.user_after_tool and any(pair == ("tool", "user") for pair in pairwise(roles)):
        return "Unexpected role 'user' after role 'tool'"
    said = [message for message in messages if message["role"] != "assistant" or message.get("content") or message.get("tool_calls")]
    if not rules.empty_assistant and len(said) < len(messages):
        return "Assistant message must have either content or tool_calls, but not none."
    if rules.alternates and any(one == other == "user" for one, other in pairwise(talk)):
        return "Conversation roles must alternate user/assistant/user/assistant/..."
    if body[rules.output_parameter] < 1:
        return f"{rules.output_parameter} must be at least 1"
    own = {*rules.sent_back, "refusal"} if name == "openai" else {*rules.sent_back}
    if strange := [found for message in messages if (found := _unknown_in_chat(message, own))]:
        return f"Extra inputs are not permitted: {strange[0]}"
    if silent := [number for number, message in enumerate(messages) if message.get("tool_calls") and _lacks_thinking(message, name)]:
        return f"Missing `reasoning_content` field in the assistant message at message index {silent[0]}."
    first = [message["tool_calls"][0] for message in messages if message.get("tool_calls")]
    if name == "gemini" and "gemini-3" in body["model"] and not all(call.get("extra_content") for call in first):
        return "Function call is missing a thought_signature in functionCall parts."
    if name != "openai" and (torn := [call for message in messages for call in message.get("tool_calls") or () if not _is_object(call)]):
        return f"Failed to parse tool call arguments as JSON: {torn[0]}"
    return _chat_messages(messages, rules.text_parts, _CALL_IDS.get(name, r".{1,64}"), name)


def _lacks_thinking(message: dict[str, Any], name: str) -> bool:
    thinking = message.get("reasoning_content")
    return not thinking if name == "moonshot" else name == "deepseek" and thinking is None


def _is_picture(url: str) -> bool:
    found = _DATA_URL.match(url)
    return not url.startswith("data:") if found is None else "svg" not in found[1]


def _is_kept(part: dict[str, Any]) -> bool:
    return set(part) == {"type", "file_id"}


def _unknown_in_chat(message: dict[str, Any], own: set[str]) -> set[str]:
    unknown = set(message) - CHAT_MESSAGES[message["role"]] - own
    for call in message.get("tool_calls") or ():
        unknown |= set(call) - {"id", "type", call["type"]} - own
    parts = message["content"] if isinstance(message.get("content"), list) else []
    known = {**CHAT_PARTS, **{kind: {kind} for kind in own}}
    return unknown.union(*(set(part) - known.get(part["type"], set()) - {"type"} or {part["type"]} - set(known) for part in parts))


def _is_object(call: dict[str, Any]) -> bool:
    """As llama.cpp, vLLM and SGLang read the arguments of calls, for the model's template."""
    try:
        return call["type"] == "function" and isinstance(json.loads(call["function"]["arguments"]), dict)
    except ValueError:
        return False


def _chat_messages(messages: list[dict[str, Any]], text_parts: bool, ids: str, name: str) -> str | None:
    open_calls: list[str] = []
    for message in messages:
        content = message.get("content")
        if isinstance(content, list) and (not content or not text_parts):
            return "invalid type: sequence, expected a string"
        if content is None and not message.get("tool_calls"):
            return "Invalid value for 'content': expected a string, got null."
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return (
                f"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': {open_calls}"
            )
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        for call_id in open_calls:
            if not re.fullmatch(ids, call_id, re.DOTALL):
                return f"Tool call id was {call_id} but must be {ids}"
        if name == "openai" and "name" in message and not _NAMES.fullmatch(message["name"]):
            return (
                "Invalid 'messages[1].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )
        for part in content if isinstance(content, list) else ():
            if part["type"] == "file" and not str(part["file"].get("file_data", "")).startswith("data:application/pdf;base64,"):
                return "Invalid file data: Expected a base64-encoded data URL with an application/pdf MIME type"
            if part["type"] == "image_url" and not _is_picture(part["image_url"]["url"]):
                return "You uploaded an unsupported image. Please make sure your image is valid."
        for call in message.get("tool_calls") or ():
            if not _NAMES.fullmatch(call[call["type"]]["name"]):
                return "Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'."
    return f"tool calls without results: {open_calls}" if open_calls else None


def anthropic(body: dict[str, Any]) -> str | None:
    """Anthropic's messages."""
    unknown = set(body) - ANTHROPIC_FIELDS
    if unknown:
        return f"{sorted(unknown)}: Extra inputs are not permitted"
    if not all(re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]) for tool in body.get("tools", ())):
        return "tools.0.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
    messages = body["messages"]
    if not messages:
        return "messages: at least one message is required"
    if messages[0]["role"] != "user":
        return 'messages: first message must use the "user" role'
    if messages[-1]["role"] == "assistant":
        last = messages[-1]["content"][-1] if messages[-1]["content"] else {}
        if NO_PREFILL.search(body["model"]):
            return "This model does not support assistant message prefill. The conversation must end with a user message."
        if last.get("type") == "text" and last["text"] != last["text"].rstrip():
            return "messages: final assistant content cannot end with trailing whitespace"
        if last.get("type") in {"thinking", "redacted_thinking"}:
            return "The final block in an assistant message cannot be `thinking`."
    if any(not block["text"].strip() for block in body.get("system", [])):
        return "system: text content blocks must contain non-whitespace text"
    if body["max_tokens"] < 1:
        return "max_tokens: Input should be greater than or equal to 1"
    blocks_of = [block for message in messages for block in message["content"]]
    for block in [*blocks_of, *body.get("system", ())]:
        if unknown := set(block) - ANTHROPIC_BLOCKS[block["type"]] - {"type"}:
            return f"{block['type']}.{min(unknown)}: Extra inputs are not permitted"
    controls = [
        block["cache_control"] for block in [*body.get("tools", ()), *body.get("system", ()), *blocks_of] if "cache_control" in block
    ]
    if any(set(one) - {"type", "ttl"} or one["type"] != "ephemeral" or one.get("ttl", "5m") not in {"5m", "1h"} for one in controls):
        return "cache_control: Input should be 'ephemeral'"
    if [one.get("ttl", "5m") for one in controls] != sorted(one.get("ttl", "5m") for one in controls):
        return "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
    if complaint := next(filter(None, map(_anthropics_medium, _with_nested(blocks_of))), None):
        return complaint
    for error in (block.get("content") for block in blocks_of if block.get("is_error")):
        if not error or (isinstance(error, list) and not any(part.get("text", "").strip() for part in error)):
            return "messages.2.content.0.tool_result: content cannot be empty if `is_error` is true"
        if isinstance(error, list) and any(part["type"] != "text" for part in error):
            return "messages.2.content.0.tool_result: all content must be type `text` if `is_error` is true"
    every_call = [block["id"] for block in blocks_of if block["type"] == "tool_use"]
    if len(set(every_call)) < len(every_call):
        return "messages.3.content.1: `tool_use` ids must be unique"
    if (
        (body.get("thinking") or {}).get("type") == "enabled"
        and len(messages) > 1
        and any(block["type"] == "tool_result" for block in messages[-1]["content"])
    ):
        found = messages[-2]["content"][0]["type"]
        if found not in {"thinking", "redacted_thinking"}:
            return f"messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block"
    marks, known = 0, set[str]()
    for block in [*body.get("system", ()), *body.get("tools", ())]:
        marks += "cache_control" in block
    for place, message in enumerate(messages):
        blocks = message["content"]
        if not blocks and place < len(messages) - 1:
            return f"messages.{place}: all messages must have non-empty content"
        following = messages[place + 1]["content"] if place + 1 < len(messages) else []
        for at, block in enumerate(blocks):
            if "cache_control" in block:
                marks += 1
                if block["type"] in {"thinking", "redacted_thinking"}:
                    return f"messages.{place}.content.{at}.{block['type']}.cache_control: Extra inputs are not permitted"
                if block["type"] == "text" and not block["text"]:
                    return "cache_control cannot be set for empty text blocks"
            if block["type"] == "text" and not block["text"].strip():
                return "messages: text content blocks must contain non-whitespace text"
            if block["type"] == "thinking" and not block.get("signature"):
                return f"messages.{place}.content.{at}.thinking.signature: Field required"
            if (
                block["type"] == "thinking"
                and _SIGNED.fullmatch(block["signature"])
                and block["signature"] != signature_of(block["thinking"])
            ):
                return f"messages.{place}.content.{at}: Invalid `signature` in `thinking` block"
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if any(not re.fullmatch(r"[a-zA-Z0-9_-]+", call) for call in calls):
            return "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
        if len(set(calls)) < len(calls):
            return "messages: `tool_use` ids must be unique"
        if any(not re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", block["name"]) for block in blocks if block["type"] == "tool_use"):
            return "tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
        results = [block["tool_use_id"] for block in following if block["type"] == "tool_result"]
        if calls and sorted(results) != sorted(calls):
            return f"messages.{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {calls}"
        if [block["type"] for block in following[: len(results)]] != ["tool_result"] * len(results):
            return "messages: `tool_result` blocks must come first"
        own = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if any(call not in known for call in own):
            return "messages: unexpected `tool_use_id` found in `tool_result` blocks"
        known = set(calls)
    if any(one["role"] == other["role"] for one, other in pairwise(messages)):
        return 'messages: roles must alternate between "user" and "assistant"'
    return f"A maximum of 4 blocks with cache_control may be provided. Found {marks}." if marks > 4 else None


def _with_nested(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*blocks, *(inner for block in blocks if isinstance(block.get("content"), list) for inner in block["content"])]


def _anthropics_medium(block: dict[str, Any]) -> str | None:
    if block["type"] not in {"image", "document"}:
        return None
    source, kind = block["source"], block["type"]
    media = _ANTHROPICS_IMAGES if kind == "image" else {"application/pdf"}
    if source["type"] == "base64" and source["media_type"] not in media:
        return f"messages.0.content.0.{kind}.source.base64.media_type: Input should be {sorted(media)}"
    if source["type"] == "text" and (kind == "image" or source["media_type"] != "text/plain" or not source["data"].strip()):
        return f"messages.0.content.0.{kind}.source.text: Input should be a valid text"
    if source["type"] == "url" and not _WEB.match(source["url"]):
        return f"messages.0.content.0.{kind}.source.url: Only HTTPS URLs are supported."
    return None


def _wrong_in_output(parts: list[dict[str, Any]]) -> str | None:
    if strange := {part["type"] for part in parts} - {"input_text", "input_image", "input_file"}:
        return f"Invalid value: '{min(strange)}'. Supported values are: 'input_text', 'input_image', and 'input_file'."
    if not parts or any(part["type"] == "input_image" and not _is_kept(part) and not _is_picture(part["image_url"]) for part in parts):
        return "The image data you provided does not represent a valid image."
    return None


def responses(body: dict[str, Any]) -> str | None:
    """OpenAI's responses."""
    unknown = set(body) - RESPONSES_FIELDS
    if unknown:
        return f"Unknown parameter: {sorted(unknown)}"
    if not all(_NAMES.fullmatch(tool["name"]) for tool in body.get("tools", ()) if tool["type"] in {"function", "custom"}):
        return "Invalid 'tools[0].name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'."
    if not body["input"]:
        return "Missing required parameter: 'input'."
    open_calls, reasoning = list[str](), False
    known = memspan.models.get(body["model"])
    reasons = known is None or (known.vendor == "openai" and "reasoning" in known.capabilities)
    for item in body["input"]:
        kind = item["type"]
        if kind == "reasoning" and not reasons:
            return "Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items from your input and try again."
        if unknown := set(item) - RESPONSES_ITEMS[kind] - {"type"}:
            return f"Unknown parameter: 'input[0].{min(unknown)}'."
        if kind in {"function_call_output", "custom_tool_call_output"}:
            if item["call_id"] not in open_calls:
                return f"No tool call found for function call output with call_id {item['call_id']}."
            open_calls.remove(item["call_id"])
            if not isinstance(item["output"], str) and (wrong := _wrong_in_output(item["output"])):
                return wrong
            continue
        if reasoning and kind == "message" and item["role"] != "assistant":
            return "Item of type 'reasoning' was provided without its required following item."
        reasoning = kind == "reasoning"
        if kind == "reasoning" and not item.get("encrypted_content"):
            return "Item 'rs_1' not found. Items are not persisted when `store` is set to false."
        if kind in {"function_call", "custom_tool_call"}:
            if len(item["call_id"]) > 64:
                return "Invalid 'call_id': string too long"
            if not _NAMES.fullmatch(item["name"]):
                return "Invalid 'input[1].name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'."
            open_calls.append(item["call_id"])
        elif kind == "message":
            if open_calls and item["role"] != "assistant":
                return f"No tool output found for function call {open_calls[0]}."
            if item["role"] == "assistant" and not isinstance(item["content"], str):
                return "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
            if item["content"] == []:
                return "Invalid 'content': empty array"
            parts = item["content"] if isinstance(item["content"], list) else []
            if any(part["type"] == "input_image" and not _is_kept(part) and not _is_picture(part["image_url"]) for part in parts):
                return "The image data you provided does not represent a valid image."
    return f"No tool output found for function call {open_calls[0]}." if open_calls else None


def gemini(body: dict[str, Any]) -> str | None:
    """Gemini's `generateContent`, in the SDK's spelling."""
    contents = body["contents"]
    if not contents:
        return "GenerateContentRequest.contents: contents is not specified"
    if contents[0]["role"] != "user" or contents[-1]["role"] != "user":
        return "Please ensure that single turn requests end with a user role or the role field is empty."
    instruction = body["config"].get("system_instruction", {"parts": []})
    if any(not part["text"].strip() for part in instruction["parts"]):
        return "Unable to submit request because it must have a text parameter."
    calls: list[tuple[str, str]] = []
    for content in contents:
        parts = content["parts"]
        if not parts:
            return "contents.parts must not be empty."
        if unknown := set[str]().union(*parts) - GEMINI_PARTS:
            return f"Unknown name {min(unknown)!r} at 'contents.parts': Cannot find field."
        if any("text" in part and not part["text"].strip() for part in parts):
            return "Unable to submit request because it must have a text parameter."
        types = [part[key].get("mime_type") for part in parts for key in ("inline_data",) if key in part]
        if strange := [one for one in types if not _GEMINIS.fullmatch(one or "")]:
            return f"Unsupported MIME type: {strange[0]}"
        results = [(part["function_response"]["id"], part["function_response"]["name"]) for part in parts if "function_response" in part]
        if results and (content["role"] != "user" or len(results) < len(parts)):
            return "function response parts must stand alone"
        if sorted(results) != sorted(calls):
            return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
        calls = [(part["function_call"]["id"], part["function_call"]["name"]) for part in parts if "function_call" in part]
        if any(not re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", name) for _, name in calls):
            return "Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores, dots, colons, or dashes."
        if calls and content["role"] != "model":
            return "function call parts belong to the model"
        first = next((part for part in parts if "function_call" in part), None)
        if first is not None and "gemini-3" in body["model"] and not first.get("thought_signature"):
            return "Function call is missing a thought_signature in functionCall parts."
    unknown = set(body["config"]) - {"system_instruction", "tools", "max_output_tokens"}
    return f"Unknown name: {sorted(unknown)}" if unknown else None


def signature_of(thinking: str) -> str:
    """What `memspan.testing` signs thinking with."""
    return hashlib.blake2b(json.dumps([thinking]).encode(), digest_size=12).hexdigest()


def json_safe(value: Any) -> Any:
    """A request with its bytes as text, as the SDK sends them."""
    return json.loads(json.dumps(value, default=lambda one: "b64" if isinstance(one, bytes) else str(one)))
