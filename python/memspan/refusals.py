"""Why a provider refused a request, read from its error: codes first, then wordings.

One table for all of them, because gateways hand out each other's words: `_CODES`, `_WORDINGS`, `_STATUSES`, in the order in which they are
asked. Each wording was seen in a public thread, and `tests/data/refusals.jsonl` holds them with their sources. Nothing outside of the
table is guessed: `Refusal.of` gives `None`, and the caller handles the error.

Refusals are handled by `Session.recover`, and retries by the SDK.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from memspan._core import Limits
from memspan._fence import is_mapping
from memspan._values import dataclass
from memspan.exceptions import ProviderError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    _Search: TypeAlias = Callable[[str], re.Match[str] | None]

__all__ = ["Refusal", "RefusalKind", "is_answer"]

RefusalKind: TypeAlias = Literal["too_long", "overloaded", "rate_limited", "outage", "auth", "bad_request"]
"""The kinds of refusals, each with its own remedy."""

_MOST_WORDS = 20_000
_MOST_TOKENS = 2**40
_LEAST_REPLY = 1 / 4


@dataclass(frozen=True)
class Refusal:
    """Why a provider refused a request.

    Attributes:
        kind: "too_long": a smaller prompt helps, or a shorter reply. "overloaded", "rate_limited", "outage": another model or a later time
            helps. "auth": the key, its rights or the account must be corrected. "bad_request": the request must be another.
        input_tokens: The true size of the prompt, where the error says it.
        limit_tokens: The most tokens of the prompt, or of prompt and reply together where `shrink` is "reply".
        output_tokens: The most that the reply may have, where the reply must shrink.
        shrink: Which part must shrink; `None` where the request was not too long.
        retry_after_seconds: How long the provider asks to wait.
        status: The HTTP status, where the error has one.
        code: The provider's code, where the table knows it.
        message: The provider's words, at most 20,000 characters.

    Examples:
        >>> refusal = memspan.Refusal.of("prompt is too long: 213462 tokens > 200000 maximum")
        >>> refusal.kind, refusal.input_tokens, refusal.limit_tokens, refusal.shrink
        ('too_long', 213462, 200000, 'prompt')
    """

    kind: RefusalKind
    input_tokens: int | None = None
    limit_tokens: int | None = None
    output_tokens: int | None = None
    shrink: Literal["prompt", "reply"] | None = None
    retry_after_seconds: float | None = None
    status: int | None = None
    code: str | None = None
    message: str = ""

    @classmethod
    def of(cls, error: BaseException | str | Mapping[str, Any]) -> Refusal | None:
        """Reads an SDK's exception, its words, or the body of an error; `None` where the table knows no such refusal."""
        if isinstance(error, ProviderError) and getattr(error, "error", None):  # which a stream said in place of a reply
            return cast("Refusal | None", getattr(error, "refusal", None))
        words, status = _words(error)[:_MOST_WORDS], _status(error)
        code, by_code = _by_code(error, words)
        lengths = _lengths(error, words)
        kind = by_code
        if lengths is not None and by_code in {None, "bad_request", "too_long", "outage"}:
            kind = "too_long"
        elif lengths is not None and by_code == "rate_limited" and lengths.alone_is_too_large:
            kind = "too_long"  # no waiting helps a request that is larger than what a whole minute allows
        if kind in {None, "bad_request"}:  # a code that is said of anything: the words may say more
            kind = _by_words(words) or kind or _by_status(status) or _by_class(error)
        if kind is None:
            return None
        known = lengths if kind == "too_long" and lengths is not None else _Lengths()
        shrink, output = known.shrink() if kind == "too_long" else (None, None)
        wait = None if kind == "too_long" else _retry_after(error, words)
        return cls(kind, known.input, known.limit, output, shrink, wait, status, code, words)


def is_answer(error: BaseException) -> bool:
    """Whether an error is what a provider answered. One of the program is not: a missing key, an argument that the SDK does not take."""
    said = (_get(error, name) for name in ("response", "body", "details"))
    return isinstance(error, ProviderError) or _status(error) is not None or any(one is not None for one in said)


# --- the table ------------------------------------------------------------------------------------------------------------------------

