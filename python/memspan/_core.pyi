"""What the Rust border gives to the package: the values that calls return, and what `Engine` and `Scope` call.

The values are frozen and may be shared between threads. A field is made when it is read. A text is copied when it is read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, final

from memspan._embedding import Embedding
from memspan._learning import Heard
from memspan._records import (
    CacheMetrics,
    CheckedReply,
    CommittedCompaction,
    Counts,
    ErasedCounts,
    Fill,
    Fitted,
    FoundCluster,
    HeldSlot,
    LearnedFrom,
    LearnedTokens,
    LearnState,
    LeaseHolder,
    LeavingMessage,
    MadeSummary,
    Maintained,
    PendingCall,
    PlannedSwitch,
    Reached,
    Replied,
    SensitivePart,
    SessionStatus,
    SharedSegments,
    StoredBudget,
    StoredPartial,
    StoredTurn,
    StoredUsage,
    StoredVersion,
    SummaryText,
    UsedSection,
)
from memspan._refining import Accepted
from memspan._results import (
    Added,
    AddedDocument,
    Breakpoint,
    Decision,
    Document,
    DocumentInfo,
    Explained,
    Explanation,
    Relation,
    SessionInfo,
    ToolText,
    TranscriptHit,
)
from memspan.answer import SourceName
from memspan.compaction.writing import Written
from memspan.detectors import Found
from memspan.engine import BuildInfo
from memspan.exceptions import Error
from memspan.life import Policy
from memspan.long_term import Scope
from memspan.model import Model
from memspan.short_term import NewMessage
from memspan.working import Format, Item

__all__ = [
    "BuiltInCore",
    "CollectionCore",
    "CompactionDraft",
    "DocumentDraft",
    "Draft",
    "EngineCore",
    "Judged",
    "Found",
    "Limits",
    "Memory",
    "Message",
    "Passage",
    "PromptCore",
    "Recalled",
    "Remembered",
    "ScopeCore",
    "SessionCore",
    "TaskCore",
    "ToEmbed",
    "TokenCounterCore",
    "Vectors",
    "WindowWatch",
    "build_info",
    "check_memory_text",
    "check_text",
    "compaction_draft",
    "count_by_encoding",
    "count_cache_metrics",
    "count_tokens",
    "dbscan",
    "dialect_fields",
    "explain_message",
    "fit",
    "gate_features",
    "load_tokenizer",
    "model_fields",
    "model_names",
    "read_summary",
    "register_model",
    "repair",
    "restore_memory",
    "restore_remembered",
    "screen",
    "screened",
    "truncate",
    "unsaid",
]

_HitT = TypeVar("_HitT")

@final
class _Limits:
    """Every limit and default that a caller can meet; bytes are those of UTF-8 unless the name says otherwise."""

    MAX_NAME_BYTES: ClassVar[int]
    MAX_TEXT_BYTES: ClassVar[int]
    MAX_METADATA_BYTES: ClassVar[int]
    MAX_TRUST: ClassVar[int]
    MAX_MESSAGE_BYTES: ClassVar[int]
    MAX_INSTRUCTION_BYTES: ClassVar[int]
    MAX_READS: ClassVar[int]
    MAX_COLLECTIONS: ClassVar[int]
    MAX_DOCUMENT_BYTES: ClassVar[int]
    MAX_TASK_VALUE_BYTES: ClassVar[int]
    MAX_TASK_ENTRIES: ClassVar[int]
    MAX_TASK_BYTES: ClassVar[int]
    MAX_DIMENSIONS: ClassVar[int]
    MAX_TOKENS: ClassVar[int]
    MAX_GRANT_WEIGHT: ClassVar[int]
    MAX_ITEM_SCORE: ClassVar[float]
    MAX_TTL_SECONDS: ClassVar[int]
    MAX_WAIT_SECONDS: ClassVar[int]
    MAX_DAYS: ClassVar[float]
    MAX_HITS: ClassVar[int]
    MAX_KEPT_EXCHANGES: ClassVar[int]
    MAX_KEPT_ROUNDS: ClassVar[int]
    MAX_SUMMARY_TOKENS: ClassVar[int]
    MAX_RECALLS: ClassVar[int]
    MAX_JSON_DEPTH: ClassVar[int]
    MAX_BATCH_ROWS: ClassVar[int]
    MAX_BATCH_BYTES: ClassVar[int]
    DEFAULT_FILL: ClassVar[float]
    DEFAULT_OUTPUT_TOKENS: ClassVar[int]
    DEFAULT_CUT_STEP: ClassVar[float]
    DEFAULT_CHUNK_TOKENS: ClassVar[int]
    DEFAULT_BUSY_TIMEOUT_SECONDS: ClassVar[float]

Limits: Final[_Limits]

@final
class Memory:
    """One revision of a memory. Times are aware, in UTC, exact to the microsecond.

    Equal where every field is; two scopes' memories can be equal.

    Examples:
        >>> memory = user.remember("Prefers Go for scripting", "preference", slot="scripting-language").memory
        >>> memory
        Memory("mem-1", "Prefers Go for scripting", kind="preference", slot="scripting-language")
        >>> memory.known_from.isoformat(), memory.state
        ('2025-01-01T00:00:00+00:00', 'current')
    """

    @property
    def id(self) -> str:
        """The id that was given, or one of the form `mem-7`; the same for all its revisions."""
    @property
    def text(self) -> str:
        """What is remembered; empty once it is forgotten or expired."""
    @property
    def kind(self) -> Literal["episodic", "semantic", "preference", "decision", "constraint", "task_outcome", "profile"]:
        """What it is about."""
    @property
    def slot(self) -> str | None:
        """The attribute that it gives a value to: case-folded, in Unicode normal form C."""
    @property
    def importance(self) -> float:
        """0 to 1."""
    @property
    def confidence(self) -> float:
        """0 to 1: how sure the source was."""
    @property
    def trust(self) -> int:
        """0 to 3: how far the source is trusted."""
    @property
    def source(self) -> str:
        """Who said it."""
    @property
    def revision(self) -> int:
        """1, and one more with each `revise`."""
    @property
    def sequence(self) -> int:
        """Place in the order of the scope's writes, from 1."""
    @property
    def created_at(self) -> datetime:
        """When its first revision was written."""
    @property
    def known_from(self) -> datetime:
        """When this revision was written: `known_at` finds it from then on."""
    @property
    def known_until(self) -> datetime | None:
        """When the store learnt that it is not current any more; `None` while it is."""
    @property
    def occurred_at(self) -> datetime:
        """When what it says happened or began to hold: `valid_at` finds it from then on."""
    @property
    def valid_until(self) -> datetime | None:
        """When what it says stopped to hold, exclusive; `None` while it is current."""
    @property
    def expires_at(self) -> datetime | None:
        """When it is to be forgotten; `None` for never."""
    @property
    def metadata(self) -> dict[str, Any]:
        """What the caller attached: a fresh dict at each use. A tuple comes back as a list."""
    @property
    def state(self) -> Literal["current", "superseded", "revised", "forgotten", "expired", "quarantined"]:
        """Why it is not current any more, or that it is."""
    @property
    def reason(self) -> str | None:
        """Why it ended, in the caller's words or the engine's."""
    @property
    def supersedes(self) -> str | None:
        """The id of the memory whose slot it took."""
    @property
    def superseded_by(self) -> str | None:
        """The id of the memory that took its slot."""
    @property
    def session(self) -> str | None:
        """The session in which it was said, where it was learnt from one."""
    @property
    def message(self) -> int | None:
        """The index of the message that it was learnt from."""
    @property
    def writer(self) -> str | None:
        """What wrote it: "rules", "model", "consolidation" or "tool"; `None` for a caller."""
    @property
    def derived_from(self) -> list[str]:
        """The ids of the memories that it was made from."""
    @property
    def disputes(self) -> list[str]:
        """The ids of memories that say otherwise, where neither is known to be newer or truer."""
    @property
    def reinforced(self) -> int:
        """How often it was said again."""
    @property
    def last_seen(self) -> datetime:
        """When it was said last."""
    @property
    def access_count(self) -> int:
        """How often it was recalled: what is stored, and what this process has recalled since. A prompt that shows it counts, too."""
    @property
    def last_recalled_at(self) -> datetime | None:
        """When it was last recalled, to the second; `None` where it never was."""
    def to_dict(self) -> dict[str, Any]:
        """Every field by name, in the order of this class; the counts of recalls are none."""
    def __copy__(self) -> Memory: ...
    def __deepcopy__(self, _memo: object, /) -> Memory: ...
    def __reduce__(self) -> tuple[Callable[..., Memory], tuple[int, bytes, str | None, str | None]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Remembered:
    """What became of a write.

    Examples:
        >>> _ = user.remember("Prefers tea")
        >>> user.remember("  Prefers tea")
        Remembered("duplicate", Memory("mem-1", "Prefers tea", kind="semantic"), reason="mem-1 says the same")
    """

    @property
    def action(
        self,
    ) -> Literal["added", "updated", "superseded", "duplicate", "rejected", "reinforced", "redacted", "quarantined"]:
        """One word.

        "added": a new memory. "updated": a new revision. "superseded": a new memory took the slot of another. "duplicate": it was there
        already. "rejected": its id belongs to a forgotten one, or the policy refuses it (it is then stored nowhere and has no text).
        "redacted": a new memory, without what the policy takes out. "reinforced": a memory that was there counts that it was said again.
        "quarantined": it waits for `Scope.approve`.
        """
    @property
    def memory(self) -> Memory:
        """The memory as it is stored now; for a duplicate, the one that was there."""
    @property
    def reason(self) -> str | None:
        """Why, where that is not plain."""
    def __copy__(self) -> Remembered: ...
    def __deepcopy__(self, _memo: object, /) -> Remembered: ...
    def __reduce__(self) -> tuple[Callable[..., Remembered], tuple[str, Memory, str | None]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Recalled:
    """One hit of a recall."""

    @property
    def text(self) -> str:
        """The memory's text."""
    @property
    def source(self) -> Literal["memories"]:
        """"memories"."""  # fmt: skip
    @property
    def memory(self) -> Memory:
        """What was found."""
    @property
    def score(self) -> float:
        """0 to 1: how it compares with the other answers to this question. Not comparable between questions."""
    @property
    def tokens(self) -> int:
        """Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted on first use."""
    @property
    def scope(self) -> Scope:
        """Whose memory it is."""
    def explain(self) -> Explanation:
        """Where the score comes from. Cost: the text is analysed again."""
    def __copy__(self) -> Recalled: ...
    def __deepcopy__(self, _memo: object, /) -> Recalled: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class BuiltInCore:
    """The built-in embedding, as `memspan.embedding.BuiltIn` calls it. Private."""

    NAME: str
    DIMENSIONS: int
    REVISION: str
    @staticmethod
    def embed(texts: list[str]) -> bytearray: ...
    @staticmethod
    def embed_query(text: str) -> bytearray: ...
    @staticmethod
    def tokens(text: str) -> list[str]: ...

@final
class Message:
    """A message of a session, as it was given. Fields are made when they are read.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> _ = session.add({"role": "user", "content": "which port?"}, author="ann")
        >>> message = session.messages[0]
        >>> message
        Message(0, "user", "which port?")
        >>> message.given, message.tokens, message.author
        ({'role': 'user', 'content': 'which port?'}, 7, 'ann')
    """

    @property
    def index(self) -> int:
        """Its place in the session, from 0."""
    @property
    def role(self) -> Literal["system", "developer", "user", "assistant", "tool"]:
        """Who speaks: "system", "developer", "user", "assistant" or "tool"."""
    @property
    def given(self) -> dict[str, Any]:
        """What the SDK was or would be given: a fresh dict at each use, equal to the one that was added."""
    @property
    def content(self) -> Any:
        """Its `content` as it was given: a str, a list of parts, or `None`."""
    @property
    def text(self) -> str:
        """Its texts, one a line; what a tool was called with and what it returned are among them."""
    @property
    def format(self) -> Format:
        """The shape it was given in: "openai" or "anthropic"."""  # fmt: skip
    @property
    def tokens(self) -> int:
        """Tokens of the form that is sent, its frame included, as counted when it was added."""
    @property
    def turn(self) -> int:
        """Its turn, from 0."""
    @property
    def id(self) -> str | None:
        """The caller's id."""
    @property
    def author(self) -> str | None:
        """Who wrote it, in the caller's words."""
    @property
    def created_at(self) -> datetime | None:
        """When it was said, where the caller knew: aware, in UTC."""
    @property
    def added_at(self) -> datetime:
        """When it was added: aware, in UTC."""
    @property
    def redacted(self) -> bool:
        """Whether its text was taken out."""
    @property
    def reason(self) -> str | None:
        """Why it was."""
    def __copy__(self) -> Message: ...
    def __deepcopy__(self, _memo: object, /) -> Message: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class EngineCore:
    """One open store, as `memspan.Engine` calls it. Private."""

    def __new__(
        cls,
        path: Path,
        durability: str,
        read_only: bool,
        busy_timeout_seconds: float,
        **options: Any,
    ) -> EngineCore: ...
    @property
    def path(self) -> Path: ...
    @property
    def closed(self) -> bool: ...
    @property
    def space(self) -> tuple[int, int] | None: ...
    PROBE: ClassVar[str]
    def embeddings(self) -> list[str]: ...
    def exchange_embedding(self, embedding: Embedding) -> int: ...
    def place_of(self, scope: Scope) -> int | None: ...
    def check_probe(self, probe: Vectors) -> None: ...
    def scope(self, scope_type: Literal["user", "shared"], id: str, tenant: str | None) -> ScopeCore: ...
    def scopes(self, after: int, limit: int) -> list[tuple[int, ScopeCore]]: ...
    def owns(self, scope: Scope) -> bool: ...
    def to_embed(self, drafts: list[Draft], place: int) -> ToEmbed: ...
    def remember_many(
        self, drafts: list[Draft], embedded: Vectors | None, all_or_nothing: bool
    ) -> tuple[list[Remembered | Error], int]: ...
    def forget_over_cap(self) -> int: ...
    def backup(self, path: Path) -> int: ...
    def export(self, path: Path) -> int: ...
    def load(self, path: Path) -> int: ...
    def is_encrypted(self) -> bool: ...
    def rekey(self, key: bytes | None) -> None: ...
    def maintain(self, embed: Callable[[list[str]], Vectors] | None) -> Maintained: ...
    def reembed(self, embed: Callable[[list[str]], Vectors] | None, progress: Callable[[int], object]) -> int: ...
    def compact(self) -> int: ...
    def learned(self) -> list[LearnedTokens]: ...
    def forget_learned(self, model: str) -> bool: ...
    def check(self) -> dict[str, Any]: ...
    def note_embedded(self, texts: int, reused: int, questions_reused: int) -> None: ...
    def note_pending(self, count: int) -> None: ...
    def metrics(self) -> dict[str, int]: ...
    def close(self) -> None: ...

@final
class ScopeCore:
    """The memory of one scope, as `memspan.Scope` calls it. Private."""

    @property
    def id(self) -> str: ...
    @property
    def tenant(self) -> str | None: ...
    @property
    def scope_type(self) -> Literal["user", "shared"]: ...
    def draft(self, text: str, found: Sequence[Found] | None, /, **fields: Any) -> Draft: ...
    def remember(self, text: str, found: Sequence[Found] | None, embed: Callable[[str], Vectors | None] | None, /, **fields: Any) -> Remembered: ...
    def revise(
        self,
        memory_id: str,
        text: str | None,
        slot: str | None,
        importance: float | None,
        metadata: Mapping[str, Any] | None,
        reason: str | None,
        vector: Vectors | None,
        found: Sequence[Found] | None,
    ) -> Remembered: ...
    def recall(
        self, scopes: tuple[Scope, ...], query: str, vector: Vectors | None, degraded: str | None, **options: Any
    ) -> Found[Recalled]: ...
    def search(
        self, scopes: tuple[Scope, ...], query: str, sources: list[SourceName], vector: Vectors | None, degraded: str | None, **options: Any
    ) -> Found[Recalled | TranscriptHit | Passage]: ...
    def search_transcripts(self, query: str, **options: Any) -> Found[TranscriptHit]: ...
    def get(self, memory_id: str) -> Memory | None: ...
    def history(self, memory_id: str) -> list[Memory]: ...
    def memories(
        self, kinds: int, newest_first: bool, all: bool, since: datetime | None, first: int | None, limit: int
    ) -> tuple[list[Memory], int | None]: ...
    def slots(self, only: str | None) -> list[HeldSlot]: ...
    def declare_slot(self, name: str, multi: bool) -> None: ...
    def forget(self, memory_id: str, reason: str | None) -> bool: ...
    def erase(self) -> ErasedCounts: ...
    def forget_stale(self, unused_days: float, max_importance: float, dry_run: bool) -> list[Memory]: ...
    def forget_from(
        self, source: str | None, session: str | None, since: datetime | None, derived: bool, dry_run: bool
    ) -> list[Memory]: ...
    def quarantined(self) -> list[Memory]: ...
    def approve(self, memory_id: str) -> Remembered: ...
    def judge(self, heard: Sequence[Heard] | Sequence[Message], first: int, discards_doubt: bool) -> Judged: ...
    def learn_mark(self, session: str) -> LearnState: ...
    def shown_texts(self, session: str, first: int, end: int) -> list[tuple[int, list[str]]]: ...
    def drafts(self, judged: Judged, ids: Sequence[str | None], session: str | None, found: Sequence[Sequence[Found] | None]) -> list[Draft]: ...
    def tell(self, draft: Draft, embedded: Vectors | None) -> Remembered: ...
    def learn(
        self, judged: Judged, drafts: Sequence[Draft], session: LearnedFrom | None, embedded: Vectors | None
    ) -> list[Decision] | None: ...
    def clusters(self, closeness: float, min_points: int) -> list[FoundCluster]: ...
    def merge(self, originals: Sequence[Memory], keep: int | None, draft: Draft | None) -> Remembered | None: ...
    def relate(
        self, subject: str, relation: str, object: str, since: datetime | None, memory: Memory | None, holds: bool
    ) -> tuple[Relation, bool]: ...
    def neighbors(self, entity: str, at: datetime | None) -> list[Relation]: ...
    def paths(self, a: str, b: str, max_hops: int, at: datetime | None) -> list[list[Relation]]: ...
    def sessions(self, after: int, limit: int, newest_first: bool, since: datetime | None) -> list[tuple[int, SessionInfo]]: ...
    def collections(self) -> list[str]: ...
    @staticmethod
    def kind_bits(kinds_given: str | Iterable[str] | None) -> int: ...
    def is_same(self, other: ScopeCore) -> bool: ...

@final
class DocumentDraft:
    """A document on its way into the store: checked. Frozen."""

    def __new__(cls, id: str, text: str, **options: Any) -> DocumentDraft: ...

@final
class CollectionCore:
    """Documents of a scope, as `memspan.Collection` calls it. Private."""

    @staticmethod
    def open(scope: ScopeCore, name: str) -> CollectionCore: ...
    @property
    def name(self) -> str: ...
    def to_embed(self, draft: DocumentDraft) -> list[str]: ...
    def add(self, draft: DocumentDraft, embedded: Vectors | None) -> AddedDocument: ...
    def get(self, id: str) -> Document | None: ...
    def info(self, id: str) -> DocumentInfo | None: ...
    def page(self, first: int, limit: int) -> tuple[list[DocumentInfo], int | None]: ...
    def delete(self, id: str) -> bool: ...
    def expire(self, id: str, ttl_seconds: float | None) -> DocumentInfo | None: ...
    def drop(self) -> int: ...
    def counts(self) -> Counts: ...
    def now(self) -> datetime: ...
    def search(self, query: str, vector: Vectors | None, degraded: str | None, **options: Any) -> Found[Passage]: ...
    def is_same(self, other: CollectionCore) -> bool: ...

@final
class Found(Generic[_HitT]):
    """What is known of an answer besides its hits, and the hits. Private."""

    @property
    def hits(self) -> tuple[_HitT, ...]: ...
    @property
    def degraded_reason(self) -> str | None: ...
    @property
    def mode(self) -> Literal["hybrid", "lexical"]: ...
    @property
    def confidence(self) -> float: ...
    def __copy__(self) -> Found[_HitT]: ...
    def __deepcopy__(self, _memo: object, /) -> Found[_HitT]: ...

@final
class Passage:
    """A chunk that answers a question, with its citation: `document text[start:end] == passage.text`."""

    @property
    def document(self) -> DocumentInfo:
        """The document it is part of: id, version, source, metadata."""
    @property
    def start(self) -> int:
        """Where it begins in the document's text, in characters as Python counts them."""
    @property
    def end(self) -> int:
        """Where it ends, exclusive."""
    @property
    def span(self) -> tuple[int, int]:
        """`start` and `end`."""
    @property
    def text(self) -> str:
        """The document's text from `start` to `end`."""
    @property
    def heading(self) -> tuple[str, ...]:
        """The headings above it, outermost first; for code the lines that open the enclosing blocks."""
    @property
    def score(self) -> float:
        """0 to 1: how it compares with the other hits of the answer. Not comparable between questions."""
    @property
    def source(self) -> Literal["collections"]:
        """"collections"."""  # fmt: skip
    @property
    def tokens(self) -> int:
        """Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted at each use."""
    def explain(self) -> Explanation:
        """Where the score comes from. Cost: the text is analysed again."""
    def __copy__(self) -> Passage: ...
    def __deepcopy__(self, _memo: object, /) -> Passage: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def repair(source: Path, target: Path) -> tuple[int, list[str]]: ...

@final
class SessionCore:
    """One session, as `memspan.Session` calls it. Private."""

    @staticmethod
    def open(scope: ScopeCore, id: str, **options: Any) -> SessionCore: ...
    @property
    def id(self) -> str: ...
    def status(self) -> SessionStatus: ...
    def budget(self) -> StoredBudget: ...
    def metadata(self) -> dict[str, Any]: ...
    def set_metadata(self, given: Mapping[str, Any]) -> None: ...
    def instructions(self) -> tuple[str | None, Any]: ...
    def versions(self) -> list[StoredVersion]: ...
    def add(self, row: NewMessage, expect_index: int | None) -> Added: ...
    def add_shortened(self, row: NewMessage, shortened: list[tuple[int, str]], expect_index: int | None) -> Added: ...
    def long_results(self, row: NewMessage) -> list[tuple[int, str]]: ...
    def add_many(self, rows: list[NewMessage]) -> list[Added]: ...
    def add_response(self, response: object, prompt: PromptCore | None, holder: str | None) -> Replied: ...
    def take_lease(self, holder: str, seconds: float, dead: str | None) -> LeaseHolder | None: ...
    def add_leased(self, row: NewMessage, holder: str, seconds: float, dead: str | None) -> tuple[Added | None, LeaseHolder | None]: ...
    def release_lease(self, holder: str) -> bool: ...
    def keep_partial(self, response: str, messages: int, began_at: datetime, error: str | None) -> None: ...
    def partial(self) -> StoredPartial | None: ...
    def drop_partial(self) -> bool: ...
    def open_calls(self) -> list[PendingCall]: ...
    def refused(self, prompt: PromptCore, input_tokens: int | None, limit_tokens: int | None, output_tokens: int | None) -> PromptCore: ...
    def again(self, prompt: PromptCore) -> PromptCore: ...
    def learn_cost(self, prompt: PromptCore, tokens: int) -> bool: ...
    def usage(self, first: int, limit: int) -> list[StoredUsage]: ...
    def fill(self) -> Fill: ...
    def question(self) -> str | None: ...
    def assemble(self, items: tuple[Item, ...], vector: Vectors | None, degraded: str | None, **options: Any) -> PromptCore: ...
    def messages(self, first: int, limit: int) -> list[Message]: ...
    def turn(self, number: int) -> StoredTurn: ...
    def sent_prompt(self, turn: int, call: int) -> PromptCore | None: ...
    def rewind(self, index: int) -> None: ...
    def redact(self, index: int, reason: str | None) -> bool: ...
    def end(self) -> None: ...
    def delete(self) -> None: ...
    def fork(self, new_id: str, at: int | None) -> SessionCore: ...
    def cancel_tool_calls(self, reason: str) -> list[str]: ...
    def tool_result(self, key: str, offset: int, max_tokens: int) -> ToolText: ...
    def notes(self) -> list[tuple[int, str]]: ...
    def add_note(self, text: str) -> int: ...
    def remove_note(self, number: int) -> bool: ...
    def set_policy(self, at: float | None, every_turns: int, result_tokens: int) -> None: ...
    def task_ended(self) -> None: ...
    def compaction_due(self) -> Literal["threshold", "turns", "task_end", "session_end"] | None: ...
    def draft(self, keep_exchanges: int, max_tokens: int | None) -> CompactionDraft | None: ...
    def brief_draft(self, max_tokens: int) -> CompactionDraft: ...
    def commit(self, draft: CompactionDraft, written: Written) -> CommittedCompaction: ...
    def summary(self) -> SummaryText | None: ...
    def switch_draft(self, to: str | Model) -> CompactionDraft | None: ...
    def plan_switch(self, to: str | Model, draft: CompactionDraft | None) -> PlannedSwitch: ...
    def switch_model(
        self,
        to: str | Model,
        system: str | None,
        tools: object | None,
        draft: CompactionDraft | None,
        written: Written,
    ) -> PlannedSwitch: ...
    def is_same(self, other: SessionCore) -> bool: ...

@final
class CompactionDraft:
    """What a compaction is made of, and what a model wrote for it. Private."""

    @property
    def covers(self) -> tuple[int, int]: ...
    @property
    def max_tokens(self) -> int: ...
    def messages(self) -> list[LeavingMessage]: ...
    def passes(self, max_tokens: int) -> list[str]: ...
    def before(self) -> str | None: ...
    def check(self, reply: str) -> CheckedReply: ...
    def clear(self) -> None: ...
    def make(self) -> MadeSummary: ...

def read_summary(json: str, model: str | Model) -> SummaryText: ...
def compaction_draft(
    given: Iterable[object], model: str | Model, previous: str | None, keep_exchanges: int, max_tokens: int
) -> tuple[CompactionDraft, int]: ...
def unsaid(summary: str, text: str) -> str | None: ...

@final
class TaskCore:
    """The state of one task, as `memspan.Task` calls it. Private."""

    def __new__(cls, session: SessionCore, name: str, ttl_seconds: float | None) -> TaskCore: ...
    @property
    def name(self) -> str: ...
    def touch(self) -> None: ...
    def set(self, key: str, value: object, version: int | None) -> bool: ...
    def remove(self, key: str) -> None: ...
    def get(self, key: str) -> tuple[int, list[Any] | None]: ...
    def items(self) -> list[tuple[str, Any]]: ...
    def clear(self) -> bool: ...

@final
class PromptCore:
    """A prompt, as `memspan.Prompt` shows it. Private."""

    @property
    def total_tokens(self) -> int: ...
    @property
    def counted_tokens(self) -> int: ...
    def costing(self, tokens: int) -> PromptCore: ...
    @property
    def max_input_tokens(self) -> int: ...
    @property
    def max_output_tokens(self) -> int: ...
    @property
    def exact(self) -> bool: ...
    @property
    def degraded(self) -> str | None: ...
    @property
    def erased(self) -> list[str]: ...
    @property
    def same_bytes(self) -> bool: ...
    @property
    def session_id(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def epoch(self) -> int: ...
    @property
    def format(self) -> Format: ...
    @property
    def prefix_hash(self) -> str: ...
    @property
    def prefix_tokens(self) -> int: ...
    @property
    def digest(self) -> str: ...
    def breakpoints(self) -> tuple[Breakpoint, ...]: ...
    def sections(self) -> tuple[UsedSection, ...]: ...
    def explained(self) -> list[Explained]: ...
    def why(self, id: str) -> str: ...
    def shared_with(self, other: PromptCore) -> SharedSegments: ...
    def body(self, format: str | None, stream: bool) -> bytes: ...
    def prefix_body(self, segments: int) -> bytes: ...
    def request(self, format: str | None, stream: bool, dialect: str | None = None) -> Any: ...
    def text(self) -> str: ...
    def __len__(self) -> int: ...
    def __copy__(self) -> PromptCore: ...
    def __deepcopy__(self, _memo: object, /) -> PromptCore: ...

@final
class Judged:
    """What is to become of a page of messages. Private."""

    def decisions(self) -> list[Decision]: ...
    def doubts(self) -> list[str | None]: ...
    def texts(self) -> list[str]: ...
    def of_assistant(self) -> list[int]: ...
    def wanted(self) -> list[tuple[int, int]]: ...
    def wanted_texts(self) -> list[str]: ...
    def without(self, decisions: list[int], reason: str) -> Judged: ...
    def refined(self, kept: list[int], added: Sequence[Accepted]) -> Judged: ...

@final
class Draft:
    """One memory on its way into the store: checked, and not yet embedded. Private."""

    @property
    def id(self) -> str | None: ...
    def to_embed(self) -> str | None: ...

@final
class ToEmbed:
    """The texts of some rows that an embedder is asked. Private."""

    @property
    def texts(self) -> list[str]: ...
    @property
    def reused(self) -> int: ...
    def completed(self, embedded: Vectors) -> Vectors: ...
    def __len__(self) -> int: ...

@final
class Vectors:
    """What an embedder made, one row a text; a row may be missing. Private."""

    @staticmethod
    def embedded(matrix: object, count: int, dimensions: int, place: int) -> Vectors: ...
    @staticmethod
    def joined(parts: list[Vectors]) -> Vectors: ...
    def split(self, at: int) -> tuple[Vectors, Vectors]: ...
    @staticmethod
    def missing(count: int, place: int) -> Vectors: ...
    @property
    def bad(self) -> int: ...
    @property
    def first_error(self) -> str | None: ...
    def __len__(self) -> int: ...

def build_info() -> BuildInfo: ...
def restore_memory(
    number: int,
    body: bytes,
    slot: tuple[str | None, str | None],
    others: tuple[list[str], list[str]],
    access: tuple[int, int],
) -> Memory:
    """What `Memory` is unpickled by. Private."""

def restore_remembered(action: str, memory: Memory, reason: str | None) -> Remembered:
    """What `Remembered` is unpickled by. Private."""

@final
class WindowWatch:
    """Tells when the prompts of sessions reach a share of their model's window. Private."""

    def __new__(cls) -> WindowWatch: ...
    def look(self, of: SessionCore, prompt_tokens: int | None) -> list[Reached]:
        """The shares that a session reaches for the first time in its epoch."""

def explain_message(score: float, parts: list[float]) -> Explanation:
    """What the score of a message is made of. Private."""

def check_memory_text(text: str) -> None:
    """Raises `InvalidInput` where a text cannot be a memory's. Private."""

def screen(text: str) -> list[SensitivePart]:
    """Secrets and personal data in a text. Private."""

def screened(text: str, policy: Policy, found: Sequence[Found] | None = None) -> tuple[str | None, list[str]]:
    """A text as a policy leaves it, and the types that it minded. Private."""

def gate_features(text: str, before: str) -> tuple[list[str], list[float]]:
    """What the gate's models see of a message. Private: `tools/gate/fit.py` fits their weights."""

def dbscan(vectors: Sequence[Sequence[float]], closeness: float, min_points: int) -> list[int | None]:
    """The cluster of each vector. Private."""

def check_text(name: str, text: str) -> bool:
    """Raises `InvalidInput` where a text is none; whether it has more than white space. Private."""

@final
class TokenCounterCore:
    """A growing text's count. Private: `memspan.TokenCounter` is its face."""

    def __new__(cls, model_name: str) -> TokenCounterCore: ...
    def append(self, text: str) -> int: ...
    def count(self) -> int: ...
    def clear(self) -> None: ...
    def model_name(self) -> str: ...

def count_cache_metrics() -> CacheMetrics:
    """Hits, misses and capacity of the process's cache of counts. Private."""

def count_tokens(content: object, model_name: str, tools: object | None) -> int:
    """Tokens of a text, a message or a request. Private: `memspan.count_tokens` is its face."""

def truncate(text: str, max_tokens: int, model_name: str, keep: Literal["start", "end"]) -> str:
    """A text's start or end. Private: `memspan.truncate` is its face."""

def fit(given: Iterable[Any], model_name: str, max_input_tokens: int | None, tools: object | None) -> Fitted:
    """Kept messages, tokens, exact. Private: `memspan.fit` is its face."""

def dialect_fields() -> list[dict[str, Any]]:
    """The dialects of chat completions. Private: `memspan.dialects` is their face."""

def model_names() -> list[str]:
    """All names, sorted. Private."""

def model_fields(name: str) -> dict[str, Any]:
    """The arguments of `memspan.Model`. Private."""

def register_model(given: Model) -> None:
    """Adds a model for this process, or replaces the one of its name. Private."""

def load_tokenizer(path: Path, pattern: str | None) -> str:
    """The name of a file's encoding. Private: `memspan.tokenizers.load` is its face."""

def count_by_encoding(name: str, text: str) -> int:
    """Tokens of a text in an encoding. Private."""
