"""memspan: an embedded memory-and-context engine for LLM applications.

Start at `open`, which gives an `Engine`; `Engine.user` and `Engine.shared` give a `Scope`, which remembers and recalls;
`Scope.session` gives a `Session`, which keeps a conversation and assembles its prompts; `Scope.collection` a `Collection` of documents.
`count_tokens`, `truncate`, `TokenCounter`, `fit` and `models` need no store.
Values that are returned (`Memory`, `Recall`, ...) are frozen, made in Rust and described in `_core.pyi`; errors are one tree below `Error`.

Not here: the engine itself, which is the crate `rust/engine`, and anything that calls a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memspan import _core, tokenizers
from memspan._core import Explanation, Memory, Message, Recall, Recalled, Remembered, TermScore
from memspan.collection import AddedDocument, Collection, Document, DocumentInfo, NewDocument, Passage, Passages, PathReport, Skipped
from memspan.counting import Fit, SdkObject, TokenCounter, count_tokens, fit, truncate
from memspan.embedding import Embedder, Event
from memspan.engine import (
    BuildInfo,
    CheckReport,
    Engine,
    GraphOptions,
    ImportReport,
    MaintenanceReport,
    ReembedReport,
    aopen,
    build_info,
    open,  # noqa: A004  `memspan.open`
)
from memspan.exceptions import (
    BudgetExceeded,
    Closed,
    EmbedderError,
    Error,
    Forked,
    IdConflict,
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
    UsageError,
)
from memspan.findings import Finding, Findings
from memspan.function_tools import Function
from memspan.long_term import NewMemory, Scope, Slots
from memspan.model import CacheRules, Dialect, Model, Models, Prices, dialects, models
from memspan.refusals import Refusal
from memspan.reply import Lease, PartialReply, Reply, ToolCall
from memspan.short_term import Added, ModelSwitch, NewMessage, Session, ToolText
from memspan.task import Task
from memspan.transcript import Call, Messages, TranscriptHit, Turn, Turns, Usage
from memspan.usage import CallUsage, ModelFactors, SessionUsage, TokenFactors
from memspan.working import Breakpoint, Budget, Explained, Explanations, Grant, Item, Prompt, Section, SharedPrefix

if TYPE_CHECKING:
    from memspan import embedders as embedders
    from memspan import providers as providers
    from memspan import testing as testing
    from memspan.assistant import Assistant, AssistantEvent, AssistantReply

__all__ = [
    "Added",
    "AddedDocument",
    "Assistant",
    "AssistantEvent",
    "AssistantReply",
    "Breakpoint",
    "Budget",
    "BudgetExceeded",
    "BuildInfo",
    "CacheRules",
    "Call",
    "CallUsage",
    "CheckReport",
    "Closed",
    "Collection",
    "Dialect",
    "Document",
    "DocumentInfo",
    "Embedder",
    "EmbedderError",
    "Engine",
    "Error",
    "Event",
    "Explained",
    "Explanation",
    "Explanations",
    "Finding",
    "Findings",
    "Fit",
    "Forked",
    "Function",
    "Grant",
    "GraphOptions",
    "IdConflict",
    "ImportReport",
    "InvalidInput",
    "Item",
    "Lease",
    "MaintenanceReport",
    "Memory",
    "Message",
    "Messages",
    "MissingExtra",
    "Model",
    "ModelFactors",
    "ModelMismatch",
    "ModelSwitch",
    "Models",
    "NewDocument",
    "NewMemory",
    "NewMessage",
    "NotFound",
    "OutcomeUnknown",
    "PartialReply",
    "Passage",
    "Passages",
    "PathReport",
    "Prices",
    "Prompt",
    "ProviderError",
    "ReadOnly",
    "Recall",
    "Recalled",
    "ReembedReport",
    "Refusal",
    "Remembered",
    "Reply",
    "Scope",
    "SdkObject",
    "Section",
    "Session",
    "SessionMoved",
    "SessionUsage",
    "SharedPrefix",
    "Skipped",
    "Slots",
    "StateError",
    "StoreBusy",
    "StoreCorrupt",
    "StoreError",
    "StoreFull",
    "StoreIo",
    "StoreNotShareable",
    "StoreVersion",
    "Task",
    "TermScore",
    "TokenCounter",
    "TokenFactors",
    "TokenizerError",
    "ToolCall",
    "ToolCallClosed",
    "ToolText",
    "TranscriptHit",
    "Turn",
    "Turns",
    "UnknownModel",
    "Usage",
    "UsageError",
    "aopen",
    "build_info",
    "count_tokens",
    "dialects",
    "fit",
    "models",
    "open",
    "tokenizers",
    "truncate",
]

Sequence.register(Recall)  # type: ignore[attr-defined, unused-ignore]  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue]  # what its stub says, for isinstance() and match

__version__: str = _core.build_info()["version"]

if _core.build_info()["profile"] == "debug":
    import warnings

    warnings.warn("this is a debug build of memspan, 10 to 100 times slower: build it with `maturin develop --release`", stacklevel=2)


def __getattr__(name: str) -> Any:
    # `memspan.testing` needs numpy, which takes longer to import than all of memspan: it comes when it is asked for.
    # `memspan.embedders`, `memspan.providers` and `memspan.Assistant` are for programs that use them.
    import importlib  # noqa: PLC0415

    if name in {"embedders", "providers", "testing"}:
        return importlib.import_module(f"memspan.{name}")
    if name in {"Assistant", "AssistantEvent", "AssistantReply"}:
        return getattr(importlib.import_module("memspan.assistant"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