_CODES: dict[str, RefusalKind] = {
    # OpenAI, Azure, and who answers like them
    "context_length_exceeded": "too_long",
    "rate_limit_exceeded": "rate_limited",
    "insufficient_quota": "auth",
    "invalid_api_key": "auth",
    "account_deactivated": "auth",
    "billing_not_active": "auth",
    "server_error": "outage",
    "engine_overloaded": "overloaded",
    "server_is_overloaded": "overloaded",
    "slow_down": "overloaded",
    "model_not_found": "bad_request",
    "content_policy_violation": "bad_request",
    "content_filter": "bad_request",
    # Anthropic
    "overloaded_error": "overloaded",
    "rate_limit_error": "rate_limited",
    "api_error": "outage",
    "timeout_error": "outage",
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "auth",
    "request_too_large": "too_long",
    "not_found_error": "bad_request",
    # Gemini and Vertex
    "MODEL_CAPACITY_EXHAUSTED": "overloaded",
    "RESOURCE_EXHAUSTED": "rate_limited",
    "UNAVAILABLE": "overloaded",
    "DEADLINE_EXCEEDED": "outage",
    "INTERNAL": "outage",
    "API_KEY_INVALID": "auth",
    "UNAUTHENTICATED": "auth",
    "PERMISSION_DENIED": "auth",
    "FAILED_PRECONDITION": "auth",
    "INVALID_ARGUMENT": "bad_request",
    # Bedrock
    "ThrottlingException": "rate_limited",
    "TooManyRequestsException": "rate_limited",
    "ServiceQuotaExceededException": "rate_limited",
    "ModelNotReadyException": "overloaded",
    "ServiceUnavailableException": "overloaded",
    "ModelTimeoutException": "outage",
    "InternalServerException": "outage",
    "AccessDeniedException": "auth",
    "UnrecognizedClientException": "auth",
    "ExpiredTokenException": "auth",
    "ValidationException": "bad_request",
    # Mistral
    "3051": "too_long",
    "3230": "bad_request",
    "3280": "bad_request",
    "invalid_function_call": "bad_request",
    "service_tier_capacity_exceeded": "overloaded",
    # GitHub Models and Copilot; llama.cpp
    "model_max_prompt_tokens_exceeded": "too_long",
    "exceed_context_size_error": "too_long",
    # said by many, of anything
    "invalid_request_error": "bad_request",
    "invalid_parameter_error": "bad_request",
}

_N = r"([\d,]{1,40})"
_GAP = ".{0,400}?"
"""Words between two that tell. Without a bound, a text that has each of them often took a time that grew with its fourth power."""

