"""A caller's settings for prompts: token limits (`Budget`, `Grant`), recalled texts (`Recalls`), and chunks of its own (`Item`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memspan._core import Limits
from memspan._fence import fenced, is_number, is_whole, keep_plain
from memspan._flags import shown
from memspan._values import FrozenDict, dataclass, field
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from memspan._records import StoredBudget

__all__ = ["Budget", "Compact", "Grant", "Item", "Order", "Recalls", "ToolResults", "stored_budget"]

Order: TypeAlias = Literal["cache_first", "classic"]
"""The order of a prompt's parts. "cache_first": parts that change least come first. "classic": system, memory, retrieval, recent turns."""

_FIXED = frozenset({"tools", "system", "pinned", "summary", "turn", "frame"})

_OURS = frozenset({"updated", "newer", "task", "history"})

_GRANTED = ("history", "recalled", "retrieved", "task", "updated", "newer")

_MISTAKEN = {
    **dict.fromkeys(("memory", "memories", "messages", "recalls", "transcripts"), "recalled"),
    **dict.fromkeys(("documents", "passages", "collections"), "retrieved"),
    **dict.fromkeys(("tool_results", "turns"), "history"),
    "tasks": "task",
}

_ROLES = ("user", "assistant", "tool")

_CLASSES = {"a compaction": "Compact", "tool results": "ToolResults"}
"""The classes whose names are not the words of an error."""

_NEAR = 0.8

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")


@fenced
@dataclass(frozen=True)
class Grant:
    """The tokens that a section of the prompt may have.

    Attributes:
        floor: Tokens that are set aside for it, whatever the others ask for. The rest goes to them.
        weight: Its share of what is left when every floor is served, 0 to 1,000,000; 0 gives it its floor and no more.
        ceiling: The most it may have; `None` for no bound of its own.

    Raises:
        InvalidInput: A number is negative or too large, or the floor exceeds the ceiling.
    """

    floor: int = 0
    weight: int = 4
    ceiling: int | None = None

    def __post_init__(self) -> None:
        _check_whole("a grant", "floor", self.floor, 0, Limits.MAX_TOKENS)
        _check_whole("a grant", "weight", self.weight, 0, Limits.MAX_GRANT_WEIGHT)
        if self.ceiling is not None:
            _check_whole("a grant", "ceiling", self.ceiling, 0, Limits.MAX_TOKENS)
            if self.floor > self.ceiling:
                raise InvalidInput(
                    f"making a grant: its floor must not exceed its ceiling, got a floor of {self.floor:,} and a ceiling of "
                    f"{self.ceiling:,} (Grant): lower the floor or raise the ceiling",
                    floor=self.floor,
                    ceiling=self.ceiling,
                )
        keep_plain(self, "floor", "weight", "ceiling")


@fenced
@dataclass(frozen=True)
class Compact:
    """When a session should be compacted: what `Session.compaction_due` goes by. Nothing is compacted behind the caller's back.

    Attributes:
        at: From this share of a prompt's limit on, above 0 and at most 1; `None` for never. The prompt is taken as it would be if nothing
            were cut: the fixed sections and everything since the last compaction.
        every_turns: After this many turns since the last compaction; `None` for never.

    Raises:
        InvalidInput: A number is out of its range.
    """

    at: float | None = 0.75
    every_turns: int | None = None

    def __post_init__(self) -> None:
        if self.at is not None:
            _check_share("at", self.at, zero=False, what="a compaction", of="Compact")
        if self.every_turns is not None:
            _check_whole("a compaction", "every_turns", self.every_turns, 1, Limits.MAX_TOKENS)
        keep_plain(self, "at", "every_turns")


@fenced
@dataclass(frozen=True)
class ToolResults:
    """How much of a tool result a session's prompts show. Results are stored whole, whatever is shown of them.

    Attributes:
        max_tokens: The most of one result: its beginning, a marker, its end. `Session.tool_result` reads the rest.
        keep_rounds: The newest tool rounds of a long turn that stay where they fit, when earlier ones leave the prompt for a line that
            names their tools.
        summarise: A function `(text, *, max_tokens) -> str` that `Session.add` asks for a short form of a longer result. A
            summary that says more than the result, or comes too late, is not shown. The function is not stored: give it at each opening.

    Raises:
        InvalidInput: A number is out of its range, or `summarise` cannot be called.

    Examples:
        >>> rule = memspan.ToolResults(max_tokens=100, summarise=lambda text, *, max_tokens: "Two tests of 9,000 failed.")
        >>> session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(tool_results=rule))
    """

    max_tokens: int = 4_000
    keep_rounds: int = 3
    summarise: Callable[..., Any] | None = None

    def __post_init__(self) -> None:
        _check_whole("tool results", "max_tokens", self.max_tokens, 64, Limits.MAX_TOKENS)
        _check_whole("tool results", "keep_rounds", self.keep_rounds, 1, Limits.MAX_KEPT_ROUNDS)
        if self.summarise is not None and not callable(self.summarise):
            raise InvalidInput(
                f"making tool results: summarise must be a function of a text and max_tokens that returns a str, got "
                f"{_kind(self.summarise)} (ToolResults.summarise): wrap the call in one"
            )
        keep_plain(self, "max_tokens", "keep_rounds")


