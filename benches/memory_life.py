"""What the write gate stores, keeps out and merges, and what it costs, each beside what it is measured against, in one run.

    python benches/memory_life.py [--sgd sgd-train.jsonl.gz] [--locomo locomo.json] [--dialogues 120] [--only gate,secrets]

Rows: `gate` (F1 of the whole gate against "the user's turn informs", dialogues kept back from its fit), `locomo` (AUROC of importance
against "the turn is evidence"), `newest` (the newest value of a slot that no caller names), `raw` (the same in users' own turns),
`duplicates` (three replays), `secrets`,
`time` (a turn through gate and screening), `consolidate` (against scikit-learn's DBSCAN), `learn` (400 turns, against mem0 with a model
that answers at once). What has no data, or whose rival is not installed, is skipped and says so. Nothing here is fitted.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import os
import random
import re
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

sys.path.insert(0, str(Path(__file__).parent.parent / "tools" / "gate"))

from split import kept_back

import memspan
from memspan import _core
from memspan._learning import Heard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Turns: TypeAlias = list[dict[str, Any]]
Row: TypeAlias = tuple[str, str, str]
CUES = re.compile(
    r"\b(?:i|we)(?:'m| am| would| want| need| like| prefer| live| have)|\bmy\b|\bplease\b|\b\d|\bfor (?:me|us)\b|\bin [A-Z]", re.IGNORECASE
)
BEGIN = datetime(2025, 1, 1, tzinfo=UTC)


def dialogues(path: Path) -> Iterator[dict[str, Any]]:
    """Those that the gate's models were not fitted to."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from (one for one in map(json.loads, file) if kept_back(one["id"]))


def messages_of(dialogue: dict[str, Any], at: datetime | None = None) -> Turns:
    roles = {"user": "user", "system": "assistant"}
    when = {} if at is None else {"created_at": at}
    return [{"role": roles[turn["speaker"]], "content": turn["text"], **when} for turn in dialogue["turns"]]


def f1(said: list[bool], labels: list[bool]) -> float:
    both = sum(a and b for a, b in zip(said, labels, strict=True))
    return 2 * both / (sum(said) + sum(labels))


def auroc(scores: list[float], labels: list[bool]) -> float:
    """The share of pairs in the right order; equals count half."""
    order = sorted(zip(scores, labels, strict=True), key=lambda pair: pair[0])
    ranks, at = 0.0, 0
    while at < len(order):
        to = at
        while to < len(order) and order[to][0] == order[at][0]:
            to += 1
        ranks += (at + 1 + to) / 2 * sum(label for _, label in order[at:to])
        at = to
    yes = sum(labels)
    return (ranks - yes * (yes + 1) / 2) / (yes * (len(labels) - yes))


# --- what is stored


def gate(user: memspan.Scope, path: Path) -> list[Row]:
    said, cues, labels = [], [], []
    for dialogue in dialogues(path):
        learned = user.learn(messages_of(dialogue), dry_run=True)
        stored = {one.index for one in learned if one.category != "discard"}
        for index, turn in enumerate(dialogue["turns"]):
            if turn["speaker"] == "user":
                said.append(index in stored)
                cues.append(CUES.search(turn["text"]) is not None)
                labels.append("INFORM" in turn["acts"])
    return [(f"gate, F1 on {len(labels):,} turns kept back", f"{f1(said, labels):.3f}", f"a cue regex {f1(cues, labels):.3f}")]


def locomo(user: memspan.Scope, path: Path) -> list[Row]:
    scores, lengths, labels = [], [], []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        named = [one for question in sample["qa"] if question["category"] != 5 for one in question.get("evidence", [])]
        answers = {f"D{int(a)}:{int(b)}" for one in named for a, b in re.findall(r"D:?(\d+):(\d+)", one)}
        for name, turns in sample["conversation"].items():
            if re.fullmatch(r"session_\d+", name):
                learned = user.learn([{"role": "user", "content": turn["text"]} for turn in turns], dry_run=True)
                best = [0.0] * len(turns)
                for one in learned:
                    best[one.index] = max(best[one.index], one.importance)
                scores += best
                lengths += [float(len(turn["text"])) for turn in turns]
                labels += [turn["dia_id"] in answers for turn in turns]
    return [(f"gate, AUROC on {len(labels):,} turns of LoCoMo", f"{auroc(scores, labels):.3f}", f"length {auroc(lengths, labels):.3f}")]


# --- the newest value