# Patterns are compiled when they are first needed, and kept by `re`: all of them take longer than importing memspan.
_WORDINGS: tuple[tuple[str, str, _Search], ...] = tuple(
    (provider, names, partial(re.search, pattern.replace("#", _N).replace(".*?", _GAP), flags=re.IGNORECASE | re.DOTALL))
    for provider, names, pattern in [
        ("anthropic", "input limit", r"prompt is too long:\s*# tokens\s*>\s*# maximum"),
        ("anthropic", "input output limit", r"input length and `?max_tokens`? exceed context limit:\s*#\s*\+\s*#\s*>\s*#"),
        ("anthropic", "asked reply", r"max_tokens: # > #, which is the maximum allowed"),
        ("openai", "limit input", r"Input tokens exceed the configured limit of # tokens\. Your messages resulted in # tokens"),
        ("openai", "limit input", r"maximum context length is # tokens\.? However, your messages resulted in # tokens"),
        ("openai", "limit total input output",
            (r"maximum context length is # tokens[.,] however,? you requested (?:about )?# tokens "
             r"\(# (?:in the messages|in your prompt|of text input|of the input)[,;] # (?:in|for) the (?:completion|output)\)")),
        ("openrouter", "limit total input tools output",
            (r"maximum context length is # tokens\. However, you requested (?:about )?# tokens "
             r"\(# of text input, # of (?:tool|image) input, # in the output\)")),
        ("openrouter", "limit total input",
            (r"maximum context length is # tokens\. However, you requested (?:about )?# tokens "
             r"\(# (?:of text input|in your prompt|in the messages)\)")),
        ("vllm", "limit output input",
            (r"maximum context length is # tokens\. However, you requested # output tokens and your prompt contains "
             r"(?:at least )?# input tokens")),
        ("vllm", "limit input", r"maximum context length is # tokens\. However, your request has # input tokens"),
        ("vllm", "input limit", r"Input prompt \(# tokens\) is too long and exceeds limit of #"),
        ("vllm", "limit input",
            r"maximum (?:context|model) length is # tokens[.,] however,? (?:you requested|the prompt (?:has|contains)) # tokens"),
        ("zai", "input limit", r"number of input tokens \(#\) has exceeded max_prompt_tokens \(#\)"),
        ("gemini", "input limit", r"input token count \(?#\)? exceeds the maximum number of tokens allowed \(?#"),
        ("gemini", "limit", r"input token count exceeds the maximum number of tokens allowed \(?#"),
        ("qwen", "limit", r"Range of input length should be \[\d+,\s*#\]"),
        ("xai", "limit input", r"maximum prompt length is # but the request contains # tokens"),
        ("copilot", "input limit", r"prompt token count of # exceeds the limit of #"),
        ("llama.cpp", "input limit", r"request \(# tokens\) exceeds the available context size \(# tokens\)"),
        ("llama.cpp", "input limit", r"\"n_prompt_tokens\":\s*#,\s*\"n_ctx\":\s*#"),
        ("llama-cpp-python", "input limit", r"Requested tokens \(#\) exceed context window of #"),
        ("sglang", "input limit", r"input \(# tokens\) is longer than the model\\?'?s context length \(# tokens\)"),
        ("sglang", "input limit", r"Input length \(# tokens\) exceeds the maximum allowed length \(# tokens\)"),
        ("sglang", "total limit input output",
            (r"Requested token count exceeds the model's maximum context length.*?requested a total of # tokens.*?"
             r"limit of # tokens.*?# tokens from the input messages and # tokens for the completion")),
        ("lmstudio", "input limit", r"keep the first # tokens when (?:the )?context (?:the )?overflows.*?context length of only # tokens"),
        ("lmstudio", "input limit", r"Input length # exceeds context length #"),
        ("tgi", "limit input output", r"tokens \+ `max_new_tokens` must be <= #\. Given: # `inputs` tokens and # `max_new_tokens`"),
        ("cohere", "limit total", r"total number of tokens \(prompt and prediction\) cannot exceed # - received #"),
        ("mlx", "input limit", r"Prompt too long: # tokens exceeds max context window of # tokens"),
        ("mistral", "input limit", r"Prompt contains # tokens.*?too large for model with # maximum context length"),
        ("moonshot", "limit input", r"exceeded model token limit:?\s*#\s*\(requested:?\s*#\)"),
        ("moonshot", "limit", r"exceeded model token limit:?\s*#"),
        ("groq", "limit input", r"Request too large.*?tokens per min(?:ute)? \(TPM\): Limit #, Requested #"),
        ("groq", "reply", r"`?max_(?:completion_)?tokens`? must be less than or equal to `?#`?"),
        ("bedrock", "reply", r"maximum tokens you requested exceeds? the model limit of #"),
        ("openai", "reply", r"max_tokens is too large: \d+\. This model supports at most # completion tokens"),
        ("openai", "", r"Your input exceeds the context window of this model"),
        ("bedrock", "", r"Input is too long for requested model"),
        ("llama.cpp", "", r"exceeds the available context size"),
        ("mlx", "", r"Prompt exceeds (?:the )?maximum context length"),
        ("anthropic", "", r"\bprompt is too long\b"),
        ("gpt4all", "", r"prompt size exceeds the context window size"),
    ]
)  # fmt: skip

