# ruff: noqa: PLC0414, ARG001  names are given on as they are, and methods take what Python gives them
"""Frozen values without the price of `dataclasses`, which compiles six functions a class and takes `inspect` along.

To type checkers `dataclass` and `field` are those of the standard library, and a value behaves as they say: it is compared, hashed,
printed, pickled, matched and replaced field by field. `dataclasses.fields`, `replace` and `asdict` take it, and pay for what they need
then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

__all__ = ["FrozenDict", "Kept", "asdict", "dataclass", "field", "fields", "fresh", "of_module", "replace"]

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import asdict as asdict
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
    from typing import Self
else:

    class _Field:
        __slots__ = ("compare", "default", "default_factory", "hash", "name", "repr", "type")

        def __init__(self, default=..., default_factory=..., repr=True, hash=None, compare=True):  # noqa: A002  the names of dataclasses
            self.default, self.default_factory = default, default_factory
            self.repr, self.hash, self.compare = repr, compare if hash is None else hash, compare

        def value(self) -> Any:
            return self.default if self.default_factory is ... else self.default_factory()

        @property
        def is_needed(self) -> bool:
            return self.default is ... and self.default_factory is ...

    def field(**options: Any) -> Any:
        """A field with a default of its own making, or one that is not compared, hashed or printed."""
        return _Field(**options)

    def dataclass(*, frozen: bool = False, eq: bool = True, kw_only: bool = False) -> Callable[[type], type]:
        """A class whose instances are made of the fields that it annotates."""

        def make(cls: type) -> type:
            cls._fields = {name: one for base in cls.__mro__[:0:-1] for name, one in getattr(base, "_fields", {}).items()} | _own(cls)
            cls.__match_args__ = () if kw_only else tuple(cls._fields)
            for method in (_init, _repr, *((_eq, _hash) if eq else ()), *((_setattr, _delattr) if frozen else ())):
                name = f"_{method.__name__}__"
                if name not in vars(cls):
                    setattr(cls, name, method)
            if eq and not frozen:
                cls.__hash__ = None
            cls.__replace__, cls.__signature__, cls.__dataclass_fields__ = replace, _Signature(), _Fields()
            return cls

        return make

    def replace(value: Any, **changes: Any) -> Any:
        """The same value with other fields."""
        return type(value)(**{name: getattr(value, name) for name in value._fields} | changes)

    def fields(value: Any) -> tuple[_Field, ...]:
        """The fields of a value or of its class, in their order."""
        return tuple(value._fields.values())

    def asdict(value: Any) -> dict[str, Any]:
        """The fields by name; values within it become dicts too."""
        from dataclasses import asdict as theirs  # noqa: PLC0415

        return theirs(value)

    def _own(cls: type) -> dict[str, _Field]:
        fields = {}
        for name, kind in vars(cls).get("__annotations__", {}).items():
            if str(kind).startswith(("ClassVar", "typing.ClassVar")):
                continue
            given = vars(cls).get(name, ...)
            one = given if isinstance(given, _Field) else _Field(given)
            one.name, one.type = name, kind
            fields[name] = one
            if one.default is not ...:
                setattr(cls, name, one.default)
            elif name in vars(cls):
                delattr(cls, name)
        return fields

    def _init(self, /, *args: Any, **given: Any) -> None:
        fields, values, places = self._fields, self.__dict__, self.__match_args__
        if len(args) > len(places):
            raise TypeError(f"{type(self).__name__}() takes {len(places)} arguments without their names, and {len(args)} were given")
        values.update(zip(places, args, strict=False))
        if given:
            if not given.keys().isdisjoint(values) or not given.keys() <= fields.keys():
                wrong = next(name for name in given if name in values or name not in fields)
                raise TypeError(f"{type(self).__name__}() got {'an unexpected' if wrong not in fields else 'twice the'} argument {wrong!r}")
            values.update(given)
        if len(values) < len(fields):
            for name, one in fields.items():
                if name not in values:
                    if one.is_needed:
                        raise TypeError(f"{type(self).__name__}() needs the argument {name!r}")
                    values[name] = one.value()
        check = getattr(self, "__post_init__", None)
        if check is not None:
            check()

    def _repr(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name, one in self._fields.items() if one.repr)
        return f"{type(self).__qualname__}({', '.join(shown)})"

    def _eq(self, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name, one in self._fields.items() if one.compare)

    def _hash(self) -> int:
        return hash(tuple(getattr(self, name) for name, one in self._fields.items() if one.hash))

    def _setattr(self, name: str, value: object) -> None:
        from dataclasses import FrozenInstanceError  # noqa: PLC0415

        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _delattr(self, name: str) -> None:
        from dataclasses import FrozenInstanceError  # noqa: PLC0415

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    class _Signature:
        """The class's signature, for `inspect.signature`."""

        def __get__(self, _value: object, cls: type) -> Any:
            from inspect import Parameter, Signature  # noqa: PLC0415

            def parameter(one: _Field) -> Parameter:
                default = Parameter.empty if one.is_needed else one.value()
                kind = Parameter.POSITIONAL_OR_KEYWORD if one.name in cls.__match_args__ else Parameter.KEYWORD_ONLY
                return Parameter(one.name, kind, default=default, annotation=one.type)

            return Signature([parameter(one) for one in cls._fields.values()])

    class _Fields:
        """The fields for `dataclasses.fields`, made when they are asked for."""

        def __get__(self, _value: object, cls: type) -> Any:
            import dataclasses  # noqa: PLC0415

            def theirs(one: _Field) -> Any:
                options = {"default": one.default, "default_factory": one.default_factory}
                given = {name: option for name, option in options.items() if option is not ...}
                return dataclasses.field(**given, repr=one.repr, hash=one.hash, compare=one.compare)

            rows = [(one.name, one.type, theirs(one)) for one in cls._fields.values()]
            return dataclasses.make_dataclass(cls.__name__, rows).__dataclass_fields__


