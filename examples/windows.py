"""The window classes of the usual tutorials, each in five lines or fewer. Run it: `python examples/windows.py`."""

from __future__ import annotations

from typing import Any

import memspan

Chat = list[dict[str, Any]]


class SlidingWindowMemory(Chat):
    """The last messages."""

    def window(self, last: int = 10) -> Chat:  # noqa: D102
        return self[-last:]


class TokenWindowMemory(Chat):
    """What fits, whole turns."""

    def window(self, max_tokens: int = 2_000) -> Chat:  # noqa: D102
        return list(memspan.fit(self, max_input_tokens=max_tokens, overflow="truncate").messages)


class SummarizationMemory(Chat):
    """A summary alone."""

    def window(self) -> Chat:  # noqa: D102
        return memspan.compact(self, keep_exchanges=0).messages()


class RollingSummaryMemory:
    """A summary that takes in what is new."""

    summary: memspan.Summary | None = None

    def add(self, *messages: dict[str, Any]) -> Chat:  # noqa: D102
        self.summary = memspan.compact(messages, self.summary, keep_exchanges=0)
        return self.summary.messages()


class HybridMemory(Chat):
    """A summary, and the last exchanges."""

    def window(self, last: int = 4) -> Chat:  # noqa: D102
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
        print(f"{name}: {len(window)} messages, {memspan.count_tokens(window)} tokens")


if __name__ == "__main__":
    main()
