"""The base of every embedding service: requests of a size that it takes, another try where that helps, and a time limit.

Not here: what a request looks like. Each vendor's file says that in one function.
"""

from __future__ import annotations

import importlib
import random
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from memspan._arrays import stacked
from memspan._values import dataclass
from memspan.exceptions import EmbedderError, InvalidInput, MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["Retry", "Service", "sdk"]

_TRANSIENT = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})


@dataclass(frozen=True)
class Retry:
    """How often and how long an embedder tries.

    A request that met a rate limit, an overload, a broken connection or a timeout is sent again after `first_seconds`, twice that, and
    so on up to `longest_seconds`, each shortened by up to half at random, so that many clients do not come back together. Where the
    service says how long to wait (`Retry-After`), it is waited that long instead. Other errors are raised at once.

    Attributes:
        attempts: How often a request is sent at most, 1 or more.
        first_seconds: The pause before the second.
        longest_seconds: The longest pause.
        limit_seconds: How long a call of `embed` may take in all; no request is begun, and no pause made, beyond it.
    """

    attempts: int = 5
    first_seconds: float = 0.5
    longest_seconds: float = 20.0
    limit_seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 <= self.first_seconds <= self.longest_seconds or not self.limit_seconds > 0:
            raise InvalidInput(
                "making a Retry: attempts must be 1 or more, first_seconds from 0 to longest_seconds, limit_seconds above 0, and it is "
                f"{self!r}: change it"
            )


class Service:
    """The batching and retrying half of an embedder.

    Args:
        name: The name that the store keeps as the embedder's identity.
        dimensions: The length of a vector; `None` asks the service, with one text, when it is first needed.
        revision: The same as `name`, for a model that changes under one name.
        retry: How often and how long a request is tried.
        batch_texts: The most texts in one request.
        batch_bytes: The most bytes of UTF-8 in one request; a text that is longer alone is a request of its own. A token has at least
            one byte, so this bounds the tokens too.
    """

    def __init__(
        self, name: str, dimensions: int | None, revision: str | None, *, retry: Retry | None, batch_texts: int, batch_bytes: int
    ) -> None:
        self.name = name
        self._dimensions = dimensions
        self.revision = revision
        self._retry = retry or Retry()
        self._batch_texts = batch_texts
        self._batch_bytes = batch_bytes

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row a text: float32, shape (len(texts), dimensions)."""
        raise NotImplementedError

    @property
    def dimensions(self) -> int:
        """The length of a vector. Where none was given the service is asked with one text at the first use, which `memspan.open` is.

        Raises:
            EmbedderError: The service does not answer.
        """
        if self._dimensions is None:
            try:
                self.embed(["How long is a vector?"])
            except Exception as error:
                raise EmbedderError(
                    f"asking {self.name!r} for the length of its vectors: it must answer, and it failed ({error}): try again, or pass "
                    "dimensions= and it is not asked",
                    reason=str(error),
                ) from error
        return self._dimensions or 0

    def gathered(self, texts: Sequence[str], request: Callable[[list[str], float], Sequence[Sequence[float]]]) -> Any:
        """The rows of all texts: float32, shape (len(texts), dimensions). `request` sends some, within so many seconds."""
        until = time.monotonic() + self._retry.limit_seconds
        rows: list[Sequence[float]] = []
        for batch in self._batches(texts):
            answer = self._tried(partial(request, batch), until)
            if len(answer) != len(batch):
                raise EmbedderError(
                    f"embedding with {self.name!r}: a request of {len(batch)} texts must be answered by as many vectors, and there are "
                    f"{len(answer)}: look at the service",
                    reason="another number of vectors",
                )
            rows.extend(answer)
        if self._dimensions is None and rows:
            self._dimensions = len(rows[0])
        return stacked(rows, self._dimensions or 0)

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        size = 0
        for text in texts:
            length = len(text.encode())
            if batch and (len(batch) == self._batch_texts or size + length > self._batch_bytes):
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += length
        if batch:
            yield batch

    def _tried(self, send: Callable[[float], Sequence[Sequence[float]]], until: float) -> Sequence[Sequence[float]]:
        pause = self._retry.first_seconds
        for attempt in range(1, self._retry.attempts + 1):
            left = until - time.monotonic()
            if left <= 0:
                raise EmbedderError(
                    f"embedding with {self.name!r}: all requests must end within {self._retry.limit_seconds} seconds, and this one did not "
                    "begin by then: embed fewer texts at once, or raise limit_seconds of the embedder's Retry",
                    reason="out of time",
                )
            try:
                return send(left)
            except Exception as error:
                wait = _retry_after(error)
                if wait is None:
                    wait = pause * random.uniform(0.5, 1.0)  # noqa: S311  no secret
                if not _is_transient(error) or attempt == self._retry.attempts or time.monotonic() + wait >= until:
                    raise
            time.sleep(wait)
            pause = min(2 * pause, self._retry.longest_seconds)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, dimensions={self._dimensions})"


def _status(error: Exception) -> int | None:
    """The HTTP status in an SDK's error, wherever that keeps it."""
    for place in (error, getattr(error, "response", None)):
        for name in ("status_code", "http_status", "status", "code"):
            status = getattr(place, name, None)
            if isinstance(status, int) and not isinstance(status, bool):
                return status
    return None


def _is_transient(error: Exception) -> bool:
    status = _status(error)
    if status is not None:
        return status in _TRANSIENT
    # SDKs have classes of their own for a connection that broke: openai.APIConnectionError, httpx.ConnectTimeout, voyageai.error.Timeout.
    names = {kind.__name__ for kind in type(error).__mro__}
    return isinstance(error, OSError) or any(
        "Timeout" in name or "Connect" in name or name in {"TransportError", "TryAgain"} for name in names
    )


def _retry_after(error: Exception) -> float | None:
    """The seconds that the service asks to wait."""
    headers: Mapping[str, str] | None = None
    for place in (error, getattr(error, "response", None)):
        headers = getattr(place, "headers", None) or headers
    if headers is None:
        return None
    try:
        seconds = float({name.lower(): value for name, value in headers.items()}["retry-after"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # none, or a date, which no embedding service sends
    return seconds if 0 <= seconds < float("inf") else None


def sdk(package: str, extra: str) -> Any:
    """The module of a vendor's SDK, imported now.

    Raises:
        MissingExtra: It is not installed.
    """
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise MissingExtra(
            f"embedding with {package} needs that package, which is not installed: pip install 'memspan[{extra}]'", extra=extra
        ) from error
