"""The common base of providers: clients made when they are needed, streams that are always closed, awaitable twins."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from memspan import InvalidInput, MissingExtra, Model, Prompt, UnknownModel, models
from memspan._core import Limits
from memspan._flags import shown
from memspan._twins import alone, each_alone
from memspan.stream import response_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, MutableMapping

__all__ = ["MOST_SECONDS", "Provider", "Writer", "checked", "chunks_of", "is_awaited", "provider_for", "response_of"]

MOST_SECONDS = Limits.MAX_WAIT_SECONDS
"""The longest that a call may wait: a day."""

_HOST = re.compile(r"\w+://([^/:?#]+)")


def checked(prompt: Prompt) -> Prompt:
    """The prompt of a call, which is of no other kind."""
    given = cast("object", prompt)  # callers without types
    if not isinstance(given, Prompt):
        raise InvalidInput(
            f"asking a model: a call takes a Prompt, as Session.assemble makes one, and this is of type {type(given).__name__}: pass one"
        )
    return prompt


_VENDORS = frozenset({"anthropic", "google", "openai"})
"""The vendors that have servers of their own here: whoever serves one serves no model of the others."""


def _is_at_home(model: Model) -> bool:
    """Whether a model is one of these vendors', and is asked at their own address."""
    return model.vendor.lower() in _VENDORS and not model.base_url


