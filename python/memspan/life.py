"""The life of a memory: learning from conversations, quarantine and consolidation.

The values are here (`Policy`, `KindRule`, `Decision`, `Learned`, ...); the calls are methods of `Scope` and `Engine`. Rust judges the
claims of a message (`rust/engine/src/gate`). `_learning.py` reads conversations and asks a model where one is given, `_consolidation.py`
merges. docs/life.md has the rules.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, cast, overload

from memspan._fence import fenced, is_async, is_number, keep_plain
from memspan._flags import check_flags, shown
from memspan._results import Decision, Relation
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from memspan._kept import Memory
    from memspan.detectors import Detector

__all__ = [
    "Cluster",
    "Consolidation",
    "Decision",
    "KindRule",
    "LanguageModel",
    "Learned",
    "Policy",
    "Profile",
    "Relation",
    "SlotProposal",
]

Treatment: TypeAlias = Literal["allow", "redact", "reject"]
_TREATMENTS = ("allow", "redact", "reject")
_LONGEST = 1e9
_DAY = 86_400.0


def _callables(given: object) -> tuple[Detector, ...]:
    """Detectors as a policy keeps them."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        raise InvalidInput(f"making a policy: detectors is a list of functions, and it is a {type(given).__name__}: put it into a list")
    for one in cast("Sequence[object]", given):
        if not callable(one) or is_async(one):
            rule = "a detector is a function of a text that returns parts of it, and no coroutine"
            raise InvalidInput(f"making a policy: {rule}, and one is {shown(one)}: give a function")
    return tuple(cast("Sequence[Detector]", given))


class LanguageModel(Protocol):
    """A model that refines decisions: a function of messages of role and content that returns the reply's text, synchronous or not."""

    def __call__(self, messages: list[dict[str, str]], /, *, max_tokens: int) -> str | Awaitable[str]:
        """The reply's text."""
        ...


@fenced
@dataclass(frozen=True)
class Policy:
    """The policy of a store, which says what is never stored and what waits for approval: `memspan.open(policy=...)`.

    Attributes:
        secrets: Keys, tokens, passwords: "reject" stores nothing of a text that has one, "redact" puts the name of its type in its place,
            "allow" keeps it.
        personal_data: The same for card and account numbers, social security and phone numbers, e-mail and postal addresses.
        unconfirmed: How `Scope.learn` treats unconfirmed statements of an assistant, and statements that the rules doubt: "quarantine"
            keeps them for `Scope.approve`, "discard" drops them.
        transcripts: Whether messages that `Session.add` and `add_many` add are redacted too, by both rules; "reject" then redacts, because
            a conversation cannot do without a message. Replies that `add_response` and `reply` add stay as they came, the arguments of
            their calls included: tools must run with the arguments that the model wrote, signed thinking must go back unchanged, and the
            ledger has the reply as it was. `Session.redact` takes one out.
        detectors: Functions of yours that find data which the rules miss: `memspan.detectors` has their shape, and one made of Presidio.
        detected: The treatment of their findings, as for secrets.
        detector_seconds: How long one of them may take for a text; one that takes longer raises `memspan.detectors.DetectorError`.
        learn: When a session is learnt from: "called" only by `Scope.learn`, "end" also by `Session.end`, "compaction" also before messages
            leave its prompts, by `Session.compact` and `Session.switch_model`.

    Examples:
        >>> memspan.Policy(personal_data="redact").secrets
        'reject'
    """

    secrets: Treatment = "reject"
    personal_data: Treatment = "allow"
    unconfirmed: Literal["quarantine", "discard"] = "quarantine"
    transcripts: bool = False
    learn: Literal["called", "end", "compaction"] = "called"
    detectors: Sequence[Detector] = ()
    detected: Treatment = "redact"
    detector_seconds: float = 5.0

    def __post_init__(self) -> None:
        check_flags("making a policy", transcripts=self.transcripts)
        for name, given, known in (
            ("secrets", self.secrets, _TREATMENTS),
            ("personal_data", self.personal_data, _TREATMENTS),
            ("unconfirmed", self.unconfirmed, ("quarantine", "discard")),
            ("learn", self.learn, ("called", "end", "compaction")),
            ("detected", self.detected, _TREATMENTS),
        ):
            if given not in known:
                raise InvalidInput(f"making a policy: {name} is one of {', '.join(map(repr, known))}, and it is {shown(given)}: choose one")
        object.__setattr__(self, "detectors", _callables(self.detectors))
        if not is_number(self.detector_seconds) or not 0 < self.detector_seconds <= _DAY:
            rule = "detector_seconds is a number above 0 and at most a day"
            raise InvalidInput(f"making a policy: {rule}, and it is {shown(self.detector_seconds)}: give seconds")
        keep_plain(self, "detector_seconds")


