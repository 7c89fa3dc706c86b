"""Everything memspan raises, as one tree below `Error`.

    memspan.Error
    ├── InputError                     the call asks for something that cannot be
    │   ├── InvalidInput               ValueError       an argument breaks a rule of its docstring
    │   ├── NotFound                   KeyError         no such memory, session or slot
    │   ├── IdConflict                 ValueError       an `id=` was used before, with other content
    │   ├── UnknownModel               KeyError         the model is not in the registry
    │   ├── BudgetExceeded             ValueError       the fixed parts of a prompt do not fit its limit
    │   ├── TokenizerError             ValueError       a tokenizer file is not what it should be
    │   └── MissingExtra               ImportError      an optional package is not installed
    ├── StateError                     the call was right, the moment was not
    │   ├── SessionMoved               RuntimeError     `expect_index`, or the prompt, is stale
    │   ├── ModelMismatch              RuntimeError     the session belongs to another model
    │   ├── ToolCallClosed             RuntimeError     the tool call was answered or cancelled before
    │   ├── ReadOnly                   PermissionError  the store cannot be written
    │   ├── Closed                     RuntimeError     the engine is closed, the scope erased, or the session ended
    │   ├── EmbedderError              RuntimeError     the embedder raised, timed out or broke its promise
    │   └── ProviderError              RuntimeError     a model's reply failed while it came, or never ended
    └── StoreError                     the store or the system under it refused
        ├── StoreBusy                  TimeoutError     not written: another writer held the store
        ├── StoreCorrupt               OSError          not a store, or a damaged one
        ├── StoreVersion               OSError          written by a newer memspan
        ├── WrongKey                   PermissionError  no key, another one, or one too many
        ├── StoreNotShareable          OSError          its locks cannot be shared from here
        ├── StoreFull                  OSError          the disk or the reserved map is full
        ├── StoreIo                    OSError          the system refused an operation on its files
        └── OutcomeUnknown             OSError          a sync failed: the write may or may not be on disk

Each class is also the standard class beside it, so that `except ValueError` and `except TimeoutError` mean what they always mean.
A message says what was being done, the rule, the value received, where, and what to do next; the values in it are attributes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "BudgetExceeded",
    "Closed",
    "EmbedderError",
    "Error",
    "IdConflict",
    "InputError",
    "InvalidInput",
    "MissingExtra",
    "ModelMismatch",
    "NotFound",
    "OutcomeUnknown",
    "ProviderError",
    "ReadOnly",
    "SessionMoved",
    "StateError",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreIo",
    "StoreNotShareable",
    "StoreVersion",
    "TokenizerError",
    "ToolCallClosed",
    "UnknownModel",
    "WrongKey",
]


class Error(Exception):
    """The root of everything memspan raises.

    Attributes:
        message: The whole text.
        fields: The values that the message speaks of, by name; each is an attribute too.

    Examples:
        >>> error = memspan.Error("the limit is 8, got 9", limit=8, received=9)
        >>> error.limit, error.received, str(error)
        (8, 9, 'the limit is 8, got 9')
    """

    message: str
    fields: dict[str, object]

    def __init__(self, message: str, /, **fields: object) -> None:
        super().__init__(message)
        self.message = message
        self.fields = fields
        for name, value in fields.items():
            setattr(self, name, value)

    # KeyError prints the repr of its argument, OSError its errno: a message is read by people, whatever its standard class.
    def __str__(self) -> str:
        return self.message

    # The default pickles `args` alone, and would lose the fields on the way back from a worker process.
    def __reduce__(self) -> tuple[Callable[..., Error], tuple[object, ...], dict[str, object]]:
        notes: dict[str, object] = {"__notes__": list(self.__notes__)} if hasattr(self, "__notes__") else {}
        return _restore, (type(self), self.message, self.fields), notes

    if TYPE_CHECKING:  # attributes come from the fields, which belong to the message

        def __getattr__(self, name: str) -> object: ...


class InputError(Error):
    """The call asks for something that cannot be."""


class InvalidInput(InputError, ValueError):
    """An argument breaks a rule that its docstring states."""


class NotFound(InputError, KeyError):
    """The memory, session or slot that was named does not exist."""


class IdConflict(InputError, ValueError):
    """An `id=` was used before in this scope or session, with other content or another time. Nothing was written."""


class UnknownModel(InputError, KeyError):
    """The model is not in the registry: `memspan.models.register` adds one."""


class BudgetExceeded(InputError, ValueError):
    """The fixed parts of a prompt need more tokens than its limit allows, or a limit is asked for that the model does not have.

    Attributes:
        needed_tokens: The least `max_input_tokens` that would do, where a prompt does not fit. `tools_tokens`, `system_tokens`,
            `pinned_tokens`, `summary_tokens`, `newest_tokens` and `frame_tokens` add up to it. The results of the newest round count as
            short as they can be shown.
        limit_tokens: The limit, where there is one.
    """


class TokenizerError(InputError, ValueError):
    """A tokenizer file is not what it should be."""


class MissingExtra(InputError, ImportError):
    """A package of an optional extra is not installed; the message names the command that installs it.

    Attributes:
        extra: The extra's name, as in `pip install 'memspan[extra]'`.
    """

    extra: str


class StateError(Error):
    """The call was right, the moment was not."""


class SessionMoved(StateError, RuntimeError):
    """The session is longer than the caller believes: `expect_index`, or the prompt, is stale. Nothing was written."""


class ModelMismatch(StateError, RuntimeError):
    """The session belongs to another model; `switch_model` moves it on purpose."""


class ToolCallClosed(StateError, RuntimeError):
    """A result came for a tool call that was answered or cancelled before."""


class ReadOnly(StateError, PermissionError):
    """The store was opened with `read_only=True`, or its folder cannot be written."""


class Closed(StateError, RuntimeError):
    """The engine is closed, or the session was ended: `fork` goes on with it."""


class EmbedderError(StateError, RuntimeError):
    """The embedder raised, timed out, or returned something that is not what it declared."""


class ProviderError(StateError, RuntimeError):
    """A model's reply failed while it came, or its stream ended before it did. `Session.partial_reply` has the part that came."""


