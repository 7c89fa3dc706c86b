"""`OpenAI`: OpenAI's embeddings, and whatever speaks its API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._fence import guarded
from memspan.embedders.service import Retry, Service, sdk

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["OpenAI"]

_FIXED = "text-embedding-ada-002"  # takes no `dimensions`


class OpenAI(Service):
    """OpenAI's embeddings.

    May be used from any thread. A text longer than the model takes (8,191 tokens) is an error of the service, and its memory stays without
    a vector.

    Args:
        model: Its name.
        dimensions: Fewer than the model has, for models that can be cut; by default all, and the service is asked how many
            that are when it is first needed.
        client: An `openai.OpenAI` (or `AzureOpenAI`) of your own; by default one is made, which takes `OPENAI_API_KEY`.
        revision: Tells versions of a model apart that have one name.
        retry: How often and how long a request is tried. It counts alone: the SDK's own retries are switched off.
        batch_texts: The most texts in one request; the service takes 2,048.
        batch_bytes: The most bytes in one request; the service takes 300,000 tokens.

    Raises:
        MissingExtra: `openai` is not installed, and no client is given.

    Examples:
        >>> embedder = memspan.embedders.OpenAI("text-embedding-3-small", dimensions=512, client=object())
        >>> embedder.name, embedder.dimensions
        ('openai/text-embedding-3-small', 512)
    """

    @guarded
    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimensions: int | None = None,
        client: Any = None,
        revision: str | None = None,
        retry: Retry | None = None,
        batch_texts: int = 512,
        batch_bytes: int = 250_000,
    ) -> None:
        super().__init__(f"openai/{model}", dimensions, revision, retry=retry, batch_texts=batch_texts, batch_bytes=batch_bytes)
        if client is None:
            client = sdk("openai", "openai").OpenAI(max_retries=0)
        self._model = model
        # Only what was asked for is sent: other servers of this API know no `dimensions`.
        self._options = {} if dimensions is None or model == _FIXED else {"dimensions": dimensions}
        self._client = client.with_options(max_retries=0) if hasattr(client, "with_options") else client

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row a text: float32, shape (len(texts), dimensions)."""
        return self.gathered(texts, self._send)

    def _send(self, texts: list[str], seconds: float) -> list[Sequence[float]]:
        answer = self._client.embeddings.create(model=self._model, input=texts, encoding_format="float", timeout=seconds, **self._options)
        return [one.embedding for one in sorted(answer.data, key=lambda one: one.index)]
