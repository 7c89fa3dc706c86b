"""A transcript under a provider's cache rules, in four layouts of the prompt.

A request is a row of blocks with their tokens. A provider with breakpoints keeps what stands before each marked block and reads the
longest such prefix that it finds at a breakpoint or up to twenty blocks before one; the others keep every prefix and read it in whole
units. An entry dies when it was not used for its time to live.
"""

from __future__ import annotations

import json
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import memspan
from memspan._fence import guarded, is_list, is_mapping
from memspan._flags import shown
from memspan._session.transcript import bare
from memspan._values import dataclass
from memspan.cache.rules import rules
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from memspan.cache.rules import CacheRule
    from memspan.compaction.writing import Writer

__all__ = ["LAYOUTS", "Simulated", "Simulation", "simulate"]

LAYOUTS = ("cache_first", "classic", "sliding_window", "recall_first")
"""memspan's two orders, a window that slides by one message, and a layout with recalled texts before the history."""

_MILLION = 1_000_000
_HEAD = ("provider", "layout", "calls", "tokens", "cached", "written", "dollars")


@dataclass(frozen=True)
class _Block:
    key: bytes
    tokens: int
    marked: bool


@dataclass(frozen=True)
class Simulated:
    """The cost that one layout would have had with one provider.

    Attributes:
        provider: The provider whose rules were applied.
        layout: One of `LAYOUTS`.
        calls: Requests.
        input_tokens: Tokens of all requests.
        cached_tokens: Of these, read from the cache.
        written_tokens: Of these, written to it at the price of writing.
        dollars: By the input price of the model, read and write prices applied; `None` where the price is not known.
    """

    provider: str
    layout: str
    calls: int
    input_tokens: int
    cached_tokens: int
    written_tokens: int
    dollars: float | None

    @property
    def cached_share(self) -> float:
        """Cached tokens of all input tokens, 0 to 1."""
        return self.cached_tokens / self.input_tokens if self.input_tokens else 0.0


class Simulation(tuple[Simulated, ...]):
    """One row for each provider and layout; `str()` prints them as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [_HEAD, *(_cells(one) for one in self)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)


def _cells(one: Simulated) -> tuple[str, ...]:
    dollars = "" if one.dollars is None else f"{one.dollars:.4f}"
    share = f"{one.cached_share:.1%}"
    return (one.provider, one.layout, f"{one.calls:,}", f"{one.input_tokens:,}", share, f"{one.written_tokens:,}", dollars)


@guarded
def simulate(
    messages: Iterable[Mapping[str, Any]],
    *,
    model: str | None = None,
    providers: Iterable[str] = ("anthropic", "openai", "gemini", "deepseek"),
    layouts: Iterable[str] = LAYOUTS,
    system: str = "",
    max_input_tokens: int | None = None,
    compact: memspan.Compact | None = None,
    llm: Writer | None = None,
    seconds_between_calls: float = 30.0,
) -> Simulation:
    """Plays a conversation: a request before each reply of an assistant, in each layout, under each provider's rules.

    Args:
        messages: The conversation, as a chat API takes it.
        model: Whose tokens and price are taken; by default the one that a provider's rule names.
        providers: Names out of `rules()`.
        layouts: Names out of `LAYOUTS`.
        system: The system prompt.
        max_input_tokens: The limit of a request; by default the model's own.
        compact: With memspan's orders the session is compacted when this says so.
        llm: Writes those summaries; without it the rules do.
        seconds_between_calls: Entries die when they were not used for their time to live.

    Raises:
        InvalidInput: A provider or a layout has no such name, or the conversation is empty.

    Examples:
        >>> talk = [{"role": role, "content": f"{role} {n} " * 40} for n in range(20) for role in ("user", "assistant")]
        >>> table = memspan.cache.simulate(talk, providers=["openai"], layouts=["cache_first", "recall_first"])
        >>> [round(one.cached_share, 1) for one in table]
        [0.8, 0.0]
    """
    given = [dict(message) for message in messages]
    if not given:
        raise InvalidInput("simulating a cache: the conversation must have messages, got none: pass those of a chat")
    table: list[Simulated] = []
    for provider in _known("provider", providers, rules()):
        rule = rules()[provider]
        name = model or rule.model
        play = _Play(given, name, system, max_input_tokens, compact, llm)
        table.extend(
            _run(provider, rule, layout, name, play.requests(layout), seconds_between_calls)
            for layout in _known("layout", layouts, LAYOUTS)
        )
    return Simulation(table)


def _known(what: str, names: Iterable[str], known: Iterable[str]) -> list[str]:
    chosen, valid = ([names] if isinstance(names, str) else list(names)), list(known)
    for name in chosen:
        if name not in valid:
            raise InvalidInput(f"simulating a cache: a {what} must be one of {', '.join(valid)}, got {shown(name)}: choose among them")
    return chosen


@dataclass(frozen=True)
class _Play:
    messages: list[dict[str, Any]]
    model: str
    system: str
    limit: int | None
    compact: memspan.Compact | None
    llm: Writer | None

    def requests(self, layout: str) -> Iterator[list[_Block]]:
        if layout in ("cache_first", "classic"):
            return self._sessions(layout)
        return self._plain(recalls=layout == "recall_first")

    def _sessions(self, order: str) -> Iterator[list[_Block]]:
        """The prompts of a session, with the marks that it puts."""
        budget = memspan.Budget(max_input_tokens=self.limit, order=cast("Any", order), compact=self.compact)
        with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "cache.memspan", durability="relaxed") as engine:
            session = engine.user("simulation").session("s", model=self.model, system=self.system, budget=budget)
            for message in self.messages:
                if message["role"] != "assistant":
                    session.add(bare(message))
                    continue
                prompt = session.assemble()
                yield _blocks(prompt.render(), self.model)
                session.add_response(message, prompt=prompt)
                if session.compaction_due:
                    session.compact(llm=self.llm)

    def _plain(self, *, recalls: bool) -> Iterator[list[_Block]]:
        """The newest messages that fit, as `fit` keeps them; with a block that changes with each question before them."""
        head = [{"role": "system", "content": self.system}] if self.system else []
        for place, message in enumerate(self.messages):
            if message["role"] != "assistant":
                continue
            question = str(self.messages[place - 1].get("content", ""))[:400] if place else ""
            recalled = [{"role": "system", "content": f"Recalled for: {question}"}] if recalls else []
            sent = memspan.fit([*head, *recalled, *self.messages[:place]], self.model, max_input_tokens=self.limit).messages
            last = len(sent) - 1
            yield [_block(one, self.model, marked=at in (len(head) - 1, last)) for at, one in enumerate(sent)]


def _blocks(request: Mapping[str, Any], model: str) -> list[_Block]:
    """A rendered request as blocks: a content block of Anthropic's shape is one, a message of the other shapes is one."""
    found = [_block({"role": "system", "content": [part]}, model) for part in request.get("system", ()) if isinstance(part, dict)]
    for message in request["messages"]:
        content: Any = message.get("content")
        if "system" in request or "max_tokens" in request:
            parts = content if is_list(content) else [{"type": "text", "text": content}]
            found.extend(_block({"role": message["role"], "content": [part]}, model) for part in parts)
        else:
            found.append(_block(message, model))
    return found


