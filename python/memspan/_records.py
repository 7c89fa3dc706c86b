"""Values that the core gives to the package and no caller sees. It fills them field by field, as it does those of `_results`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from memspan._values import dataclass, field, fresh

if TYPE_CHECKING:
    from datetime import datetime

    from memspan._kept import Memory
    from memspan._results import RefusedLine, SummaryIdentifier, Usage

__all__ = [
    "CacheMetrics",
    "CheckedReply",
    "CommittedCompaction",
    "Counts",
    "ErasedCounts",
    "Fill",
    "Fitted",
    "FoundCluster",
    "Group",
    "HeardLine",
    "HeldSlot",
    "LearnState",
    "LearnedClass",
    "LearnedFrom",
    "LearnedTokens",
    "LeaseHolder",
    "LeavingMessage",
    "MadeSummary",
    "Maintained",
    "Mark",
    "PendingCall",
    "PlannedSwitch",
    "Reached",
    "Replied",
    "SensitivePart",
    "SessionStatus",
    "SharedSegments",
    "StoredBudget",
    "StoredCall",
    "StoredGrant",
    "StoredPartial",
    "StoredTurn",
    "StoredUsage",
    "StoredVersion",
    "SummaryText",
    "UsedGrant",
    "UsedSection",
    "Wanted",
]


@dataclass(frozen=True)
class Maintained:
    """The report of maintenance."""

    expired: int
    made: int
    recalls: int
    sessions: int
    collections: int
    graphs: int


@dataclass(frozen=True)
class Counts:
    """Documents, chunks and bytes of text."""

    documents: int
    chunks: int
    bytes: int


@dataclass(frozen=True)
class SessionStatus:
    """The present state of a session."""

    model: str
    ended: bool
    messages: int
    turns: int
    epoch: int
    created_at: datetime
    last_added_at: datetime


@dataclass(frozen=True)
class Replied:
    """A reply that was added: its turn, its place there, whether its usage contradicts itself, whether a lease is over with it."""

    turn: int
    call: int
    usage_ignored: bool
    is_last: bool


@dataclass(frozen=True)
class Fill:
    """How full the model's window is."""

    epoch: int
    tokens: int
    window: int


@dataclass(frozen=True)
class StoredCall:
    """A call as it is stored: the fields of `memspan.transcript.Call`."""

    number: int
    reply: int
    added_at: datetime
    response_id: str | None
    model: str | None
    finish: str | None
    usage: Usage | None
    sent: bool


@dataclass(frozen=True)
class StoredTurn:
    """A turn as it is stored: what `memspan.transcript.Turn` shows.

    `calls` begins behind the `first` calls that the reader knew; `mark` is another once a message was taken back or redacted.
    """

    number: int
    start: int
    end: int
    mark: tuple[int, int]
    first: int
    calls: tuple[StoredCall, ...]


@dataclass(frozen=True)
class StoredUsage:
    """The planned and the billed tokens of one call: `memspan.usage.CallUsage` without prices."""

    turn: int
    call: int
    model: str | None
    planned: int | None
    counted: int | None
    billed: Usage | None


@dataclass(frozen=True)
class UsedGrant:
    """The limits on the size of a section: `memspan.Grant`, as a prompt used it."""

    floor: int
    weight: int
    ceiling: int | None


@dataclass(frozen=True)
class UsedSection:
    """A part of a prompt: what `memspan.working.Section` shows."""

    name: str
    tokens: int
    grant: UsedGrant | None
    asked: int
    granted: int
    items: int


@dataclass(frozen=True)
class SharedSegments:
    """Leading segments that two prompts share, their tokens, and the newer one's segment where they part."""

    segments: int
    tokens: int
    broken_by: str | None


@dataclass(frozen=True)
class SummaryText:
    """A summary: as JSON, as text, as a prompt shows it, with the tokens of the text."""

    json: str
    text: str
    shown: str
    tokens: int
    identifiers: tuple[SummaryIdentifier, ...]


@dataclass(frozen=True)
class MadeSummary:
    """A summary that was made: its messages' identifiers, how many it has, how many of those the model had left out."""

    summary: SummaryText
    identifiers: int
    kept: int
    restored: int


@dataclass(frozen=True)
class CheckedReply:
    """A reply checked against the messages: the faults of its shape, lines taken, lines refused."""

    wrong: str | None
    taken: int
    refused: tuple[RefusedLine, ...]


@dataclass(frozen=True)
class LeavingMessage:
    """A message that leaves."""

    index: int
    id: str | None
    role: str
    text: str


