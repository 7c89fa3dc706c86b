"""Converse's content of Anthropic's: a table of blocks, the names of documents, the formats of files, the places of cache points.

Converse's own rules are kept here. A name is given to one document of a request (and "Messages can't contain duplicate document names"), a
message with a document has a text beside it, and a cache point stands behind no document: the API reference of `DocumentBlock` and public
refusals (aws/aws-sdk-java-v2 issue 6277, anomalyco/opencode issue 17300, aws-samples/generative-ai-use-cases pull request 1077).
"""

from __future__ import annotations

import base64
import hashlib
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["LONGEST_NAME", "Content", "with_cache_points"]

LONGEST_NAME = 64
"""Of a tool, and of a call's id."""
_LONGEST_TITLE = 200
_CACHE_POINT = {"cachePoint": {"type": "default"}}
_BESIDE = "(A document.)"
"""Beside a document that nothing is said about."""
_IMAGES = {"image/jpeg": "jpeg", "image/jpg": "jpeg", "image/pjpeg": "jpeg", "image/png": "png", "image/gif": "gif", "image/webp": "webp"}
_OFFICE = "application/vnd.openxmlformats-officedocument"
_FILES = {
    "application/pdf": "pdf",
    "application/csv": "csv",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    f"{_OFFICE}.wordprocessingml.document": "docx",
    f"{_OFFICE}.spreadsheetml.sheet": "xlsx",
    "application/json": "txt",
    "application/xml": "txt",
    "text/csv": "csv",
    "text/html": "html",
    "text/markdown": "md",
    "text/x-markdown": "md",
    "text/md": "md",
}
_ENDINGS = {"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"}
"""Of the titles of files whose type says nothing."""
_NOTHING = {"", "application/octet-stream", "binary/octet-stream"}


class Content:
    """The content of one request. Made anew for each: names of documents are given in their order, so a prefix keeps them as it grows.

    Args:
        vendor: Whose model is asked, where it takes cache points; "" where it takes none.
    """

    def __init__(self, vendor: str) -> None:
        self._vendor = vendor
        self._names = set[str]()

    def of_message(self, blocks: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """A message's content."""
        sent = [(self._sent(block), "cache_control" in block) for block in blocks]
        if any("document" in block for block, _ in sent) and not any("text" in block for block, _ in sent):
            last, marked = sent[-1]
            sent[-1] = last, marked and "document" not in last
            sent.append(({"text": _BESIDE}, marked and "document" in last))
        return with_cache_points(sent, self._vendor)

    def _sent(self, block: Mapping[str, Any]) -> dict[str, Any]:
        kind = block["type"]
        if kind == "document":
            return self._document(block)
        if kind == "tool_result":
            return self._result(block)
        return _SENT[kind](block) if kind in _SENT else {"text": f"[{_OTHERS.get(kind) or kind.replace('_', ' ')}]"}

    def _document(self, block: Mapping[str, Any]) -> dict[str, Any]:
        source, title = block["source"], block.get("title") or ""
        if source["type"] not in {"base64", "text"}:
            return {"text": "[file]"}  # Converse takes no addresses
        plain = source["type"] == "text"
        form = "txt" if plain else _format(source["media_type"], title)
        data = source["data"].encode() if plain else base64.b64decode(source["data"])
        if form is None or not data:
            return {"text": f"[{title.strip() or 'file'}]"}
        return {"document": {"format": form, "name": self._named(title), "source": {"bytes": data}}}

    def _named(self, title: str) -> str:
        """A name that no document before it has. Converse does not say whether it heeds capitals."""
        plain = (re.sub(r"[^A-Za-z0-9\-()\[\]]+", " ", title).strip() or "document")[:_LONGEST_TITLE]
        name, number = plain, 1
        while name.casefold() in self._names:
            number += 1
            end = f" {number}"
            name = plain[: _LONGEST_TITLE - len(end)].rstrip() + end
        self._names.add(name.casefold())
        return name

    def _result(self, block: Mapping[str, Any]) -> dict[str, Any]:
        content = block.get("content") or "(nothing)"
        parts = [{"text": content}] if isinstance(content, str) else [self._sent(one) for one in content]
        status = {"status": "error"} if block.get("is_error") else {}
        return {"toolResult": {"toolUseId": _id(block["tool_use_id"]), "content": parts, **status}}


def with_cache_points(sent: Iterable[tuple[dict[str, Any], bool]], vendor: str) -> list[dict[str, Any]]:
    """Blocks, and a cache point behind each that is marked: before the documents that end there, and before images for Amazon's models."""
    refusing = ("document", "image") if vendor == "amazon" else ("document",)
    found: list[dict[str, Any]] = []
    for block, marked in sent:
        found.append(block)
        if not (marked and vendor):
            continue
        at = len(found)
        while at and any(kind in found[at - 1] for kind in refusing):
            at -= 1
        if at and "cachePoint" not in found[at - 1]:
            found.insert(at, _CACHE_POINT)
    return found


def _format(media_type: str, title: str) -> str | None:
    kind = _kind(media_type)
    if kind in _NOTHING:
        ending = title.rpartition(".")[2].lower()
        return ending if ending in _ENDINGS else None
    return _FILES.get(kind) or ("txt" if kind.startswith("text/") else None)


def _kind(media_type: str) -> str:
    """A media type without its parameters."""
    return media_type.partition(";")[0].strip().lower()


def _text(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": block["text"]}


def _image(block: Mapping[str, Any]) -> dict[str, Any]:
    source = block["source"]
    form = _IMAGES.get(_kind(source["media_type"])) if source["type"] == "base64" else None
    data = base64.b64decode(source["data"]) if form else b""
    if not data:
        return {"text": "[image]"}  # an address, a file, another format
    return {"image": {"format": form, "source": {"bytes": data}}}


def _call(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": _id(block["id"]), "name": block["name"][:LONGEST_NAME], "input": block["input"]}}


def _id(given: str) -> str:
    return given if len(given) <= LONGEST_NAME else hashlib.blake2b(given.encode(), digest_size=16).hexdigest()


def _thinking(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"reasoningContent": {"reasoningText": {"text": block["thinking"], "signature": block["signature"]}}}


def _redacted(block: Mapping[str, Any]) -> dict[str, Any]:
    return {"reasoningContent": {"redactedContent": base64.b64decode(block["data"])}}


_SENT: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "text": _text,
    "image": _image,
    "tool_use": _call,
    "thinking": _thinking,
    "redacted_thinking": _redacted,
}
_OTHERS = {"container_upload": "file"}
"""Blocks of Anthropic's that are not called by their type."""
