"""The arguments of an assistant and of its calls. Those of another kind are refused before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from memspan._core import Limits
from memspan._fence import is_mapping, is_number, is_whole, kind_of
from memspan._flags import shown
from memspan._values import dataclass, replace
from memspan.collection import Collection
from memspan.exceptions import InvalidInput
from memspan.long_term import Scope
from memspan.model import Model, models
from memspan.providers.provider import Provider, provider_for
from memspan.session_tools import MemoryTool, format_of, memory_tools
from memspan.working import Budget, Recalls

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspan._assistant.values import Hook
    from memspan.function_tools import Function

__all__ = ["Setup", "check", "check_owned", "message_of", "provider_of", "schemas_of", "several", "several_or_none"]

_T = TypeVar("_T")


@dataclass(frozen=True)
class Setup:
    """The settings of an assistant, which hold for every turn."""

    model: str
    models: tuple[str, ...]
    providers: Mapping[str, Provider]
    functions: tuple[Function, ...]
    memory_tools: tuple[MemoryTool, ...]
    allow: tuple[str, ...]
    instructions: Mapping[str, Any]
    reads: tuple[Scope, ...] | None
    collections: tuple[Collection, ...] | None
    recalls: Recalls | None
    budget: Budget | None
    max_rounds: int
    tool_seconds: float
    lease_seconds: float
    wait_seconds: float
    learn: bool
    compact: bool
    hook: Hook | None

    def located(self, model: str) -> str | Model:
        """A model with the address that its provider sends it to, where that is not the vendor's own."""
        address = self.providers[model].base_url
        return replace(models[model], base_url=address) if address else model

    def seen_in(self, scope: Scope) -> dict[str, Any]:
        """The arguments that say what its sessions may see: of the scopes that are read along, all but the scope itself."""
        reads = None if self.reads is None else [one for one in self.reads if one != scope]
        return {"budget": self.budget, "collections": self.collections, "recalls": self.recalls, "reads": reads}


def schemas_of(model: str, functions: Iterable[Function], offered: Sequence[MemoryTool], allow: Iterable[str]) -> list[dict[str, Any]]:
    """The tools that a model is offered, in the shape of its requests."""
    shape = format_of(model)
    return [*(function.schema(shape) for function in functions), *(memory_tools(offered, shape, allow) if offered else ())]


def message_of(message: object) -> Mapping[str, Any]:
    """The user's message as a mapping."""
    given = {"role": "user", "content": message} if isinstance(message, str) else message
    if not is_mapping(given):
        raise InvalidInput(f"answering: a message is a text or a mapping with a role, and this is of type {kind_of(given)}: pass one")
    if given.get("role") != "user":
        raise InvalidInput(
            f"answering: a message is the user's, and this one's role is {shown(given.get('role'))}: give it the role 'user'; what "
            "others said goes to session.add"
        )
    return given


def check(**given: object) -> None:
    """Refuses arguments that break their rule."""
    for name, is_right, rule in _RULES:
        _refuse(name, given[name], is_right(given[name]), rule)


def _refuse(name: str, value: object, is_right: bool, rule: str) -> None:
    if not is_right:
        raise InvalidInput(f"making an assistant: {name} must be {rule}, and it is {shown(value)}: change it")


def check_owned(doing: str, name: str, engine: object, scopes: Iterable[Scope]) -> None:
    """Refuses scopes of another engine, which has another store or is opened beside this one."""
    for scope in scopes:
        of = getattr(engine, scope.type, None)
        if of is None or of(scope.id, tenant=scope.tenant) != scope:
            raise InvalidInput(
                f"{doing}: {name} must be of the assistant's engine, and {scope!r} is of another: give the assistant an Engine, and take "
                "it from that"
            )


def several(name: str, given: Iterable[_T]) -> tuple[_T, ...]:
    """An argument that has several values."""
    value: object = given
    _refuse(name, value, _is_several(value), "several, as in a list")
    return tuple(given)


def several_or_none(name: str, given: Iterable[_T] | None) -> tuple[_T, ...] | None:
    """The same of one that may be left out."""
    return None if given is None else several(name, given)


def _is_several(value: object) -> bool:
    """Whether it has items of its own. A text has letters and a mapping has keys, and an array of no dimension cannot be iterated."""
    shape: object = getattr(value, "shape", None)
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | bytearray | Mapping) and shape != ()


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(one, str) for one in values)


def _is_time(value: object) -> bool:
    return is_number(value) and 0 <= cast("float", value) <= Limits.MAX_WAIT_SECONDS


def _is_time_above_none(value: object) -> bool:
    return _is_time(value) and value != 0


_RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("provider", lambda one: isinstance(one, Provider), "a memspan.providers.Provider, OpenAI() for instance, or a subclass"),
    ("providers", lambda ways: is_mapping(ways) and all(isinstance(one, Provider) for one in ways.values()), "Providers by model"),
    ("model", lambda one: isinstance(one, str), "the name of one in memspan.models"),
    ("fallbacks", _are_texts, "names of models"),
    ("memory_tools", _are_texts, "names of tools"),
    ("system", lambda one: one is None or isinstance(one, str), "a text, or None"),
    ("reads", lambda given: given is None or all(isinstance(one, Scope) for one in given), "memspan.Scopes, or None"),
    ("collections", lambda given: given is None or all(isinstance(one, Collection) for one in given), "memspan.Collections, or None"),
    ("recalls", lambda one: one is None or isinstance(one, Recalls), "a memspan.Recalls, or None"),
    ("budget", lambda one: one is None or isinstance(one, Budget), "a memspan.Budget, or None"),
    ("max_rounds", lambda one: is_whole(one) and one >= 0, "a whole number of 0 or more"),
    ("tool_seconds", _is_time_above_none, "a number above 0 and at most a day"),
    ("lease_seconds", _is_time_above_none, "a number above 0 and at most a day"),
    ("wait_seconds", _is_time, "a number from 0 to a day"),
    ("hook", lambda one: one is None or callable(one), "a function, or None"),
)
"""What the arguments of an assistant must be, in the order in which they are looked at."""


def provider_of(model: str, provider: Provider, providers: Mapping[str, Provider]) -> Provider:
    """The way to a model, which is found when the assistant is made: a name that nobody knows is not to be told in an outage."""
    models[model]
    return providers.get(model) or (provider if provider.serves(model) else provider_for(model))
