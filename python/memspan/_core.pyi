"""The interface of the Rust border, which `Engine`, `Scope`, `Session`, `Task` and `Collection` call."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, final

from memspan import detectors
from memspan._embedding import Embedding
from memspan._kept import Found, Memory, Message, Passage, PromptFacts, Recalled, Remembered
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
    HeardLine,
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
    Wanted,
)
from memspan._refining import Accepted
from memspan._results import (
    Added,
    AddedDocument,
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
from memspan.engine import BuildInfo
from memspan.exceptions import Error
from memspan.life import Policy
from memspan.long_term import Scope
from memspan.model import Model
from memspan.short_term import NewMessage
from memspan.working import Item

__all__ = [
    "BuiltInCore",
    "CollectionCore",
    "CompactionDraft",
    "DocumentDraft",
    "Draft",
    "EngineCore",
    "Judged",
    "Kept",
    "Limits",
    "PromptCore",
    "ScopeCore",
    "SessionCore",
    "TaskCore",
    "ToEmbed",
    "TokenCounterCore",
    "Vectors",
    "WindowWatch",
    "build_info",
    "built_in_question",
    "built_in_rows",
    "built_in_tokens",
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
    "screen",
    "screened",
    "truncate",
    "unsaid",
]

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
class Kept:
    """Python's handle of an engine value whose fields are made when they are read. Private."""

    def field(self, name: str) -> Any: ...

@final
class BuiltInCore:
    """The built-in embedding, as `memspan.embedding.BuiltIn` calls it. Private."""

    NAME: str
    DIMENSIONS: int
    REVISION: str

