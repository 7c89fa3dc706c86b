"""Bedrock's Converse over a socket: its rules, and its event stream in the binary frames that AWS's SDKs read."""

from __future__ import annotations

import json
import re
import struct
import threading
import zlib
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterator

_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NAME = re.compile(r"(?!.*\s\s)[a-zA-Z0-9\s()\[\]-]{1,200}")
FORMATS = {
    "document": {"pdf", "csv", "doc", "docx", "xls", "xlsx", "html", "txt", "md"},
    "image": {"png", "jpeg", "gif", "webp"},
}


def rules(body: dict[str, Any]) -> str | None:  # noqa: C901, PLR0911, PLR0912  a rule a line
    """What the API reference of Converse says of requests, and the models behind it; what a field is called, boto3 checks."""
    messages = body["messages"]
    if not messages or messages[0]["role"] != "user":
        return "A conversation must start with a user message. Try again with a conversation that starts with a user message."
    if messages[-1]["role"] != "user":
        return "This model does not support assistant message prefill."
    if any(one["role"] == other["role"] for one, other in pairwise(messages)):
        return "A conversation must alternate between user and assistant roles."
    points = [block for message in messages for block in message["content"] if "cachePoint" in block]
    points += [block for block in [*body.get("system", ()), *body.get("toolConfig", {}).get("tools", ())] if "cachePoint" in block]
    if len(points) > 4:
        return "You have exceeded the maximum number of cache points"
    if complaint := next(filter(None, (_of_media(message["content"]) for message in messages)), None):
        return complaint
    names = [block["document"]["name"].lower() for message in messages for block in _everything(message["content"]) if "document" in block]
    if len(set(names)) < len(names):
        return "Messages can't contain duplicate document names. Rename the document and retry your request."
    waiting: list[str] = []
    for place, message in enumerate(messages):
        if not message["content"] or any(not block["text"].strip() for block in message["content"] if "text" in block):
            return f"The content field in the Message object at messages.{place} is empty."
        if "cachePoint" in message["content"][0]:
            return "cachePoint cannot be inserted before any content"
        results = [block["toolResult"]["toolUseId"] for block in message["content"] if "toolResult" in block]
        if sorted(results) != sorted(waiting):
            return f"Expected toolResult blocks at messages.{place}.content for the following Ids: {waiting}"
        calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
        waiting = [call["toolUseId"] for call in calls]
        if any(not _ID.fullmatch(call["toolUseId"]) or not _ID.fullmatch(call["name"]) for call in calls) or len(set(waiting)) < len(
            waiting
        ):
            return "toolUseId: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+"
        if any(not isinstance(call["input"], dict) for call in calls):
            return "The format of the value at toolUse.input is invalid. Provide a json object for the field and try again."
        if (calls or results) and "toolConfig" not in body:
            return "The toolConfig field must be defined when using toolUse and toolResult content blocks."
    return "Expected toolResult blocks" if waiting else None


def _everything(content: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*content, *(block for one in content if "toolResult" in one for block in one["toolResult"]["content"])]


def _of_media(content: list[dict[str, Any]]) -> str | None:
    for kind, formats in FORMATS.items():
        if any(
            block[kind]["format"] not in formats or not block[kind]["source"]["bytes"] for block in _everything(content) if kind in block
        ):
            return f"Value at {kind}.format failed to satisfy constraint: Member must satisfy enum value set"
    if any(not _NAME.fullmatch(block["document"]["name"]) for block in _everything(content) if "document" in block):
        return (
            "The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and [brackets]."
        )
    kinds = [next(iter(block)) for block in content]
    if "document" in kinds and "text" not in kinds:
        return "A text content block is required when a document is included"
    if ("document", "cachePoint") in pairwise(kinds):
        return f"The model returned the following errors: messages.0.content.{len(kinds)}.type: Field required"
    if ("cachePoint", "cachePoint") in pairwise(kinds):
        return "There is nothing available to cache. Please remove the invalid cache point and try again."
    return None


class Converse:
    """What was asked, and what is answered: the script's next entry, the last one for ever. A list is the events of a stream."""

    def __init__(self, script: list[Any]) -> None:
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self.script = script

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        self.requests.append((path, body))
        if complaint := rules(body):
            return 400, "ValidationException", complaint
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


def frame(kind: str, body: dict[str, Any], message: str = "event") -> bytes:
    """One message of `application/vnd.amazon.eventstream`."""
    told = {
        ":exception-type" if message == "exception" else ":event-type": kind,
        ":content-type": "application/json",
        ":message-type": message,
    }
    headers = b"".join(
        struct.pack("!B", len(name)) + name.encode() + struct.pack("!BH", 7, len(value)) + value.encode() for name, value in told.items()
    )
    payload = json.dumps(body).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    whole = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + payload
    return whole + struct.pack("!I", zlib.crc32(whole))


@contextmanager
def serving_converse(vendor: Converse) -> Iterator[str]:
    """The address of a server while the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)))
            answer = vendor.answer(unquote(self.path), body)
            if isinstance(answer, list):
                self.stream(answer)
            elif isinstance(answer, tuple):
                status, kind, words = answer
                self.whole(status, {"message": words}, {"x-amzn-errortype": kind})
            else:
                self.whole(200, answer, {})

        def whole(self, status: int, body: dict[str, Any], headers: dict[str, str]) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {
                "content-type": "application/json",
                "x-amzn-requestid": f"req-{len(vendor.requests)}",
                "content-length": str(len(raw)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def stream(self, events: list[tuple[Any, ...]]) -> None:
            self.send_response(200)
            self.send_header("content-type", "application/vnd.amazon.eventstream")
            self.send_header("x-amzn-requestid", f"req-{len(vendor.requests)}")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            raw = b"".join(frame(*event) for event in events)
            for at in range(0, len(raw), 17):  # fragments that end anywhere
                self.wfile.write(raw[at : at + 17])
                self.wfile.flush()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