@fenced
@dataclass(frozen=True)
class Budget:
    """The token limits of a session's prompts, and their layout.

    Attributes:
        max_input_tokens: The limit of a whole request. By default `fill` of the model's window, or what the reply's reserve leaves.
        order: "cache_first", or "classic", which caches the system prompt only.
        fill: How much of the window a prompt may fill, above 0 and at most 1, where no limit is named.
        output_tokens: The tokens kept free for the reply. By default 4,096, or what the model can write where that is less.
        cut_step: How far the window of history moves when it must, as a share of what history may have, 0 to 1. A small step keeps more
            history, a large one keeps the cache longer; 0 moves it at every turn.
        compact: When the session should be compacted; `None` for never, unless it ended.
        tool_results: How much of a tool result is shown; `None` for at most a quarter of what a prompt may have.
        sections: Grants by section: "history", "recalled" (4,096 tokens at most by default, where history leaves them), "retrieved",
            "task", "updated" (what changed of the pinned memory in this epoch), or a name of your own for items, which is refused where it
            looks like one of these misspelt.

    Raises:
        InvalidInput: A number is out of its range, a section's size is not yours to decide, or the floors exceed the limit together.

    Examples:
        >>> memspan.Budget(max_input_tokens=8_000, sections={"retrieved": memspan.Grant(floor=1_000, ceiling=4_000)}).fill
        0.7
    """

    max_input_tokens: int | None = None
    order: Order = "cache_first"
    fill: float = Limits.DEFAULT_FILL
    output_tokens: int | None = None
    cut_step: float = Limits.DEFAULT_CUT_STEP
    sections: Mapping[str, Grant] = field(default_factory=dict[str, Grant])
    compact: Compact | None = None
    tool_results: ToolResults | None = None

    def __post_init__(self) -> None:
        if self.max_input_tokens is not None:
            _check_whole("a budget", "max_input_tokens", self.max_input_tokens, 1, Limits.MAX_TOKENS)
        if self.order not in ("cache_first", "classic"):  # a tuple: what was given may have no hash
            raise InvalidInput(
                f"making a budget: order must be 'cache_first' or 'classic', got {shown(self.order)} (Budget.order): choose one",
                order=shown(self.order),
            )
        _check_share("fill", self.fill, zero=False)
        _check_share("cut_step", self.cut_step, zero=True)
        if self.output_tokens is not None:
            _check_whole("a budget", "output_tokens", self.output_tokens, 1, Limits.MAX_TOKENS)
        _check_sections(self.sections)
        self._check_floors()
        _check_kind("compact", self.compact, Compact)
        _check_kind("tool_results", self.tool_results, ToolResults)
        object.__setattr__(self, "sections", FrozenDict(self.sections))
        keep_plain(self, "max_input_tokens", "fill", "output_tokens", "cut_step")

    def _check_floors(self) -> None:
        floors = sum(grant.floor for grant in self.sections.values())
        if self.max_input_tokens is not None and floors > self.max_input_tokens:
            raise InvalidInput(
                f"making a budget: the floors of its sections must fit max_input_tokens, got {floors:,} tokens of floors for "
                f"{self.max_input_tokens:,} (Budget.sections): lower a floor or raise the limit",
                floors=floors,
                max_input_tokens=self.max_input_tokens,
            )

    def __hash__(self) -> int:
        numbers = (self.max_input_tokens, self.order, self.fill, self.output_tokens, self.cut_step)
        return hash((numbers, frozenset(self.sections.items()), self.compact, self.tool_results))

    def __reduce__(self) -> tuple[type[Budget], tuple[Any, ...]]:
        sections = dict(self.sections)
        numbers = (self.max_input_tokens, self.order, self.fill, self.output_tokens, self.cut_step)
        return Budget, (*numbers, sections, self.compact, self.tool_results)


