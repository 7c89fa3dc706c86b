"""The registry of models: the facts that memspan needs to count for a model and to fill its window.

`memspan.models` is the registry itself; it begins with the built-in models, and `Models.register` adds others for this process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, Literal, cast

from memspan import _core
from memspan._fence import fenced, kind_of
from memspan._values import dataclass, fields, replace
from memspan.exceptions import InvalidInput, UnknownModel

__all__ = ["CacheRules", "Dialect", "Model", "Models", "Prices", "dialects", "models"]

_BOUNDED_FRAMES = frozenset({"gemini", "gemini-3"})


@dataclass(frozen=True, kw_only=True)
class Prices:
    """Dollars for a million tokens; `None` where there is no such price. Surcharges for long prompts and discounts are not here.

    Attributes:
        input: Of the prompt.
        output: Of the reply.
        cache_read: Of what the provider's cache had.
        cache_write: Of what goes into the cache.
        cache_write_long: The same for the longer lifetime that the provider offers.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None


@dataclass(frozen=True, kw_only=True)
class CacheRules:
    """How a provider caches the beginning of a request, beyond `Model.min_cached_tokens`.

    Attributes:
        step_tokens: The cached length is a multiple of this.
        ttl_seconds: How long what was cached stays without being used.
        breakpoints: How many places a request may mark; 0 where the provider finds them by itself.
    """

    step_tokens: int = 1
    ttl_seconds: int = 300
    breakpoints: int = 0


@dataclass(frozen=True, kw_only=True)
class Model:
    """A language model.

    Attributes:
        name: The name that requests are sent with.
        context_window: Tokens of prompt and reply together.
        max_output_tokens: The most a reply may have.
        encoding: The tokenizer that counts its text: its own, or for a closed one the reference that `factor` bounds.
        factor: 1.0 where `encoding` is its own. Otherwise counts are multiplied by it; it is meant to be above what the model's
            tokenizer makes of any ordinary text.
        framing: Whose frame is put around messages and tools: that of `gpt-4o`; of models of OpenAI with other prices of images,
            `gpt-4o-mini`, `gpt-4.1-mini`, `gpt-4.1-nano`, `o1`, `o4-mini`, `gpt-5`; of `gpt-4` and gpt-3.5; of `claude`; of `gemini` (up to
            2.5) and `gemini-3`, which are bounds; of the chat templates `llama-3`, `chatml` (Qwen and others), `mistral`, `deepseek`.
        append_only: Whether sent messages may not change, because the model's signed thinking covers them.
        min_cached_tokens: The shortest prefix that its provider caches; 0 where it caches none.
        max_input_tokens: The most a request may have, where that is less than the window; `None` is the window.
        usable_window: Up to where it was measured to work as well as on short texts; `None` where nobody measured.
        vendor: Whose it is.
        prices: Its prices.
        cache: How its provider caches.
        capabilities: Of "tools", "vision", "pdf", "reasoning", "structured_output", "prefill" (a reply may be begun for it),
            "mid_conversation_system" (system messages may stand anywhere), "preserved_thinking", "prefix_check" (thinking behind a
            prefix that changed since is refused).
        retires_on: The day from which it is not served any more, as "2026-10-23".
        base_url: The address that it is asked at, where that is not its vendor's own. Factors learned there for its tokenizer are kept
            apart. Credentials and a query in it are not stored.

    Examples:
        >>> from dataclasses import replace
        >>> own = replace(memspan.models["gpt-4o"], name="acme-deployment", context_window=64_000, max_input_tokens=None)
        >>> own.exact, own.encoding, own.prices.input, "tools" in own.capabilities
        (True, 'o200k_base', 2.5, True)
    """

    name: str
    context_window: int
    max_output_tokens: int
    encoding: Literal["o200k_base", "o200k_harmony", "cl100k_base", "qwen2", "tekken", "deepseek_v3", "gemma3"] | str  # noqa: PYI051  shown by editors
    factor: float = 1.0
    framing: str = "gpt-4o"
    append_only: bool = False
    min_cached_tokens: int = 0
    max_input_tokens: int | None = None
    usable_window: int | None = None
    vendor: str = ""
    prices: Prices = Prices()
    cache: CacheRules = CacheRules()
    capabilities: frozenset[str] = frozenset()
    retires_on: str | None = None
    base_url: str = ""

    @property
    def exact(self) -> bool:
        """Whether texts and frames are counted as the model counts them.

        False with a `factor` of 1.0 where the tokenizer is the model's own and only the frame around messages is a bound: Gemini's.
        """
        return self.factor == 1.0 and self.framing not in _BOUNDED_FRAMES

    @property
    def format(self) -> Literal["openai", "anthropic"]:
        """The shape of its requests, unless another is asked for."""
        return "anthropic" if self.framing == "claude" else "openai"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """How a server's chat completions differ from OpenAI's; `memspan.dialects` has them by name.

    Attributes:
        name: The server.
        output_parameter: The name of the parameter that limits the reply.
        begins_with_assistant: A conversation may begin with the assistant.
        ends_with_assistant: It may end with the assistant, whose reply then goes on.
        alternates: User and assistant must take turns.
        user_after_tool: A user may speak right after a tool's result.
        empty_assistant: An assistant's message may have neither text nor tool calls.
        system_anywhere: System messages may stand anywhere; else there is one, and it stands first.
        text_parts: Content may be a list of parts where it is text alone.
        stream_usage: A stream brings its usage where `stream_options` asks for it.
        strict: Schemas of tools may be strict.
        tool_choice: The values that `tool_choice` may have.
        reasoning: The parameter that says how much to reason; empty where there is none.
        sent_back: Parts and fields of its models' replies that it wants back, and that no other server takes: `("reasoning_content",)`.
    """

    name: str
    output_parameter: str
    begins_with_assistant: bool
    ends_with_assistant: bool
    alternates: bool
    user_after_tool: bool
    empty_assistant: bool
    system_anywhere: bool
    text_parts: bool
    stream_usage: bool
    strict: bool
    tool_choice: tuple[str, ...]
    reasoning: str
    sent_back: tuple[str, ...]


