"""The fuzz targets are a workspace of their own: what they try must be what is shipped."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def packages(path: Path) -> dict[tuple[str, str], list[str]]:
    """The packages of a lock file, and the names that each depends on."""
    found = tomllib.loads(path.read_text(encoding="utf-8"))["package"]
    return {(one["name"], one["version"]): [name.split(" ")[0] for name in one.get("dependencies", [])] for one in found}


def test_the_engine_is_fuzzed_with_the_dependencies_that_it_is_shipped_with(repository: Path) -> None:
    shipped, fuzzed = packages(repository / "Cargo.lock"), packages(repository / "fuzz" / "Cargo.lock")
    names = {name for name, _ in shipped}
    reached, left = set[str](), ["memspan-engine"]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += [other for (own, _), needs in fuzzed.items() if own == name for other in needs]
    others = {name for name, version in fuzzed if name in reached & names and (name, version) not in shipped}
    others.discard("getrandom")  # libfuzzer's build has one of its own, too
    assert not others, "copy Cargo.lock to fuzz/Cargo.lock, and run cargo metadata --manifest-path fuzz/Cargo.toml"
