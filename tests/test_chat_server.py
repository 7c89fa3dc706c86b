"""`memspan chat` as a user runs it, over pipes and over a terminal, against a local server that enforces the rules of vLLM."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest
from tests.vendors.server import Vendor, serving

import memspan
from memspan.testing import openai_stream

if TYPE_CHECKING:
    from pathlib import Path


def answers(body: dict[str, Any]) -> list[dict[str, Any]]:
    """A model that remembers what it is asked to, and says otherwise how often it was asked."""
    newest = body["messages"][-1]
    text = newest["content"] if isinstance(newest["content"], str) else newest["content"][-1]["text"]
    if newest["role"] == "user" and "remember" in text:
        return openai_stream(
            None, tool_calls=[(f"c{len(body['messages'])}", "remember", {"text": "Prefers tea"})], id=f"r-{time.monotonic_ns()}"
        )
    said = "Noted." if newest["role"] == "tool" else f"You said it {sum(one['role'] == 'user' for one in body['messages'])} times."
    return openai_stream(said, id=f"r-{time.monotonic_ns()}", input_tokens=10)


LINES = [
    "please remember that I prefer tea",
    "/memory",
    "hello",
    "/why",
    "/prompt",
    "/switch gpt-4.1",
    "/switch nobody-7b",
    "/forget mem-1",
    "/memory",
    "/help",
    "again",
    "/quit",
]
SAID = [
    "[remember]", "Noted.", "mem-1", "Prefers tea", "You said it", "section", "please remember that I prefer tea", "gpt-4o -> gpt-4.1",
    "must be in the registry", "forgotten", "continue with another model",
]  # fmt: skip


def command(store: Path, base: str) -> list[str]:
    about = ["--model", "gpt-4o", "--base-url", f"{base}/v1", "--api-key", "k"]
    return [sys.executable, "-m", "memspan", "chat", str(store), *about]


def check(store: Path, out: str) -> None:
    for expected in SAID:
        assert expected in out, (expected, out)
    with memspan.open(store) as engine:
        session = engine.user("me").session("chat")
        assert (session.model, [message.role for message in session.messages][:4]) == (
            "gpt-4.1",
            ["user", "assistant", "tool", "assistant"],
        )
        assert "mem-1" not in {memory.id for memory in engine.user("me").memories()}


def test_over_pipes(tmp_path: Path) -> None:
    vendor = Vendor([answers], "vllm")
    with serving(vendor) as base:
        done = subprocess.run(
            command(tmp_path / "store", base), input="\n".join(LINES) + "\n", capture_output=True, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")
    check(tmp_path / "store", done.stdout)
    assert len(vendor.requests) == 4


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no terminals")
def test_in_a_terminal(tmp_path: Path) -> None:
    with serving(Vendor([answers], "vllm")) as base:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(command(tmp_path / "store", base), stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
        os.close(theirs)
        out = until(ours, "> ")
        for line in LINES:
            os.write(ours, line.encode() + b"\n")
            out += until(ours, "> ")
        assert process.wait(30) == 0
        os.close(ours)
    check(tmp_path / "store", re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out).replace("\r\n", "\n"))


def until(terminal: int, prompt: str, seconds: float = 20) -> str:
    """What is shown until the prompt stands there, or the program has ended."""
    out, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not out.endswith(prompt):
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(terminal, 65_536)
        except OSError:  # the other end was closed
            return out
        if not piece:
            return out
        out += piece.decode("utf-8", "replace")
    return out