class StoreError(Error):
    """The store, or the system under it, refused."""


class StoreBusy(StoreError, TimeoutError):
    """Nothing was written: another writer held the store until the timeout ran out. Trying again is safe."""


class StoreCorrupt(StoreError, OSError):
    """The folder holds something that is not a store, or a damaged one."""


class StoreVersion(StoreError, OSError):
    """The store was written by a newer version of memspan."""


class WrongKey(StoreError, PermissionError):
    """The store's values are encrypted and the key is missing or another one, or they are not and a key was given. Nothing was read.

    Attributes:
        reason: `"missing"`, `"wrong"` or `"not encrypted"`.
    """

    reason: str


class StoreNotShareable(StoreError, OSError):
    """The store is open where its locks cannot be shared: another container, another libc, a network file system, a read-only mount."""


class StoreFull(StoreError, OSError):
    """No room: the disk or the reserved map is full. Nothing was written."""


class StoreIo(StoreError, OSError):
    """The operating system refused an operation on the store's files.

    Attributes:
        outcome: `"done"` where the call was done all the same, and what failed is the removal of files of before; `None` otherwise.
    """

    outcome: Literal["done"] | None = None


class OutcomeUnknown(StoreError, OSError):
    """A sync failed. Reading the store again is the only way to know whether the write is on disk.

    Attributes:
        outcome: Always `"unknown"`.
    """

    outcome: str = "unknown"


# The engine's kinds, in the order of `ErrorKind` in rust/engine/src/error.rs; a test holds the two together.
_CLASSES: dict[str, type[Error]] = {
    "InvalidInput": InvalidInput,
    "NotFound": NotFound,
    "IdConflict": IdConflict,
    "StoreBusy": StoreBusy,
    "ReadOnly": ReadOnly,
    "Closed": Closed,
    "StoreCorrupt": StoreCorrupt,
    "StoreVersion": StoreVersion,
    "WrongKey": WrongKey,
    "StoreNotShareable": StoreNotShareable,
    "StoreFull": StoreFull,
    "StoreIo": StoreIo,
    # Seen only where opening the store anew did not help: to a caller the files are gone, whatever the system said of it.
    "FilesReplaced": StoreIo,
    "OutcomeUnknown": OutcomeUnknown,
    "Embedder": EmbedderError,
    "SessionMoved": SessionMoved,
    "ModelMismatch": ModelMismatch,
    "BudgetExceeded": BudgetExceeded,
    "ToolCallClosed": ToolCallClosed,
    "UnknownModel": UnknownModel,
    "Tokenizer": TokenizerError,
}


def from_engine(kind: str, message: str, fields: Mapping[str, object]) -> Error:
    """The exception for an error of the engine; the binding calls it once for each error.

    Args:
        kind: The name of an `ErrorKind`.
        message: The whole message, which becomes the exception's text.
        fields: The values of the message, by name.

    Returns:
        The exception, not raised. A kind that this version does not know becomes a plain `Error`: its message must not be lost.
    """
    return _CLASSES.get(kind, Error)(message, **fields)


def _restore(cls: type[Error], message: str, fields: dict[str, object]) -> Error:
    return cls(message, **fields)
