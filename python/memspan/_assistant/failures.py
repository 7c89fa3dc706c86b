"""The failures of a provider in a turn, as `Session.recover` is told of them: a stream that broke off, an answer that cannot be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memspan._fence import is_list, is_mapping, text_of
from memspan._fields import get, plain
from memspan.exceptions import InvalidInput, ProviderError
from memspan.refusals import Refusal
from memspan.stream import response_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["calls_of", "is_cut", "is_paused", "says_nothing", "told_as", "typed", "unread", "withheld"]

_CALLS = frozenset({"tool_use", "function_call", "custom_tool_call"})
_CALL_FIELDS = ("tool_calls", "functionCall", "function_call")
"""Where a reply has its calls: the types of Anthropic's blocks and of the items of OpenAI's responses, the fields of others."""

_CUT = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filtered", "guardrail_intervened"),
        *("content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited_content", "spii", "image_safety"),
    }
)
"""The ends of a reply whose provider cut it off or withheld it."""


def typed(error: Exception) -> Exception:
    """The error itself; for JSON that an SDK could not read, one of memspan's."""
    if not isinstance(error, json.JSONDecodeError | UnicodeDecodeError):
        return error
    made = ProviderError(
        f"asking a model: its provider must answer in JSON, and did not ({text_of(error)}): look for a proxy in between, send the request "
        "again, or name more models (fallbacks=)"
    )
    made.__cause__ = error
    return made


def told_as(error: Exception) -> Exception:
    """The error itself; of a stream that ended early, or an answer that cannot be read, an outage."""
    is_early = isinstance(error, ProviderError) and not getattr(error, "error", None)
    return ConnectionError(str(error)) if is_early else error


def unread(response: Any, error: Exception) -> Exception:
    """Why a response could not be added: the refusal that it is, or an outage, because another model may answer."""
    said = None if response is None or isinstance(response, str | bytes) else plain(get(response, "error"))
    if not said:
        return ConnectionError(str(error))
    return ProviderError(str(error), error=said, refusal=Refusal.of({"error": said} if is_mapping(said) else str(said)))


def is_cut(finish: object) -> bool:
    """Whether a reply ended because its provider cut it off or withheld it."""
    return isinstance(finish, str) and finish.lower() in _CUT


def says_nothing(response: Any) -> bool:
    """Whether a reply that was cut off or withheld has neither words nor calls."""
    if not is_mapping(given := plain(response)):
        return False
    one = next(iter(_parts(given.get("choices")) or _parts(given.get("candidates"))), given)
    ends = (one.get("finish_reason"), one.get("finishReason"), given.get("stop_reason"), get(given.get("incomplete_details"), "reason"))
    said = one.get("message") or one.get("content") or one
    has_more = is_mapping(said) and (said.get("refusal") or said.get("audio") or calls_of(said))
    return any(map(is_cut, ends)) and not response_text(given) and not has_more and not calls_of(given)


def withheld(model: str) -> InvalidInput:
    """The error for a reply of a model that says nothing."""
    return InvalidInput(f"asking {model}: a reply must say something, and its provider cut it off or withheld it: ask another model")


def calls_of(given: Mapping[str, Any]) -> bool:
    """Whether a reply, in any vendor's form, calls a tool of the program's."""
    parts = [given, *(part for name in ("content", "parts", "output") for part in _parts(given.get(name)))]
    return any(part.get("type") in _CALLS or any(part.get(name) for name in _CALL_FIELDS) for part in parts)


def is_paused(given: Mapping[str, Any]) -> bool:
    """Whether a reply of Anthropic's ends in the call of a tool of its own, without the result: the model goes on from there."""
    kinds = [str(part.get("type")) for part in _parts(given.get("content"))]
    own = [kind for kind in kinds if kind.endswith(("_tool_use", "_tool_result"))]
    return bool(own) and own[-1].endswith("_tool_use")


def _parts(value: Any) -> list[Mapping[str, Any]]:
    return [part for part in value if is_mapping(part)] if is_list(value) else []