_BY_WORDS: tuple[tuple[RefusalKind, _Search], ...] = tuple(
    (kind, partial(re.search, pattern, flags=re.IGNORECASE))
    for kind, pattern in cast(
        "list[tuple[RefusalKind, str]]",
        [
            (
                "auth",
                r"insufficient balance|exceeded your current quota, please check your plan and billing details\.? .{0,400}platform\.openai",
            ),
            ("auth", r"api_key client option must be set|resolve authentication method"),  # the SDKs, where there is no key
            ("auth", r"incorrect api key|invalid (?:x-)?api[- ]key|api key not valid|\bunauthori[sz]ed\b"),
            ("overloaded", r"\boverloaded\b|service is too busy|no capacity available|currently experiencing high (?:demand|traffic)"),
            (
                "rate_limited",
                r"rate limit|too many requests|too many tokens, please wait|resource has been exhausted|exceeded your current quota",
            ),
            (
                "outage",
                r"service (?:is )?(?:temporarily )?unavailable|internal server error|bad gateway|gateway time-?out|connection error",
            ),
            (
                "bad_request",
                r"tool call id was .{0,400} but must be|unexpected role '|expected last role|roles must alternate|unsupported parameter",
            ),
            ("bad_request", r"invalid `?signature`? in `?thinking`? block"),
        ],
    )
)

_STATUSES: dict[int, RefusalKind] = {
    **dict.fromkeys([400, 404, 405, 409, 415, 422], "bad_request"),
    **dict.fromkeys([401, 402, 403], "auth"),
    408: "outage",
    413: "too_long",
    429: "rate_limited",
    **dict.fromkeys([500, 502, 504, 520, 522, 524], "outage"),
    503: "overloaded",
    529: "overloaded",
}

_BROKEN = frozenset({"TransportError", "RemoteProtocolError", "IncompleteRead", "JSONDecodeError", "APIResponseValidationError"})
"""Classes of errors for an answer that did not come whole, or was a proxy's page."""

_CODE_IN_WORDS = r"""['"](?:code|type|status|reason|__type)['"]\s*:\s*['"]?(\w+)['"]?"""
_NAMED_IN_WORDS = r"\((\w+Exception)\)|\b(\w+Exception):|\b([A-Z]+_[A-Z_]+)\."
_WAIT = r"(?:try again|retry) in (\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})\s{0,20}(ms|s|m)\b"


# --- reading --------------------------------------------------------------------------------------------------------------------------


