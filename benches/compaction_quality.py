"""What compaction keeps, and what it costs.

    python benches/compaction_quality.py [--sgd sgd-train.jsonl.gz] [--dialogues 200] [--kit] [--langchain]

Identifiers: dialogues are joined into one long conversation and compacted by rules after every so many turns; an identifier counts if it
is in the summary, or in the prompt for a question that names what it belongs to. Constraints: the slot values that the user's state
of a dialogue holds at its end, against the first sentences and LexRank (Erkan and Radev 2004, cosine over tf-idf, 0.1, 50 iterations)
within the same tokens. Without --sgd only the generated conversation is measured. --kit runs `compaction-conformance-kit`, --langchain
times LangChain's summary memory with a model that answers at once; each is skipped where it is not installed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import re
import statistics
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memspan

if TYPE_CHECKING:
    from collections.abc import Iterator

WORD = re.compile(r"[A-Za-z0-9]+")
WITH_DIGIT = re.compile(r"\d")
GROUP = 5
"""Dialogues that are one conversation: by itself one has 250 tokens, of which nobody makes a summary."""


def generated(turns: int, seed: int = 11) -> tuple[list[dict[str, str]], list[tuple[str, str]]]:
    """A conversation with a hash, a path, a URL, a version or a code name a turn; (what it belongs to, the identifier)."""
    chance = random.Random(seed)
    subjects = ["indexer", "gateway", "scheduler", "mailer", "importer", "billing", "search", "cache", "router", "auditor"]
    messages, planted = [], []
    for n in range(turns):
        subject = f"{chance.choice(subjects)} of team {chance.choice('abcdefgh')}{n}"
        digest = f"{chance.getrandbits(64):016x}"
        forms = (
            f"commit {digest[:10]}",
            f"/srv/{digest[:6]}/app-{n}.toml",
            f"https://ci.example.com/runs/{digest[:8]}?job={n}",
            f"v{n}.{n % 7}.3",
            f"NIGHT-{digest[:4].upper()}",
        )
        identifier = forms[n % 5].removeprefix("commit ")
        messages.append({"role": "user", "content": f"The {subject} runs {identifier} now, please remember that."})
        messages.append(
            {"role": "assistant", "content": f"Noted. I will look at the {subject.split(maxsplit=1)[0]} again when the others are done."}
        )
        planted.append((subject, identifier))
    return messages, planted


def dialogues(path: Path, most: int) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number >= most:
                return
            yield json.loads(line)


def messages_of(dialogue: dict[str, Any]) -> list[dict[str, str]]:
    roles = {"user": "user", "system": "assistant"}
    return [{"role": roles[turn["speaker"]], "content": turn["text"]} for turn in dialogue["turns"]]


def values_with_digits(dialogue: dict[str, Any]) -> list[tuple[str, str]]:
    """(the sentence's words without the value, the value) of every annotated span with a digit."""
    found = []
    for turn in dialogue["turns"]:
        for _, start, end in turn["spans"]:
            value = turn["text"][start:end]
            if WITH_DIGIT.search(value):
                found.append((turn["text"].replace(value, " "), value))
    return found


def identifiers_kept(
    messages: list[dict[str, str]], planted: list[tuple[str, str]], compactions: int, max_tokens: int
) -> tuple[float, float]:
    """Shares of the identifiers of the compacted part that are in the summary, and in it or brought back by a question."""
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "q.memspan", durability="relaxed") as engine:
        session = engine.user("u").session("s", model="gpt-4o")
        step = max(2, len(messages) // compactions)
        for first in range(0, len(messages), step):
            session.add_many(messages[first : first + step])
            session.compact(max_tokens=max_tokens, keep_exchanges=1)
        summary = session.summary
        assert summary is not None, "a compaction of at least two messages leaves one"
        text = summary.text
        kept = "\n".join(message.text for message in session.messages[: summary.covers.stop])
        asked = [one for one in planted if one[1] in kept]
        direct = [value in text for _, value in asked]
        back = 0
        for (subject, value), there in zip(asked, direct, strict=True):
            if there:
                back += 1
                continue
            at = session.add({"role": "user", "content": subject}).index
            back += value in json.dumps(session.assemble().to_openai(), ensure_ascii=False)
            session.rewind(at)
        return sum(direct) / len(asked), back / len(asked)


def sentences(messages: list[dict[str, str]]) -> list[str]:
    return [one for message in messages for one in re.split(r"(?<=[.?!])\s+", message["content"]) if one.strip()]


def first_sentences(messages: list[dict[str, str]], limit: int) -> str:
    return _take(sentences(messages), limit)


def lexrank(messages: list[dict[str, str]], limit: int) -> str:
    texts = sentences(messages)
    bags = [Counter(WORD.findall(text.lower())) for text in texts]
    df = Counter(word for bag in bags for word in bag)
    idf = {word: math.log(len(bags) / count) for word, count in df.items()}
    norms = [math.sqrt(sum((count * idf[word]) ** 2 for word, count in bag.items())) or 1.0 for bag in bags]

    def cosine(a: int, b: int) -> float:
        return sum(count * bags[b][word] * idf[word] ** 2 for word, count in bags[a].items() if word in bags[b]) / (norms[a] * norms[b])

    links = [[b for b in range(len(bags)) if cosine(a, b) > 0.1] or [a] for a in range(len(bags))]
    ranks = [1.0] * len(bags)
    for _ in range(50):
        fresh = [0.15] * len(bags)
        for a, to in enumerate(links):
            for b in to:
                fresh[b] += 0.85 * ranks[a] / len(to)
        ranks = fresh
    return _take([texts[at] for at in sorted(range(len(texts)), key=lambda at: -ranks[at])], limit)


def _take(texts: list[str], limit: int) -> str:
    taken, used = [], 0
    for text in texts:
        used += memspan.count_tokens(text) + 1
        if used > limit:
            break
        taken.append(text)
    return "\n".join(taken)


def state_of(dialogue: dict[str, Any]) -> list[str]:
    """One value of each slot that the user's last state holds, as it was said."""
    state: dict[str, list[str]] = {}
    for turn in dialogue["turns"]:
        state.update(turn.get("state") or {})
    said = " ".join(turn["text"] for turn in dialogue["turns"]).lower()
    found = []
    for values in state.values():
        value = next((one for one in values if one.lower() in said), None)
        if value is not None and value not in ("True", "False"):
            found.append(value.lower())
    return found


def constraints_kept(path: Path, most: int, share: float) -> dict[str, float]:
    hits, total, every = Counter[str](), 0, list(dialogues(path, most))
    for group in (every[at : at + GROUP] for at in range(0, len(every), GROUP)):
        messages = [message for dialogue in group for message in messages_of(dialogue)]
        wanted = [value for dialogue in group for value in state_of(dialogue)]
        limit = max(40, int(share * sum(memspan.count_tokens(message["content"]) for message in messages)))
        texts = {
            "memspan": memspan.compact(messages, keep_exchanges=0, max_tokens=limit).text,
            "first sentences": first_sentences(messages, limit),
            "LexRank": lexrank(messages, limit),
        }
        total += len(wanted)
        for name, text in texts.items():
            hits[name] += sum(value in text.lower() for value in wanted)
    return {name: hits[name] / total for name in ("memspan", "first sentences", "LexRank")}


def conversation(turns: int) -> list[dict[str, str]]:
    """About 100 tokens a turn."""
    chance = random.Random(5)
    words = [f"word{n}" for n in range(400)]

    def plain(count: int) -> str:
        return " ".join(chance.choice(words) for _ in range(count))

    messages = []
    for n in range(turns):
        messages.append({"role": "user", "content": f"We go with plan-{n}: {plain(8)}. It must be done before Friday. {plain(6)}?"})
        messages.append({"role": "assistant", "content": f"Noted, host-{n} has {plain(10)}. See /srv/{n}/x.log. {plain(6)}."})
    return messages


def timed(work: Any, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1_000


def langchain_side(messages: list[dict[str, str]]) -> Any:
    from langchain_classic.memory import ConversationSummaryMemory  # noqa: PLC0415  an option
    from langchain_core.language_models.fake import FakeListLLM  # noqa: PLC0415

    def work() -> None:
        memory = ConversationSummaryMemory(llm=FakeListLLM(responses=["a summary"] * 10))
        for user, assistant in zip(messages[::2], messages[1::2], strict=True):
            memory.chat_memory.add_user_message(user["content"])
            memory.chat_memory.add_ai_message(assistant["content"])
        memory.predict_new_summary(memory.chat_memory.messages, "")

    return work


def flat() -> None:
    """Milliseconds of the k-th compaction of one session, medians of ten around k."""
    messages = conversation(1_010)
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "q.memspan", durability="relaxed") as engine:
        session, times = engine.user("u").session("s", model="gpt-4o"), []
        for first in range(0, 2_020, 20):
            session.add_many(messages[first : first + 20])
            start = time.perf_counter()
            session.compact(max_tokens=1_000)
            times.append((time.perf_counter() - start) * 1_000)
    for k in (5, 50, 95):
        print(f"compaction {k:3d} of a session: {statistics.median(times[k - 5 : k + 5]):.2f} ms")


def kit() -> None:
    from compaction_kit.benchmark import run_budget_benchmark  # noqa: PLC0415  an option
    from compaction_kit.compacted import CompactedContext  # noqa: PLC0415
    from compaction_kit.runner import run_conformance  # noqa: PLC0415
    from compaction_kit.session import build_seeded_session  # noqa: PLC0415

    class Memspan:
        name = "memspan"

        def compact(self, turns: Any, round_num: int = 1, budget_chars: int | None = None) -> Any:
            role = {"system": "user", "tool": "user"}
            messages = [{"role": role.get(turn.role, turn.role), "content": turn.text} for turn in turns]
            tokens = 1_000 if budget_chars is None else max(20, budget_chars // 5)
            while True:
                text = memspan.compact(messages, keep_exchanges=0, max_tokens=tokens).text
                if budget_chars is None or len(text) <= budget_chars or tokens < 20:
                    return CompactedContext(text=text, compactor_name=self.name, round_num=round_num)
                tokens = tokens * 9 // 10

    run = run_conformance(build_seeded_session(), Memspan(), rounds=5)
    for result in run.rounds:
        print("kit, round", result.round_num, {str(kind): f"{share:.0%}" for kind, share in result.survival_by_type.items()})
    for entry in run_budget_benchmark({"memspan": Memspan}, seeds=(1, 2)).get("entries", []):
        print("kit, budget", {key: value for key, value in entry.items() if not isinstance(value, dict | list)})


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sgd", type=Path)
    options.add_argument("--dialogues", type=int, default=200)
    options.add_argument("--kit", action="store_true")
    options.add_argument("--langchain", action="store_true")
    asked = options.parse_args()
    messages, planted = generated(200)
    for compactions in (1, 5, 20):
        direct, back = identifiers_kept(messages, planted, compactions, 1_000)
        print(f"generated identifiers, {compactions:2d} compactions: {direct:.1%} in the summary, {back:.1%} with a question")
    talk = conversation(200)
    print(f"200 turns, {memspan.count_tokens(talk):,} tokens: {timed(lambda: memspan.compact(talk, keep_exchanges=0), 15):.2f} ms by rules")
    if asked.langchain:
        print(f"the same with LangChain's summary memory and a model that answers at once: {timed(langchain_side(talk), 15):.2f} ms")
    flat()
    if asked.sgd and asked.sgd.exists():
        joined, values = [], []
        for dialogue in dialogues(asked.sgd, asked.dialogues // 5):
            joined += messages_of(dialogue)
            values += values_with_digits(dialogue)
        for compactions in (1, 5, 20):
            direct, back = identifiers_kept(joined, values, compactions, 2_000)
            print(f"SGD values with a digit, {compactions:2d} compactions: {direct:.1%} in the summary, {back:.1%} with a question")
        for share in (0.25, 0.4):
            kept = constraints_kept(asked.sgd, asked.dialogues, share)
            print(f"SGD states in {share:.0%} of the tokens:", ", ".join(f"{name} {value:.3f}" for name, value in kept.items()))
    if asked.kit:
        kit()


if __name__ == "__main__":
    main()
