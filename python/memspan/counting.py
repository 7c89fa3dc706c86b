"""Tokens without a store: count, truncate, count while a text streams in, and fit a list of messages into a limit.

Counts are exact where the model's tokenizer is public, and a bound that the true number does not exceed where it is not
(`Model.exact` tells which). Texts are counted as ordinary text, even where they look like special tokens.
Counts are remembered by a hash of the text, in one cache of the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from memspan import _core, _records
from memspan._copies import of_engine
from memspan._fence import guarded, is_mapping, kind_of
from memspan._flags import check_kinds, check_messages, is_several, shown
from memspan._values import dataclass
from memspan.exceptions import BudgetExceeded, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memspan.compaction.values import Summary

__all__ = ["Fit", "SdkObject", "TokenCounter", "count_tokens", "fit", "truncate"]

_Message = TypeVar("_Message")

_MARKER_TOKENS = 16
"""The most tokens of the mark of a shortened text."""

_MOST_TRIES = 16


class SdkObject(Protocol):
    """A message, block or tool as the SDKs of OpenAI and Anthropic make them: a pydantic model."""

    def model_dump(self, *, mode: str) -> Any:
        """Its fields as plain values."""


def count_tokens(
    content: str | Mapping[str, Any] | SdkObject | Iterable[Any], model: str = "gpt-4o", *, tools: Iterable[Any] | None = None
) -> int:
    """How many tokens a text, a message or a whole request is.

    A text costs what its tokens are. A message (a mapping of OpenAI's or Anthropic's shape, or an SDK's object) costs its parts and the
    frame around it, so that messages add up exactly. A list of messages costs what its request is billed: the messages, the frame
    that begins the reply, and the tools. Frames and images follow the vendors' published rules; a file or a link whose
    size is not to be seen counts as the most it can cost.

    A cached text of 4 KB takes about half a microsecond, one not seen before about 15 ns a token.

    Args:
        content: A `str`, one message, or several.
        model: Its name in `memspan.models`.
        tools: Tool schemas that are sent along with several messages.

    Returns:
        Tokens; for a closed tokenizer a bound above them.

    Raises:
        UnknownModel: The model is not in the registry.
        InvalidInput: A message or a tool is not of a shape that a provider takes.

    Examples:
        >>> memspan.count_tokens("hello world")
        2
        >>> message = {"role": "user", "content": "hello world"}
        >>> memspan.count_tokens(message)
        6
        >>> memspan.count_tokens([message, message])
        15
    """
    if not (isinstance(content, str) or is_mapping(content) or hasattr(content, "model_dump") or is_several(content)):
        raise InvalidInput(
            f"counting tokens: content is a str, a message or several messages, and it is of type {kind_of(content)}: pass one of these"
        )
    return _core.count_tokens(content, model, tools)


def truncate(text: str, max_tokens: int, *, model: str = "gpt-4o", keep: Literal["start", "end"] = "start") -> str:
    """The start or the end of a text that is at most so many tokens, cut between tokens where possible.

    "At most" is exact: the returned text was counted again. It is the longest such part but for a few characters. No cut tears what a
    reader takes for one character (an extended grapheme cluster of UAX #29): a flag, an emoji of several, a letter with its marks. Where
    such a cluster is longer than `max_tokens` and nothing else would be left, as much of it is kept as fits.

    Args:
        text: The text.
        max_tokens: The most; 0 leaves nothing.
        model: Its name in `memspan.models`.
        keep: Which part stays.

    Returns:
        The part, or the very text if all of it fits. The time depends on what is returned, not on the text.

    Raises:
        UnknownModel: The model is not in the registry.
        InvalidInput: `max_tokens` is negative, or `keep` another word.

    Examples:
        >>> memspan.truncate("one two three four", max_tokens=2)
        'one two'
        >>> memspan.truncate("one two three four", max_tokens=2, keep="end")
        ' three four'
    """
    kept = _core.truncate(text, max_tokens, model, keep)
    return text if len(kept) == len(text) else kept


@of_engine("count the text with another one", changes=True)
class TokenCounter:
    """Counts a text that grows at its end: a piece costs what it is, not what stands before it.

    After each piece the count is that of the whole text, which is not the sum of the pieces' counts. Threads may share it.

    Args:
        model: Its name in `memspan.models`.

    Examples:
        >>> counter = memspan.TokenCounter("gpt-4o")
        >>> [counter.append(piece) for piece in ("Hel", "lo wor", "ld")]
        [1, 2, 2]
        >>> counter.count == memspan.count_tokens("Hello world")
        True
    """

    __slots__ = ("_core",)

    def __init__(self, model: str = "gpt-4o") -> None:
        self._core = _core.TokenCounterCore(model)

    @property
    def count(self) -> int:
        """Tokens of the whole text so far."""
        return self._core.count()

    def append(self, text: str) -> int:
        """Appends to the text, and gives the new count."""
        return self._core.append(text)

    def clear(self) -> None:
        """Forgets the text: the count is 0 again."""
        self._core.clear()

    def __repr__(self) -> str:
        """The model and the count."""
        return f"TokenCounter({self._core.model_name()!r}, count={self.count})"


@dataclass(frozen=True)
class Fit(Generic[_Message]):
    """The part of a conversation that `fit` kept.

    Attributes:
        messages: The kept messages, in their order: the very objects that were given.
        tokens: Tokens of a request with them, the tools and the frame of the reply included.
        exact: Whether that is what will be billed, rather than a bound above it.
    """

    messages: tuple[_Message, ...]
    tokens: int
    exact: bool

    def __repr__(self) -> str:
        return f"Fit({len(self.messages):,} messages, {self.tokens:,} tokens, exact={self.exact})"


@guarded
def fit(
    messages: Iterable[_Message],
    model: str = "gpt-4o",
    *,
    max_input_tokens: int | None = None,
    tools: Iterable[Any] | None = None,
    overflow: Literal["raise", "truncate"] = "raise",
    summary: Summary | None = None,
) -> Fit[_Message]:
    """The newest part of a conversation that fits a limit, as it can be sent: no store, no session.

    Leading system messages stay. Then whole turns are kept, from the newest back; a turn is a user's message with everything up to the
    next one. Of a newest turn that is too large by itself, the user's message and the newest rounds of tools stay. A tool call
    is never parted from its results. Messages are read from the end, and only as far as they fit: the time depends on what is kept.

    Args:
        messages: Messages of OpenAI's or Anthropic's shape. They are not changed. `reasoning_content` and `extra_content` count where the
            server of the model's vendor wants them back.
        model: Its name in `memspan.models`.
        max_input_tokens: The limit of the whole request. By default 70 % of the model's window, or what a reply of 4,096 tokens leaves.
        tools: Tool schemas that are sent along.
        overflow: The treatment of a newest message that alone is too large: "raise", or "truncate", which shows the largest text of the
            newest turn by its beginning and end, in a copy of its message.
        summary: Of what came before the messages: it stands behind the leading system messages and is counted.

    Returns:
        The kept messages and their tokens, which never exceed the limit.

    Raises:
        BudgetExceeded: The tools, the system messages, the newest user message and the last round alone are too many.
        InvalidInput: A message is not of a shape that a provider takes, or a call or result lacks its other half.
        UnknownModel: The model is not in the registry.

    Examples:
        >>> talk = [{"role": "user", "content": f"question {n}"} for n in range(100)]
        >>> fitted = memspan.fit(talk, max_input_tokens=50)
        >>> len(fitted.messages), fitted.tokens, fitted.messages[-1] is talk[-1]
        (6, 45, True)
        >>> long = [{"role": "user", "content": "word " * 10_000}]
        >>> memspan.fit(long, max_input_tokens=100, overflow="truncate").tokens <= 100
        True
    """
    if overflow not in ("raise", "truncate"):
        raise InvalidInput(f"fitting messages: overflow must be 'raise' or 'truncate', got {shown(overflow)} (overflow=): choose one")
    check_messages("fitting messages", messages)
    if summary is not None:
        from memspan.compaction.values import Summary  # noqa: PLC0415  few give one

        check_kinds("fitting messages", "a memspan.Summary", "take it from Session.summary or memspan.compact()", Summary, summary=summary)
    given: Any = messages
    if isinstance(tools, Iterator):
        tools = list(tools)  # they may be counted more than once
    if summary is not None or overflow == "truncate":
        given = _with_summary(list(messages), summary)
    try:
        fitted = _core.fit(given, model, max_input_tokens, tools)
    except BudgetExceeded as error:
        if overflow == "raise":
            raise
        fitted = _truncated(given, model, max_input_tokens, tools, error)
    return Fit(fitted.messages, fitted.tokens, fitted.exact)


def _with_summary(messages: list[Any], summary: Summary | None) -> list[Any]:
    """The messages with a summary behind the leading system messages."""
    if summary is None or not summary.text:
        return messages
    system = 0
    while system < len(messages) and isinstance(messages[system], dict) and messages[system].get("role") in ("system", "developer"):
        system += 1
    return [*messages[:system], summary.messages()[0], *messages[system:]]


def _truncated(
    messages: list[Any], model: str, max_input_tokens: int | None, tools: Iterable[Any] | None, error: BudgetExceeded
) -> _records.Fitted:
    """The same with the largest text of the newest turn shortened until it fits. Each try takes off what was over."""
    messages = list(messages)
    for _ in range(_MOST_TRIES):
        over = _tokens_of(error, "needed_tokens") - _tokens_of(error, "limit_tokens")
        place = _largest(messages, model)
        if place is None:
            raise error
        text = messages[place]["content"]
        room = count_tokens(text, model) - over - _MARKER_TOKENS
        if room < 1:
            raise error
        head, tail = truncate(text, room * 2 // 3, model=model), truncate(text, room // 3, model=model, keep="end")
        left_out = len(text) - len(head) - len(tail)
        messages[place] = {**messages[place], "content": f"{head}\n[... {left_out} characters left out ...]\n{tail}"}
        try:
            return _core.fit(messages, model, max_input_tokens, tools)
        except BudgetExceeded as again:
            error = again
    raise error


def _tokens_of(error: BudgetExceeded, name: str) -> int:
    value = error.fields.get(name)
    return value if isinstance(value, int) else 0


def _largest(messages: list[Any], model: str) -> int | None:
    """The largest plain text of the newest turn."""
    best, place = _MARKER_TOKENS * 2, None
    for at in range(len(messages) - 1, -1, -1):
        message: dict[str, Any] = messages[at] if isinstance(messages[at], dict) else {}
        text = message.get("content")
        if isinstance(text, str) and (tokens := count_tokens(text, model)) > best:
            best, place = tokens, at
        if message.get("role") == "user":
            break
    return place
