"""Tools by which a model uses its session's memory, and the running of a call: what `Session.tools` offers and `Session.answer` runs.

The scope is the session's own: a model reads and writes the memory of the user it talks to, and of nobody else. Arguments are checked
here; what is wrong with them is the tool's result, because the model can correct it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memspan.exceptions import Error, InvalidInput, UnknownModel
from memspan.function_tools import Function, ToolShape, result_text
from memspan.model import models

if TYPE_CHECKING:
    from memspan.reply import ToolCall
    from memspan.short_term import Session

__all__ = [
    "MemoryTool",
    "SessionTools",
    "distinct",
    "failure",
    "format_of",
    "memory_tools",
    "result_message",
    "run_call",
    "text_of_result",
]

MemoryTool: TypeAlias = Literal["remember", "recall", "forget", "read_result"]
"""A tool of the session's own."""

_TEXT = {"type": "string"}
_MOST_HITS = 20

_TOOLS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "remember": (
        "Keeps a fact about the user or their work for later conversations. One fact in one sentence, without secrets.",
        {
            "text": {**_TEXT, "description": "The fact."},
            "kind": {
                **_TEXT,
                "enum": ["semantic", "preference", "decision", "constraint", "episodic"],
                "description": "What kind of fact.",
            },
            "slot": {
                **_TEXT,
                "description": "The attribute that it gives a value to, such as scripting-language; a newer value replaces it.",
            },
        },
        ["text"],
    ),
    "recall": (
        "Searches what is remembered about the user and their work.",
        {
            "query": {**_TEXT, "description": "What to look for, in words."},
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST_HITS, "description": "At most so many."},
        },
        ["query"],
    ),
    "forget": (
        "Forgets a memory for good. Only where the user asks for it.",
        {"id": {**_TEXT, "description": "The id of the memory, as recall shows it."}, "reason": {**_TEXT, "description": "Why."}},
        ["id"],
    ),
    "read_result": (
        "Reads on in a tool result that is shown shortened.",
        {
            "key": {**_TEXT, "description": "The key in the marker of the shortened result."},
            "offset": {"type": "integer", "minimum": 0, "description": "The first character to read."},
        },
        ["key"],
    ),
}


def format_of(model: str) -> Literal["openai", "anthropic"]:
    """The shape of a model's requests; OpenAI's where nobody registered it here."""
    try:
        return models[model].format
    except UnknownModel:
        return "openai"


class SessionTools(list[dict[str, Any]]):
    """The tools of a session; called with names, the schemas of the session's own."""

    def __init__(self, given: Iterable[dict[str, Any]], model: str) -> None:
        super().__init__(given)
        self._model = model

    def __call__(self, *names: MemoryTool, format: ToolShape | None = None) -> list[dict[str, Any]]:  # noqa: A002  the field's own word
        """Schemas of tools by which a model uses this memory, to be given as `tools=`; `Session.answer` runs their calls.

        Args:
            names: Of "remember", "recall", "forget" and "read_result"; none means all.
            format: Another shape than that of the session's model.
        """
        return memory_tools(names, format_of(self._model) if format is None else format)


def memory_tools(names: Sequence[str], shape: ToolShape) -> list[dict[str, Any]]:
    """The schemas of these tools, all of them by default."""
    unknown = [name for name in names if name not in _TOOLS]
    if unknown:
        raise InvalidInput(f"choosing tools: they are {', '.join(_TOOLS)}, got {unknown[0]!r}: name some of these", tool=unknown[0])
    return [_function(name).schema(shape) for name in (names or _TOOLS)]


def _function(name: str, session: Session | None = None) -> Function:
    description, properties, required = _TOOLS[name]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Function(name, description, parameters, lambda given: "" if session is None else _RUN[name](session, given))


def distinct(functions: Iterable[Function], offered: Iterable[str]) -> tuple[Function, ...]:
    """The functions, whose names must be their own: a model cannot say which of two it means."""
    functions, seen = tuple(functions), set(offered)
    for function in functions:
        if function.name in seen:
            raise InvalidInput(
                f"choosing tools: each must have a name of its own, and two are called {function.name!r}: rename one", tool=function.name
            )
        seen.add(function.name)
    return functions


