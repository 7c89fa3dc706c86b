"""LangChain's `trim_messages` and LangGraph's checkpoints, as their documentation uses them. Only where they are installed."""

from __future__ import annotations

from importlib.metadata import packages_distributions
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Messages = Sequence[dict[str, Any]]

CAN_TRIM = find_spec("langchain_core") is not None
CAN_SAVE = CAN_TRIM and "langgraph-checkpoint-sqlite" in packages_distributions().get("langgraph", [])


def converted(messages: Messages) -> list[Any]:
    """LangChain's own message objects."""
    from langchain_core.messages import convert_to_messages  # noqa: PLC0415  it need not be installed

    found: list[Any] = convert_to_messages(messages)
    return found


def trim(messages: list[Any], *, max_tokens: int, count: Callable[[str], int]) -> list[Any]:
    """The newest messages that fit behind the system message, by an exact count; `count` is tiktoken's."""
    from langchain_core.messages import trim_messages  # noqa: PLC0415

    def tokens(some: list[Any]) -> int:
        return 3 + sum(4 + count(message.content) for message in some)

    kept: list[Any] = trim_messages(
        messages, max_tokens=max_tokens, token_counter=tokens, strategy="last", start_on="human", include_system=True
    )
    return kept


class Checkpoints:
    """One thread of a graph whose state is its messages: each step stores the state anew."""

    def __init__(self, file: Path, messages: Messages) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415

        self._opened = SqliteSaver.from_conn_string(str(file))
        self._saver = self._opened.__enter__()
        self._messages = converted(messages)
        self._config: Any = {"configurable": {"thread_id": "s-1", "checkpoint_ns": ""}}
        self._step = 0

    def add(self, message: dict[str, str]) -> None:
        """What one step writes: one checkpoint, not the three of a whole run of a graph."""
        from langgraph.checkpoint.base import empty_checkpoint  # noqa: PLC0415

        self._messages += converted([message])
        self._step += 1
        version = {"messages": self._step}
        checkpoint = empty_checkpoint() | {"channel_values": {"messages": self._messages}, "channel_versions": version}
        self._config = self._saver.put(self._config, checkpoint, {"source": "loop", "step": self._step}, version)

    def close(self) -> None:
        """Closes its file."""
        self._opened.__exit__(None, None, None)