MARKS = ("disputed=", "newer_on=")
FORMS = (
    "My {slot} is {value}.",
    "The {slot} is {value}.",
    "Our {slot} is {value} now.",
    "Actually, my {slot} is {value}.",
    "I'd like the {slot} to be {value}.",
    "The {slot} should be {value}.",
    "Please change the {slot} to {value}.",
    "Please set my {slot} to {value}.",
    "Remember that the {slot} is {value}.",
    "Make the {slot} {value}, please.",
    "For the {slot}, I want {value}.",
    "I changed the {slot} to {value}.",
)


def replaced(dialogue: dict[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Slots of a user's state whose value was another before: words of the slot, values in order."""
    history: dict[str, list[list[str]]] = {}
    for turn in dialogue["turns"]:
        for slot, values in turn.get("state", {}).items():
            seen = history.setdefault(slot, [])
            if not seen or seen[-1] != values:
                seen.append(values)
    for slot, seen in history.items():
        plain = [values[0] for values in seen if not {value.casefold() for value in values} & {"dontcare"}]
        distinct = [value for at, value in enumerate(plain) if at == 0 or value.casefold() != plain[at - 1].casefold()]
        new = all(values[0].casefold() not in {one.casefold() for one in before} for before, values in pairwise(seen))
        if len(distinct) > 1 and new:
            yield slot.split(".")[1].replace("_", " "), distinct


def newest(engine: memspan.Engine, path: Path, most: int) -> list[Row]:
    right = stale = asked = 0
    wrong: list[str] = []
    for dialogue in list(dialogues(path)):
        user = engine.user(dialogue["id"])
        changed = list(replaced(dialogue))
        for slot, values in changed:
            chance = random.Random(f"{dialogue['id']}{slot}")
            others = [other for other, _ in changed if other != slot]
            for day, value in enumerate(values):
                text = chance.choice(FORMS).format(slot=slot, value=value)
                user.learn([{"role": "user", "content": text, "created_at": BEGIN + timedelta(days=day)}])
            found = user.recall(slot, 1)
            asked += 1
            first = bool(found) and values[-1].casefold() in found[0].memory.text.casefold()
            right += first
            leaked = [value for value in values[:-1] if unmarked(user, slot, value, values[-1], others)]
            stale += bool(leaked)
            if not first or leaked:
                wrong.append(f"{slot}: {values} -> {[memory.text for memory in user.memories()]}")
        if asked >= most:
            break
    for line in wrong[:10]:
        print("   ", line[:300])
    note = f"{stale} of {asked} prompts with a stale value that is not marked"
    return [(f"newest value first, {asked} slots replayed in sentences", f"{right / asked:.3f}", note)]


def unmarked(user: memspan.Scope, slot: str, old: str, new: str, others: list[str]) -> bool:
    """Whether a prompt that asks for the slot shows the old value as if it held; what is said of another slot has its own values."""
    session = user.session(f"ask {slot} {old}", model="gpt-4o")
    session.add({"role": "user", "content": f"What is the {slot}?"})
    text = html.unescape("\n".join(text_of(message["content"]) for message in session.assemble().to_openai()["messages"]))
    session.delete()
    lines = [line for line in text.splitlines() if slot in line.casefold() or not any(other in line.casefold() for other in others)]
    return any(says(line, [old]) and not says(line, [new]) and not any(mark in line for mark in MARKS) for line in lines)


def text_of(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def says(line: str, values: list[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(value)}(?!\w)", line, re.IGNORECASE) for value in values)


def raw(engine: memspan.Engine, path: Path, most: int) -> list[Row]:
    """The users' own turns, of dialogues kept back, where a slot's value changed: which value comes first, and what a prompt shows."""
    first = older = asked = stale = told = 0
    for dialogue in dialogues(path):
        changed = list(changed_in_words(dialogue))
        if not changed:
            continue
        user = engine.user(f"raw {dialogue['id']}")
        turns = messages_of(dialogue)
        for minute, turn in enumerate(turns):
            turn["created_at"] = BEGIN + timedelta(minutes=minute)
        user.learn(turns)
        for slot, values in changed:
            lines = [hit.memory.text for hit in user.recall(f"What is the {slot}?", 10)]
            old = [one for value in values[:-1] for one in value]
            which = next((says(line, values[-1]) for line in lines if says(line, [*old, *values[-1]])), None)
            asked, told = asked + 1, told + (which is not None)
            first, older = first + (which is True), older + (which is False)
            stale += any(unmarked(user, slot, value, values[-1][0], []) for value in old)
        if asked >= most:
            break
    note = f"{older} of {told} show an older value first, {asked - told} none; {stale} of {asked} prompts with an unmarked older value"
    return [(f"newest value first, {asked} values changed in raw turns", f"{first / max(told, 1):.3f}", note)]


def changed_in_words(dialogue: dict[str, Any]) -> Iterator[tuple[str, list[list[str]]]]:
    """Slots whose value the user changed in words: each value in the spellings that the data gives, those that the user said."""
    said = "\n".join(turn["text"] for turn in dialogue["turns"] if turn["speaker"] == "user")
    history: dict[str, list[list[str]]] = {}
    for turn in dialogue["turns"]:
        for slot, values in turn.get("state", {}).items():
            seen = history.setdefault(slot, [])
            if not seen or not {one.casefold() for one in seen[-1]} & {one.casefold() for one in values}:
                seen.append(values)
    for slot, seen in history.items():
        if len(seen) > 1 and "dontcare" not in seen[-1] and says(said, seen[-1]) and not says(" ".join(seen[-1]), seen[0]):
            yield slot.split(".")[1].replace("_", " "), seen


# --- duplicates


def duplicates(engine: memspan.Engine, path: Path, most: int) -> list[Row]:
    user, stored, lost = engine.user("replays"), 0, 0
    told = [dialogue for _, dialogue in zip(range(most), dialogues(path), strict=False)]
    for replay in range(3):
        for dialogue in told:
            learned = user.learn(messages_of(dialogue, BEGIN + timedelta(hours=replay)))
            if replay == 0:
                stored += len([one for one in learned if one.action == "added"])
    memories = list(user.memories())
    keys: dict[tuple[str, ...], int] = {}
    for memory in memories:
        words = tuple(word for word in re.findall(r"\w+", memory.text.casefold()) if word not in {"a", "an", "the", "please"})
        keys[words] = keys.get(words, 0) + 1
    pairs = sum(count - 1 for count in keys.values())
    ported = [f"service-{number} listens on port {8000 + number}." for number in range(200)]
    facts = engine.user("facts")
    for replay in range(3):
        facts.learn([{"role": "user", "content": f"Remember that {text}", "created_at": BEGIN + timedelta(days=replay)} for text in ported])
    there = {memory.text.casefold().rstrip(".") for memory in facts.memories()}
    lost = sum(text.rstrip(".") not in there for text in ported)
    note = f"{lost} of {len(ported)} distinct facts lost; {len(memories)} memories, {stored} added by the first replay"
    return [("near-duplicates after three replays", f"{100 * pairs / len(memories):.2f} %", note)]


# --- secrets


def luhn(digits: str) -> str:
    total = sum(sum(divmod(int(digit) * 2, 10)) if at % 2 == 0 else int(digit) for at, digit in enumerate(reversed(digits)))
    return digits + str(-total % 10)


def iban(chance: random.Random) -> str:
    body = f"{chance.randrange(10**18):018}"
    check = 98 - int(f"{body}131400") % 97
    return f"DE{check:02}{body}"


BENIGN = (
    "The meeting on {day} costs {price} and lasts {small} hours.",
    "We run version {version} since commit {hash}.",
    "Order {order} was shipped on {day}.",
    "The build {hash} took {small} minutes, {price} of compute.",
    "md5 of the file: {md5}",
    "My flight leaves at {small}:30 on {day}, seat {small}A.",
    "Invoice INV-{order} is due on {day}.",
    "sha256:{sha} is the image of {version}.",
    "The request id was {uuid}.",
    "Room {small} on floor {small}, price {price}, until {day}.",
    "The token limit is {order} and the key result improved by {small} %.",
    "password rotation happens every {small} days",
)


def benign(chance: random.Random) -> str:
    filled = {
        "day": f"{chance.randrange(2000, 2030)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
        "price": f"${chance.randrange(1, 100000):,}.{chance.randrange(100):02}",
        "small": chance.randrange(1, 60),
        "version": f"v{chance.randrange(20)}.{chance.randrange(100)}.{chance.randrange(100)}",
        "hash": f"{chance.getrandbits(160):040x}"[: chance.choice((7, 10, 40))],
        "md5": f"{chance.getrandbits(128):032x}",
        "sha": f"{chance.getrandbits(256):064x}",
        "order": chance.randrange(10**4, 10 ** chance.randrange(5, 13)),
        "uuid": "-".join(f"{chance.getrandbits(4 * size):0{size}x}" for size in (8, 4, 4, 4, 12)),
    }
    return chance.choice(BENIGN).format(**filled)


def secrets(most: int = 10_000) -> list[Row]:
    chance = random.Random(23)
    cards = ["4" + f"{chance.randrange(10**14):014}" for _ in range(1000)] + [
        f"5{chance.randrange(1, 6)}{chance.randrange(10**13):013}" for _ in range(1000)
    ]
    texts = [(luhn(digits), "payment card") for digits in cards] + [(iban(chance), "IBAN") for _ in range(1000)]
    forms = ("please charge {}", "my number is {}.", "{}", "use {} for the booking", "It's {}, thanks!")
    seen = sum(any(part.what == kind for part in _core.screen(chance.choice(forms).format(text))) for text, kind in texts)
    clean = [benign(chance) for _ in range(most)]
    false = [text for text in clean if _core.screen(text)]
    for text in false[:5]:
        print("    false alarm:", text, _core.screen(text))
    return [
        (f"checksummed types found, of {len(texts):,}", f"{seen / len(texts):.4f}", ""),
        (f"false alarms in {most:,} benign texts", str(len(false)), detect_secrets(clean[:200])),
    ]


def detect_secrets(texts: list[str]) -> str:
    try:
        from detect_secrets.core.scan import scan_line  # noqa: PLC0415
        from detect_secrets.settings import default_settings  # noqa: PLC0415
    except ImportError:
        return "detect-secrets is not installed"
    with default_settings():
        return f"detect-secrets flags {sum(any(True for _ in scan_line(text)) for text in texts)} of {len(texts)}"


# --- time


def clock(work: Callable[[], object], rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def turn_time(user: memspan.Scope, path: Path) -> list[Row]:
    texts = [turn["text"] for dialogue, _ in zip(dialogues(path), range(100), strict=False) for turn in dialogue["turns"]]
    heard = [Heard(at, "user" if at % 2 == 0 else "assistant", text, None) for at, text in enumerate(texts)]
    core, policy = user._core, memspan.Policy(personal_data="redact")  # noqa: SLF001  the seam that learn() calls, one turn at a time

    def one(at: int) -> None:
        core.judge(heard[max(0, at - 1) : at + 1], min(at, 1), False)
        _core.screened(heard[at].text, policy, None)

    for at in range(0, len(heard), 2):
        one(at)
    times = sorted(clock(partial(one, at), 1) for at in range(0, len(heard), 2))
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    return [("gate and screening of a turn, p50", f"{p50 * 1e6:.1f} us", f"p99 {p99 * 1e6:.1f} us; a model call is some 10^6 us")]


def consolidate(engine: memspan.Engine, count: int = 10_000) -> list[Row]:
    import numpy as np  # noqa: PLC0415

    chance = np.random.default_rng(7)
    centres = chance.normal(size=(count // 20, 256))
    vectors = np.concatenate([centres[at % len(centres)] + chance.normal(scale=0.3, size=(1, 256)) for at in range(count)]).astype(
        np.float32
    )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    codes = np.round(vectors / np.abs(vectors).max(1, keepdims=True) * 127)
    codes /= np.linalg.norm(codes, axis=1, keepdims=True)
    rows = vectors.tolist()
    mine: list[Any] = []
    own = clock(lambda: mine.append(_core.dbscan(rows, 0.8, 3)), 3)
    user = engine.user("many")
    user.remember_many([{"text": f"note {at % 500} about subject {at}", "kind": "episodic"} for at in range(count)])
    whole = clock(lambda: user.consolidate(dry_run=True), 1)
    try:
        from sklearn.cluster import DBSCAN  # noqa: PLC0415
    except ImportError:
        return [(f"DBSCAN of {count:,} vectors", f"{own:.2f} s", "scikit-learn is not installed")]
    theirs: list[Any] = []
    rival = min(
        clock(lambda: theirs.append(DBSCAN(eps=0.2 + 1e-12, min_samples=3, metric="cosine").fit_predict(codes)), 1),
        clock(
            lambda: theirs.append(DBSCAN(eps=float(np.sqrt(0.4)), min_samples=3, algorithm="brute").fit_predict(codes.astype(np.float32))),
            1,
        ),
    )
    equal = [-1 if one is None else one for one in mine[0]] == theirs[0].tolist()
    return [
        (f"DBSCAN of {count:,} vectors", f"{own:.2f} s", f"scikit-learn {rival:.2f} s: {rival / own:.1f}x; clusters equal: {equal}"),
        (f"consolidate(dry_run=True) of {count:,} memories", f"{whole:.2f} s", ""),
    ]


def learn(engine: memspan.Engine, turns: int = 400) -> list[Row]:
    talk = [line for at in range(turns) for line in exchange(at)]
    user = engine.user("learner")
    session = user.session("long", model="gpt-4o")
    session.add_many(talk)
    begin = time.perf_counter()
    learned = user.learn(session)
    own = time.perf_counter() - begin
    rival = mem0(talk)
    note = "mem0 is not installed" if rival is None else f"mem0 with a model that answers at once {rival:.2f} s: {rival / own:.0f}x"
    return [(f"learn() of {turns} turns, {len(learned.stored)} stored", f"{own:.3f} s", note)]


def exchange(at: int) -> Turns:
    said = (
        f"Remember that service-{at} listens on port {8000 + at}.",
        "What does the log say about it?",
        f"I think the build number {at} was slow because the cache was cold.",
        f"My badge for building {at} is green.",
    )
    return [{"role": "user", "content": said[at % 4]}, {"role": "assistant", "content": f"Understood, step {at} is noted."}]


def mem0(talk: Turns) -> float | None:
    """Seconds of mem0 for the same turns, one `add` a turn, with a model and an embedder that answer at once."""
    os.environ.update(MEM0_TELEMETRY="False", OPENAI_API_KEY="x")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MEM0_DIR"] = folder
        try:
            from mem0 import Memory  # noqa: PLC0415
        except ImportError:
            return None
        store = {"provider": "qdrant", "config": {"collection_name": "m", "path": f"{folder}/vectors", "embedding_model_dims": 256}}
        memory = Memory.from_config({"vector_store": store, "history_db_path": f"{folder}/history.db"})
        memory.embedding_model, memory.llm = StubEmbedder(), StubModel()
        if hasattr(memory.vector_store, "_bm25_encoder"):
            memory.vector_store._bm25_encoder = False  # noqa: SLF001  it would be downloaded; without it there is less to do
        begin = time.perf_counter()
        for at in range(0, len(talk), 2):
            memory.add([{key: one[key] for key in ("role", "content")} for one in talk[at : at + 2]], user_id="u")
        return time.perf_counter() - begin


class StubEmbedder:
    """Vectors of hashes, at once."""

    config = None

    def embed(self, text: str, _action: str | None = None) -> list[float]:
        chance = random.Random(text)
        return [chance.random() - 0.5 for _ in range(256)]

    def embed_batch(self, texts: list[str], _action: str | None = None) -> list[list[float]]:
        return [self.embed(text) for text in texts]


class StubModel:
    """One fact of each exchange, at once."""

    config = None

    def generate_response(self, messages: Turns, **_options: Any) -> str:
        fact = messages[-1]["content"][-60:]
        return json.dumps({"memory": [{"id": "0", "text": fact, "event": "ADD"}], "facts": [fact]})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sgd", type=Path)
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--dialogues", type=int, default=120)
    parser.add_argument("--only", default="gate,locomo,newest,raw,duplicates,secrets,time,consolidate,learn")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, memspan.open(f"{folder}/bench.memspan", durability="relaxed") as engine:
        user = engine.user("u")
        work: dict[str, tuple[Path | bool | None, Callable[[], list[Row]]]] = {
            "gate": (given.sgd, lambda: gate(user, given.sgd)),
            "locomo": (given.locomo, lambda: locomo(user, given.locomo)),
            "newest": (given.sgd, lambda: newest(engine, given.sgd, given.dialogues * 10)),
            "raw": (given.sgd, lambda: raw(engine, given.sgd, given.dialogues * 10)),
            "duplicates": (given.sgd, lambda: duplicates(engine, given.sgd, given.dialogues)),
            "secrets": (True, secrets),
            "time": (given.sgd, lambda: turn_time(user, given.sgd)),
            "consolidate": (True, lambda: consolidate(engine)),
            "learn": (True, lambda: learn(engine)),
        }
        for name in given.only.split(","):
            data, measured = work[name]
            for what, value, beside in measured() if data else [(name, "-", "no data was given")]:
                print(f"{what:<58} {value:>10}   {beside}", flush=True)


if __name__ == "__main__":
    main()
