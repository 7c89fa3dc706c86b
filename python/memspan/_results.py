"""The values that calls return, which the core fills field by field. Each is declared here and nowhere else.

A value is frozen; it is compared, hashed, printed, copied, pickled and matched as a frozen dataclass is. It says that it belongs to the
module of the call that returns it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan import _core
from memspan._values import dataclass, field, fresh, of_module

if TYPE_CHECKING:
    from datetime import datetime

    from memspan._kept import Memory, Message

__all__ = [
    "Added",
    "AddedDocument",
    "Breakpoint",
    "Decision",
    "Document",
    "DocumentInfo",
    "Explained",
    "Explanation",
    "RefusedLine",
    "Relation",
    "SessionInfo",
    "SummaryIdentifier",
    "TermScore",
    "ToolText",
    "TranscriptHit",
    "Usage",
]


Action: TypeAlias = Literal["added", "superseded", "duplicate", "reinforced", "redacted", "rejected", "quarantined", "discarded"]
Category: TypeAlias = Literal["preference", "decision", "task_outcome", "constraint", "semantic", "episodic", "profile", "discard"]
_MOST_SHOWN = 60


def short(text: str) -> str:
    """A text as reprs show it where it may be long: its first 60 characters."""
    return quoted(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}...")


def quoted(text: str) -> str:
    """A text as reprs of values show it, on one line."""
    body = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{body if body.isprintable() else "".join(one if one.isprintable() else repr(one)[1:-1] for one in body)}"'


@of_module("memspan")
@fresh("parts", "further")
@dataclass(frozen=True)
class Explanation:
    """Every number of a score; `str()` prints them as a table.

    Of a message (`Scope.search_transcripts`) `parts` has every number, `cosine` is that of its meaning, and the
    fields about words, age and use are 0, 1 or empty. Of a memory or a passage:

    `relevance = lexical_weight * lexical_normalised + cosine_weight * cosine_normalised` and what each of `further` adds, and `score` is
    that, multiplied by `time * recency * importance * usage * certainty / highest_prior` and `raised`, rounded to units of 2**-30. Where
    no time was asked for and the candidates are facts of which nobody doubts, every factor is 1.

    Attributes:
        score: The score of the hit, to the bit; of a memory or a passage of
            `Scope.search` the score in its own source, before that was weighed, and of a message the weighed one.
        parts: What the score is made of, by name, each before its weight. Of a memory or a passage "words", "meaning", those of
            `further`, "time", "recency", "importance", "usage" and "certainty"; of a message what `TranscriptHit.explain` says. "overview"
            is there where the question has no content and the memory answers by when it was, or by what it is.
        relevance: What words and vectors give together, before all that follows: 0 to 1.
        time_range: The time that the question asks about; `None` where it names none. From the first moment to before the
            second, either of which may be `None`: open. Not read where the caller limits the time.
        time: How near to that time it happened: 1 within it, 0.9 just outside, towards 0.5 far from it.
        age_days: Days since it happened; 0 in the future.
        half_life_days: Days in which `recency` loses half of what it can lose; `None` for kinds that do not age.
        recency: 1 for what is new or does not age, towards 0.9 for old events.
        importance: The factor of its importance: 0.95 to 1.05; 1 for facts and at 0.5.
        recalls: How often it was recalled, as stored; 0 for facts.
        usage: The factor of `recalls`: 1 to 1.03.
        certainty: The factor of the memory's `confidence`: 0.9 to 1.
        raised: The amount by which the score was raised, because the memory is newer than a better one about the same thing, is about the
            person whom the question asks for and a better one is not, or has the score of others as it is shown; mostly 0.
        further: The parts that a closer look at a memory adds: by name the value and the weight. Empty for passages, without vectors,
            and where the built-in embedding knows too little of the question.
        highest_prior: The highest product of time, recency, importance, usage and certainty among the candidates.
        related: The relations that lead to it from what the question names, in words, how it answers a question without content, or of
            which hit it is a later one, whose relevance it has then; `None` of all others.
        duplicates: The ids of memories that the answer leaves out because they say the same as this one.
        lexical: BM25: the sum of the terms' scores.
        lexical_normalised: The same divided by that of the best candidate: 0 to 1.
        lexical_weight: The weight of the words in the score: 0 to 1.
        cosine: Of the question's vector and the memory's, -1 to 1; `None` where one of them has none, or where another hit alone led to
            the memory.
        cosine_normalised: Its place between the lowest and the highest cosine of the candidates, or its share of the highest where the
            memories were looked at closer: 0 to 1.
        cosine_weight: The weight of the vectors in the score: 0 to 1.
        terms: The terms of the question that the memory has.
        length: Words of the memory.
        average_length: Words of a memory of its scope on average.

    Examples:
        >>> _ = user.remember("payments-api listens on port 8443")
        >>> why = user.recall("payments-api port")[0].explain()
        >>> why.lexical_weight >= 0.85, why.cosine > 0.5, [term.text for term in why.terms if term.role == "identifier"]
        (True, True, ['payments-api'])
    """

    score: float
    parts: dict[str, float] = field(hash=False)
    relevance: float
    time_range: tuple[datetime | None, datetime | None] | None
    time: float
    age_days: float
    half_life_days: float | None
    recency: float
    importance: float
    recalls: int
    usage: float
    certainty: float
    raised: float
    further: dict[str, tuple[float, float]] = field(hash=False)
    highest_prior: float
    related: str | None
    duplicates: tuple[str, ...]
    lexical: float
    lexical_normalised: float
    lexical_weight: float
    cosine: float | None
    cosine_normalised: float
    cosine_weight: float
    terms: tuple[TermScore, ...]
    length: int
    average_length: float
    table: str = field(repr=False, compare=False)

    __hash__ = None  # type: ignore[assignment]  # it holds floats, which nobody looks up

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        cosine = "None" if self.cosine is None else f"{self.cosine:.3f}"
        return f"Explanation(score={self.score:.3f}, lexical={self.lexical:.3f}, cosine={cosine}, terms={len(self.terms)})"


@dataclass(frozen=True)
class TermScore:
    """The contribution of one term of the question to the score of one memory.

    Attributes:
        text: The term as the analyzer sees it, at most 256 bytes.
        role: Its role in the question: an identifier, a word, a stem, ...
        weight: The weight of a match in that role.
        frequency: Memories of the scope that have it, or chunks of the collection.
        idf: Its inverse document frequency.
        count: How often this memory has it, at most 255.
        score: Its contribution to `Explanation.lexical`.
    """

    text: str
    role: str
    weight: float
    frequency: int
    idf: float
    count: int
    score: float

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        numbers = f"weight={self.weight:.2f}, frequency={self.frequency}, idf={self.idf:.3f}, count={self.count}, score={self.score:.3f}"
        return f"TermScore({quoted(self.text)}, role={quoted(self.role)}, {numbers})"


@of_module("memspan.collection")
@fresh("metadata")
@dataclass(frozen=True)
class DocumentInfo:
    """A document as it is stored, without its text.

    Attributes:
        id: The id that it was added by.
        version: The version that was given, or one made of its content.
        format: How it is cut.
        source: Where it comes from, in the caller's words.
        metadata: The caller's mapping: a fresh dict at each use.
        created_at: When the id was first added.
        updated_at: When this version was.
        expires_at: When it is to be removed; `None` for never.
        size_bytes: Bytes of its text in UTF-8.
        characters: Characters of its text.
        chunks: How many chunks it is cut into.
    """

    id: str
    version: str
    format: Literal["markdown", "text", "code"]
    source: str | None
    metadata: dict[str, Any] = field(hash=False)
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    size_bytes: int
    characters: int
    chunks: int


@of_module("memspan.collection")
@fresh("metadata")
@dataclass(frozen=True)
class Document(DocumentInfo):
    """A document with its text.

    Attributes:
        text: As it was given. Everything else is as in `DocumentInfo`.
    """

    text: str


@of_module("memspan.collection")
@dataclass(frozen=True)
class AddedDocument:
    """The result of adding a document.

    Attributes:
        action: "added": its id is new. "replaced": it took the place of another version. "duplicate": this version was there already.
        document: As it is stored now.
    """

    action: Literal["added", "replaced", "duplicate"]
    document: DocumentInfo


@of_module("memspan.short_term")
@dataclass(frozen=True)
class Added:
    """The result of adding a message.

    Attributes:
        index: Its index in the session.
        tokens: Tokens of the form that is sent, its frame included; 0 where it was rejected.
        action: "added"; "duplicate": its id was added before, with the same content; "rejected": its id is that of a redacted message.
        turn: The number of its turn: `session.turn(added.turn)` has the reply, where there is one already.
    """

    index: int
    tokens: int
    action: Literal["added", "duplicate", "rejected"]
    turn: int


@of_module("memspan.short_term")
@dataclass(frozen=True)
class ToolText:
    """A part of a stored tool result.

    Attributes:
        text: The part.
        next_offset: Where the next part begins, in characters; `None` at the end.
        total_characters: Characters of the whole.
    """

    text: str
    next_offset: int | None
    total_characters: int


@of_module("memspan.transcript")
@dataclass(frozen=True)
class TranscriptHit:
    """A message that answers a question.

    Attributes:
        session_id: Its session.
        message: The message.
        score: From 0 to 1, higher is better: a weighted sum of what `explain` names. Not comparable between questions, whose best
            words count as 1 whatever they are.
        parts: The values that `explain` returns, without their names.
    """

    session_id: str
    message: Message
    score: float
    parts: tuple[float, ...]

    def __repr__(self) -> str:
        return f"TranscriptHit({self.score:.3f}, {short(self.text)}, session={quoted(self.session_id)}, index={self.index})"

    @property
    def source(self) -> Literal["transcripts"]:
        """"transcripts"."""  # fmt: skip
        return "transcripts"

    @property
    def tokens(self) -> int:
        """Tokens of the text (`o200k_base`). Counted at each use."""
        return _core.count_by_encoding("o200k_base", self.text)

    @property
    def index(self) -> int:
        """The message's index in its session."""
        return self.message.index

    @property
    def role(self) -> str:
        """Whose words they are."""
        return self.message.role

    @property
    def text(self) -> str:
        """The message's texts."""
        return self.message.text

    def explain(self) -> Explanation:
        """The parts of the score: `parts` has each part from 0 to 1, before its weight.

        "words" is BM25 against the best message's, "window" that with a share of the words of the messages beside it, without names;
        "before" and "before_two" are the words of the messages before it in its session, "after_two" of the second one behind;
        "answers" is "before" where that message asks; "meaning" is the cosine of the built-in embedding with what the question is about,
        "closeness" the same word by word ("..._around": with the messages beside it), "exact" the share of the question's very words,
        "phrase" words that stand together in both; "speaker" is 1 where the question names who speaks, "name" where the message has
        that name; "first_person", "own_words" and "second_person" are shares of "I" and "you"; "time_asked" is 1 where the question asks
        when and it names a time; "opening", "place", "near_best" and "session" say where it stands; "within" and "behind" are 1 where it
        was said when the question asks about, or in the ten days after; "length" grows with its distinct words; "identified" is 1 where it
        holds every identifier of the question. docs/ranking.md has the weight of each.

        Examples:
            >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "payments-api listens on port 8443"})
            >>> [hit] = user.search_transcripts("port of payments-api")
            >>> hit.explain().parts["words"], hit.explain().parts["identified"]
            (1.0, 1.0)
        """
        return _core.explain_message(self.score, list(self.parts))