class Kept:
    """A value that the core keeps: a field is made when it is first read, and stays. A copy of it is itself."""

    def kept(self, name: str) -> Any:
        """A value that the core makes at each use; a copy that was pickled has nothing of the core."""
        if "_kept" not in self.__dict__:
            from memspan.exceptions import InvalidInput  # noqa: PLC0415  few copies are asked

            raise InvalidInput(
                f"reading the {name} of {self!r}: it is made from the store, and this is a copy that was pickled: read it before pickling"
            )
        return self.__dict__["_kept"].field(name)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            values = self.__dict__
            if "_kept" not in values or name not in self._fields:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = values[name] = values["_kept"].field(name)
            return value

        def __getstate__(self) -> dict[str, Any]:
            return {name: getattr(self, name) for name in self._fields}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self


_T = TypeVar("_T")
_V = TypeVar("_V")


class FrozenDict(dict[str, _V]):
    """A field's dict, which nobody changes. `dataclasses.asdict`, `copy` and `pickle` take it, as they do not Python's mapping proxy."""

    __slots__ = ()

    def _refused(self, *_args: object, **_options: object) -> NoReturn:
        raise TypeError("a field of a frozen value cannot be changed: make another with dataclasses.replace")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = cast("Any", _refused)

    def __reduce__(self) -> tuple[type[dict[str, _V]], tuple[dict[str, _V]]]:
        return FrozenDict, (dict(self),)


class _Fresh:
    """A field of dicts and lists that every reader gets for itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, value: Any, _cls: type | None = None) -> Any:
        if value is None:
            return self
        kept = value.__dict__.get("_kept")
        if kept is not None:
            return kept.field(self._name)
        from copy import deepcopy  # noqa: PLC0415  few values are asked for them

        return deepcopy(value.__dict__[self._name])

    def __set__(self, value: Any, _new: object) -> None:
        raise AttributeError(f"cannot assign to field {self._name!r}")


def fresh(*names: str) -> Callable[[type[_T]], type[_T]]:
    """The fields of a value that hold dicts. A reader gets a copy, so that nobody changes the value."""

    def make(cls: type[_T]) -> type[_T]:
        for name in names:
            setattr(cls, name, _Fresh(name))
        return cls

    return make


def of_module(name: str) -> Callable[[type[_T]], type[_T]]:
    """Says which module's value it is: that which callers import it from."""

    def make(cls: type[_T]) -> type[_T]:
        cls.__module__ = name
        return cls

    return make
