"""Collections: documents, notes and code of a scope, cut into chunks that a question finds, each with its place in its document.

`Scope.collection` gives a `Collection`. Files are read by `memspan._paths`; cutting, storing and searching are the engine's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from memspan import _core
from memspan._copies import of_engine
from memspan._core import Limits
from memspan._fence import fenced
from memspan._flags import check_flags, check_several, shown
from memspan._kept import Passage, seconds_left
from memspan._results import AddedDocument, Document, DocumentInfo
from memspan._twins import async_iterable, awaitable
from memspan._values import dataclass, fields
from memspan.answer import Answer
from memspan.exceptions import Error, IdConflict, InvalidInput, NotFound

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from memspan._store import OpenStore
    from memspan.long_term import Scope

__all__ = [
    "AddedDocument",
    "Collection",
    "Document",
    "DocumentInfo",
    "Format",
    "NewDocument",
    "Passage",
    "PathReport",
    "SkipReason",
    "Skipped",
    "cores",
]

Format: TypeAlias = Literal["markdown", "text", "code"]
"""How a document is cut: Markdown by headings, fences, tables and lists, text by paragraphs and sentences, code by functions."""

_PAGE = 256
_NOTE_TRIES = 100


@dataclass(frozen=True)
class NewDocument:
    """A row of `Collection.add_many`: the arguments of `Collection.add`."""

    id: str
    text: str
    version: str | None = None
    metadata: Mapping[str, Any] | None = None
    format: Format | None = None
    source: str | None = None
    ttl_seconds: float | None = None
    chunk_tokens: int = Limits.DEFAULT_CHUNK_TOKENS


SkipReason: TypeAlias = Literal[
    "binary",
    "not UTF-8",
    "too large",
    "unreadable",
    "no file",
    "outside",
    "loop",
    "name",
    "other source",
    "refused",
]
"""Why a file was not added: see `Skipped`."""


@dataclass(frozen=True)
class Skipped:
    """A file or folder that was not added.

    Attributes:
        path: As it was found.
        reason: "binary" (it has a NUL byte), "not UTF-8", "too large" (above 64 MiB), "unreadable", "no file" (a socket, a pipe, a device,
            a broken link), "outside" (a link that leads out of the folder), "loop" (a link to a folder that it lies in, or that was read
            before), "name" (it is not UTF-8), "other source" (a document of that id was added by something else), "refused" (the store's
            error).
        detail: The message of the system or the store; "" where there is nothing to say.
    """

    path: str
    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True)
class PathReport:
    """The result of `Collection.add_path`. Documents by id, in the order of their paths.

    Attributes:
        added: New documents.
        replaced: Documents whose file had changed.
        removed: Documents whose file is gone.
        unchanged: How many documents were as they are.
        skipped: The files that were not added, and why.
    """

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]


@of_engine("take it by its name from the engine there")
@fenced
class Collection:
    """Documents of a scope. Made by `Scope.collection`; costs nothing to make, and is stored with its first document.

    Nothing of it is ever found from another collection or scope. All methods may be called from any thread. Methods that begin with an `a`
    are awaitable twins of those without it. `len()` counts documents; those that have expired count until `Engine.maintain`.
    """

    __slots__ = ("_core", "_scope", "_store")

    def __init__(self, store: OpenStore, scope: Scope, core: _core.CollectionCore) -> None:
        self._store = store
        self._scope = scope
        self._core = core

    @property
    def name(self) -> str:
        """Its name in its scope."""
        return self._core.name

    @property
    def scope(self) -> Scope:
        """Whose it is."""
        return self._scope

    def add(
        self,
        id: str,  # noqa: A002  the field's own word
        text: str,
        *,
        version: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        format: Format | None = None,  # noqa: A002
        source: str | None = None,
        ttl_seconds: float | None = None,
        chunk_tokens: int = Limits.DEFAULT_CHUNK_TOKENS,
    ) -> AddedDocument:
        r"""Adds a document, or another version of one. Durable when it returns, and found at once by every process.

        A retry is harmless: the same id and version with the same content is a "duplicate", which is kept until the later of its end and
        the new one. Another version replaces: in one commit the chunks of the old one are not found any more, and those of the new one
        are. A process that is killed on the way leaves the old version.

        Cost: a write transaction for each 32 chunks or MiB, none longer than some 20 ms; the embedder is called before them. A duplicate
        costs one where it is kept longer, and else none.

        Args:
            id: 1 to 1,024 bytes of UTF-8, unique in the collection; for instance a path.
            text: At most 64 MiB of UTF-8; may be empty.
            version: The same; `None` makes it of the content, so that other content is another version.
            metadata: At most 64 KiB as MessagePack; `search` can filter by it.
            format: How it is cut. By default what the id's ending says (`.md`, `.py`, ...), else what the text looks like.
            source: Where it comes from, for citations: 1 to 1,024 bytes.
            ttl_seconds: Seconds until it is removed, above 0 and at most 100 years; `None` keeps it, also where it was to be removed.
            chunk_tokens: Tokens that a chunk aims at (`o200k_base`), 16 to 8,192. A section, fence, table, list or function that fits is
                not cut.

        Raises:
            IdConflict: The version is stored with another text, format, source or metadata. Nothing was written.
            InvalidInput: An argument breaks one of these rules. Nothing was written.
            StoreBusy: Another writer held the store for `busy_timeout_seconds`. The document is as it was before.

        Examples:
            >>> docs = user.collection("handbook")
            >>> docs.add("deploys.md", "# Deploys\n\nNever on a Friday.", version="1").action
            'added'
            >>> docs.add("deploys.md", "# Deploys\n\nNever on a Friday.", version="1").action
            'duplicate'
            >>> docs.add("deploys.md", "# Deploys\n\nAny day.", version="2").action
            'replaced'
        """
        draft = _core.DocumentDraft(
            id,
            text,
            {
                "version": version,
                "metadata": metadata,
                "format": format,
                "source": source,
                "ttl_seconds": ttl_seconds,
                "chunk_tokens": chunk_tokens,
            },
        )
        return self._add(draft)

    def _begun(self) -> Collection:
        """The same for a call of many writes: it raises `NotFound` where the scope is erased between two of them."""
        core = self._scope._core.begun()  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  a part of it
        return Collection(self._store, self._scope, core.collection(self.name))

    def _add(self, draft: _core.DocumentDraft) -> AddedDocument:
        vectors = None
        if self._store.embedding is not None:
            vectors = self._store.stored_vectors(self._core.to_embed(draft), self._scope)
        return self._core.add(draft, vectors)

    def add_many(self, rows: Iterable[NewDocument | Mapping[str, Any] | tuple[str, str]]) -> tuple[AddedDocument, ...]:
        """Adds documents one after the other, read as they are written. Running it again is harmless.

        Args:
            rows: `NewDocument` objects, mappings with the arguments of `add`, or pairs of id and text.

        Raises:
            Error: Of the first row that cannot be added; its attribute `row` says which. Rows before it are stored.

        Examples:
            >>> added = user.collection("notes").add_many([("a", "Tea at four"), {"id": "b", "text": "Scones", "version": "1"}])
            >>> [one.action for one in added]
            ['added', 'added']
        """
        if isinstance(rows, str | bytes | Mapping):
            kind = _kind(rows)  # pyright: ignore[reportUnknownArgumentType]
            raise InvalidInput(f"adding documents: rows must be several, and this is one {kind}: put it into a list")
        check_several("adding documents", "several", rows=rows)
        added: list[AddedDocument] = []
        begun = self._begun()
        for place, row in enumerate(rows):
            try:
                added.append(begun.add(**_arguments(row)))
            except Error as error:
                error.fields["row"] = place
                setattr(error, "row", place)  # noqa: B010  fields are attributes too, and no class declares them
                error.add_note(f"in row {place:,}")
                raise
        return tuple(added)

    def add_path(
        self,
        path: str | os.PathLike[str],
        pattern: str | Iterable[str] | None = None,
        *,
        prefix: str = "",
        metadata: Mapping[str, Any] | None = None,
        chunk_tokens: int = Limits.DEFAULT_CHUNK_TOKENS,
        progress: Callable[[int, int, str], object] | None = None,
    ) -> PathReport:
        r"""Brings the collection up to date with a file, or a folder of notes or code. New and changed files are added, vanished ones go.

        A document's id is its path below the folder with `/`, its version a hash of its bytes, its `source` the folder. Only documents of
        that source, and under that prefix, are ever replaced or removed. A file of a folder that was added with the same prefix is that
        folder's document, so that one that changed can be added alone. Names that begin with a dot, `__pycache__` and `node_modules` are
        left out. Symbolic links are followed within the folder. No file makes the call fail: a file that cannot be added is in the report,
        and keeps the version that is stored.

        Args:
            path: A file or a folder.
            pattern: Only files whose path below the folder, or whose name, matches: "*.md", or several. All by default.
            prefix: Stands before each id, for several folders in one collection.
            metadata: Of every document.
            chunk_tokens: See `add`.
            progress: Called after each file with how many are done, how many there are, and the id, on the thread of the call; an
                `async def` function is refused.

        Raises:
            NotFound: There is no such file or folder.
            InvalidInput: The path is empty, or another argument breaks its rule.

        Examples:
            >>> from pathlib import Path
            >>> Path("notes").mkdir()
            >>> _ = Path("notes/tea.md").write_text("# Tea\n\nAt four.")
            >>> docs = user.collection("notes")
            >>> docs.add_path("notes").added, docs.add_path("notes").unchanged
            (('tea.md',), 1)
        """
        from memspan._paths import add_path  # noqa: PLC0415  what few programs need is not paid for at import

        return add_path(self._begun(), path, pattern, prefix=prefix, metadata=metadata, chunk_tokens=chunk_tokens, progress=progress)

    def note(self, text: str, day: date | None = None) -> AddedDocument:
        """Appends a paragraph to the note of a day: one Markdown document for each day, with the id `2026-11-22.md`.

        Two processes may write to one note at the same time: nothing is lost.

        Args:
            text: The text of the note; not blank.
            day: Today by the engine's clock, in UTC, by default. The note's metadata, source and time to live stay.

        Examples:
            >>> notes = user.collection("notes")
            >>> _ = notes.note("payments-api moved to port 8443"), notes.note("Tea at four")
            >>> print(notes.get("2025-01-01.md").text)
            # 2025-01-01
            <BLANKLINE>
            payments-api moved to port 8443
            <BLANKLINE>
            Tea at four
            <BLANKLINE>
        """
        if not _core.check_text("text", text):
            raise InvalidInput("noting: the text is blank: leave the call out")
        if day is not None and not isinstance(day, date):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"noting: day= is a datetime.date, got {type(day).__name__}: make one with date.fromisoformat()")
        chosen = self._core.time() if day is None else day
        name = (chosen.date() if isinstance(chosen, datetime) else chosen).isoformat()
        for left in reversed(range(_NOTE_TRIES)):
            found = self._core.get(f"{name}.md")
            version, source, metadata, ttl, before = None, None, None, None, f"# {name}\n"
            if found is not None:  # all that is known of the note stays
                version, source, metadata, before = found.version, found.source, found.metadata, found.text
                ttl = seconds_left(found.expires_at, self._core.time())
            whole = f"{before}\n{text.strip()}\n"
            draft = _core.DocumentDraft(
                f"{name}.md",
                whole,
                {
                    "metadata": metadata,
                    "format": "markdown",
                    "source": source,
                    "ttl_seconds": ttl,
                    "chunk_tokens": Limits.DEFAULT_CHUNK_TOKENS,
                    "expected": (version,),
                },
            )
            try:
                return self._add(draft)
            except IdConflict:  # another process noted something in between
                if left == 0:
                    raise
        raise AssertionError("the last try returns or raises")

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        where: Mapping[str, Any] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        documents: str | Iterable[str] | None = None,
        min_score: float | None = None,
        relevant_only: bool = True,
    ) -> Answer[Passage]:
        r"""Finds the chunks that answer a question: by their words and, where there is an embedder, by their meaning.

        A misspelt word that no chunk has is read as one that some have; identifiers never are.

        Deterministic: the same store, clock and question give the same answer. Never waits for a disk. Cost: one read transaction.

        Args:
            query: The question. An empty one finds nothing.
            limit: The most chunks to return, 0 or more.
            where: Only documents whose metadata has these keys with these values; a list, tuple or set names alternatives. Where the
                metadata has a list, one of its items must be such a value.
            since: Only documents whose version was added at or after this. A naive time is UTC.
            until: Only those whose version was added before this.
            documents: Only these documents, by id.
            min_score: Only hits that score at least this, 0 to 1.
            relevant_only: Leave out what shares no word with the question and is not near its meaning (a cosine of 0.3). `False` fills the
                answer up with the best of the rest, whose scores may be 0.

        Returns:
            The best first, each with its citation. Expired documents are not found.

        Examples:
            >>> docs = user.collection("handbook")
            >>> _ = docs.add("ports.md", "# Ports\n\n## Payments\n\npayments-api listens on port 8443.", version="3")
            >>> hit = docs.search("which port does payments-api use?")[0]
            >>> hit.document.id, hit.document.version, hit.heading, hit.span
            ('ports.md', '3', ('Ports', 'Payments'), (0, 56))
            >>> docs.get("ports.md").text[hit.start : hit.end] == hit.text
            True
        """
        check_flags("searching documents", relevant_only=relevant_only)
        if documents is not None:
            check_several("searching documents", "ids of documents", documents=documents)
        vector, why = self._store.query_vector(query, self._scope)
        found = self._core.search(
            query,
            vector,
            why,
            {
                "limit": limit,
                "where": where,
                "since": since,
                "until": until,
                "documents": documents,
                "min_score": min_score,
                "relevant_only": relevant_only,
            },
        )
        return Answer(found)

    def get(self, id: str) -> Document:  # noqa: A002
        """A document with its text. Cost: one read transaction, and the text.

        Raises:
            NotFound: There is no document of that id, or it has expired.
        """
        found = self._core.get(id)
        if found is None:
            raise self._missing("looking up", id)
        return found

    def documents(self) -> Iterator[DocumentInfo]:
        """Every document, in the order in which their ids were first added. Reads 256 at a time and holds no transaction between.

        Examples:
            >>> docs = user.collection("notes")
            >>> _ = docs.add("a", "Tea at four"), docs.add("b", "Scones")
            >>> [document.id for document in docs.documents()]
            ['a', 'b']
        """
        following: int | None = 0
        while following is not None:
            page, following = self._core.page(following, _PAGE)
            yield from page

    def delete(self, id: str) -> bool:  # noqa: A002
        """Removes a document with its chunks; its id is free again.

        Returns:
            Whether it was there.

        Examples:
            >>> docs = user.collection("notes")
            >>> _ = docs.add("a", "Tea at four")
            >>> docs.delete("a"), docs.delete("a"), len(docs.search("tea"))
            (True, False, 0)
        """
        return self._core.delete(id)

    def expire(self, id: str, ttl_seconds: float | None) -> DocumentInfo:  # noqa: A002
        """Says in how many seconds a document is to be removed; `None` keeps it. From then on it is not found.

        Raises:
            NotFound: There is no document of that id, or it has expired.
        """
        row = self._core.expire(id, ttl_seconds)
        if row is None:
            raise self._missing("expiring", id)
        return row

    def delete_all(self) -> int:
        """Removes the collection with every document. The next `add` begins a new one.

        Returns:
            How many documents it had.
        """
        return self._core.drop()

    @property
    def chunks(self) -> int:
        """How many chunks it has."""
        return self._core.counts().chunks

    def __len__(self) -> int:
        return self._core.counts().documents

    def __bool__(self) -> bool:
        return True  # an empty collection is one

    def __contains__(self, id: object) -> bool:  # noqa: A002
        return isinstance(id, str) and self._core.info(id) is not None

    def _missing(self, doing: str, document_id: str) -> NotFound:
        return NotFound(
            f"{doing} document {document_id[:80]!r} of {self!r}: no document has that id, or it has expired: take ids from documents()",
            id=document_id,
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Collection) and self._core.is_same(other._core)

    def __hash__(self) -> int:
        return hash((self._scope, self.name))

    def __repr__(self) -> str:
        return f"Collection({self.name!r} of {self._scope!r})"

    aadd = awaitable(add, asks=True)
    aadd_many = awaitable(add_many, asks=True)
    aadd_path = awaitable(add_path, waits=True)
    anote = awaitable(note, asks=True)
    asearch = awaitable(search, asks=True)
    aget = awaitable(get)
    adocuments = async_iterable(documents)
    adelete = awaitable(delete)
    aexpire = awaitable(expire)
    adelete_all = awaitable(delete_all)


def _arguments(row: object) -> dict[str, Any]:
    """The arguments of `add` from a row."""
    if isinstance(row, NewDocument):
        return {one.name: getattr(row, one.name) for one in fields(row)}
    if isinstance(row, Mapping):
        given: dict[str, Any] = {str(name): value for name, value in row.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        unknown = given.keys() - {one.name for one in fields(NewDocument)}
        if unknown or not given.keys() >= {"id", "text"}:
            raise InvalidInput(
                f"adding documents: a mapping has 'id', 'text' and other arguments of add(), and it has {sorted(given)}: change its keys"
            )
        return given
    if isinstance(row, tuple) and len(row) == 2:  # noqa: PLR2004  # pyright: ignore[reportUnknownArgumentType]
        return {"id": row[0], "text": row[1]}
    raise InvalidInput(
        f"adding documents: a row is a NewDocument, a mapping or a pair of id and text, and this is {_shape(row)}: convert it"  # pyright: ignore[reportUnknownArgumentType]
    )


def _shape(row: object) -> str:
    return f"a tuple of {len(row)}" if isinstance(row, tuple) else _kind(row)  # pyright: ignore[reportUnknownArgumentType]


def _kind(value: object) -> str:
    return type(value).__name__


def cores(collections: object) -> list[_core.CollectionCore]:
    """The names by which the engine knows the collections of a session."""
    if isinstance(collections, Collection):
        raise InvalidInput(f"opening a session: collections= takes several, and it is one, {shown(collections)}: put it into a list")
    if not isinstance(collections, Sequence) or not all(isinstance(one, Collection) for one in collections):  # pyright: ignore[reportUnknownVariableType]
        given = shown(collections)  # pyright: ignore[reportUnknownArgumentType]
        raise InvalidInput(f"opening a session: collections= takes a list of collections, got {given}: take them from Scope.collection()")
    return [one._core for one in collections]  # noqa: SLF001  of this module  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