@of_module("memspan.working")
@dataclass(frozen=True)
class Explained:
    """One candidate for a prompt, and what became of it.

    Attributes:
        section: The section it was a candidate for.
        id: A memory's id (`team/mem-1` where its scope "team" is another than the session's), a message's (`s-1#4`: its session and
            its index), a task's key, an item's id, `messages 0..42`.
        included: Whether it is in the prompt.
        why: The reason, in words.
        tokens: Its tokens; 0 where it was left out before it was counted.
        score: Its relevance, where it has one.
        memory: The id of the memory, if it is one.
        revision: Which revision of it.
    """

    section: str
    id: str
    included: bool
    why: str
    tokens: int
    score: float | None
    memory: str | None
    revision: int | None

    def __str__(self) -> str:
        score = "" if self.score is None else f", score {self.score:.3f}"
        fate = "included" if self.included else "left out"
        return f"{self.section} {self.id}: {fate}, {self.tokens:,} tokens{score}: {self.why}"


@of_module("memspan.working")
@dataclass(frozen=True)
class Breakpoint:
    """A place where a provider may keep what stands before it.

    Attributes:
        segments: The number of segments before it.
        tokens: Tokens before it.
        hash: Equal hashes, equal bytes before it: 32 hexadecimal digits.
        lasting: Later prompts of the epoch begin with the same bytes. One that does not last serves the tool rounds of this turn.
    """

    segments: int
    tokens: int
    hash: str
    lasting: bool


