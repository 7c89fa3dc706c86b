"""The layer between an embedder, which may fail in any way, and the engine, which wants vectors."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memspan import _core
from memspan._core import Limits
from memspan._fence import is_number, is_whole, kind_of
from memspan._flags import check_function, shown
from memspan._patience import answered
from memspan._twins import loop_to_use
from memspan.exceptions import EmbedderError, InvalidInput

if TYPE_CHECKING:
    import logging
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from memspan.embedding import Embedder, Event

_BATCH = 256
_MAX_REASON = 500


def check_timeout(timeout_seconds: float | None) -> None:
    """Refuses a time that no embedder can be given."""
    if timeout_seconds is not None and not is_number(timeout_seconds):
        raise InvalidInput(
            f"opening a store: embed_timeout_seconds must be a number of seconds or None, and it is {type(timeout_seconds).__name__} "
            f"{shown(timeout_seconds)}: give a number, or leave it out"
        )
    if timeout_seconds is not None and not 0 < timeout_seconds <= Limits.MAX_WAIT_SECONDS:
        raise InvalidInput(
            f"opening a store: embed_timeout_seconds must be above 0 and at most {Limits.MAX_WAIT_SECONDS:,} (a day), and it is "
            f"{shown(timeout_seconds)}: leave it out to wait for ever",
            value=timeout_seconds,
        )


class Embedding:
    """An embedder behind a fence: its results are checked, and its faults become reasons."""

    def __init__(self, embedder: Embedder | str, timeout_seconds: float | None) -> None:
        check_timeout(timeout_seconds)
        if isinstance(embedder, str):
            raise InvalidInput(f"opening a store: embedder is an object, None or 'default', and it is {shown(embedder)}: pass one of these")
        missing = [name for name in ("name", "dimensions", "embed") if not hasattr(embedder, name)]
        if missing or not callable(embedder.embed):
            raise InvalidInput(
                "opening a store: an embedder has .name, .dimensions and .embed(texts), and "
                f"{shown(embedder)} lacks {', '.join(missing) or 'embed()'}: wrap it in a class that has them"
            )
        self._embedder = embedder
        self._timeout_seconds = timeout_seconds
        self._failing = False
        self._core: _core.EngineCore | None = None
        self._probed = False
        self.place = 0
        self.name = embedder.name
        self.dimensions = _checked_dimensions(embedder.dimensions)
        self.revision: str | None = getattr(embedder, "revision", None)

    def bind(self, core: _core.EngineCore, place: int) -> None:
        """Makes it one of the embedders of an engine, by which its vectors are told from those of the others."""
        self._core, self.place = core, place

    def embed(self, texts: Sequence[str]) -> _core.Vectors:
        """One row a text, some of which may be missing.

        Raises:
            EmbedderError: The embedder raised, took too long, returned something else than what it declares, or is another model than
                the one that made the store's vectors.
        """
        return self._fenced(len(texts), lambda: self._embed(texts))

    def embed_question(self, text: str) -> tuple[_core.Vectors | None, str | None]:
        """The vector of a question, or why there is none."""
        if not callable(getattr(self._embedder, "embed_query", None)):
            return self.embed_one(text)
        return self._one(lambda: self._fenced(1, lambda: self._embed_query(text)))

    def embed_one(self, text: str) -> tuple[_core.Vectors | None, str | None]:
        """The vector of a text, or why there is none."""
        return self._one(lambda: self.embed([text]))

    def embed_many(self, texts: Sequence[str]) -> tuple[_core.Vectors, str | None]:
        """A row a text, and why some are missing; after a failure the rest is not tried."""
        parts: list[_core.Vectors] = []
        for start in range(0, len(texts), _BATCH):
            try:
                parts.append(self.embed(texts[start : start + _BATCH]))
            except EmbedderError as error:
                parts.append(_core.Vectors.missing(len(texts) - start, self.place))
                return _core.Vectors.joined(parts), f"the embedder failed: {error.reason}"
        vectors = _core.Vectors.joined(parts)
        return vectors, f"the embedder failed: {vectors.first_error}" if vectors.bad else None

    def _one(self, embed: Callable[[], _core.Vectors]) -> tuple[_core.Vectors | None, str | None]:
        try:
            vectors = embed()
        except EmbedderError as error:
            return None, f"the embedder failed: {error.reason}"
        return (None, f"the embedder failed: {vectors.first_error}") if vectors.bad else (vectors, None)

    def _fenced(self, texts: int, embed: Callable[[], _core.Vectors]) -> _core.Vectors:
        try:
            vectors = embed()
        except Exception as error:  # whatever a model's library raises
            reason = _reason(error)
            self._note(reason)
            raise EmbedderError(
                f"embedding {texts} texts with {self.name!r}: it must return {self.dimensions} floats a text, and it failed "
                f"({reason}): memories are kept without vectors until maintain() makes them",
                reason=reason,
            ) from error
        self._note(vectors.first_error)
        if self._core is not None:
            self._core.note_embedded(texts, 0, 0)
        return vectors

    def _embed(self, texts: Sequence[str]) -> _core.Vectors:
        """Embeds texts. The first call of a process embeds the probe along with them, so that another model of the same name is noticed."""
        if self._probed or self._core is None:
            return self._read(self._call("embed", list(texts)), len(texts))
        if len(texts) >= _BATCH:
            self._check_probe(self._read(self._call("embed", [self._core.PROBE]), 1))
            return self._read(self._call("embed", list(texts)), len(texts))
        vectors, probe = self._read(self._call("embed", [*texts, self._core.PROBE]), len(texts) + 1).split(len(texts))
        self._check_probe(probe)
        return vectors

    def _embed_query(self, text: str) -> _core.Vectors:
        if not self._probed and self._core is not None:
            self._check_probe(self._read(self._call("embed", [self._core.PROBE]), 1))
        return self._read([self._call("embed_query", text)], 1)

    def _check_probe(self, probe: _core.Vectors) -> None:
        if self._core is not None:
            self._core.check_probe(probe)
            self._probed = True
            self._core.note_embedded(1, 0, 0)

    def _read(self, matrix: object, count: int) -> _core.Vectors:
        try:
            return _core.Vectors.embedded(matrix, count, self.dimensions, self.place)
        except InvalidInput:
            if (odd := _no_number(matrix)) is None:
                raise
            rule = f"lists must have floats alone, and {odd}"
            raise InvalidInput(f"reading what embed() returned: {rule}: make floats of them") from None

    def _call(self, method: str, argument: object) -> object:
        """Calls the embedder within the time limit: by its awaitable form where an event loop waits for us and it has one."""
        awaitable: Callable[[object], Awaitable[object]] | None = getattr(self._embedder, f"a{method}", None)
        work: Callable[[], object] = partial(
            getattr(self._embedder, method) if awaitable is None or loop_to_use() is None else awaitable, argument
        )
        if self._timeout_seconds is None:
            value = work()
            if not hasattr(value, "__await__"):
                return value
            work = partial(_itself, value)
        outcome = answered(self._embedder, work, self._timeout_seconds)
        if not outcome:
            raise self._too_slow()
        if isinstance(outcome[0], BaseException):
            raise outcome[0]
        return outcome[0]

    def _too_slow(self) -> EmbedderError:
        return EmbedderError(f"it did not return within embed_timeout_seconds={self._timeout_seconds}", reason="timeout")

    def _note(self, reason: str | None) -> None:
        """Logs the beginning and the end of an outage, not each of its calls."""
        if reason is not None and not self._failing:
            _logger().warning(
                "the embedder %r fails: %s; recalls are answered by words alone, new memories wait for maintain()", self.name, reason
            )
        elif reason is None and self._failing:
            _logger().info("the embedder %r works again", self.name)
        self._failing = reason is not None


def _checked_dimensions(given: int) -> int:
    """The length of a vector. The core refuses all but whole numbers."""
    if is_whole(given) and not 1 <= given <= Limits.MAX_DIMENSIONS:
        rule = f"it must be from 1 to {Limits.MAX_DIMENSIONS}"
        raise InvalidInput(f"reading the embedder's dimensions: {rule}, and it is {given}: pass another embedder", value=given)
    return given


def _no_number(matrix: object) -> str | None:
    """The place and the type of the first element of nested lists that is not a number; `None` where all are numbers."""
    rows: list[object] = list(matrix) if isinstance(matrix, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    for place, row in enumerate(rows):
        elements: list[object] = list(row) if isinstance(row, list | tuple) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        for at, element in enumerate(elements):
            if not hasattr(element, "__float__") and not hasattr(element, "__index__"):
                return f"element {at} of row {place} is of type {kind_of(element)}"
    return None


def _itself(value: object) -> object:
    return value


def _reason(error: Exception) -> str:
    """The cause of a failure, as text that can be stored, logged and shown. An exception's own text may not allow that."""
    try:
        said = str(error)
    except Exception:  # noqa: BLE001  a broken __str__ is no reason to lose a write
        said = "it cannot say why"
    if not isinstance(error, InvalidInput | EmbedderError):
        said = f"{type(error).__name__}: {said}"
    return said[:_MAX_REASON].encode("utf-8", "replace").decode("utf-8")


class Reporter:
    """Calls `on_event`; its exceptions are logged and go no further."""

    def __init__(self, on_event: Callable[[Event], object] | None) -> None:
        check_function("opening a store", "on_event", on_event)
        self._on_event = on_event

    @property
    def listening(self) -> bool:
        """Whether anybody is told."""
        return self._on_event is not None

    def report(self, event: Event) -> None:
        """Tells the caller's function, if there is one."""
        if self._on_event is None:
            return
        try:
            self._on_event(event)
        except Exception:  # noqa: BLE001  logged, because a broken observer must not break what it observes
            _logger().exception("on_event raised on %r", event)


def note_unused(folder: Path, names: Sequence[str]) -> None:
    """Logs that a store has vectors which an engine that was opened by default does not use."""
    _logger().warning(
        "the store %s has vectors of %s: recalls are answered by words alone; pass that embedder to memspan.open() to use them, "
        "embedder=memspan.embedding.BuiltIn() and maintain() to replace them, or embedder=None to do without",
        folder,
        ", ".join(map(repr, names)),
    )


def _logger() -> logging.Logger:
    import logging  # noqa: PLC0415  a tenth of the time of importing memspan, for programs that log nothing

    return logging.getLogger("memspan")
