"""Screening of messages on their way into a transcript: every text of one, redacted as the policy says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from memspan import _core
from memspan._fence import is_mapping
from memspan._values import replace

if TYPE_CHECKING:
    from memspan.detectors import Found
    from memspan.life import Policy, Treatment

_DATA = frozenset({"data", "url", "id", "tool_call_id", "tool_use_id", "signature", "type", "role", "name", "media_type"})
_LONGEST = 4 << 20


def screened_message(message: Any, policy: Policy) -> Any:
    """A message without what the policy minds: a mapping is copied where something is taken out, an SDK's object becomes a mapping then."""
    given: Any = message if is_mapping(message) else message.model_dump(exclude_none=True) if hasattr(message, "model_dump") else message
    secrets, personal_data, detected = map(_redacts, (policy.secrets, policy.personal_data, policy.detected))
    left = _left(given, replace(policy, secrets=secrets, personal_data=personal_data, detected=detected))
    return message if left is given else left


def _redacts(treatment: Treatment) -> Literal["allow", "redact"]:
    return "allow" if treatment == "allow" else "redact"


def _found_in(text: str, policy: Policy) -> list[Found] | None:
    if not policy.detectors:
        return None
    from memspan._detecting import found_in  # noqa: PLC0415  few have detectors

    return found_in(text, policy)


def _left(value: Any, policy: Policy) -> Any:
    """The value itself where nothing in it is taken out."""
    if isinstance(value, str):
        text, types = _core.screened(value, policy, _found_in(value, policy)) if len(value) <= _LONGEST else (value, [])
        return text if types else value
    if isinstance(value, Mapping):
        left = {key: item if key in _DATA else _left(item, policy) for key, item in value.items()}  # pyright: ignore
        return left if any(left[key] is not value[key] for key in left) else value  # pyright: ignore
    if isinstance(value, list):
        items = [_left(item, policy) for item in value]  # pyright: ignore
        return items if any(one is not other for one, other in zip(items, value, strict=True)) else value  # pyright: ignore
    return value  # pyright: ignore[reportUnknownVariableType]
