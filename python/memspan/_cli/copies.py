"""Commands that copy a store, or write it anew: backup, export, load, another key."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import memspan
from memspan._cli.opening import key_of, open_store, scope_of
from memspan._cli.printing import say
from memspan._parts import beside, sync_folder
from memspan.encryption import read_key_file

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

__all__ = ["backup", "export", "load", "rekey"]


def backup(options: argparse.Namespace) -> int:
    """Writes a verified copy."""
    with open_store(options, read_only=True, embedder=None) as engine:
        engine.backup(options.target)
    size = sum(file.stat().st_size for file in options.target.rglob("*") if file.is_file())
    say(options, {"target": str(options.target), "size_bytes": size}, f"{options.target}: {size:,} bytes")
    return 0


def export(options: argparse.Namespace) -> int:
    """Writes everything that a store holds, or what it holds of one user, to a file."""
    if str(options.file) == "-":
        raise memspan.InvalidInput(
            "exporting the store: it is a file that appears whole or not at all, and '-' names standard output: give the name of a "
            "file, and read that"
        )
    if options.user is None and (options.shared or options.tenant is not None):
        raise memspan.InvalidInput(
            "exporting the store: --tenant and --shared say whose scope is meant, and none is named: add --user USER"
        )
    with open_store(options, read_only=options.user is not None, embedder=None) as engine:
        one = None if options.user is None else scope_of(engine, options)
        values = engine.export(options.file) if one is None else one.export(options.file, everything=True)
    if one is not None:
        say(options, {"file": str(options.file), "rows": values}, f"{options.file}: {values:,} rows")
        return 0
    size = options.file.stat().st_size
    say(options, {"file": str(options.file), "values": values, "size_bytes": size}, f"{options.file}: {values:,} values, {size:,} bytes")
    return 0


def load(options: argparse.Namespace) -> int:
    """Reads a file that `export` wrote."""
    options.file.open("rb").close()  # a file that is not there makes no store
    store: Path = options.store.resolve()
    values = _fill(options, store) if store.exists() else _fill_new(options, store)
    say(options, {"store": str(options.store), "values": values}, f"{options.store}: {values:,} values")
    return 0


def _fill(options: argparse.Namespace, store: Path) -> int:
    with memspan.open(store, embedder=None, key=key_of(options)) as engine:
        return engine.load(options.file)


def _fill_new(options: argparse.Namespace, store: Path) -> int:
    """Fills a store beside its place, so that a file that cannot be read leaves no empty store behind."""
    store.parent.mkdir(parents=True, exist_ok=True)
    part = beside(store)
    try:
        values = _fill(options, part)
        part.replace(store)
        sync_folder(store.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return values


def rekey(options: argparse.Namespace) -> int:
    """Gives a store another key."""
    new = None if options.plain else read_key_file(options.new_key_file)
    with open_store(options, read_only=False, embedder=None) as engine:
        try:
            engine.rekey(new)
        except KeyboardInterrupt as ended:
            done = getattr(ended, "outcome", None) == "done"
            force = "the new key is in force" if done else "one of the two keys is in force: try the new one first"
            print(f"memspan: changing the key of {options.store} was interrupted, and {force}", file=sys.stderr)
            raise
        encrypted = engine.encrypted
    say(options, {"encrypted": encrypted}, f"{options.store}: {'encrypted with the new key' if encrypted else 'not encrypted any more'}")
    return 0
