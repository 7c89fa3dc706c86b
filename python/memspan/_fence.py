"""The fence between Python's own errors and the caller: each becomes a `memspan.Error` that says what to do.

A wrong argument of a kind that nobody thought of ends in a TypeError or an AttributeError somewhere below, and a full disk in an OSError.
`fenced` turns those that are raised by this package's code into `InvalidInput` or an error of the store. Exceptions from
the caller's own code (an iterator, a callback, a tzinfo) pass through unchanged, because they are the caller's to handle.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Mapping
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard, TypeVar, cast

from memspan.exceptions import Error, InvalidInput, ReadOnly, StoreFull, StoreIo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

_C = TypeVar("_C", bound=type)
_F = TypeVar("_F", bound="Callable[..., Any]")

_WRONG = (TypeError, AttributeError, ValueError, KeyError, IndexError, ArithmeticError, RecursionError, OSError)
_HERE = os.path.dirname(__file__)  # noqa: PTH120  compared with names in tracebacks, which are texts
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_NO_RIGHT = {errno.EACCES, errno.EPERM, errno.EROFS}
_MOST = 300
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def fenced(cls: _C) -> _C:
    """A class whose public methods raise nothing but errors of memspan and of the caller's own code."""
    _take_over(cls)
    for name, member in list(vars(cls).items()):
        if name == "__post_init__" or not name.startswith("_"):
            if isinstance(member, FunctionType):
                setattr(cls, name, guarded(member))
            elif isinstance(member, (classmethod, staticmethod)):
                bound = cast("Any", member)  # its parameters are not known here
                setattr(cls, name, type(bound)(guarded(bound.__func__)))
    return cls


def _take_over(cls: type) -> None:
    """Makes what its private parts define the class's own: errors, `help` and the reference know it by that name alone."""
    for part in cls.__mro__[1:]:
        for name, member in vars(part).items() if part.__module__.startswith("memspan._") else ():
            if not name.startswith("__") and name not in vars(cls) and isinstance(member, FunctionType | property):
                if isinstance(member, FunctionType):
                    member.__module__, member.__qualname__ = cls.__module__, f"{cls.__name__}.{name}"
                setattr(cls, name, member)


def guarded(plain: _F) -> _F:
    """The same of one function, which may be a coroutine function or a generator."""
    flags = plain.__code__.co_flags  # as `inspect` reads them, which takes longer to import than memspan
    kinds = ((_COROUTINE, _coroutine), (_ASYNC_GENERATOR, _async_generator), (_GENERATOR, _generator))
    wrap = next((wrap for kind, wrap in kinds if flags & kind), _function)
    return functools.update_wrapper(wrap(plain), plain)  # type: ignore[return-value]  # it takes what the plain one takes


def is_number(value: object) -> bool:
    """Whether it is a number: an int, a float, or one of numpy's. To callers without types a bool is one too, and here it is not."""
    return plain_number(value) is not None


def is_whole(value: object) -> bool:
    """The same of a whole number alone."""
    return isinstance(plain_number(value), int)


def plain_number(value: object) -> int | float | None:
    """A number as an int or a float of Python's own; `None` of anything else, a bool and a time span of numpy's among it."""
    if type(value) is int or type(value) is float:
        return value
    if value is None or isinstance(value, bool | str):
        return None
    from numbers import Integral, Real  # noqa: PLC0415  modules that import is spared, and few numbers are of other types
    from operator import index  # noqa: PLC0415

    if not isinstance(value, Integral):
        return float(value) if isinstance(value, Real) else None
    try:
        return index(value)
    except TypeError:
        return None


def keep_plain(value: object, *names: str) -> None:
    """Makes numbers of Python's own of the fields of a frozen value."""
    for name in names:
        given = getattr(value, name)
        if given is not None and (plain := plain_number(given)) is not given:
            object.__setattr__(value, name, plain)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether it is a mapping; of what, nobody knows who did not make it."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[list[Any]]:
    """The same of a list."""
    return isinstance(value, list)


def is_async(function: object) -> bool:
    """Whether a call of it returns a coroutine, as that of an `async def` function, method or `__call__` does."""
    from inspect import iscoroutinefunction  # noqa: PLC0415  a module that import is spared, and few are asked

    return iscoroutinefunction(function) or iscoroutinefunction(getattr(type(function), "__call__", None))  # noqa: B004


def kind_of(value: object) -> str:
    """The name of its type, for a message."""
    return type(value).__name__


