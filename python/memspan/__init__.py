"""memspan: an embedded memory-and-context engine for LLM applications.

Start at `open`, which gives an `Engine`. `Engine.user` and `Engine.shared` give a `Scope`, which remembers and recalls.
`Scope.session` gives a `Session`, which keeps a conversation and assembles its prompts. `Scope.collection` gives a
`Collection` of documents.
`count_tokens`, `truncate`, `TokenCounter`, `fit` and `models` need no store.
Values that are returned are frozen; errors are one tree below `Error`.

This module exports every name that a program calls, makes, catches or annotates with. Values that are only ever returned (`Section`,
`DocumentInfo`, ...) live in the module of the call that returns them. `from memspan import *` leaves the built-in `open` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan import _core, tokenizers
from memspan._kept import Memory, Message, Recalled, Remembered
from memspan._results import Explanation
from memspan.answer import Answer, Hit
from memspan.collection import Collection, NewDocument, Passage
from memspan.compaction import compact
from memspan.counting import TokenCounter, count_tokens, fit, truncate
from memspan.embedding import Embedder, Event
from memspan.engine import Engine, GraphOptions, aopen, build_info
from memspan.engine import open as open  # noqa: A004  on the face, though a star import must leave the built-in alone
from memspan.exceptions import (
    BudgetExceeded,
    Closed,
    EmbedderError,
    Error,
    IdConflict,
    InputError,
    InvalidInput,
    MissingExtra,
    ModelMismatch,
    NotFound,
    OutcomeUnknown,
    ProviderError,
    ReadOnly,
    SessionMoved,
    StateError,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreIo,
    StoreNotShareable,
    StoreVersion,
    TokenizerError,
    ToolCallClosed,
    UnknownModel,
    WrongKey,
)
from memspan.function_tools import Function
from memspan.life import KindRule, Policy
from memspan.long_term import NewMemory, Scope
from memspan.model import CacheRules, Model, Prices, dialects, models
from memspan.refusals import Refusal
from memspan.short_term import Added, NewMessage, Session
from memspan.task import Task
from memspan.transcript import TranscriptHit, Turn, Usage
from memspan.working import Budget, Compact, Grant, Item, Prompt, Recalls, ToolResults

if TYPE_CHECKING:
    from memspan import cache as cache
    from memspan import detectors as detectors
    from memspan import embedders as embedders
    from memspan import providers as providers
    from memspan import testing as testing
    from memspan.assistant import Assistant
    from memspan.erasure import Retention as Retention
    from memspan.evaluation import evaluate as evaluate
    from memspan.reply import ToolCall as ToolCall

__all__ = [
    "Added",
    "Answer",
    "Assistant",
    "Budget",
    "BudgetExceeded",
    "CacheRules",
    "Closed",
    "Collection",
    "Compact",
    "Embedder",
    "EmbedderError",
    "Engine",
    "Error",
    "Event",
    "Explanation",
    "Function",
    "Grant",
    "GraphOptions",
    "Hit",
    "IdConflict",
    "InputError",
    "InvalidInput",
    "Item",
    "KindRule",
    "Memory",
    "Message",
    "MissingExtra",
    "Model",
    "ModelMismatch",
    "NewDocument",
    "NewMemory",
    "NewMessage",
    "NotFound",
    "OutcomeUnknown",
    "Passage",
    "Policy",
    "Prices",
    "Prompt",
    "ProviderError",
    "ReadOnly",
    "Recalled",
    "Recalls",
    "Refusal",
    "Remembered",
    "Scope",
    "Session",
    "SessionMoved",
    "StateError",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreIo",
    "StoreNotShareable",
    "StoreVersion",
    "Task",
    "TokenCounter",
    "TokenizerError",
    "ToolCallClosed",
    "ToolResults",
    "TranscriptHit",
    "Turn",
    "UnknownModel",
    "Usage",
    "WrongKey",
    "aopen",
    "build_info",
    "compact",
    "count_tokens",
    "dialects",
    "evaluate",
    "fit",
    "models",
    "tokenizers",
    "truncate",
]

__version__: str = _core.build_info()["version"]

if _core.build_info()["profile"] == "debug":
    import warnings

    warnings.warn("this is a debug build of memspan, several times slower: build it with `maturin develop --release`", stacklevel=2)


def __getattr__(name: str) -> Any:
    # Programs that use one of these pay for its import; nobody else does.
    import importlib  # noqa: PLC0415

    homes = {"Assistant": "assistant", "Retention": "erasure", "evaluate": "evaluation", "ToolCall": "reply"}
    if name in homes:
        return getattr(importlib.import_module(f"memspan.{homes[name]}"), name)
    if name in {"cache", "detectors", "embedders", "providers", "testing"}:
        return importlib.import_module(f"memspan.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
