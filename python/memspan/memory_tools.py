"""Tools by which a model uses memory: one table of what it is offered, one check of what it writes, one place for what is guarded.

`Scope.tools` and `Session.tools` offer them, `Scope.call_tool` and `Session.answer` run them. A call is held against its schema before
anything is done, touches one scope and follows the policy of the engine. A model neither writes nor forgets constraints and the profile,
unless its caller allows it: what it read on a web page would stand in every prompt to come.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memspan._fence import kind_of
from memspan._flags import shown
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput, NotFound
from memspan.function_tools import Function, checked

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memspan._kept import Memory
    from memspan.long_term import Scope
    from memspan.short_term import Session

__all__ = ["SESSION_TOOLS", "Place", "ToolFormat", "allowed", "call", "functions", "schemas"]

ToolFormat: TypeAlias = Literal["openai", "openai_responses", "anthropic", "gemini", "mcp"]

SESSION_TOOLS = ("remember", "recall", "forget", "read_result")

_SCOPE_TOOLS = ("remember", "recall", "forget", "list")
_KINDS = ("semantic", "preference", "episodic", "decision", "task_outcome")
_GUARDED = ("constraint", "profile")
_MOST_TEXT = 2_000
_MOST_LISTED = 50
_MOST_OFFSET = 1 << 40


@dataclass(frozen=True)
class Place:
    """The target of a call: the scope, the guarded kinds that the caller allows, and the session where it is one of its tools."""

    scope: Scope = field(hash=False)
    allow: tuple[str, ...] = ()
    session: Session | None = field(default=None, hash=False)

    def check(self, kind: str, doing: str) -> None:
        """Refuses what the caller alone does."""
        if kind in _GUARDED and kind not in self.allow:
            raise InvalidInput(f"{doing}: a {kind} is the application's alone to write and to forget: tell the user, and leave it")


def _tools(kinds: tuple[str, ...], memory_id: str) -> dict[str, tuple[str, dict[str, Any], list[str]]]:
    """The table of tools: each one's purpose, arguments, and required arguments. The id of a memory has another name in sessions."""
    text = {"type": "string", "description": "One sentence that stands on its own, without secrets.", "maxLength": _MOST_TEXT}
    slot = {
        "type": "string",
        "description": "The attribute it gives a value to, for instance editor. A new value replaces the old one.",
        "maxLength": 100,
    }
    kind = {"type": "string", "enum": list(kinds), "description": "What it is about."}
    limit = {"type": "integer", "minimum": 1, "maximum": _MOST_LISTED, "description": "At most so many."}
    query = {"type": "string", "description": "What to look for.", "maxLength": _MOST_TEXT}
    named = {"type": "string", "description": "The id of a memory, as it is shown with it.", "maxLength": 1024}
    reason = {"type": "string", "description": "Why.", "maxLength": 500}
    key = {"type": "string", "description": "The key in the marker of the shortened result.", "maxLength": 100}
    offset = {"type": "integer", "minimum": 0, "maximum": _MOST_OFFSET, "description": "The first character to read."}
    remember = {"text": text, "kind": kind, "slot": slot}
    return {
        "remember": ("Store something about the user that will matter in later conversations.", remember, ["text"]),
        "recall": ("Find what is known about the user that answers a question.", {"query": query, "limit": limit}, ["query"]),
        "forget": (
            "Remove a memory for good, when the user asks for it or it is wrong.",
            {memory_id: named, "reason": reason},
            [memory_id],
        ),
        "list": ("List what is known about the user, newest last.", {"kind": kind, "limit": limit}, []),
        "read_result": ("Read on in a tool result that is shown shortened.", {"key": key, "offset": offset}, ["key"]),
    }


def functions(names: Iterable[str], allow: tuple[str, ...], place: Place | None = None, memory_id: str = "id") -> list[Function]:
    """These tools. Without a place they are schemas, and run nothing."""
    table = _tools(_KINDS + allow, memory_id)
    return [_function(name, *table[name], place) for name in names]


def _function(name: str, description: str, properties: dict[str, Any], required: list[str], place: Place | None) -> Function:
    def run(given: dict[str, Any]) -> Any:
        values = {key: _value(name, key, value, properties[key]) for key, value in given.items() if value is not None or key in required}
        return None if place is None else _RUN[name](place, **values)

    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Function(name, description, schema, run)


def schemas(format: ToolFormat, allow: Iterable[str]) -> list[dict[str, Any]]:  # noqa: A002  the field's own word
    """The schemas of a scope's tools in a provider's shape."""
    made = functions(_SCOPE_TOOLS, allowed(allow), memory_id="memory_id")
    match format:
        case "openai" | "openai_responses" | "anthropic":
            return [one.schema(format) for one in made]
        case "gemini":
            return [{"function_declarations": [{**one.schema("gemini"), "parameters": _without(one.parameters)} for one in made]}]
        case "mcp":
            return [{"name": one.name, "description": one.description, "inputSchema": dict(one.parameters)} for one in made]
        case _:  # pyright: ignore[reportUnnecessaryComparison]  callers without types
            raise InvalidInput(
                "writing tool schemas: format is 'openai', 'openai_responses', 'anthropic', 'gemini' or 'mcp', "
                f"and it is {shown(format)}: choose one"
            )


