"""An open store and its embedder together: what `Engine` and `Scope` share, so that neither reaches into the other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from weakref import WeakSet

from memspan import _core
from memspan._core import Limits
from memspan._forks import Lock
from memspan.embedding import Event
from memspan.exceptions import Error, InvalidInput
from memspan.life import Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memspan._embedding import Embedding, Reporter
    from memspan._kept import Remembered
    from memspan._threads import Latch
    from memspan.detectors import Found
    from memspan.life import LanguageModel
    from memspan.long_term import Scope

_QUESTIONS = 256
_LONGEST_KEPT_QUESTION = 10_000

_MOST_BEGUN = 10_000
"""Scopes of a call with rows of many, of which an erasure ends the call: those that it met last."""

Failed: TypeAlias = tuple[int, str | None, Error]
"""A row that was not written: index, id if it has one, error."""

Done: TypeAlias = "tuple[int, str | None, Remembered]"
"""What became of any other: index, id if it has one, result."""


class Windows:
    """Reports when a session's prompts reach a share of its model's window: once for each share in an epoch, as far as this engine saw."""

    def __init__(self, reporter: Reporter) -> None:
        self._reporter = reporter
        self._watch = _core.WindowWatch()

    def watch(self, scope: Scope, core: _core.SessionCore, prompt_tokens: int | None = None) -> None:
        """Looks at a session after something was added to it, or a prompt of so many tokens was made."""
        if not self._reporter.listening:
            return
        try:
            reached = self._watch.look(core, prompt_tokens)
        except Error:  # what was done is done, and stands
            return
        for one in reached:
            reason = f"a prompt of session {core.id!r} has {one.tokens:,} tokens of the model's {one.window:,}, {one.fraction:.0%} or more"
            event = Event("window", reason, scope, session=core.id, tokens=one.tokens, limit=one.window, fraction=one.fraction)
            self._reporter.report(event)


class OpenStore:
    """The engine's core, the source of its vectors (`None` where the core makes them, or nobody), and the reporter of failures."""

    __slots__ = (
        "_embeddings",
        "_lock",
        "_questions",
        "core",
        "embedding",
        "embeds_questions",
        "llm",
        "maintaining",
        "policy",
        "reporter",
        "windows",
    )

    def __init__(
        self,
        core: _core.EngineCore,
        embedding: Embedding | None,
        reporter: Reporter,
        policy: Policy = Policy(),  # noqa: B008  frozen
        llm: LanguageModel | None = None,
    ) -> None:
        self.core = core
        self.policy = policy
        self.llm = llm
        self.reporter = reporter
        self.embedding = embedding
        self.windows = Windows(reporter)
        self._embeddings = {0: embedding}
        self.embeds_questions = embedding is not None
        """Whether an embedder of the caller's may be asked to embed a question; else the core does, or nothing."""
        self._questions: OrderedDict[tuple[object, ...], _core.Vectors] = OrderedDict()
        self.maintaining: WeakSet[Latch] = WeakSet()
        """By which those are told to stop who maintain the store."""
        self._lock = Lock()
        if embedding is not None:
            embedding.bind(core, 0)

    @property
    def asks(self) -> bool:
        """Whether calls may wait for a function of the caller's: an embedder, or a detector."""
        return self.embeds_questions or bool(self.policy.detectors)

    def exchange(self, embedding: Embedding, *, built_in: bool) -> None:
        """Makes another embedder that of this engine. The one before goes on to embed questions to scopes that have its vectors."""
        with self._lock.native:
            place = self.core.exchange_embedding(embedding)
            embedding.bind(self.core, place)
            self._embeddings[place] = None if built_in else embedding
            self.embedding = self._embeddings[max(self._embeddings)]
            self.embeds_questions = any(one is not None for one in self._embeddings.values())

    def query_vector(self, query: str, scope: Scope) -> tuple[_core.Vectors | None, str | None]:
        """The vector of a question; `None`, and the reason, where there is an embedder of the caller's and it failed."""
        if not self.embeds_questions or not _core.check_text("query", query):
            return None, None
        embedding = self.embedding
        if len(self._embeddings) > 1:
            place = self.core.place_of(scope)
            embedding = embedding if place is None else self._embeddings.get(place, embedding)
        if embedding is None:
            return None, None
        key = (embedding.place, scope.type, scope.tenant, scope.id, query)
        with self._lock.native:
            known = self._questions.pop(key, None)
            if known is not None:
                self._questions[key] = known  # as the last one
        if known is not None:
            self.core.note_embedded(0, 0, 1)
            return known, None
        vector, why = embedding.embed_question(query)
        if vector is None or why is not None:
            self.reporter.report(Event("degraded", why or "", scope))
            return None, why
        if len(query) <= _LONGEST_KEPT_QUESTION:
            with self._lock.native:
                self._questions[key] = vector
                while len(self._questions) > _QUESTIONS:
                    self._questions.popitem(last=False)
        return vector, None

    def stored_vector(self, text: str | None, scope: Scope) -> _core.Vectors | None:
        """The vector of a text that is to be stored; `None` leaves it to the core, or to `vectors_made`."""
        embedding = self.embedding
        if embedding is None or text is None:
            return None
        vector, why = embedding.embed_one(text)
        if why is not None:
            self._note_pending(1, why, scope)
        return vector

    def embedder_for(self, scope: Scope) -> Callable[[str], _core.Vectors | None] | None:
        """The function that embeds a text of a scope; `None` where the core does it, or nobody."""
        return None if self.embedding is None else partial(self.stored_vector, scope=scope)

    def stored_vectors(self, texts: list[str], scope: Scope) -> _core.Vectors | None:
        """The vectors of texts that are to be stored, some of which may be missing; `None` leaves them to the core."""
        if self.embedding is None or not texts:
            return None
        vectors, why = self.embedding.embed_many(texts)
        if why is not None:
            self._note_pending(vectors.bad, why, scope)
        return vectors

    def found_in(self, text: object) -> list[Found] | None:
        """The findings of the policy's detectors in a text."""
        if not isinstance(text, str) or not self.policy.detectors:
            return None
        from memspan._detecting import found_in  # noqa: PLC0415  few have detectors

        return found_in(text, self.policy)

    def import_rows(
        self, rows: Iterable[object], *, scope: Scope | None, core: _core.ScopeCore | None = None, skip: bool
    ) -> Iterator[tuple[list[Failed], list[Done], int]]:
        """For each chunk: the rows that failed, what became of the others, and the transactions that it took.

        Args:
            rows: Read as they are written.
            scope: Whose memory rows without a scope are, for events.
            core: The same, for the engine.
            skip: Go on behind a row that fails, instead of raising its error.
        """
        iterator, first = iter(_several(rows)), 0
        begun: dict[Scope, _core.ScopeCore] = {}
        if core is not None:
            core = core.begun()
        while chunk := list(islice(iterator, Limits.MAX_BATCH_ROWS)):
            if scope is not None:
                _check_scope(chunk, scope, first)
            yield self._import_chunk(chunk, core, first, scope, begun, skip=skip)
            first += len(chunk)

    def _import_chunk(
        self,
        rows: list[object],
        core: _core.ScopeCore | None,
        first: int,
        scope: Scope | None,
        begun: dict[Scope, _core.ScopeCore],
        *,
        skip: bool,
    ) -> tuple[list[Failed], list[Done], int]:
        drafts: list[_core.Draft] = []
        places: list[int] = []
        failed: list[Failed] = []
        for index, row in enumerate(rows, first):
            try:
                drafts.append(self._draft(row, core, begun))
                places.append(index)
            except InvalidInput as error:
                failed.append((index, _id_of(row), _at_row(error, index)))
        if failed and not skip:
            raise failed[0][2]
        vectors = self.vectors_of(drafts, scope)
        try:
            outcomes, transactions = self.core.remember_many(drafts, vectors, not skip)
        except Error as error:
            at = error.fields.get("row")
            raise _at_row(error, places[at]) if isinstance(at, int) else error from None
        done: list[Done] = []
        for draft, index, outcome in zip(drafts, places, outcomes, strict=True):
            if isinstance(outcome, Error):
                failed.append((index, draft.id, _at_row(outcome, index)))
            else:
                done.append((index, draft.id, outcome))
        return failed, done, transactions

    def _draft(self, row: object, core: _core.ScopeCore | None, begun: dict[Scope, _core.ScopeCore]) -> _core.Draft:
        """A row as the core takes it: of its own scope, or of that which is written to. Scopes that the call has met are in `begun`."""
        fields: dict[str, Any] = {"text": row} if isinstance(row, str) else _fields(row)
        text, scope = fields.pop("text", None), fields.pop("scope", None)
        if scope is not None:
            if not self.core.owns(scope):
                rule = "its scope must be one of this engine, and it belongs to another: take it from this engine's user() or shared()"
                raise InvalidInput(f"reading a row: {rule}")
            core = begun.get(scope)
            if core is None:
                core = begun[scope] = scope._core.begun()  # noqa: SLF001
                if len(begun) > _MOST_BEGUN:
                    del begun[next(iter(begun))]
        if text is None:
            raise InvalidInput('reading a row: it must have a text, and it has none: add "text"')
        if core is None:
            raise InvalidInput(
                'reading a row: it must say whose memory it is, and it has no scope: add "scope": engine.user(...), '
                "or call remember_many of a scope"
            )
        if "found" in fields:
            raise InvalidInput('reading a row: a key is one of the arguments of remember(), and "found" is none: remove it')
        return core.draft(text, {**fields, "found": self.found_in(text)})

    def vectors_of(self, drafts: list[_core.Draft], scope: Scope | None) -> _core.Vectors | None:
        """The vectors of memories that are to be stored, each text asked once; `None` leaves them to the core."""
        embedding = self.embedding
        if embedding is None:
            return None
        wanted = self.core.to_embed(drafts, embedding.place)
        if not len(wanted):
            return None
        self.core.note_embedded(0, wanted.reused(), 0)
        texts = wanted.texts()
        if not texts:
            return wanted.completed(_core.Vectors.missing(0, embedding.place))
        embedded, why = embedding.embed_many(texts)
        vectors = wanted.completed(embedded)
        if why is not None:
            self._note_pending(vectors.bad, why, scope)
        return vectors

    @property
    def embed(self) -> Callable[[list[str]], _core.Vectors] | None:
        """Makes the vectors of texts; `None` where the core does, or nobody."""
        return None if self.embedding is None else self.embedding.embed

    def _note_pending(self, memories: int, reason: str, scope: Scope | None) -> None:
        self.core.note_pending(memories)
        self.reporter.report(Event("pending", reason, scope, memories))


