"""Working memory: the `Prompt` with its reasons. `budget.py` has what a caller asks of one.

A prompt is a value: neutral segments under a limit. It opens no store any more, and renders only when it is asked to.
`Session.assemble` makes one; the rules by which it is laid out are in `docs/prompt.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan._copies import of_engine
from memspan._fence import fenced
from memspan._fields import standard_base64
from memspan._flags import check_flags
from memspan._results import Breakpoint, Explained
from memspan._values import dataclass
from memspan.budget import Budget, Compact, Grant, Item, Order, Recalls, ToolResults, stored_budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspan import _core, _records

__all__ = [
    "Breakpoint",
    "Budget",
    "CacheBreak",
    "Compact",
    "Explained",
    "Explanations",
    "Format",
    "Grant",
    "Item",
    "Order",
    "Prompt",
    "Recalls",
    "Section",
    "SharedPrefix",
    "ToolResults",
    "stored_budget",
]

Format: TypeAlias = Literal["openai", "anthropic", "openai_responses", "gemini"]
"""The shape of a request: OpenAI's chat completions, or Anthropic's messages."""


@dataclass(frozen=True)
class Section:
    """A part of a prompt.

    Attributes:
        name: "tools", "system", "pinned", "history", "turn", "newer", "task", "recalled", "retrieved", a name of the caller's; "frame" is
            what belongs to none.
        tokens: The tokens that it uses. The tokens of all sections add up to the prompt's.
        grant: The limits on its size; `None` for a section of fixed size.
        asked: The tokens that it could have used.
        granted: The tokens that it was granted.
        items: How many things are in it: messages, memories, tools, chunks.
    """

    name: str
    tokens: int
    grant: Grant | None
    asked: int
    granted: int
    items: int


class Explanations(tuple[Explained, ...]):
    """Every candidate of a prompt, as a tuple; `str()` prints them as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [(one.section, one.id, "in" if one.included else "out", f"{one.tokens:,}", _score(one.score), one.why) for one in self]
        return _table(("section", "what", "", "tokens", "score", "why"), rows)


@dataclass(frozen=True)
class SharedPrefix:
    """The common beginning of two prompts.

    Attributes:
        segments: Leading segments that are the same.
        tokens: Their tokens, counted as the older prompt's `prefix_tokens` are.
        bytes: Leading bytes of both requests that are the same.
        broken_by: The segment of the newer prompt where they part: "system", "message 31", "block"; `None` where it ends before.
    """

    segments: int
    tokens: int
    bytes: int
    broken_by: str | None


@dataclass(frozen=True)
class CacheBreak:
    """Where a prompt parts from an earlier one, and why.

    Attributes:
        segment: The segment there in the newer prompt: "tools", "system", "pinned", "summary", "message 31", "block"; `None` where the
            newer one only goes on.
        byte: The first byte of the request that differs.
        reused_tokens: Tokens before it, counted as the older prompt's `prefix_tokens` are.
        lost_tokens: Tokens of the older prompt's cacheable beginning that are not reused.
        why: "grew", "tools", "system", "pinned", "summary", "epoch" (the window was cut, or messages were taken back), "volatile" (what
            changes with each question).
    """

    segment: str | None
    byte: int
    reused_tokens: int
    lost_tokens: int
    why: Literal["grew", "tools", "system", "pinned", "summary", "epoch", "volatile"]


