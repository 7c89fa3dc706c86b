"""The registry of models: what memspan must know of one to count for it and to fill its window.

`memspan.models` is the registry itself; it begins with the built-in models, and `Models.register` adds others for this process.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from memspan import _core

__all__ = ["Model", "Models", "models"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A language model.

    Attributes:
        name: The name that requests are sent with.
        context_window: Tokens of prompt and reply together.
        max_output_tokens: The most a reply may have.
        encoding: What counts its text: its own tokenizer, or for a closed one the reference that `factor` bounds.
        factor: 1.0 where `encoding` is its own. Otherwise counts are multiplied by it, and are a bound: the true number is not above.
        framing: Whose frame is put around messages and tools: that of `gpt-4o` (and all later models of OpenAI), `gpt-4o-mini`
            (other prices of images), `gpt-4` (and gpt-3.5), `claude`.
        append_only: What was sent may not change, because the model's signed thinking covers it.
        min_cached_tokens: The shortest prefix that its provider caches; 0 where it caches none.

    Examples:
        >>> from dataclasses import replace
        >>> own = replace(memspan.models["gpt-4o"], name="acme-deployment", context_window=64_000)
        >>> own.exact, own.encoding
        (True, 'o200k_base')
    """

    name: str
    context_window: int
    max_output_tokens: int
    encoding: Literal["o200k_base", "o200k_harmony", "cl100k_base"]
    factor: float = 1.0
    framing: Literal["gpt-4o", "gpt-4o-mini", "gpt-4", "claude"] = "gpt-4o"
    append_only: bool = False
    min_cached_tokens: int = 0

    @property
    def exact(self) -> bool:
        """Whether texts are counted by the model's own tokenizer."""
        return self.factor == 1.0


class Models(Mapping[str, Model]):
    """The models that this process knows, by name. It may be shared between threads.

    A name with a date or another suffix (`gpt-4o-2024-08-06`) is found as its family, and keeps its own name.

    Examples:
        >>> memspan.models["gpt-4o-2024-08-06"].context_window
        128000
        >>> "gpt-4o" in memspan.models, "gpt-4omni" in memspan.models
        (True, False)
    """

    __slots__ = ()

    def __getitem__(self, name: str, /) -> Model:
        """The model of that name.

        Raises:
            UnknownModel: There is none; the message tells the nearest names, and how to register one.
        """
        return Model(**_core.model_fields(name))

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(_core.model_names())

    def __len__(self) -> int:
        """How many names there are."""
        return len(_core.model_names())

    def __repr__(self) -> str:
        """How many it knows."""
        return f"<memspan.models: {len(self)} models>"

    def register(self, model: Model) -> Model:
        """Adds a model for this process, or replaces the one of its name, a built-in one too. Sessions keep the model they have.

        Args:
            model: Its fields are checked; `dataclasses.replace` makes one of another.

        Returns:
            The model, as it will be found.

        Raises:
            InvalidInput: A field breaks its rule; nothing was registered.

        Examples:
            >>> acme = memspan.Model(name="acme-7b", context_window=8_192, max_output_tokens=2_048, encoding="cl100k_base")
            >>> memspan.models.register(acme)
            Model(name='acme-7b', context_window=8192, ...)
            >>> memspan.count_tokens("hello world", "acme-7b")
            2
        """
        _core.register_model(**asdict(model))
        return self[model.name]


models = Models()
