"""Values that the core keeps and a caller reads field by field: memories, messages and hits. Each is declared here and nowhere else.

They are frozen values like those of `memspan._results`. A field is made when it is first read, and a text is copied then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar, cast

from memspan._copies import of_engine
from memspan._results import quoted, short
from memspan._values import Kept, dataclass, field, fresh, of_module

if TYPE_CHECKING:
    from datetime import datetime

    from memspan._records import UsedSection
    from memspan._results import Breakpoint, DocumentInfo, Explanation
    from memspan.long_term import Scope
    from memspan.working import Format

__all__ = ["Found", "Memory", "Message", "Passage", "PromptFacts", "Recalled", "Remembered", "seconds_left"]

_HitT = TypeVar("_HitT")
Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
_SHORTEST = 0.001
"""Seconds to live of what was read just before it expired."""


def seconds_left(expires_at: datetime | None, now: datetime) -> float | None:
    """The `ttl_seconds` of what expires then; `None` where it does not."""
    return None if expires_at is None else max(_SHORTEST, (expires_at - now).total_seconds())


@of_module("memspan")
@fresh("metadata")
@dataclass(frozen=True)
class Memory(Kept):
    """One revision of a memory. Times are aware, in UTC, exact to the microsecond.

    Equal where every field is, but for the counts of recalls; two scopes' memories can be equal.

    Attributes:
        id: The id that was given, or one of the form `mem-7`; the same for all its revisions. "" where the policy refused it and no id
            was given.
        text: The remembered text; empty once it is forgotten or expired.
        kind: Its kind.
        slot: The attribute that it gives a value to: case-folded, in Unicode normal form C.
        importance: 0 to 1.
        confidence: 0 to 1: how sure the source was.
        trust: 0 to 3: how far the source is trusted.
        source: Who said it.
        revision: 1, and one more with each `revise`.
        sequence: Place in the order of the scope's writes, from 1; 0 of what is stored nowhere.
        created_at: When its first revision was written, in the scope's own time: that never goes back, and stays ahead where the clock once
            was.
        known_from: When this revision was written, in the same time: `known_at` finds it from then on.
        known_until: When the store learnt that it is not current any more; `None` while it is.
        occurred_at: When what it says happened or began to hold: `valid_at` finds it from then on.
        valid_until: When it stopped holding, exclusive; `None` while it is current.
        expires_at: When it is to be forgotten; `None` for never.
        metadata: The caller's mapping: a fresh dict at each use. A tuple comes back as a list.
        state: Why it is not current any more, or that it is.
        reason: Why it ended, in the caller's words or the engine's.
        supersedes: The id of the memory whose slot it took.
        superseded_by: The id of the memory that took its slot.
        session: The session in which it was said, where it was learnt from one.
        message: The index of the message that it was learnt from.
        writer: The part that wrote it: "rules", "model", "consolidation" or "tool"; `None` for a caller, first or again.
        derived_from: The ids of the memories that it was made from.
        disputes: The ids of memories that say otherwise, where neither is known to be newer or truer.
        reinforced: How often it was said again.
        last_seen: When it was said last.
        access_count: How often it was recalled: the stored number, and the recalls of this process since. A prompt that shows it counts,
            too.
        last_recalled_at: When it was last recalled, to the second; `None` where it never was.

    Examples:
        >>> memory = user.remember("Prefers Go for scripting", "preference", slot="scripting-language").memory
        >>> memory
        Memory("mem-1", "Prefers Go for scripting", kind="preference", slot="scripting-language")
        >>> memory.known_from.isoformat(), memory.state
        ('2025-01-01T00:00:00+00:00', 'current')
    """

    id: str
    text: str
    kind: Literal["episodic", "semantic", "preference", "decision", "constraint", "task_outcome", "profile"]
    slot: str | None
    importance: float
    confidence: float
    trust: int
    source: str
    revision: int
    sequence: int
    created_at: datetime
    known_from: datetime
    known_until: datetime | None
    occurred_at: datetime
    valid_until: datetime | None
    expires_at: datetime | None
    metadata: dict[str, Any]
    state: Literal["current", "superseded", "revised", "forgotten", "expired", "quarantined"]
    reason: str | None
    supersedes: str | None
    superseded_by: str | None
    session: str | None
    message: int | None
    writer: str | None
    derived_from: list[str]
    disputes: list[str]
    reinforced: int
    last_seen: datetime
    access_count: int = field(compare=False)
    last_recalled_at: datetime | None = field(compare=False)
    _number: int = field(compare=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Every field by name, in the order of this class; the counts of recalls are none."""
        others = {"access_count", "last_recalled_at", "_number"}  # of the scope, not of what is remembered
        return {name: getattr(self, name) for name in self.__match_args__ if name not in others}

    def __hash__(self) -> int:
        return hash((self.id, self.revision, self.sequence))

    def __repr__(self) -> str:
        slot = "" if self.slot is None else f", slot={quoted(self.slot)}"
        state = "" if self.state == "current" else f", state={quoted(self.state)}"
        return f"Memory({quoted(self.id)}, {short(self.text)}, kind={quoted(self.kind)}{slot}{state})"


