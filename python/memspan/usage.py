"""The planned and the billed cost of calls (`SessionUsage`), and the factors learned for closed tokenizers (`TokenFactors`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from memspan._copies import of_engine
from memspan._values import FrozenDict, dataclass
from memspan.exceptions import Error, UnknownModel
from memspan.model import models

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memspan import _core, _records

__all__ = ["CallUsage", "ModelFactors", "SessionUsage", "TokenFactors"]

_HEAD = ("turn", "call", "model", "planned", "counted", "billed", "cached", "written", "output", "dollars")
_LEFT = {"model"}
_MILLION = 1_000_000


@dataclass(frozen=True)
class CallUsage:
    """The planned and the billed tokens of one call. `None` where the number is not known.

    Attributes:
        turn: Its turn.
        call: Its place in the turn.
        model: The model of its prompt; where `add_response` was given no prompt, the one that answered in the provider's words.
        planned: `Prompt.total_tokens`: the count, or for a closed tokenizer the most that it could be.
        counted: `Prompt.counted_tokens`.
        input_tokens: The tokens that the provider billed for the prompt, cached tokens included.
        cached_tokens: Of these, read from its cache.
        cache_write_tokens: Of these, written to it.
        output_tokens: Of the reply.
        dollars: By the prices in `memspan.models`; `None` where they do not know the model.
    """

    turn: int
    call: int
    model: str | None
    planned: int | None
    counted: int | None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    dollars: float | None = None


class SessionUsage(tuple[CallUsage, ...]):
    """The calls of a session in order, as a tuple with totals; `str()` prints a table."""

    __slots__ = ()

    @staticmethod
    def _of(rows: Iterable[_records.StoredUsage]) -> SessionUsage:
        return SessionUsage(map(_call, rows))

    @property
    def planned(self) -> int:
        """Tokens that prompts were planned to cost."""
        return sum(call.planned or 0 for call in self)

    @property
    def input_tokens(self) -> int:
        """Tokens of prompts that were billed."""
        return sum(call.input_tokens or 0 for call in self)

    @property
    def cached_tokens(self) -> int:
        """Of these, read from a provider's cache."""
        return sum(call.cached_tokens or 0 for call in self)

    @property
    def cache_write_tokens(self) -> int:
        """Of these, written to it."""
        return sum(call.cache_write_tokens or 0 for call in self)

    @property
    def output_tokens(self) -> int:
        """Tokens of replies that were billed."""
        return sum(call.output_tokens or 0 for call in self)

    @property
    def dollars(self) -> float:
        """The cost of all calls whose model has prices and whose provider reported usage."""
        return sum(call.dollars or 0.0 for call in self)

    def __repr__(self) -> str:
        return (
            f"SessionUsage({len(self)} calls, {self.input_tokens:,} tokens in, {self.cached_tokens:,} of them cached, "
            f"{self.output_tokens:,} out, ${self.dollars:.4f})"
        )

    def __str__(self) -> str:
        rows = [_HEAD, *(_cells(call) for call in self)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]

        def line(row: tuple[str, ...]) -> str:
            cells = zip(_HEAD, row, widths, strict=True)
            return "  ".join(cell.ljust(width) if name in _LEFT else cell.rjust(width) for name, cell, width in cells).rstrip()

        return "\n".join([*map(line, rows), repr(self)])


def _cells(call: CallUsage) -> tuple[str, ...]:
    def number(value: int | None) -> str:
        return "" if value is None else f"{value:,}"

    numbers = (call.planned, call.counted, call.input_tokens, call.cached_tokens, call.cache_write_tokens, call.output_tokens)
    dollars = "" if call.dollars is None else f"{call.dollars:.4f}"
    return (str(call.turn), str(call.call), call.model or "", *map(number, numbers), dollars)


def _call(call: _records.StoredUsage) -> CallUsage:
    turn, number, model, planned, counted, billed = call.turn, call.call, call.model, call.planned, call.counted, call.billed
    if billed is None:
        return CallUsage(turn, number, model, planned, counted)
    given, output, cached, written = billed.input_tokens, billed.output_tokens, billed.cached_tokens, billed.cache_write_tokens
    return CallUsage(turn, number, model, planned, counted, given, cached, written, output, _dollars(model, given, output, cached, written))


def _dollars(model: str | None, given: int, output: int, cached: int, written: int) -> float | None:
    if model is None:
        return None
    try:
        prices = models[model].prices
    except UnknownModel:
        return None
    if prices.input is None or prices.output is None:
        return None
    read = prices.input if prices.cache_read is None else prices.cache_read
    write = prices.input if prices.cache_write is None else prices.cache_write
    return (prices.input * (given - cached - written) + read * cached + write * written + prices.output * output) / _MILLION


@dataclass(frozen=True)
class ModelFactors:
    """The factors learned for a closed tokenizer: the most tokens of the model for one token of the reference encoding, by content.

    Attributes:
        model: The model.
        encoding: The reference encoding.
        prior: The factor of a class that has fewer than five samples.
        factors: Of "prose", "code", "dense" (identifiers, numbers, encoded bytes) and "cjk".
        samples: How many there are of each; the last 64 are kept.
        exceeded: How often a prompt cost more than its bound.
    """

    model: str
    encoding: str
    prior: float
    factors: Mapping[str, float]
    samples: Mapping[str, int]
    exceeded: int

    def __hash__(self) -> int:
        return hash((self.model, self.encoding, self.prior, tuple(self.factors.items()), tuple(self.samples.items()), self.exceeded))

    def __str__(self) -> str:
        classes = ", ".join(f"{name} {factor:.2f} ({self.samples[name]})" for name, factor in self.factors.items())
        return f"{classes}; {self.exceeded} exceeded"


@of_engine("pickle dict() of it")
class TokenFactors(Mapping[str, ModelFactors]):
    """The factors that a store has learned for closed tokenizers, by the name of the model. They are read anew at each use."""

    __slots__ = ("_core",)

    def __init__(self, core: _core.EngineCore) -> None:
        self._core = core

    def _read(self) -> dict[str, ModelFactors]:
        found: dict[str, ModelFactors] = {}
        for one in self._core.learned():
            factors = FrozenDict({each.name: each.factor for each in one.classes})
            samples = FrozenDict({each.name: each.samples for each in one.classes})
            found[one.model] = ModelFactors(one.model, one.encoding, one.prior, factors, samples, one.exceeded)
        return found

    def __getitem__(self, model: str, /) -> ModelFactors:
        """The factors learned for that model.

        Raises:
            KeyError: Nothing was.
        """
        return self._read()[model]

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(self._read())

    def __len__(self) -> int:
        """How many models there are of which something was learned."""
        return len(self._read())

    def reset(self, model: str) -> bool:
        """Forgets what was learned of a model: its sessions keep their epoch's factor, and begin the next with the prior.

        Returns:
            Whether there was something.
        """
        return self._core.forget_learned(model)

    def __repr__(self) -> str:
        try:
            return f"TokenFactors({list(self)!r})"
        except Error:  # the engine is closed: a debugger asks for a repr at any time
            return "TokenFactors(...)"
