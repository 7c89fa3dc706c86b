"""`Voyage`: Voyage AI's embeddings, which tell questions from documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._fence import guarded
from memspan.embedders.service import Retry, Service, sdk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Voyage"]


class Voyage(Service):
    """Voyage AI's embeddings. May be used from any thread.

    A text longer than the model takes is cut by the service.

    Args:
        model: Its name.
        dimensions: Another length than the model's own, for models that offer several; by default its own, and the service is asked how
            long that is when it is first needed.
        client: A `voyageai.Client` of your own; by default one is made, which takes `VOYAGE_API_KEY`.
        revision: Tells versions of a model apart that have one name.
        retry: How often and how long a request is tried.
        batch_texts: The most texts in one request; the service takes 1,000.
        batch_bytes: The most bytes in one request; the service takes 120,000 tokens, of smaller models more.

    Raises:
        MissingExtra: `voyageai` is not installed, and no client is given.
    """

    @guarded
    def __init__(
        self,
        model: str = "voyage-3.5",
        *,
        dimensions: int | None = None,
        client: Any = None,
        revision: str | None = None,
        retry: Retry | None = None,
        batch_texts: int = 512,
        batch_bytes: int = 120_000,
    ) -> None:
        super().__init__(f"voyage/{model}", dimensions, revision, retry=retry, batch_texts=batch_texts, batch_bytes=batch_bytes)
        if client is None:
            client = sdk("voyageai", "voyage").Client(max_retries=0, timeout=self._retry.limit_seconds)
        self._model = model
        self._options = {} if dimensions is None else {"output_dimension": dimensions}
        self._client = client

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row for each text to be found: float32, shape (len(texts), dimensions)."""
        return self.gathered(texts, lambda batch, _: self._send(batch, "document"))

    def embed_query(self, text: str, /) -> Any:
        """The vector of a question: float32, shape (dimensions,)."""
        return self.gathered([text], lambda batch, _: self._send(batch, "query"))[0]

    def _send(self, texts: list[str], input_type: str) -> list[Sequence[float]]:
        answer = self._client.embed(texts, model=self._model, input_type=input_type, truncation=True, **self._options)
        return list(answer.embeddings)
