"""Screening of messages on their way into a transcript: every text of one, redacted as the policy says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from memspan import _core
from memspan._fence import is_mapping
from memspan._fields import dumped
from memspan._values import replace

if TYPE_CHECKING:
    from memspan.detectors import Found
    from memspan.life import Policy, Treatment

_DATA = frozenset({"data", "url", "id", "tool_call_id", "tool_use_id", "signature", "type", "role", "name", "media_type"})
"""Fields of a block that are not a text."""
_FREE = frozenset({"input", "args", "arguments", "response"})
"""Fields of a block whose contents are the application's: there such a name says nothing."""


def screened_message(message: Any, policy: Policy) -> Any:
    """A message without what the policy minds: a mapping is copied where something is taken out, an SDK's object becomes a mapping then."""
    given: Any = message if is_mapping(message) else _dumped(message)
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


def _left(value: Any, policy: Policy, data: frozenset[str] = _DATA) -> Any:
    """The value itself where nothing in it is taken out. Texts in the fields of `data` are not looked at."""
    if isinstance(value, str):
        text, types = _core.screened(value, policy, _found_in(value, policy))
        return text if types else value
    if isinstance(value, Mapping):
        given: dict[Any, Any] = dict(value)  # pyright: ignore[reportUnknownArgumentType]  looked at once, as the store does
        known = data - {"data"} if given.get("type") == "text" else data

        def one(key: Any, item: Any) -> Any:
            return item if key in known and isinstance(item, str) else _left(item, policy, frozenset() if key in _FREE else data)

        left = {key: one(key, item) for key, item in given.items()}
        return left if any(left[key] is not item for key, item in given.items()) else value  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list | tuple):
        items = [_left(item, policy, data) for item in value]  # pyright: ignore[reportUnknownVariableType]
        return items if any(one is not other for one, other in zip(items, value, strict=True)) else value  # pyright: ignore
    fields = _dumped(value)
    if fields is value or hasattr(fields, "model_dump"):
        return value
    left = _left(fields, policy, data)
    return value if left is fields else left


def _dumped(value: Any) -> Any:
    """The fields of an object of a provider's SDK, as JSON has them; anything else as it is."""
    return dumped(value) if hasattr(value, "model_dump") and not isinstance(value, type) else value
