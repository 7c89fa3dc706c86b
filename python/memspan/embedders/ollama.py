"""`Ollama`: the embeddings of an Ollama server, by its plain HTTP API. No package is needed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from memspan._fence import guarded
from memspan.embedders.service import Retry, Service
from memspan.exceptions import EmbedderError, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Ollama"]

# As their model cards ask: a question and a document are told apart by what stands before them.
_PROMPTS = {
    "nomic-embed-text": ("search_query: ", "search_document: "),
    "mxbai-embed-large": ("Represent this sentence for searching relevant passages: ", ""),
    "embeddinggemma": ("task: search result | query: ", "title: none | text: "),
}
_MOST_SAID = 300


class Ollama(Service):
    """The embeddings of an Ollama server (`POST /api/embed`). May be used from any thread.

    Args:
        model: Its name, as in `ollama pull`; a tag is part of it.
        host: Where the server is; by default `OLLAMA_HOST`, else `http://127.0.0.1:11434`.
        dimensions: The length of its vectors; by default the server is asked when it is first needed.
        query_prompt: The text before a question; by default the one that the model's card asks for.
        document_prompt: The same before a text that is to be found.
        headers: More headers of each request, for instance an authorization.
        revision: Tells versions of a model apart that have one name.
        retry: How often and how long a request is tried.
        batch_texts: The most texts in one request.
        batch_bytes: The most bytes in one request.

    Raises:
        InvalidInput: The host is no HTTP address.

    Examples:
        >>> memspan.embedders.Ollama("nomic-embed-text", dimensions=768)
        Ollama('ollama/nomic-embed-text', dimensions=768)
    """

    @guarded
    def __init__(
        self,
        model: str = "nomic-embed-text",
        *,
        host: str | None = None,
        dimensions: int | None = None,
        query_prompt: str | None = None,
        document_prompt: str | None = None,
        headers: Mapping[str, str] | None = None,
        revision: str | None = None,
        retry: Retry | None = None,
        batch_texts: int = 64,
        batch_bytes: int = 400_000,
    ) -> None:
        bare = model.removesuffix(":latest").split(":")[0]
        query, document = _PROMPTS.get(bare, ("", ""))
        self._query_prompt = query if query_prompt is None else query_prompt
        self._document_prompt = document if document_prompt is None else document_prompt
        name = f"ollama/{model}"
        # Prompts are part of what a vector means: others make another embedding.
        if (self._query_prompt, self._document_prompt) != (query, document):
            name += f" ({self._query_prompt!r}, {self._document_prompt!r})"
        super().__init__(name, dimensions, revision, retry=retry, batch_texts=batch_texts, batch_bytes=batch_bytes)
        host = host or os.environ.get("OLLAMA_HOST") or "http://127.0.0.1:11434"
        if "://" not in host:
            has_port = ":" in host.rpartition("]")[2]
            host = f"http://{host}" if has_port else f"http://{host}:11434"
        if not host.startswith(("http://", "https://")):
            raise InvalidInput(f"making an Ollama embedder: host is an http or https address, and it is {host!r}: change it", host=host)
        self._url = f"{host.rstrip('/')}/api/embed"
        self._model = model
        self._headers = {"Content-Type": "application/json", **(headers or {})}

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row for each text to be found: float32, shape (len(texts), dimensions)."""
        return self.gathered([self._document_prompt + text for text in texts], self._send)

    def embed_query(self, text: str, /) -> Any:
        """The vector of a question: float32, shape (dimensions,)."""
        return self.gathered([self._query_prompt + text], self._send)[0]

    def _send(self, texts: list[str], seconds: float) -> list[Sequence[float]]:
        body = json.dumps({"model": self._model, "input": texts, "truncate": True}).encode()
        request = Request(self._url, data=body, headers=self._headers, method="POST")  # noqa: S310  http or https: checked above
        try:
            with urlopen(request, timeout=seconds) as response:  # noqa: S310
                answer: Any = json.load(response)
        except HTTPError as error:
            with error:
                error.msg = f"{error.msg}: {error.read(_MOST_SAID).decode('utf-8', 'replace')}"
            raise
        try:
            vectors: list[Sequence[float]] = list(answer["embeddings"])
        except (KeyError, TypeError):
            raise EmbedderError(
                f"embedding with {self.name!r}: the server at {self._url} must answer with embeddings, and it said "
                f"{str(answer)[:_MOST_SAID]!r}: look at the server",
                reason="no embeddings in the answer",
            ) from None
        return vectors
