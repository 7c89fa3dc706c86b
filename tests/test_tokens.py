"""Counting from Python: exact against tiktoken, framed as OpenAI bills, and a typed error for everything that cannot be counted."""

from __future__ import annotations

import random
import string
import sys
import threading
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import memspan
from memspan import _core

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))

from rivals import vocabularies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENCODINGS = ["o200k_base", "cl100k_base", "qwen2", "tekken", "deepseek_v3", "gemma3"]
EDGES = [
    *("'s", "'S", "'LL", "'re", "'RE", "'\u017f", "\u212a", "\n", "\r", "\r\n", "\n/", "/", " ", "  ", "\t", "\u00a0", "\u3000", "\u2028"),
    *(
        "\u0085",
        "\u200b",
        "\u200d",
        "!",
        "...",
        "-",
        "_",
        "();",
        "0",
        "12",
        "345",
        "6789",
        "٣٤",
        "Ⅷ",
        "½",
        "中文",
        "カタカナ",
        "한국어",
        "ÀÉ",
    ),
    *("e\u0301", "\u0301", "A", "AB", "Abc", "aBC", "ǅ", "ʰ", "дом", "שלום", "हिन्दी", "ไทย", "😀", "👩\u200d👧", "🇩🇪", "<|endoftext|>"),
    *("\0", "x", "ß", "ﬁ", "𠀀", "the", " of", "getUserById", "payments-api", "naïve", "def ", "return ", "self.", "=>", "::", "// x\n"),
    # What gemma3 finds first, what nearly is that, and what it shows spaces as.
    *("\n\n", "\n" * 32, "  ", " " * 33, "\t\t", "<div>", "</div>", "<", ">", "> </", "</p>", "<b", "b>", "<unused6241>", "<unused6242>"),
    *(
        "<start_of_turn>",
        "[multimodal]",
        "[multi",
        "\u2581",
        "x\u2581\u2581y",
        "<0x41>",
        "::::::::",
        " YYYY",
        "SSSR",
        "======",
        "\u2764\ufe0f",
        "২০",
    ),
]


@pytest.fixture(scope="module", params=ENCODINGS)
def sides(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Callable[[str], int]]:
    """A model of an encoding, and how the library counts that its vendor uses."""
    name = f"test-tokens-{request.param}"
    memspan.models.register(memspan.Model(name=name, context_window=8_192, max_output_tokens=1_024, encoding=request.param))
    return name, vocabularies.counter(request.param, tmp_path_factory.mktemp("vocabularies"))


ALPHABETS = [
    *("ab", "abc", "aB", string.ascii_lowercase, string.ascii_letters, "0123456789abcdef", string.ascii_letters + string.digits + "+/"),
    *(" \n", " \t\r\n\u00a0", "-=", "的一是不了人我在有他这为之大来以个中上们"),
]


def strings(seed: int, number: int) -> list[str]:
    """Random strings of edges, of one block of Unicode, of any code points, of few characters, and of one edge many times."""
    source = random.Random(seed)  # noqa: S311  pseudo-random on purpose

    def pieces(count: int) -> Iterator[str]:
        kind, block, alphabet = source.choices(range(4), (6, 3, 1, 1))[0], source.randrange(0x220) * 0x80, source.choice(ALPHABETS)
        for _ in range(count):
            of_block, any_other = chr(block + source.randrange(0x80)), chr(source.randrange(0x11_0000))
            yield (source.choice(EDGES), of_block, any_other, source.choice(alphabet))[kind]

    made = []
    for _ in range(number):
        text = "".join(pieces(source.choice((1, 2, 3, 5, 8, 20))))
        if source.randrange(20) == 0:
            text = source.choice(EDGES) * source.choice((2, 3, 8, 33, 64, 129, 300)) + text
        made.append(text.encode("utf-8", "ignore").decode())
    return made


