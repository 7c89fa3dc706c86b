"""Tools by which a model remembers, recalls, forgets and lists itself: their schemas, and what a call of one does.

A call is checked before anything is done, touches one scope, follows the policy of the engine and returns text that a model can read. A
model writes neither constraints nor the profile, unless its caller allows it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memspan.exceptions import InvalidInput, NotFound

if TYPE_CHECKING:
    from memspan import _core
    from memspan._kept import Memory
    from memspan.long_term import Scope

__all__ = ["ToolFormat", "call", "schemas"]

ToolFormat: TypeAlias = Literal["openai", "openai_responses", "anthropic", "gemini", "mcp"]

_KINDS = ("semantic", "preference", "episodic", "decision", "task_outcome")
_GUARDED = ("constraint", "profile")
_MOST_TEXT = 2_000
_MOST_LISTED = 50


def _schema(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _tools(kinds: tuple[str, ...]) -> tuple[tuple[str, str, dict[str, Any]], ...]:
    text = {"type": "string", "description": "One sentence that stands on its own.", "maxLength": _MOST_TEXT}
    slot = {
        "type": "string",
        "description": "The attribute it gives a value to, for instance editor. A new value replaces the old one.",
        "maxLength": 100,
    }
    kind = {"type": "string", "enum": list(kinds), "description": "What it is about."}
    limit = {"type": "integer", "minimum": 1, "maximum": _MOST_LISTED, "description": "At most so many."}
    query = {"type": "string", "description": "What to look for.", "maxLength": _MOST_TEXT}
    memory_id = {"type": "string", "description": "The id of a memory, from recall or list.", "maxLength": 1024}
    return (
        ("remember", "Store something about the user that will matter in later conversations.",
         _schema({"text": text, "kind": kind, "slot": slot}, ["text"])),
        ("recall", "Find what is known about the user that answers a question.", _schema({"query": query, "limit": limit}, ["query"])),
        ("forget", "Remove a memory for good, when the user asks for it or it is wrong.", _schema({"memory_id": memory_id}, ["memory_id"])),
        ("list", "List what is known about the user, newest last.", _schema({"kind": kind, "limit": limit}, [])),
    )  # fmt: skip


def schemas(format: ToolFormat, allow: Iterable[str]) -> list[dict[str, Any]]:  # noqa: A002  the field's own word
    """The schemas of the tools in a provider's shape."""
    made = _tools(_KINDS + _allowed(allow))
    match format:
        case "openai":
            return [
                {"type": "function", "function": {"name": name, "description": text, "parameters": schema}} for name, text, schema in made
            ]
        case "openai_responses":
            return [{"type": "function", "name": name, "description": text, "parameters": schema} for name, text, schema in made]
        case "anthropic":
            return [{"name": name, "description": text, "input_schema": schema} for name, text, schema in made]
        case "gemini":
            plain = [{"name": name, "description": text, "parameters": _without(schema)} for name, text, schema in made]
            return [{"function_declarations": plain}]
        case "mcp":
            return [{"name": name, "description": text, "inputSchema": schema} for name, text, schema in made]
        case _:  # pyright: ignore[reportUnnecessaryComparison]  callers without types
            raise InvalidInput(
                "writing tool schemas: format is 'openai', 'openai_responses', 'anthropic', 'gemini' or 'mcp', "
                f"and it is {format!r}: choose one"
            )


def _without(schema: dict[str, Any]) -> dict[str, Any]:
    """What Gemini's dialect of schemas does not have left out."""
    return {key: value for key, value in schema.items() if key != "additionalProperties"}


def _allowed(allow: Iterable[str]) -> tuple[str, ...]:
    given = tuple(allow)
    if unknown := [kind for kind in given if kind not in _GUARDED]:
        raise InvalidInput(f"allowing a model to write: allow= takes 'constraint' and 'profile', and it has {unknown[0]!r}: leave it out")
    return given


