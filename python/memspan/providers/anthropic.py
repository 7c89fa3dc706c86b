"""`Anthropic`: messages, with breakpoints where the prompt's prefix ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from memspan import InvalidInput
from memspan._copies import of_process
from memspan._flags import shown
from memspan.providers.provider import Provider
from memspan.providers.thinking import without_thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from memspan import Prompt

__all__ = ["Anthropic"]

_NOT_COUNTED = frozenset(
    {
        *("max_tokens", "stream", "timeout", "metadata", "temperature", "top_p", "top_k", "stop_sequences", "service_tier"),
        *("container", "inference_geo", "diagnostics"),
    }
)


@of_process("connections")
class Anthropic(Provider):
    """Anthropic's messages.

    Args:
        client: An `anthropic.Anthropic`, `anthropic.AsyncAnthropic` or their kin of Bedrock and Vertex; by default they are made, with
            `ANTHROPIC_API_KEY`.
        timeout_seconds: How long one call may take; of a stream, how long it may be silent.
        cache_ttl: How long the prefix before a lasting breakpoint is cached: five minutes, or an hour, which costs more to write. The
            breakpoints for tool rounds of one turn always have five minutes.
        names: The server's names of models, where the registry has others.
        options: Given to the SDK with every request. `thinking`, if it is enabled, is left out of a request that goes on with tools which
            another model called, with the `context_management` edits that clear thinking: Anthropic refuses such calls without thinking
            before them. The turn's later requests do without it too, and the next turn has it again.
        client_options: Given to the SDK's client: `api_key`, `base_url`, `max_retries`.

    Raises:
        MissingExtra: `anthropic` is not installed, and no client is given.

    Examples:
        >>> provider = memspan.providers.Anthropic(api_key="sk-ant-...", cache_ttl="1h")
        >>> provider.serves("claude-sonnet-4-5"), provider.serves("gpt-4o")
        (True, False)
    """

    package = "anthropic"
    extra = "anthropic"
    address_variable = "ANTHROPIC_BASE_URL"
    _homes = ("api.anthropic.com",)
    vendors = frozenset({"anthropic"})

    def __init__(
        self,
        client: Any = None,
        *,
        timeout_seconds: float = 600.0,
        cache_ttl: Literal["5m", "1h"] = "5m",
        names: Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
        **client_options: Any,
    ) -> None:
        if not isinstance(cast("object", cache_ttl), str) or cache_ttl not in ("5m", "1h"):
            raise InvalidInput(f"making a provider: cache_ttl must be '5m' or '1h', got {shown(cache_ttl)}: Anthropic has these two")
        super().__init__(client, timeout_seconds=timeout_seconds, names=names, options=options, **client_options)
        self._ttl = cache_ttl

    def _request(self, prompt: Prompt, options: Mapping[str, Any], *, stream: bool) -> dict[str, Any]:
        request = self._named(prompt.to_anthropic(stream=stream), options)
        request = without_thinking(request, request["messages"])
        if self._ttl == "1h":
            marks = list(_marks(request))
            passing = sum(not one.lasting for one in prompt.breakpoints)
            for mark in marks[: max(len(marks) - passing, 0)]:
                mark["ttl"] = "1h"  # longer ones must stand before shorter ones, and do
        return request

    def _send(self, client: Any, request: dict[str, Any], *, stream: bool) -> Any:
        del stream
        return client.messages.create(**{"timeout": self._timeout, **request})

    def _count(self, client: Any, request: dict[str, Any], prompt: Prompt) -> int:
        del prompt
        counted = {key: value for key, value in request.items() if key not in _NOT_COUNTED}
        return int(client.messages.count_tokens(timeout=self._timeout, **counted).input_tokens)

    def _plain(self, model: str, messages: list[dict[str, str]], max_tokens: int) -> dict[str, Any]:
        del model  # the caller names it
        parts = [(message["role"], {"type": "text", "text": message["content"]}) for message in messages]
        system = [part for role, part in parts if role == "system"]
        said = [{"role": role, "content": [part]} for role, part in parts if role != "system"]
        return {"messages": said, "max_tokens": max_tokens, **({"system": system} if system else {})}

    def _text(self, response: Any) -> str:
        return "".join(block.text for block in response.content if block.type == "text")

    def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
        return (sdk.AsyncAnthropic if awaitable else sdk.Anthropic)(**options)


def _marks(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    blocks = [*request.get("tools", ()), *request.get("system", ())]
    for message in request["messages"]:
        blocks += message["content"]
    return (block["cache_control"] for block in blocks if "cache_control" in block)
