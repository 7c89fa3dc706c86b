"""`Gemini`: Google's `generateContent`, by the Gemini API or by Vertex AI."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, cast

from memspan import InvalidInput
from memspan._copies import of_process
from memspan._flags import shown
from memspan._twins import alone
from memspan.providers import gemini_caches
from memspan.providers.provider import MOST_SECONDS, Provider

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping

    from memspan import Prompt

__all__ = ["Gemini"]

_LEAST_SECONDS = 60
_END = object()


@of_process("connections")
class Gemini(Provider):
    """Google's `generateContent`.

    Args:
        client: A `google.genai.Client`, which has both kinds of calls; by default one is made, with `GEMINI_API_KEY`.
        timeout_seconds: How long one call may take.
        cache_seconds: Keep what a session's prompts begin with in an explicit cache of so many seconds, a minute to a day, which Google
            bills by the hour; `None` leaves it to Gemini's own caching. `close` deletes what was made.
        cache_least_tokens: The fewest tokens that are worth a cache; a model's own least may be more.
        names: The server's names of models, where the registry has others.
        options: Fields of `GenerateContentConfig`, given with every request: `temperature`, `thinking_config`.
        client_options: Given to the SDK's client: `api_key`, `vertexai`, `project`, `location`, `http_options`.

    Raises:
        MissingExtra: `google-genai` is not installed, and no client is given.
    """

    package = "google.genai"
    extra = "gemini"
    address_variable = "GOOGLE_GEMINI_BASE_URL"
    _homes = ("googleapis.com",)
    vendors = frozenset({"google"})

    def __init__(self, client: Any = None, *, cache_seconds: int | None = None, cache_least_tokens: int = 4_096, **options: Any) -> None:
        if cache_seconds is not None and not (type(cache_seconds) is int and _LEAST_SECONDS <= cache_seconds <= MOST_SECONDS):
            raise InvalidInput(
                f"making a provider: cache_seconds must be None or from a minute to a day, got {shown(cache_seconds)}: Google bills by the "
                "hour"
            )
        if not (type(cache_least_tokens) is int and cache_least_tokens >= 0):
            raise InvalidInput("making a provider: cache_least_tokens is a whole number of 0 or more, and it is not: change it")
        super().__init__(client, **options)
        self._async = self._sync  # its one client has both kinds of calls
        self._caches = None if cache_seconds is None else gemini_caches.Caches(cache_seconds, cache_least_tokens)

    def complete(self, prompt: Prompt, **options: Any) -> Any:
        """Asks the model; what the SDK returns. A cache that somebody deleted is made anew, once."""
        try:
            return super().complete(prompt, **options)
        except Exception as error:
            if not self._has_lost(prompt, error):
                raise
        return super().complete(prompt, **options)

    def stream(self, prompt: Prompt, **options: Any) -> Iterator[Any]:
        """The same, chunk by chunk."""
        chunks = super().stream(prompt, **options)
        try:
            first = next(chunks, _END)
        except Exception as error:
            if not self._has_lost(prompt, error):
                raise
            chunks = super().stream(prompt, **options)
            first = next(chunks, _END)
        try:
            if first is not _END:
                yield first
                yield from chunks
        finally:
            chunks.close()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]  a generator

    async def acomplete(self, prompt: Prompt, **options: Any) -> Any:
        """The awaitable twin of `complete`."""
        try:
            return await super().acomplete(prompt, **options)
        except Exception as error:
            if not self._has_lost(prompt, error):
                raise
        return await super().acomplete(prompt, **options)

    async def astream(self, prompt: Prompt, **options: Any) -> AsyncIterator[Any]:
        """The awaitable twin of `stream`. Cancelling it closes the connection."""
        is_begun = False
        try:
            async with aclosing(cast("AsyncGenerator[Any]", super().astream(prompt, **options))) as chunks:
                async for chunk in chunks:
                    is_begun = True
                    yield chunk
                return
        except Exception as error:
            if is_begun or not self._has_lost(prompt, error):
                raise
        async with aclosing(cast("AsyncGenerator[Any]", super().astream(prompt, **options))) as chunks:
            async for chunk in chunks:
                yield chunk

    def _has_lost(self, prompt: Prompt, error: Exception) -> bool:
        """Whether an error is that of a cache which is not there any more; it is forgotten then."""
        return self._caches is not None and self._caches.lost(prompt, error)

    def close(self) -> None:
        """Deletes the caches that it made. Those of a process that died end by their time."""
        if self._caches is not None:
            self._caches.close(super()._client().caches)

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        del stream  # another method of the SDK's
        request = self._named(prompt.to_gemini(), options)
        return request if self._caches is None else self._caches.request(super()._client().caches, prompt, request)

    def _named(self, request: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        limit = {"http_options": {"timeout": int(self._timeout * 1000)}}
        config = {**request["config"], **limit, **self._options, **options}
        return {**request, "config": config, "model": self._names.get(request["model"], request["model"])}

    async def _arequest(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        if self._caches is None:
            return self._request(prompt, options, stream=stream)
        request: dict[str, Any] = await alone(lambda: self._request(prompt, options, stream=stream))
        return request

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        # One client of Google's has both: `aio` is the awaitable half.
        return client.generate_content_stream(**request) if stream else client.generate_content(**request)

    def _count(self, client: Any, request: dict[str, Any], prompt: Prompt) -> int:
        del request  # which may have lost its beginning to a cache
        whole = prompt.to_gemini()
        instruction = whole["config"].get("system_instruction")
        front = [] if instruction is None else [{"role": "user", **instruction}]  # the Gemini API counts contents alone
        model = self._names.get(whole["model"], whole["model"])
        return int(client.count_tokens(model=model, contents=[*front, *whole["contents"]]).total_tokens)

    def _client(self) -> Any:
        return super()._client().models

    def _async_client(self) -> Any:
        if self._async is None:
            self._async = super()._client()
        return self._async.aio.models

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        del model  # the caller names it
        system = "\n".join(message["content"] for message in messages if message["role"] == "system")
        roles = {"user": "user", "assistant": "model"}
        said = [{"role": roles[one["role"]], "parts": [{"text": one["content"]}]} for one in messages if one["role"] in roles]
        config: dict[str, Any] = {
            "max_output_tokens": max_tokens,
            **({"system_instruction": {"parts": [{"text": system}]}} if system else {}),
        }
        return {"contents": said, "config": config}

    def _text(self, response: Any) -> str:
        return response.text or ""

    def _address_of(self, client_options: Mapping[str, Any]) -> Any:
        http: dict[str, Any] | Any = client_options.get("http_options")
        return dict(http or ()).get("base_url")  # a mapping, or pydantic's model of it

    def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
        del awaitable
        return sdk.Client(**options)
