"""The address of a provider: what is learned of a tokenizer is kept by it, so it is told before the first call as after it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest
from tests.test_bedrock import SAID
from tests.test_providers import KINDS
from tests.test_streams import session_of
from tests.vendors.converse import Converse, serving_converse
from tests.vendors.server import Vendor, serving

import memspan
from memspan import providers
from memspan.testing import anthropic_response

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")  # the SDK's word on models that others still use

VARIABLES = ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"]
GEMINI = {
    "responseId": "g-9",
    "candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "8443"}]}}],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3},
}
SDKS = {"chat": openai.OpenAI, "responses": openai.OpenAI, "anthropic": anthropic.Anthropic}


def calling_home(made: type[providers.Provider], client: Any) -> providers.Provider:
    """A provider that makes its own client, which asks at "the vendor's own address"."""

    class Home(made):  # type: ignore[misc, valid-type]
        def _make(self, sdk: Any, options: dict[str, Any], *, awaitable: bool) -> Any:
            del sdk, options, awaitable
            return client

    found: providers.Provider = Home(api_key="k")
    return found


@pytest.mark.parametrize("said_by", ["option", "environment", "client", "nobody"])
@pytest.mark.parametrize("kind", [*KINDS, "compatible", "gemini", "bedrock"])
def test_it_is_the_same_after_the_first_call(user: memspan.Scope, monkeypatch: pytest.MonkeyPatch, kind: str, said_by: str) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    dialect = {"compatible": "chat", "bedrock": "anthropic"}.get(kind, kind)
    script = [GEMINI] if kind == "gemini" else [SAID] if kind == "bedrock" else [KINDS[dialect][2]]
    with serving_converse(Converse(script)) if kind == "bedrock" else serving(Vendor(script)) as base:
        asked_at = base + (KINDS[dialect][1] if dialect in KINDS and kind != "bedrock" else "")
        ours = made(kind, said_by, asked_at, monkeypatch)
        before = ours.base_url
        assert ours.complete(session_of(user, dialect).assemble()) is not None
        assert ours.base_url == before
        says = {"client": kind not in {"gemini", "bedrock"}, "nobody": False}.get(said_by, True)
        assert before.rstrip("/") == (asked_at if says or kind == "compatible" else "")
        ours._sync.close()


def made(  # noqa: PLR0911  a way for each kind
    kind: str, said_by: str, base: str, monkeypatch: pytest.MonkeyPatch
) -> providers.Provider:
    if kind == "compatible":
        client = openai.OpenAI(base_url=base, api_key="k")
        return (
            providers.OpenAICompatible(client=client, dialect="openai")
            if said_by == "client"
            else providers.OpenAICompatible(base, dialect="openai")
        )
    if kind == "gemini":
        genai = pytest.importorskip("google.genai")
        options = genai.types.HttpOptions(base_url=base)
        google = genai.Client(api_key="k", http_options=options)
        if said_by == "option":
            return providers.Gemini(api_key="k", http_options={"base_url": base})
        if said_by == "environment":
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", base)
            return providers.Gemini(api_key="k")
        return providers.Gemini(google) if said_by == "client" else calling_home(providers.Gemini, google)
    if kind == "bedrock":
        boto3 = pytest.importorskip("boto3")
        about: dict[str, Any] = {"region_name": "us-east-1", "aws_access_key_id": "k", "aws_secret_access_key": "k"}
        if said_by == "option":
            return providers.Bedrock(endpoint_url=base, **about)
        if said_by == "environment":
            monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", base)
            return providers.Bedrock(**about)
        amazon = boto3.client("bedrock-runtime", endpoint_url=base, **about)
        return providers.Bedrock(amazon) if said_by == "client" else calling_home(providers.Bedrock, amazon)
    ours, sdk = KINDS[kind][0], SDKS[kind]
    found: providers.Provider
    if said_by == "option":
        found = ours(base_url=base, api_key="k")
    elif said_by == "environment":
        monkeypatch.setenv(ours.address_variable, base)
        found = ours(api_key="k")
    else:
        client = sdk(base_url=base, api_key="k")
        found = ours(client) if said_by == "client" else calling_home(ours, client)
    return found


def test_a_model_is_learned_of_under_one_name(store: Path) -> None:
    """The address was "" until a client was made: a restart moved sessions from one to the other, and each move began another epoch."""

    numbers = itertools.count()

    class Client:
        base_url = "https://api.anthropic.com"

        class messages:  # noqa: N801  as the SDK has it
            @staticmethod
            def create(**_: Any) -> Any:
                return anthropic_response("ok", id=f"msg-{next(numbers)}", input_tokens=600)

    with memspan.open(store, embedder=None) as engine:
        for _ in range(2):  # each is a process that starts anew
            provider = calling_home(providers.Anthropic, Client())
            assistant = memspan.Assistant(engine, provider, model="claude-sonnet-4-5", learn=False, compact=False)
            for name in ("s-1", "s-2", "s-1"):
                assistant.respond("u", "hello there friend " * 100, session=name)
        assert list(engine.token_factors) == ["claude-sonnet-4-5"]
        assert [turn.prompt.epoch for turn in engine.user("u").session("s-1").turns if turn.prompt is not None] == [0, 0, 0, 0]


def test_a_session_of_the_two_names_stays_where_it_is(store: Path) -> None:
    """A provider that names no address leaves a session where it is stored, so those of either name go on unbroken."""
    with memspan.open(store, embedder=None) as engine:
        user = engine.user("u")
        for name, address in (("s-1", ""), ("s-2", "https://api.anthropic.com")):
            session = user.session(name, replace(memspan.models["claude-sonnet-4-5"], base_url=address))
            session.add({"role": "user", "content": "hello there friend " * 100})
            session.add_response(anthropic_response("ok", input_tokens=600), prompt=session.assemble())
            again = user.session(name, "claude-sonnet-4-5")
            again.add({"role": "user", "content": "and again " * 100})
            assert again.assemble().epoch == 0
