"""What a rendered request costs, counted by tiktoken and the rules of docs/prompt.md: nothing of memspan is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import tiktoken


def request_tokens(request: dict[str, Any], encoding: tiktoken.Encoding) -> int:
    """Tokens of the keyword arguments of a chat completion, without images."""

    def count(text: str) -> int:
        return len(encoding.encode_ordinary(text))

    def message(one: dict[str, Any]) -> int:
        content = one.get("content") or ""
        texts = [content] if isinstance(content, str) else [part["text"] if part["type"] == "text" else part["refusal"] for part in content]
        calls = [call["function"] for call in one.get("tool_calls") or []]
        tokens = 3 + count(one["role"]) + sum(map(count, texts))
        tokens += 1 + count(one["name"]) if "name" in one else 0
        return tokens + sum(3 + 2 * count(call["name"]) + count(call["arguments"]) for call in calls)

    def tool(function: dict[str, Any]) -> int:
        tokens = 7 + count(f"{function['name']}:{function.get('description', '').removesuffix('.')}")
        properties = function.get("parameters", {}).get("properties", {})
        tokens += 3 if properties else 0
        for name, field in properties.items():
            tokens += 3 + count(f"{name}:{field['type']}:{field.get('description', '').removesuffix('.')}")
            if "enum" in field:
                tokens += sum(3 + count(value) for value in field["enum"]) - 3
        return tokens

    tools = [tool(one["function"]) for one in request.get("tools", [])]
    return 3 + sum(map(message, request["messages"])) + sum(tools) + (12 if tools else 0)
