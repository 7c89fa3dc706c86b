"""Procedural memory: the versions of a session's system prompt and tool schemas (`Session.versions`)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from memspan._values import dataclass
from memspan.exceptions import InvalidInput
from memspan.function_tools import Function

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memspan import _records

__all__ = ["Version", "Versions", "check_schemas", "text_of", "tools_of"]

_SHOWN = 40


@dataclass(frozen=True)
class Version:
    """A system prompt or tool schemas that a session had.

    Attributes:
        number: From 1, for each of the two.
        value: The text, or the list of schemas.
        epoch: The first epoch with it.
        since: When that began: aware, in UTC.
    """

    number: int
    value: str | list[Any]
    epoch: int
    since: datetime

    def __repr__(self) -> str:
        text = self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)
        short = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
        return f"Version(number={self.number}, {short!r}, epoch={self.epoch})"


@dataclass(frozen=True)
class Versions:
    """Both, oldest first.

    Attributes:
        system: Of the system prompt.
        tools: Of the tool schemas.
    """

    system: tuple[Version, ...]
    tools: tuple[Version, ...]

    @staticmethod
    def of(versions: Iterable[_records.StoredVersion]) -> Versions:
        """From what the engine says of them."""
        known = list(versions)
        system = tuple(Version(one.number, one.text, one.epoch, one.since) for one in known if not one.is_tools)
        tools = tuple(Version(one.number, json.loads(one.text), one.epoch, one.since) for one in known if one.is_tools)
        return Versions(system, tools)


def text_of(system: str | Version | None) -> str | None:
    """The system prompt that is named."""
    if not isinstance(system, Version):
        return system
    if not isinstance(system.value, str):
        raise InvalidInput(
            f"switching models: system= takes a version of the system prompt, got one of tools, {system!r}: pass it as tools="
        )
    return system.value


def tools_of(tools: Iterable[Any] | Version | None) -> Iterable[Any] | None:
    """The tools that are named."""
    if not isinstance(tools, Version):
        check_schemas("switching models", tools)
        return tools
    if isinstance(tools.value, str):
        raise InvalidInput(
            f"switching models: tools= takes a version of the tools, got one of the system prompt, {tools!r}: pass it as system="
        )
    return tools.value


def check_schemas(doing: str, tools: Iterable[Any] | None) -> None:
    """Refuses functions, which an assistant takes: to a session a tool is its schema."""
    for tool in cast("Iterable[object]", tools) if isinstance(tools, list | tuple) else ():
        if isinstance(tool, Function) or callable(tool):
            name = tool.name if isinstance(tool, Function) else getattr(tool, "__name__", "it")
            raise InvalidInput(f"{doing}: tools= takes schemas, and one is the function {name}: pass memspan.Function.of({name}).schema()")
