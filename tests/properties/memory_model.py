"""What a scope should hold, in dicts: the oracle of the state machine. Nothing here knows of the store.

The rules are those of the docstrings of `Scope`: a slot has one current value unless it is `multi`; lower trust and older events do not
take a slot; an id is given once; the same text again is a duplicate, unless it is to be kept longer, is trusted more, or has an id of its
own; what is forgotten or expired has no words any more, and neither have those that it superseded because it said the same; one that
stands for several lasts as the longest of them, and one that is made of them ends with the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import memspan

OVER = "superseded and over"  # its words are hidden, and removed by the next maintenance
LEFT = "superseded and left"  # by one of the same words, whose time is over: its own words go when the store notices that
TRUST = {"user": 3, "assistant": 1}
NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass
class Entry:
    """One memory."""

    id: str
    text: str
    kind: str
    slot: str | None
    importance: float
    metadata: dict[str, Any]
    trust: int
    occurred_at: datetime
    expires_at: datetime | None
    used_at: datetime
    request: tuple[Any, ...]
    state: str = "current"
    revisions: list[str] = field(default_factory=list)
    supersedes: str | None = None
    superseded_by: str | None = None


@dataclass
class Slot:
    multi: bool = False
    holders: list[str] = field(default_factory=list)


class Model:
    """One scope."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.slots: dict[str, Slot] = {}
        self.numbers = 0

    def copy(self) -> Model:
        other = Model()
        other.entries = {key: replace(entry, revisions=list(entry.revisions)) for key, entry in self.entries.items()}
        other.slots = {name: Slot(slot.multi, list(slot.holders)) for name, slot in self.slots.items()}
        other.numbers = self.numbers
        return other

    def expire(self, now: datetime) -> None:
        """What is over is forgotten, whether or not the store has noticed."""
        for entry in self.entries.values():
            if entry.state in {"current", "superseded"} and entry.expires_at is not None and entry.expires_at <= now:
                before = self._same_before(entry)
                self._drop(entry, "expired" if entry.state == "current" else OVER)
                for older in before:
                    older.state = LEFT

    def swept(self, now: datetime) -> None:
        """Maintenance forgets superseded values whose own time is over, too."""
        self.expire(now)
        for entry in self.entries.values():
            if entry.state in {OVER, LEFT}:
                self._drop(entry, "expired")

    def current(self, kinds: set[str] | None = None) -> dict[str, Entry]:
        return {key: entry for key, entry in self.entries.items() if entry.state == "current" and (kinds is None or entry.kind in kinds)}

    def readable(self, memory_id: str) -> Entry | None:
        entry = self.entries.get(memory_id)
        return entry if entry is not None and entry.state in {"current", "superseded"} else None

    def remember(self, row: dict[str, Any], now: datetime) -> tuple[str, str]:
        """The action and the id; raises `IdConflict` as the store should."""
        request = tuple(sorted((key, repr(value)) for key, value in row.items()))
        given = row.get("id")
        if given in self.entries:
            known = self.entries[given]
            if known.state in {"forgotten", "expired"}:
                return "rejected", given
            if known.request != request:
                raise memspan.IdConflict("the model's")
            return "duplicate", given
        kind, name = row.get("kind", "semantic"), row.get("slot")
        trust = TRUST[row.get("source", "user")]
        expires_at = now + timedelta(seconds=row["ttl_seconds"]) if "ttl_seconds" in row else None
        weaker, day = None, (row.get("occurred_at") or now).date()
        for known in self.current().values():
            same_day = kind != "episodic" or known.occurred_at.date() == day  # an event of another day is another event
            if same_day and (known.kind, known.slot, known.text) == (kind, name, row["text"]) and given in {None, known.id}:
                if (known.expires_at or NEVER) >= (expires_at or NEVER) and known.trust >= trust:
                    return "duplicate", known.id
                weaker = known
                break
        self.numbers += 1
        entry = Entry(
            id=given or f"mem-{self.numbers}",
            text=row["text"],
            kind=kind,
            slot=name,
            importance=row.get("importance", 0.5),
            metadata=row.get("metadata") or {},
            trust=trust,
            occurred_at=row.get("occurred_at") or now,
            expires_at=expires_at,
            used_at=now,
            request=request,
            revisions=[row["text"]],
        )
        self.entries[entry.id] = entry
        if name is not None:
            return self._take_slot(entry, name), entry.id
        if weaker is not None:
            self._supersede(weaker, entry)
        return ("added" if weaker is None else "superseded"), entry.id

    def _take_slot(self, entry: Entry, name: str) -> str:
        slot = self.slots.setdefault(name, Slot())
        action = "added"
        if not slot.multi and slot.holders:
            holder = self.entries[slot.holders[-1]]
            if holder.trust > entry.trust or holder.occurred_at > entry.occurred_at:
                entry.state = "superseded"
                return action
            self._supersede(holder, entry)
            action = "superseded"
            slot.holders.clear()
        slot.holders.append(entry.id)
        return action

    def revise(self, memory_id: str, now: datetime, text: str | None, slot: str | None, importance: float | None) -> None:
        entry = self.entries[memory_id]
        if not self.may_take(entry, slot):
            raise memspan.InvalidInput("the model's")
        entry.text, entry.used_at = text or entry.text, now
        entry.revisions.append(entry.text)
        entry.importance = entry.importance if importance is None else importance
        if slot is not None and slot != entry.slot:
            self._leave_slot(entry)
            taken = self.slots.setdefault(slot, Slot())
            if not taken.multi:
                for holder in taken.holders:
                    self.entries[holder].state = "superseded"
                taken.holders.clear()
            taken.holders.append(memory_id)
            entry.slot = slot

    def may_take(self, entry: Entry, slot: str | None) -> bool:
        """Whether a memory is trusted enough, and its event new enough, for a slot that another one holds."""
        taken = self.slots.get(slot or "", Slot())
        if slot == entry.slot or taken.multi:
            return True
        holders = [self.entries[holder] for holder in taken.holders]
        return all(holder.trust <= entry.trust and holder.occurred_at <= entry.occurred_at for holder in holders)

    def forget(self, memory_id: str) -> bool:
        entry = self.readable(memory_id)
        if entry is None:
            return False
        before = self._same_before(entry)
        self._drop(entry, "forgotten")
        for older in before:
            self._drop(older, "forgotten")
        return True

    def forget_stale(self, before: datetime, max_importance: float) -> set[str]:
        stale = {
            entry.id
            for entry in self.current().values()
            if entry.kind not in {"constraint", "profile"} and entry.importance <= max_importance and entry.used_at < before
        }
        for memory_id in stale:
            self.forget(memory_id)
        return stale

    def merge(self, originals: list[str], merged: memspan.Memory, now: datetime) -> None:
        """One memory stands for several: one of them, or a new one that is kept no longer and trusted no more than any."""
        found = [self.entries[key] for key in originals]
        assert {(entry.state, entry.slot) for entry in found} == {("current", None)}
        ends = [entry.expires_at for entry in found]
        assert (merged.kind, merged.trust) == (found[0].kind, min(entry.trust for entry in found))
        if merged.id in self.entries:
            assert merged.expires_at == (None if None in ends else max(end for end in ends if end is not None))
            self.entries[merged.id].trust = merged.trust
        else:
            assert merged.expires_at == min((end for end in ends if end is not None), default=None)
            assert merged.occurred_at == max(entry.occurred_at for entry in found)
            self.numbers += 1
            self.entries[merged.id] = Entry(
                id=f"mem-{self.numbers}",
                text=merged.text,
                kind=merged.kind,
                slot=None,
                importance=max(entry.importance for entry in found),
                metadata=merged.metadata,
                trust=merged.trust,
                occurred_at=merged.occurred_at,
                expires_at=merged.expires_at,
                used_at=now,
                request=(),
                revisions=[merged.text],
            )
        for entry in found:
            if entry.id != merged.id:
                entry.state, entry.superseded_by = "superseded", merged.id

    def _supersede(self, older: Entry, newer: Entry) -> None:
        older.state, older.superseded_by, newer.supersedes = "superseded", newer.id, older.id

    def _same_before(self, entry: Entry) -> list[Entry]:
        """Those that it superseded, and they in turn, as far as they say what it says or said."""
        found, newer, said = [], entry, {*entry.revisions, entry.text}
        while newer.supersedes is not None:
            older = self.entries[newer.supersedes]
            same = older.superseded_by == newer.id and older.kind == entry.kind and older.text in said
            if not same or older.state not in {"superseded", LEFT}:
                break
            found.append(older)
            newer = older
        return found

    def _drop(self, entry: Entry, state: str) -> None:
        self._leave_slot(entry)
        entry.state, entry.text, entry.slot = state, "", None

    def _leave_slot(self, entry: Entry) -> None:
        if entry.slot is not None and entry.state == "current":
            self.slots[entry.slot].holders.remove(entry.id)
