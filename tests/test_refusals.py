"""What providers say when they refuse, read: 74 wordings of public threads, SDK exceptions, odd input; and what becomes of a refusal."""

# ruff: noqa: E501, N818, RUF043  the words as they are
from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import anthropic
import httpx2 as httpx
import openai
import pytest

import memspan
from memspan.testing import openai_response

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data" / "refusals.jsonl").read_text().splitlines()]
LONG = [{"role": "user", "content": f"question {n} " + "of some length " * 90} for n in range(12)]


@pytest.mark.parametrize("row", ROWS, ids=[f"{row['provider']}-{place}" for place, row in enumerate(ROWS)])
def test_real_wordings(row: dict[str, Any]) -> None:
    refusal = memspan.Refusal.of(row["message"])
    assert refusal is not None
    for name in ("kind", "input_tokens", "limit_tokens", "output_tokens", "shrink"):
        assert getattr(refusal, name) == row[name], name
    assert row["status"] in {None, refusal.status}
    assert row["source"].startswith("https://github.com/")
    # Within an exception, as an SDK raises it, the same is read.
    raised = memspan.Refusal.of(RuntimeError(row["message"]))
    assert raised is not None
    assert raised.kind == refusal.kind


def test_no_wording_reads_the_rest_of_a_text_at_each_of_its_begins() -> None:
    """Repeats without a bound are of what follows a word, each behind one that cannot be read as another's: none of any sign, and no two
    of one class side by side."""
    from memspan import refusals

    searches = [*(one for *_, one in refusals._WORDINGS), *(one for _, one in refusals._BY_WORDS)]
    for pattern in [*(search.args[0] for search in searches), refusals._WAIT]:  # type: ignore[attr-defined]
        assert not re.search(r"\.[*+]|\\d[*+][^ ]{0,4}\\d[*+]|\[\\d,\][*+]", pattern), pattern


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (
            "Requested token count exceeds the model's maximum context length "
            + "requested a total of 1 tokens " * 200
            + "limit of 1 tokens " * 200
            + "1 tokens " * 900,
            None,
        ),
        ("Rate limit reached, try again in " + "1" * 19_000, "rate_limited"),
        ("tool call id was " * 1_100, None),
    ],
)
def test_hostile_words_are_read(words: str, kind: str | None) -> None:
    """The first took 15 seconds."""
    refusal = memspan.Refusal.of(words)
    assert (refusal and refusal.kind) == kind
    assert refusal is None or refusal.retry_after_seconds is None


def test_there_are_enough_of_them() -> None:
    assert len([row for row in ROWS if row["kind"] == "too_long"]) >= 40
    assert len({row["provider"] for row in ROWS}) >= 10
    assert {row["kind"] for row in ROWS} >= {"too_long", "overloaded", "rate_limited", "auth", "bad_request"}


def status_error(kind: Any, status: int, body: object, headers: dict[str, str] | None = None) -> Exception:
    request = httpx.Request("POST", "https://api.example.com/v1")
    response = httpx.Response(status, request=request, headers=headers or {})
    error: Exception = kind("said", response=response, body=body)
    return error


def test_codes_go_before_words_and_statuses() -> None:
    error = status_error(openai.BadRequestError, 400, {"code": "context_length_exceeded", "message": "x", "type": "invalid_request_error"})
    refusal = memspan.Refusal.of(error)
    assert refusal is not None
    assert (refusal.kind, refusal.code, refusal.status, refusal.limit_tokens) == ("too_long", "context_length_exceeded", 400, None)
    overloaded = status_error(
        anthropic.InternalServerError, 529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    )
    assert getattr(memspan.Refusal.of(overloaded), "kind", None) == "overloaded"
    limited = status_error(openai.RateLimitError, 429, {"code": "rate_limit_exceeded"}, {"retry-after": "7"})
    assert getattr(memspan.Refusal.of(limited), "retry_after_seconds", None) == 7
    assert getattr(memspan.Refusal.of(status_error(openai.RateLimitError, 429, {"code": "insufficient_quota"})), "kind", None) == "auth"
    timeout = openai.APITimeoutError(request=httpx.Request("POST", "https://x"))
    assert getattr(memspan.Refusal.of(timeout), "kind", None) == "outage"
    for status, kind in [(401, "auth"), (404, "bad_request"), (418, None), (500, "outage"), (503, "overloaded"), (529, "overloaded")]:
        assert getattr(memspan.Refusal.of(status_error(openai.APIStatusError, status, None)), "kind", None) == kind, status


@pytest.mark.parametrize("odd", ["", "hello", "prompt", ValueError("x"), {}, {"error": None}, {"error": {"code": True}}, Exception()])
def test_what_is_no_refusal_is_none(odd: Any) -> None:
    assert memspan.Refusal.of(odd) is None