@of_module("memspan.compaction.values")
@dataclass(frozen=True)
class SummaryIdentifier:
    """An identifier that a summary has, byte for byte.

    Attributes:
        text: The identifier.
        phrase: The line that says what it names.
        messages: Indices of the messages that it comes from.
    """

    text: str
    phrase: str
    messages: tuple[int, ...]


@of_module("memspan.compaction.values")
@dataclass(frozen=True)
class RefusedLine:
    """A line of a model that was not taken.

    Attributes:
        text: The line that it wrote.
        reason: The part of it that its messages do not support.
    """

    text: str
    reason: str


@of_module("memspan.life")
@dataclass(frozen=True)
class Decision:
    """The decision about a part of a message.

    Attributes:
        action: The action: one of those of `Remembered`, or "discarded". In a dry run the planned one: "added", "quarantined" or
            "discarded".
        category: A kind of memory, or "discard".
        text: The stored text; where nothing is stored, the words themselves.
        slot: The attribute that it gives a value to.
        importance: 0 to 1.
        confidence: 0 to 1: how sure the gate is.
        index: The message, from 0.
        span: The characters of the message that it rests on: first, and behind the last.
        reason: Which rule, or why nothing was stored.
        memory: As it is stored; `None` where nothing is, and in a dry run.
    """

    action: Action
    category: Category
    text: str
    slot: str | None
    importance: float
    confidence: float
    index: int
    span: tuple[int, int]
    reason: str
    memory: Memory | None = None


