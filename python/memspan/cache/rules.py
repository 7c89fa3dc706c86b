"""The providers' published rules, as data: `rules.json`."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from memspan._values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CacheRule", "rules"]


@dataclass(frozen=True)
class CacheRule:
    """How a provider keeps the beginning of a request.

    Attributes:
        breakpoints: Whether only what stands before a marked block is kept; else every prefix is.
        min_tokens: A shorter prefix is not kept.
        granularity: A prefix is read in multiples of this many tokens.
        look_back_blocks: How many blocks before a breakpoint an older entry is looked for.
        ttl_seconds: How long an entry is kept after it was last used.
        write_price: The price of a token that is written, as a multiple of the input price.
        read_price: The price of a token that is read, as a multiple of the input price.
        model: The model whose price is taken where no other is named.
        source: Where the rule is published.
        date: When it was read there.
    """

    breakpoints: bool
    min_tokens: int
    granularity: int
    look_back_blocks: int
    ttl_seconds: float
    write_price: float
    read_price: float
    model: str
    source: str
    date: str


@cache
def _all() -> Mapping[str, CacheRule]:
    text = files("memspan.cache").joinpath("rules.json").read_text(encoding="utf-8")
    return MappingProxyType({name: CacheRule(**fields) for name, fields in json.loads(text).items()})


def rules() -> Mapping[str, CacheRule]:
    """The rules by provider: "anthropic", "openai", "gemini", "deepseek".

    Examples:
        >>> memspan.cache.rules()["anthropic"].look_back_blocks
        20
    """
    return _all()
