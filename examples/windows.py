"""The window classes of the usual tutorials, each in five lines or fewer. Run it: `python examples/windows.py`."""

from __future__ import annotations

from typing import Any

import memspan

Chat = list[dict[str, Any]]


class SlidingWindowMemory(Chat):
    def window(self, last: int = 10) -> Chat:
        return self[-last:]


class TokenWindowMemory(Chat):
    def window(self, max_tokens: int = 2_000) -> Chat:
        return list(memspan.fit(self, max_input_tokens=max_tokens, overflow="truncate").messages)


class SummarizationMemory(Chat):
    def window(self) -> Chat:
        return memspan.compact(self, keep_exchanges=0).messages()


class RollingSummaryMemory:
    summary: memspan.Summary | None = None

    def add(self, *messages: dict[str, Any]) -> Chat:
        self.summary = memspan.compact(messages, self.summary, keep_exchanges=0)
        return self.summary.messages()


class HybridMemory(Chat):
    def window(self, last: int = 4) -> Chat:
        return memspan.compact(self, keep_exchanges=last).messages()


def main() -> None:
    """Prints what each of them would send."""
    talk = [{"role": role, "content": f"{role} {n}: build-{n} runs on host-{n}."} for n in range(30) for role in ("user", "assistant")]
    rolling = RollingSummaryMemory()
    windows = {
        "sliding": SlidingWindowMemory(talk).window(),
        "tokens": TokenWindowMemory(talk).window(200),
        "summary": SummarizationMemory(talk).window(),
        "rolling": [rolling.add(*talk[at : at + 10]) for at in range(0, 60, 10)][-1],
        "hybrid": HybridMemory(talk).window(),
    }
    for name, window in windows.items():
        print(f"{name}: {len(window)} messages, {memspan.count_tokens(window)} tokens")  # noqa: T201  the point of it


if __name__ == "__main__":
    main()