@of_module("memspan.life")
@dataclass(frozen=True)
class Relation:
    """A relation between two things, and when it holds.

    Attributes:
        subject: The name of the one.
        relation: The relation, for instance "runs on".
        object: The name of the other.
        since: When it began to hold.
        until: When it stopped holding; `None` while it holds.
        memory_id: The memory that it was taken from.
    """

    subject: str
    relation: str
    object: str
    since: datetime
    until: datetime | None
    memory_id: str | None


@fresh("metadata")
@dataclass(frozen=True)
class SessionInfo:
    """The description of a session, without its messages. Frozen.

    Attributes:
        id: Its id.
        model: The model that it runs on now.
        messages: How many messages it has.
        turns: How many turns it has, the open one included.
        epoch: The number of its epoch.
        created_at: When it was made: aware, in UTC.
        last_added_at: When something was last added to it: aware, in UTC; when it was made where nothing was.
        ended: Whether it was ended.
        metadata: The mapping that its caller keeps with it: a fresh dict at each use. No model ever sees it.

    Examples:
        >>> _ = user.session("s-1", model="gpt-4o", metadata={"channel": "web"})
        >>> [info] = user.sessions()
        >>> info.id, info.model, info.messages, info.ended, info.metadata
        ('s-1', 'gpt-4o', 0, False, {'channel': 'web'})
    """

    id: str
    model: str
    messages: int
    turns: int
    epoch: int
    created_at: datetime
    last_added_at: datetime
    ended: bool
    metadata: dict[str, Any] = field(hash=False)

    def __repr__(self) -> str:
        return f"SessionInfo({quoted(self.id)}, model={quoted(self.model)}, messages={self.messages}, ended={str(self.ended).lower()})"


@of_module("memspan.transcript")
@fresh("raw")
@dataclass(frozen=True)
class Usage:
    """The bill of a provider, in its own tokens.

    Attributes:
        input_tokens: The whole prompt, with the tokens read from a cache and written to it.
        output_tokens: The reply, hidden thinking included.
        cached_tokens: Of the prompt: read from a cache.
        cache_write_tokens: Of the prompt: written to a cache.
        raw: The usage as the provider gave it, a fresh dict at each use; `None` for a sum of several calls.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    raw: dict[str, Any] | None = field(default=None, hash=False)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
        )
