"""The tools of a session, and the running of a call: what `Session.tools` offers and `Session.answer` runs.

The scope is the session's own: a model reads and writes the memory of the user it talks to, and of nobody else. Errors in its
arguments become the tool's result, because the model can correct them. The tools themselves are those of `memspan.memory_tools`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan._flags import shown
from memspan.exceptions import Error, InvalidInput, UnknownModel
from memspan.function_tools import Function, ToolShape, checked, result_text
from memspan.memory_tools import SESSION_TOOLS, Place, allowed
from memspan.memory_tools import functions as own_tools
from memspan.model import models

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from memspan.reply import ToolCall
    from memspan.short_term import Session

__all__ = [
    "MemoryTool",
    "SessionTools",
    "distinct",
    "failure",
    "format_of",
    "memory_tools",
    "no_such_tool",
    "result_message",
    "run_call",
    "text_of_result",
]

MemoryTool: TypeAlias = Literal["remember", "recall", "forget", "read_result"]
"""A tool of the session's own."""


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

    def __call__(
        self,
        *names: MemoryTool,
        format: ToolShape | None = None,  # noqa: A002  the field's own word
        allow: Iterable[str] = (),
    ) -> list[dict[str, Any]]:
        """Schemas of tools by which a model uses this memory, to be given as `tools=`; `Session.answer` runs their calls.

        Args:
            names: Of "remember", "recall", "forget" and "read_result", each once; none means all.
            format: Another shape than that of the session's model.
            allow: Kinds that a model may write and forget besides: "constraint", "profile". `Session.answer` must be given the same.

        Raises:
            InvalidInput: A name is of no such tool or stands there twice, the format is of no provider, or `allow` has another kind.
        """
        return memory_tools(names, format_of(self._model) if format is None else format, allow)


def memory_tools(names: Sequence[str], shape: ToolShape, allow: Iterable[str] = ()) -> list[dict[str, Any]]:
    """The schemas of these tools, all of them by default.

    Raises:
        InvalidInput: One is unknown or named twice, or the shape is of no provider.
    """
    unknown = [name for name in names if name not in SESSION_TOOLS]
    if unknown:
        raise InvalidInput(
            f"choosing tools: they are {', '.join(SESSION_TOOLS)}, got {shown(unknown[0])}: name some of these", tool=unknown[0]
        )
    return [one.schema(shape) for one in distinct(own_tools(names or SESSION_TOOLS, allowed(allow)), ())]


def distinct(functions: Iterable[Function], offered: Iterable[str]) -> tuple[Function, ...]:
    """The functions, whose names must be their own: a model cannot say which of two it means."""
    functions, seen = tuple(functions), set(offered)
    for function in functions:
        if function.name in seen:
            raise InvalidInput(
                f"choosing tools: each must have a name of its own, and two are called {function.name!r}: rename one, or leave it out",
                tool=function.name,
            )
        seen.add(function.name)
    return functions


def run_call(
    session: Session,
    call: ToolCall,
    functions: Iterable[Callable[..., Any] | Function] = (),
    offered: Iterable[str] = SESSION_TOOLS,
    allow: Iterable[str] = (),
) -> dict[str, Any]:
    """Runs a call of one of these functions or of the session's own tools that were offered; the message that answers it.

    A coroutine is run to its end in an event loop of its own.
    """
    known = {function.name: function for function in map(Function.of, functions)}
    offered, permitted = tuple(offered), allowed(allow)
    own = [name for name in offered if name == call.name and name not in known]
    function = known.get(call.name) or next(iter(own_tools(own, permitted, Place(session.scope, permitted, session))), None)
    if function is None:
        names = ", ".join([*known, *offered])
        rule = f"must be one of {names}" if names else "must be one that was offered, and none was"
        raise InvalidInput(
            f"answering a tool call: the tool {rule}, got {call.name!r} (call {call.id!r}): run it yourself, and add the result",
            tool=call.name,
        )
    try:
        value = function.run(checked(function, call.arguments))
        return result_message(call, result_text(_awaited(value) if hasattr(value, "__await__") else value))
    except KeyboardInterrupt:  # from the person at the keyboard
        raise
    except BaseException as error:  # noqa: BLE001  whatever a tool raises is its result, also where it wants to end the program
        return failure(call, error)


def failure(call: ToolCall, error: BaseException) -> dict[str, Any]:
    """The message that tells the model how its call failed."""
    return result_message(call, f"{type(error).__name__}: {_shown(error)}", failed=True)


def no_such_tool(call: ToolCall, names: Iterable[str]) -> dict[str, Any]:
    """The message that tells the model that it was offered no tool of that name, and which ones it has."""
    offered = ", ".join(names)
    cure = f": call one of {offered}, or answer without a tool" if offered else ", and none is offered: answer without one"
    return result_message(call, f"no tool is called {call.name!r:.80}{cure}", failed=True)


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
