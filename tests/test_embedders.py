"""Embedders of other vendors send what the vendor's SDK takes, in requests of a size that it takes, and try again where that helps."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import openai
import pytest

import memspan
from memspan.embedders import Cohere, FastEmbed, Ollama, OpenAI, Retry, Voyage
from memspan.testing import FakeEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

QUICK = Retry(first_seconds=0.001, longest_seconds=0.004, limit_seconds=5)
FACTS = ["payments-api listens on port 8443", "Prefers tea", "Never deploy on a Friday"]


def vectors(texts: Sequence[str], dimensions: int) -> list[list[float]]:
    rows: list[list[float]] = FakeEmbedder(dimensions).embed(texts).tolist()
    return rows


class Server:
    """An HTTP server that answers as it is told, and keeps what it was asked."""

    def __init__(self, answer: Callable[[dict[str, Any]], Any]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.failures: list[tuple[int, dict[str, str]]] = []
        self.url = ""

    def take(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        self.paths.append(path)
        self.requests.append(body)
        if self.failures:
            status, headers = self.failures.pop(0)
            return status, headers, {"error": {"message": "told to fail"}}
        return 200, {}, self.answer(body)


@contextmanager
def serving(answer: Callable[[dict[str, Any]], Any]) -> Iterator[Server]:
    told = Server(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, value = told.take(self.path, body)
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            for name, header in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, header)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def as_openai(body: dict[str, Any]) -> dict[str, Any]:
    assert set(body) <= {"model", "input", "encoding_format", "dimensions"}
    assert (body["encoding_format"], type(body["input"])) == ("float", list)
    rows = vectors(body["input"], body.get("dimensions", 1536))
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(rows)]
    return {"object": "list", "data": data[::-1], "model": body["model"], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def as_ollama(body: dict[str, Any]) -> dict[str, Any]:
    assert set(body) == {"model", "input", "truncate"}
    return {"model": body["model"], "embeddings": vectors(body["input"], 768), "total_duration": 1, "prompt_eval_count": 2}


@contextmanager
def openai_client(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="no key", base_url=f"{server.url}/v1") as client:
        yield client


def test_openai_by_its_own_sdk(store: Path) -> None:
    with serving(as_openai) as server, openai_client(server) as client:
        embedder = OpenAI("text-embedding-3-small", dimensions=64, client=client, retry=QUICK, batch_texts=2)
        assert np.allclose(embedder.embed(FACTS), FakeEmbedder(64).embed(FACTS), atol=1e-6)
        assert [len(request["input"]) for request in server.requests] == [2, 1]
        assert server.paths == ["/v1/embeddings"] * 2
        with memspan.open(store, embedder=embedder) as engine:
            engine.user("u").remember_many(FACTS)
            assert not engine.user("u").recall("tea").degraded
    with serving(as_openai) as server, openai_client(server) as client:
        OpenAI(client=client).embed(["tea"])
        assert "dimensions" not in server.requests[0]


def test_no_request_is_begun_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(as_openai) as server, openai_client(server) as client:
        embedder = OpenAI(dimensions=8, client=client, retry=Retry(limit_seconds=100), batch_texts=1)
        seconds = iter(range(0, 1_000, 60))
        monkeypatch.setattr("memspan.embedders.service.time.monotonic", lambda: next(seconds))
        with pytest.raises(memspan.EmbedderError, match="limit_seconds"):
            embedder.embed(["one", "two", "three"])
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("10.0.0.7", "http://10.0.0.7:11434/api/embed"),
        ("gpu:80", "http://gpu:80/api/embed"),
        ("[::1]", "http://[::1]:11434/api/embed"),
        ("https://gpu.example", "https://gpu.example/api/embed"),
    ],
)
def test_ollamas_own_port(host: str, url: str) -> None:
    assert Ollama(host=host)._url == url


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_request_is_sent_again(status: int) -> None:
    with serving(as_openai) as server, openai_client(server) as client:
        server.failures = [(status, {}), (status, {"Retry-After": "0.01"})]
        assert OpenAI(client=client, retry=QUICK).embed(["tea"]).shape == (1, 1536)
        assert len(server.requests) == 3


def test_a_request_that_cannot_succeed_is_not(store: Path) -> None:
    with serving(as_openai) as server, openai_client(server) as client:
        server.failures = [(401, {})]
        embedder = OpenAI(client=client, dimensions=1536, retry=QUICK)
        with pytest.raises(openai.AuthenticationError):
            embedder.embed(["tea"])
        assert len(server.requests) == 1
        server.failures = [(503, {})] * 20
        with pytest.raises(openai.InternalServerError):
            embedder.embed(["tea"])
        assert len(server.requests) == 1 + QUICK.attempts
        with memspan.open(store, embedder=embedder) as engine:
            engine.user("u").remember_many(FACTS)
            recall = engine.user("u").recall("tea")
            assert (recall.degraded, recall[0].memory.text) == (True, "Prefers tea")


def test_what_the_service_asks_to_wait_counts_against_the_limit() -> None:
    with serving(as_openai) as server, openai_client(server) as client:
        server.failures = [(429, {"Retry-After": "30"})]
        with pytest.raises(openai.RateLimitError):
            OpenAI(client=client, retry=Retry(limit_seconds=1)).embed(["tea"])
        assert len(server.requests) == 1


def test_a_connection_that_breaks_is_tried_again() -> None:
    with serving(as_openai) as server:
        url = server.url
    with openai.OpenAI(api_key="no key", base_url=url) as client, pytest.raises(openai.APIConnectionError):
        OpenAI(client=client, retry=QUICK).embed(["tea"])
    with pytest.raises(OSError, match="refused"):
        Ollama(host=url, retry=QUICK).embed(["tea"])


def test_ollama_by_its_http_api(store: Path) -> None:
    with serving(as_ollama) as server:
        embedder = Ollama("nomic-embed-text", host=server.url, retry=QUICK, batch_texts=2)
        assert (embedder.name, embedder.dimensions) == ("ollama/nomic-embed-text", 768)
        assert embedder.embed(FACTS).shape == (3, 768)
        assert embedder.embed_query("tea?").shape == (768,)
        assert server.paths == ["/api/embed"] * 4
        assert server.requests[1]["input"][0] == f"search_document: {FACTS[0]}"
        assert server.requests[-1]["input"] == ["search_query: tea?"]
        server.failures = [(503, {})]
        with memspan.open(store, embedder=embedder) as engine:
            engine.user("u").remember_many(FACTS)
            assert not engine.user("u").recall("tea").degraded
        assert Ollama("nomic-embed-text", query_prompt="", document_prompt="").name != embedder.name
        assert Ollama("somebody/else", dimensions=8, host="localhost:1").dimensions == 8


@pytest.mark.parametrize("answer", [{"error": "no such model"}, [], b"not json", {"embeddings": [[1.0] * 768] * 2}])
def test_an_answer_that_is_none(answer: Any) -> None:
    with serving(lambda _: answer) as server, pytest.raises((memspan.EmbedderError, ValueError)):
        Ollama(host=server.url, retry=QUICK).embed(["tea"])


def test_an_error_says_what_the_server_said() -> None:
    with serving(as_ollama) as server:
        server.failures = [(404, {})]
        with pytest.raises(OSError, match="told to fail"):
            Ollama(host=server.url, retry=QUICK).embed(["tea"])


def test_batches_by_bytes_and_a_text_that_is_longer_than_any() -> None:
    sizes: list[int] = []

    def embed(*, texts: list[str], **_: Any) -> Any:
        sizes.append(len(texts))
        return SimpleNamespace(embeddings=SimpleNamespace(float_=vectors(texts, 1536)))

    embedder = Cohere(client=SimpleNamespace(embed=embed), batch_bytes=10)
    assert embedder.embed(["12345", "1234", "ää", "x" * 50, "y", "z"]).shape == (6, 1536)
    assert sizes == [2, 1, 1, 2]
    assert embedder.embed([]).shape[0] == 0


class FakeVoyage:
    """`voyageai.Client` of voyageai 0.5, as far as it is used."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def embed(  # noqa: PLR0917  as it is
        self,
        texts: list[str],
        model: str | None = None,
        input_type: str | None = None,
        truncation: bool = True,
        output_dtype: str | None = None,
        output_dimension: int | None = None,
    ) -> Any:
        self.asked.append({"model": model, "input_type": input_type, "output_dimension": output_dimension})
        assert truncation
        assert output_dtype is None
        return SimpleNamespace(embeddings=vectors(texts, output_dimension or 1024), total_tokens=3)