@dataclass()
class _Lengths:
    input: int | None = None
    output: int | None = None
    limit: int | None = None
    total: int | None = None
    reply: int | None = None
    provider: str = ""

    @property
    def alone_is_too_large(self) -> bool:
        return self.input is not None and self.limit is not None and self.input > self.limit

    def shrink(self) -> tuple[Literal["prompt", "reply"], int | None]:
        """Which part must shrink. The reply, where what the prompt leaves of the limit is a good part of what it was to have."""
        if self.reply is not None:
            return "reply", self.reply
        if self.input is None or self.limit is None or not self.output:
            return "prompt", None
        left = self.limit - self.input
        if 0 < left < self.output and left >= self.output * _LEAST_REPLY:
            return "reply", left
        if left > 0:  # the prompt must leave the reply its room
            self.limit = max(self.limit - self.output, self.limit // 4)
        return "prompt", None


def _lengths(error: object, words: str) -> _Lengths | None:
    for provider, names, search in _WORDINGS:
        found = search(words)
        if found is None:
            continue
        numbers = [_number(group) for group in found.groups()]
        named = dict(zip(names.split(), numbers, strict=True))
        if any(number is None for number in numbers):
            return _Lengths(provider=provider)
        given = named.get("input")
        if "tools" in named:
            given = (given or 0) + (named["tools"] or 0)
        if given is None and "total" in named:
            given = named["total"]
        return _Lengths(given, named.get("output"), named.get("limit"), named.get("total"), named.get("reply"), provider)
    body = _body(error)
    given, limit = body.get("n_prompt_tokens"), body.get("n_ctx")
    if _is_count(given) and _is_count(limit):
        return _Lengths(cast("int", given), None, cast("int", limit), provider="llama.cpp")
    return None


def _number(digits: str) -> int | None:
    bare = digits.replace(",", "")
    return int(bare) if bare and len(bare) <= 13 and 0 < int(bare) <= _MOST_TOKENS else None  # noqa: PLR2004  digits of the most


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS


def _by_code(error: object, words: str) -> tuple[str | None, RefusalKind | None]:
    """The most telling code: one that says much goes before one that is said of anything."""
    known: list[tuple[str, RefusalKind]] = [(code, _CODES[code]) for code in _codes(error, words) if code in _CODES]
    telling = [row for row in known if row[1] != "bad_request"] or known
    return telling[0] if telling else (None, None)


def _codes(error: object, words: str) -> Iterator[str]:
    body = _body(error)
    for place in (error, body, body.get("error"), getattr(error, "response", None)):
        for name in ("code", "type", "status", "reason", "Code", "__type"):
            value = _get(place, name)
            if isinstance(value, str | int) and not isinstance(value, bool):
                yield str(value)
    response = _get(error, "response")
    coded = _get(_get(response, "Error"), "Code")  # botocore's
    if isinstance(coded, str):
        yield coded
    for found in re.finditer(_CODE_IN_WORDS, words):
        yield found.group(1)
    for found in re.finditer(_NAMED_IN_WORDS, words):
        yield next(group for group in found.groups() if group)


def _by_words(words: str) -> RefusalKind | None:
    return next((kind for kind, search in _BY_WORDS if search(words)), None)


def _by_status(status: int | None) -> RefusalKind | None:
    if status is None:
        return None
    return _STATUSES.get(status) or ("outage" if status >= 500 else None)  # noqa: PLR2004  a server's own


def _by_class(error: object) -> RefusalKind | None:
    """SDKs have classes of their own for a connection that broke: openai.APIConnectionError, httpx.ConnectTimeout."""
    if not isinstance(error, BaseException):
        return None
    names = {kind.__name__ for kind in type(error).__mro__}
    broken = isinstance(error, ConnectionError | TimeoutError) or any("Timeout" in name or "Connect" in name for name in names)
    return "outage" if broken or names & _BROKEN else None


def _status(error: object) -> int | None:
    for place in (error, _get(error, "response"), _body(error), _body(error).get("error")):
        for name in ("status_code", "http_status", "status", "code"):
            value = _get(place, name)
            if isinstance(value, int) and not isinstance(value, bool) and 400 <= value < 600:  # noqa: PLR2004  errors of HTTP
                return value
    found = re.search(r"(?:Error code|status code|status):?\s*([45]\d\d)\b|^\s*([45]\d\d)\b", _words(error)[:_MOST_WORDS], re.IGNORECASE)
    return int(found.group(1) or found.group(2)) if found else None


def _retry_after(error: object, words: str) -> float | None:
    headers = _get(_get(error, "response"), "headers") or _get(error, "headers")
    try:
        given = {str(name).lower(): value for name, value in headers.items()} if headers is not None else {}
        seconds = float(given["retry-after-ms"]) / 1000 if "retry-after-ms" in given else float(given["retry-after"])
    except (KeyError, TypeError, ValueError, AttributeError):
        found = re.search(_WAIT, words, re.IGNORECASE)
        seconds = float(found.group(1)) * {"ms": 0.001, "s": 1.0, "m": 60.0}[found.group(2).lower()] if found else math.nan
    return seconds if 0 <= seconds < Limits.MAX_WAIT_SECONDS else None


def _body(error: object) -> Mapping[str, Any]:
    body = error if is_mapping(error) else _get(error, "body")
    if not is_mapping(body):
        body = _get(error, "details")
    found = body if is_mapping(body) else dict[str, Any]()
    inner = found.get("error")
    return {**found, **inner} if is_mapping(inner) else found


def _get(place: object, name: str) -> Any:
    if is_mapping(place):
        return place.get(name)
    try:
        return getattr(place, name, None)
    except Exception:  # noqa: BLE001  a property of an SDK that raises says nothing
        return None


def _words(error: object) -> str:
    if isinstance(error, str):
        return error
    try:
        if is_mapping(error):
            return repr(error)
        said = str(error)
        body = _get(error, "body") or _get(error, "details")
        return f"{said}\n{body}" if (isinstance(body, str) or is_mapping(body)) and str(body) not in said else said
    except Exception:  # noqa: BLE001  an exception that cannot say what it is says nothing
        return ""