def _coroutine(plain: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return await plain(*args, **kwargs)
        except _WRONG as error:
            _raise(plain, error, args)

    return call


def _async_generator(plain: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        try:
            async for item in plain(*args, **kwargs):
                yield item
        except _WRONG as error:
            _raise(plain, error, args)

    return call


def _generator(plain: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from plain(*args, **kwargs)
        except _WRONG as error:
            _raise(plain, error, args)

    return call


def _function(plain: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return plain(*args, **kwargs)
        except _WRONG as error:
            _raise(plain, error, args)

    return call


def _raise(plain: Callable[..., Any], error: BaseException, given: tuple[object, ...]) -> NoReturn:
    """Raises what the caller is told; the error itself where it is ours already, was given to us, or comes out of the caller's code."""
    if isinstance(error, Error) or any(one is error for one in given) or _is_callers(error) or _is_of_the_call(error):
        raise error
    if isinstance(error, RecursionError) and _is_of_the_stack(error):
        raise error
    raise _ours(plain, error) from error


def _ours(plain: Callable[..., Any], error: BaseException) -> Error:
    said = f"{type(error).__name__}: {text_of(error)}"
    if isinstance(error, OSError) and error.errno is not None:
        return system_error(f"calling {plain.__qualname__}()", error)
    return InvalidInput(
        f"calling {plain.__qualname__}(): its arguments must be of the types that its docstring names, and one is not ({said}): "
        f"see help({_place_of(plain)})"
    )


def _place_of(plain: Callable[..., Any]) -> str:
    """The name by which `help` finds it: that of the package, where the package has it, or that of its module."""
    package = sys.modules["memspan"]
    return f"{'memspan' if hasattr(package, plain.__qualname__.partition('.')[0]) else plain.__module__}.{plain.__qualname__}"


def system_error(doing: str, error: OSError, path: object = None) -> Error:
    """The error of memspan for one of the operating system."""
    where = path if path is not None else error.filename
    at = f" at {str(where)[:_MOST]}" if where is not None else ""
    said = error.strerror or text_of(error)
    fields: dict[str, object] = {"path": str(where), "errno": error.errno}
    if error.errno in _NO_ROOM:
        return StoreFull(f"{doing}{at}: the system has no room ({said}); nothing half written is left: make room, try again", **fields)
    if error.errno in _NO_RIGHT:
        return ReadOnly(f"{doing}{at}: the system refused ({said}): give this process the right to write there, or another path", **fields)
    return StoreIo(f"{doing}{at}: the system refused ({said}): check the path, which must name a file in a folder that exists", **fields)


def _is_of_the_call(error: BaseException) -> bool:
    """Whether Python refused the call itself, for an argument that the signature does not have: an error of the program."""
    return isinstance(error, TypeError) and error.__traceback__ is not None and error.__traceback__.tb_next is None


def _is_of_the_stack(error: RecursionError) -> bool:
    """Whether the caller's own calls left no room, instead of an argument whose parts stand too deep in one another.

    The caller has more frames than this package then, and a good part of those that Python allows: more than a third, because calls by
    way of C count, and have no frame.
    """
    trace, own = error.__traceback__, 0
    while trace is not None:
        trace, own = trace.tb_next, own + 1
    frame: FrameType | None = sys._getframe()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    callers = 0
    while frame is not None:
        frame, callers = frame.f_back, callers + 1
    return callers > max(own, sys.getrecursionlimit() // 3)


def _is_callers(error: BaseException) -> bool:
    """Whether the last code on the way to it is not this package's. Python's own library does not count: both call it."""
    trace, callers = error.__traceback__, False
    while trace is not None:
        frame, trace = trace.tb_frame, trace.tb_next
        file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__"))
        if file.startswith(_HERE) or module.partition(".")[0] == "memspan":
            callers = False
        elif not _is_standard(file):
            callers = True
    return callers


def _is_standard(file: str) -> bool:
    """Python's own library. Code without a file, run by a program, `exec`, a notebook or the REPL, is the caller's, too."""
    return file.startswith((os.path.dirname(os.__file__), "<frozen ")) and "site-packages" not in file  # noqa: PTH120


def text_of(error: BaseException) -> str:
    """The message of an error, as text that can be shown and stored."""
    try:
        return str(error)[:_MOST].encode("utf-8", "replace").decode()
    except Exception:  # noqa: BLE001  a broken __str__ of the caller's must not hide what went wrong
        return "it cannot say why"
