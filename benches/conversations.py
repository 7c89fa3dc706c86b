"""The conversation side of `compare.py`: a turn, its layout, searching what was said, adding to it, fitting, counting."""

from __future__ import annotations

import statistics
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING

import corpus
import memspan
from report import OURS, Row, timed
from rivals import langchain
from sides import LIMIT, SIDES, exact_count, request_texts, request_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from report import Samples
    from sides import Conversation, Side

    Talks = dict[str, Conversation]

LENGTHS = (50, 500, 5_000, 50_000)
WORDS = 105  # about 250 tokens: fifty of them are more than any limit below
FIT_WORDS = 40  # about 92 tokens
FIT_LIMIT = 4_000  # fifty of them are more
TURN_MESSAGES = 400
OPENINGS = 11
MESSAGE_BYTES = 4_096
SEEN = 64  # messages whose count is asked for again and again, as those of a window are


class Conversations:
    """Both sides with the same conversations, made when they are first asked for."""

    def __init__(self, folder: Path, rounds: int, most: int, loaded: Callable[[], dict[str, Side]], memories: int) -> None:
        self._folder = folder
        self._rounds = rounds
        self._lengths = [length for length in LENGTHS if length <= most] or [min(most, LENGTHS[0])]
        self._loaded = loaded
        self._memories = memories
        self._fresh = count(20_000_000)  # numbers of messages that no conversation has yet

    @cached_property
    def _histories(self) -> dict[str, Side]:
        """Both sides, with one conversation of each length and no memory."""
        sides = {name: open_side(self._folder / f"histories-{name}") for name, open_side in SIDES.items()}
        for length in self._lengths:
            messages = [*corpus.conversation(length - 1, first=length * 10, words=WORDS), _asked("what do we know about this?")]
            for talk in _open(sides, length).values():
                talk.load(messages)
        return sides

    def close(self) -> None:
        """Closes what was opened."""
        if "_histories" in self.__dict__:
            for side in self._histories.values():
                side.close()

    def turn(self) -> Iterator[Row]:
        """A question was added: recall, assemble 8,000 tokens, render."""
        sides, first, later = self._loaded(), _samples(), _samples()
        talks: dict[str, Talks] = {}
        found, used = dict.fromkeys(SIDES, 0), dict.fromkeys(SIDES, 0)
        asked = corpus.questions(self._rounds + corpus.USERS, self._memories)
        for user in dict.fromkeys(question.user for question in asked):
            talks[user] = {name: side.conversation(user, "s-1") for name, side in sides.items()}
            for talk in talks[user].values():
                talk.load(corpus.conversation(min(TURN_MESSAGES, self._memories // 10), first=next(self._fresh) * 1_000))
        unseen = set(talks)
        for question in asked:
            timing = first if question.user in unseen else later
            unseen.discard(question.user)
            for name, talk in talks[question.user].items():
                talk.add(_asked(question.query))
                request = timed(timing[name], talk.request)
                talk.add({"role": "assistant", "content": corpus.memory(next(self._fresh)).text})
                found[name] += any(question.answer in text for texts in request_texts(request) for text in texts)
                used[name] += request_tokens(request)
                assert name != OURS or request_tokens(request) <= LIMIT
        note = ", ".join(f"{name} {found[name]}/{len(asked)}, {used[name] // len(asked):,} tokens a prompt" for name in SIDES)
        yield Row("one turn: recall, assemble, render", "ms", later, f"found {note}")
        yield Row("the same, first of a process", "ms", first)

    def layout(self) -> Iterator[Row]:
        """Assemble and render without memory, at each length, the lengths in turn."""
        warm = {length: _samples() for length in self._lengths}
        talks = {length: _open(self._histories, length) for length in self._lengths}
        for number in range(self._rounds + 3):
            for length in self._lengths:
                for name, talk in talks[length].items():
                    timed([] if number < 3 else warm[length][name], talk.request, "")
        yield from _flat("assemble, {:,} messages", warm)
        cold = {length: _samples() for length in self._lengths}
        self.close()
        for _ in range(OPENINGS):
            for length in self._lengths:
                for name, open_side in SIDES.items():
                    side = open_side(self._folder / f"histories-{name}")
                    talk = side.conversation(f"user of {length}", "s-1")
                    timed(cold[length][name], talk.request, "")
                    side.close()
        self._histories = {name: open_side(self._folder / f"histories-{name}") for name, open_side in SIDES.items()}
        yield from _flat("assemble, {:,} messages, just opened", cold)

    def search(self) -> Iterator[Row]:
        """Known items in the longest conversation, seven words each."""
        length = self._lengths[-1]
        samples, found = _samples(), dict.fromkeys(SIDES, 0)
        numbers = [number * 7919 % (length - 1) for number in range(self._rounds)]
        for number in numbers:
            wanted = corpus.question(length * 10 + number, WORDS)
            for name, side in self._histories.items():
                texts = timed(samples[name], side.search, f"user of {length}", wanted.query)
                found[name] += wanted.answer in texts
        note = ", ".join(f"{name} {hits}/{len(numbers)}" for name, hits in found.items())
        yield Row(f"search {length:,} messages", "ms", samples, f"found {note}")

    def add(self) -> Iterator[Row]:
        """One durable message of 250 tokens."""
        length = max(length for length in self._lengths if length <= 5_000)
        talks, samples = _open(self._histories, length), _samples()
        for number in range(self._rounds):
            message = corpus.conversation(2, first=next(self._fresh), words=WORDS)[number % 2]
            for name, talk in talks.items():
                timed(samples[name], talk.add, message)
        yield Row(f"add to {length:,} messages, durable", "ms", samples)
        if langchain.CAN_SAVE:
            yield self._checkpoints(length, talks[OURS])

    def _checkpoints(self, length: int, talk: Conversation) -> Row:
        samples: Samples = {OURS: [], "SqliteSaver.put": []}
        graph = langchain.Checkpoints(self._folder / "langgraph.db", corpus.conversation(length, first=length * 10, words=WORDS))
        for _ in range(max(3, self._rounds // 15)):
            [message] = corpus.conversation(1, first=next(self._fresh), words=WORDS)
            timed(samples[OURS], talk.add, message)
            timed(samples["SqliteSaver.put"], graph.add, message)
        graph.close()
        return Row(f"add to {length:,} messages, durable", "ms", samples)

    def fit(self) -> Iterator[Row]:
        """Without a store, at each length; then a conversation that was never seen."""
        rows: dict[int, Samples] = {}
        for length in self._lengths:
            rows[length] = self._fitted([_talk(length, 0)] * max(2, min(self._rounds // 6, 10_000 // length)))
        yield from _flat("fit, {:,} messages", rows)
        length = self._lengths[min(2, len(self._lengths) - 1)]
        new = self._fitted([_talk(length, 30_000_000 + number * length) for number in range(5)], again=1)
        yield Row(f"fit, {length:,} messages, not seen before", "ms", new)

    def _fitted(self, talks: list[list[dict[str, str]]], again: int = 20) -> Samples:
        samples: Samples = {OURS: []}
        for messages in talks:
            fitted = memspan.fit(messages, max_input_tokens=FIT_LIMIT) if again > 1 else None
            for _ in range(again):
                fitted = timed(samples[OURS], memspan.fit, messages, max_input_tokens=FIT_LIMIT)
            assert fitted is not None
            assert fitted.tokens <= FIT_LIMIT
            if langchain.CAN_TRIM:
                given, rival = langchain.converted(messages), samples.setdefault("trim_messages", [])
                kept = timed(rival, langchain.trim, given, max_tokens=FIT_LIMIT, count=exact_count())
                assert abs(len(kept) - len(fitted.messages)) <= 2
        return samples

    def count(self) -> Iterator[Row]:
        """Four kilobytes, seen before and not."""
        counted = exact_count()
        texts = [corpus.prose(number, MESSAGE_BYTES) for number in range(SEEN)]
        assert [memspan.count_tokens(text) for text in texts] == [counted(text) for text in texts]
        functions: dict[str, Callable[[str], int]] = {OURS: memspan.count_tokens, "tiktoken": counted}
        seen: Samples = {OURS: [], "tiktoken": []}
        new: Samples = {OURS: [], "tiktoken": []}
        for number in range(self._rounds):
            text = corpus.prose(SEEN + number, MESSAGE_BYTES)
            for name, function in functions.items():
                timed(seen[name], list, map(function, texts))
                seen[name][-1] /= len(texts)
                timed(new[name], function, text)
        yield Row("count 4 KB, seen before", "ms", seen)
        yield Row("count 4 KB, not seen before", "ms", new)


def _samples() -> Samples:
    return {name: [] for name in SIDES}


def _asked(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _talk(length: int, first: int) -> list[dict[str, str]]:
    return [{"role": "system", "content": corpus.SYSTEM}, *corpus.conversation(length - 1, first=first, words=FIT_WORDS)]


def _open(sides: dict[str, Side], length: int) -> Talks:
    return {name: side.conversation(f"user of {length}", "s-1") for name, side in sides.items()}


def _flat(what: str, rows: dict[int, Samples]) -> Iterator[Row]:
    """One row a length, with how much slower it is than the shortest."""
    shortest = next(iter(rows.values()))
    for length, samples in rows.items():
        grown = ", ".join(f"{name} {statistics.median(samples[name]) / statistics.median(shortest[name]):.2f}x" for name in samples)
        yield Row(what.format(length), "ms", samples, "" if samples is shortest else f"of the shortest: {grown}")