def _block(message: Mapping[str, Any], model: str, *, marked: bool = False) -> _Block:
    content = message.get("content")
    parts = content if is_list(content) else []
    marked = marked or any("cache_control" in part for part in parts if isinstance(part, dict))
    plain = [_without_mark(part) if is_mapping(part) else part for part in parts]
    bare = {**message, "content": plain} if parts else dict(message)
    key = blake2b(json.dumps(bare, sort_keys=True).encode("utf-8", "replace"), digest_size=16).digest()
    return _Block(key, memspan.count_tokens(bare, model), marked)


def _without_mark(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in part.items() if name != "cache_control"}


def _run(  # noqa: PLR0917  what a run is made of
    provider: str, rule: CacheRule, layout: str, model: str, requests: Iterator[list[_Block]], seconds_between_calls: float
) -> Simulated:
    step: Callable[[list[_Block], _Cache], tuple[int, int]] = _marked if rule.breakpoints else _automatic
    cache, calls, tokens, cached, written = _Cache(rule), 0, 0, 0, 0
    for blocks in requests:
        cache.now = calls * seconds_between_calls
        read, wrote = step(blocks, cache)
        calls, tokens, cached, written = calls + 1, tokens + sum(block.tokens for block in blocks), cached + read, written + wrote
    price = memspan.models[model].prices.input
    plain = tokens - cached - written
    weighed = plain + cached * rule.read_price + written * rule.write_price
    return Simulated(provider, layout, calls, tokens, cached, written, None if price is None else weighed * price / _MILLION)


class _Cache:
    """Prefixes that are kept, by the hash of what they are, with the time they were last used."""

    def __init__(self, rule: CacheRule) -> None:
        self.rule = rule
        self.now = 0.0
        self._used: dict[bytes, float] = {}

    def holds(self, key: bytes) -> bool:
        """Whether a prefix is kept still; being asked for keeps it."""
        used = self._used.get(key)
        if used is None or self.now - used > self.rule.ttl_seconds:
            return False
        self._used[key] = self.now
        return True

    def keep(self, key: bytes) -> None:
        """Keeps a prefix."""
        self._used[key] = self.now


def _prefixes(blocks: list[_Block]) -> list[tuple[bytes, int]]:
    """Hash and tokens of what stands up to the end of each block."""
    found, hashed, tokens = list[tuple[bytes, int]](), b"", 0
    for block in blocks:
        hashed, tokens = blake2b(hashed + block.key, digest_size=16).digest(), tokens + block.tokens
        found.append((hashed, tokens))
    return found


def _marked(blocks: list[_Block], cache: _Cache) -> tuple[int, int]:
    """Tokens read and written where blocks are marked."""
    prefixes, read, last = _prefixes(blocks), 0, 0
    for at, block in enumerate(blocks):
        if not block.marked:
            continue
        for place in range(at, max(-1, at - cache.rule.look_back_blocks - 1), -1):
            if prefixes[place][1] >= cache.rule.min_tokens and cache.holds(prefixes[place][0]):
                read = max(read, prefixes[place][1])
                break
        if prefixes[at][1] >= cache.rule.min_tokens:
            last = prefixes[at][1]
    for at, block in enumerate(blocks):
        if block.marked and prefixes[at][1] >= cache.rule.min_tokens:
            cache.keep(prefixes[at][0])
    return read, max(0, last - read)


def _automatic(blocks: list[_Block], cache: _Cache) -> tuple[int, int]:
    """Tokens read where every prefix is kept."""
    prefixes, read = _prefixes(blocks), 0
    for key, tokens in prefixes:
        if cache.holds(key):
            read = tokens
    for key, _ in prefixes:
        cache.keep(key)
    read -= read % cache.rule.granularity
    return (read if read >= cache.rule.min_tokens else 0), 0
