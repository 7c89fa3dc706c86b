"""`Cohere`: Cohere's embeddings, which tell questions from documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._fence import guarded
from memspan.embedders.service import Retry, Service, sdk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Cohere"]


class Cohere(Service):
    """Cohere's embeddings. May be used from any thread.

    A text longer than the model takes is cut at its end by the service.

    Args:
        model: Its name.
        dimensions: Another length than the model's own, for models that offer several; by default its own, and the service is asked how
            long that is when it is first needed.
        client: A `cohere.ClientV2` of your own; by default one is made, which takes `CO_API_KEY`.
        revision: Tells versions of a model apart that have one name.
        retry: How often and how long a request is tried. It counts alone: the SDK's own retries are switched off.
        batch_texts: The most texts in one request; the service takes 96.
        batch_bytes: The most bytes in one request.

    Raises:
        MissingExtra: `cohere` is not installed, and no client is given.
    """

    @guarded
    def __init__(
        self,
        model: str = "embed-v4.0",
        *,
        dimensions: int | None = None,
        client: Any = None,
        revision: str | None = None,
        retry: Retry | None = None,
        batch_texts: int = 96,
        batch_bytes: int = 400_000,
    ) -> None:
        super().__init__(f"cohere/{model}", dimensions, revision, retry=retry, batch_texts=batch_texts, batch_bytes=batch_bytes)
        if client is None:
            client = sdk("cohere", "cohere").ClientV2()
        self._model = model
        self._options = {} if dimensions is None else {"output_dimension": dimensions}
        self._client = client

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row for each text to be found: float32, shape (len(texts), dimensions)."""
        return self.gathered(texts, lambda batch, seconds: self._send(batch, "search_document", seconds))

    def embed_query(self, text: str, /) -> Any:
        """The vector of a question: float32, shape (dimensions,)."""
        return self.gathered([text], lambda batch, seconds: self._send(batch, "search_query", seconds))[0]

    def _send(self, texts: list[str], input_type: str, seconds: float) -> list[Sequence[float]]:
        answer = self._client.embed(
            texts=texts,
            model=self._model,
            input_type=input_type,
            embedding_types=["float"],
            truncate="END",
            request_options={"timeout_in_seconds": max(1, int(seconds)), "max_retries": 0},
            **self._options,
        )
        return list(answer.embeddings.float_)
