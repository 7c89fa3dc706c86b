"""For tests of programs that use memspan: a clock that you move, an embedder that fails on demand, a store that cleans up, replies.

Nothing here needs pytest. Where pytest is installed, the fixtures `memspan_engine` and `memspan_clock` are there without an import.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import secrets
import tempfile
from array import array
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard, cast, get_args

from memspan._arrays import stacked
from memspan._copies import of_process
from memspan._fence import guarded, is_mapping
from memspan._flags import shown
from memspan._forks import Lock
from memspan._threads import Latch
from memspan.exceptions import InvalidInput
from memspan.providers import Provider
from memspan.providers.provider import checked

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

    import memspan
    from memspan.working import Prompt

__all__ = [
    "Breakage",
    "FakeClock",
    "FakeEmbedder",
    "FakeProvider",
    "anthropic_response",
    "openai_response",
    "openai_stream",
    "temporary_engine",
]

Breakage: TypeAlias = Literal["raise", "hang", "shape", "nan"]
"""How a `FakeEmbedder` can break: it raises, waits, returns one column too few, or returns NaN."""

_WORDS = re.compile(r"\w+")
_SLOTS_PER_WORD = 4


@of_process("a lock")
class FakeClock:
    """A clock that stands still until it is moved: `memspan.open(path, clock=FakeClock())`.

    All its methods may be called from any thread.

    Args:
        start: The first moment; a naive one is UTC. The default is the same in every run.

    Examples:
        >>> clock = memspan.testing.FakeClock()
        >>> clock().isoformat()
        '2025-01-01T00:00:00+00:00'
        >>> clock.advance(days=1, seconds=5).isoformat()
        '2025-01-02T00:00:05+00:00'
    """

    @guarded
    def __init__(self, start: datetime = datetime(2025, 1, 1, tzinfo=UTC)) -> None:
        self._now = _aware(start)
        self._lock = Lock()

    def __call__(self) -> datetime:
        """The present moment, aware, in the zone it was set in."""
        return self._now

    @guarded
    def advance(self, delta: timedelta | None = None, /, **units: float) -> datetime:
        """Moves on by `delta`, or by `timedelta(**units)` such as `hours=2`. Negative moves back, as real clocks do.

        Returns:
            The new present moment.
        """
        by = delta if delta is not None else timedelta(**units)
        with self._lock.native:
            self._now += by
            return self._now

    @guarded
    def set(self, moment: datetime) -> None:
        """Sets the present moment; a naive one is UTC."""
        moment = _aware(moment)
        with self._lock.native:
            self._now = moment

    def __repr__(self) -> str:
        return f"FakeClock({self().isoformat()})"


@of_process("a lock")
class FakeEmbedder:
    """An embedder without a model: texts that share words are near, and the same text gives the same bytes everywhere.

    Each word is hashed to four signed slots of the vector, which is then L2-normalised (feature hashing: Weinberger et al., 2009).
    All its methods may be called from any thread.

    Args:
        dimensions: The length of a vector, at least 1.
        name: The name that the store keeps as the embedder's identity.
        revision: The same, for a model that changes under one name.

    Attributes:
        calls: How often `embed` was called, broken calls included.
        texts: How many texts it was given in all.

    Examples:
        >>> embedder = memspan.testing.FakeEmbedder(dimensions=64)
        >>> port, same, other = embedder.embed(["port 8443", "8443 port", "likes tea"])
        >>> list(port) == list(same), list(port) == list(other)
        (True, False)
        >>> embedder.break_with("raise", times=1)
        >>> embedder.embed(["anything"])
        Traceback (most recent call last):
        RuntimeError: FakeEmbedder was told to fail (call 2)
    """

    @guarded
    def __init__(self, dimensions: int = 64, *, name: str = "fake", revision: str | None = None) -> None:
        if dimensions < 1:
            raise InvalidInput(f"FakeEmbedder: dimensions must be at least 1, got {dimensions}", dimensions=dimensions)
        self.name = name
        self.dimensions = dimensions
        self.revision = revision
        self.calls = 0
        self.texts = 0
        self._lock = Lock()
        self._breakage: Breakage | None = None
        self._times: int | None = None
        self._mended = Latch()

    def embed(self, texts: Sequence[str]) -> Any:
        """One row per text: float32, shape (len(texts), dimensions), each row of length 1.

        Returns:
            A numpy array where numpy is installed, otherwise a list of `array("f")`.
        """
        breakage, call, mended = self._begin(len(texts))
        if breakage == "raise":
            raise RuntimeError(f"FakeEmbedder was told to fail (call {call})")
        if breakage == "hang":
            mended.wait()
        rows = [self._row(text) for text in texts]
        for row in rows:
            if breakage == "shape":
                row.pop()
            if breakage == "nan":
                row[0] = math.nan
        return stacked(rows, self.dimensions - (breakage == "shape"))

    def break_with(self, breakage: Breakage, *, times: int | None = None) -> None:
        """Breaks the next `times` calls, or all of them until `mend()`.

        A call that hangs does so until `mend()` or the next `break_with()`: mend before the test ends.
        """
        if breakage not in get_args(Breakage):
            raise InvalidInput(f"FakeEmbedder.break_with: one of {get_args(Breakage)}, got {shown(breakage)}", received=breakage)
        with self._lock.native:
            self._mended.open()  # calls that still hang on the breakage before would otherwise wait for ever
            self._breakage, self._times, self._mended = breakage, times, Latch()

    def mend(self) -> None:
        """Works again from the next call on, and lets the calls go that hang."""
        with self._lock.native:
            self._breakage = None
            self._mended.open()

    def _begin(self, texts: int) -> tuple[Breakage | None, int, Latch]:
        with self._lock.native:
            self.calls += 1
            self.texts += texts
            breakage = self._breakage
            if breakage is not None and self._times is not None:
                self._times -= 1
                if self._times <= 0:
                    self._breakage = None
            return breakage, self.calls, self._mended

    def _row(self, text: str) -> array[float]:
        row = array("f", bytes(4 * self.dimensions))
        # A text without words still needs a direction: a vector of zeros has none.
        for word in _WORDS.findall(text.casefold()) or [""]:
            digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=4 * _SLOTS_PER_WORD).digest()
            for at in range(0, len(digest), 4):
                value = int.from_bytes(digest[at : at + 4], "little")
                row[(value >> 1) % self.dimensions] += 1.0 if value & 1 else -1.0
        # The sum of small whole numbers is exact in any order, and so the same bytes on every CPU.
        [length] = array("f", [math.sqrt(sum(value * value for value in row))])
        if length:
            return array("f", [value / length for value in row])
        row[0] = 1.0  # signs that cancelled out
        return row

    def __repr__(self) -> str:
        return f"FakeEmbedder({self.dimensions}, name={self.name!r}, calls={self.calls})"


@contextmanager
def temporary_engine(**options: Any) -> Generator[memspan.Engine]:
    """An engine on a store of its own, closed and removed when the block ends, however it ends.

    Args:
        **options: The arguments of `memspan.open` besides the path.

    Examples:
        >>> with memspan.testing.temporary_engine() as temporary:
        ...     _ = temporary.user("u-1").remember("Prefers tea")
        ...     [hit.memory.text for hit in temporary.user("u-1").recall("tea")]
        ['Prefers tea']
    """
    import memspan  # noqa: PLC0415  the package imports this module by name, on first use

    with tempfile.TemporaryDirectory(prefix="memspan-") as folder, memspan.open(Path(folder) / "store.memspan", **options) as engine:
        yield engine


def openai_response(
    content: str | None = None,
    *,
    tool_calls: Sequence[tuple[str, str, dict[str, Any]]] = (),
    id: str | None = None,  # noqa: A002  the field's own word
    model: str = "gpt-4o",
    finish: str | None = None,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cached_tokens: int = 0,
) -> dict[str, Any]:
    """A chat completion as `client.chat.completions.create` gives it: a dict that its SDK reads, too.

    Args:
        content: The text of the reply.
        tool_calls: Its tool calls: id, name and arguments of each.
        id: The id of the response; by default the same content has the same.
        model: The model that answers.
        finish: Why it ended; by default "tool_calls" or "stop".
        input_tokens: The bill of the prompt.
        output_tokens: The bill of the reply.
        cached_tokens: How much of the prompt came from a cache.

    Examples:
        >>> memspan.testing.openai_response("4", input_tokens=12)["choices"][0]["message"]["content"]
        '4'
    """
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if tool_calls:
        message["tool_calls"] = [
            {"id": call, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for call, name, arguments in tool_calls
        ]
    return {
        "id": id or f"chatcmpl-{_digest(message)}",
        "object": "chat.completion",
        "created": 1_735_689_600,
        "model": model,
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": finish or ("tool_calls" if tool_calls else "stop")}
        ],
        "usage": {
            "prompt_tokens": input_tokens,
            "completion_tokens": output_tokens,
            "total_tokens": input_tokens + output_tokens,
            "prompt_tokens_details": {"cached_tokens": cached_tokens},
        },
    }


def openai_stream(
    content: str | None = None,
    *,
    tool_calls: Sequence[tuple[str, str, dict[str, Any]]] = (),
    id: str | None = None,  # noqa: A002
    model: str = "gpt-4o",
    input_tokens: int = 0,
    output_tokens: int = 0,
) -> list[dict[str, Any]]:
    """The chunks of a streamed chat completion, word by word and with arguments in pieces. The arguments are those of `openai_response`.

    Examples:
        >>> [chunk["choices"][0]["delta"].get("content") for chunk in memspan.testing.openai_stream("It is 4.")[1:4]]
        ['It ', 'is ', '4.']
    """
    whole = openai_response(content, tool_calls=tool_calls, id=id, model=model, input_tokens=input_tokens, output_tokens=output_tokens)
    head = {"id": whole["id"], "object": "chat.completion.chunk", "created": whole["created"], "model": whole["model"]}
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": word} for word in re.findall(r"\S+\s*|^\s+", content or "")]
    for index, call in enumerate(whole["choices"][0]["message"].get("tool_calls", ())):
        name, arguments = call["function"]["name"], call["function"]["arguments"]
        deltas.append({"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": {"name": name, "arguments": ""}}]})
        pieces = [arguments[at : at + 5] for at in range(0, len(arguments), 5)]
        deltas += [{"tool_calls": [{"index": index, "function": {"arguments": piece}}]} for piece in pieces]
    chunks: list[dict[str, Any]] = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    finish = whole["choices"][0]["finish_reason"]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return [*chunks, {**head, "choices": [], "usage": whole["usage"]}]


@of_process("a lock")
class FakeProvider(Provider):
    """A provider that answers from a script, for tests of programs that use one: `memspan.Assistant(engine, FakeProvider([...]), ...)`.

    Args:
        script: The results of the calls, in order: a text, tool calls as a list of (name, arguments), an exception, or a function of
            the prompt that returns one of these. The last entry stands for all calls after it.

    Attributes:
        prompts: The prompts that it was sent, in order.

    Raises:
        InvalidInput: The script has no entry, or one is none of these.

    Examples:
        >>> from memspan.testing import FakeProvider
        >>> provider = FakeProvider([[("look_up", {"service": "payments-api"})], "It listens on 8443."])
        >>> session = user.session("s-1", model="gpt-4o")
        >>> _ = session.add({"role": "user", "content": "which port does payments-api use?"})
        >>> reply = provider.complete(session.assemble())
        >>> reply["model"], reply["choices"][0]["message"]["tool_calls"][0]["function"]["name"]
        ('gpt-4o', 'look_up')
    """

    @guarded
    def __init__(self, script: Sequence[Any]) -> None:
        super().__init__()
        self._script = _entries(script)
        self._lock = Lock()
        self._ids = count()
        self._name = secrets.token_hex(8)  # as of a server, whose responses never have the ids of another's
        self.prompts: list[Prompt] = []

    def complete(self, prompt: Prompt, **options: Any) -> Any:
        """The next entry of the script, as a chat completion of the model that is asked."""
        return openai_response(**self._next(prompt, options))

    def stream(self, prompt: Prompt, **options: Any) -> Iterator[Any]:
        """The same, streamed."""
        yield from openai_stream(**self._next(prompt, options))

    def _next(self, prompt: Prompt, options: Mapping[str, Any]) -> dict[str, Any]:
        given = checked(prompt)
        with self._lock.native:
            number = len(self.prompts)
            self.prompts.append(given)
            entry = self._script[min(number, len(self._script) - 1)]
        if callable(entry) and not isinstance(entry, BaseException):
            entry = entry(prompt)
            _check_entry("what the script's function returned", entry)
        if isinstance(entry, BaseException):
            raise entry
        about = {
            "id": f"chatcmpl-fake-{self._name}-{next(self._ids)}",
            "model": options.get("model") or prompt.model,
            "input_tokens": prompt.counted_tokens,
            "output_tokens": 1,
        }
        if isinstance(entry, str):
            return {"content": entry, **about}
        calls = cast("Iterable[tuple[str, Mapping[str, Any]]]", entry)
        return {"content": None, "tool_calls": [(f"call_{number}_{n}", *call) for n, call in enumerate(calls)], **about}


def _entries(script: Iterable[Any]) -> list[Any]:
    """The entries of a script, each of which can be answered with."""
    given: object = script
    if isinstance(given, str | bytes) or is_mapping(given) or not hasattr(given, "__iter__"):
        raise InvalidInput(f"FakeProvider: the script must be a list of results, got {shown(given)}: put the result into a list")
    entries = list(script)
    if not entries:
        raise InvalidInput("FakeProvider: the script must have a result, and it is empty: give one, which stands for all calls")
    for place, entry in enumerate(entries):
        if not callable(entry):
            _check_entry(f"entry {place} of the script", entry)
    return entries


def _check_entry(which: str, entry: object) -> None:
    """Refuses what is neither a text nor an exception nor tool calls."""
    if isinstance(entry, str | BaseException) or (_is_several(entry) and all(_is_call(call) for call in entry)):
        return
    raise InvalidInput(
        f"FakeProvider: {which} must be a text, a list of tool calls as (name, arguments), an exception, or a function of the prompt that "
        f"returns one of these, got {shown(entry)}: change it"
    )


def _is_call(call: object) -> bool:
    return _is_several(call) and len(call) == 2 and isinstance(call[0], str) and is_mapping(call[1])  # noqa: PLR2004


def _is_several(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def anthropic_response(
    content: str | None = None,
    *,
    tool_calls: Sequence[tuple[str, str, dict[str, Any]]] = (),
    thinking: str | None = None,
    id: str | None = None,  # noqa: A002
    model: str = "claude-sonnet-4-5",
    finish: str | None = None,
    input_tokens: int = 0,
    output_tokens: int = 0,
    cached_tokens: int = 0,
) -> dict[str, Any]:
    """A message as `client.messages.create` gives it: like `openai_response`, with signed thinking where it is asked for.

    Args:
        content: The text of the reply.
        tool_calls: Its tool calls: id, name and input of each.
        thinking: Its thinking before the reply.
        id: The id of the response; by default the same content has the same.
        model: The model that answers.
        finish: Why it ended; by default "tool_use" or "end_turn".
        input_tokens: The billed tokens of the prompt that did not come from a cache.
        output_tokens: The bill of the reply.
        cached_tokens: How much of the prompt came from a cache.
    """
    blocks: list[dict[str, Any]] = []
    if thinking is not None:
        blocks.append({"type": "thinking", "thinking": thinking, "signature": _digest([thinking])})
    if content is not None:
        blocks.append({"type": "text", "text": content})
    blocks += [{"type": "tool_use", "id": call, "name": name, "input": given} for call, name, given in tool_calls]
    return {
        "id": id or f"msg_{_digest(blocks)}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": finish or ("tool_use" if tool_calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens, "cache_read_input_tokens": cached_tokens},
    }


def _digest(value: object) -> str:
    return hashlib.blake2b(json.dumps(value).encode(), digest_size=12).hexdigest()


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
