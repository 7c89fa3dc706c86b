"""The values of an assistant: its answer, and the events that come before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan._results import short
from memspan._values import dataclass, field, of_module
from memspan.life import Learned

if TYPE_CHECKING:
    from collections.abc import Callable

    from memspan.short_term import Session
    from memspan.transcript import Turn, Usage

__all__ = ["AssistantEvent", "AssistantReply", "Hook", "Step", "Stopped"]

Step: TypeAlias = Literal["add", "assemble", "call", "reply", "recover", "tools", "learn", "compact"]
"""A step of a turn."""

Stopped: TypeAlias = Literal["max_rounds"] | None
"""Why a turn ended before the model was done."""

Hook: TypeAlias = "Callable[[Step, Literal['before', 'after'], Session, Any], None]"
"""Called before and after each step with the session and what the step is about: the message, the prompt, the response, the error."""


@of_module("memspan.assistant")
@dataclass(frozen=True)
class AssistantReply:
    """An answer.

    Attributes:
        text: What the model said last; "" where it only called tools.
        turn: The turn, with its messages, its calls and their prompts.
        usage: The bill of all calls of the turn.
        model: The model that answered.
        rounds: Rounds of tools that it took.
        stored: Whether it was answered before: the same `id=`, and no model was asked.
        stopped: Why it ended before the model was done: "max_rounds"; `None` otherwise.
        learned: What `Scope.learn` decided of each claim, what it discarded included; empty where nothing learns.
    """

    text: str
    turn: Turn
    usage: Usage | None
    model: str | None
    rounds: int = 0
    stored: bool = False
    stopped: Stopped = None
    learned: tuple[Any, ...] = field(default=(), hash=False)

    def __repr__(self) -> str:
        parts = {"stored": self.stored, "stopped": self.stopped, "learned": len(Learned(decisions=self.learned).stored)}
        more = "".join(f", {name}={value!r}" for name, value in parts.items() if value)
        return f"AssistantReply({short(self.text)}, model={self.model!r}, turn={self.turn.number}, rounds={self.rounds}{more})"


@of_module("memspan.assistant")
@dataclass(frozen=True)
class AssistantEvent:
    """Something that happened while an answer came.

    Attributes:
        kind: "text": a piece of the answer. "restart": the pieces since the last call are void, another model begins anew. "tool_call" and
            "tool_result": a tool runs, has run. "reply": the end.
        text: The piece, the name of the tool, or its result; the whole answer at the end.
        reply: The answer, at the end.
    """

    kind: Literal["text", "restart", "tool_call", "tool_result", "reply"]
    text: str = ""
    reply: AssistantReply | None = field(default=None, hash=False)