@of_module("memspan")
@dataclass(frozen=True)
class Remembered(Kept):
    """The result of a write.

    Attributes:
        action: One word. "added": a new memory. "updated": a new revision. "superseded": a new memory took the slot of another.
            "duplicate": it was there already. "rejected": its id belongs to one that was forgotten or has expired, or the policy refuses it
            (it is then stored nowhere: it has no text, place 0 in the order of writes, and "" for an id where none was given). "redacted":
            a new memory, without what the policy takes out. "reinforced": a memory that was there counts that it was said again.
            "quarantined": it waits for `Scope.approve`.
        memory: The memory as it is stored now; for a duplicate, the one that was there.
        reason: Why, where that is not plain.

    Examples:
        >>> _ = user.remember("Prefers tea")
        >>> user.remember("  Prefers tea")
        Remembered("duplicate", Memory("mem-1", "Prefers tea", kind="semantic"), reason="mem-1 says the same")
    """

    action: Literal["added", "updated", "superseded", "duplicate", "rejected", "reinforced", "redacted", "quarantined"]
    memory: Memory
    reason: str | None

    def __repr__(self) -> str:
        reason = "" if self.reason is None else f", reason={quoted(self.reason)}"
        memory = repr(self.memory) if self.memory.sequence else "<stored nowhere>"
        return f"Remembered({quoted(self.action)}, {memory}{reason})"


@of_engine("pickle its memory, which is a value")
@of_module("memspan")
@dataclass(frozen=True)
class Recalled(Kept):
    """One hit of a recall. It knows its scope, so pickling one is refused: its memory is a value.

    Attributes:
        text: The memory's text.
        memory: The memory that was found.
        score: 0 to 1: how it compares with the other answers to this question. Not comparable between questions.
        source: "memories".
        scope: Whose memory it is.
        tokens: Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted on first use.
    """

    text: str
    memory: Memory
    score: float
    source: Literal["memories"]
    scope: Scope = field(compare=False)
    tokens: int = field(compare=False)

    def explain(self) -> Explanation:
        """Where the score comes from. Cost: the text is analysed again."""
        return cast("Explanation", self.kept("explanation"))

    def __repr__(self) -> str:
        return f"Recalled({self.score:.3f}, {short(self.text)}, id={quoted(self.memory.id)})"


@of_module("memspan.collection")
@dataclass(frozen=True)
class Passage(Kept):
    """A chunk that answers a question, with its citation: `document text[start:end] == passage.text`.

    Attributes:
        document: The document it is part of: id, version, source, metadata.
        start: Where it begins in the document's text, in characters as Python counts them.
        end: Where it ends, exclusive.
        text: The document's text from `start` to `end`.
        heading: The headings above it, outermost first; for code the lines that open the enclosing blocks.
        score: 0 to 1: how it compares with the other hits of the answer. Not comparable between questions.
        source: "collections".
        tokens: Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted on first use.
    """

    document: DocumentInfo
    start: int
    end: int
    text: str
    heading: tuple[str, ...]
    score: float
    source: Literal["collections"]
    tokens: int = field(compare=False)

    @property
    def span(self) -> tuple[int, int]:
        """`start` and `end`."""
        return (self.start, self.end)

    def explain(self) -> Explanation:
        """Where the score comes from. Cost: the text is analysed again."""
        return cast("Explanation", self.kept("explanation"))

    def __repr__(self) -> str:
        return f"Passage({self.score:.3f}, {short(self.text)}, document={quoted(self.document.id)}, span={self.span})"


@of_module("memspan")
@fresh("given")
@dataclass(frozen=True)
class Message(Kept):
    """A message of a session, as it was given. Fields are made when they are read.

    Attributes:
        index: Its place in the session, from 0.
        role: Who speaks: "system", "developer", "user", "assistant" or "tool".
        given: The message as the SDK gave it or would be given it: a fresh dict at each use, equal to the one that was added.
        text: Its texts, one a line, with the arguments and results of tool calls.
        format: The shape it was given in: "openai", "anthropic", "openai_responses" or "gemini".
        tokens: Tokens of the form that is sent, its frame included, as counted when it was added.
        turn: Its turn, from 0.
        id: The caller's id.
        author: Who wrote it, in the caller's words.
        created_at: When it was said, where the caller knew, or where the clock was behind `added_at`: aware, in UTC.
        added_at: When it was added, later than every message before it: aware, in UTC.
        redacted: Whether its text was taken out.
        reason: Why it was.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o")
        >>> _ = session.add({"role": "user", "content": "which port?"}, author="ann")
        >>> message = session.messages[0]
        >>> message
        Message(0, "user", "which port?")
        >>> message.given, message.tokens, message.author
        ({'role': 'user', 'content': 'which port?'}, 7, 'ann')
    """

    index: int
    role: Role
    given: dict[str, Any]
    text: str
    format: Format
    tokens: int
    turn: int
    id: str | None
    author: str | None
    created_at: datetime | None
    added_at: datetime
    redacted: bool
    reason: str | None

    @property
    def content(self) -> Any:
        """Its `content` as it was given: a str, a list of parts, or `None`."""
        return self.given.get("content")

    def __hash__(self) -> int:
        return hash((self.index, self.text, self.added_at))

    def __repr__(self) -> str:
        return f"Message({self.index}, {quoted(self.role)}, {short(self.text)}{', redacted' if self.redacted else ''})"


@dataclass(frozen=True)
class PromptFacts(Kept):
    """The facts about a prompt, without its texts."""

    total_tokens: int
    counted_tokens: int
    max_input_tokens: int
    max_output_tokens: int
    exact: bool
    degraded: str | None
    erased: tuple[str, ...]
    same_bytes: bool
    session_id: str
    cache_key: str
    model: str
    epoch: int
    format: Format
    prefix_hash: str
    prefix_tokens: int
    digest: str
    breakpoints: tuple[Breakpoint, ...]
    sections: tuple[UsedSection, ...]


@dataclass(frozen=True)
class Found(Kept, Generic[_HitT]):
    """An answer: its hits, and the facts about it."""

    hits: tuple[_HitT, ...]
    degraded_reason: str | None
    mode: Literal["hybrid", "lexical"]
    confidence: float
