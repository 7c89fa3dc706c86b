"""Commands that say what a store holds, and what its memory answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import memspan
from memspan._characters import visible
from memspan._cli.opening import open_store, scope_of
from memspan._cli.printing import cell, say, table_printer

if TYPE_CHECKING:
    import argparse

__all__ = ["evaluate", "recall", "stats", "users"]

_CONTENTS = (
    "generation",
    "file_bytes",
    "free_bytes",
    "scopes",
    "memories",
    "vectors",
    "to_embed",
    "collections",
    "documents",
    "chunks",
    "chunk_vectors",
)
"""The entries of `Engine.metrics` that describe a store. The others count the work of this process, which has just begun."""


def stats(options: argparse.Namespace) -> int:
    """Prints the contents of a store."""
    table = table_printer(options)
    with open_store(options, read_only=True, embedder=None) as engine:
        metrics = dict(engine.metrics())
        users, sessions, messages = 0, 0, 0
        for scope in engine.scopes():
            users += scope.type == "user"
            for info in scope.sessions():
                sessions += 1
                messages += info.messages
        learned = {f"tokens.{name}": str(factors) for name, factors in engine.token_factors.items()}
    facts = {
        "store": str(options.store),
        "users": users,
        **{name: metrics[name] for name in _CONTENTS},
        "sessions": sessions,
        "messages": messages,
        **learned,
        **{f"build.{k}": v for k, v in memspan.build_info().items()},
    }
    table(facts, ("name", "value"), facts.items())
    return 0


def users(options: argparse.Namespace) -> int:
    """Lists the users and shared scopes of a store."""
    table = table_printer(options)
    with open_store(options, read_only=True, embedder=None) as engine:
        rows = [{"type": scope.type, "id": scope.id, "tenant": scope.tenant} for scope in engine.scopes()]
    table(rows, ("type", "id", "tenant"), (tuple(map(cell, row.values())) for row in rows))
    return 0


def recall(options: argparse.Namespace) -> int:
    """Prints the memories that answer a query, and why."""
    table = table_printer(options)
    with open_store(options, read_only=True) as engine:
        recall = scope_of(engine, options).recall(options.query, limit=options.limit)
        rows = [
            {"score": hit.score, "kind": hit.memory.kind, "text": hit.memory.text, "id": str(hit.memory.id), "why": str(hit.explain())}
            for hit in recall
        ]
        degraded = recall.degraded_reason
    table(
        {"degraded": degraded, "memories": rows},
        ("score", "kind", "memory", "why"),
        ((f"{row['score']:.3f}", row["kind"], row["text"], row["why"]) for row in rows),
    )
    if degraded and not options.json:
        print(visible(f"degraded: {degraded}"), file=sys.stderr)
    return 0


def evaluate(options: argparse.Namespace) -> int:
    """Prints how well recall answers the questions of a file."""
    with open_store(options, read_only=True) as engine:
        done = memspan.evaluate(engine, options.questions, limit=options.limit)
    say(options, done.to_dict(), str(done))
    return 0
