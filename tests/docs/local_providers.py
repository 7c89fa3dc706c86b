"""A server on loopback that answers OpenAI's chat completions and Anthropic's messages, for the examples of the documents.

It refuses what the vendors refuse at first sight: a body without its required fields, or messages in the wrong shape.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def _openai(body: dict[str, Any]) -> dict[str, Any]:
    assert body["model"]
    assert all(message["role"] in {"system", "developer", "user", "assistant", "tool"} for message in body["messages"])
    assert body["messages"][-1]["role"] in {"user", "tool"}
    reply = {"role": "assistant", "content": "curl -fsS localhost:8443/healthz", "refusal": None}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body["model"],
        "choices": [{"index": 0, "message": reply, "finish_reason": "stop", "logprobs": None}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109},
    }


def _anthropic(body: dict[str, Any]) -> dict[str, Any]:
    assert body["max_tokens"] > 0
    assert body["messages"][0]["role"] == "user"
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": [{"type": "text", "text": "curl -fsS localhost:8443/healthz"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 9},
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            status, answer = 200, _openai(body) if self.path.endswith("/chat/completions") else _anthropic(body)
        except (AssertionError, KeyError, TypeError) as error:
            status, answer = 400, {"type": "error", "error": {"type": "invalid_request_error", "message": repr(error)}}
        data = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")  # examples drop their clients, as scripts do: no socket stays open behind them
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  silence is golden
        pass


@contextmanager
def local_providers() -> Iterator[str]:
    """Runs the server while the block does; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
