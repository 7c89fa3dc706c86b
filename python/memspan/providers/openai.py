"""`OpenAI`, `OpenAIResponses`, and `OpenAICompatible` for other servers of chat completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from memspan import InvalidInput, dialects
from memspan._copies import of_process
from memspan._flags import shown
from memspan.providers.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspan import Prompt

__all__ = ["OpenAI", "OpenAICompatible", "OpenAIResponses"]

_HOSTS = {
    "api.mistral.ai": "mistral",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "openrouter.ai": "openrouter",
    "api.x.ai": "xai",
    "api.cohere.ai": "cohere",
    "api.moonshot.ai": "moonshot",
    "api.moonshot.cn": "moonshot",
    "api.z.ai": "zai",
    "dashscope": "qwen",
    "generativelanguage.googleapis.com": "gemini",
    "bedrock-runtime": "bedrock",
    ":11434": "ollama",
    ":1234": "lmstudio",
    ":30000": "sglang",
}


@of_process("connections")
class OpenAI(Provider):
    """OpenAI's chat completions.

    Args:
        client: An `openai.OpenAI`, `openai.AsyncOpenAI` or their kin of Azure; by default they are made, with `OPENAI_API_KEY`.
        timeout_seconds: How long one call may take; of a stream, how long it may be silent.
        cache_key: Send `Prompt.cache_key`, so that the calls of a session reach the machine that has its prefix.
        names: The server's names of models, where the registry has others.
        options: Given to the SDK with every request.
        client_options: Given to the SDK's client: `api_key`, `base_url`, `max_retries`.

    Raises:
        MissingExtra: `openai` is not installed, and no client is given.

    Examples:
        >>> provider = memspan.providers.OpenAI(api_key="sk-...")
        >>> provider.serves("gpt-4o"), provider.serves("claude-sonnet-4-5")
        (True, False)
    """

    package = "openai"
    extra = "openai"
    address_variable = "OPENAI_BASE_URL"
    _homes = ("api.openai.com",)
    vendors: frozenset[str] | None = frozenset({"openai"})
    dialect: str | None = "openai"

    def __init__(
        self,
        client: Any = None,
        *,
        timeout_seconds: float = 600.0,
        cache_key: bool = True,
        names: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        **client_options: Any,
    ) -> None:
        if not isinstance(cache_key, bool):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"making a provider: cache_key is True or False, and it is {shown(cache_key)}: pass one of them")
        super().__init__(client, timeout_seconds=timeout_seconds, names=names, options=options, **client_options)
        self._cache_key = cache_key

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        request = self._named(prompt.to_openai(stream=stream, dialect=self.dialect), options)
        if self._cache_key:
            request.setdefault("prompt_cache_key", prompt.cache_key)
        return request

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        del stream  # the request says it
        return client.chat.completions.create(**{"timeout": self._timeout, **request})

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        del model  # the caller names it
        limit = dialects[self.dialect or "openai"].output_parameter
        return {"messages": messages, limit: max_tokens}

    def _text(self, response: Any) -> str:
        return response.choices[0].message.content or ""

    def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
        return (sdk.AsyncOpenAI if awaitable else sdk.OpenAI)(**options)


class OpenAIResponses(OpenAI):
    """OpenAI's responses: nothing is stored there, and a model's encrypted reasoning goes back. The arguments are those of `OpenAI`."""

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        request = self._named(prompt.to_openai_responses(stream=stream), options)
        if self._cache_key:
            request.setdefault("prompt_cache_key", prompt.cache_key)
        return request

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        del stream
        return client.responses.create(**{"timeout": self._timeout, **request})

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        del model  # the caller names it
        return {"input": [{"type": "message", **message} for message in messages], "max_output_tokens": max_tokens, "store": False}

    def _text(self, response: Any) -> str:
        return response.output_text or ""


class OpenAICompatible(OpenAI):
    """Other servers of chat completions: vLLM, SGLang, Ollama, llama.cpp, LM Studio, Mistral, DeepSeek, Groq, OpenRouter and others.

    Args:
        base_url: Where the server is, as in `http://localhost:8000/v1`.
        dialect: Whose rules it has, one of `memspan.dialects`; by default told from the address, else vLLM's, which suit most.
        client: An `openai.OpenAI` of your own, which knows its address; then `dialect` must be named.
        timeout_seconds: How long one call may take; of a stream, how long it may be silent.
        slots: How many slots a llama.cpp server has (`--parallel`): each session is sent to one and the same, which has its prefix.
        session_header: The header by which a router before several servers tells sessions apart, `x-user-id` for instance (vLLM's
            production stack, `--routing-logic session --session-key x-user-id`): a key made of the session's id is sent in it.
        names: The server's names of models, where the registry has others.
        options: Given to the SDK with every request; `extra_body` takes what only this server knows.
        client_options: Given to the SDK's client. `api_key` is a word that says nothing where none is given: local servers take any.

    Examples:
        >>> provider = memspan.providers.OpenAICompatible("https://api.mistral.ai/v1", api_key="...")
        >>> provider.dialect, memspan.dialects[provider.dialect].output_parameter
        ('mistral', 'max_tokens')
    """

    vendors = None

    def __init__(
        self,
        base_url: str | None = None,
        *,
        dialect: str | None = None,
        client: Any = None,
        timeout_seconds: float = 600.0,
        slots: int | None = None,
        session_header: str | None = None,
        names: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        **client_options: Any,
    ) -> None:
        if slots is not None and (type(slots) is not int or slots < 1):  # pyright: ignore[reportUnnecessaryComparison]  callers without types
            raise InvalidInput(
                f"making a provider: slots must be a whole number of 1 or more, got {shown(slots)}: give the server's --parallel"
            )
        if (base_url is None) == (client is None):
            raise InvalidInput("making a provider: it needs a base_url or a client, and one of them alone: give where the server is")
        for name, given in (("base_url", base_url), ("session_header", session_header)):
            if not (given is None or isinstance(given, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidInput(f"making a provider: {name} is a text, and it is of type {type(given).__name__}: pass one")
        if dialect is not None and (not isinstance(cast("object", dialect), str) or dialect not in list(dialects)):
            raise InvalidInput(
                f"making a provider: dialect must be one of {', '.join(dialects)}, got {shown(dialect)}: name the server, or leave it out",
                dialect=dialect,
            )
        if base_url is not None:
            client_options = {"base_url": base_url, "api_key": "none", **client_options}
        super().__init__(client, timeout_seconds=timeout_seconds, cache_key=False, names=names, options=options, **client_options)
        address = base_url or str(getattr(client, "base_url", ""))
        self._slots, self._session_header = slots, session_header
        self.dialect = dialect or next((name for host, name in _HOSTS.items() if host in address), "vllm")

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        request = super()._request(prompt, options, stream=stream)
        if self._slots is not None:
            slot = {"id_slot": int(prompt.cache_key, 16) % self._slots, "cache_prompt": True}
            request["extra_body"] = {**slot, **(request.get("extra_body") or {})}
        if self._session_header is not None:
            request["extra_headers"] = {self._session_header: prompt.cache_key, **(request.get("extra_headers") or {})}
        return request
