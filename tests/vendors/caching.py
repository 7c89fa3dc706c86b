"""Servers that bill as a cache of theirs would: what stood in an earlier request is read, and nothing below the published least is kept.

Anthropic: a prefix up to a mark is written where it has `LEAST` tokens, and read where one of the twenty blocks before a mark ends what
was written. OpenAI: what two requests with one `prompt_cache_key` begin with alike, from `LEAST` tokens on, in steps of 128.
Sources: docs.anthropic.com "Prompt caching", platform.openai.com "Prompt caching".
"""

from __future__ import annotations

import json
from itertools import accumulate
from typing import Any

from tests.vendors.server import Vendor

from memspan.testing import anthropic_response, openai_response

LEAST = 1_024
STEP = 128
LOOK_BACK = 20
_BYTES_A_TOKEN = 4


def tokens(text: str) -> int:
    return len(text.encode()) // _BYTES_A_TOKEN


def _same(one: str, other: str) -> str:
    """What both begin with."""
    return one[: next((at for at, (left, right) in enumerate(zip(one, other, strict=False)) if left != right), min(len(one), len(other)))]


class CachingVendor(Vendor):
    """Answers "ok" to everything that its vendor would take, and bills."""

    def __init__(self, dialect: str = "openai") -> None:
        super().__init__([self._answer], dialect)
        self.bills: list[tuple[int, int, int]] = []
        """Of each request: its tokens, those read, those written."""
        self._kept: dict[str, list[str]] = {}
        self._written: set[str] = set()

    def _answer(self, body: dict[str, Any]) -> dict[str, Any]:
        marked = "max_tokens" in body and "prompt_cache_key" not in body
        whole, read, written = self._anthropic(body) if marked else self._openai(body)
        self.bills.append((whole, read, written))
        number = f"r-{len(self.bills)}"
        if not marked:
            return openai_response("ok", id=number, input_tokens=whole, output_tokens=1, cached_tokens=read)
        usage = {
            "input_tokens": whole - read - written,
            "output_tokens": 1,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": written,
        }
        return {**anthropic_response("ok", id=number), "usage": usage}

    def _openai(self, body: dict[str, Any]) -> tuple[int, int, int]:
        text = json.dumps([body.get("tools"), body["messages"]], ensure_ascii=False)
        before = self._kept.setdefault(body["prompt_cache_key"], [])
        read = max((tokens(_same(text, one)) for one in before), default=0) // STEP * STEP
        before.append(text)
        return tokens(text), read if read >= LEAST else 0, 0

    def _anthropic(self, body: dict[str, Any]) -> tuple[int, int, int]:
        blocks = [*body.get("tools", ()), *body.get("system", ())]
        blocks += [{"role": message["role"], **block} for message in body["messages"] for block in message["content"]]
        plain = [json.dumps({key: value for key, value in block.items() if key != "cache_control"}, ensure_ascii=False) for block in blocks]
        prefixes = list(accumulate(plain))
        marks = [at for at, block in enumerate(blocks) if "cache_control" in block and tokens(prefixes[at]) >= LEAST]
        known = [at for mark in marks for at in range(max(mark - LOOK_BACK, 0), mark + 1) if prefixes[at] in self._written]
        read = tokens(prefixes[max(known)]) if known else 0
        self._written |= {prefixes[mark] for mark in marks}
        written = max((tokens(prefixes[mark]) for mark in marks), default=0) - read
        return tokens(prefixes[-1]), read, max(written, 0)
