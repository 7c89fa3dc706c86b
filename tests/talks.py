"""What users say in the tests of `learn`, and what stands of it later."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import memspan


def learnt(user: memspan.Scope, *texts: str) -> list[str]:
    """The current memories after the user said that, one text after the other."""
    for text in texts:
        user.learn([{"role": "user", "content": text}])
    return [memory.text for memory in user.memories()]


def pinned(user: memspan.Scope, question: str, *texts: str) -> str:
    """The pinned block of a prompt in a new session, after the user said that in sessions of their own."""
    for number, text in enumerate(texts):
        session = user.session(f"s-{number}", model="gpt-4o")
        session.add({"role": "user", "content": text})
        session.add({"role": "assistant", "content": "Noted."})
        user.learn(session)
    asked = user.session("asked", model="gpt-4o")
    asked.add({"role": "user", "content": question})
    prompt = "\n".join(str(message["content"]) for message in asked.assemble().to_openai()["messages"])
    return prompt[prompt.find("<pinned") : prompt.find("</pinned>")] if "<pinned" in prompt else ""
