"""Every renderer against its vendor's rules: random sessions, none refused; the SDKs' types take the requests; the checkers have teeth."""

# ruff: noqa: C901, E501, PLR0912, S311  conversations of every shape, pseudo-random on purpose
from __future__ import annotations

import random
from typing import Any

import pytest
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from tests.vendors import rules

import memspan
from memspan.testing import anthropic_response, openai_response

PNG = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk"
TOOLS = [{"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}}]
MODELS = ["gpt-4o", "gpt-5", "claude-sonnet-4-5", "claude-opus-4-7", "mistral-large-3", "deepseek-chat", "llama-3.3-70b", "gemini-2.5-pro"]
IDS = ["call_PTLP8xhu3uwZk4l3nlnrrJha", "toolu_01A09q90qw90lq917835lq9", "a.b/c d", "x" * 70, "a1B2c3D4e"]
PICTURES = ["image/png", "image/png", "image/jpg", "image/bmp", "image/svg+xml"]
PICTURE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
FILES = [("a.pdf", "application/pdf"), ("a!pdf", "application/pdf"), ("a.txt", "text/plain"), ("b.doc", "application/msword"), ("", "")]
TEXTS = ["hello", " ", "", "漢字 😀", "<|im_start|>system", "word " * 300, "\n"]


def _result(call: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": "ok"}


def talk(rng: random.Random, session: memspan.Session, messages: int) -> None:
    """A conversation of any shape that sessions take."""
    for number in range(messages):
        kind = rng.randrange(9)
        text = rng.choice(TEXTS)
        calls = [f"{rng.choice(IDS)}{number}{n}" for n in range(rng.randrange(1, 4))]
        if kind == 0:
            session.add({"role": rng.choice(["system", "developer"]), "content": text or "x"})
        elif kind == 1:
            parts = [
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": {"url": f"data:{rng.choice(PICTURES)};base64,{PNG}"}},
            ]
            parts += [
                {"type": "file", "file": {"filename": name, "file_data": f"data:{kind};base64,aGVsbG8="}}
                for name, kind in rng.sample(FILES, rng.choice([0, 0, 1, 2]))
            ]
            session.add({"role": "user", "content": parts[rng.randrange(2) :]})
        elif kind == 2:
            session.add({"role": "assistant", "content": text or "y"})
        elif kind == 3:
            session.add_response({"id": f"r{number}", "choices": [{"message": {"role": "assistant", "content": text or None, "tool_calls": [
                {"id": one, "type": "function", "function": {"name": "f", "arguments": rng.choice(["{}", "", "{\"a\": 1}", "nojson"])}} for one in calls]}}]})  # fmt: skip
            for one in calls[: rng.randrange(4)]:
                if rng.random() < 0.3:  # somebody speaks while other calls are open
                    session.add({"role": "user", "content": [_result(one), {"type": "text", "text": text}]})
                else:
                    session.add({"role": "tool", "tool_call_id": one, "content": text})
        elif kind == 4:
            blocks: list[Any] = [
                {"type": "thinking", "thinking": "t", "signature": rng.choice(["", "sig"])},
                {"type": "text", "text": text},
            ]
            blocks += [{"type": "tool_use", "id": f"toolu_{number}_{n}", "name": "f", "input": {}} for n in range(rng.randrange(2))]
            session.add_response({**anthropic_response("z", id=f"m{number}", finish="max_tokens"), "content": blocks})
        elif kind == 5:
            items: list[Any] = [{"type": "reasoning", "id": f"rs_{number}", "summary": [], "encrypted_content": rng.choice([None, "gAAA"])}]
            items.append(
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text or "o", "annotations": []}]}
            )
            session.add_response({"id": f"resp_{number}", "object": "response", "status": "completed", "output": items})
        elif kind == 6:
            gemini_parts: list[Any] = [{"text": text or "g"}, {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "c2ln"}]
            session.add_response(
                {"responseId": f"g{number}", "candidates": [{"content": {"role": "model", "parts": gemini_parts}, "finishReason": "STOP"}]}
            )
            for waiting in session.pending_tool_calls[: rng.randrange(2)]:
                session.add({"role": "tool", "tool_call_id": waiting.id, "content": "ok"})
        else:
            session.add(
                {"role": "user", "content": text or "q", **({"name": rng.choice(["ann", "Ann Lee"])} if rng.random() < 0.2 else {})}
            )


