"""Gemini's explicit caches: what a session's prompts begin with, kept at Google for a time and paid for by the hour.

One for each session, made where the lasting part of a prompt is long enough, used while prompts begin with the same bytes, renewed when
half of its time is over, replaced when the lasting part is twice as long, deleted when it serves no more. A cache that cannot be made is no
error: the request goes out whole, and it is tried again when the time that it would have had is over.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memspan import Prompt

__all__ = ["Caches"]

_FRONT = ("system_instruction", "tools", "tool_config")


@dataclass(frozen=True, slots=True)
class _Cache:
    name: str | None
    """`None` where it could not be made."""
    contents: int
    digest: str
    tokens: int
    until: float


class Caches:
    """The caches of one provider. May be shared between threads: one makes a session's cache, the others send their requests whole."""

    def __init__(self, seconds: int, least_tokens: int) -> None:
        self._seconds, self._least = seconds, least_tokens
        self._known: dict[str, _Cache] = {}
        self._busy: dict[str, threading.Thread] = {}

    def request(self, api: Any, prompt: Prompt, request: dict[str, Any]) -> dict[str, Any]:
        """The request as it is to be sent: with the session's cache in front, or whole."""
        session = prompt.cache_key
        own = threading.current_thread()
        try:
            if (busy := self._busy.setdefault(session, own)) is not own:
                if busy.is_alive():
                    return request
                self._busy[session] = own  # the other was a thread of the process that forked this one
            cache = self._fitting(api, prompt, request)
            self._known[session] = cache
        except Exception:  # noqa: BLE001  whatever the SDK raises: the request is good without a cache
            return request
        finally:
            if self._busy.get(session) is own:
                self._busy.pop(session, None)
        if cache.name is None:
            return request
        config = {key: value for key, value in request["config"].items() if key not in _FRONT}
        return {**request, "contents": request["contents"][cache.contents :], "config": {**config, "cached_content": cache.name}}

    def lost(self, prompt: Prompt, error: Exception) -> bool:
        """Whether an error says that the cache of a prompt's session is not there any more; it is forgotten then."""
        cache = self._known.get(prompt.cache_key)
        if cache is None or cache.name is None or "cache" not in str(error).lower():
            return False
        self._known.pop(prompt.cache_key, None)
        return True

    def close(self, api: Any) -> None:
        """Deletes all of them."""
        while self._known:
            self._delete(api, self._known.popitem()[1])

    def _fitting(self, api: Any, prompt: Prompt, request: Mapping[str, Any]) -> _Cache:
        """The session's cache for a request: the one that there is, renewed, or a new one."""
        now, known = time.monotonic(), self._known.get(prompt.cache_key)
        contents = _lasting(request["contents"])
        tokens = prompt.counted_tokens * len(_bytes(request, contents)) // len(_bytes(request, None))
        if known is not None and now < known.until and _digest(request, known.contents) == known.digest and tokens < 2 * known.tokens:
            if known.name is None or known.until - now > self._seconds / 2:
                return known
            try:
                api.update(name=known.name, config={"ttl": f"{self._seconds}s"})
            except Exception:
                self._known.pop(prompt.cache_key, None)  # it may be gone: the next request makes another
                raise
            return replace(known, until=now + self._seconds)
        if known is not None:
            self._delete(api, self._known.pop(prompt.cache_key))
        for session in [session for session, cache in list(self._known.items()) if cache.until <= now]:
            self._known.pop(session, None)
        nothing = _Cache(None, contents, _digest(request, contents), max(tokens, 1), now + self._seconds)
        if tokens < self._least:
            return replace(nothing, until=now)
        front = {key: request["config"][key] for key in _FRONT if key in request["config"]}
        config = {**front, "ttl": f"{self._seconds}s", "display_name": f"memspan {nothing.digest[:16]}"}
        if contents:
            config["contents"] = request["contents"][:contents]
        try:
            return replace(nothing, name=api.create(model=request["model"], config=config).name or None)
        except Exception:  # noqa: BLE001  too small, no right, no such model: not tried again for a while
            return nothing

    def _delete(self, api: Any, cache: _Cache) -> None:
        if cache.name is None:
            return
        with suppress(Exception):  # it ends by its time
            api.delete(name=cache.name)


def _lasting(contents: list[dict[str, Any]]) -> int:
    """How many contents stand before the newest turn, whose block of memories is another one the next time."""
    said = [at for at, content in enumerate(contents) if content["role"] == "user" and any("text" in part for part in content["parts"])]
    return said[-1] if said else max(len(contents) - 1, 0)


def _digest(request: Mapping[str, Any], contents: int) -> str:
    return hashlib.blake2b(_bytes(request, contents), digest_size=16).hexdigest()


def _bytes(request: Mapping[str, Any], contents: int | None) -> bytes:
    """The front of a request and so many of its contents, all by default."""
    front = [request["model"], [request["config"].get(key) for key in _FRONT], request["contents"][:contents]]
    return json.dumps(front, default=repr, sort_keys=True).encode()