def test_voyage_is_told_questions_from_documents(store: Path) -> None:
    client = FakeVoyage()
    with memspan.open(store, embedder=Voyage(client=client, dimensions=256)) as engine:
        engine.user("u").remember_many(FACTS)
        assert not engine.user("u").recall("tea").degraded
    assert [one["input_type"] for one in client.asked] == ["document", "query"]
    assert client.asked[0] == {"model": "voyage-3.5", "input_type": "document", "output_dimension": 256}


class FakeCohere:
    """`cohere.ClientV2` of cohere 5 to 7, as far as it is used."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def embed(
        self,
        *,
        model: str,
        input_type: str,
        texts: Sequence[str],
        output_dimension: int = 1536,
        embedding_types: Sequence[str],
        truncate: str,
        request_options: dict[str, Any],
    ) -> Any:
        assert (embedding_types, truncate, request_options["max_retries"]) == (["float"], "END", 0)
        self.asked.append({"model": model, "input_type": input_type, "timeout": request_options["timeout_in_seconds"]})
        return SimpleNamespace(embeddings=SimpleNamespace(float_=vectors(list(texts), output_dimension)))


def test_cohere_is_told_questions_from_documents(store: Path) -> None:
    client = FakeCohere()
    with memspan.open(store, embedder=Cohere(client=client, dimensions=1536)) as engine:
        engine.user("u").remember_many(FACTS)
        assert not engine.user("u").recall("tea").degraded
    assert [one["input_type"] for one in client.asked] == ["search_document", "search_query"]
    assert all(1 <= one["timeout"] <= 60 for one in client.asked)


class FakeOnnx:
    """`fastembed.TextEmbedding` of fastembed 0.4 to 0.9, as far as it is used: generators of arrays."""

    def passage_embed(self, texts: list[str], **options: Any) -> Iterator[Any]:
        assert options == {"batch_size": 64}
        yield from FakeEmbedder(384).embed(texts)

    def query_embed(self, query: list[str], **_: Any) -> Iterator[Any]:
        yield from FakeEmbedder(384).embed(query)


def test_fastembed(store: Path) -> None:
    with memspan.open(store, embedder=FastEmbed(client=FakeOnnx())) as engine:
        engine.user("u").remember_many(FACTS)
        assert not engine.user("u").recall("tea").degraded
    with pytest.raises(memspan.InvalidInput, match="batch_texts"):
        FastEmbed(client=FakeOnnx(), batch_texts=0)


@pytest.mark.parametrize(
    ("make", "package", "extra"),
    [(OpenAI, "openai", "openai"), (Voyage, "voyageai", "voyage"), (Cohere, "cohere", "cohere"), (FastEmbed, "fastembed", "fastembed")],
)
def test_a_missing_package_is_named(make: Callable[[], object], package: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(memspan.MissingExtra, match=rf"pip install 'memspan\[{extra}\]'") as caught:
        make()
    assert caught.value.extra == extra


def test_importing_them_imports_no_sdk() -> None:
    import subprocess

    code = "import sys, memspan.embedders; print([n for n in ('openai', 'cohere', 'voyageai', 'fastembed', 'numpy') if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_service_is_asked_for_its_dimensions_once_and_only_where_they_are_not_given(store: Path) -> None:
    with serving(as_ollama) as server:
        embedder = Ollama("nobody/knows-it", host=server.url, retry=QUICK)
        assert repr(embedder) == "Ollama('ollama/nobody/knows-it', dimensions=None)"
        with memspan.open(store, embedder=embedder) as engine:
            engine.user("u").remember_many(FACTS)
        assert [len(request["input"]) for request in server.requests[:1]] == [1]
        assert (embedder.dimensions, len([one for one in server.requests if "How long" in str(one)])) == (768, 1)
        given = Ollama("nobody/knows-it", host="http://localhost:1", dimensions=768, retry=QUICK)
        assert given.dimensions == 768
    with pytest.raises(memspan.EmbedderError, match="pass dimensions= and it is not asked"):
        memspan.open(store, embedder=Ollama("nobody/knows-it", host="http://localhost:1", retry=QUICK))


@pytest.mark.parametrize(
    "options", [{"attempts": 0}, {"first_seconds": -1}, {"first_seconds": 30}, {"limit_seconds": 0}, {"limit_seconds": float("nan")}]
)
def test_a_retry_that_cannot_be(options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput, match="Retry"):
        Retry(**options)


def test_a_host_that_is_none() -> None:
    with pytest.raises(memspan.InvalidInput, match="http"):
        Ollama(host="file:///etc/passwd")


def as_cohere(body: dict[str, Any]) -> dict[str, Any]:
    assert {"model", "input_type", "texts", "embedding_types", "truncate"} == set(body)
    meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 1}}
    return {"id": "e", "response_type": "embeddings_by_type", "embeddings": {"float": vectors(body["texts"], 1536)}, "meta": meta}


def as_voyage(body: dict[str, Any]) -> dict[str, Any]:
    data = [{"object": "embedding", "index": at, "embedding": row} for at, row in enumerate(vectors(body["input"], 1024))]
    return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": 3}}


@pytest.mark.filterwarnings("ignore")
def test_cohere_by_its_own_sdk() -> None:
    if importlib.util.find_spec("cohere") is None:
        pytest.skip("cohere is not part of the test group")
    cohere: Any = importlib.import_module("cohere")
    with serving(as_cohere) as server:
        embedder = Cohere(client=cohere.ClientV2(api_key="no key", base_url=server.url), retry=QUICK)
        server.failures = [(429, {"Retry-After": "0.01"})]
        assert embedder.embed(FACTS).shape == (3, 1536)
        assert len(server.requests) == 2
        server.failures = [(401, {})]
        with pytest.raises(Exception, match="401"):
            embedder.embed_query("tea")


@pytest.mark.filterwarnings("ignore")
def test_voyage_by_its_own_sdk() -> None:
    if importlib.util.find_spec("voyageai") is None:
        pytest.skip("voyageai is not part of the test group")
    voyageai: Any = importlib.import_module("voyageai")
    with serving(as_voyage) as server:
        embedder = Voyage(client=voyageai.Client(api_key="no key", base_url=server.url), retry=QUICK)
        server.failures = [(429, {}), (503, {})]
        assert embedder.embed(FACTS).shape == (3, 1024)
        assert embedder.embed_query("tea").shape == (1024,)
        assert [one["input_type"] for one in server.requests] == ["document"] * 3 + ["query"]
        server.failures = [(401, {})]
        with pytest.raises(Exception, match="told to fail"):
            embedder.embed(["tea"])