@of_engine("pickle the request that it renders, to_openai() for instance")
@fenced
class Prompt:
    """A prompt for a model: exact to the token, with a reason for everything in it. Made by `Session.assemble`.

    Frozen, and free of the store: it can be rendered after the engine was closed, and by any thread.

    Examples:
        >>> session = user.session("s-1", model="gpt-4o", system="You are terse.")
        >>> _ = session.add({"role": "user", "content": "which port does payments-api use?"})
        >>> prompt = session.assemble()
        >>> prompt.total_tokens <= prompt.max_input_tokens, prompt.exact
        (True, True)
        >>> prompt.to_openai()["messages"]
        [{'role': 'system', 'content': 'You are terse.'}, {'role': 'user', 'content': 'which port does payments-api use?'}]
    """

    __slots__ = ("_core", "_facts")

    def __init__(self, core: _core.PromptCore) -> None:
        self._core = core
        self._facts = core.facts()

    @property
    def total_tokens(self) -> int:
        """Tokens of the whole request, frames and tools included. Never above `max_input_tokens`.

        Where `exact` is true it is the true number. Where the model's tokenizer is closed it is a bound: what the provider billed for the
        last call of the epoch, plus the most that what came since can be.
        """
        return self._facts.total_tokens

    @property
    def counted_tokens(self) -> int:
        """The counted tokens: the same as `total_tokens`, or by the reference encoding where the model's tokenizer is closed."""
        return self._facts.counted_tokens

    @property
    def max_input_tokens(self) -> int:
        """The limit."""
        return self._facts.max_input_tokens

    @property
    def max_output_tokens(self) -> int:
        """The most tokens of the reply; the request says so."""
        return self._facts.max_output_tokens

    @property
    def exact(self) -> bool:
        """Whether `total_tokens` is the true number, rather than a bound above it: the tokenizer is known, or the provider counted."""
        return self._facts.exact

    @property
    def session_id(self) -> str:
        """The session that it is of."""
        return self._facts.session_id

    @property
    def cache_key(self) -> str:
        """A name of the conversation for a provider's cache: 32 hex digits that all prompts of the session have, and those of no other.

        It says nothing of the user: it is a hash of the session and its scope with a key that the store drew by itself.
        """
        return self._facts.cache_key

    @property
    def model(self) -> str:
        """The model that it is for."""
        return self._facts.model

    @property
    def epoch(self) -> int:
        """The epoch of the session: within one, prompts only grow at their end."""
        return self._facts.epoch

    @property
    def format(self) -> Format:
        """The shape that the model's provider takes."""
        return self._facts.format

    @property
    def prefix_hash(self) -> str:
        """Of what stands before the cache boundary, 32 hexadecimal digits: equal hashes, equal bytes."""
        return self._facts.prefix_hash

    @property
    def prefix_tokens(self) -> int:
        """Tokens before the cache boundary: what the next prompt of the epoch begins with."""
        return self._facts.prefix_tokens

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        """Where a provider may cache, in order; at most four."""
        return self._facts.breakpoints

    @property
    def sections(self) -> tuple[Section, ...]:
        """The parts in their order, with tokens and grants."""
        return tuple(map(_section, self._facts.sections))

    @property
    def degraded(self) -> bool:
        """Whether memory was searched without vectors that could have been used."""
        return self._facts.degraded is not None

    @property
    def degraded_reason(self) -> str | None:
        """Why it was."""
        return self._facts.degraded

    @property
    def erased(self) -> tuple[str, ...]:
        """Of a prompt out of the ledger: the items that it showed and that were erased since, as "memory mem-3" or "message 31".

        Of a tool's result whose call was redacted it says "call of message s-1#7".
        """
        return self._facts.erased

    @property
    def same_bytes(self) -> bool:
        """Of a prompt out of the ledger: whether it is proven to be, byte for byte, the one that was sent. Otherwise `True`."""
        return self._facts.same_bytes

    @property
    def text(self) -> str:
        """The whole as text, for people."""
        return self._core.text()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages in the shape of OpenAI's chat, whatever the model: fresh dicts."""
        found: list[dict[str, Any]] = self._core.request("openai", stream=False, dialect=None)["messages"]
        return found

    def explain(self) -> Explanations:
        """Every candidate: included or left out, and why. `print(prompt.explain())` shows a table.

        Messages and passages that the session's `Recalls` leave out (`roles`, `other_sessions`, `min_confidence`) are not candidates.
        """
        return Explanations(self._core.explained())

    def why(self, memory_id: str) -> Explained:
        """Why a memory or a message is in this prompt or is not, even where it was not a candidate.

        Where the prompt itself does not know, the store is asked as it is now: another scope, forgotten, expired, replaced, below the
        number that is recalled, the same as another. Cost: none for a candidate; else a look-up and one recall.

        Args:
            memory_id: Its id in the session's own scope; `team/mem-1` for `mem-1` of the scope "team", where the session reads that. Of
                a message the id of its session and its index: `s-1#4`.

        Raises:
            InvalidInput: The id is not a string.
            Closed: The memory was not a candidate, and the engine is closed.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", recalls=memspan.Recalls(memories=0))
            >>> memory = user.remember("payments-api listens on port 8443").memory
            >>> _ = session.add({"role": "user", "content": "which port does payments-api use?"})
            >>> session.assemble().why(memory.id).why
            'memories are switched off: raise Recalls(memories=0)'
        """
        rows = [one for one in self.explain() if one.id == memory_id]
        for row in sorted(rows, key=lambda one: (one.memory is None, not one.included)):
            return row
        why, is_memory = self._core.why(memory_id)
        return Explained("recalled", memory_id, False, why, 0, None, memory_id if is_memory else None, None)

    def shared_prefix(self, previous: Prompt) -> SharedPrefix:
        """The prefix that this prompt has in common with an earlier one, and the segment that broke the cache where they part.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", system="You are terse.")
            >>> _ = session.add({"role": "user", "content": "one"})
            >>> before = session.assemble()
            >>> _ = session.add_many([{"role": "assistant", "content": "two"}, {"role": "user", "content": "three"}])
            >>> session.assemble().shared_prefix(before).segments
            2
        """
        shared = self._core.shared_with(previous._core)
        ours, theirs = self._core.body(self.format, stream=False), previous._core.body(self.format, stream=False)
        return SharedPrefix(shared.segments, shared.tokens, _same_bytes(ours, theirs), shared.broken_by)

    def explain_cache(self, previous: Prompt) -> CacheBreak:
        """Why a provider's cache holds less than all of an earlier prompt: the first segment and byte that differ.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", system="You are terse.")
            >>> _ = session.add({"role": "user", "content": "one"})
            >>> before = session.assemble()
            >>> session = user.session("s-1", system="You are kind.")
            >>> session.assemble().explain_cache(before).why
            'system'
        """
        shared = self.shared_prefix(previous)
        lost = max(0, previous.prefix_tokens - shared.tokens)
        return CacheBreak(shared.broken_by, shared.bytes, shared.tokens, lost, _why(shared.broken_by, self.epoch != previous.epoch, lost))

    def render(self, format: Format | None = None) -> dict[str, Any]:  # noqa: A002  the field's own word
        """Keyword arguments of the SDK's call, in the session's model's own format or in the one that is named.

        Raises:
            InvalidInput: The format has another name.
        """
        request: dict[str, Any] = self._core.request(format, stream=False, dialect=None)
        return request

    def to_openai(self, *, stream: bool = False, dialect: str | None = None) -> dict[str, Any]:
        """Keyword arguments of `client.chat.completions.create(**...)`: fresh dicts, in a fixed order.

        Args:
            stream: Ask for a stream, with the usage at its end.
            dialect: Whose server it goes to, one of `memspan.dialects`, by default that of the model's vendor. It says how the length of
                the reply is called, which ids calls may have, where system messages may stand, what a conversation may begin and end with.
        """
        check_flags("rendering a prompt", stream=stream)
        request: dict[str, Any] = self._core.request("openai", stream, dialect)
        return request

    def to_anthropic(self, *, stream: bool = False) -> dict[str, Any]:
        """Keyword arguments of `client.messages.create(**...)`, with `cache_control` at the breakpoints.

        The system prompt is on top, neighbours of one role are merged, each call is followed by its result.

        Args:
            stream: Ask for a stream.
        """
        check_flags("rendering a prompt", stream=stream)
        request: dict[str, Any] = self._core.request("anthropic", stream=stream, dialect=None)
        return request

    def _to_converse(self) -> dict[str, Any]:
        """Anthropic's messages with the files that Amazon's Converse takes and Anthropic does not: `Bedrock` makes its request of them."""
        request: dict[str, Any] = self._core.request("anthropic", stream=False, dialect="bedrock")
        return request

    def to_openai_responses(self, *, stream: bool = False) -> dict[str, Any]:
        """Keyword arguments of `client.responses.create(**...)`: items, with encrypted reasoning kept, and nothing stored at the provider.

        Args:
            stream: Ask for a stream.
        """
        check_flags("rendering a prompt", stream=stream)
        request: dict[str, Any] = self._core.request("openai_responses", stream=stream, dialect=None)
        return request

    def to_gemini(self) -> dict[str, Any]:
        """Keyword arguments of `client.models.generate_content(**...)` and of `generate_content_stream`, with signatures kept."""
        request: dict[str, Any] = self._core.request("gemini", stream=False, dialect=None)
        for content in request["contents"]:
            for part in content["parts"]:
                _to_bytes(part, "thought_signature")
                _to_bytes(part.get("inline_data"), "data")
        return request

    def to_json(self, format: Format | None = None) -> bytes:  # noqa: A002
        """The body of the request as JSON. Equal prompts give equal bytes, in every process."""
        return self._core.body(format, stream=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prompt) and self._same() == other._same()

    def __hash__(self) -> int:
        return hash(self._same())

    def _same(self) -> tuple[str, str, int, int]:
        return (self._facts.digest, self.model, self.max_input_tokens, self.max_output_tokens)

    def __repr__(self) -> str:
        about = "" if self.exact else "at most "
        erased = f", erased={self.erased!r}" if self.erased else ""
        return (
            f"Prompt({about}{self.total_tokens:,} of {self.max_input_tokens:,} tokens, {self.prefix_tokens:,} before the cache boundary, "
            f"model={self.model!r}, epoch={self.epoch}{erased})"
        )

    def __str__(self) -> str:
        """The sections as a table."""
        rows = [(one.name, f"{one.tokens:,}", f"{one.granted:,}", f"{one.asked:,}", f"{one.items:,}") for one in self.sections]
        return f"{self!r}\n{_table(('section', 'tokens', 'granted', 'asked', 'items'), rows)}"


