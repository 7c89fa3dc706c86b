"""Consolidation: clusters from the engine become one memory each, by rules or by a model whose text the originals must bear out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memspan._borne_out import borne_out
from memspan._fence import is_number
from memspan._flags import shown
from memspan._learning import Heard
from memspan._refining import completed
from memspan.exceptions import InvalidInput
from memspan.life import Cluster, Consolidation, SlotProposal

if TYPE_CHECKING:
    from memspan._kept import Memory
    from memspan._learning import Work

_PREFERS = re.compile(r"^(?:the user |user )?prefers ", re.IGNORECASE)

LEAST = 3
"""Memories from which a fact is distilled."""

MOST_CALLS = 64
MOST_TEXT = 1_000
LEAST_CLOSENESS = 0.5

INSTRUCTIONS = """These notes say nearly the same. Write one sentence that says all that they agree on.
Use their own words; add nothing; keep every name, number and date. Reply with the sentence and nothing else."""


def consolidate(work: Work, closeness: float, min_points: int) -> Consolidation:
    """Merges what clusters; one transaction a cluster, so that what is done stays done."""
    if not is_number(closeness) or not LEAST_CLOSENESS <= closeness <= 1:
        raise InvalidInput(f"consolidating: closeness is a cosine from 0.5 to 1, and it is {shown(closeness)}: change it")
    merged: list[Cluster] = []
    for found in work.core.clusters(closeness, min_points):
        for group in found.groups:
            cluster = _kept(work, [found.memories[place] for place in group.places], group.places.index(group.stands))
            merged.extend([] if cluster is None else [cluster])
        gone = {place for group in found.groups for place in group.places if place != group.stands}
        left = [memory for place, memory in enumerate(found.memories) if place not in gone]
        for alike in [] if work.llm is None or found.groups else _ending_together(left):
            if len(alike) >= LEAST and work.asked.calls < MOST_CALLS:
                cluster = _written(work, alike)
                merged.extend([] if cluster is None else [cluster])
    return Consolidation(tuple(merged), work.asked.calls, work.asked.failed, _proposals(work))


def _proposals(work: Work) -> tuple[SlotProposal, ...]:
    """Slots that the gate reads in preferences without one, as if the user said them."""
    loose = [memory for memory in work.scope.memories(kinds="preference") if memory.slot is None and memory.trust > 0]
    heard = [Heard(place, "user", _PREFERS.sub("I prefer ", one.text), one.occurred_at) for place, one in enumerate(loose)]
    slots = {one.index: one.slot for one in reversed(work.core.judge(heard, 0, False).decisions()) if one.slot is not None}
    return tuple(SlotProposal(memory, slots[place]) for place, memory in enumerate(loose) if place in slots)


def _kept(work: Work, originals: list[Memory], keep: int) -> Cluster | None:
    text = originals[keep].text
    if work.dry_run:
        return Cluster(tuple(originals), text, "rules")
    done = work.core.merge(_revisions(originals), keep, None)
    return None if done is None else Cluster(tuple(originals), text, "rules", done.memory)


def _ending_together(memories: list[Memory]) -> list[list[Memory]]:
    """Memories that are forgotten on one day, and those that are kept.

    One sentence that is made of them has one end. It is the first of theirs, so that no word is kept longer than its memory was to be.
    A memory without an end must not go with it.
    """
    found: dict[object, list[Memory]] = {}
    for memory in memories:
        found.setdefault(None if memory.expires_at is None else memory.expires_at.date(), []).append(memory)
    return list(found.values())


def _shared(memories: list[Memory]) -> dict[str, Any]:
    """The metadata that all of them have."""
    first, *others = (memory.metadata for memory in memories)
    return {name: value for name, value in first.items() if all(name in other and other[name] == value for other in others)}


def _written(work: Work, originals: list[Memory]) -> Cluster | None:
    notes = "\n".join(f"- {memory.text}" for memory in originals)
    work.asked.calls += 1
    reply = completed(work.llm, [{"role": "system", "content": INSTRUCTIONS}, {"role": "user", "content": notes}], work.timeout_seconds)
    text = "" if reply is None else reply.strip()
    if not text or len(text) > MOST_TEXT or not borne_out(text, notes) or not _numbers(notes) <= _numbers(text):
        work.asked.failed += 1
        return None
    if work.dry_run:
        return Cluster(tuple(originals), text, "model")
    draft = work.core.draft(
        text,
        {
            "kind": originals[0].kind,
            "metadata": _shared(originals),
            "importance": max(memory.importance for memory in originals),
            "confidence": min(memory.confidence for memory in originals),
            "trust": min(memory.trust for memory in originals),
            "source": originals[-1].source,
            "found": work.store.found_in(text),
        },
    )
    done = work.core.merge(_revisions(originals), None, draft)
    return None if done is None else Cluster(tuple(originals), text, "model", done.memory)


def _revisions(memories: list[Memory]) -> list[tuple[int, int]]:
    return [(memory._number, memory.revision) for memory in memories]  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _numbers(text: str) -> set[str]:
    return {word.strip(".,;:!?()") for word in text.split() if any(letter.isdigit() for letter in word)}
