"""Claude's thinking where a turn goes on that another model began.

With `thinking` enabled, Anthropic refuses a request that ends in the results of tools if the message that called them does not begin with
thinking: "Expected `thinking` or `redacted_thinking`, but found `tool_use` ... To avoid this requirement, disable `thinking`". The calls of
another model have none. Adaptive thinking requires none (Anthropic, "Extended thinking", "Adaptive thinking").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

__all__ = ["without_thinking"]

_THINKS = ("thinking", "redacted_thinking")
_CLEARS = "clear_thinking"
"""The beginning of the edits of a context that are taken with thinking alone."""


def without_thinking(options: Mapping[str, Any], messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The options of a request of Anthropic's messages, without thinking where its messages do not go with it."""
    kept = dict(options)
    thinking = kept.get("thinking")
    if not isinstance(thinking, Mapping) or cast("Any", thinking).get("type") != "enabled" or not _lacks_thinking(messages):
        return kept
    del kept["thinking"]
    if isinstance(kept.get("context_management"), Mapping):
        kept["context_management"] = _without_clearing(kept["context_management"])
    body = kept.get("extra_body")
    if isinstance(body, Mapping) and isinstance(cast("Any", body).get("context_management"), Mapping):
        held = cast("Mapping[str, Any]", body)
        kept["extra_body"] = {**held, "context_management": _without_clearing(held["context_management"])}
    return kept


def _lacks_thinking(messages: list[dict[str, Any]]) -> bool:
    """The request ends in results of tools, and their calls stand in a message that does not begin with thinking."""
    if len(messages) < 2 or not any(block["type"] == "tool_result" for block in messages[-1]["content"]):  # noqa: PLR2004  calls, results
        return False
    return not messages[-2]["content"] or messages[-2]["content"][0]["type"] not in _THINKS


def _without_clearing(given: Mapping[str, Any]) -> dict[str, Any]:
    return {**given, "edits": [one for one in given.get("edits") or () if not str(one.get("type", "")).startswith(_CLEARS)]}