@final
class EngineCore:
    """One open store, as `memspan.Engine` calls it. Private."""

    def __new__(cls, path: Path, given: Mapping[str, Any]) -> EngineCore: ...
    @property
    def path(self) -> Path: ...
    @property
    def closed(self) -> bool: ...
    @property
    def space(self) -> tuple[int, int] | None: ...
    PROBE: ClassVar[str]
    def embeddings(self) -> list[str]:
        """The names of the embeddings that the store has met."""
    def exchange_embedding(self, embedding: Embedding) -> int:
        """Makes another embedding the one of this engine; its place."""
    def place_of(self, scope: Scope) -> int | None:
        """The place of the embedding that a scope is searched by, among those that the engine was given."""
    def check_probe(self, probe: Vectors) -> None:
        """Compares the first of these vectors, which is that of `PROBE`, with what the store knows."""
    def scope(self, scope_type: Literal["user", "shared"], id: str, tenant: str | None) -> ScopeCore:
        """A scope: `scope_type` is "user" or "shared"."""
    def scopes(self, after: int, limit: int) -> list[tuple[int, ScopeCore]]:
        """Scopes behind partition `after`, in the order in which they were first written to: partition, scope."""
    def owns(self, scope: Scope) -> bool:
        """Whether a scope is one of this engine's."""
    def to_embed(self, drafts: list[Draft], place: int) -> ToEmbed:
        """The texts that the embedder at `place` is asked to embed for drafts."""
    def remember_many(self, drafts: list[Draft], embedded: Vectors | None, all_or_nothing: bool) -> tuple[list[Remembered | Error], int]:
        """Writes drafts; what became of each, a `Remembered` or an exception, and the transactions that it took."""
    def forget_over_cap(self) -> int:
        """Forgets what a kind has in a scope above its cap; how many."""
    def backup(self, path: Path) -> int:
        """A whole, verified, compacted copy; how many values it has."""
    def export(self, path: Path) -> int:
        """Writes everything that the store holds; how many values that are."""
    def load(self, path: Path) -> int:
        """Reads an export into the empty store; how many values it has then."""
    def is_encrypted(self) -> bool: ...
    def rekey(self, key: bytes | None) -> None:
        """Makes `key` the one that opens the store, or leaves it plain."""
    def maintain(self, embed: Callable[[list[str]], Vectors] | None) -> Maintained: ...
    def reembed(self, embed: Callable[[list[str]], Vectors] | None, progress: Callable[[int], object]) -> int: ...
    def compact(self) -> int:
        """Rewrites the store into a new generation; how many values it has."""
    def learned(self) -> list[LearnedTokens]:
        """The factors learned for closed tokenizers."""
    def forget_learned(self, model: str) -> bool:
        """Forgets what was learned of a model; whether there was something."""
    def check(self) -> tuple[dict[str, int], list[str]]:
        """Reads everything. Returns the counts and the contradictions."""
    def note_embedded(self, texts: int, reused: int, questions_reused: int) -> None:
        """Counts the texts that an embedder was asked for, and those that it was not asked for again."""
    def note_pending(self, count: int) -> None:
        """Counts memories whose vector could not be made."""
    def metrics(self) -> dict[str, int]:
        """Counts of the store's contents, and of events since this process opened it."""
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
    def draft(self, text: str, fields: Mapping[str, Any]) -> Draft:
        """A memory on its way into the store: checked, and as the engine's policy leaves it."""
    def remember(self, text: str, embed: Callable[[str], Vectors | None] | None, fields: Mapping[str, Any]) -> Remembered:
        """Writes a memory.

        `embed` makes the vector of a text, or `None`, where the embedder is a caller's: it is asked outside of any transaction, unless
        the memory brings its vector or the same is remembered with one.
        """
    def revise(
        self,
        memory_id: str,
        text: str | None,
        slot: str | None,
        importance: float | None,
        metadata: Mapping[str, Any] | None,
        occurred_at: datetime | None,
        reason: str | None,
        vector: Vectors | None,
        found: Sequence[detectors.Found] | None,
    ) -> Remembered: ...
    def recall(
        self, scopes: tuple[Scope, ...], query: str, vector: Vectors | None, degraded: str | None, given: Mapping[str, Any]
    ) -> Found[Recalled]: ...
    def search(
        self,
        scopes: tuple[Scope, ...],
        query: str,
        sources: list[SourceName],
        vector: Vectors | None,
        degraded: str | None,
        given: Mapping[str, Any],
    ) -> Found[Recalled | TranscriptHit | Passage]:
        """Asks several sources one question."""
    def search_transcripts(self, query: str, given: Mapping[str, Any]) -> Found[TranscriptHit]:
        """Messages that answer a question, the best first."""
    def get(self, memory_id: str) -> Memory | None: ...
    def history(self, memory_id: str) -> list[Memory]: ...
    def memories(
        self,
        kinds: int,
        newest_first: bool,
        all: bool,
        since: datetime | None,
        until: datetime | None,
        metadata: Mapping[str, Any] | None,
        first: int | None,
        limit: int,
    ) -> tuple[list[Memory], int | None]:
        """Memories from number `first` on, and the number to go on from; `None` after the last."""
    def slots(self, only: str | None) -> list[HeldSlot]:
        """Slots with their current memories. All of them, or the one of that name."""
    def declare_slot(self, name: str, multi: bool) -> None: ...
    def forget(self, memory_id: str, reason: str | None) -> bool: ...
    def erase(self) -> ErasedCounts:
        """Erases everything of the scope."""
    def forget_stale(self, unused_days: float, max_importance: float, dry_run: bool) -> list[Memory]: ...
    def forget_old(self, kinds: int, before: datetime) -> int: ...
    def delete_old_sessions(self, before: datetime) -> int: ...
    def forget_from(
        self, source: str | None, session: str | None, since: datetime | None, derived: bool, dry_run: bool
    ) -> list[Memory]: ...
    def quarantined(self) -> list[Memory]: ...
    def approve(self, memory_id: str) -> Remembered: ...
    def reject(self, memory_id: str) -> bool: ...
    def judge(self, heard: Sequence[Heard], first: int, discards_doubt: bool) -> Judged: ...
    def judge_session(self, session: str, begin: int, end: int, first: int, discards_doubt: bool) -> Judged: ...
    def learn_mark(self, session: str) -> LearnState: ...
    def shown_texts(self, session: str, first: int, end: int) -> list[tuple[int, list[str]]]: ...
    def drafts(
        self, judged: Judged, ids: Sequence[str | None], session: str | None, found: Sequence[Sequence[detectors.Found] | None]
    ) -> list[Draft]: ...
    def tell(self, draft: Draft, embedded: Vectors | None) -> Remembered: ...
    def learn(
        self, judged: Judged, drafts: Sequence[Draft], session: LearnedFrom | None, embedded: Vectors | None
    ) -> list[Decision] | None: ...
    def clusters(self, closeness: float, min_points: int) -> list[FoundCluster]: ...
    def merge(self, numbers: Sequence[tuple[int, int]], keep: int | None, draft: Draft | None) -> Remembered | None: ...
    def relate(
        self, subject: str, relation: str, object: str, since: datetime | None, memory: int | None, holds: bool
    ) -> tuple[Relation, bool]:
        """Says that something stands to something, or no longer does; the relation, and whether it is new."""
    def neighbors(self, entity: str, at: datetime | None) -> list[Relation]:
        """The relations of an entity at a time."""
    def paths(self, a: str, b: str, max_hops: int, at: datetime | None) -> list[list[Relation]]:
        """The shortest paths between two entities at a time."""
    def relations(self, after: int, limit: int) -> list[tuple[int, Relation]]:
        """A page of its relations: number and what each is."""
    def sessions(
        self,
        after: int,
        limit: int,
        newest_first: bool,
        since: datetime | None,
        until: datetime | None,
        metadata: Mapping[str, Any] | None,
    ) -> list[tuple[int, SessionInfo]]:
        """A page of its sessions: number and what each is."""
    def session(self, id: str, given: Mapping[str, Any]) -> SessionCore:
        """Opens a session, or makes it."""
    def begun(self) -> ScopeCore:
        """The same for a call of many writes, which raises `NotFound` where the scope is erased after this."""
    def collection(self, name: str) -> CollectionCore:
        """The collection of that name; nothing is read or written."""
    def collections(self) -> list[str]:
        """The names of its collections, in the order in which they were first written to."""
    @staticmethod
    def kind_bits(kinds_given: str | Iterable[str] | None) -> int: ...
    def is_same(self, other: ScopeCore) -> bool: ...