def long_pretokens(seed: int, number: int) -> list[str]:
    """What a pattern hardly cuts: repetitions around noise, both of few characters."""
    source = random.Random(seed)  # noqa: S311  as above

    def some(alphabet: str, most: int) -> str:
        return "".join(source.choices(alphabet, k=source.randrange(most)))

    def text(alphabet: str) -> str:
        unit = some(alphabet, 41)
        return unit * source.randrange(1, 61) + some(alphabet, 600) + unit * source.randrange(20)

    return [text(source.choice(ALPHABETS)) for _ in range(number)]


@pytest.mark.timeout(300)
def test_texts_are_cut_as_the_vendors_library_cuts_them(sides: tuple[str, Callable[[str], int]], request: pytest.FixtureRequest) -> None:
    model, oracle = sides
    texts = strings(1, 1_000_000 if request.config.getoption("--soak") else 20_000) + long_pretokens(2, 100)
    wrong = [text for text in texts if memspan.count_tokens(text, model) != oracle(text)]
    assert not wrong


@pytest.mark.timeout(300)
def test_every_code_point_alone_and_between_letters(sides: tuple[str, Callable[[str], int]], request: pytest.FixtureRequest) -> None:
    model, oracle = sides
    step = 1 if request.config.getoption("--soak") else 5
    points = [
        point for point in range(0, sys.maxunicode + 1, step) if not 0xD800 <= point < 0xE000 and (point < 0x3_2000 or point % 97 == 0)
    ]
    wrong = [hex(point) for point in points if memspan.count_tokens(text := context(chr(point)), model) != oracle(text)]
    assert not wrong


def context(x: str) -> str:
    """A character where the patterns ask for its class."""
    return f"{x}a{x}B {x}{x}'{x}! {x}\n{x}9{x}é{x} A{x}A..{x}中{x}A\u0301{x} "


@given(st.text())
@example("'s'S'LL\u017f")
@example("a" * 3_000)
def test_a_text_is_a_text(text: str) -> None:
    counted = memspan.count_tokens(text)
    assert 0 <= counted <= len(text.encode())
    assert memspan.count_tokens(text) == counted  # once more, from the cache


@given(st.text(), st.integers(0, 40), st.sampled_from(["gpt-4o", "gpt-4", "claude-sonnet-4-5"]))
def test_what_is_truncated_fits_and_is_a_part(text: str, max_tokens: int, model: str) -> None:
    start = memspan.truncate(text, max_tokens, model=model)
    end = memspan.truncate(text, max_tokens, model=model, keep="end")
    assert text.startswith(start)
    assert text.endswith(end)
    for part in (start, end):
        assert memspan.count_tokens(part, model) <= max_tokens
        assert part == text or memspan.count_tokens(text, model) > max_tokens


@pytest.mark.parametrize(
    "clusters",
    [
        ["\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "\U0001f3f3\ufe0f\u200d\U0001f308", " "],
        ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "\U0001f1ef\U0001f1f5"],
        ["\U0001f44d\U0001f3ff", "1\ufe0f\u20e3", "e\u0323\u0302", "\r\n"],
        ["\u1112\u1161\u11ab", "\u1100\u1173\u11af", " "],
        ["\u0915\u094d\u0937", "\u0924\u094d\u0930\u093f", "\u092f", " "],
        ["\u0e19\u0e49\u0e33", "\u0e40", "\u0e07\u0e34", "\u0e19"],
    ],
)
@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "claude-sonnet-4-5", "qwen3-max"])
def test_no_cut_tears_what_a_reader_takes_for_one_character(clusters: list[str], model: str) -> None:
    clusters = clusters * 20
    text = "".join(clusters)
    heads = [text[: sum(map(len, clusters[:count]))] for count in range(len(clusters) + 1)]
    tails = [text[len(head) :] for head in heads]
    tokens = {part: memspan.count_tokens(part, model) for part in (*heads, *tails)}
    longest_cluster = max(memspan.count_tokens(cluster, model) for cluster in clusters)
    for most in range(longest_cluster, 60, 3):
        longest = [max((part for part in parts if tokens[part] <= most), key=len) for parts in (heads, tails)]
        assert [memspan.truncate(text, most, model=model, keep="start"), memspan.truncate(text, most, model=model, keep="end")] == longest


