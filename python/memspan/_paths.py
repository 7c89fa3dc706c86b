"""Files and folders on their way into a collection: which are read, which are left out and why, which vanished."""

from __future__ import annotations

import hashlib
import os
import stat
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from memspan._flags import check_function, check_kinds
from memspan.collection import PathReport, Skipped
from memspan.exceptions import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from memspan.collection import Collection, DocumentInfo, SkipReason

_MAX_FILE_BYTES = 64 << 20
_LEFT_OUT = {"__pycache__", "node_modules"}


def add_path(
    collection: Collection,
    path: str | os.PathLike[str],
    pattern: str | Iterable[str] | None,
    *,
    prefix: str,
    metadata: Mapping[str, Any] | None,
    chunk_tokens: int,
    progress: Callable[[int, int, str], object] | None,
) -> PathReport:
    """See `Collection.add_path`."""
    check_function("adding a path", "progress", progress)
    check_kinds("adding a path", "a str or a path", "pass one", (str, os.PathLike), path=path)
    given = os.fspath(path)
    if given == "":
        raise InvalidInput(f'adding "" to {collection!r}: the path names a file or a folder: give "." for the working directory')
    root = Path(given)
    if not root.exists():
        raise NotFound(f"adding {str(root)!r} to {collection!r}: there is no such file or folder: check the path", path=str(root))
    real = root.resolve()
    known = {one.id: one for one in collection.documents()}
    folder = _added_with(root, real, prefix, known.values()) if real.is_file() else None
    source = str(real if folder is None else folder)
    found = _Found(real, _patterns(pattern))
    found.look(None if folder is None else _place(root).relative_to(folder).as_posix())
    changes: dict[str, list[str]] = {"added": [], "replaced": [], "duplicate": []}
    options = f"{chunk_tokens}\0{sorted((metadata or {}).items(), key=repr)!r}".encode()
    for place, (below, file) in enumerate(found.files, 1):
        document_id = prefix + below
        stored = known.get(document_id)
        if stored is not None and stored.source != source:
            found.skip(file, "other source", f"{document_id!r} is from {stored.source!r}: give prefix=")
        else:
            text, version = found.read(file, options, None if stored is None else stored.version)
            action: Literal["added", "replaced", "duplicate"] | None = "duplicate" if version is not None else None
            if text is not None:
                new = {"text": text, "version": version, "metadata": metadata, "source": source, "chunk_tokens": chunk_tokens}
                action = _add(collection, found, file, document_id, new)
            if action is not None:
                changes[action].append(document_id)
        if progress is not None:
            progress(place, len(found.files), document_id)
    seen = {prefix + below for below, _ in found.files}
    # Files that another pattern left out are still there.
    own = known.values() if folder is None else ()  # of a folder's one file the others are not looked at
    ids = [one.id for one in own if one.source == source and one.id.startswith(prefix)]
    gone = [one for one in ids if one not in seen and not found.hides(one, prefix)]
    removed = [one for one in gone if not (real / one.removeprefix(prefix)).is_file()]
    removed = [one for one in removed if collection.delete(one)]
    return PathReport(tuple(changes["added"]), tuple(changes["replaced"]), tuple(removed), len(changes["duplicate"]), tuple(found.skipped))


def _place(root: Path) -> Path:
    """Where a path lies, though it may be a link."""
    return root.parent.resolve() / root.name


def _added_with(root: Path, real: Path, prefix: str, known: Iterable[DocumentInfo]) -> Path | None:
    """The nearest folder that was added under this prefix and in which a file lies, so that it is one of that folder's documents."""
    ids: dict[str, list[str]] = {}
    for one in known:
        if one.source is not None and one.id.startswith(prefix):
            ids.setdefault(one.source, []).append(one.id.removeprefix(prefix))
    for folder in _place(root).parents:
        is_found = real.is_relative_to(folder) and not any(map(_is_left_out, _place(root).relative_to(folder).parts))
        if is_found and any((folder / one).is_file() for one in ids.get(str(folder), ())):
            return folder
    return None


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name in _LEFT_OUT


def _add(
    collection: Collection, found: _Found, file: Path, document_id: str, new: dict[str, Any]
) -> Literal["added", "replaced", "duplicate"] | None:
    try:
        return collection.add(document_id, **new).action
    except InvalidInput as error:
        found.skip(file, "refused", str(error))
        return None


