"""The groups of a cluster: each has all memories that say the same, however many groups there are."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import memspan

if TYPE_CHECKING:
    from pathlib import Path

SAYING = ("Likes tea from shop {}", "The user likes tea from shop {}", "Likes teas from shop {}.")


def test_a_group_has_all_that_say_the_same(store: Path) -> None:
    texts = [SAYING[at % len(SAYING)].format(at * 7 % 12) for at in range(60)]
    with memspan.open(store) as engine:
        user = engine.user("u")
        user.remember_many([{"text": text, "kind": "semantic", "metadata": {"at": at}} for at, text in enumerate(texts)])
        alike: dict[str, list[str]] = defaultdict(list)
        for memory in reversed(list(user.memories())):
            alike[memory.text.rstrip(".").split()[-1]].append(memory.text)
        merged = user.consolidate(dry_run=True, closeness=0.5).clusters
    groups = sorted(sorted(memory.text for memory in cluster.originals) for cluster in merged)
    assert groups == sorted(sorted(texts) for texts in alike.values() if len(texts) > 1)