def test_a_cluster_that_is_longer_than_the_limit_is_cut() -> None:
    for text in ("\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466", "e" + "\u0301" * 1_000_000):
        for keep in ("start", "end"):
            part = memspan.truncate(text, 4, keep=keep)
            assert 0 < len(part) < len(text)


def test_a_text_that_fits_comes_back_itself() -> None:
    text = "some words " * 50
    assert memspan.truncate(text, 1_000) is text
    assert memspan.truncate(text, 1_000, keep="end") is text


@given(st.lists(st.text(max_size=12), max_size=12), st.sampled_from(["gpt-4o", "gpt-4", "claude-sonnet-4-5"]))
def test_a_growing_text_is_counted_as_the_whole(pieces: list[str], model: str) -> None:
    counter = memspan.TokenCounter(model)
    for at, piece in enumerate(pieces):
        assert counter.append(piece) == counter.count == memspan.count_tokens("".join(pieces[: at + 1]), model)
    counter.clear()
    assert counter.count == 0


def test_threads_may_share_a_counter() -> None:
    counter = memspan.TokenCounter()
    threads = [threading.Thread(target=lambda: [counter.append(" word") for _ in range(500)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.count == 2_000


# What OpenAI's cookbook ("How to count tokens with tiktoken", sections 6 and 7) prints as counted by the API, 2024-08.
COOKBOOK = [
    {"role": "system", "content": "You are a helpful, pattern-following assistant that translates corporate jargon into plain English."},
    {"role": "system", "name": "example_user", "content": "New synergies will help drive top-line growth."},
    {"role": "system", "name": "example_assistant", "content": "Things working well together will increase revenue."},
    {
        "role": "system",
        "name": "example_user",
        "content": "Let's circle back when we have more bandwidth to touch base on opportunities for increased leverage.",
    },
    {"role": "system", "name": "example_assistant", "content": "Let's talk later when we're less busy about how to do better."},
    {
        "role": "user",
        "content": "This late pivot means we don't have time to boil the ocean for the client deliverable.",
    },
]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_current_weather",
        "description": "Get the current weather in a given location",
        "parameters": {
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"},
                "unit": {"type": "string", "description": "The unit of temperature to return", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["location"],
        },
    },
}
ASKED = [
    {"role": "system", "content": "You are a helpful assistant that can answer to questions about the weather."},
    {"role": "user", "content": "What's the weather like in San Francisco?"},
]


@pytest.mark.parametrize(("model", "billed"), [("gpt-3.5-turbo", 129), ("gpt-4", 129), ("gpt-4o", 124), ("gpt-4o-mini", 124)])
def test_messages_cost_what_openai_bills(model: str, billed: int) -> None:
    assert memspan.count_tokens(COOKBOOK, model) == billed


@pytest.mark.parametrize(("model", "billed"), [("gpt-3.5-turbo", 105), ("gpt-4", 105), ("gpt-4o", 101), ("gpt-4o-mini", 101)])
def test_tools_cost_what_openai_bills(model: str, billed: int) -> None:
    assert memspan.count_tokens(ASKED, model, tools=[WEATHER]) == billed


def test_messages_add_up() -> None:
    assert memspan.count_tokens(COOKBOOK) == sum(memspan.count_tokens(message) for message in COOKBOOK) + 3
    assert memspan.count_tokens([]) == 3


@given(st.text(), st.sampled_from(["system", "developer", "user", "assistant"]))
def test_a_plain_message_counts_like_its_parts(text: str, role: str) -> None:
    # The plain shape has a way of its own past the JSON.
    assert memspan.count_tokens({"role": role, "content": text}) == memspan.count_tokens(
        {"role": role, "content": [{"type": "text", "text": text}]}
    )


def test_any_mapping_any_iterable_and_sdk_objects_are_messages() -> None:
    class Reply:
        def model_dump(self, *, mode: str) -> dict[str, Any]:
            assert mode == "json"
            return {"role": "assistant", "content": "hello", "refusal": None}

    plain = {"role": "assistant", "content": "hello"}
    expected = memspan.count_tokens(plain)
    assert memspan.count_tokens(Reply()) == memspan.count_tokens(MappingProxyType(plain)) == expected
    for message in (Reply(), MappingProxyType(plain)):
        assert memspan.count_tokens(item for item in (message, plain)) == 2 * expected + 3


def test_both_vendors_shapes_of_a_tool_round() -> None:
    openai = [
        {"role": "user", "content": "weather?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Bonn"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "18 degrees"},
    ]
    anthropic = [
        {"role": "user", "content": "weather?"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "get_weather", "input": {"city": "Bonn"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "18 degrees"}]},
    ]
    assert abs(memspan.count_tokens(openai) - memspan.count_tokens(anthropic)) <= 4
    assert memspan.count_tokens(anthropic, "claude-sonnet-4-5") > memspan.count_tokens(anthropic)


def test_a_closed_tokenizer_is_bounded_from_above() -> None:
    text = "The quick brown fox jumps over the lazy dog. " * 20
    model = memspan.models["claude-sonnet-4-5"]
    assert not model.exact
    assert memspan.count_tokens(text, model.name) >= model.factor * memspan.count_tokens(text, "gpt-4o")


def test_the_second_count_comes_from_the_cache() -> None:
    text = "a text that nobody has counted before: " + "x" * 4_000
    hits = _core.count_cache_metrics().hits
    first = memspan.count_tokens(text)
    assert _core.count_cache_metrics().hits == hits
    assert memspan.count_tokens(text) == first
    assert _core.count_cache_metrics().hits == hits + 1


def test_a_long_text_gives_the_interpreter_up() -> None:
    ticks: list[int] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    text = "".join(random.Random(7).choices("abcdefghijklmnop ", k=6_000_000))  # noqa: S311  the same
    before = len(ticks)
    memspan.count_tokens(text)
    after = len(ticks)
    done.set()
    thread.join()
    assert after - before >= 3


BAD: list[tuple[Any, str]] = [
    (5, "content is a str, a message or several messages, and it is of type int"),
    (None, "content .* NoneType"),
    (b"abc", "content .* bytes"),
    (bytearray(b"abc"), "content .* bytearray"),
    ({"role": "user"}, "content"),
    ({"role": "wizard", "content": "x"}, "wizard"),
    ([{"role": "user", "content": "x"}, {"role": "tool", "content": "y"}], "tool_call_id"),
    ([{"role": "user", "content": [{"type": "hologram"}]}], "hologram"),
    (["text"], "JSON object"),
    ({"role": "user", "content": b"bytes"}, "bytes"),
    ({"role": "user", "content": "\ud800"}, "surrogate"),
    ("\ud800", "surrogate"),
    ({"role": "user", "content": "x", 5: 1}, "every key must be a str"),
    ({"role": "user", "content": "x", "n": float("nan")}, "JSON has no number"),
]


@pytest.mark.parametrize(("content", "said"), BAD)
def test_what_cannot_be_counted_is_a_typed_error(content: Any, said: str) -> None:
    with pytest.raises(memspan.InvalidInput, match=said):
        memspan.count_tokens(content)


def test_an_error_in_a_list_names_the_message() -> None:
    with pytest.raises(memspan.InvalidInput) as caught:
        memspan.count_tokens([{"role": "user", "content": "x"}, {"role": "user"}])
    assert caught.value.__notes__ == ["in messages[1]"]


def test_a_message_that_holds_itself_is_an_error() -> None:
    message: dict[str, Any] = {"role": "user", "content": []}
    message["content"].append(message)
    with pytest.raises(memspan.InvalidInput, match="deep"):
        memspan.count_tokens(message)


@pytest.mark.parametrize("options", [{"max_tokens": -1}, {"max_tokens": 1.5}, {"max_tokens": True}, {"max_tokens": 1, "keep": "middle"}])
def test_truncate_checks_its_options(options: dict[str, Any]) -> None:
    with pytest.raises(memspan.InvalidInput):
        memspan.truncate("text", **options)


def test_tools_need_messages() -> None:
    for content in ("text", {"role": "user", "content": "x"}):
        with pytest.raises(memspan.InvalidInput, match="tools belong to a request"):
            memspan.count_tokens(content, tools=[WEATHER])
