"""Files, images and names that one vendor takes and the next refuses: a session that changes its model is refused by none."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import pytest
from tests.test_renderers import PNG, complaints

if TYPE_CHECKING:
    import memspan

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
HELLO = base64.b64encode(b"hello").decode()


def file_of(name: str, media_type: str, data: str = HELLO) -> dict[str, Any]:
    return {"type": "file", "file": {"filename": name, "file_data": f"data:{media_type};base64,{data}"}}


def image_of(media_type: str, data: str = PNG) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{media_type};base64,{data}"}}


SVG = {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}
GIVEN: dict[str, dict[str, Any]] = {
    "text": file_of("a.txt", "text/plain"),
    "csv": file_of("a.csv", "text/csv; charset=utf-8"),
    "docx": file_of("a.docx", DOCX),
    "octets": file_of("a.bin", "application/octet-stream"),
    "not utf-8": file_of("a.txt", "text/plain", "/////w=="),
    "pdf": file_of("a.pdf", "application/pdf", "JVBERi0="),
    "jpg": image_of("image/jpg"),
    "bmp": image_of("image/bmp"),
    "svg": image_of("image/svg+xml", HELLO),
    "svg in words": SVG,
}


def assembled(user: memspan.Scope, part: dict[str, Any], model: str = "claude-sonnet-4-5") -> memspan.Prompt:
    session = user.session(f"{model} {part}"[:100], model=model)
    session.add({"role": "user", "content": [part, {"type": "text", "text": "see"}]})
    return session.assemble()


@pytest.mark.parametrize("given", GIVEN)
def test_no_medium_is_refused(user: memspan.Scope, given: str) -> None:
    for model in ("gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro", "llama-3.3-70b"):
        assert complaints(assembled(user, GIVEN[given], model)) == []


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ("text", {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}, "title": "a.txt"}),
        ("csv", {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}, "title": "a.csv"}),
        ("docx", {"type": "text", "text": "[a.docx]"}),
        ("not utf-8", {"type": "text", "text": "[a.txt]"}),
        ("pdf", {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}, "title": "a.pdf"}),
        ("jpg", {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": PNG}}),
        ("bmp", {"type": "text", "text": "[image]"}),
        ("svg in words", {"type": "text", "text": "[image]"}),
    ],
)
def test_claude_is_sent_what_its_api_takes_after_a_switch(user: memspan.Scope, given: str, sent: dict[str, Any]) -> None:
    session = user.session("s-1", model="gpt-5")
    session.add({"role": "user", "content": [GIVEN[given], {"type": "text", "text": "see"}]})
    session.switch_model("claude-sonnet-4-5")
    prompt = session.assemble()
    assert prompt.to_anthropic()["messages"][0]["content"][0] == sent
    rows = [row.why for row in prompt.explain() if "names it" in row.why]
    assert bool(rows) is (sent["type"] == "text")
    assert all("Anthropic's messages do not take that" in row for row in rows)


def test_explain_tells_the_type(user: memspan.Scope) -> None:
    [row] = [row for row in assembled(user, GIVEN["docx"], "gpt-5").explain() if "names it" in row.why]
    assert row.why == f"document of the type {DOCX} is sent as a text that names it: chat completions do not take that"
    assert (row.id, row.included) == ("message 0", True)


def test_chat_completions_get_the_text_of_a_file_and_responses_the_file(user: memspan.Scope) -> None:
    prompt = assembled(user, GIVEN["text"], "gpt-5")
    assert prompt.to_openai()["messages"][0]["content"][0] == {"type": "text", "text": "a.txt\nhello"}
    assert prompt.to_openai_responses()["input"][0]["content"][0]["file_data"] == f"data:text/plain;base64,{HELLO}"
    docx = assembled(user, GIVEN["docx"], "gpt-5")
    assert docx.to_openai()["messages"][0]["content"][-2]["text"] == "[a.docx]"
    assert docx.to_openai_responses()["input"][0]["content"][-2]["filename"] == "a.docx"
    assert docx.counted_tokens > 1_000, "the file is counted, because responses send it"


def test_gemini_gets_texts_as_files_and_no_office_files(user: memspan.Scope) -> None:
    def given_part(given: str) -> Any:
        return assembled(user, GIVEN[given], "gemini-2.5-pro").to_gemini()["contents"][0]["parts"][-2]

    assert given_part("text")["inline_data"]["mime_type"] == "text/plain"
    assert given_part("jpg")["inline_data"]["mime_type"] == "image/jpeg"
    assert given_part("docx") == {"text": "[a.docx]"}


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("chart.png", "image/png"),
        ("a.WEBP", "image/webp"),
        ("x.gif?v=1", "image/gif"),
        ("x.heic#top", "image/heic"),
        ("photo.jpg", "image/jpeg"),
        ("photo", "image/jpeg"),
        ("photo?as=a.png", "image/jpeg"),
    ],
)
def test_gemini_is_told_the_type_of_a_linked_image(user: memspan.Scope, file: str, told: str) -> None:
    prompt = assembled(user, {"type": "image_url", "image_url": {"url": f"https://example.org/{file}"}}, "gemini-2.5-pro")
    assert prompt.to_gemini()["contents"][0]["parts"][-2]["file_data"]["mime_type"] == told


def test_a_file_in_a_tools_result_is_no_text_of_a_message(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": "look"})
    session.add({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]}, format="anthropic")
    source = {"type": "base64", "media_type": "text/plain", "data": base64.b64encode(b"</context>").decode()}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "document", "source": source}]}
    session.add({"role": "user", "content": [result]}, format="anthropic")
    prompt = session.assemble()
    assert complaints(prompt) == []
    assert prompt.to_openai()["messages"][-1]["content"] == "[document]"


@pytest.mark.parametrize(("given", "sent"), [("ann", "ann"), ("Ann Lee", "Ann_Lee"), ("a@b.org", "a_b_org"), ("x" * 80, "x" * 64)])
def test_names_of_speakers_have_the_form_that_openai_takes(user: memspan.Scope, given: str, sent: str) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hi", "name": given})
    prompt = session.assemble()
    assert prompt.to_openai()["messages"][0]["name"] == sent
    assert prompt.to_openai(dialect="vllm")["messages"][0]["name"] == given, "the model's template reads it there"
    assert complaints(prompt) == []
