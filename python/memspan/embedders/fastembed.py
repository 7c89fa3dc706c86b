"""`FastEmbed`: sentence models by ONNX, on this machine, with the package fastembed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._arrays import stacked
from memspan._fence import guarded
from memspan.embedders.service import sdk
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FastEmbed"]


class FastEmbed:
    """Sentence models by ONNX on this machine. The model is downloaded when it is first made, by fastembed, and kept in its cache.

    May be used from any thread. There is nothing to retry; `embed_timeout_seconds` of `memspan.open` limits its time.

    Args:
        model: Its name, one of `fastembed.TextEmbedding.list_supported_models()`.
        dimensions: The length of its vectors; by default that of a first one, which is made at once.
        client: A `fastembed.TextEmbedding` of your own, for other providers, threads or a cache folder; by default one is made.
        revision: Tells versions of a model apart that have one name.
        batch_texts: How many texts the model reads at a time.

    Raises:
        MissingExtra: `fastembed` is not installed, and no client is given.
        InvalidInput: `batch_texts` is below 1.
    """

    @guarded
    def __init__(
        self,
        model: str = "BAAI/bge-small-en-v1.5",
        *,
        dimensions: int | None = None,
        client: Any = None,
        revision: str | None = None,
        batch_texts: int = 64,
    ) -> None:
        if batch_texts < 1:
            raise InvalidInput(f"making a FastEmbed embedder: batch_texts must be 1 or more, and it is {batch_texts}: change it")
        self.name = f"fastembed/{model}"
        self.revision = revision
        self._batch_texts = batch_texts
        if client is None:
            client = sdk("fastembed", "fastembed").TextEmbedding(model)
        self._client = client
        self.dimensions = dimensions or len(next(iter(client.passage_embed(["How long is a vector?"], batch_size=batch_texts))))

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row for each text to be found: float32, shape (len(texts), dimensions)."""
        return stacked(self._client.passage_embed(list(texts), batch_size=self._batch_texts), self.dimensions)

    def embed_query(self, text: str, /) -> Any:
        """The vector of a question, with what the model wants before it: float32, shape (dimensions,)."""
        return stacked(self._client.query_embed([text]), self.dimensions)[0]

    def __repr__(self) -> str:
        return f"FastEmbed({self.name!r}, dimensions={self.dimensions})"