@final
class DocumentDraft:
    """A document on its way into the store: checked. Frozen."""

    def __new__(cls, id: str, text: str, given: Mapping[str, Any]) -> DocumentDraft: ...

@final
class CollectionCore:
    """Documents of a scope, as `memspan.Collection` calls it. Private."""

    @property
    def name(self) -> str: ...
    def to_embed(self, draft: DocumentDraft) -> list[str]:
        """The texts of a draft that a caller's embedder must embed, chunk by chunk; none where the draft is stored already."""
    def add(self, draft: DocumentDraft, embedded: Vectors | None) -> AddedDocument:
        """Adds a draft; what became of it, and the document. `embedded` has the vectors of `to_embed`."""
    def get(self, id: str) -> Document | None:
        """The document of that id with its text."""
    def info(self, id: str) -> DocumentInfo | None:
        """The same without its text."""
    def page(self, first: int, limit: int) -> tuple[list[DocumentInfo], int | None]:
        """Documents from number `first` on, at most `limit`, and the number to go on from; `None` after the last."""
    def delete(self, id: str) -> bool:
        """Removes a document; whether it was there."""
    def expire(self, id: str, ttl_seconds: float | None) -> DocumentInfo | None:
        """Says in how many seconds a document is to be removed; `None` keeps it."""
    def drop(self) -> int:
        """Removes the collection; how many documents it had."""
    def counts(self) -> Counts: ...
    def time(self) -> datetime:
        """The time now, by the engine's clock."""
    def search(self, query: str, vector: Vectors | None, degraded: str | None, given: Mapping[str, Any]) -> Found[Passage]: ...
    def is_same(self, other: CollectionCore) -> bool: ...

def repair(source: Path, target: Path, key: bytes | None) -> tuple[int, tuple[list[str], list[str]]]: ...

