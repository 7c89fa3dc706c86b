"""Moving a session to another model: planned, counted anew, laid out anew, and nothing lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from request_tokens import request_tokens

import memspan
from memspan.testing import anthropic_response, openai_response

if TYPE_CHECKING:
    import tiktoken


@pytest.fixture
def session(user: memspan.Scope) -> memspan.Session:
    session = user.session("s-1", model="gpt-4o", system="You are terse.")
    session.add({"role": "user", "content": "the release is v2.31.0-rc4"})
    session.add({"role": "assistant", "content": "noted"})
    session.add_many([{"role": role, "content": f"{role} {n} " + "word " * 40} for n in range(100) for role in ("user", "assistant")])
    session.add({"role": "user", "content": "and now?"})
    return session


def test_a_plan_is_what_the_switch_does(session: memspan.Session) -> None:
    before = session.assemble()
    plan = session.plan_switch("gpt-4")
    assert session.model == "gpt-4o"
    assert session.assemble() == before
    switch = session.switch_model("gpt-4")
    assert switch == plan
    assert (switch.from_model, switch.to_model, switch.max_input_tokens) == ("gpt-4o", "gpt-4", 4_096)
    assert switch.kept_messages + switch.left_out_messages == len(session.messages)
    assert switch.first_message == switch.left_out_messages > 0
    assert session.model == "gpt-4"
    prompt = session.assemble()
    assert prompt.epoch == before.epoch + 1
    assert prompt.total_tokens <= prompt.max_input_tokens == 4_096
    assert prompt.to_openai()["model"] == "gpt-4"


def test_counts_are_the_new_models(session: memspan.Session, tmp_path_factory: pytest.TempPathFactory) -> None:
    from rivals import vocabularies

    cl100k: tiktoken.Encoding = vocabularies.openai("cl100k_base", tmp_path_factory.mktemp("tiktoken"))
    session.add({"role": "assistant", "content": "日本語のテキスト " * 20})
    session.add({"role": "user", "content": "次は? 😀"})
    session.switch_model("gpt-4")
    session.add({"role": "assistant", "content": "終わり"})
    prompt = session.assemble()
    assert prompt.total_tokens == request_tokens(prompt.to_openai(), cl100k)


def test_nothing_is_lost(session: memspan.Session, user: memspan.Scope) -> None:
    count = len(session.messages)
    session.switch_model("gpt-4")
    assert len(session.messages) == count
    assert "v2.31.0-rc4" in session.assemble().text  # the messages left the window; the summary of the switch keeps what they named
    assert user.search_transcripts("v2.31.0-rc4")[0].index == 0
    user.session("s-1", model="gpt-4")
    with pytest.raises(memspan.ModelMismatch):
        user.session("s-1", model="gpt-4o")


def test_to_another_vendor_and_back(user: memspan.Scope) -> None:
    session = user.session("s-1", model="claude-sonnet-4-5", system="You are terse.")
    session.add({"role": "user", "content": "read /x"})
    session.add_response(
        anthropic_response("I do.", thinking="hm", tool_calls=[("toolu_1", "read", {"path": "/x"})]), prompt=session.assemble()
    )
    session.add({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "empty"}]})
    session.switch_model("gpt-4o")
    prompt = session.assemble()
    messages = prompt.render()["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "tool"]
    assert messages[2]["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"path":"/x"}'}
    assert "hm" not in str(messages)
    session.add_response(openai_response("It is empty."), prompt=prompt)
    session.switch_model("claude-sonnet-4-5")
    assert session.assemble().render()["messages"][1]["content"][0]["type"] == "thinking"
    old = session.turn(0)
    assert [call.model for call in old.calls] == ["claude-sonnet-4-5", "gpt-4o"]
    assert all(call.prompt is not None and call.prompt.same_bytes for call in old.calls)


def test_other_instructions_with_it(session: memspan.Session) -> None:
    tools = ({"type": "function", "function": {"name": name}} for name in ("one", "two"))
    session.switch_model("gpt-4", system="You are kind.", tools=tools)
    request = session.assemble().to_openai()
    assert request["messages"][0]["content"] == "You are kind."
    assert [tool["function"]["name"] for tool in request["tools"]] == ["one", "two"]


def test_what_cannot_be(session: memspan.Session) -> None:
    with pytest.raises(memspan.UnknownModel):
        session.plan_switch("gpt-17")
    with pytest.raises(memspan.UnknownModel):
        session.switch_model("gpt-17")
    session.add({"role": "user", "content": "word " * 6_000})
    prompt, epoch = session.assemble(), session.epoch
    for switch in (session.plan_switch, session.switch_model):
        with pytest.raises(memspan.BudgetExceeded) as raised:
            switch("gpt-4")
        assert raised.value.limit_tokens == 4_096
    assert (session.model, session.epoch, session.summary) == ("gpt-4o", epoch, None)
    assert session.assemble() == prompt


def test_recovering_passes_over_a_model_that_is_too_small(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o", system="You are terse.")
    session.add({"role": "user", "content": "word " * 6_000})
    prompt = session.assemble()
    down = RuntimeError("529 Overloaded")
    with pytest.raises(RuntimeError) as raised:
        session.recover(prompt, down, models=["gpt-4"])
    assert raised.value is down
    assert (session.model, session.assemble()) == ("gpt-4o", prompt)
    assert session.recover(prompt, down, models=["gpt-4", "gpt-4.1"]).model == "gpt-4.1"


def test_the_ledger_before_it_stays(session: memspan.Session) -> None:
    prompt = session.assemble()
    turn = session.add_response(openai_response("now"), prompt=prompt)
    session.switch_model("gpt-4")
    old = session.turn(turn.number).prompt
    assert old is not None
    assert (old.to_json(), old.model) == (prompt.to_json(), "gpt-4o")


def test_a_limit_that_gave_way_holds_again_with_a_model_that_it_fits(user: memspan.Scope) -> None:
    wanted = memspan.Budget(max_input_tokens=16_000, output_tokens=6_000)
    session = user.session("s-1", model="gpt-4o", budget=wanted)
    session.add({"role": "user", "content": "hello"})
    assert _limits(session) == (16_000, 6_000)
    planned = session.plan_switch("gpt-4").max_input_tokens
    session.switch_model("gpt-4")
    assert (session.budget, _limits(session)) == (wanted, (4_096, 4_096))
    assert planned == 4_096
    assert user.session("s-1", budget=wanted).budget == wanted, "a program that asks for it each time is not refused"
    with pytest.raises(memspan.InvalidInput, match="gpt-4"):
        user.session("s-1", budget=memspan.Budget(output_tokens=6_000))
    session.add({"role": "assistant", "content": "hi"})
    session.rewind(1)
    session.switch_model("gpt-4o")
    assert (session.budget, _limits(session)) == (wanted, (16_000, 6_000))


def _limits(session: memspan.Session) -> tuple[int, int]:
    prompt = session.assemble()
    return prompt.max_input_tokens, prompt.max_output_tokens


_THINKING: dict[str, dict[str, Any]] = {
    "deepseek-chat": {"content": None, "reasoning_content": "think hard " * 5_000},
    "mistral-large-latest": {
        "content": [{"type": "thinking", "thinking": [{"type": "text", "text": "think hard " * 5_000}]}, {"type": "text", "text": "hm"}]
    },
    "gemini-2.5-pro": {"content": None},
}


@pytest.mark.parametrize("model", _THINKING)
def test_thinking_that_is_not_sent_counts_nothing_after_a_switch(model: str, user: memspan.Scope, memspan_engine: memspan.Engine) -> None:
    session = user.session("s-2", model=model)
    function = {"name": "f", "arguments": "{}"}
    for turn in range(20):
        call: dict[str, Any] = {"id": f"call{turn:05}", "type": "function", "function": function}
        if model == "gemini-2.5-pro":
            call["extra_content"] = {"google": {"thought_signature": "QUJD" * 5_000}}
        session.add({"role": "user", "content": f"question {turn}"})
        message = {"role": "assistant", **_THINKING[model], "tool_calls": [call]}
        response = openai_response(id=f"r{turn}")
        response["choices"] = [{"index": 0, "finish_reason": "tool_calls", "message": message}]
        session.add_response(response)
        session.add({"role": "tool", "tool_call_id": call["id"], "content": "ok"})
        session.add({"role": "assistant", "content": f"done {turn}"})
    session.add({"role": "user", "content": "last"})
    assert session.assemble().total_tokens > 50_000
    session.switch_model("gpt-4o")
    prompt = session.assemble()
    assert len(prompt.to_openai()["messages"]) == 81
    assert prompt.total_tokens < 2_000
    session.switch_model(model)
    assert session.assemble().total_tokens > 50_000
    assert not memspan_engine.check().findings