def call(scope: Scope, core: _core.ScopeCore, name: str, arguments: Mapping[str, Any] | str, allow: Iterable[str]) -> str:
    """Does what a model asks for; what a model can read of it. A mistake of the model is a reply, not an exception."""
    known = {tool: schema for tool, _, schema in _tools(_KINDS + _allowed(allow))}
    try:
        given = _checked(name, arguments, known)
        doing: dict[str, Callable[..., dict[str, Any]]] = {"remember": _remember, "recall": _recall, "forget": _forget, "list": _list}
        done = doing[name](scope, core, **given)
    except (InvalidInput, NotFound) as error:
        done = {"error": str(error)}
    return json.dumps(done, ensure_ascii=False)


def _checked(name: str, arguments: Mapping[str, Any] | str, known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if name not in known:
        raise InvalidInput(f"there is no tool {name!r:.80}: use one of {', '.join(known)}")
    schema = known[name]
    given: Any = arguments
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            raise InvalidInput(f"the arguments of {name} are a JSON object, and these are not JSON: write them again") from None
    if not isinstance(given, Mapping):
        raise InvalidInput(f"the arguments of {name} are a JSON object, and these are {type(given).__name__}: write them again")
    properties: dict[str, Any] = schema["properties"]
    checked: dict[str, Any] = {}
    for key, value in cast("Mapping[str, Any]", given).items():
        if key not in properties:
            raise InvalidInput(f"{name} takes {', '.join(properties)}, and not {key!r:.80}: leave it out")
        if value is not None:
            checked[key] = _value(name, key, value, properties[key])
    for key in schema["required"]:
        if key not in checked:
            raise InvalidInput(f"{name} needs {key}: give it")
    return checked


def _value(name: str, key: str, value: Any, rule: dict[str, Any]) -> Any:
    if rule["type"] == "integer":
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not rule["minimum"] <= value <= rule["maximum"]:
            raise InvalidInput(
                f"{key} of {name} is a whole number from {rule['minimum']} to {rule['maximum']}, and it is {value!r:.80}: change it"
            )
    elif not isinstance(value, str) or not value.strip() or len(value) > rule.get("maxLength", 100):
        raise InvalidInput(f"{key} of {name} is a text of 1 to {rule.get('maxLength', 100):,} characters, and it is not: change it")
    elif "enum" in rule and value not in rule["enum"]:
        raise InvalidInput(f"{key} of {name} is one of {', '.join(rule['enum'])}, and it is {value!r:.80}: choose one")
    return value


def _remember(scope: Scope, core: _core.ScopeCore, text: str, kind: str = "semantic", slot: str | None = None) -> dict[str, Any]:
    store = scope._store  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  whose policy and embedder a tool has, too
    fields = {"kind": kind, "slot": slot, "confidence": 0.8, "source": "assistant", "found": store.found_in(text)}
    draft = core.draft(text, fields)
    done = core.tell(draft, store.vectors_of([draft], scope))
    answer = {"action": done.action, "id": done.memory.id, "text": done.memory.text}
    return answer if done.reason is None else {**answer, "reason": done.reason}


def _recall(scope: Scope, core: _core.ScopeCore, query: str, limit: int = 5) -> dict[str, Any]:
    del core
    return {"memories": [_shown(hit.memory) for hit in scope.recall(query, limit)]}


def _forget(scope: Scope, core: _core.ScopeCore, memory_id: str) -> dict[str, Any]:
    del core
    return {"forgotten": scope.forget(memory_id, reason="a model asked for it")}


def _list(scope: Scope, core: _core.ScopeCore, kind: str | None = None, limit: int = 20) -> dict[str, Any]:
    del core
    memories = list(scope.memories(kinds=kind))
    return {"memories": [_shown(memory) for memory in memories[-limit:]], "of": len(memories)}


def _shown(memory: Memory) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": memory.id, "text": memory.text, "kind": memory.kind, "since": memory.occurred_at.date().isoformat()}
    return {**shown, "slot": memory.slot} if memory.slot is not None else shown