@final
class SessionCore:
    """One session, as `memspan.Session` calls it. Private."""

    @property
    def id(self) -> str: ...
    def status(self) -> SessionStatus: ...
    def budget(self) -> StoredBudget: ...
    def metadata(self) -> dict[str, Any]: ...
    def set_metadata(self, given: Mapping[str, Any]) -> None: ...
    def instructions(self) -> tuple[str | None, Any]:
        """The system prompt and the tools."""
    def versions(self) -> list[StoredVersion]: ...
    def add(self, row: NewMessage, expect_index: int | None) -> Added: ...
    def add_shortened(self, row: NewMessage, shortened: list[tuple[int, str]], expect_index: int | None) -> Added:
        """Adds a message, with shorter texts of its long tool results."""
    def long_results(self, row: NewMessage) -> list[tuple[int, str]]:
        """The texts of a message's tool results that prompts would show shortened, by their places."""
    def add_many(self, rows: list[NewMessage]) -> list[Added]:
        """Adds messages; an error has the place of its message as field `row`."""
    def add_response(
        self, response: object, prompt: PromptCore | None, holder: str | None, expect_index: int | None, created_at: datetime | None
    ) -> Replied:
        """Adds a reply, which ends its holder's lease where it calls no tool."""
    def take_lease(self, holder: str, seconds: float, dead: str | None) -> LeaseHolder | None: ...
    def add_leased(self, row: NewMessage, holder: str, seconds: float, dead: str | None) -> tuple[Added | None, LeaseHolder | None]:
        """Takes the lease and adds a message in one transaction. Returns the result, or the holder of the lease."""
    def release_lease(self, holder: str) -> bool: ...
    def keep_partial(self, response: str, prompt: PromptCore, began_at: datetime, error: str | None) -> None:
        """Keeps what came of the reply to a prompt, unless what it answers was taken back."""
    def partial(self) -> StoredPartial | None: ...
    def drop_partial(self) -> bool: ...
    def open_calls(self) -> list[PendingCall]: ...
    def refused(self, prompt: PromptCore, input_tokens: int | None, limit_tokens: int | None, output_tokens: int | None) -> PromptCore:
        """A smaller prompt for one that was refused, from its tokens, its new limit and the limit of its reply."""
    def again(self, prompt: PromptCore) -> PromptCore:
        """Asks again what a prompt was asked for, of the session as it is now."""
    def learn_cost(self, prompt: PromptCore, tokens: int) -> bool:
        """Learns what a prompt costs."""
    def usage(self, first: int, limit: int) -> list[StoredUsage]:
        """The planned and the billed tokens of the calls of at most `limit` turns from `first` on."""
    def fill(self) -> Fill: ...
    def question(self) -> str | None:
        """The text to embed before `assemble`."""
    def assemble(self, items: tuple[Item, ...], vector: Vectors | None, degraded: str | None, given: Mapping[str, Any]) -> PromptCore:
        """Assembles a prompt; `degraded` is why the question has no vector, where there is an embedder."""
    def messages(self, first: int, limit: int) -> list[Message]:
        """Messages from `first` on, at most `limit`."""
    def turn(self, number: int, known: tuple[int, tuple[int, int]] | None) -> StoredTurn:
        """A turn; `known` is how many of its first calls the caller has, and the mark that they were read with."""
    def sent_prompt(self, turn: int, call: int, reply: int, added_at: datetime) -> PromptCore | None:
        """The prompt that a call was sent."""
    def rewind(self, index: int) -> None: ...
    def redact(self, index: int, reason: str | None) -> bool: ...
    def end(self) -> None: ...
    def delete(self) -> None: ...
    def fork(self, new_id: str, at: int | None) -> SessionCore: ...
    def cancel_tool_calls(self, reason: str) -> list[str]: ...
    def tool_result(self, key: str, offset: int, max_tokens: int) -> ToolText: ...
    def tasks(self) -> list[str]:
        """The names of the tasks that are there."""
    def notes(self) -> list[tuple[int, str]]: ...
    def add_note(self, text: str) -> int: ...
    def remove_note(self, number: int) -> bool: ...
    def set_policy(self, at: float | None, every_turns: int, result_tokens: int) -> None:
        """When it is to be compacted, and how much of a tool result it shows."""
    def task_ended(self) -> None: ...
    def compaction_due(self) -> Literal["threshold", "turns", "task_end", "session_end"] | None: ...
    def draft(self, keep_exchanges: int | None, max_tokens: int | None) -> CompactionDraft | None:
        """The turns that would leave; `None` where no turn is old enough, or the newest leaves a summary no room."""
    def brief_draft(self, task: str, max: int) -> CompactionDraft:
        """Everything that was said, for a brief of so many tokens; it cannot be committed."""
    def commit(self, draft: CompactionDraft, written: Written) -> CommittedCompaction: ...
    def summary(self) -> SummaryText | None:
        """The newest summary."""
    def switch_draft(self, to: str | Model) -> CompactionDraft | None:
        """The messages that a switch of models would leave out; `None` where all of it fits."""
    def plan_switch(self, to: str | Model, draft: CompactionDraft | None) -> PlannedSwitch:
        """The messages that a switch would keep, with the summary of a draft."""
    def switch_model(
        self,
        to: str | Model,
        system: str | None,
        tools: object | None,
        draft: CompactionDraft | None,
        written: Written,
    ) -> PlannedSwitch:
        """Switches, and commits the summary of a draft with it."""
    def is_same(self, other: SessionCore) -> bool: ...

