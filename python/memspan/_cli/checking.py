"""The command that looks for damage, and saves what is intact."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import memspan
from memspan._characters import visible
from memspan._cli import EXIT_DAMAGED, EXIT_ERROR
from memspan._cli.opening import check_folder, key_of, open_store
from memspan._cli.printing import say
from memspan._engine.paths import local_path, outside_of

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

__all__ = ["check"]


def check(options: argparse.Namespace) -> int:
    """Reads everything, and says what is damaged."""
    if options.in_process:
        return _read_everything(options)
    check_folder(options.store)
    if options.repair is not None:
        return _repair(options)
    # A page that the file no longer has ends the process that touches it: so another process does the reading.
    key = [] if options.key_file is None else [f"--key-file={options.key_file}"]
    child = [sys.executable, "-m", "memspan.cli", "check", "--in-process", "--json", *key, "--", str(options.store)]
    done = subprocess.run(child, capture_output=True, text=True, check=False)  # noqa: S603  our own module, no shell
    if done.returncode < 0:
        died = signal.Signals(-done.returncode).name
        damage = [f"reading ended with {died}: pages of the data file are missing or damaged; restore a backup"]
        report: dict[str, Any] = {"scopes": None, "users": None, "memories": None, "values": None, "damage": damage}
    elif done.returncode in (0, EXIT_DAMAGED):
        report = json.loads(done.stdout)
    else:
        sys.stderr.write(visible(done.stderr))
        return EXIT_ERROR
    found = "\n".join(report["damage"]) or (
        f"sound: {report['values']:,} values compared with their checksums; scopes: {report['scopes']:,}, memories: {report['memories']:,}"
    )
    say(options, report, found)
    return EXIT_DAMAGED if report["damage"] else 0


def _repair(options: argparse.Namespace) -> int:
    from memspan import _core  # noqa: PLC0415  what one command needs

    key = key_of(options)
    target = outside_of(options.store, "repairing a store", "new store", local_path("repairing a store", options.repair))
    saved, (rebuilt, lost) = _core.repair(options.store, target, key)
    findings = _findings(target, key)
    report = {"saved": saved, "rebuilt": rebuilt, "lost": lost, "checked": findings is not None, "to_look_at": findings or []}
    lines = [f"saved {saved:,} values in {target}" + ("" if lost or findings else "; nothing was lost")]
    lines += [f"rebuilt from others: {one}" for one in rebuilt]
    lines += [f"lost: {one}" for one in lost]
    lines += [f"to look at: {one}" for one in findings or []]
    if findings is None:
        lines.append(f"not checked: the copy is encrypted, and no key was given: run `memspan check {target} --key-file FILE`")
        if lost:
            lines.append("nor was it mended, which needs the key: repair the store again, into another folder, with --key-file FILE")
    say(options, report, "\n".join(lines))
    return EXIT_DAMAGED if lost or findings else 0


def _findings(store: Path, key: bytes | None) -> list[str] | None:
    """The contradictions in a store; None of one that is encrypted, where no key was given."""
    try:
        with memspan.open(store, embedder=None, key=key) as engine:
            return list(engine.check().findings)
    except memspan.StoreCorrupt as error:  # what was saved is told all the same
        return [str(error)]
    except memspan.WrongKey:
        if key is None:
            return None
        raise


def _read_everything(options: argparse.Namespace) -> int:
    """Every value goes through its checksum, and every scope's index through its records."""
    try:
        with open_store(options, read_only=True, embedder=None) as engine:
            report = engine.check()
            users = sum(1 for _ in engine.users())
            scopes, memories, values, damage = report.scopes, report.memories, report.values, list(report.findings)
    except memspan.StoreCorrupt as error:  # so damaged that it cannot be opened, or its scopes not be listed
        if not any(one.name == "CURRENT" or one.name.startswith("gen-") for one in options.store.iterdir()):
            raise  # a folder of other files, of which no store was damaged
        scopes = users = memories = values = 0
        damage = [str(error)]
    print(json.dumps({"scopes": scopes, "users": users, "memories": memories, "values": values, "damage": damage}))
    return EXIT_DAMAGED if damage else 0
