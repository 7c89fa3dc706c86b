"""Files that are written beside their place, and what a process that died in between left of them."""

from __future__ import annotations

import fcntl
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

# Names drawn at random, whose files are locked while they are written; the engine's exports have such names, too.
_OURS = re.compile(r"\.memspan-[0-9a-f]{16}\.part")


def beside(target: Path) -> Path:
    """The path that is written before it takes the place of `target`; another one at each call."""
    return target.with_name(f".memspan-{os.urandom(8).hex()}.part")


def create_beside(target: Path) -> tuple[Path, int]:
    """Makes a file, its owner's alone, that is written before it takes the place of `target`; its path and an open descriptor.

    The descriptor holds a lock: nobody takes the file for abandoned while it is open, whatever process ids they see.
    """
    while True:
        path = beside(target)
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with suppress(OSError):  # a file system without locks, where nobody removes it either
                fcntl.flock(number, fcntl.LOCK_EX)  # nobody but who removes it has it, for a moment
            if os.fstat(number).st_nlink:
                return path, number
        except BaseException:
            os.close(number)
            raise
        os.close(number)  # somebody took it for abandoned before it was locked


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable."""
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def remove_abandoned(target: Path) -> None:
    """Removes what dead processes left beside `target`: it holds texts that somebody may have asked to forget.

    That is every file of ours which nobody writes any more, whatever it was to become, and what versions before 0.18.0 left of `target`
    itself, named `.NAME.N.PID.part`.
    """
    earlier = re.compile(rf"\.{re.escape(target.name)}\.[0-9]+\.([0-9]+)\.part")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            old = earlier.fullmatch(entry.name)
            if _OURS.fullmatch(entry.name) or (old and _is_gone(int(old[1]))):
                with suppress(OSError):
                    _remove_unlocked(Path(entry.path))


def _remove_unlocked(path: Path) -> None:
    """Removes a regular file that nobody holds a lock on."""
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if stat.S_ISREG(os.fstat(number).st_mode):
            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()
    finally:
        os.close(number)


def _is_gone(pid: int) -> bool:
    """Whether no process writes a file with this id in its name. This one never does: its own id was that of a process before it."""
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (OverflowError, OSError):
        return False  # somebody's, or nobody's that we may ask
    return False
