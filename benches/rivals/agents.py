"""A turn of LangChain's agent and of LangGraph's prebuilt one, as their documentation uses them, with a model that answers at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def _stub() -> Any:
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel  # noqa: PLC0415  it need not be installed
    from langchain_core.messages import AIMessage  # noqa: PLC0415

    class Stub(GenericFakeChatModel):  # type: ignore[misc]  # it need not be installed
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            del tools, options
            return self

    return Stub(messages=iter(lambda: AIMessage(content="It does."), None))


def _checkpoints(file: Path) -> Any:
    try:
        import sqlite3  # noqa: PLC0415

        from langgraph.checkpoint.sqlite import SqliteSaver  # noqa: PLC0415
    except ImportError:
        from langgraph.checkpoint.memory import InMemorySaver  # noqa: PLC0415

        return InMemorySaver()
    return SqliteSaver(sqlite3.connect(file, check_same_thread=False))


def _asked(graph: Any, messages: Sequence[dict[str, str]]) -> Callable[[str], object]:
    thread = {"configurable": {"thread_id": "s-1"}}
    graph.update_state(thread, {"messages": list(messages)})
    return lambda question: graph.invoke({"messages": [{"role": "user", "content": question}]}, thread)


def langchain_agent(file: Path, messages: Sequence[dict[str, str]], system: str) -> Callable[[str], object]:
    """LangChain's `create_agent`."""
    from langchain.agents import create_agent  # noqa: PLC0415

    return _asked(create_agent(_stub(), [], system_prompt=system, checkpointer=_checkpoints(file)), messages)


def langgraph_agent(file: Path, messages: Sequence[dict[str, str]], system: str) -> Callable[[str], object]:
    """LangGraph's prebuilt `create_react_agent`."""
    from langgraph.prebuilt import create_react_agent  # noqa: PLC0415

    return _asked(create_react_agent(_stub(), [], prompt=system, checkpointer=_checkpoints(file)), messages)


AGENTS = {"LangChain create_agent": langchain_agent, "LangGraph create_react_agent": langgraph_agent}
