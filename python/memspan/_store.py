"""An open store and its embedder together: what `Engine` and `Scope` share, so that neither reaches into the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from memspan import _core
from memspan.embedding import Event
from memspan.exceptions import EmbedderError, Error, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memspan._core import Remembered
    from memspan._embedding import Embedding, Reporter
    from memspan.long_term import Scope

_CHUNK = 1_000
_MOST_WATCHED = 10_000

SHARES = (0.70, 0.85)
"""Of a model's window: what `on_event` is told of."""

Failed: TypeAlias = tuple[int, str | None, Error]
"""A row that was not written: index, id if it has one, error."""


class Windows:
    """Tells when a session reaches a share of its model's window: once for each share in an epoch, as far as this engine has seen."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._reached: dict[tuple[Scope, str], tuple[int, int]] = {}

    def watch(self, scope: Scope, core: _core.SessionCore, prompt_tokens: int = 0) -> None:
        """Looks at a session after something was added to it, or a prompt of so many tokens was made."""
        if not self._reporter.listening:
            return
        try:
            epoch, tokens, window = core.fill()
        except Error:  # what was done is done, and stands
            return
        tokens, key = max(tokens, prompt_tokens), (scope, core.id)
        reached = sum(tokens >= share * window for share in SHARES)
        before = self._reached.pop(key, (epoch, 0))
        known = before[1] if before[0] == epoch else 0
        self._reached[key] = (epoch, max(known, reached))
        if len(self._reached) > _MOST_WATCHED:
            self._reached.pop(next(iter(self._reached)), None)
        for share in SHARES[known:reached]:
            reason = f"session {core.id!r} has {tokens:,} tokens of {window:,}, {share:.0%} or more"
            self._reporter.report(Event("window", reason, scope, session=core.id, tokens=tokens, limit=window, fraction=share))


class OpenStore:
    """The engine's core, what makes vectors for it (`None` where the core does, or nothing), and whom to tell when that fails."""

    __slots__ = ("core", "dimensions", "embedding", "reporter", "windows")

    def __init__(self, core: _core.EngineCore, embedding: Embedding | None, reporter: Reporter) -> None:
        self.core = core
        self.embedding = embedding
        self.reporter = reporter
        self.dimensions = core.dimensions
        self.windows = Windows(reporter)

    def query_vector(self, query: str, scope: Scope) -> tuple[_core.Vectors | None, str | None]:
        """The vector of a question; `None`, and the reason, where there is an embedder of the caller's and it failed."""
        if self.embedding is None or not _core.check_text("query", query):
            return None, None
        vector, why = self.embedding.embed_one(query)
        if why is not None:
            self.reporter.report(Event("degraded", why, scope))
        return vector, why

    def stored_vector(self, text: str | None, scope: Scope) -> _core.Vectors | None:
        """The vector of a text that is to be stored; `None` leaves it to the core, or to `make_vectors`."""
        if self.embedding is None or text is None:
            return None
        vector, why = self.embedding.embed_one(text)
        if why is not None:
            self._note_pending(1, why, scope)
        return vector

    def import_rows(
        self, rows: Iterable[object], *, scope: Scope | None, core: _core.ScopeCore | None = None, skip: bool
    ) -> Iterator[tuple[list[Failed], list[Remembered], int]]:
        """For each chunk: the rows that failed, what became of the others, and the transactions that it took.

        Args:
            rows: Read as they are written.
            scope: Whose memory rows without a scope are, for events.
            core: The same, for the engine.
            skip: Go on behind a row that fails, instead of raising its error.
        """
        iterator, first = iter(_several(rows)), 0
        while chunk := list(islice(iterator, _CHUNK)):
            if scope is not None:
                _check_scope(chunk, scope, first)
            yield self._import_chunk(_core.Rows(self.core, chunk, core, self.dimensions), first, scope, skip=skip)
            first += len(chunk)

    def _import_chunk(self, rows: _core.Rows, first: int, scope: Scope | None, *, skip: bool) -> tuple[list[Failed], list[Remembered], int]:
        failed = [(first + place, row_id, _at_row(error, first + place)) for place, row_id, error in rows.failed()]
        if failed and not skip:
            raise failed[0][2]
        vectors = self._stored_vectors(rows, scope)
        try:
            outcomes, transactions = self.core.remember_many(rows, vectors, not skip)
        except Error as error:
            at = error.fields.get("row")
            raise _at_row(error, first + rows.place(at)[0]) if isinstance(at, int) else error from None
        remembered: list[Remembered] = []
        for at, outcome in enumerate(outcomes):
            if isinstance(outcome, Error):
                place, row_id = rows.place(at)
                failed.append((first + place, row_id, _at_row(outcome, first + place)))
            else:
                remembered.append(outcome)
        return failed, remembered, transactions

    def _stored_vectors(self, rows: _core.Rows, scope: Scope | None) -> _core.Vectors | None:
        texts = [] if self.embedding is None else rows.to_embed()
        if self.embedding is None or not texts:
            return None
        vectors, why = self.embedding.embed_many(texts)
        if why is not None:
            self._note_pending(vectors.bad, why, scope)
        return vectors

    def make_vectors(self) -> int:
        """Makes the vectors that are missing until all are there or the embedder fails; how many."""
        if self.embedding is None:
            return self.core.make_vectors()
        made, partition = 0, self.core.next_pending(0)
        while partition is not None:
            first = 0
            while page := self.core.pending(partition, first):
                try:
                    vectors = self.embedding.embed([text for _, _, text in page])
                except EmbedderError:
                    return made  # logged; what is left is in the report
                made += self.core.fill(partition, [(number, revision) for number, revision, _ in page], vectors)
                first = page[-1][0] + 1
            partition = self.core.next_pending(partition)
        return made

    def _note_pending(self, memories: int, reason: str, scope: Scope | None) -> None:
        self.core.note_pending(memories)
        self.reporter.report(Event("pending", reason, scope, memories))


def _several(rows: object) -> Iterable[object]:
    """The rows, unless they are a single one: a text, for instance, would be read letter by letter."""
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        kind = type(rows).__name__  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        raise InvalidInput(f"remembering rows: they must be several, and this is one {kind}: put it into a list")
    return rows  # pyright: ignore[reportUnknownVariableType]


def _at_row(error: Error, row: int) -> Error:
    """The error with the index of its row, for programs and for readers."""
    error.fields["row"] = row
    setattr(error, "row", row)  # noqa: B010  fields are attributes too, and no class declares them
    error.add_note(f"in row {row:,}")
    return error


def _check_scope(rows: list[object], scope: Scope, first: int) -> None:
    """A scope writes to itself only: a row that names another one is a mistake, and must not land there."""
    for place, row in enumerate(rows):
        other = getattr(row, "scope", None)
        if other is not None and other != scope:
            raise InvalidInput(
                f"remembering rows of {scope!r}: each row belongs to this scope, and row {first + place} belongs to {other!r}: "
                "use engine.remember_many() for rows of many scopes",
                row=first + place,
            )