def _patterns(pattern: str | Iterable[str] | None) -> tuple[str, ...]:
    if pattern is None:
        return ("*",)
    return (pattern,) if isinstance(pattern, str) else tuple(pattern)


class _Found:
    """The files of a folder, and the entries that are not files."""

    def __init__(self, root: Path, patterns: tuple[str, ...]) -> None:
        self.files: list[tuple[str, Path]] = []
        self.skipped: list[Skipped] = []
        self._root = root
        self._patterns = patterns
        self._read: set[tuple[int, int]] = set()
        self._closed: list[str] = []

    def look(self, below: str | None) -> None:
        """Collects what there is; a file's own id is its name, unless it is a folder's document, `below` it."""
        if self._root.is_dir():
            self.walk(self._root, (), frozenset())
        elif self._root.is_file():
            self.files.append((below or self._root.name, self._root))
        else:
            self.skip(self._root, "no file")  # never opened: a pipe would wait for a writer

    def skip(self, path: Path, reason: SkipReason, detail: str = "") -> None:
        """Notes what is not added."""
        shown = os.fsencode(path).decode("utf-8", "replace")
        self.skipped.append(Skipped(shown, reason, detail.encode("utf-8", "replace").decode()))

    def hides(self, document_id: str, prefix: str) -> bool:
        """Whether a document's file may still be there, in a folder that could not be read."""
        return any(document_id.startswith(prefix + closed) for closed in self._closed)

    def walk(self, folder: Path, below: tuple[str, ...], above: frozenset[tuple[int, int]]) -> None:
        """Collects the files of a folder, in the order of their names."""
        try:
            status = folder.stat()
            names = sorted(os.listdir(folder))  # noqa: PTH208  names, without a Path for each
        except OSError as error:
            self._closed.append("".join(f"{name}/" for name in below))
            return self.skip(folder, "unreadable", str(error))
        identity = (status.st_dev, status.st_ino)
        if identity in self._read or identity in above:
            return self.skip(folder, "loop")
        self._read.add(identity)
        for name in names:
            if not _is_left_out(name):
                self._entry(folder / name, (*below, name), above | {identity})
        return None

    def _entry(self, path: Path, below: tuple[str, ...], above: frozenset[tuple[int, int]]) -> None:
        document_id = "/".join(below)
        try:
            document_id.encode()
            if path.is_symlink() and not path.resolve().is_relative_to(self._root):
                return self.skip(path, "outside")
            mode = path.stat().st_mode
        except UnicodeEncodeError:
            return self.skip(path, "name")
        except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError before Python 3.13
            return self.skip(path, "no file", str(error))
        if stat.S_ISDIR(mode):
            self.walk(path, below, above)
        elif any(fnmatchcase(document_id, one) or fnmatchcase(below[-1], one) for one in self._patterns):
            if not stat.S_ISREG(mode):
                return self.skip(path, "no file")  # never opened: a pipe would wait for a writer
            self.files.append((document_id, path))
        return None

    def read(self, file: Path, options: bytes, known: str | None) -> tuple[str | None, str | None]:
        """The text of a file and its version. No text where the version is the known one; neither, and a note, where it is not text."""
        data = self._bytes(file)
        if data is None:
            return None, None
        content = hashlib.blake2b(options, digest_size=16)
        content.update(data)
        version = content.hexdigest()
        if version == known:
            return None, version
        if b"\0" in data:
            self.skip(file, "binary")
            return None, None
        try:
            return data.decode("utf-8-sig"), version
        except UnicodeDecodeError as error:
            self.skip(file, "not UTF-8", str(error))
            return None, None

    def _bytes(self, file: Path) -> bytes | None:
        try:
            size = file.stat().st_size
            if size <= _MAX_FILE_BYTES:
                with file.open("rb") as opened:
                    data = opened.read(_MAX_FILE_BYTES + 1)
                if len(data) <= _MAX_FILE_BYTES:
                    return data
            self.skip(file, "too large", f"{size:,} bytes")
        except OSError as error:
            self.skip(file, "unreadable", str(error))
        return None
