"""The registry of models: what is built in, what a program adds, and what an unknown name is told."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, replace
from typing import TYPE_CHECKING, Any

import pytest

import memspan

if TYPE_CHECKING:
    from pathlib import Path


def test_it_is_a_mapping_of_frozen_values() -> None:
    assert isinstance(memspan.models, Mapping)
    assert list(memspan.models) == sorted(memspan.models)
    assert len(memspan.models) == len(list(memspan.models)) >= 100
    for name, model in memspan.models.items():
        assert model.name == name
        assert 0 < model.max_output_tokens <= model.context_window
        assert model.factor >= 1
        assert pickle.loads(pickle.dumps(model)) == model  # noqa: S301  our own bytes
        with pytest.raises(FrozenInstanceError):
            model.name = "other"  # type: ignore[misc]


def test_the_seeds_and_this_years_models_are_built_in() -> None:
    for name, window, exact in [
        ("gpt-4o", 128_000, True),
        ("claude-3-7-sonnet", 200_000, False),
        ("claude-sonnet-4-20250514", 200_000, False),
        ("gemini-1.5-pro", 2_097_152, False),
        ("gemini-2.0-flash", 1_048_576, False),  # its tokenizer, and a bound of its frame
        ("llama-3.3-70b", 128_000, False),
        ("claude-opus-5-5", 1_000_000, False),
        ("gpt-5.5", 1_050_000, True),
        ("deepseek-v4-pro", 1_000_000, True),
        ("qwen3-max", 258_048, True),
    ]:
        assert (memspan.models[name].context_window, memspan.models[name].exact) == (window, exact), name
    assert {model.vendor for model in memspan.models.values()} >= {"anthropic", "google", "meta", "mistral", "openai", "qwen", "deepseek"}


def test_gemini_is_counted_by_its_own_tokenizer_and_framed_by_a_bound() -> None:
    # Google, "Understand and count tokens": 10 tokens, and 11 as a request.
    text = "The quick brown fox jumps over the lazy dog."
    for name, factor in [
        ("gemini-2.5-pro", 1.0),
        ("gemini-2.0-flash-001", 1.0),
        ("gemini-3-flash-preview", 1.0),
        ("gemini-3.5-flash", 1.2),
    ]:
        model = memspan.models[name]
        assert (model.encoding, model.factor, model.exact) == ("gemma3", factor, False), name
    assert memspan.count_tokens(text, "gemini-2.5-pro") == 10
    messages = [{"role": "user", "content": text}]
    assert 11 <= memspan.count_tokens(messages, "gemini-2.5-pro") <= 20
    assert not memspan.fit(messages, "gemini-2.5-pro").exact
    assert memspan.fit(messages, "gpt-4o").exact


def test_a_model_says_what_it_costs_and_can_do() -> None:
    claude = memspan.models["claude-haiku-4-5"]
    assert claude.prices == memspan.Prices(input=1, output=5, cache_read=0.1, cache_write=1.25, cache_write_long=2)
    assert claude.cache == memspan.CacheRules(breakpoints=4)
    assert claude.min_cached_tokens == 4_096
    assert {"tools", "vision", "prefill"} <= claude.capabilities
    assert memspan.models["gpt-5"].max_input_tokens == 272_000
    assert memspan.models["gpt-4o"].cache.step_tokens == 128
    assert memspan.models["gpt-4-turbo"].usable_window == 65_536


def test_providers_prefixes_and_letters_do_not_count() -> None:
    for asked, name in [("openai/GPT-4o", "gpt-4o"), ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b")]:
        assert memspan.models[asked] == replace(memspan.models[name], name=asked)


def test_the_default_limit_leaves_what_a_vendor_keeps_for_the_reply() -> None:
    small = replace(memspan.models["gpt-4o"], name="test-models-input", context_window=1_000_000, max_input_tokens=500)
    memspan.models.register(small)
    talk = [{"role": "user", "content": "word " * 50} for _ in range(50)]
    assert 400 < memspan.fit(talk, "test-models-input").tokens <= 500


def test_a_dated_name_is_found_as_its_family() -> None:
    dated = memspan.models["gpt-4o-mini-2024-07-18"]
    assert dated == replace(memspan.models["gpt-4o-mini"], name="gpt-4o-mini-2024-07-18")
    assert dated.name not in list(memspan.models)


@pytest.mark.parametrize("name", ["gpt4o", "claude", "claude-opus-4-9", "gpt-4o-audio", "", "gpt-4omni", "x" * 100_000])
def test_an_unknown_name_is_told_the_nearest_and_what_to_do(name: str) -> None:
    assert name not in memspan.models
    with pytest.raises(memspan.UnknownModel, match=r"memspan\.models\.register") as caught:
        memspan.models[name]
    assert isinstance(caught.value, KeyError)
    assert caught.value.nearest
    assert len(str(caught.value)) < 2_000


def test_the_nearest_name_is_told_first() -> None:
    with pytest.raises(memspan.UnknownModel) as caught:
        memspan.count_tokens("text", "gpt4o")
    assert str(caught.value.nearest).split(", ")[0] == "gpt-4o"


def test_what_is_registered_is_found_and_counts() -> None:
    own = memspan.Model(
        name="test-models-own", context_window=9_000, max_output_tokens=1_000, encoding="cl100k_base", factor=1.5, framing="claude"
    )
    assert memspan.models.register(own) == own == memspan.models["test-models-own"]
    assert not own.exact
    assert "test-models-own" in list(memspan.models)
    assert memspan.count_tokens("hello world", "test-models-own") == 3
    larger = replace(own, context_window=20_000, min_cached_tokens=1_024, append_only=True)
    assert memspan.models.register(larger) == larger == memspan.models["test-models-own"]


def test_every_built_in_model_can_be_registered_under_another_name() -> None:
    for model in list(memspan.models.values()):
        renamed = replace(model, name=f"test-models-copy-of-{model.name}")
        assert memspan.models.register(renamed) == renamed


def test_a_factor_does_not_shrink_on_its_way() -> None:
    for factor in (1.0, 1.001, 1.1, 1.2345, 1.35, 2.5, 99.9994):
        model = replace(memspan.models["gpt-4"], name="test-models-factor", factor=factor)
        memspan.models.register(model)
        million = memspan.count_tokens("a " * 5_000, "gpt-4")
        assert 0 <= memspan.count_tokens("a " * 5_000, model.name) - factor * million <= 0.001 * million + 1


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "two words"},
        {"name": 5},
        {"name": "x" * 257},
        {"context_window": 0},
        {"context_window": -1},
        {"context_window": 2**50},
        {"context_window": 8_192.0},
        {"max_output_tokens": 0},
        {"max_output_tokens": 10_000},
        {"encoding": "p50k_base"},
        {"factor": 0.9},
        {"factor": float("nan")},
        {"factor": 1_000.0},
        {"framing": "telegram"},
        {"min_cached_tokens": -1},
        {"max_input_tokens": 0},
        {"max_input_tokens": 8_193},
    ],
)
def test_what_cannot_be_is_not_registered(change: dict[str, Any]) -> None:
    own: dict[str, Any] = {"name": "test-models-bad", "context_window": 8_192, "max_output_tokens": 4_096, "encoding": "cl100k_base"}
    with pytest.raises(memspan.InvalidInput):
        memspan.models.register(memspan.Model(**(own | change)))
    assert "test-models-bad" not in memspan.models


def test_a_name_that_is_no_str_is_a_typed_error() -> None:
    with pytest.raises(memspan.UnknownModel, match="model"):
        memspan.models[5]  # type: ignore[index]


def test_a_file_overrides_and_adds_models(tmp_path: Path) -> None:
    toml, made = tmp_path / "models.toml", tmp_path / "models.json"
    toml.write_text(
        """
        [test-models-toml]
        based_on = "gpt-4o"
        context_window = 32_000
        max_input_tokens = 32_000
        capabilities = ["tools"]
        [test-models-toml.prices]
        input = 1.5
        """
    )
    made.write_text('{"test-models-json": {"context_window": 9000, "max_output_tokens": 1000, "encoding": "qwen2", "factor": 1.2}}')
    (first,), (second,) = memspan.models.register_file(toml), memspan.models.register_file(str(made))
    assert first == memspan.models["test-models-toml"]
    assert (first.context_window, first.encoding, first.prices, first.capabilities) == (
        32_000,
        "o200k_base",
        memspan.Prices(input=1.5),
        frozenset({"tools"}),
    )
    assert (second.name, second.encoding, second.exact) == ("test-models-json", "qwen2", False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "[x"),
        ("a.json", "{"),
        ("a.json", "[]"),
        ("a.json", '{"test-models-file": 5}'),
        ("a.json", '{"test-models-file": {}}'),
        ("a.json", '{"test-models-file": {"based_on": "gpt-4o", "window": 5}}'),
        ("a.json", '{"test-models-file": {"based_on": "gpt-4o", "prices": {"in": 5}}}'),
        ("a.json", '{"test-models-file": {"based_on": "gpt-4o", "context_window": "large"}}'),
        ("a.json", '{"test-models-file": {"based_on": "gpt-4o"}, "test-models-other": {"context_window": 5}}'),
        ("a.json", "[" * 100_000),
    ],
)
def test_a_file_that_is_wrong_registers_nothing(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(memspan.InvalidInput):
        memspan.models.register_file(tmp_path / name)
    assert "test-models-file" not in memspan.models


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(memspan.InvalidInput, match=r"none\.json"):
        memspan.models.register_file(tmp_path / "none.json")