def stored_budget(stored: StoredBudget) -> Budget:
    """The budget that a session has, of what is stored of it."""
    no_compaction = stored.compact_at is None and stored.compact_every_turns is None
    return Budget(
        max_input_tokens=stored.max_input_tokens,
        order=stored.order,
        fill=stored.fill,
        output_tokens=stored.output_tokens,
        cut_step=stored.cut_step,
        sections={one.section: Grant(one.floor, one.weight, one.ceiling) for one in stored.sections},
        compact=None if no_compaction else Compact(stored.compact_at, stored.compact_every_turns),
        tool_results=None if stored.result_tokens is None else ToolResults(stored.result_tokens, stored.keep_rounds),
    )


@fenced
@dataclass(frozen=True)
class Recalls:
    """Limits on the texts that a session's prompts recall. Kept with the session: `Scope.session(..., recalls=Recalls(...))`.

    The counts bound the candidates. A shown text must also be sure enough and fit its section, whose ceiling is the budget's.

    Attributes:
        memories: The most memories, 0 to 1,000; 0 recalls none. Pinned memory stands in every prompt all the same.
        messages: The most messages that were said before the window or in other sessions; 0 recalls none, `None` as many as there is room
            for when the history has had its own.
        passages: The most passages of the session's collections.
        other_sessions: Whether messages of other sessions of the user are recalled, or only those of this one.
        roles: Whose messages: "user", "assistant", "tool". Instructions ("system", "developer") of other sessions are never recalled.
        min_confidence: How sure a memory, a passage, and the best of the messages must be to be shown, 0 to 1; messages behind the best
            need a quarter of it. `None` is 0.15. With 0 whatever was found is shown as far as it fits.
            Up to 0.15 a question about the user's own life ("which editor do I use?") takes the next nearest memories as well.

    Raises:
        InvalidInput: A number is out of its range, or a role has another name.

    Examples:
        >>> quiet = memspan.Recalls(messages=0, min_confidence=0.3)
        >>> session = user.session("s-1", model="gpt-4o", recalls=quiet)
    """

    memories: int = 12
    messages: int | None = None
    passages: int = 6
    other_sessions: bool = True
    roles: tuple[Literal["user", "assistant", "tool"], ...] = ("user", "assistant", "tool")
    min_confidence: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("memories", self.memories), ("messages", self.messages), ("passages", self.passages)):
            if name != "messages" or value is not None:
                _check_whole("some recalls", name, value, 0, Limits.MAX_RECALLS)
        if not isinstance(self.other_sessions, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                f"making some recalls: other_sessions must be a bool, got {_kind(self.other_sessions)} (Recalls.other_sessions)"
            )
        try:
            roles = None if _is_text(self.roles) else tuple(self.roles)
        except TypeError:
            roles = None
        if roles is None or any(role not in _ROLES for role in roles):
            raise InvalidInput(
                f"making some recalls: roles must be a tuple of 'user', 'assistant' and 'tool', got {shown(self.roles)} (Recalls.roles): "
                "name those",
                roles=shown(self.roles),
            )
        if self.min_confidence is not None and not _is_number(self.min_confidence, 0.0, 1.0):
            raise InvalidInput(
                "making some recalls: min_confidence must be a number from 0 to 1, got "
                f"{shown(self.min_confidence)} (Recalls.min_confidence): "
                "give a share, not a percentage",
                value=shown(self.min_confidence),
            )
        object.__setattr__(self, "roles", roles)
        keep_plain(self, "memories", "messages", "passages", "min_confidence")


@fenced
@dataclass(frozen=True)
class Item:
    """A chunk of the caller's own: something retrieved elsewhere that the model may need on this call.

    Attributes:
        text: Its text. Delimiters, role headers and invisible characters in it are escaped: it cannot leave its block.
        section: The part of the prompt it belongs to: "retrieved", "recalled", or a name of your own.
        id: Its name in the prompt and in `Prompt.explain`, for instance the document and the span.
        score: How relevant it is. Within a section higher ones come first, and those without a score keep their order behind them.

    Raises:
        InvalidInput: The text is not a str, memspan fills the section itself, or the score is not a finite number.

    Examples:
        >>> memspan.Item("payments-api listens on 8443", id="runbook#3", score=0.8).section
        'retrieved'
    """

    text: str
    section: str = "retrieved"
    id: str | None = None
    score: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a type checker
            raise InvalidInput(f"making an item: its text must be a str, got {_kind(self.text)} (Item.text): convert it")
        _check_name("an item", "section", self.section)
        if self.section in _FIXED | _OURS:
            raise InvalidInput(
                "making an item: its section must be 'retrieved', 'recalled' or a name of your own, got "
                f"{shown(self.section)} (Item.section): "
                "choose another, because memspan fills that one itself",
                section=self.section,
            )
        if self.id is not None:
            _check_id(self.id)
        if self.score is not None and not _is_number(self.score, -Limits.MAX_ITEM_SCORE, Limits.MAX_ITEM_SCORE):
            raise InvalidInput(
                "making an item: its score must be a finite number up to 1,000,000 either way, got "
                f"{shown(self.score)} (Item.score): scale it",
                score=shown(self.score),
            )
        keep_plain(self, "score")