def _to_bytes(place: dict[str, Any] | None, key: str) -> None:
    if place is not None and isinstance(place.get(key), str):
        import base64  # noqa: PLC0415  for requests with images or signatures

        text = place[key]
        # A word of the documentation's, not of a signature's alphabet, says that there is none.
        is_word = text == "skip_thought_signature_validator"
        place[key] = text.encode() if is_word else base64.b64decode(standard_base64(text))


def _same_bytes(ours: bytes, theirs: bytes) -> int:
    """How many leading bytes are the same, by halving: comparing slices is quick."""
    low, high = 0, min(len(ours), len(theirs))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if ours[low:middle] == theirs[low:middle] else (low, middle - 1)
    return low


def _score(score: float | None) -> str:
    return "" if score is None else f"{score:.3f}"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    numeric = {"tokens", "granted", "asked", "items", "score"}

    def line(row: tuple[str, ...]) -> str:
        cells = zip(head, row, widths, strict=True)
        return "  ".join(cell.rjust(width) if name in numeric else cell.ljust(width) for name, cell, width in cells).rstrip()

    return "\n".join(line(row) for row in [head, *rows])


def _section(used: _records.UsedSection) -> Section:
    own = used.grant
    grant = None if own is None else Grant(own.floor, own.weight, own.ceiling)
    return Section(used.name, used.tokens, grant, used.asked, used.granted, used.items)


def _why(segment: str | None, new_epoch: bool, lost: int) -> Any:
    if segment is None:
        return "grew"
    if segment in ("tools", "system", "pinned", "summary"):
        return segment
    if segment.startswith("message") and new_epoch:
        return "epoch"
    if new_epoch and lost:
        return "epoch"
    return "volatile" if segment == "block" or lost else "grew"
