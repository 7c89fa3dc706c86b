"""What stands between an embedder, which may fail in any way, and the engine, which wants vectors.

Embedding happens before the engine is entered, never inside a transaction. A recall without a vector is answered by words alone
and says so; a memory without one is stored, found by its words, and embedded by `Engine.maintain`.
"""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from memspan import _core
from memspan.exceptions import EmbedderError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memspan.long_term import Scope

__all__ = ["Embedder", "Event"]

_BATCH = 256
_LOGGER = logging.getLogger("memspan")


@runtime_checkable
class Embedder(Protocol):
    """What `memspan.open(embedder=...)` needs.

    `embed` may be called from several threads at once. An optional attribute `revision` (a str) tells versions of a model apart: name,
    dimensions and revision together are the identity of its vectors in a store.

    Attributes:
        name: The model's name, 1 to 1,024 bytes.
        dimensions: The length of a vector, 1 to 8,192.
    """

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def dimensions(self) -> int: ...  # noqa: D102
    def embed(self, texts: Sequence[str], /) -> Any:
        """One row a text: an array of float32 or float64 of shape (len(texts), dimensions), or lists of floats. Any length but zero."""


@dataclass(frozen=True)
class Event:
    """Something that an operator wants to know: given to the `on_event` of `memspan.open`.

    Attributes:
        kind: "degraded": a recall was answered by words alone. "pending": memories were stored without a vector.
        reason: What the embedder did.
        scope: Whose memory it was; `None` where it was that of several scopes.
        memories: How many memories were stored without a vector; 0 for a recall.
    """

    kind: Literal["degraded", "pending"]
    reason: str
    scope: Scope | None
    memories: int = 0


class Embedding:
    """An embedder behind a fence: what it gives is checked, what it does wrong becomes a reason."""

    def __init__(self, embedder: Embedder, timeout_seconds: float | None) -> None:
        if timeout_seconds is not None and not 0 < timeout_seconds <= threading.TIMEOUT_MAX:
            raise InvalidInput(
                f"opening a store: embed_timeout_seconds must be above 0, and it is {timeout_seconds}: leave it out to wait for ever",
                value=timeout_seconds,
            )
        missing = [name for name in ("name", "dimensions", "embed") if not hasattr(embedder, name)]
        if missing or not callable(embedder.embed):
            raise InvalidInput(
                f"opening a store: an embedder has .name, .dimensions and .embed(texts), and {embedder!r} lacks {', '.join(missing) or 'embed()'}: "
                "wrap it in a class that has them"
            )
        self._embedder = embedder
        self._timeout_seconds = timeout_seconds
        self._failing = False
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.revision: str | None = getattr(embedder, "revision", None)

    def embed(self, texts: Sequence[str]) -> _core.Vectors:
        """One row a text, some of which may be missing.

        Raises:
            EmbedderError: The embedder raised, took too long, or returned something else than what it declares.
        """
        try:
            vectors = _core.Vectors.embedded(self._call(texts), len(texts), self.dimensions)
        except Exception as error:  # noqa: BLE001  whatever a model's library raises
            reason = str(error) if isinstance(error, InvalidInput | EmbedderError) else f"{type(error).__name__}: {error}"
            self._note(reason)
            raise EmbedderError(
                f"embedding {len(texts)} texts with {self.name!r}: it must return {self.dimensions} floats a text, and it failed ({reason}): "
                "memories are kept without vectors until maintain() makes them",
                reason=reason,
            ) from error
        self._note(vectors.first_error)
        return vectors

    def embed_one(self, text: str) -> tuple[_core.Vectors | None, str | None]:
        """The vector of a text, or why there is none."""
        try:
            vectors = self.embed([text])
        except EmbedderError as error:
            return None, f"the embedder failed: {error.reason}"
        return (None, f"the embedder failed: {vectors.first_error}") if vectors.bad else (vectors, None)

    def embed_many(self, texts: Sequence[str]) -> tuple[_core.Vectors, str | None]:
        """A row a text, and why some are missing; after a failure the rest is not tried."""
        parts: list[_core.Vectors] = []
        for start in range(0, len(texts), _BATCH):
            try:
                parts.append(self.embed(texts[start : start + _BATCH]))
            except EmbedderError as error:
                parts.append(_core.Vectors.missing(len(texts) - start))
                return _core.Vectors.joined(parts), f"the embedder failed: {error.reason}"
        vectors = _core.Vectors.joined(parts)
        return vectors, f"the embedder failed: {vectors.first_error}" if vectors.bad else None

    def _call(self, texts: Sequence[str]) -> object:
        if self._timeout_seconds is None:
            return self._embedder.embed(list(texts))
        # A thread for each call, and a daemon: one that hangs holds up neither the next call nor the end of the process.
        outcome: list[object] = []
        errors: list[BaseException] = []

        def work() -> None:
            try:
                outcome.append(self._embedder.embed(list(texts)))
            except BaseException as error:  # noqa: BLE001  raised again where it is waited for
                errors.append(error)

        thread = threading.Thread(target=work, name="memspan-embed", daemon=True)
        thread.start()
        thread.join(self._timeout_seconds)
        if errors:
            raise errors[0]
        if not outcome:
            raise EmbedderError(f"it did not return within embed_timeout_seconds={self._timeout_seconds}", reason="timeout")
        return outcome[0]

    def _note(self, reason: str | None) -> None:
        """Logs the begin and the end of an outage, not every call of it."""
        if reason is not None and not self._failing:
            _LOGGER.warning("the embedder %r fails: %s; recalls are answered by words alone, new memories wait for maintain()", self.name, reason)
        elif reason is None and self._failing:
            _LOGGER.info("the embedder %r works again", self.name)
        self._failing = reason is not None


class Reporter:
    """Calls `on_event`; what that raises is logged and goes no further."""

    def __init__(self, on_event: Callable[[Event], object] | None) -> None:
        if on_event is not None and not callable(on_event):
            raise InvalidInput(f"opening a store: on_event must be a callable that takes an Event, and it is {on_event!r}: pass a function")
        self._on_event = on_event

    def report(self, event: Event) -> None:
        """Tells the caller's function, if there is one."""
        if self._on_event is None:
            return
        try:
            self._on_event(event)
        except Exception:
            _LOGGER.exception("on_event raised on %r", event)
