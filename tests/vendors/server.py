"""A local server that answers as a vendor does: it enforces the vendor's rules and streams fragment by fragment, with errors where told to."""

# ruff: noqa: C901, E501  a server in a function
from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.vendors import rules

Answer = dict[str, Any] | list[dict[str, Any]] | tuple[int, dict[str, Any]]
"""A whole answer, the chunks of a stream, or a status with the body of an error."""


class Vendor:
    """What was asked, and what is answered: the script's next entry, the last one for ever."""

    def __init__(self, script: list[Any], dialect: str = "openai", *, pause_seconds: float = 0.0) -> None:
        self.requests: list[tuple[str, dict[str, Any], dict[str, str]]] = []
        self.script = script
        self.dialect = dialect
        self.pause_seconds = pause_seconds
        self.broken = threading.Event()
        """A client left in the middle of a stream."""
        self._lock = threading.Lock()

    def answer(self, path: str, body: dict[str, Any], headers: dict[str, str]) -> Any:
        complaint = self._complaint(path, body)
        with self._lock:
            self.requests.append((path, body, headers))
            if complaint is not None:
                return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": complaint}}
            entry = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return entry(body) if isinstance(entry, Callable) else entry  # type: ignore[arg-type]

    def _complaint(self, path: str, body: dict[str, Any]) -> str | None:
        if path.endswith("/chat/completions"):
            return rules.chat(body, self.dialect)
        if path.endswith("/responses"):
            return rules.responses(body)
        if path.endswith("/messages"):
            return rules.anthropic(body)
        return None


@contextmanager
def serving(vendor: Vendor) -> Iterator[str]:
    """The address of a server while the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"{}")
            headers = {name.lower(): value for name, value in self.headers.items()} | {":method": self.command}
            answer = vendor.answer(self.path.split("?")[0], body, headers)
            if isinstance(answer, list):
                self.stream(answer)
            else:
                status, said = answer if isinstance(answer, tuple) else (200, answer)
                raw = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("request-id", "req_1")
                self.send_header("x-request-id", "req_1")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

        do_PATCH = do_DELETE = do_POST  # noqa: N815  the base class's names

        def stream(self, chunks: list[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for chunk in chunks:
                    if chunk.get("drop"):
                        return
                    head = f"event: {chunk['type']}\n" if "type" in chunk else ""
                    raw = f"{head}data: {json.dumps(chunk)}\n\n".encode()
                    for at in range(0, len(raw), 17):  # fragments that end anywhere
                        self.wfile.write(raw[at : at + 17])
                        self.wfile.flush()
                    if vendor.pause_seconds:
                        threading.Event().wait(vendor.pause_seconds)
                if self.path.endswith("/chat/completions"):
                    self.wfile.write(b"data: [DONE]\n\n")
            except OSError:
                vendor.broken.set()

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
