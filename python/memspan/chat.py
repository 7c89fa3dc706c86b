"""`memspan chat`: a conversation in a terminal with any model, and a look at what it was sent and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from memspan._characters import visible
from memspan.assistant import Assistant
from memspan.exceptions import Error, UnknownModel
from memspan.model import Model, models
from memspan.providers import OpenAICompatible, provider_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memspan.engine import Engine
    from memspan.long_term import Scope
    from memspan.providers import Provider
    from memspan.session_tools import MemoryTool
    from memspan.short_term import Session
    from memspan.working import Prompt

__all__ = ["chat"]

_HELP = """/why           what the last prompt showed, and why
/prompt        the last prompt as text
/memory        what is remembered of you
/forget ID     forget a memory
/switch MODEL  continue with another model
/quit          end"""


def chat(
    engine: Engine,
    lines: Iterator[str],
    out: TextIO,
    *,
    user: str = "me",
    session: str = "chat",
    model: str,
    base_url: str | None = None,
    api_key: str | None = None,
    window: int = 32_768,
    system: str | None = None,
    provider: Provider | None = None,
) -> None:
    """Talks until the lines end. A model that the registry does not know is taken for one of `window` tokens."""
    if model not in models:
        models.register(
            Model(name=model, context_window=window, max_output_tokens=min(4_096, window // 4), encoding="o200k_base", factor=1.3)
        )
    if provider is None:
        provider = provider_for(model) if base_url is None else OpenAICompatible(base_url, api_key=api_key or "none")
    tools: tuple[MemoryTool, ...] = ("remember", "recall", "forget", "read_result")
    talk = _Talk(lambda name: Assistant(engine, provider, model=name, system=system, memory_tools=tools), model, user, session, out)
    for line in lines:
        text = line.strip()
        if text == "/quit":
            return
        try:
            talk.command(text) if text.startswith("/") else talk.say(text)
        except (Error, OSError) as error:
            out.write(visible(f"memspan: {error}\n"))
        except Exception as error:  # noqa: BLE001  whatever an SDK raises: the conversation goes on
            notes = "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
            out.write(visible(f"{type(error).__name__}: {error}\n{notes}"))
        out.flush()


class _Talk:
    def __init__(self, assistant: Callable[[str], Assistant], model: str, user: str, session: str, out: TextIO) -> None:
        self._assistant_of, self._assistant = assistant, assistant(model)
        self._user, self._id, self._out = user, session, out

    def say(self, text: str) -> None:
        if not text:
            return
        for event in self._assistant.stream(self._user, text, session=self._id):
            if event.kind == "text":
                self._out.write(visible(event.text))
                self._out.flush()
            elif event.kind == "tool_call":
                self._out.write(visible(f"[{event.text}]\n"))
            elif event.kind == "restart":
                self._out.write("\n[another model goes on]\n")
        self._out.write("\n")

    def command(self, text: str) -> None:
        name, _, rest = text[1:].partition(" ")
        known: dict[str, Callable[[str], str]] = {
            "why": lambda _: str(self._prompt().explain()),
            "prompt": lambda _: self._prompt().text,
            "memory": lambda _: (
                "\n".join(f"{one.id}  {one.kind}  {one.text}" for one in self._scope().memories()) or "nothing is remembered"
            ),
            "forget": lambda given: "forgotten" if self._scope().forget(given.strip(), reason="asked to in a chat") else "no such memory",
            "switch": self._switch,
            "help": lambda _: _HELP,
        }
        self._out.write(visible(known[name](rest) if name in known else f"there is no /{name}\n{_HELP}") + "\n")

    def _scope(self) -> Scope:
        return self._assistant.engine.user(self._user)

    def _session(self) -> Session:
        return self._scope().session(self._id)

    def _prompt(self) -> Prompt:
        turns = self._session().turns
        prompt = turns[-1].prompt if turns else None
        return prompt or self._session().assemble()

    def _switch(self, given: str) -> str:
        if given.strip() not in models:
            raise UnknownModel(f"switching the model: it must be in the registry, got {given.strip()!r}: look at memspan.models")
        assistant = self._assistant_of(given.strip())
        switch = self._session().switch_model(given.strip())
        self._assistant = assistant
        return f"{switch.from_model} -> {switch.to_model}: {switch.kept_messages} messages stay, {switch.left_out_messages} are left out"
