"""The `memspan` command: looks into a store, backs it up, maintains it.

What only reads opens the store read-only. Errors are one line on standard error and exit code 2; damage found by `doctor` is exit code 1.
Tables need the extra: `pip install 'memspan[cli]'`; with `--json`, which prints one JSON value, nothing but the package is needed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import memspan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Command = Callable[[argparse.Namespace], int]

__all__ = ["main"]

EXIT_DAMAGED = 1
EXIT_ERROR = 2
_INSTALL = "pip install 'memspan[cli]'"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: Without the program's name; the process's own by default.

    Returns:
        The exit code: 0, 1 when `doctor` found damage, 2 for an error that was printed.
    """
    options = _parser().parse_args(arguments)
    command: Command = options.command
    try:
        return command(options)
    except BrokenPipeError:  # `memspan stats STORE | head`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (memspan.Error, OSError) as error:
        print("memspan:", " ".join(str(error).split()), file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memspan", description="Look into a memspan store, back it up, maintain it.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"memspan {memspan.__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def add(command: Command, name: str, help_text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help_text, description=help_text, allow_abbrev=False)
        sub.set_defaults(command=command)
        sub.add_argument("store", metavar="STORE", type=Path, help="the store's folder")
        sub.add_argument("--json", action="store_true", help="print one JSON value instead of a table")
        return sub

    add(_stats, "stats", "Print what a store holds.")
    recall = add(_recall, "recall", "Print what a user's memory answers to a query, and why.")
    recall.add_argument("user", metavar="USER")
    recall.add_argument("query", metavar="QUERY")
    recall.add_argument("--tenant", help="the tenant that the user belongs to")
    recall.add_argument("--limit", type=int, default=5, metavar="N", help="at most so many memories (default 5)")
    backup = add(_backup, "backup", "Write a compacted, verified copy while the store is in use.")
    backup.add_argument("target", metavar="TARGET", type=Path, help="a folder that does not exist yet")
    maintain = add(_maintain, "maintain", "Fill in pending vectors, merge, remove what expired.")
    maintain.add_argument("--compact", action="store_true", help="also rewrite the store into a new, smaller generation")
    doctor = add(_doctor, "doctor", "Read everything, compare it with its checksums and with itself, and report what is damaged.")
    doctor.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    return parser


def _stats(options: argparse.Namespace) -> int:
    table = _table_printer(options)
    with _open(options, read_only=True, embedder=None) as engine:
        metrics = dict(engine.metrics())
        users = sum(1 for _ in engine.users())
    facts = {"store": str(options.store), "users": users, **metrics, **{f"build.{k}": v for k, v in memspan.build_info().items()}}
    table(facts, ("name", "value"), facts.items())
    return 0


def _recall(options: argparse.Namespace) -> int:
    table = _table_printer(options)
    with _open(options, read_only=True) as engine:
        recall = engine.user(options.user, tenant=options.tenant).recall(options.query, limit=options.limit)
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
        print(f"degraded: {degraded}", file=sys.stderr)
    return 0


def _backup(options: argparse.Namespace) -> int:
    with _open(options, read_only=True, embedder=None) as engine:
        engine.backup(options.target)
    size = sum(file.stat().st_size for file in options.target.rglob("*") if file.is_file())
    _say(options, {"target": str(options.target), "size_bytes": size}, f"{options.target}: {size:,} bytes")
    return 0


def _maintain(options: argparse.Namespace) -> int:
    with _open(options, read_only=False) as engine:
        report = engine.maintain(compact=options.compact)
    _say(options, vars(report), "\n".join(f"{name}: {value:,}" for name, value in vars(report).items()))
    return 0


def _doctor(options: argparse.Namespace) -> int:
    if options.in_process:
        return _read_everything(options)
    _check_folder(options.store)
    # A page that the file no longer has ends the process that touches it: so another process does the reading.
    child = [sys.executable, "-m", "memspan.cli", "doctor", "--in-process", "--json", str(options.store)]
    done = subprocess.run(child, capture_output=True, text=True, check=False)  # noqa: S603  our own module, no shell
    if done.returncode < 0:
        died = signal.Signals(-done.returncode).name
        damage = [f"reading ended with {died}: pages of the data file are missing or damaged; restore a backup"]
        report: dict[str, Any] = {"users": None, "memories": None, "values": None, "damage": damage}
    elif done.returncode in (0, EXIT_DAMAGED):
        report = json.loads(done.stdout)
    else:
        sys.stderr.write(done.stderr)
        return EXIT_ERROR
    found = "\n".join(report["damage"]) or (
        f"sound: {report['users']:,} users, {report['memories']:,} memories, {report['values']:,} values compared with their checksums"
    )
    _say(options, report, found)
    return EXIT_DAMAGED if report["damage"] else 0


def _read_everything(options: argparse.Namespace) -> int:
    """Every value goes through its checksum, and every scope's index through its records."""
    try:
        with _open(options, read_only=True, embedder=None) as engine:
            report = engine.check()
            users = sum(1 for _ in engine.users())
            memories, values, damage = report.memories, report.values, list(report.findings)
    except memspan.StoreCorrupt as error:  # so damaged that it cannot be opened, or its scopes not be listed
        users = memories = values = 0
        damage = [str(error)]
    print(json.dumps({"users": users, "memories": memories, "values": values, "damage": damage}))
    return EXIT_DAMAGED if damage else 0


def _open(options: argparse.Namespace, *, read_only: bool, embedder: Literal["default"] | None = "default") -> memspan.Engine:
    _check_folder(options.store)
    return memspan.open(options.store, read_only=read_only, embedder=embedder)


def _check_folder(store: Path) -> None:
    # `open` makes a store where there is none, which is never what a command means.
    if not store.is_dir():
        raise memspan.NotFound(f"{store}: no such store; a store is a folder that memspan.open() made", path=str(store))


def _table_printer(options: argparse.Namespace) -> Callable[[object, Sequence[str], Iterable[Sequence[object]]], None]:
    """What prints a result; made before the store is read, so that a missing extra is said at once."""
    if options.json:
        return lambda value, _columns, _rows: _print_json(value)
    try:
        from rich.console import Console  # noqa: PLC0415  an optional extra
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ImportError as error:
        raise memspan.MissingExtra(
            f"printing a table needs the package rich, which is not installed: {_INSTALL}, or add --json", extra="cli"
        ) from error

    def show(_value: object, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(str(cell)) for cell in row))  # Text: what a user wrote is no markup
        Console().print(table)

    return show


def _say(options: argparse.Namespace, value: object, text: str) -> None:
    if options.json:
        _print_json(value)
    else:
        print(text)


def _print_json(value: object) -> None:
    print(json.dumps(value, default=_plain, ensure_ascii=False))


def _plain(value: object) -> object:
    return dict(cast("Mapping[object, object]", value)) if isinstance(value, Mapping) else str(value)


if __name__ == "__main__":
    sys.exit(main())
