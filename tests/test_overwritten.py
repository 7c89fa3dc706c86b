"""How often tales, idioms and states leave what is known, and orders replace orders: counts over `data/overwritten.tsv`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import memspan

TABLE = Path(__file__).parent / "data" / "overwritten.tsv"


def is_as_labelled(user: memspan.Scope, first: str, second: str, expected: str) -> bool:
    if first:
        user.learn([{"role": "user", "content": first}])
    before = {memory.text: memory.slot for memory in user.memories()}
    user.learn([{"role": "user", "content": second}])
    after = list(user.memories())
    kept = all(any((one.text, one.slot) == known for one in after) for known in before.items())
    new = [one for one in after if one.text not in before]
    plain = not any(one.slot or one.kind in {"profile", "constraint"} for one in new)
    return {
        "keep": kept and plain,
        "replace": bool(new) and not any(one.text in before for one in after),
        "end": not any(one.text in before for one in after),
        "store": bool(new),
        "both": kept and bool(new),
        "quarantine": not new and bool(list(user.quarantined())),
    }[expected]


@pytest.mark.parametrize(
    ("half", "floors"),
    [
        ("mended", {"frame": 20, "state": 20, "idiom": 19, "order": 20, "end": 20, "denial": 7, "control": 25}),
        ("kept", {"frame": 8, "state": 6, "idiom": 8, "order": 9, "end": 10, "control": 20}),
    ],
)
def test_pairs_of_sentences_come_out_as_labelled(memspan_engine: memspan.Engine, half: str, floors: dict[str, int]) -> None:
    right: Counter[str] = Counter()
    for number, line in enumerate(TABLE.read_text().splitlines()):
        if line.startswith(half + "\t"):
            _, kind, *pair = line.split("\t")
            right[kind] += is_as_labelled(memspan_engine.user(f"user-{number}"), *pair)
    assert {kind: (right[kind], least) for kind, least in floors.items() if right[kind] < least} == {}
