"""Python functions as tools of a model: their type hints become a schema, their docstring the description.

Schemas and the checking of arguments are pydantic's, an extra: `pip install 'memspan[tools]'` (the SDKs of OpenAI and Anthropic bring it).
A function that should have another schema is given as a `Function`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memspan._fence import is_mapping, kind_of, text_of
from memspan._flags import shown
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Function", "ToolShape", "checked", "result_text"]

ToolShape: TypeAlias = Literal["openai", "openai_responses", "anthropic", "gemini"]
"""Whose shape a schema is in."""

_MOST_RESULT = 16 << 20


@dataclass(frozen=True)
class Function:
    """A tool that the application runs.

    Attributes:
        name: The name by which the model calls it.
        description: Its purpose, for the model.
        parameters: JSON Schema of its arguments, an object.
        run: Called with the arguments as a dict; may return an awaitable.

    Examples:
        >>> def grep(pattern: str, path: str = ".") -> str:
        ...     '''Searches files for a pattern.'''
        ...     return f"nothing like {pattern} in {path}"
        >>> tool = memspan.Function.of(grep)
        >>> tool.name, tool.description, sorted(tool.parameters["properties"]), tool.parameters["required"]
        ('grep', 'Searches files for a pattern.', ['path', 'pattern'], ['pattern'])
        >>> tool.run({"pattern": "port"})
        'nothing like port in .'
    """

    name: str
    description: str
    parameters: Mapping[str, Any] = field(hash=False)
    run: Callable[[dict[str, Any]], Any] = field(hash=False, compare=False)

    @classmethod
    def of(cls, tool: Callable[..., Any] | Function) -> Function:
        """The tool of a function, by its type hints and its docstring; a `Function` is itself.

        Raises:
            MissingExtra: pydantic is not installed.
            InvalidInput: It is not a function with named, typed parameters.
        """
        if isinstance(tool, Function):
            return tool
        name = getattr(tool, "__name__", "")
        if not name.isidentifier() or not callable(tool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"making a tool: it must be a function with a name, got {shown(tool)}: pass a def, or a memspan.Function")
        try:
            from pydantic import TypeAdapter  # noqa: PLC0415  an extra
            from pydantic_core import ArgsKwargs  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtra(
                f"making a tool of {name}() needs pydantic, which is not installed: pip install 'memspan[tools]'", extra="tools"
            ) from error
        try:
            adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", tool))  # a function is no type to type checkers, and one to pydantic
            schema = adapter.json_schema()
        except Exception as error:
            raise InvalidInput(
                f"making a tool: the parameters of {name}() must be named and have types that JSON can say, got {error}: change its hints"
            ) from error
        if schema.get("type") != "object":
            raise InvalidInput(f"making a tool: the parameters of {name}() must be named, and some are positional only: name them")
        from inspect import getdoc  # noqa: PLC0415  it takes longer to import than memspan

        description = getdoc(tool) or ""
        return cls(name, description, _plain_schema(schema), lambda given: adapter.validate_python(ArgsKwargs((), given)))

    def schema(self, shape: ToolShape = "openai") -> dict[str, Any]:
        """Its schema as a provider takes it.

        Raises:
            InvalidInput: The shape is none of a provider.
        """
        described: dict[str, Any] = {"name": self.name, "description": self.description}
        parameters = dict(self.parameters)
        match shape:
            case "openai":
                return {"type": "function", "function": {**described, "parameters": parameters}}
            case "openai_responses":
                return {"type": "function", **described, "parameters": parameters}
            case "anthropic":
                return {**described, "input_schema": parameters}
            case "gemini":
                return {**described, "parameters": parameters}
            case _:  # pyright: ignore[reportUnnecessaryComparison]  callers without types
                raise InvalidInput(
                    "writing tool schemas: the format is 'openai', 'openai_responses', 'anthropic' or 'gemini', "
                    f"and it is {shown(shape)} (tool {self.name!r:.80}): choose one"
                )


def checked(function: Function, arguments: object) -> dict[str, Any]:
    """The arguments of a call, where they are an object with what the schema requires and nothing that a closed schema does not know."""
    name, schema = function.name, function.parameters
    if not is_mapping(arguments):
        rule = "must be a JSON object, without numbers that are too large to hold"
        raise InvalidInput(f"the arguments of {name} {rule}, got {shown(arguments)}: write them again")
    given, properties = dict(arguments), cast("Mapping[str, Any]", schema.get("properties") or {})
    for key in schema.get("required", ()):
        if key not in given:
            raise InvalidInput(f"{name} needs {key}: give it")
    for key in given:
        if key not in properties and schema.get("additionalProperties") is False:
            raise InvalidInput(f"{name} takes {', '.join(properties) or 'nothing'}, and not {shown(key)}: leave it out")
    return given


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Without what no provider needs: titles of fields."""
    found = {key: value for key, value in schema.items() if key != "title"}
    if isinstance(found.get("properties"), dict):
        properties = cast("dict[str, Any]", found["properties"])
        found["properties"] = {name: {key: value for key, value in one.items() if key != "title"} for name, one in properties.items()}
    found.setdefault("properties", {})
    return found


def result_text(value: Any) -> str:
    """The result of a tool, as text: a text as it is, anything else as JSON. A longer one is cut to 16 MiB, with a note that says so.

    Models of pydantic and dataclasses are objects of their public fields, tuples and sets are arrays (a set is sorted), and an Enum is its
    value. Dates and times are ISO 8601. Decimals, UUIDs, nan and everything else that JSON lacks are text, as `str` writes it. Bytes alone
    are refused. Within a value they are text where they are UTF-8, and "[12 bytes]" where they are not.

    Raises:
        InvalidInput: It is nothing that text can say.
    """
    if isinstance(value, str):
        text = value
    elif isinstance(value, bytes | bytearray | memoryview):
        raise InvalidInput("adding a tool result: it must be text or what JSON can say, got bytes: decode or describe them")
    else:
        from memspan._as_json import as_json  # noqa: PLC0415  many tools return texts

        try:
            text = as_json(value)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(
                f"adding a tool result: it must be text or what JSON can say, and the {kind_of(value)} that came is not "
                f"({text_of(error)}): return the parts that the model needs"
            ) from error
    size = len(text)
    if size <= _MOST_RESULT // 4:
        return text
    raw = text.encode("utf-8", "replace")
    if len(raw) <= _MOST_RESULT:
        return text
    return f"{raw[:_MOST_RESULT].decode('utf-8', 'ignore')}\n[cut: {len(raw):,} bytes, of which 16 MiB are kept]"