def _fields(row: object) -> dict[str, Any]:
    """The arguments of `remember` that a mapping or a `NewMemory` has."""
    given: object = row if isinstance(row, Mapping) else getattr(row, "__dict__", None)  # pyright: ignore[reportUnknownVariableType]
    if not isinstance(given, Mapping):
        kind = type(row).__name__  # pyright: ignore[reportUnknownArgumentType]
        raise InvalidInput(f"reading a row: it must be a str, a mapping or a NewMemory, and it is of type {kind}: pass one of these")
    fields = dict(cast("Mapping[str, Any]", given))
    for name in fields:
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"reading a key of a row: it must be a str, and {name!r} is of type {type(name).__name__}: pass a str")
    return fields


def _id_of(row: object) -> str | None:
    """The id of a row that could not be read, as far as it can be told."""
    found: object = row.get("id") if isinstance(row, Mapping) else getattr(row, "id", None)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return found if isinstance(found, str) else None


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
        other: object = row.get("scope") if isinstance(row, Mapping) else getattr(row, "scope", None)  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if other is not None and other != scope:
            raise InvalidInput(
                f"remembering rows of {scope!r}: each row belongs to this scope, and row {first + place} belongs to {other!r}: "
                "use engine.remember_many() for rows of many scopes",
                row=first + place,
            )
