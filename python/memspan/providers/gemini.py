"""`Gemini`: Google's `generateContent`, by the Gemini API or by Vertex AI."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memspan.providers.provider import Provider

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspan import Prompt

__all__ = ["Gemini"]


class Gemini(Provider):
    """Google's `generateContent`.

    Args:
        client: A `google.genai.Client`, which has both kinds of calls; by default one is made, with `GEMINI_API_KEY`.
        timeout_seconds: How long one call may take.
        names: What the server calls models, where that is another name than the registry's.
        options: Fields of `GenerateContentConfig`, given with every request: `temperature`, `thinking_config`.
        client_options: Given to the SDK's client: `api_key`, `vertexai`, `project`, `location`, `http_options`.

    Raises:
        MissingExtra: `google-genai` is not installed, and no client is given.
    """

    package = "google.genai"
    extra = "gemini"
    vendors = frozenset({"google"})

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        del stream  # another method of the SDK's
        return self._named(prompt.to_gemini(), options)

    def _named(self, request: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        limit = {"http_options": {"timeout": int(self._timeout * 1000)}}
        config = {**request["config"], **limit, **self._options, **options}
        return {**request, "config": config, "model": self._names.get(request["model"], request["model"])}

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        # One client of Google's has both: `aio` is the awaitable half.
        return client.generate_content_stream(**request) if stream else client.generate_content(**request)

    def _count(self, client: Any, request: dict[str, Any], prompt: Prompt) -> int:
        del prompt
        instruction = request["config"].get("system_instruction")
        front = [] if instruction is None else [{"role": "user", **instruction}]  # the Gemini API counts contents alone
        return int(client.count_tokens(model=request["model"], contents=[*front, *request["contents"]]).total_tokens)

    def __init__(self, client: Any = None, **options: Any) -> None:
        super().__init__(client, **options)
        self._own = True  # its one client has both kinds of calls

    def _client(self) -> Any:
        return super()._client().models

    def _async_client(self) -> Any:
        if self._async is None:
            self._async = super()._client()
        return self._async.aio.models

    async def acomplete(self, prompt: Prompt, **options: Any) -> Any:
        """The awaitable twin of `complete`."""
        return await self._async_client().generate_content(**self._request(prompt, options, stream=False))

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        system = "\n".join(message["content"] for message in messages if message["role"] == "system")
        roles = {"user": "user", "assistant": "model"}
        said = [{"role": roles[one["role"]], "parts": [{"text": one["content"]}]} for one in messages if one["role"] in roles]
        config: dict[str, Any] = {"max_output_tokens": max_tokens, **({"system_instruction": {"parts": [{"text": system}]}} if system else {})}
        return {"contents": said, "config": config}

    def _text(self, response: Any) -> str:
        return response.text or ""

    def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
        del awaitable
        return sdk.Client(**options)
