"""Asks a model for a summary, and holds what it says against the messages.

One reply for each part of the conversation that fits `WINDOW_TOKENS`; a reply of another shape is sent back once. Whatever goes wrong
(an exception, a time limit, two bad replies, nothing that passes the checks), the rules make the summary alone and `checked` says why.
No transaction is open while a model is asked.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from memspan._core import Limits
from memspan._fence import is_number, text_of
from memspan._flags import shown
from memspan._patience import answered
from memspan._values import dataclass
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memspan import _core
    from memspan.compaction.values import RefusedLine

__all__ = ["Writer", "WriterError", "Written", "asked", "check_writer", "write"]

WINDOW_TOKENS = 24_000
"""Tokens of the conversation that one call is given."""

TIMEOUT_SECONDS = 120.0
"""For each call, where the caller names no limit."""

_SUMMARY = "summary-1.md"
_REPAIR = "repair-1.md"
_MAX_REASON = 300
_MAX_REPLY = 4_000_000


class Writer(Protocol):
    """A model that writes: a function, synchronous or not."""

    def __call__(self, messages: list[dict[str, str]], /, *, max_tokens: int) -> str | Awaitable[str]:
        """The reply to chat messages."""
        ...


@dataclass(frozen=True)
class Written:
    """How a summary was made.

    Attributes:
        checked: How it was checked, as it is stored: without what the model said, which may quote messages beyond any redaction.
        prompt: File name and hash of the prompt; "" without a model.
        refused: Lines that were not taken.
        reported: As in `Compaction.checked`: with what the model said.
    """

    checked: str = "rules"
    prompt: str = ""
    refused: tuple[RefusedLine, ...] = ()
    reported: str = "rules"


class WriterError(Exception):
    """The model gave nothing that can be used.

    Attributes:
        kind: Why, without the words of the model or of what it raised.
    """

    def __init__(self, kind: str, said: str = "") -> None:
        super().__init__(f"{kind}: {said}" if said else kind)
        self.kind = kind


@cache
def _prompt(name: str) -> str:
    from importlib.resources import files  # noqa: PLC0415  it takes tempfile along, and no model is asked at import

    return files("memspan.compaction").joinpath("prompts", name).read_text(encoding="utf-8")


def _prompt_id() -> str:
    import hashlib  # noqa: PLC0415  as above

    return f"{_SUMMARY} {hashlib.sha256(_prompt(_SUMMARY).encode()).hexdigest()[:16]}"


def check_writer(llm: Writer | None, timeout_seconds: float | None) -> None:
    """Refuses what cannot be called, and a time that cannot be waited, whether or not there is something to write.

    Raises:
        InvalidInput: `llm` cannot be called, or `timeout_seconds` is out of its range.
    """
    if timeout_seconds is not None and not (is_number(timeout_seconds) and 0 < timeout_seconds <= Limits.MAX_WAIT_SECONDS):
        raise InvalidInput(
            f"compacting: timeout_seconds must be above 0 and at most a day, got {shown(timeout_seconds)} (timeout_seconds=): give seconds"
        )
    if llm is not None and not callable(llm):
        raise InvalidInput(
            f"compacting: llm must be a function of messages and max_tokens that returns a str, got a {type(llm).__name__} (llm=): "
            "wrap the client's call in one, or give provider.with_model(name)"
        )


def write(draft: _core.CompactionDraft, llm: Writer | None, timeout_seconds: float | None = None) -> Written:
    """Lets a model write for a draft, where there is one."""
    if llm is None or draft.covers[0] == draft.covers[1]:  # without new messages, lines that were checked already get shorter
        return Written()
    refused: list[RefusedLine] = []
    try:
        _write(draft, llm, TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds, refused)
    except WriterError as error:
        draft.clear()
        return Written(f"rules: {error.kind}", _prompt_id(), tuple(refused), f"rules: {str(error)[:_MAX_REASON]}")
    return Written("model", _prompt_id(), tuple(refused), "model")


def _write(draft: _core.CompactionDraft, llm: Writer, timeout_seconds: float, refused: list[RefusedLine]) -> None:
    """Takes the lines that pass into the draft, and those that do not into `refused`, which a failure keeps."""
    before, taken = draft.before(), 0
    for block in draft.passes(WINDOW_TOKENS):
        accepted, rejected = _one_pass(draft, llm, block if before is None else f"{before}{block}", timeout_seconds)
        taken += accepted
        refused.extend(rejected)
    if taken == 0:
        raise WriterError("nothing that the model wrote is what the messages say")


def _one_pass(draft: _core.CompactionDraft, llm: Writer, data: str, timeout_seconds: float) -> tuple[int, list[RefusedLine]]:
    messages = [{"role": "system", "content": _prompt(_SUMMARY)}, {"role": "user", "content": data}]
    reply = _ask(llm, messages, draft.max_tokens, timeout_seconds)
    checked = draft.check(reply)
    if checked.wrong is not None:
        repair = _prompt(_REPAIR).format(error=checked.wrong)
        again = [*messages, {"role": "assistant", "content": reply[:20_000]}, {"role": "user", "content": repair}]
        checked = draft.check(_ask(llm, again, draft.max_tokens, timeout_seconds))
    if checked.wrong is not None:
        raise WriterError("the reply stayed invalid", checked.wrong)
    return checked.taken, list(checked.refused)


def _ask(llm: Writer, messages: list[dict[str, str]], summary_tokens: int, timeout_seconds: float) -> str:
    """One call within its time. A call that hangs goes on in a thread, and its reply is thrown away."""
    max_tokens = 4 * summary_tokens + 512  # JSON and numbers of messages around the lines
    return asked(llm, lambda: llm(messages, max_tokens=max_tokens), timeout_seconds)


def asked(function: object, call: Callable[[], Any], timeout_seconds: float) -> str:
    """The text that a caller's function returns within its time.

    Raises:
        WriterError: It raised, hangs, or returned no text.
    """
    outcome = answered(function, call, timeout_seconds)
    if not outcome:
        raise WriterError(f"the model did not answer within {timeout_seconds:g} seconds")
    reply = outcome[0]
    if isinstance(reply, BaseException):  # whatever a client raises is why the rules did it alone
        raise WriterError(f"the model failed, {type(reply).__name__}", text_of(reply))
    if not isinstance(reply, str):
        raise WriterError(f"the model must return a str, and returned a {type(reply).__name__}")
    return reply[:_MAX_REPLY].encode("utf-8", "replace").decode("utf-8")
