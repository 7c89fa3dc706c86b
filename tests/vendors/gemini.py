"""Gemini's `generateContent` and `cachedContents`, as its server takes and refuses them."""

from __future__ import annotations

import json
from typing import Any

from tests.vendors.server import Vendor

LEAST_TOKENS = 1_024


class GeminiVendor(Vendor):
    """Keeps caches, and answers from its script."""

    def __init__(self, script: list[Any]) -> None:
        super().__init__(script)
        self.caches: dict[str, dict[str, Any]] = {}
        self.calls: list[tuple[str, str]] = []
        self.full = False
        """No cache is made any more."""

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        method, name = headers[":method"], path.split("/", 2)[2]  # behind the version
        if not name.startswith("cachedContents"):
            complaint = self._request(body)
            self.requests.append((path, body, headers))
            return refused(*complaint) if complaint else self._next(body)
        self.calls.append((method, name))
        if method == "POST":
            return self._made(body)
        if name not in self.caches:
            return refused(403, "CachedContent not found (or permission denied)")
        if method == "DELETE":
            del self.caches[name]
            return {}
        self.caches[name].update(body)
        return {"name": name}

    def _made(self, body: dict[str, Any]) -> Any:
        tokens = len(json.dumps(body)) // 4
        if self.full:
            return refused(429, "TotalCachedContentStorageTokensPerModelFreeTier limit exceeded")
        if tokens < LEAST_TOKENS:
            return refused(400, f"Cached content is too small. total_token_count={tokens}, min_total_token_count={LEAST_TOKENS}")
        unknown = set(body) - {"model", "contents", "systemInstruction", "tools", "ttl", "displayName"}
        if unknown or not body["ttl"].endswith("s"):
            return refused(400, f"Unknown name: {sorted(unknown)}")
        name = f"cachedContents/c{len(self.calls)}"
        self.caches[name] = body
        return {"name": name, "model": body["model"]}

    def _request(self, body: dict[str, Any]) -> tuple[int, str] | None:
        name = body.get("cachedContent")
        if name is None:
            return None
        if name not in self.caches:
            return 403, "CachedContent not found (or permission denied)"
        if {"systemInstruction", "tools", "toolConfig"} & set(body):
            return 400, "Tool config, tools and system instruction should not be set in the request when using cached content."
        return None

    def _next(self, body: dict[str, Any]) -> Any:
        entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return entry(body) if callable(entry) else entry

    def whole(self, at: int = -1) -> list[dict[str, Any]]:
        """The contents that a request stands for."""
        _, body, _ = self.requests[at]
        return [*self.caches.get(body.get("cachedContent", ""), {}).get("contents", []), *body["contents"]]


def refused(status: int, message: str) -> tuple[int, dict[str, Any]]:
    """An error as Google words it."""
    return status, {"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT" if status == 400 else "PERMISSION_DENIED"}}