def _kind(value: object) -> str:
    return f"a {type(value).__name__}" if not isinstance(value, str) else f"a str of {len(value):,} characters"


def _is_number(value: object, least: float, most: float) -> bool:
    return is_number(value) and least <= cast("float", value) <= most


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_near(name: str, ours: str) -> bool:
    """Whether two names differ by a letter or two: for names as short as ours a share of common letters tells."""
    from difflib import SequenceMatcher  # noqa: PLC0415  for a message of an error

    return SequenceMatcher(a=name, b=ours, autojunk=False).ratio() >= _NEAR


def _check_whole(what: str, name: str, value: object, least: int, most: int) -> None:
    if is_whole(value) and least <= cast("int", value) <= most:
        return
    where = f"{_CLASSES.get(what, what.split()[1].capitalize())}.{name}"
    raise InvalidInput(
        f"making {what}: {name} must be an int from {least:,} to {most:,}, got {shown(value)} ({where}): change it",
        field=name,
        value=shown(value),
    )


def _check_share(name: str, value: object, *, zero: bool, what: str = "a budget", of: str = "Budget") -> None:
    if _is_number(value, 0.0, 1.0) and (zero or value != 0):
        return
    least = "from 0" if zero else "above 0"
    raise InvalidInput(
        f"making {what}: {name} must be a number {least} to 1, got {shown(value)} ({of}.{name}): give a share, not a percentage",
        field=name,
        value=shown(value),
    )


def _check_name(what: str, name: str, value: object) -> None:
    if isinstance(value, str) and _NAME.match(value):
        return
    raise InvalidInput(
        f"making {what}: {name} must be 1 to 64 ASCII letters, digits, '_' and '-', a letter first, got {shown(value)} "
        f"({what.split()[1].capitalize()}.{name}): rename it",
        field=name,
        value=shown(value),
    )


def _check_id(value: object) -> None:
    if isinstance(value, str) and 1 <= len(value.encode("utf-8", "replace")) <= Limits.MAX_NAME_BYTES:
        return
    raise InvalidInput(
        f"making an item: its id must be a str of 1 to {Limits.MAX_NAME_BYTES:,} bytes, got {_kind(value)} (Item.id): shorten it"
    )


def _check_known(name: str) -> None:
    """Refuses a name that looks like a misspelt section of ours: a grant for it would do nothing."""
    meant = _MISTAKEN.get(name.lower()) or next((ours for ours in _GRANTED if name != ours and _is_near(name.lower(), ours)), None)
    if meant is not None and name not in _GRANTED:
        raise InvalidInput(
            f"making a budget: a grant is for {', '.join(_GRANTED[:-1])} or a name of your own for items, got {name!r} (Budget.sections): "
            f"did you mean {meant!r}?",
            section=name,
            meant=meant,
        )


def _check_kind(name: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise InvalidInput(
            f"making a budget: {name} must be a memspan.{kind.__name__} or None, got {_kind(value)} (Budget.{name}): make one"
        )


def _check_sections(sections: object) -> None:
    if not isinstance(sections, Mapping):
        raise InvalidInput(
            f"making a budget: sections must be a dict of grants by name, got {_kind(sections)} (Budget.sections): pass a dict"
        )
    for name, grant in cast("Mapping[object, object]", sections).items():
        _check_name("a budget", "sections", name)
        _check_known(str(name))
        if name in _FIXED:
            raise InvalidInput(
                f"making a budget: a grant is for history or a volatile section, got one for {name!r} (Budget.sections): leave it "
                "out, that section is as large as it is",
                section=name,
            )
        if not isinstance(grant, Grant):
            raise InvalidInput(
                f"making a budget: each section is given a memspan.Grant, got {_kind(grant)} for {name!r} (Budget.sections): "
                "make one, Grant(floor, weight, ceiling)",
                section=name,
            )