@fenced
@dataclass(frozen=True)
class KindRule:
    """How long memories of a kind live: `memspan.open(kinds={"episodic": KindRule(ttl_days=90)})`.

    Attributes:
        ttl_days: Days until one is forgotten that was remembered without `ttl_seconds`; `None` keeps it.
        half_life_days: Days in which its value halves, where a cap makes the least valuable leave and in the scores of `recall`, which lose
            half at most. `None` keeps the value, and scores as the kind does by default.
        cap: Memories of the kind that a scope has at most; `Engine.maintain` forgets the least valuable above it. `None` sets no limit.
    """

    ttl_days: float | None = None
    half_life_days: float | None = None
    cap: int | None = None

    def __post_init__(self) -> None:
        for name, given in (("ttl_days", self.ttl_days), ("half_life_days", self.half_life_days), ("cap", self.cap)):
            if given is not None and (not is_number(given) or not 0 < given <= _LONGEST):
                raise InvalidInput(f"making a rule of a kind: {name} is a number above 0, or None, and it is {shown(given)}: change it")
        keep_plain(self, "ttl_days", "half_life_days", "cap")


@dataclass(frozen=True)
class Learned(Sequence[Decision]):
    """The result of `Scope.learn`: a frozen sequence of `Decision`, in the order of messages.

    Attributes:
        decisions: All of them.
        messages: Messages that were read.
        calls: Calls of the model.
        failed_calls: Those that raised, took too long or gave no valid output; the rules decided there.
        tokens: Of what was sent to it and came back, counted as `o200k_base`.
        refused_claims: Claims of the model that were not stored, because the message does not say so.
    """

    decisions: tuple[Decision, ...] = ()
    messages: int = 0
    calls: int = 0
    failed_calls: int = 0
    tokens: int = 0
    refused_claims: int = 0

    @overload
    def __getitem__(self, index: int) -> Decision: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Decision, ...]: ...
    def __getitem__(self, index: int | slice) -> Decision | tuple[Decision, ...]:
        return self.decisions[index]

    def __len__(self) -> int:
        return len(self.decisions)

    @property
    def stored(self) -> tuple[Decision, ...]:
        """Those of which something is stored now, or in a dry run would be."""
        return tuple(one for one in self.decisions if one.action not in {"discarded", "rejected", "quarantined"})

    def __repr__(self) -> str:
        actions: dict[str, int] = {}
        for one in self.decisions:
            actions[one.action] = actions.get(one.action, 0) + 1
        counts = ", ".join(f"{count} {action}" for action, count in sorted(actions.items()))
        return f"Learned({self.messages} messages: {counts or 'nothing'})"


@dataclass(frozen=True)
class Cluster:
    """Memories that became one.

    Attributes:
        originals: The memories that were merged.
        text: The text that stands for them.
        by: "rules" (one of them stands for all) or "model" (a text that was written for them).
        memory: The memory that took their place; `None` in a dry run.
    """

    originals: tuple[Memory, ...]
    text: str
    by: Literal["rules", "model"]
    memory: Memory | None = None


@dataclass(frozen=True)
class SlotProposal:
    """A slot for a preference that has none: `Scope.revise(memory.id, slot=...)` takes it.

    Attributes:
        memory: The preference.
        slot: The attribute that it gives a value to, as the write gate reads it.
    """

    memory: Memory
    slot: str


@dataclass(frozen=True)
class Consolidation(Sequence[Cluster]):
    """The result of `Scope.consolidate`: a frozen sequence of `Cluster`.

    Attributes:
        clusters: All of them.
        calls: Calls of the model.
        failed_calls: Those that raised, took too long or gave a text that the originals do not bear out; the rules decided there.
        proposals: Slots for preferences that have none. Nothing is done about them: the newest value of a slot supersedes the others.
    """

    clusters: tuple[Cluster, ...] = ()
    calls: int = 0
    failed_calls: int = 0
    proposals: tuple[SlotProposal, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Cluster: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cluster, ...]: ...
    def __getitem__(self, index: int | slice) -> Cluster | tuple[Cluster, ...]:
        return self.clusters[index]

    def __len__(self) -> int:
        return len(self.clusters)


@dataclass(frozen=True)
class Profile:
    """The facts that are known about somebody now, as one text and as one mapping.

    Attributes:
        text: Lines for a prompt: constraints, who they are, what they prefer. Ends before more than `max_tokens`.
        slots: The current value of each slot that tells of the user (constraints, who they are, what they prefer), by name, however
            short the text; `Scope.slots` has all.
        memories: The memories in the text, in its order.
    """

    text: str
    slots: Mapping[str, str]
    memories: tuple[Memory, ...] = field(default=())

    def __str__(self) -> str:
        return self.text