def run_call(
    session: Session, call: ToolCall, functions: Iterable[Callable[..., Any] | Function] = (), offered: Iterable[str] = tuple(_TOOLS)
) -> dict[str, Any]:
    """Runs a call of one of these functions or of the session's own tools that were offered; the message that answers it.

    A coroutine is run to its end in an event loop of its own.
    """
    known = {function.name: function for function in map(Function.of, functions)}
    offered = tuple(offered)
    function = known.get(call.name) or (_function(call.name, session) if call.name in offered else None)
    if function is None:
        names = ", ".join([*known, *offered])
        raise InvalidInput(
            f"answering a tool call: the tool must be one of {names}, got {call.name!r} (call {call.id!r}): run it yourself, and add "
            "the result",
            tool=call.name,
        )
    try:
        value = function.run(_checked(call, function))
        return result_message(call, result_text(_awaited(value) if hasattr(value, "__await__") else value))
    except KeyboardInterrupt:  # whoever sits before the program
        raise
    except BaseException as error:  # noqa: BLE001  whatever a tool raises is its result, also where it wants to end the program
        return failure(call, error)


def failure(call: ToolCall, error: BaseException) -> dict[str, Any]:
    """The message that tells the model how its call failed."""
    return result_message(call, f"{type(error).__name__}: {_shown(error)}", failed=True)


def result_message(call: ToolCall, text: str, *, failed: bool = False) -> dict[str, Any]:
    """The message with the result of a call. Lone surrogates, which no UTF-8 holds, become "?"."""
    text = text.encode("utf-8", "replace").decode()
    if failed:  # only Anthropic's shape says that a tool failed; the text says it to the others
        block = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": text}], "is_error": True}
        return {"role": "user", "content": [block]}
    return {"role": "tool", "tool_call_id": call.id, "content": text}


def text_of_result(message: Mapping[str, Any]) -> str:
    """The text that `result_message` was given."""
    content = message["content"]
    return str(content if isinstance(content, str) else content[0]["content"][0]["text"])


def _awaited(value: Any) -> Any:
    import asyncio  # noqa: PLC0415  for tools that are coroutines

    async def whole() -> Any:
        return await value

    return asyncio.run(whole())


def _shown(error: BaseException) -> str:
    try:
        return (error.message if isinstance(error, Error) else str(error))[:4_000]
    except Exception:  # noqa: BLE001  an exception that cannot say what it is
        return "no message"


def _checked(call: ToolCall, function: Function) -> dict[str, Any]:
    """The arguments, where they are an object with what the schema requires and nothing that it does not know."""
    if not isinstance(call.arguments, Mapping):
        raise InvalidInput(f"the arguments must be a JSON object, got {str(call.arguments)[:200]!r}")
    given = dict(call.arguments)
    properties = cast("Mapping[str, Any]", function.parameters.get("properties") or {})
    missing = [name for name in function.parameters.get("required", ()) if name not in given]
    unknown = [name for name in given if name not in properties] if function.name in _TOOLS else []
    if missing or unknown:
        raise InvalidInput(f"the arguments are {', '.join(properties)}: missing {missing or 'none'}, unknown {unknown or 'none'}")
    return given


def _remember(session: Session, given: dict[str, Any]) -> str:
    kind, slot = given.get("kind") or "semantic", given.get("slot") or None
    kept = session.scope.remember(_text(given, "text"), kind, slot=slot, source="assistant")
    return json.dumps({"action": kept.action, "id": kept.memory.id}, ensure_ascii=False)


def _recall(session: Session, given: dict[str, Any]) -> str:
    limit = given.get("limit", 5)
    if not isinstance(limit, int) or isinstance(limit, bool):
        raise InvalidInput(f"limit must be a whole number, got {limit!r}")
    hits = session.scope.recall(_text(given, "query"), limit=max(1, min(limit, _MOST_HITS)))
    found = [{"id": hit.memory.id, "kind": hit.memory.kind, "text": hit.memory.text} for hit in hits]
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in found) or "nothing is remembered that fits"


def _forget(session: Session, given: dict[str, Any]) -> str:
    reason = str(given.get("reason") or "the model was asked to")[:500]
    return "forgotten" if session.scope.forget(_text(given, "id"), reason=reason) else "no such memory"


def _read_result(session: Session, given: dict[str, Any]) -> str:
    offset = given.get("offset", 0)
    if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
        raise InvalidInput(f"offset must be a whole number from 0, got {offset!r}")
    part = session.tool_result(_text(given, "key"), offset=offset)
    more = "" if part.next_offset is None else f"\n[{part.total_characters:,} characters in all; go on at offset {part.next_offset}]"
    return part.text + more


def _text(given: dict[str, Any], name: str) -> str:
    value = given[name]
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{name} must be a text, got {value!r}")
    return value


_RUN: dict[str, Callable[[Any, dict[str, Any]], str]] = {
    "remember": _remember,
    "recall": _recall,
    "forget": _forget,
    "read_result": _read_result,
}
