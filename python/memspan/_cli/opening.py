"""The store, the key and the scope that a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import memspan
from memspan.encryption import key_of_environment, read_key_file

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

__all__ = ["check_folder", "key_of", "open_store", "scope_of"]


def open_store(options: argparse.Namespace, *, read_only: bool, embedder: Literal["default"] | None = "default") -> memspan.Engine:
    """The store, which must be there."""
    check_folder(options.store)
    return memspan.open(options.store, read_only=read_only, embedder=embedder, key=key_of(options))


def check_folder(store: Path) -> None:
    """Refuses a folder that no store is in."""
    # `open` makes a store where there is none, which is never what a command means.
    if not store.is_dir() or not any(store.iterdir()):
        raise memspan.NotFound(f"{store}: no such store; a store is a folder that memspan.open() made", path=str(store))


def key_of(options: argparse.Namespace) -> bytes | None:
    """The key that the options or the environment name."""
    return key_of_environment() if options.key_file is None else read_key_file(options.key_file)


def scope_of(engine: memspan.Engine, options: argparse.Namespace) -> memspan.Scope:
    """The scope that was named. A scope that was never written to is taken for a typing mistake."""
    scope = (engine.shared if options.shared else engine.user)(options.user, tenant=options.tenant)
    if scope not in engine.scopes():
        raise memspan.NotFound(
            f"looking for {scope!r}: it must have been written to, and this store has none of that name: `memspan users` lists them, with "
            "their tenants, and --shared names those of type shared"
        )
    return scope
