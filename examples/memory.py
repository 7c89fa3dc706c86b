"""Long-term memory at work: remember twenty facts, change one, ask, and ask again from another process.

Run it with `make demo`, or `python examples/memory.py [STORE]`; without a path the store is a temporary one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import memspan

USER = "u-42"
FACTS = [
    ("Prefers Python for scripting", "preference", "scripting-language"),
    ("Wants answers without small talk", "preference", "tone"),
    ("Uses vim, with the line length set to 100", "preference", "editor"),
    ("Reads documentation in English", "preference", "language"),
    ("Is allergic to peanuts", "constraint", "allergy"),
    ("Never deploy on a Friday", "constraint", None),
    ("Passwords are never written into a chat", "constraint", None),
    ("Works at Northwind as a site reliability engineer", "profile", "employer"),
    ("Lives in Lisbon, in the time zone Europe/Lisbon", "profile", "home"),
    ("payments-api listens on port 8443 in prod-eu-west-1", "semantic", None),
    ("payments-api listens on port 9443 in staging", "semantic", None),
    ("The staging database is reset every night at 03:00", "semantic", None),
    ("billing-worker retries five times with exponential backoff", "semantic", None),
    ("The runbook for payments-api is docs/runbooks/payments.md", "semantic", None),
    ("On-call rotates on Mondays at 09:00", "semantic", "on-call-rotation"),
    ("Decided to keep PostgreSQL for billing because of row level security", "decision", "billing-database"),
    ("Decided to ship the auth fix as branch fix/auth-timeout, ticket #4521", "decision", None),
    ("The migration of 12 March failed on a lock timeout and was rolled back", "episodic", None),
    ("Restarting payments-api cleared the incident of 3 April", "task_outcome", None),
    ("Asked for a script that checks the certificate of payments-api", "episodic", None),
]
QUESTIONS = [
    "which language for a script?",
    "which port does payments-api use in prod-eu-west-1?",
    "what happened to ticket #4521?",
    "anything to keep in mind about food?",
]


def main() -> None:
    """Plays both halves: this process writes, another one reads."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "assistant.memspan"
        write(store)
        title("the same store, opened by another process")
        subprocess.run([sys.executable, __file__, "--read", str(store)], check=True)


def write(store: Path) -> None:
    """Remembers the facts, then contradicts one of them."""
    title(f"remember {len(FACTS)} facts, each durable when the call returns: {store}")
    with memspan.open(store) as engine:
        user = engine.user(USER)
        started = time.perf_counter()
        for number, (text, kind, slot) in enumerate(FACTS):
            # With an id the demo can run twice on one store: a fact it has already is a duplicate, not a second memory.
            done = user.remember(text, kind=kind, slot=slot, id=f"fact-{number}")
            print(f"  {done.action:<10} {kind:<13} {text}")
        each = (time.perf_counter() - started) / len(FACTS)
        print(f"  {each * 1e6:,.0f} us for each, on this disk")

        title("the user changes their mind: one current value per slot, the old one is history")
        done = user.remember("Prefers Go for scripting", kind="preference", slot="scripting-language", id="fact-go")
        print(f"  {done.action}: {done.memory.text}")
        for revision in user.history(done.memory.id):
            print(f"  history: {revision.text}")

        title("ask, and see why each memory was chosen")
        ask(user)


def read(store: Path) -> None:
    """What a second process sees: everything, at once."""
    started = time.perf_counter()
    with memspan.open(store, read_only=True) as engine:
        opened = time.perf_counter()
        user = engine.user(USER)
        recalled = user.recall(QUESTIONS[0], limit=1)
        print(f"  opened in {(opened - started) * 1e6:,.0f} us, first recall {(time.perf_counter() - opened) * 1e6:,.0f} us")
        print(f"  {QUESTIONS[0]} {recalled[0].memory.text}")
        print(f"  the slot 'scripting-language': {user.slots['scripting-language'].text}")
        title("what the store holds")
        for name, value in engine.metrics().items():
            print(f"  {name:<32} {value}")


def ask(user: memspan.Scope) -> None:
    """Prints the best two memories for each question, with the reason."""
    for question in QUESTIONS:
        started = time.perf_counter()
        hits = user.recall(question, limit=2)
        print(f"  {question}  ({(time.perf_counter() - started) * 1e6:,.0f} us)")
        for hit in hits:
            print(f"    {hit.score:.3f}  {hit.memory.text}")
            print(f"           {hit.explain()}")


def title(text: str) -> None:
    """A heading between the parts."""
    print(f"\n== {text}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]))
    else:
        main()