@fenced
class Models(Mapping[str, Model]):
    """The models that this process knows, by name. It may be shared between threads.

    A name with a date (`gpt-4o-2024-08-06`) or a provider's prefix (`openai/gpt-4o`) is found as its family, and keeps its own name.

    Examples:
        >>> memspan.models["gpt-4o-2024-08-06"].context_window
        128000
        >>> "gpt-4o" in memspan.models, "gpt-4omni" in memspan.models
        (True, False)
    """

    __slots__ = ("_registered",)

    def __init__(self) -> None:
        self._registered: dict[str, Model] = {}

    def __getitem__(self, name: str, /) -> Model:
        """The model of that name.

        Raises:
            UnknownModel: There is none; the message tells the nearest names, and how to register one.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]  a mapping is asked for anything
            raise UnknownModel(f"choosing a model: its name is a text, and it is of type {kind_of(name)}: name one of memspan.models")
        values: dict[str, Any] = _core.model_fields(name)
        prices, cache = Prices(**values.pop("prices")), CacheRules(**values.pop("cache"))
        return self._registered.get(name) or Model(**values, prices=prices, cache=cache)

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
        if not isinstance(model, Model):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"registering a model: it must be a memspan.Model, and it is of type {kind_of(model)}: make one")
        _core.register_model(model)
        self._registered[model.name] = model
        return model

    def register_file(self, path: str | os.PathLike[str]) -> list[Model]:
        """Registers the models that a TOML or JSON file describes: one table for each, named by the model, with the fields of `Model`.

        `based_on` names a model that the other fields are taken from. Nothing is registered of a file with a table that is wrong;
        a value that cannot be stops at its table.

        Args:
            path: The file; one that does not end with `.toml` is JSON.

        Returns:
            The models, in the order of the file.

        Raises:
            InvalidInput: The file cannot be read, or a field is not one of `Model`'s, or has a value that it cannot have.
            UnknownModel: `based_on` names a model that is not in the registry.

        Examples:
            A file `models.toml`::

                [acme-70b]
                based_on = "llama-3.3-70b"
                context_window = 32_000
                max_input_tokens = 32_000
        """
        made = [self._described(path, name, table) for name, table in _tables(path).items()]
        return [self.register(model) for model in made]

    def _described(self, path: str | os.PathLike[str], name: str, table: object) -> Model:
        if not isinstance(table, dict):
            raise _wrong(path, f"{name!r} must be a table of fields", repr(table))
        given = dict(cast("dict[str, Any]", table))
        unknown = sorted(given.keys() - {field.name for field in fields(Model)} - {"based_on"})
        if unknown:
            raise _wrong(path, f"{name!r} may have the fields of memspan.Model and based_on", ", ".join(unknown))
        base = given.pop("based_on", None)
        try:
            if "prices" in given:
                given["prices"] = Prices(**given["prices"])
            if "cache" in given:
                given["cache"] = CacheRules(**given["cache"])
            if "capabilities" in given:
                given["capabilities"] = frozenset(given["capabilities"])
            given["name"] = name
            return Model(**given) if base is None else replace(self[base], **given)
        except TypeError as error:
            raise _wrong(path, f"{name!r} must have the fields that memspan.Model needs", str(error)) from error


def _tables(path: str | os.PathLike[str]) -> dict[str, object]:
    import json  # noqa: PLC0415  for programs that read no file
    import tomllib  # noqa: PLC0415  the same
    from pathlib import Path  # noqa: PLC0415  the same

    try:
        raw = Path(path).read_bytes()
        read: object = tomllib.loads(raw.decode()) if Path(path).suffix == ".toml" else json.loads(raw)
    except (OSError, ValueError, RecursionError) as error:
        raise _wrong(path, "the file must be readable, and TOML or JSON", f"{type(error).__name__}: {error}") from error
    if not isinstance(read, dict):
        raise _wrong(path, "the file must hold one table for each model", type(read).__name__)
    return cast("dict[str, object]", read)


def _wrong(path: str | os.PathLike[str], rule: str, got: str) -> InvalidInput:
    return InvalidInput(f"registering models: {rule}, got {got[:200]} ({os.fspath(path)}): correct the file", path=os.fspath(path))


def _dialect(row: dict[str, Any]) -> Dialect:
    given: dict[str, Any] = {**row, "tool_choice": tuple(row["tool_choice"]), "sent_back": tuple(row["sent_back"])}
    return Dialect(**given)


models = Models()
dialects: Mapping[str, Dialect] = {row["name"]: _dialect(row) for row in _core.dialect_fields()}
"""The servers that speak chat completions with rules of their own, by name."""