def complaints(prompt: memspan.Prompt) -> list[str]:
    """What any vendor has against a prompt."""
    checks = [
        *((name, rules.chat(prompt.to_openai(dialect=name), name)) for name in memspan.dialects),
        ("anthropic", rules.anthropic(prompt.to_anthropic())),
        ("responses", rules.responses(prompt.to_openai_responses())),
        ("gemini", rules.gemini(prompt.to_gemini())),
    ]
    return [f"{name}: {complaint}" for name, complaint in checks if complaint is not None]


def test_no_random_session_is_refused(memspan_engine: memspan.Engine, request: pytest.FixtureRequest) -> None:
    sessions = 10_000 if request.config.getoption("--soak") else 250
    user = memspan_engine.user("u")
    user.remember("Prefers short answers", "preference")
    for seed in range(sessions):
        rng = random.Random(seed)
        budget = memspan.Budget(
            max_input_tokens=rng.choice([4_000, 6_000, 9_000]), output_tokens=500, order=rng.choice(["cache_first", "classic"])
        )
        session = user.session(
            f"s-{seed}", model=rng.choice(MODELS), system=rng.choice(["", "You are terse."]), tools=rng.choice([[], TOOLS]), budget=budget
        )
        talk(rng, session, rng.randrange(9))
        items = [memspan.Item("a chunk")] if rng.random() < 0.3 else []
        try:
            prompt = session.assemble(items=items)
        except memspan.BudgetExceeded as error:  # a round that is larger than the limit: the error names the least that would do
            prompt = session.assemble(items=items, max_input_tokens=int(str(error.fields["needed_tokens"])))
        found = complaints(prompt)
        assert not found, (seed, found)


@pytest.mark.parametrize("then", ["open", "answered", "answered with words", "cancelled", "gone on"])
def test_words_beside_a_result_stand_behind_the_whole_round(user: memspan.Scope, then: str) -> None:
    """They stood between the results of a round, and OpenAI and Google refused every request of the session from then on."""
    session = user.session("s-1", model="gpt-4o", tools=TOOLS)
    session.add({"role": "user", "content": "go"})
    session.add_response(openai_response(tool_calls=[("call_1", "f", {}), ("call_2", "f", {})]))
    session.add({"role": "user", "content": [{"type": "text", "text": "Hurry up."}, _result("call_1")]})
    match then:
        case "answered":
            session.add({"role": "tool", "tool_call_id": "call_2", "content": "ok"})
        case "answered with words":
            session.add({"role": "user", "content": [_result("call_2"), {"type": "text", "text": "Please."}]})
        case "cancelled":
            session.cancel_tool_calls(reason="stop")
        case "gone on":
            session.add({"role": "user", "content": "never mind"})
        case _:
            assert [call.id for call in session.pending_tool_calls] == ["call_2"]
    prompt = session.assemble()
    assert complaints(prompt) == []
    said = prompt.to_openai()["messages"]
    assert [one["role"] for one in said[:5]] == ["user", "assistant", "tool", "tool", "user"]
    assert said[4]["content"] == "Hurry up."
    assert [item["type"] for item in prompt.to_openai_responses()["input"][1:6]] == [
        "function_call",
        "function_call",
        "function_call_output",
        "function_call_output",
        "message",
    ]


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "fs.read", "strict": True, "parameters": {"type": "object", "properties": {}}}},
        {"name": "fs.read", "input_schema": {"type": "object", "properties": {}}},
        {"type": "function", "name": "fs.read", "parameters": {"type": "object", "properties": {}}},
    ],
    ids=["openai", "anthropic", "responses"],
)
def test_a_tool_has_one_name_in_its_declaration_and_in_its_calls(user: memspan.Scope, tool: dict[str, Any]) -> None:
    """After a switch the calls said "fs_read" and the declaration "fs.read", which the vendor refused."""
    session = user.session("s-1", model="gemini-2.5-pro", tools=[tool])
    session.add({"role": "user", "content": "go"})
    calls = [{"functionCall": {"name": "fs.read", "args": {}}}]
    session.add_response({"responseId": "g", "candidates": [{"content": {"role": "model", "parts": calls}, "finishReason": "STOP"}]})
    assert session.pending_tool_calls[0].name == "fs.read"
    session.add({"role": "tool", "tool_call_id": session.pending_tool_calls[0].id, "content": "ok"})
    session.switch_model("gpt-4o")
    prompt = session.assemble()
    assert complaints(prompt) == []
    google, openai = prompt.to_gemini(), prompt.to_openai()
    assert google["config"]["tools"][0]["function_declarations"][0]["name"] == "fs.read"
    assert openai["tools"][0]["function"]["name"] == openai["messages"][1]["tool_calls"][0]["function"]["name"] == "fs_read"
    assert openai["tools"][0]["function"].get("strict") == tool.get("function", {}).get("strict")
    session.add_response(openai_response(tool_calls=[("call_1", "fs_read", {})]))
    [call] = session.pending_tool_calls
    assert call.name == "fs.read"

    read = memspan.Function("fs.read", "Reads a file.", {"type": "object", "properties": {}}, lambda _: "the file")
    assert session.answer(call, functions=[read]).action == "added"
    assert session.messages[-1].text == "the file"


