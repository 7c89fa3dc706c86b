"""A whole store as a backup or as JSON lines, and under another key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memspan._engine.part import EnginePart
from memspan._engine.paths import file_to_write, local_path, outside_of
from memspan._twins import awaitable
from memspan.encryption import key_bytes

if TYPE_CHECKING:
    import os

    from memspan.encryption import Key


class Copies(EnginePart):
    """The store is copied, written out, read back, and encrypted."""

    __slots__ = ()

    def backup(self, path: str | os.PathLike[str]) -> int:
        """Writes a whole, compacted copy while the store is in use; every value's checksum is verified on the way.

        To put it in the place of the store, close every engine of the store in all processes first. An engine that is open goes on reading
        the files that were replaced. Its writes, `check()` and another `memspan.open` of the path end with `StoreCorrupt`.

        Args:
            path: A folder that does not exist yet or is empty; the folders above it are made. `memspan.open` opens it.

        Returns:
            How many values the copy has.

        Raises:
            InvalidInput: The folder holds something or lies inside of the store, or the path is that of a file.
            ReadOnly: This process may not write there.
            StoreCorrupt: A value is damaged.
        """
        return self._core.backup(outside_of(self.path, "backing up", "folder", local_path("backing up", path)))

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes everything that the store holds to a file of JSON lines, which `load` reads back.

        One value a line, in the order of the store's keys: scopes, memories with every revision, slots, relations, quarantine, sessions
        with messages, turns, ledgers, summaries and notes, documents with their texts, vectors, indexes. docs/format.md says what each line
        has. Nothing forgotten, redacted or erased is in it. An engine that was opened read-only cannot take out first what a compaction
        would: passages of deleted documents in ledgers, names of emptied slots. Keep the file as safe as the store: it has everything that
        anybody said, and the secret that the store's hashes are keyed with. The export of an encrypted store is not encrypted; loading it
        into a store with a key is.

        The file appears whole or not at all, readable by its owner alone. Cost: one read transaction, and one line in memory at a time.

        Args:
            path: The file. One that is there is replaced; a symbolic link, a pipe, a socket and a device are refused.

        Returns:
            How many values it has.

        Raises:
            InvalidInput: The path names no file, or one inside of the store, or what is there is not a regular file.
            StoreCorrupt: A value is damaged.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> lines = engine.export("all.jsonl")
            >>> with memspan.open("copy.memspan") as copy:
            ...     copy.load("all.jsonl") == lines, copy.user("u-42").recall("tea")[0].text
            (True, 'Prefers tea')
        """
        from memspan._parts import remove_abandoned  # noqa: PLC0415  what few calls need is not paid for at import

        target = file_to_write(self.path, "exporting the store", path)
        remove_abandoned(target)
        return self._core.export(target)

    def load(self, path: str | os.PathLike[str]) -> int:
        """Reads what `export` wrote into this store, which must be empty. Exporting it again gives the same bytes, with one exception.

        Where the file was exported from a plain store and this one has a key, the indexes are written anew under hashes that tell no word,
        and so another export has other bytes.

        All of it is there when this returns, or nothing: the lines become a new generation, which is read by `check` and then takes the
        place of the empty one. An error says that nothing was loaded, but for `OutcomeUnknown`. Cost: the size of the store once more on
        disk, and one line in memory at a time.

        Args:
            path: The file.

        Returns:
            How many values the store has.

        Raises:
            InvalidInput: A line is missing or malformed (`error.line` says which) or was changed (then it is the last line, which has the
                checksum of all), the store is not empty, or another embedder than this engine's made the file's vectors. Nothing was
                loaded.
            StoreVersion: The file was exported by a memspan whose stores have another format.
            OutcomeUnknown: The disk failed while the generation took its place. The store is empty, or has all of it: look, and load
                again if it is empty.
        """
        return self._core.load(local_path("loading an export", path, what="file"))

    @property
    def encrypted(self) -> bool:
        """Whether the values of the store are encrypted."""
        return self._core.is_encrypted()

    def rekey(self, key: Key | None) -> None:
        """Gives the store another key, encrypts one that is plain, or makes it plain with `None`; the store is rewritten on the way.

        Writers wait while it runs. Nothing of the old key, or of what was plain, stays in the store's files; backups keep theirs. Other
        processes that have the store open get `WrongKey` at their next call, and open it again with the new key.

        The new key is in force from one moment on, when all else is done. Keep both keys until this returns. An error means that the old
        key is in force, but for two: `OutcomeUnknown`, and an error whose `outcome` is `"done"`. After a Ctrl-C the store is whole. With
        `getattr(error, "outcome", None) == "done"` of the `KeyboardInterrupt` the new key is in force. Without it one of the two is, and
        nobody can say which: open the store with the new key first. Where an error came with the Ctrl-C, it is the `__cause__`. Cost: the
        store once more on disk, twice more where a plain one gets a key.

        Args:
            key: 32 bytes, or a function that returns them.

        Raises:
            InvalidInput: The key is not 32 bytes.
            ReadOnly: The engine was opened with `read_only=True`.
            StoreBusy: Another writer held the store. The old key is in force.
            StoreFull: There is no room for the copy. The old key is in force.
            StoreIo: With `error.outcome == "done"` the new key is in force, and what cannot be removed are files of before, which the
                old key opens, or which are plain: `maintain(compact=True)` removes them. Without it the old key is in force.
            OutcomeUnknown: The disk failed while the new key came into force: the store opens with one of the two. Keep both, close it
                in every process, and open it again.

        Examples:
            >>> import secrets
            >>> engine.rekey(secrets.token_bytes(32))
            >>> engine.encrypted
            True
        """
        self._core.rekey(key_bytes("changing the key of a store", key))

    abackup = awaitable(backup, waits=True)
    aexport = awaitable(export, waits=True)
    aload = awaitable(load, waits=True)
    arekey = awaitable(rekey, waits=True)