class Provider:
    """A way to a model. May be shared between threads.

    One of your own is a subclass that has `complete` and `stream`, which return what the SDK of OpenAI, Anthropic or Google would: objects
    or plain dicts of that shape. Both are plain functions, no coroutines, and what `stream` returns can be iterated. It needs no package
    and no client, and the awaitable twins call it in a thread. One that has an `acomplete` and an `astream` of its own is awaited by
    `Assistant.arespond` and `astream`, in the caller's event loop.

    Args:
        client: An SDK's client of your own, sync or async; by default one of each kind is made when it is needed.
        timeout_seconds: How long one call may take; of a stream, how long it may be silent.
        names: The server's names of models, where the registry has others.
        options: Given to the SDK with every request: `temperature`, `extra_headers`, `reasoning_effort`.
        client_options: Given to the SDK's client where one is made: `api_key`, `base_url`, `max_retries`.

    Examples:
        >>> class Mine(memspan.providers.Provider):
        ...     def complete(self, prompt, **options):
        ...         return {"choices": [{"message": {"role": "assistant", "content": "It listens on 8443."}, "finish_reason": "stop"}]}
        >>> memspan.Assistant(engine, Mine(), model="gpt-4o").respond("u-42", "which port does payments-api use?").text
        'It listens on 8443.'
    """

    package = ""
    extra = ""
    vendors: frozenset[str] | None = None
    """The vendors whose models it serves; `None` where that is not known."""
    address_variable = ""
    """The variable of the environment in which its SDK looks for another address than the vendor's own."""
    _homes: tuple[str, ...] = ()
    """The vendor's own hosts. A server anywhere else may serve models of any vendor."""
    _address = ""
    awaits = True
    """Whether its SDK has calls to be awaited; else awaitable twins make the plain call in a thread."""

    def __init__(
        self,
        client: Any = None,
        *,
        timeout_seconds: float = 600.0,
        names: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        **client_options: Any,
    ) -> None:
        seconds = cast("object", timeout_seconds)  # callers without types
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if not (is_number and 0 < timeout_seconds <= MOST_SECONDS):
            raise InvalidInput(
                f"making a provider: timeout_seconds must be above 0 and at most a day, got {shown(timeout_seconds)}: change it"
            )
        for name, given in (("names", names), ("options", options)):
            if not (given is None or isinstance(given, Mapping)):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
                raise InvalidInput(f"making a provider: {name} is a mapping, and it is of type {type(given).__name__}: pass a dict")
        if client is not None and client_options:
            raise InvalidInput(
                f"making a provider: {next(iter(client_options))}= is for a client that is made here, and one was given: leave one out"
            )
        self._timeout = float(timeout_seconds)
        self._names = dict(names or {})
        self._options = dict(options or {})
        self._client_options = client_options
        given_async = client is not None and _is_async(client)
        self._sync: Any = None if given_async else client
        self._async: Any = client if given_async else None
        self._asyncs: MutableMapping[Any, Any] = WeakKeyDictionary()
        self._own = client is None and bool(self.package)
        own = self._address_of(client_options) or os.environ.get(self.address_variable)
        self._address = str((own if client is None else getattr(client, "base_url", "")) or "")
        if self._own:
            self._sdk()  # a missing package is told now, not in the first call

    def serves(self, model: str) -> bool:
        """Whether this is the way to a model, as far as the registry knows whose it is."""
        if self.vendors is None or model in self._names:
            return True
        try:
            vendor = models[model].vendor
        except UnknownModel:
            return True
        return not vendor or vendor.lower() in self.vendors

    @property
    def base_url(self) -> str:
        """Where its requests go, as its options, the environment or the client that was given say; empty where they do not.

        It is told before the first call as after it: an address that changed would be another model's to what is learned of tokenizers.
        """
        return self._address if "://" in self._address else ""

    def with_model(self, model: str) -> Writer:
        """This provider with a model, for `llm=`: a function of chat messages and `max_tokens` that returns the reply's text.

        Examples:
            >>> writer = memspan.providers.OpenAI(api_key="sk-...").with_model("gpt-4o-mini")
            >>> writer
            memspan.providers.OpenAI().with_model('gpt-4o-mini')
        """
        return Writer(self, model)

    def complete(self, prompt: Prompt, **options: Any) -> Any:
        """Asks the model; what the SDK returns. `options` go to the SDK and before those of the provider.

        Raises:
            InvalidInput: The prompt is for a model of another vendor (`serves`), and the server is the vendor's own. Nothing was sent.
        """
        request = self._request(self._served(prompt), options, stream=False)
        return self._send(self._client(), request, stream=False)

    def stream(self, prompt: Prompt, **options: Any) -> Iterator[Any]:
        """Asks the model and yields chunks as they come. The connection is closed when the iteration ends, however it ends.

        Raises:
            InvalidInput: As `complete` does, with the first chunk.
        """
        request = self._request(self._served(prompt), options, stream=True)
        source = self._send(self._client(), request, stream=True)
        try:
            yield from source
        finally:
            close = getattr(source, "close", None)
            if close is not None:
                close()

    def count(self, prompt: Prompt) -> int:
        """How many input tokens the provider counts of a prompt; the local count where it has no way to ask."""
        checked(prompt)
        if not self.package:
            return prompt.counted_tokens
        return self._count(self._client(), self._request(prompt, {}, stream=False), prompt)

    async def acomplete(self, prompt: Prompt, **options: Any) -> Any:
        """The awaitable twin of `complete`: through the SDK's async client, or in a thread where only a sync one was given."""
        if self._async is None and not (self._own and self.awaits):
            return await alone(lambda: response_of(self, prompt, **options))
        request = await self._arequest(self._served(prompt), options, stream=False)
        return await self._send(self._async_client(), request, stream=False)

    async def astream(self, prompt: Prompt, **options: Any) -> AsyncIterator[Any]:
        """The awaitable twin of `stream`. Cancelling it closes the connection."""
        if self._async is None and not (self._own and self.awaits):
            async with aclosing(each_alone(chunks_of(self, prompt, **options))) as chunks:
                async for chunk in chunks:
                    yield chunk
            return
        request = await self._arequest(self._served(prompt), options, stream=True)
        source = self._send(self._async_client(), request, stream=True)
        if inspect.isawaitable(source):
            source = await source
        try:
            async for chunk in source:
                yield chunk
        finally:
            close = getattr(source, "close", None) or getattr(source, "aclose", None)
            if close is not None:
                done = close()
                if inspect.isawaitable(done):
                    await done

    async def acount(self, prompt: Prompt) -> int:
        """The awaitable twin of `count`: the plain call in a thread."""
        return int(await alone(lambda: self.count(prompt)))

    def _served(self, prompt: Prompt) -> Prompt:
        """The prompt of a call, which is for a model that can be asked here. Another vendor would refuse it."""
        model = checked(prompt).model
        host = _HOST.match(self._address)
        is_elsewhere = bool(self._homes) and host is not None and not any(f".{host[1]}".endswith(f".{home}") for home in self._homes)
        is_unknown = not self._own and host is None  # a client of the caller's that does not say where it asks
        if is_elsewhere or is_unknown or self.serves(model) or not _is_at_home(models[model]):
            return prompt
        name, served = type(self).__name__, " or ".join(sorted(self.vendors)) if self.vendors else "others"
        raise InvalidInput(
            f"asking a model: {name} serves models of {served}, and the prompt is for {model!r}: call session.switch_model(...) with a "
            f"model that it serves and assemble again, ask the provider of {model!r}, or name it as the server does ({name}(names=...))",
            model=model,
        )

    def _address_of(self, client_options: Mapping[str, Any]) -> Any:
        """The address at which a client that is made with these options asks, where they say one."""
        return client_options.get("base_url")

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        """The SDK's keyword arguments. It is asked for by the calls that a provider of one's own has instead."""
        del prompt, options
        name = "stream" if stream else "complete"
        twin = f", or await the calls with an a in front, as it has a{name}()" if self._is_awaited(name) else ""
        raise InvalidInput(
            f"asking a model: a provider has a way to it, and {type(self).__name__} has no {name}(): define {name}(self, prompt, **options)"
            f"{twin}"
        )

    async def _arequest(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        """The same for an awaitable call. Providers that ask a server override it."""
        return self._request(prompt, options, stream=stream)

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        """Calls the SDK."""
        raise NotImplementedError

    def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
        """Makes a client."""
        raise NotImplementedError

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        """The SDK's keyword arguments for chat messages of text, without cache marks. Who has none writes no summaries."""
        del messages, max_tokens
        raise InvalidInput(
            f"asking {model!r}: {type(self).__name__} must know plain messages (_plain, _text), and does not: give another llm"
        )

    def _text(self, response: Any) -> str:
        """The text of what the SDK returned; "" where it has none."""
        return response_text(response)

    def _count(self, client: Any, request: dict[str, Any], prompt: Prompt) -> int:
        del client, request
        return prompt.counted_tokens

    def _written(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> str:
        request = self._named({**self._plain(model, messages, max_tokens), "model": model}, {})
        return self._text(self._send(self._client(), request, stream=False))

    def _named(self, request: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        request["model"] = self._names.get(request["model"], request["model"])
        return {**request, **self._options, **options}

    def _sdk(self) -> Any:
        try:
            return importlib.import_module(self.package)
        except ImportError as error:
            raise MissingExtra(
                f"asking a model through {self.package} needs that package, which is not installed: pip install 'memspan[{self.extra}]'",
                extra=self.extra,
            ) from error

    def _client(self) -> Any:
        if self._sync is None:
            if not self._own:
                raise InvalidInput(
                    f"asking a model: {type(self).__name__} was made with an async client, which plain calls cannot use: await the twin "
                    "with an a in front, or give a sync client"
                )
            self._sync = self._make(self._sdk(), dict(self._client_options), awaitable=False)
        return self._sync

    def _async_client(self) -> Any:
        if self._async is not None:
            return self._async
        import asyncio  # noqa: PLC0415  programs without an event loop do not pay for it

        loop = asyncio.get_running_loop()  # whose connections no other loop can use
        kept = self._asyncs.get(loop)
        if kept is None:
            client = self._make(self._sdk(), dict(self._client_options), awaitable=True)
            kept = self._asyncs[loop] = (client, _closed_with_its_loop(client))
        return kept[0]

    def _is_awaited(self, name: str) -> bool:
        """Whether a call ("complete", "stream") has an awaitable form of its own: whichever of the two is defined nearest counts."""
        for owner in (self, *type(self).__mro__):
            if f"a{name}" in vars(owner):
                return owner is not Provider or self._async is not None or (self._own and self.awaits)
            if name in vars(owner):
                return False
        return False

    def __repr__(self) -> str:
        return f"memspan.providers.{type(self).__name__}()"


class Writer:
    """A provider with a model: what `llm=` takes. Made by `Provider.with_model`."""

    __slots__ = ("_model", "_provider")

    def __init__(self, provider: Provider, model: str) -> None:
        self._provider = provider
        self._model = model

    def __call__(self, messages: list[dict[str, str]], /, *, max_tokens: int) -> str:
        """The reply's text to chat messages of role and content. Raises what the SDK raises."""
        return self._provider._written(self._model, messages, max_tokens)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  a part of it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Writer) and self._provider is other._provider and self._model == other._model

    def __hash__(self) -> int:
        return hash((id(self._provider), self._model))

    def __repr__(self) -> str:
        return f"{self._provider!r}.with_model({self._model!r})"


async def _closing(client: Any) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        closed = client.close() if hasattr(client, "close") else None
        if inspect.isawaitable(closed):
            await closed


def _closed_with_its_loop(client: Any) -> AsyncGenerator[None]:
    """A generator that closes a client at the end of the running loop: `asyncio.run` closes those that began in it."""
    closing = _closing(client)
    with suppress(StopIteration):
        closing.asend(None).send(None)
    return closing


def response_of(provider: Provider, prompt: Prompt, **options: Any) -> Any:
    """The result of a provider's `complete`, which is not a coroutine."""
    response: Any = provider.complete(prompt, **options)
    if inspect.isawaitable(response):
        raise _not_plain(provider, "complete", response, "return the response")
    return response


def chunks_of(provider: Provider, prompt: Prompt, **options: Any) -> Generator[Any]:
    """The chunks that the `stream` of a provider returns, which can be iterated."""
    chunks: Any = provider.stream(prompt, **options)
    if not isinstance(chunks, Iterable):
        raise _not_plain(provider, "stream", chunks, "yield its chunks")
    yield from chunks


def _not_plain(provider: Provider, name: str, returned: Any, cure: str) -> InvalidInput:
    if inspect.iscoroutine(returned):
        returned.close()  # it is awaited by nobody, and Python would warn of it
    return InvalidInput(
        f"asking a model: {name}() of a provider is a plain function, and that of {type(provider).__name__} returns an object of type "
        f"{type(returned).__name__}: define it without async, and let it {cure}"
    )


def is_awaited(provider: Provider, name: str) -> bool:
    """Whether a call of a provider ("complete", "stream") is awaited where an event loop waits for it."""
    return provider._is_awaited(name)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  a part of it


def _is_async(client: Any) -> bool:
    return type(client).__name__.startswith("Async") or getattr(client, "is_async", False) is True


def provider_for(model: str) -> Provider:
    """The provider of a model's vendor, with the key of the environment: `OpenAI`, `Anthropic` or `Gemini`.

    Raises:
        InvalidInput: The vendor has no provider here.
        MissingExtra: Its SDK is not installed.
    """
    from memspan.providers.anthropic import Anthropic  # noqa: PLC0415  a circle otherwise
    from memspan.providers.gemini import Gemini  # noqa: PLC0415
    from memspan.providers.openai import OpenAI  # noqa: PLC0415

    made: dict[str, type[Provider]] = {"openai": OpenAI, "anthropic": Anthropic, "google": Gemini}
    vendor = models[model].vendor
    if vendor not in made:
        raise InvalidInput(
            f"choosing a provider for {model!r}: the vendor must be openai, anthropic or google, and it is {vendor or 'unknown'}: give the "
            "provider, for instance OpenAICompatible(base_url)",
            model=model,
        )
    return made[vendor]()