@pytest.mark.parametrize(("model", "declared", "sent"), [("gpt-4o", "größe.lesen", "gr__e_lesen"), ("gpt-4o", "読む", "__")])
def test_a_declared_tool_is_counted_by_the_name_that_is_sent(user: memspan.Scope, model: str, declared: str, sent: str) -> None:
    def tokens(name: str) -> int:
        tool = {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}
        session = user.session(f"s-{name}", model=model, tools=[tool])
        session.add({"role": "user", "content": "go"})
        return session.assemble().total_tokens

    assert tokens(declared) == tokens(sent)


SVG = {"type": "image_url", "image_url": {"url": "data:image/svg+xml,<svg/>"}}


def _called(*kinds: str) -> list[dict[str, Any]]:
    blocks = {"text": {"type": "text", "text": "I look."}, "tool_use": {"type": "tool_use", "id": "c", "name": "f", "input": {}}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "ok"}
    return [{"role": "assistant", "content": [blocks[kind] for kind in kinds]}, {"role": "user", "content": [result]}]


def test_the_checkers_have_teeth(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", tools=TOOLS)
    session.add({"role": "assistant", "content": "How can I help?"})
    session.add({"role": "user", "content": "call"})
    session.add_response(openai_response(tool_calls=[("call_1", "f", {})]))
    session.add({"role": "tool", "tool_call_id": "call_1", "content": "ok"})
    session.add({"role": "user", "content": "thanks"})
    plain = session.assemble().to_openai(dialect="openai")
    assert rules.chat(plain) is None
    assert "max_completion_tokens" in (rules.chat(plain, "mistral") or "")
    silent = {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": ""}, {"role": "user", "content": "so?"}]}
    assert "must have either content" in (rules.chat({"model": "m", **silent, "max_tokens": 9}, "mistral") or "")
    assert "begin with user" in (rules.chat({**{k: v for k, v in plain.items() if k != "max_completion_tokens"}}, "vllm") or "")
    assert "followed by tool messages" in (rules.chat({**plain, "messages": [plain["messages"][2], plain["messages"][4]]}) or "")
    claude = session.assemble().to_anthropic()
    assert rules.anthropic(claude) is None
    assert "alternate" in (rules.anthropic({**claude, "messages": [claude["messages"][0], claude["messages"][0]]}) or "")
    assert "without `tool_result`" in (rules.anthropic({**claude, "messages": [*claude["messages"][:-1], claude["messages"][0]]}) or "")
    assert "first message" in (rules.anthropic({**claude, "messages": claude["messages"][1:]}) or "")
    thinks = {**claude, "messages": claude["messages"][:3], "thinking": {"type": "enabled", "budget_tokens": 2_000}}
    assert "found `text`" in (rules.anthropic({**thinks, "messages": [claude["messages"][0], *_called("text", "tool_use")]}) or "")
    assert "found `tool_use`" in (rules.anthropic({**thinks, "messages": [claude["messages"][0], *_called("tool_use")]}) or "")
    assert "ids must be unique" in (rules.anthropic({**claude, "messages": [claude["messages"][0], *_called("tool_use") * 2]}) or "")
    source = {"type": "base64", "media_type": "image/jpg", "data": PNG}
    shown = {"role": "user", "content": [{"type": "image", "source": source}]}
    assert "media_type" in (rules.anthropic({**claude, "messages": [shown]}) or "")
    assert "media_type" in (rules.anthropic({**claude, "messages": [{**shown, "content": [{"type": "document", "source": source}]}]}) or "")
    for content in (
        "",
        [],
        None,
        [{"type": "text", "text": " "}],
        [{"type": "text", "text": "x"}, {"type": "image", "source": {**source, "media_type": "image/png"}}],
    ):
        failed = [{"type": "tool_result", "tool_use_id": "call_1", "content": content, "is_error": True}]
        assert "`is_error` is true" in (rules.anthropic({**claude, "messages": [{"role": "user", "content": failed}]}) or "")
    dotted: list[Any] = [{**TOOLS[0], "name": "fs.read", "input_schema": {}, "function": {"name": "fs.read"}}]
    assert "tools.0.name" in (rules.anthropic({**claude, "tools": dotted}) or "")
    assert "tools[0]" in (rules.chat({**plain, "tools": dotted}) or "")
    named = {**plain, "messages": [{"role": "user", "content": "hi", "name": "Ann Lee"}]}
    assert "messages[1].name" in (rules.chat(named) or "")
    assert "unsupported image" in (rules.chat({**plain, "messages": [{"role": "user", "content": [SVG]}]}) or "")
    filed = {"type": "file", "file": {"filename": "a.txt", "file_data": "data:text/plain;base64,aGVsbG8="}}
    assert "application/pdf" in (rules.chat({**plain, "messages": [{"role": "user", "content": [filed]}]}) or "")
    google = session.assemble().to_gemini()
    assert rules.gemini(google) is None
    drawn = {"role": "user", "parts": [{"inline_data": {"mime_type": "image/svg+xml", "data": b""}}]}
    assert "Unsupported MIME type" in (rules.gemini({**google, "contents": [drawn]}) or "")
    assert "equal to the number" in (
        rules.gemini({**google, "contents": [one for one in google["contents"] if "function_response" not in one["parts"][0]]}) or ""
    )
    items = session.assemble().to_openai_responses()
    assert rules.responses(items) is None
    assert "tools[0].name" in (rules.responses({**items, "tools": dotted}) or "")
    assert "No tool call found" in (rules.responses({**items, "input": items["input"][3:]}) or "")


def test_the_sdk_takes_responses(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-5", system="You are terse.", tools=TOOLS)
    talk(random.Random(5), session, 8)
    session.add({"role": "user", "content": "bye"})
    request = session.assemble().to_openai_responses()
    TypeAdapter(ResponseCreateParamsNonStreaming).validate_python(request)
    assert request["store"] is False
    assert request["include"] == ["reasoning.encrypted_content"]
    assert request["tools"][0]["strict"] is False


def test_gemini_takes_bytes(user: memspan.Scope) -> None:
    genai = pytest.importorskip("google.genai", reason="google-genai is not installed: pip install 'memspan[gemini]'")
    session = user.session("s-1", model="gemini-2.5-pro", system="You are terse.", tools=TOOLS)
    talk(random.Random(6), session, 8)
    request = session.assemble().to_gemini()
    content: Any = genai.types.Content
    TypeAdapter(list[content]).validate_python(request["contents"])
    genai.types.GenerateContentConfig.model_validate(request["config"])


def test_cache_control_is_never_on_thinking(user: memspan.Scope) -> None:
    # The bug: a breakpoint stood on a reply's last block, whatever that was, and the API refused the request.
    for name, content in [
        ("redacted", [{"type": "redacted_thinking", "data": "zz"}]),
        ("text, thinking", [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "t", "signature": "sig"}]),
        ("thinking, empty text", [{"type": "thinking", "thinking": "t", "signature": "sig"}, {"type": "text", "text": ""}]),
    ]:
        session = user.session(name, model="claude-sonnet-4-5", system="Be good.")
        session.add({"role": "user", "content": "think"})
        session.add_response({**anthropic_response("x", id=name, finish="max_tokens"), "content": content}, prompt=session.assemble())
        session.add({"role": "user", "content": "go on"})
        assert rules.anthropic(session.assemble().to_anthropic()) is None


def test_what_was_cut_says_so_only_where_it_was(user: memspan.Scope) -> None:
    # The bug: a session that begins with the assistant's greeting was said to have been cut.
    session = user.session("s-1", model="claude-sonnet-4-5", budget=memspan.Budget(max_input_tokens=3_000))
    session.add({"role": "assistant", "content": "How can I help?"})
    session.add({"role": "user", "content": "hello"})
    assert session.assemble().to_anthropic()["messages"][0]["content"][0]["text"] == "(The assistant speaks first.)"
    session.add_many([{"role": role, "content": "word " * 150} for _ in range(20) for role in ("assistant", "user")])
    assert "speaks first" not in session.assemble().to_anthropic()["messages"][0]["content"][0]["text"]


def test_an_image_for_a_model_without_eyes(user: memspan.Scope) -> None:
    # The bug: it was sent, and the provider answered 400.
    session = user.session("s-1", model="deepseek-chat")
    session.add(
        {
            "role": "user",
            "content": [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}],
        }
    )
    prompt = session.assemble()
    assert "[image]" in prompt.to_openai()["messages"][0]["content"]
    [row] = [row for row in prompt.explain() if "names it" in row.why]
    assert (row.id, row.included) == ("message 0", True)
    assert prompt.exact  # a text of a known tokenizer, where an image was a bound
    session.switch_model("gpt-4o")
    assert "image_url" in str(session.assemble().to_openai())


def test_room_for_hidden_thinking(user: memspan.Scope) -> None:
    # The bug: 4,096 tokens had to hold it too, and replies ended empty.
    assert user.session("a", model="gpt-5").assemble().max_output_tokens == 25_000
    assert user.session("b", model="gpt-4o").assemble().max_output_tokens == 4_096
    assert user.session("c", model="gpt-5", budget=memspan.Budget(output_tokens=1_000)).assemble().max_output_tokens == 1_000


@pytest.mark.parametrize("model", MODELS)
def test_an_empty_session_says_something(user: memspan.Scope, model: str) -> None:
    assert complaints(user.session("s-1", model=model).assemble()) == []


@pytest.mark.parametrize("model", MODELS)
def test_what_has_no_visible_character_is_not_sent(user: memspan.Scope, model: str) -> None:
    session = user.session("s-1", model=model, system=" \n")
    source = {"type": "text", "media_type": "text/plain", "data": " \n"}
    session.add({"role": "user", "content": [{"type": "text", "text": "see"}, {"type": "document", "source": source}]})
    prompt = session.assemble()
    assert complaints(prompt) == []
    assert "system" not in [section.name for section in prompt.sections if section.tokens]


FAILURES = [
    None,
    "",
    [],
    " \n",
    [{"type": "text", "text": ""}],
    [{"type": "text", "text": " "}],
    [PICTURE],
    [{"type": "text", "text": "see"}, PICTURE],
]


@pytest.mark.parametrize("content", FAILURES)
def test_a_failure_that_says_nothing_or_more_than_text_is_not_marked(user: memspan.Scope, content: Any) -> None:
    """Anthropic refused every request of the session from then on."""
    session = user.session("s-1", model="claude-sonnet-4-5")
    for call, said in (("c1", content), ("c2", "exit 1")):
        session.add({"role": "user", "content": "run it"})
        session.add({"role": "assistant", "content": [{"type": "tool_use", "id": call, "name": "bash", "input": {}}]})
        result = {"type": "tool_result", "tool_use_id": call, "is_error": True, **({} if said is None else {"content": said})}
        session.add({"role": "user", "content": [result]})
    for prompt in (session.assemble(), _redacted(session)):
        assert complaints(prompt) == []
        blocks = [block for message in prompt.to_anthropic()["messages"] for block in message["content"]]
        marked = {block["tool_use_id"]: block.get("is_error") for block in blocks if block["type"] == "tool_result"}
        assert marked == {"c1": None, "c2": True if prompt.text.count("exit 1") else None}


def _redacted(session: memspan.Session) -> memspan.Prompt:
    session.redact(5)
    return session.assemble()


def test_a_dialect_that_nobody_knows(user: memspan.Scope) -> None:
    with pytest.raises(memspan.InvalidInput, match="choosing a dialect"):
        user.session("s-1", model="gpt-4o").assemble().to_openai(dialect="klingon")


def test_items_of_a_responses_request_are_read_back(user: memspan.Scope) -> None:
    alone = memspan.Recalls(memories=0, messages=0)
    session = user.session("s-1", model="gpt-5", recalls=alone)
    session.add({"role": "user", "content": "Which port?"})
    called = {"id": "c-1", "type": "function", "function": {"name": "port_of", "arguments": '{"of": "db"}'}}
    session.add({"role": "assistant", "tool_calls": [called]})
    session.add({"role": "tool", "tool_call_id": "c-1", "content": "5432"})
    session.add({"role": "assistant", "content": "5432."})
    items = session.assemble().to_openai_responses()["input"]
    again = user.session("s-2", model="gpt-5", recalls=alone)
    for item in items:
        again.add(item, format="openai_responses")
    assert again.assemble().to_openai_responses()["input"] == items
    with pytest.raises(memspan.InvalidInput, match="must be JSON"):
        again.add({"type": "function_call", "call_id": "c-2", "name": "port_of", "arguments": "{"}, format="openai_responses")


def test_a_file_by_its_id_that_is_not_sent_has_its_row(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5")
    session.add({"role": "user", "content": [{"type": "text", "text": "read this"}, {"type": "file", "file": {"file_id": "file-123"}}]})
    [row] = [one for one in session.assemble().explain() if "not take that" in one.why]
    assert "file" in row.why


def test_mistral_is_sent_no_reply_that_says_nothing(user: memspan.Scope) -> None:
    """It answers 400 to one, and did so to every later request of the session."""

    def sent(*replies: dict[str, Any]) -> list[tuple[str, str]]:
        session = user.session(f"s-{len(list(user.sessions()))}", model="mistral-large-3", tools=TOOLS)
        session.add({"role": "user", "content": "hi"})
        for reply in replies:
            (session.add if "role" in reply else session.add_response)(reply)
        prompt = session.assemble()
        assert complaints(prompt) == []
        assert rules.chat(prompt.to_openai(dialect="openai")) is None
        return [(message["role"], str(message["content"])) for message in prompt.to_openai()["messages"]]

    empty, call, again = openai_response(""), openai_response(tool_calls=[("c", "f", {})]), {"role": "user", "content": "again"}
    result = {"role": "tool", "tool_call_id": "c", "content": "ok"}
    assert sent(empty) == [("user", "hi")]
    assert sent(empty, again) == [("user", "hi"), ("user", "again")]
    assert sent(call, result)[1:] == [("assistant", "None"), ("tool", "ok")]
    assert sent(call, result, empty, again)[2:] == [("tool", "ok"), ("assistant", "(interrupted)"), ("user", "again")]
    assert sent(openai_response(" "), again)[1] == ("assistant", " ")


@pytest.mark.parametrize(
    ("model", "dialect", "wanted"),
    [
        ("deepseek-v4-pro", "deepseek", "reasoning_content"),
        ("kimi-k2.6", "moonshot", "reasoning_content"),
        ("gemini-3.1-pro-preview", "gemini", "extra_content"),
    ],
)
def test_a_call_goes_back_with_what_its_server_wants(user: memspan.Scope, model: str, dialect: str, wanted: str) -> None:
    """DeepSeek and Moonshot answer 400 to a call without its thinking, Google to one without its signature."""
    session = user.session("s-1", model=model, tools=TOOLS)
    session.add({"role": "user", "content": "look it up"})
    reply = openai_response(tool_calls=[("c1", "f", {})])
    message = reply["choices"][0]["message"]
    if dialect == "gemini":
        message["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": "U0lH"}}
    else:
        message["reasoning_content"] = "I need it."
    session.add_response(reply)
    session.add({"role": "tool", "tool_call_id": "c1", "content": "ok"})
    session.add_response({**openai_response("Done."), "id": "r-2"})
    session.add({"role": "user", "content": "thanks"})
    prompt = session.assemble()
    assert complaints(prompt) == []
    for name in memspan.dialects:
        assert (wanted in str(prompt.to_openai(dialect=name))) == (wanted in memspan.dialects[name].sent_back), name
    [sent] = [one for one in prompt.to_openai()["messages"] if one.get("tool_calls")]
    assert sent.get("reasoning_content", sent["tool_calls"][0].get("extra_content")) == (
        {"google": {"thought_signature": "U0lH"}} if dialect == "gemini" else "I need it."
    )
    session.switch_model("gpt-4o")
    assert complaints(session.assemble()) == []
    assert wanted not in str(session.assemble().to_openai())


@pytest.mark.parametrize(("model", "dialect", "sent"), [("deepseek-v4-pro", "deepseek", ""), ("kimi-k2.6", "moonshot", " ")])
def test_another_models_call_goes_to_a_server_that_wants_thinking(user: memspan.Scope, model: str, dialect: str, sent: str) -> None:
    """DeepSeek answers 400 to a call without the field, Moonshot also where it is empty."""
    session = user.session("s-1", model="gpt-4o", tools=TOOLS)
    session.add({"role": "user", "content": "look it up"})
    session.add_response(openai_response(tool_calls=[("c1", "f", {})]))
    session.add({"role": "tool", "tool_call_id": "c1", "content": "ok"})
    session.add_response({**openai_response("Done."), "id": "r-2"})
    session.add({"role": "user", "content": "thanks"})
    session.switch_model(model)
    prompt = session.assemble()
    assert complaints(prompt) == []
    messages = prompt.to_openai(dialect=dialect)["messages"]
    assert [one["reasoning_content"] for one in messages if "reasoning_content" in one] == [sent]
    assert "reasoning_content" not in str(prompt.to_openai(dialect="openai"))


def test_images_of_results_go_back_to_the_responses_api(user: memspan.Scope) -> None:
    image = {"type": "input_image", "image_url": "https://x.org/page.png", "detail": "high"}
    output = [{"type": "input_text", "text": "the page"}, image]
    session = user.session("s-1", model="gpt-4o", tools=TOOLS)
    session.add({"role": "user", "content": "look it up"})
    session.add({"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"})
    session.add({"type": "function_call_output", "call_id": "c1", "output": output}, id="m-1")
    assert session.messages[-1].tokens > 500
    session.add({"type": "function_call_output", "call_id": "c1", "output": output}, id="m-1")  # a retry
    assert len(session.messages) == 3
    prompt = session.assemble()
    assert complaints(prompt) == []
    assert prompt.to_openai_responses()["input"][-1] == {"type": "function_call_output", "call_id": "c1", "output": output}
    assert prompt.to_openai()["messages"][-1]["content"] == [{"type": "text", "text": "the page"}, {"type": "text", "text": "[image]"}]


def test_thinking_is_counted_where_it_is_sent(user: memspan.Scope) -> None:
    """That of a turn without tools, and of another server's model, is not sent, and must not cost a place in the window."""

    def tokens(model: str, *, calls: bool) -> int:
        session = user.session(f"{model}-{calls}", model=model, tools=TOOLS)
        session.add({"role": "user", "content": "look it up"})
        reply = openai_response(tool_calls=[("c1", "f", {})]) if calls else openai_response("Done.")
        reply["choices"][0]["message"]["reasoning_content"] = "word " * 500
        session.add_response(reply)
        return session.messages[-1].tokens

    assert tokens("deepseek-v4-pro", calls=True) > 500
    assert tokens("deepseek-v4-pro", calls=False) < 50
    assert tokens("gpt-4o", calls=True) < 50
    assert tokens("mistral-large-3", calls=True) < 50


def test_a_paid_reply_with_an_unknown_part_is_kept(user: memspan.Scope) -> None:
    """`add_response` refused it, and the reply was lost."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    session = user.session("s-1", model="mistral-large-3")
    session.add({"role": "user", "content": "2+2"})
    reply = openai_response("4")
    reply["choices"][0]["message"]["content"] = [thinking, {"type": "text", "text": "4"}, {"type": "hologram"}]
    session.add_response(reply)
    assert session.messages[-1].text == "4"
    session.add({"role": "user", "content": "and twice that?"})
    prompt = session.assemble()
    assert complaints(prompt) == []
    assert prompt.to_openai()["messages"][1]["content"] == [thinking, {"type": "text", "text": "4"}]
    claude = user.session("s-2", model="claude-sonnet-4-5")
    claude.add({"role": "user", "content": "2+2"})
    blocks = [{"type": "text", "text": "4"}, {"type": "future_block", "x": 1}]
    claude.add_response({**anthropic_response("z"), "content": blocks})
    claude.add({"role": "user", "content": "and twice that?"})
    assert claude.assemble().to_anthropic()["messages"][1]["content"] == blocks
    assert "future" not in str(claude.assemble().to_openai())
    with pytest.raises(memspan.InvalidInput, match="the type of a part"):
        claude.add({"role": "assistant", "content": blocks})


def test_a_vendors_own_tool_goes_to_its_vendor(user: memspan.Scope) -> None:
    custom = {"type": "custom", "name": "grep", "description": "Finds lines."}
    search: dict[str, Any] = {"google_search": {}}
    session = user.session("s-1", model="gpt-5", tools=[custom, search])
    session.add({"role": "user", "content": "hi"})
    prompt = session.assemble()
    assert prompt.to_openai_responses()["tools"] == [custom]
    assert prompt.to_gemini()["config"]["tools"] == [search]
    assert "tools" not in prompt.to_openai()
    assert "tools" not in prompt.to_anthropic()
