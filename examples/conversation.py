"""A real conversation through the engine: 1,010 messages in three sessions of one user, a prompt before every reply.

Run it with `make demo`, or `python examples/conversation.py [STORE]`; without a path the store is a temporary one. The messages are a slice
of the Schema-Guided Dialogue set (examples/data/README.md); what the assistant said there stands for what a model would answer.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import memspan

DATA = Path(__file__).parent / "data" / "conversation.jsonl"
USER = "u-42"
SYSTEM = "You help with restaurants, events, travel and banking. Ask for what you need, and confirm before you book or pay."
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Looks for offers of a service.",
            "parameters": {"type": "object", "properties": {"service": {"type": "string"}, "wanted": {"type": "string"}}},
        },
    }
]
RULES = [("Never pay without asking first", "constraint"), ("Wants short answers", "preference")]
# A small limit, so that the window has to move; gpt-4o's own default would be 89,600 and hold all of it.
BUDGET = memspan.Budget(max_input_tokens=5_000)
SHOWN = {("s-1", 20), ("s-3", 200)}
REMEMBERED_TURN = 200
MOST_SHOWN = 3


def main() -> None:
    """Plays the conversation here, and goes on with it in another process."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "assistant.memspan"
        sent = play(store)
        title("the store is closed; another process opens it")
        subprocess.run([sys.executable, __file__, "--reopen", str(store), sent], check=True)


def play(store: Path) -> str:
    """Every message of every session; the hash of what was sent at one turn."""
    sessions = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    total = sum(len(one["messages"]) for one in sessions)
    limit = f"{BUDGET.max_input_tokens:,}"
    title(f"{total:,} messages of one user in {len(sessions)} sessions, a prompt of at most {limit} tokens before each reply")
    shown: list[str] = []
    sent = ""
    times: list[float] = []
    done = 0
    with memspan.open(store) as engine:
        user = engine.user(USER)
        for text, kind in RULES:
            user.remember(text, kind, id=f"rule {text}")
        for one in sessions:
            session = user.session(one["session"], model="gpt-4o", system=SYSTEM, tools=TOOLS, budget=BUDGET)
            before: memspan.Prompt | None = None
            for row in one["messages"]:
                message = {"role": row["role"], "content": row["content"]}
                if row["role"] == "user":
                    session.add(message, id=row["source"])
                    remember(user, row)
                else:
                    started = time.perf_counter()
                    prompt = session.assemble()
                    times.append(time.perf_counter() - started)
                    turn = session.add_response(message, prompt=prompt)
                    if before is not None and prompt.epoch != before.epoch and len(shown) < MOST_SHOWN:
                        shown.append(epochs(turn.number, before, prompt))
                    if (session.id, turn.number) in SHOWN:
                        shown.append(report(session.id, turn.number, prompt, before))
                    if session.id == "s-3" and turn.number == REMEMBERED_TURN:
                        sent = digest(prompt)
                    before = prompt
                done += 1
                bar(done, total)
        print(f"\n  assemble, p50 of {len(times):,}: {statistics.median(times) * 1e6:,.0f} us, with what memory was asked")
        hits = user.search_transcripts("71 North San Pedro Street", limit=1)
        print(f"  search_transcripts('71 North San Pedro Street'): {hits[0].session_id}, message {hits[0].index}: {hits[0].text}")
    print("".join(shown))
    return sent


def remember(user: memspan.Scope, row: dict[str, Any]) -> None:
    """What a message said about its slots: one current value each, the one before is history."""
    for slot, value in row.get("facts", {}).items():
        service, name = slot.split("_", 1)[0], slot.split(".", 1)[1].replace("_", " ")
        user.remember(f"{service}: the {name} is {value}", slot=slot, id=f"{row['source']} {slot}")


def report(session_id: str, turn: int, prompt: memspan.Prompt, before: memspan.Prompt | None) -> str:
    """One turn: its sections, what the provider's cache had of it, what was recalled and what was left out, and why."""
    lines = [f"\n== session {session_id}, turn {turn}: what the model saw\n", str(prompt), ""]
    lines.append(f"  prefix hash {prompt.prefix_hash}, {prompt.prefix_tokens:,} tokens before the cache boundary")
    if before is not None:
        shared = prompt.shared_prefix(before)
        lines.append(
            f"  the first {shared.bytes:,} bytes ({shared.tokens:,} tokens) are those of the prompt before; then: {shared.broken_by}"
        )
    memory = [one for one in prompt.explain() if one.section in {"pinned", "newer", "recalled", "history"}]
    lines += ["  in the prompt:", *(f"    {one}" for one in memory if one.included)]
    lines += ["  left out:", *(f"    {one}" for one in memory if not one.included)]
    return "\n".join(lines) + "\n"


def epochs(turn: int, before: memspan.Prompt, after: memspan.Prompt) -> str:
    """The window moved: the prefix is new once, and then stands still again."""
    shared = after.shared_prefix(before)
    return (
        f"\n== epoch {before.epoch} ends and epoch {after.epoch} begins at turn {turn}: the window was full and moved by a quarter\n\n"
        f"  before: {before.total_tokens:,} tokens, prefix {before.prefix_hash}\n"
        f"  after:  {after.total_tokens:,} tokens, prefix {after.prefix_hash}\n"
        f"  the same bytes at the start: {shared.bytes:,} ({shared.tokens:,} tokens: tools, system prompt, pinned memory)\n"
    )


def reopen(store: Path, sent: str) -> None:
    """What another process finds: the ledger of an old turn, and a session that can change its model."""
    with memspan.open(store) as engine:
        session = engine.user(USER).session("s-3")
        old = sent_at(session, REMEMBERED_TURN)
        same = digest(old) == sent
        print(f"  the ledger of turn {REMEMBERED_TURN}: {old!r}")
        print(f"  the request has the same bytes as when it was sent: {same}")
        for one in old.explain():
            if one.section == "recalled":
                print(f"    {one}")

        title("from a window of 128,000 tokens to one of 8,192")
        plan = session.plan_switch("gpt-4")
        print(f"  plan: {plan}")
        session.add({"role": "user", "content": "Which cuisine did I ask for, and in which city?"})
        session.switch_model("gpt-4")
        print(f"\n{session.assemble()}")
        same = digest(sent_at(session, REMEMBERED_TURN)) == sent
        print(f"\n  and the old turn, counted with the old model, still has its bytes: {same}")


def sent_at(session: memspan.Session, turn: int) -> memspan.Prompt:
    """What the model was sent at a turn, out of the ledger."""
    prompt = session.turn(turn).prompt
    if prompt is None:
        raise SystemExit(f"turn {turn} of {session!r} was added without its prompt")
    return prompt


def digest(prompt: memspan.Prompt) -> str:
    """Of the request's bytes."""
    return hashlib.sha256(prompt.to_json()).hexdigest()


def bar(done: int, total: int) -> None:
    """A progress bar; where the output is a file, one line for each tenth."""
    if sys.stdout.isatty():
        width = 50 * done // total
        print(f"\r  [{'#' * width}{'.' * (50 - width)}] {done:,} of {total:,}", end="", flush=True)
    elif done * 10 // total > (done - 1) * 10 // total:
        print(f"  {done:,} of {total:,}", flush=True)


def title(text: str) -> None:
    """A heading between the parts."""
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--reopen"]:
        reopen(Path(sys.argv[2]), sys.argv[3])
    else:
        main()