def _without(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without the fields that Gemini's dialect lacks."""
    return {key: value for key, value in schema.items() if key != "additionalProperties"}


def allowed(allow: Iterable[str]) -> tuple[str, ...]:
    """The guarded kinds that a caller allows.

    Raises:
        InvalidInput: One is another kind.
    """
    several = cast("object", allow)
    shape, kind = getattr(several, "shape", None), kind_of(several)
    if not isinstance(several, Iterable) or shape == ():  # an array of no dimension cannot be iterated
        raise InvalidInput(f"allowing a model to write: allow= has several kinds, and it is of type {kind}: pass a list")
    given = (allow,) if isinstance(allow, str) else tuple(allow)
    items = cast("tuple[object, ...]", given)
    if unknown := [one for one in items if not isinstance(one, str) or one not in _GUARDED]:
        raise InvalidInput(
            f"allowing a model to write: allow= takes 'constraint' and 'profile', and it has {shown(unknown[0])}: leave it out"
        )
    return given


def call(scope: Scope, name: str, arguments: Mapping[str, Any] | str, allow: Iterable[str]) -> str:
    """Does the work that a model asks for, and returns a result that it can read. A model's mistake is a reply, not an exception."""
    permitted = allowed(allow)
    try:
        tool = _named(name, functions(_SCOPE_TOOLS, permitted, Place(scope, permitted), memory_id="memory_id"))
        done = tool.run(checked(tool, _decoded(arguments)))
    except (InvalidInput, NotFound) as error:
        done = {"error": str(error)}
    return json.dumps(done, ensure_ascii=False)


def _named(name: str, tools: list[Function]) -> Function:
    for tool in tools:
        if tool.name == name:
            return tool
    raise InvalidInput(f"there is no tool {shown(name)}: use one of {', '.join(tool.name for tool in tools)}")


def _decoded(arguments: Mapping[str, Any] | str) -> object:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return arguments


def _value(name: str, key: str, value: Any, rule: dict[str, Any]) -> Any:
    if rule["type"] == "integer":
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not rule["minimum"] <= value <= rule["maximum"]:
            raise InvalidInput(
                f"{key} of {name} is a whole number from {rule['minimum']} to {rule['maximum']}, and it is {shown(value)}: change it"
            )
    elif not isinstance(value, str) or not value.strip() or len(value) > rule.get("maxLength", 100):
        raise InvalidInput(f"{key} of {name} is a text of 1 to {rule.get('maxLength', 100):,} characters, and it is not: change it")
    elif "enum" in rule and value not in rule["enum"]:
        raise InvalidInput(f"{key} of {name} is one of {', '.join(rule['enum'])}, and it is {shown(value)}: choose one")
    return value


def _remember(place: Place, text: str, kind: str = "semantic", slot: str | None = None) -> dict[str, Any]:
    scope = place.scope
    for held in () if slot is None else scope.slots.all(slot):
        place.check(held.kind, f"giving slot {slot!r} a value")
    store, core = scope._store, scope._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  whose policy and embedder a tool has, too
    draft = core.draft(text, {"kind": kind, "slot": slot, "confidence": 0.8, "source": "assistant", "found": store.found_in(text)})
    done = core.tell(draft, store.vectors_of([draft], scope))
    answer = {"action": done.action, "id": done.memory.id, "text": done.memory.text}
    return answer if done.reason is None else {**answer, "reason": done.reason}


def _recall(place: Place, query: str, limit: int = 5) -> dict[str, Any]:
    return {"memories": [_shown(hit.memory) for hit in place.scope.recall(query, limit)]}


def _forget(place: Place, reason: str = "a model asked for it", **named: str) -> dict[str, Any]:
    [memory_id] = named.values()  # id or memory_id
    known = place.scope._core.get(memory_id)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  nothing where it was forgotten before
    if known is not None:
        place.check(known.kind, f"forgetting {memory_id!r:.80}")
    return {"forgotten": place.scope.forget(memory_id, reason=reason)}


def _list(place: Place, kind: str | None = None, limit: int = 20) -> dict[str, Any]:
    memories = list(place.scope.memories(kinds=kind))
    return {"memories": [_shown(memory) for memory in memories[-limit:]], "of": len(memories)}


def _read_result(place: Place, key: str, offset: int = 0) -> str:
    if place.session is None:
        raise InvalidInput("reading on in a result: it is one of a session, and this is none: use another tool")
    part = place.session.tool_result(key, offset=offset)
    more = "" if part.next_offset is None else f"\n[{part.total_characters:,} characters in all; go on at offset {part.next_offset}]"
    return part.text + more


def _shown(memory: Memory) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": memory.id, "text": memory.text, "kind": memory.kind, "since": memory.occurred_at.date().isoformat()}
    return {**fields, "slot": memory.slot} if memory.slot is not None else fields


_RUN: dict[str, Callable[..., Any]] = {
    "remember": _remember,
    "recall": _recall,
    "forget": _forget,
    "list": _list,
    "read_result": _read_result,
}