def test_odd_numbers_are_none_and_odd_objects_do_no_harm() -> None:
    huge = memspan.Refusal.of("prompt is too long: 99999999999999999999999999999 tokens > 0 maximum")
    assert huge is not None
    assert (huge.kind, huge.input_tokens, huge.limit_tokens) == ("too_long", None, None)

    class Hostile(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

        @property
        def body(self) -> object:
            raise RuntimeError("no body")

    assert memspan.Refusal.of(Hostile()) is None
    assert memspan.Refusal.of("é" * 100_000 + " prompt is too long") is None  # only the first 20,000 characters are read


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5"])
@pytest.mark.parametrize(
    "words",
    [
        "Input tokens exceed the configured limit of 3000 tokens. Your messages resulted in 9000 tokens. Please reduce the length of the messages.",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "Range of input length should be [1, 2500]",
    ],
)
def test_what_was_refused_is_kept(user: memspan.Scope, model: str, words: str) -> None:
    session = user.session("s-1", model=model)
    session.add_many(LONG)
    prompt = session.assemble()
    smaller = session.recover(prompt, words)
    assert smaller.total_tokens < prompt.total_tokens
    assert smaller.max_input_tokens < prompt.max_input_tokens
    session.add_response(openai_response("yes"), prompt=smaller)
    session.add({"role": "user", "content": "and now?"})
    # The bug: the next prompt of an exact model was as large as the refused one.
    assert session.assemble().total_tokens <= smaller.max_input_tokens
    assert user.session("s-2", model=model).assemble().max_input_tokens == prompt.max_input_tokens  # of this session alone
    other = "gpt-4" if model == "gpt-4o" else "claude-haiku-4-5"
    session.switch_model(other)
    assert session.assemble().max_input_tokens == user.session("s-3", model=other).assemble().max_input_tokens  # of this model alone


def test_what_a_refusal_leaves_out_is_recalled(user: memspan.Scope) -> None:
    fact = "the deploy key of payments-api rotates on the ninth of May"
    session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(max_input_tokens=8_000))
    session.add_many(
        [{"role": "user", "content": fact}, *LONG[:12], {"role": "user", "content": "when does the deploy key of payments-api rotate?"}]
    )
    whole = session.assemble()
    assert {one.section for one in whole.explain() if one.included and fact in str(one)} <= {"history"}
    assert fact in str(whole.to_openai())
    smaller = session.recover(whole, "Range of input length should be [1, 2500]")
    # The bug: what is outside of a prompt was reckoned by the session's own limit, so that nothing was.
    assert fact in str(smaller.to_openai())
    assert fact in str(session.assemble().to_openai())


def test_a_limit_that_holds_no_message_gives_way(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add_many(LONG)
    limit = session.recover(session.assemble(), "Range of input length should be [1, 600]").max_input_tokens
    session.add({"role": "user", "content": "word " * 1_000})
    prompt = session.assemble()  # a refusal may be wrong: the provider decides again
    assert limit < 1_000 < prompt.total_tokens


def test_the_reply_shrinks_where_it_is_what_does_not_fit(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add_many(LONG)
    prompt = session.assemble()
    words = f"input length and `max_tokens` exceed context limit: {prompt.total_tokens} + 4096 > {prompt.total_tokens + 3_000}"
    shorter = session.recover(prompt, words)
    assert shorter.max_output_tokens == 3_000
    assert shorter.messages == prompt.messages
    assert session.assemble().max_output_tokens == 3_000


def test_an_outage_goes_to_the_next_model(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hello"})
    prompt = session.assemble(items=[memspan.Item("a chunk", id="note-7")])
    models = ["gpt-4o", "claude-sonnet-4-5", "gpt-4"]
    other = session.recover(prompt, "529 Overloaded", models=models)
    assert (other.model, session.model) == ("claude-sonnet-4-5", "claude-sonnet-4-5")
    assert "a chunk" in other.text
    last = session.recover(other, ConnectionError("reset"), models=models)
    assert last.model == "gpt-4"
    error = ConnectionError("reset")
    with pytest.raises(ConnectionError) as raised:
        session.recover(last, error, models=models)
    assert raised.value is error
    assert "no other model is left" in raised.value.__notes__[0]


@pytest.mark.parametrize("error", [openai.OpenAIError("Missing credentials."), TypeError("create() got 'tempature'"), KeyError("region")])
def test_an_error_that_no_provider_said_has_no_note(user: memspan.Scope, error: Exception) -> None:
    """A missing key was noted as an error that `Refusal` does not know, which another max_input_tokens= might help."""
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hello"})
    with pytest.raises(type(error)) as raised:
        session.recover(session.assemble(), error, models=["claude-sonnet-4-5"])
    assert raised.value is error
    assert not hasattr(error, "__notes__")


def test_auth_and_bad_requests_are_raised_with_the_cure(user: memspan.Scope) -> None:
    session = user.session("s-1", model="gpt-4o")
    session.add({"role": "user", "content": "hello"})
    prompt = session.assemble()
    for status, cure in [(401, "the key"), (400, "the request itself")]:
        error = status_error(openai.APIStatusError, status, None)
        with pytest.raises(openai.APIStatusError) as raised:
            session.recover(prompt, error, models=["claude-sonnet-4-5"])
        assert cure in raised.value.__notes__[0]
    unknown = status_error(openai.APIStatusError, 418, None)
    with pytest.raises(openai.APIStatusError) as raised:
        session.recover(prompt, unknown)
    assert "memspan.Refusal does not know this error" in raised.value.__notes__[0]
    with pytest.raises(memspan.InvalidInput, match="memspan.Refusal does not know this error"):
        session.recover(prompt, "something else")
    assert session.model == "gpt-4o"