@dataclass(frozen=True)
class CommittedCompaction:
    """A compaction that was committed."""

    epoch: int
    version: int
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True)
class PlannedSwitch:
    """The messages that a switch of models keeps."""

    from_model: str
    to_model: str
    max_input_tokens: int
    kept_messages: int
    left_out_messages: int
    tokens: int
    first_message: int
    fixed_tokens: int


@dataclass(frozen=True)
class LearnedClass:
    """The factor learned for one class of text."""

    name: str
    factor: float
    samples: int


@dataclass(frozen=True)
class LearnedTokens:
    """The factors learned for a closed tokenizer."""

    model: str
    encoding: str
    prior: float
    exceeded: int
    classes: tuple[LearnedClass, ...]


@dataclass(frozen=True)
class HeardLine:
    """A message that was judged, without blocks that a prompt showed."""

    index: int
    role: str
    by: str | None
    text: str


@dataclass(frozen=True)
class Wanted:
    """A part of a message that is to be stored: its message's place in the page, index, time and origin, and the letter it begins at."""

    place: int
    index: int
    added_at: datetime | None
    begin: int
    origin: str | None
    """The session that a fork copied the message from."""


@dataclass(frozen=True)
class Mark:
    """How far a session was learnt from: the next message, its changes, when it was made."""

    next: int
    edits: int
    created_at: int


@dataclass(frozen=True)
class LearnState:
    """The message from which a session is to be learnt, its mark, and its present state."""

    first: int
    before: Mark
    now: Mark


@dataclass(frozen=True)
class Group:
    """Memories of a cluster that say the same, by their places, and the place that stands for them."""

    places: list[int]
    stands: int


@dataclass(frozen=True)
class FoundCluster:
    """Memories that are near each other, and the groups of them that rules merge."""

    memories: list[Memory]
    groups: list[Group]


@fresh("response")
@dataclass(frozen=True)
class StoredPartial:
    """The part of a reply that arrived before it broke off."""

    messages: int
    began_at: datetime
    written_at: datetime
    error: str | None
    response: dict[str, Any] = field(hash=False)


@dataclass(frozen=True)
class PendingCall:
    """A tool call that waits, its arguments as the model wrote them."""

    id: str
    name: str
    arguments: str
    message_index: int


@dataclass(frozen=True)
class ErasedCounts:
    """The counts of an erasure."""

    memories: int
    revisions: int
    messages: int
    documents: int
    ledger_entries: int
    terms: int
    vectors: int
    values: int
    bytes_checked: int


@dataclass(frozen=True)
class HeldSlot:
    """A slot with its current memories."""

    name: str
    multi: bool
    memories: tuple[Memory, ...]


@dataclass(frozen=True)
class StoredVersion:
    """A version of the tools or of the system prompt: its number, the first epoch with it, since when."""

    is_tools: bool
    number: int
    epoch: int
    since: datetime
    text: str


@dataclass(frozen=True)
class LearnedFrom:
    """A session that claims come from: how far it was learnt from before, and after."""

    session: str
    before: Mark
    after: Mark


@dataclass(frozen=True)
class SensitivePart:
    """A part of a text that is a secret or personal, by its letters."""

    what: str
    start: int
    end: int


@dataclass(frozen=True)
class CacheMetrics:
    """Hits, misses and capacity of the cache of counts that the process shares."""

    hits: int
    misses: int
    capacity: int


@dataclass(frozen=True)
class LeaseHolder:
    """The holder of a lease."""

    holder: str
    since: datetime
    until: datetime


@dataclass(frozen=True)
class Fitted:
    """The result of `fit`: the very objects, the tokens of a request with them, and whether that is exact."""

    messages: tuple[Any, ...]
    tokens: int
    exact: bool


@dataclass(frozen=True)
class StoredGrant:
    """The tokens that a section of the prompt may have."""

    section: str
    floor: int
    weight: int
    ceiling: int | None


@dataclass(frozen=True)
class StoredBudget:
    """A session's budget as it is stored; `None` is the engine's own rule."""

    max_input_tokens: int | None
    order: Literal["cache_first", "classic"]
    fill: float
    output_tokens: int | None
    cut_step: float
    sections: list[StoredGrant]
    compact_at: float | None
    compact_every_turns: int | None
    result_tokens: int | None
    keep_rounds: int


@dataclass(frozen=True)
class Reached:
    """A share of a model's window that a session's prompt reached."""

    fraction: float
    tokens: int
    window: int