@final
class CompactionDraft:
    """The input of a compaction, and the lines that a model wrote for it. Private."""

    @property
    def covers(self) -> tuple[int, int]: ...
    @property
    def max_tokens(self) -> int: ...
    def messages(self) -> list[LeavingMessage]: ...
    def passes(self, max_tokens: int) -> list[str]:
        """The blocks that a model is given, each at most so many tokens."""
    def before(self) -> str | None:
        """The summary before, as a model is given it."""
    def check(self, reply: str) -> CheckedReply:
        """Holds a reply against the messages and takes the lines that pass."""
    def clear(self) -> None:
        """Forgets what a model wrote."""
    def make(self) -> MadeSummary:
        """Makes the summary."""

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
    def touch(self) -> None:
        """Makes it where there is none, and lets it live on."""
    def set(self, key: str, value: object, version: int | None) -> bool:
        """Sets a key; `false`, and nothing is written, where the task's version is not the one expected."""
    def remove(self, key: str) -> None: ...
    def get(self, key: str) -> tuple[int, list[Any] | None]:
        """The version, 0 where it is not there, and the value of a key: `None` where it has none, else a list of one."""
    def items(self) -> list[tuple[str, Any]]: ...
    def clear(self) -> bool:
        """Clears it; whether there was something."""

@final
class PromptCore:
    """A prompt, as `memspan.Prompt` shows it. Private."""

    def facts(self) -> PromptFacts: ...
    def costing(self, tokens: int) -> PromptCore:
        """The same prompt, counted by its provider."""
    def explained(self) -> list[Explained]: ...
    def why(self, id: str) -> tuple[str, bool]:
        """Why a memory or a message is not a candidate of it, as the store is now; whether the id is a memory's."""
    def shared_with(self, other: PromptCore) -> SharedSegments: ...
    def body(self, format: str | None, stream: bool) -> bytes:
        """The request as JSON; `format` is the model's own by default."""
    def prefix_body(self, segments: int) -> bytes:
        """The bytes of an OpenAI request up to the end of so many segments."""
    def request(self, format: str | None, stream: bool, dialect: str | None) -> Any:
        """The request as keyword arguments of the provider's SDK."""
    def text(self) -> str: ...
    def __len__(self) -> int: ...

@final
class Judged:
    """The decisions on a page of messages. Private."""

    def decisions(self) -> list[Decision]: ...
    def doubts(self) -> list[str | None]: ...
    def heard(self) -> list[HeardLine]: ...
    def of_assistant(self) -> list[int]: ...
    def wanted(self) -> list[Wanted]: ...
    def wanted_texts(self) -> list[str]: ...
    def without(self, decisions: list[int], reason: str) -> Judged: ...
    def refined(self, kept: list[int], added: Sequence[Accepted]) -> Judged: ...
    def times(self) -> list[datetime]: ...
    def by_clocks(self, clocks: Sequence[datetime]) -> Judged: ...

@final
class Draft:
    """One memory on its way into the store: checked, and not yet embedded. Private."""

    @property
    def id(self) -> str | None: ...

@final
class ToEmbed:
    """The texts of some rows that an embedder is asked. Private."""

    def texts(self) -> list[str]: ...
    def reused(self) -> int:
        """Rows for which nothing need be asked."""
    def completed(self, embedded: Vectors) -> Vectors:
        """A vector for each row, from those of `texts`."""
    def __len__(self) -> int: ...

@final
class Vectors:
    """The vectors of an embedder, one row a text; a row may be missing. Private."""

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

@final
class WindowWatch:
    """Tells when the prompts of sessions reach a share of their model's window. Private."""

    def __new__(cls) -> WindowWatch: ...
    def look(self, of: SessionCore, prompt_tokens: int | None) -> list[Reached]:
        """The shares that a session reaches for the first time in its epoch."""

def explain_message(score: float, parts: list[float]) -> Explanation:
    """The parts of the score of a message. Private."""

def built_in_rows(texts: list[str]) -> bytearray:
    """The vectors of texts, row by row: float32 in this machine's byte order. Private."""

def built_in_question(text: str) -> bytearray:
    """The vector of a question, by its content words. Private."""

def built_in_tokens(text: str) -> list[str]:
    """The tokens of a text, as the vocabulary spells them. Private."""

def check_memory_text(text: str) -> None:
    """Raises `InvalidInput` where a text cannot be that of a revised memory. Private."""

def screen(text: str) -> list[SensitivePart]:
    """Secrets and personal data in a text. Private."""

def screened(text: str, policy: Policy, found: Sequence[detectors.Found] | None) -> tuple[str | None, list[str]]:
    """A text as a policy leaves it, and the types that it minded. Private."""

def gate_features(text: str, before: str) -> tuple[list[str], list[float]]:
    """The features of a message that the gate's models see. Private: `tools/gate/fit.py` fits their weights."""

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
