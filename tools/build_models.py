#!/usr/bin/env python3
"""Writes rust/engine/src/models/data/catalogue.tsv: the built-in models.

    python tools/build_models.py

Windows, prices, cache minima and capabilities come from LiteLLM's model_prices_and_context_window.json (MIT licence, copyright (c) 2023
Berri AI), as its pinned wheel ships it; prices are compared with genai-prices (MIT licence, copyright (c) 2025 Pydantic Services Inc.), and
every difference is printed. What neither knows is in `FAMILIES` below, with its source: the tokenizer, the frame, how a prefix is cached.

Columns, separated by tabs: name; other names; vendor; context window; most input; most output; usable window (0: not measured); encoding;
factor in thousandths; framing; dollars a million tokens for input, output, cache read, cache write, write for long (empty: none); least
cached prefix; its granularity; its lifetime in seconds; breakpoints; capabilities; the day it is retired.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tiktoken.model

TARGET = Path(__file__).resolve().parent.parent / "rust/engine/src/models/data/catalogue.tsv"
WHEELS = ("litellm==1.109.1", "genai-prices==0.2.3")
TABLE = "litellm/model_prices_and_context_window_backup.json"
CAPABILITIES = {
    "function_calling": "tools",
    "vision": "vision",
    "pdf_input": "pdf",
    "reasoning": "reasoning",
    "response_schema": "structured_output",
    "assistant_prefill": "prefill",
    "mid_conversation_system": "mid_conversation_system",
    "thinking_cache_preservation": "preserved_thinking",
}


@dataclass
class Family:
    """What the tables do not know of some models."""

    vendor: str
    models: dict[str, str]  # our name: the table's
    encoding: str
    factor: int = 1_000
    framing: str = "gpt-4o"
    cache_min: int = 0
    cache_step: int = 1
    cache_ttl: int = 300
    breakpoints: int = 0
    capabilities: tuple[str, ...] = ()
    window_is_sum: bool = False  # the table's most input and most output together are the window
    aliases: dict[str, str] = field(default_factory=dict)
    usable: dict[str, int] = field(default_factory=dict)
    most_output: dict[str, int] = field(default_factory=dict)  # where the table has another provider's limit


# OpenAI, "Prompt caching": prefixes of 1,024 tokens and more, in steps of 128, kept 5 to 10 minutes; no mark is needed. A system or
# developer message may stand anywhere. Exact where tiktoken names the model's encoding; of later models the newest is the reference.
OPENAI: dict[str, Any] = {"cache_min": 1_024, "cache_step": 128, "capabilities": ("mid_conversation_system",)}
# Anthropic, "Prompt caching": four breakpoints, five minutes, or an hour at the price for long. The tokenizer is closed; the factors are
# above the ratios to o200k_base that were observed on identifiers, code and CJK.
CLAUDE: dict[str, Any] = {"framing": "claude", "encoding": "o200k_base", "breakpoints": 4}
# Gemini API, "Context caching": implicit. Google's SDK (google-genai 3.4, _local_tokenizer_loader.py) counts the models up to Gemini 3.0 by
# gemma3, exactly, and three later ones by gemma4, which is of the same size but cannot be had here. Of later models it says nothing.
GEMINI: dict[str, Any] = {"encoding": "gemma3", "cache_ttl": 300, "cache_min": 1_024}


def same(*names: str, prefix: str = "") -> dict[str, str]:
    return {name: prefix + name for name in names}


FAMILIES = [
    Family("openai", same("gpt-4.1", "gpt-4o"), "o200k_base", **OPENAI),
    Family("openai", same("gpt-4o-mini"), "o200k_base", framing="gpt-4o-mini", **OPENAI),
    Family("openai", same("gpt-4.1-mini"), "o200k_base", framing="gpt-4.1-mini", **OPENAI),
    Family("openai", same("gpt-4.1-nano"), "o200k_base", framing="gpt-4.1-nano", **OPENAI),
    Family("openai", same("o1", "o3"), "o200k_base", framing="o1", **OPENAI),
    Family("openai", same("o3-mini"), "o200k_base", **OPENAI),
    Family("openai", same("o4-mini"), "o200k_base", framing="o4-mini", **OPENAI),
    Family(
        "openai", same("gpt-5", "gpt-5.1", "gpt-5.2", "gpt-5.4", "gpt-5.5"), "o200k_base", framing="gpt-5", window_is_sum=True, **OPENAI
    ),
    Family("openai", same("gpt-5-mini", "gpt-5.4-mini"), "o200k_base", framing="gpt-4.1-mini", window_is_sum=True, **OPENAI),
    Family("openai", same("gpt-5-nano", "gpt-5.4-nano"), "o200k_base", framing="gpt-4.1-nano", window_is_sum=True, **OPENAI),
    Family("openai", same("gpt-5.6", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"), "o200k_base", window_is_sum=True, **OPENAI),
    Family("openai", same("gpt-6-sol", "gpt-6-luna", "gpt-6-astra", "gpt-6.1-sol"), "o200k_base", window_is_sum=True, **OPENAI),
    Family("openai", same("gpt-4", "gpt-3.5-turbo"), "cl100k_base", framing="gpt-4", capabilities=("mid_conversation_system",)),
    # RULER (Hsieh et al., COLM 2024, table 3): gpt-4-1106 is as good as Llama 2 at 4K up to 64K.
    Family(
        "openai",
        same("gpt-4-turbo"),
        "cl100k_base",
        framing="gpt-4",
        capabilities=("mid_conversation_system",),
        usable={"gpt-4-turbo": 65_536},
    ),
    Family("openai", {"gpt-oss-120b": "groq/openai/gpt-oss-120b", "gpt-oss-20b": "groq/openai/gpt-oss-20b"}, "o200k_base"),
    Family(
        "anthropic",
        {
            "claude-3-7-sonnet": "anthropic.claude-3-7-sonnet-20250219-v1:0",
            "claude-sonnet-4": "anthropic.claude-sonnet-4-20250514-v1:0",
            "claude-opus-4-1": "anthropic.claude-opus-4-1-20250805-v1:0",
            **same("claude-haiku-4-5", "claude-sonnet-4-5", "claude-opus-4-5", "claude-sonnet-4-6", "claude-opus-4-6"),
        },
        factor=1_350,
        cache_min=1_024,
        most_output={"claude-3-7-sonnet": 64_000},
        **CLAUDE,
    ),
    Family(
        "anthropic",
        same("claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-5", "claude-opus-5", "claude-fable-5", "claude-mythos-5"),
        factor=2_500,
        cache_min=1_024,
        **CLAUDE,
    ),
    # Claude docs, "Preserved thinking": from Fable 5.1 on, thinking behind a message that changed is refused. The table does not say so.
    Family(
        "anthropic",
        same("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5", "claude-fable-5-1", "claude-mythos-5-1"),
        factor=2_500,
        cache_min=1_024,
        capabilities=("preserved_thinking", "prefix_check"),
        **CLAUDE,
    ),
    Family(
        "google",
        same("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite", prefix="gemini/"),
        framing="gemini",
        **GEMINI,
    ),
    Family("google", same("gemini-3-flash-preview", prefix="gemini/"), framing="gemini-3", **GEMINI),
    Family(
        "google",
        same("gemini-3.1-pro-preview", "gemini-3.1-flash-lite", "gemini-3.5-flash", prefix="gemini/"),
        factor=1_200,
        framing="gemini-3",
        **GEMINI,
    ),
    Family(
        "google",
        same("gemini-3.5-flash-lite", "gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash", "gemini-4-argon", prefix="gemini/"),
        factor=1_350,
        framing="gemini-3",
        **GEMINI,
    ),
    # "The Llama 3 Herd of Models", 3.2: 100K tokens of tiktoken's cl100k and 28K more, so texts are hardly ever longer than in cl100k.
    # RULER: Llama 3.1 70B is as good up to 64K. The frame: Llama's "Model cards and prompt formats", four tokens a message and its role.
    Family(
        "meta",
        {"llama-3.3-70b": "meta_llama/Llama-3.3-70B-Instruct"},
        "cl100k_base",
        1_100,
        framing="llama-3",
        aliases={"llama-3.3-70b": "llama-3.3-70b-instruct,llama-3.3-70b-versatile"},
        usable={"llama-3.3-70b": 65_536},
    ),
    Family(
        "meta",
        {
            "llama-4-maverick": "meta_llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
            "llama-4-scout": "meta_llama/Llama-4-Scout-17B-16E-Instruct-FP8",
        },
        "o200k_base",
        1_350,
        framing="llama-3",
        aliases={
            "llama-4-maverick": "llama-4-maverick-17b-128e-instruct,llama-4-maverick-17b-128e-instruct-fp8",
            "llama-4-scout": "llama-4-scout-17b-16e-instruct,llama-4-scout-17b-16e-instruct-fp8",
        },
    ),
    # Mistral's guide to tokenization: Nemo and what came after it use tekken; of this year's models it does not say so.
    Family(
        "mistral",
        {"open-mistral-nemo": "mistral/open-mistral-nemo"},
        "tekken",
        framing="mistral",
        aliases={"open-mistral-nemo": "mistral-nemo"},
    ),
    Family(
        "mistral",
        same(
            "mistral-large-latest",
            "mistral-medium-latest",
            "mistral-small-latest",
            "ministral-8b-latest",
            "codestral-latest",
            prefix="mistral/",
        )
        | {"mistral-large-4": "mistral/mistral-large-4", "mistral-large-3": "mistral/mistral-large-3"},
        "tekken",
        1_200,
        framing="mistral",
    ),
    # Qwen 2, 2.5 and 3 have one vocabulary; that of 3.5 and later is larger and not public here.
    Family("qwen", same("qwen3-max", "qwen3-coder-plus", "qwen3-coder-flash", prefix="dashscope/"), "qwen2", framing="chatml"),
    Family(
        "qwen",
        {
            "qwen2.5-72b-instruct": "together_ai/Qwen/Qwen2.5-72B-Instruct-Turbo",
            "qwen3-235b-a22b": "deepinfra/Qwen/Qwen3-235B-A22B",
            "qwen3-30b-a3b": "dashscope/qwen3-30b-a3b",
        },
        "qwen2",
        framing="chatml",
        aliases={"qwen2.5-72b-instruct": "qwen2.5-72b"},
    ),
    Family(
        "qwen",
        same("qwen3.5-plus", "qwen3.7-plus", "qwen3.7-max", "qwen3.8-max", "qwen3.8-flash", prefix="dashscope/"),
        "qwen2",
        1_350,
        framing="chatml",
    ),
    # DeepSeek API docs, "Context caching": prefixes in units of 64 tokens, on disk for hours. V3's tokenizer serves R1 and V4 too.
    Family(
        "deepseek",
        same(
            "deepseek-chat",
            "deepseek-reasoner",
            "deepseek-v3",
            "deepseek-v3.2",
            "deepseek-r1",
            "deepseek-v4-flash",
            "deepseek-v4-pro",
            prefix="deepseek/",
        ),
        "deepseek_v3",
        framing="deepseek",
        cache_min=64,
        cache_step=64,
        cache_ttl=3_600,
    ),
    # Tokenizers that are not public here, or not known to be the model's: a reference and a factor above the ratios of their vocabularies.
    Family("zai", same("glm-4.5", "glm-4.6", "glm-5", "glm-5.3", prefix="zai/"), "o200k_base", 1_500),
    Family("moonshot", same("kimi-k2.6", "kimi-k3", prefix="moonshot/"), "o200k_base", 1_500),
    Family("xai", same("grok-4.3", "grok-4.6", "grok-4.7", prefix="xai/"), "o200k_base", 1_500),
    Family("cohere", same("command-a-03-2025", "command-r7b-12-2024"), "o200k_base", 1_500),
]
# Models that the tables list no more, but transcripts do: the Gemini API's pages "Models" and "Pricing" of 2024-09 and 2025-02.
# RULER: Gemini 1.5 Pro is as good up to 128K at least. Its tokenizer is gemma2, of the same size (Vertex AI's SDK, preview/tokenization).
RETIRED = [
    "gemini-1.5-pro||google|2097152|2097152|8192|131072|gemma3|1350|gemini|1.25|5|0.3125|||32768|1|3600|0|pdf,structured_output,tools,vision|2025-09-24",
    "gemini-2.0-flash||google|1048576|1048576|8192|0|gemma3|1000|gemini|0.1|0.4|0.025|||4096|1|3600|0|pdf,structured_output,tools,vision|",
]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, *WHEELS], check=True)
        for wheel in Path(folder).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                wanted = [name for name in archive.namelist() if name == TABLE or name.startswith("genai_prices")]
                archive.extractall(folder, wanted)
        table = json.loads((Path(folder) / TABLE).read_text())
        sys.path.insert(0, folder)
        rows = [
            *(line.replace("|", "\t") for line in RETIRED),
            *(row(family, name, table) for family in FAMILIES for name in family.models),
        ]
        compare(table)
    header = f"# {', '.join(WHEELS)}; written by tools/build_models.py\n"
    TARGET.write_text(header + "".join(line + "\n" for line in sorted(rows)))
    print(f"{len(rows)} models, {TARGET.stat().st_size:,} bytes")


def row(family: Family, name: str, table: dict[str, Any]) -> str:
    entry = table[family.models[name]]
    most_input = int(entry["max_input_tokens"])
    most_output = family.most_output.get(name) or int(entry["max_output_tokens"])
    window = most_input + most_output if family.window_is_sum and most_input + most_output in (400_000, 1_050_000) else most_input
    capabilities = {ours for theirs, ours in CAPABILITIES.items() if entry.get(f"supports_{theirs}")} | set(family.capabilities)
    cached = entry.get("cache_read_input_token_cost") is not None
    prices = [entry.get(key) for key in ("input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost")]
    writes = [entry.get("cache_creation_input_token_cost") or None, entry.get("cache_creation_input_token_cost_above_1hr")]
    factor = family.factor if family.encoding != "o200k_base" or family.factor != 1_000 or names_encoding(name) else 1_100
    fields = [
        name,
        family.aliases.get(name, ""),
        family.vendor,
        window,
        most_input,
        min(most_output, window),
        family.usable.get(name, 0),
        family.encoding,
        factor,
        family.framing,
        *(dollars(price) for price in [*prices, *writes]),
        int(entry.get("prompt_cache_min_tokens") or family.cache_min) if cached else 0,
        family.cache_step,
        family.cache_ttl,
        family.breakpoints,
        ",".join(sorted(capabilities)),
        entry.get("deprecation_date", ""),
    ]
    return "\t".join(str(value) for value in fields)


def names_encoding(name: str) -> bool:
    """Whether tiktoken says how an OpenAI model is counted."""
    try:
        return tiktoken.model.encoding_name_for_model(name).startswith("o200k")
    except KeyError:
        return False


def dollars(price: float | None) -> str:
    """A price a token as dollars a million tokens."""
    return "" if price is None else f"{price * 1e6:.6f}".rstrip("0").rstrip(".")


def compare(table: dict[str, Any]) -> None:
    """Prints where genai-prices has another price for input or output."""
    prices = importlib.import_module("genai_prices")
    for family in FAMILIES:
        for name, key in family.models.items():
            ours = (table[key].get("input_cost_per_token"), table[key].get("output_cost_per_token"))
            try:
                used = [prices.Usage(input_tokens=100), prices.Usage(output_tokens=100)]
                theirs = tuple(float(prices.calc_price(usage, name).total_price) / 100 for usage in used)
            except (LookupError, ValueError):
                continue
            if any(price and abs(price - other) > 1e-3 * price for price, other in zip(ours, theirs, strict=True)):
                print(f"{name}: litellm {[dollars(price) for price in ours]}, genai-prices {[dollars(price) for price in theirs]}")


if __name__ == "__main__":
    main()
