"""`FastEmbed`: sentence models by ONNX, on this machine, with the package fastembed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan._arrays import stacked
from memspan.embedders.service import known_dimensions, sdk
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FastEmbed"]

_DIMENSIONS = {
    "BAAI/bge-small-en-v1.5": 384,
    "BAAI/bge-base-en-v1.5": 768,
    "BAAI/bge-large-en-v1.5": 1024,
    "sentence-transformers/all-MiniLM-L6-v2": 384,
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": 384,
    "intfloat/multilingual-e5-large": 1024,
    "nomic-ai/nomic-embed-text-v1.5": 768,
    "jinaai/jina-embeddings-v2-base-en": 768,
}


class FastEmbed:
    """Sentence models by ONNX on this machine. The model is downloaded when it is first made, by fastembed, and kept in its cache.

    May be used from any thread. There is nothing to retry; `embed_timeout_seconds` of `memspan.open` limits its time.

    Args:
        model: Its name, one of `fastembed.TextEmbedding.list_supported_models()`.
        dimensions: The length of its vectors, where it is not known here.
        client: A `fastembed.TextEmbedding` of your own, for other providers, threads or a cache folder; by default one is made.
        revision: Tells versions of a model apart that have one name.
        batch_texts: How many texts the model reads at a time.

    Raises:
        MissingExtra: `fastembed` is not installed, and no client is given.
        InvalidInput: The dimensions of the model are not known.
    """

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
        self.dimensions = known_dimensions(model, dimensions, _DIMENSIONS)
        self.revision = revision
        self._batch_texts = batch_texts
        if client is None:
            client = sdk("fastembed", "fastembed").TextEmbedding(model)
        self._client = client

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row a text that is to be found: float32, shape (len(texts), dimensions)."""
        return stacked(self._client.passage_embed(list(texts), batch_size=self._batch_texts), self.dimensions)

    def embed_query(self, text: str, /) -> Any:
        """The vector of a question, with what the model wants before it: float32, shape (dimensions,)."""
        return stacked(self._client.query_embed([text]), self.dimensions)[0]

    def __repr__(self) -> str:
        return f"FastEmbed({self.name!r}, dimensions={self.dimensions})"
