"""Objects of vendors' SDKs go back to their APIs as they came: the same bytes of signatures and images, no field that was not sent."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest

import memspan
from memspan.testing import temporary_engine

DATE = {"type": "function", "function": {"name": "date", "parameters": {"type": "object", "properties": {}}}}
KEY = "sk-ant-api03-" + "a1B2c3D4" * 12


@pytest.mark.parametrize("streamed", [False, True])
def test_signatures_and_images_of_gemini_keep_their_bytes(user: memspan.Scope, streamed: bool) -> None:
    types = pytest.importorskip("google.genai.types", reason="google-genai is not installed: pip install 'memspan[gemini]'")
    chosen = random.Random(1)  # noqa: S311  no secret
    for number in range(10):
        signature = chosen.randbytes(300)
        part = {"functionCall": {"name": "date", "args": {"at": None}}, "thoughtSignature": base64.b64encode(signature).decode()}
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        response = types.GenerateContentResponse.model_validate({"candidates": [candidate]})
        session = user.session(f"{streamed} {number}", model="gemini-3.1-pro-preview", tools=[DATE])
        session.add({"role": "user", "content": "which day?"})
        prompt = session.assemble()
        if streamed:
            with session.reply(prompt) as reply:
                reply.feed(response)
        else:
            session.add_response(response, prompt=prompt)
        [call] = session.pending_tool_calls
        session.add({"role": "tool", "tool_call_id": call.id, "content": "Monday"})
        sent = session.assemble().to_gemini()["contents"][1]["parts"][0]
        assert (sent["thought_signature"], sent["function_call"]["args"]) == (signature, {"at": None})
    image = bytes(range(256)) * 4
    session = user.session(f"image {streamed}", model="gemini-3.1-pro-preview")
    blob = types.Blob(data=image, mime_type="image/png")
    session.add(types.Content(role="user", parts=[types.Part(inline_data=blob), types.Part(text="what is it?")]))
    assert session.assemble().to_gemini()["contents"][0]["parts"][0]["inline_data"]["data"] == image
    session.switch_model("claude-sonnet-4-5")
    source = session.assemble().to_anthropic()["messages"][0]["content"][0]["source"]
    assert base64.b64decode(source["data"], validate=True) == image


def test_fields_that_an_api_did_not_send_are_not_sent_to_it(user: memspan.Scope) -> None:
    responses = pytest.importorskip("openai.types.responses", reason="openai is not installed: pip install 'memspan[openai]'")
    output: list[dict[str, Any]] = [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "abc"},
        {"id": "fc_1", "type": "function_call", "call_id": "c1", "name": "date", "arguments": "{}", "status": "completed"},
    ]
    body = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed", "output": output}
    body |= {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    session = user.session("s", model="gpt-5", tools=[DATE])
    session.add({"role": "user", "content": "which day?"})
    session.add_response(responses.Response.model_validate(body), prompt=session.assemble())
    session.add({"role": "tool", "tool_call_id": "c1", "content": "Monday"})
    sent = session.assemble().to_openai_responses()["input"]
    assert output[0] in sent
    assert None not in [value for item in sent for value in item.values()]


def test_an_object_of_the_callers_own_is_asked_for_its_mode_alone(user: memspan.Scope) -> None:
    class Own:
        def model_dump(self, *, mode: str) -> dict[str, Any]:
            return {"role": "user", "content": mode}

    session = user.session("s", model="gpt-4o")
    session.add(Own())
    assert session.messages[0].text == "json"


def test_a_secret_in_the_arguments_of_a_call_or_in_a_document_is_taken_out() -> None:
    with temporary_engine(policy=memspan.Policy(secrets="redact", transcripts=True)) as engine:
        session = engine.user("u").session("s", model="claude-sonnet-4-5")
        session.add({"role": "user", "content": "ask it"})
        given = {"url": f"https://a.example/?key={KEY}", "data": KEY, "name": KEY, "inner": {"id": KEY}}
        session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "curl", "input": given}]})
        document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": f"the key is {KEY}"}}
        session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [document]}]})
        assert KEY not in str([message.given for message in session.messages])
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64.b64encode(b"png").decode()}}
        session.add({"role": "assistant", "content": "done"})
        session.add({"role": "user", "content": [image]})
        assert session.messages[-1].given["content"] == [image]
