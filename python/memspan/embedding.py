"""Embedders: the built-in one, the protocol of others, and the events when one fails.

Embedding happens before a transaction, never inside one. A recall without a vector is answered by words alone and says so; a memory
without one is stored, found by its words, and embedded by `Engine.maintain`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from memspan import _core
from memspan._arrays import matrix
from memspan._fence import fenced
from memspan._values import dataclass
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memspan.long_term import Scope

__all__ = ["BuiltIn", "Embedder", "Event"]


@runtime_checkable
class Embedder(Protocol):
    """The protocol of embedders for `memspan.open(embedder=...)`.

    `embed` may be called from several threads at once. `memspan.embedders` has them for several vendors.

    Optional members:

    - `revision`, a str, tells versions of a model apart: name, dimensions and revision together are the identity of its vectors in a
      store. A store also keeps how the model embeds one probe text; a model that embeds it otherwise under the same identity is refused.
    - `embed_query(text)` returns the vector of a question, of shape (dimensions,), for models that tell questions from documents.
    - `aembed(texts)` and `aembed_query(text)`, awaitable: the awaitable twins (`aremember`, `arecall`) await them in their own event loop
      instead of calling `embed` in a thread.

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


@fenced
class BuiltIn:
    """The embedding that comes with memspan: a static table distilled from all-MiniLM-L6-v2. No network, no neural network.

    A text's vector is the sum of its tokens' rows: the order of its words does not count, and languages other than English are mostly
    unknown to it. The same text has the same bytes on every machine. This is what `memspan.open` uses by default, inside the engine;
    the class is for programs that want the vectors themselves, and for stores that another embedder filled before.

    May be used from any thread.

    Examples:
        >>> built_in = memspan.embedding.BuiltIn()
        >>> port, same, other = built_in.embed(["which port does it listen on", "it listens on 8443", "she adopted a cat"])
        >>> def cosine(a, b):
        ...     return sum(x * y for x, y in zip(a, b))
        >>> len(port), bool(cosine(port, same) > cosine(port, other))
        (256, True)
    """

    name = _core.BuiltInCore.NAME
    dimensions = _core.BuiltInCore.DIMENSIONS
    revision = _core.BuiltInCore.REVISION

    def embed(self, texts: Sequence[str], /) -> Any:
        """One row per text: float32, shape (len(texts), 256), L2-normalised. Cost: about 10 us per sentence.

        A text that the table knows too little of, such as one in a script other than Latin, has a row of zeros: it points nowhere.

        Returns:
            A numpy array where numpy is installed, otherwise a list of `array("f")`.

        Raises:
            InvalidInput: It is one text instead of several, or a text is not a `str` or has a lone surrogate.
        """
        if isinstance(texts, str | bytes):
            raise InvalidInput("embedding texts: they must be several, and this is one: put it into a list")
        return matrix(_core.built_in_rows(list(texts)), len(texts), self.dimensions)

    def embed_query(self, text: str, /) -> Any:
        """The vector of a question, made of its content words alone: float32, shape (256,).

        "What", "did" and "the" are in every question, and what they share with a text says nothing about it.
        """
        return matrix(_core.built_in_question(text), 1, self.dimensions)[0]

    def tokens(self, text: str) -> list[str]:
        """How a text is cut: words and pieces of the vocabulary, `##` before a piece that continues a word, `[UNK]` for an unknown word.

        Examples:
            >>> memspan.embedding.BuiltIn().tokens("Café-Kubernetes!")
            ['cafe', '-', 'ku', '##ber', '##net', '##es', '!']
        """
        return _core.built_in_tokens(text)

    def __repr__(self) -> str:
        return "BuiltIn()"


@dataclass(frozen=True)
class Event:
    """Something that an operator wants to know: given to the `on_event` of `memspan.open`.

    Attributes:
        kind: "degraded": a recall was answered by words alone. "pending": memories were stored without a vector. "window": a session
            reached 70 % or 85 % of its model's window, once for each in an epoch. "usage": a reply's usage contradicts itself; the reply
            is stored and the usage not believed. "count": the function that `Session.assemble(count=)` was given failed, or gave a number
            that cannot be.
            "summarise": that of `ToolResults` failed, or said what a result does not. "compact": that of `Session.recover` failed.
            "partial": what came of a streamed reply could not be kept while it came; told once for each reply, which goes on.
        reason: The failure, the share that was reached, or the fault, in words.
        scope: Whose memory it was; `None` where it was that of several scopes.
        memories: How many memories were stored without a vector; 0 for anything else.
        session: The id of the session, where it is about one.
        tokens: With "window", the most that the session's prompts are.
        limit: With "window", the model's window.
        fraction: With "window", the fraction that was reached: 0.70 or 0.85.
    """

    kind: Literal["degraded", "pending", "window", "usage", "count", "summarise", "compact", "partial"]
    reason: str
    scope: Scope | None
    memories: int = 0
    session: str | None = None
    tokens: int | None = None
    limit: int | None = None
    fraction: float | None = None
