"""Files that are written beside their place, and what a process that died in between left of them."""

from __future__ import annotations

import os
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_numbers = count()


def beside(target: Path) -> Path:
    """The file that is written before it takes the place of `target`; another one at each call."""
    return target.with_name(f".{target.name}.{next(_numbers)}.{os.getpid()}.part")


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def remove_abandoned(target: Path) -> None:
    """Removes what dead processes left beside `target`, named `.NAME.N.PID.part`: it holds texts that somebody may have asked to forget."""
    with suppress(OSError):
        for path in target.parent.glob(f".{_literal(target.name)}.*.part"):
            pid = path.name.removesuffix(".part").rpartition(".")[2]
            if pid.isdigit() and not _is_alive(int(pid)):
                path.unlink(missing_ok=True)


def _literal(name: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OverflowError, OSError):
        return True  # somebody's, or nobody's that we may ask
    return True
