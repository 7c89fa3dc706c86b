"""Detectors: functions of the caller's that say which parts of a text are not to be stored: `memspan.Policy(detectors=[...])`.

A detector takes a text and returns parts of it: `Found(start, end, what)`, or tuples of the same. The engine asks every detector wherever
it screens: in `remember`, `remember_many`, `revise`, `learn`, `consolidate`, tools, and messages where the policy screens transcripts. The
findings join those of the engine's own rules, and `Policy.detected` says how they are treated. A detector that raises, takes too long
or breaks this promise raises `DetectorError`, and nothing is stored.

`presidio()` is one, made of the package presidio-analyzer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from memspan._fence import guarded
from memspan._values import dataclass
from memspan.exceptions import MissingExtra, StateError

__all__ = ["Detector", "DetectorError", "Found", "presidio"]


NO_SECRETS = frozenset({"DATE_TIME", "URL"})
"""Presidio's entities that are rarely meant: they are searched for only where a caller names them."""


class DetectorError(StateError, RuntimeError):
    """A detector raised, took too long or returned parts that the text does not have. Nothing was stored."""


@dataclass(frozen=True)
class Found:
    """A part of a text that is not to be stored.

    Attributes:
        start: Its first character.
        end: The one behind its last.
        what: Its type, in a word or a few: "person". A redacted text shows it.
    """

    start: int
    end: int
    what: str


Detector: TypeAlias = Callable[[str], Iterable["Found | tuple[int, int, str]"]]


@guarded
def presidio(
    *, analyzer: Any = None, language: str = "en", entities: Sequence[str] | None = None, min_score: float = 0.5
) -> Callable[[str], list[Found]]:
    """A detector made of Microsoft Presidio: `pip install 'memspan[presidio]'`.

    Without an analyzer its recognizers of patterns are asked, which need no model of language: numbers of many countries, addresses of
    the network, wallets. Names of people and places need a model: give an `AnalyzerEngine` that has one.

    Args:
        analyzer: A `presidio_analyzer.AnalyzerEngine` of your own.
        language: The language of the texts.
        entities: Only these types, in Presidio's spelling; all but dates and URLs by default.
        min_score: Only findings that Presidio is so sure of, 0 to 1.

    Raises:
        MissingExtra: `presidio-analyzer` is not installed, and no analyzer is given.
    """
    analyze = _patterns(language) if analyzer is None else analyzer.analyze

    def detect(text: str) -> list[Found]:
        results = analyze(text=text, entities=None if entities is None else list(entities), language=language)
        sure = [one for one in results if one.score >= min_score and (entities is not None or one.entity_type not in NO_SECRETS)]
        return [Found(one.start, one.end, one.entity_type.lower().replace("_", " ")) for one in sure]

    return detect


def _patterns(language: str) -> Callable[..., list[Any]]:
    """Presidio's recognizers of patterns alone, asked one after the other."""
    from importlib import import_module  # noqa: PLC0415  few have detectors

    try:
        package = import_module("presidio_analyzer")  # an extra
    except ImportError as error:
        raise MissingExtra(
            "detecting with presidio-analyzer needs that package, which is not installed: pip install 'memspan[presidio]'", extra="presidio"
        ) from error
    registry = package.RecognizerRegistry()
    registry.load_predefined_recognizers(languages=[language])
    recognizers = [one for one in registry.recognizers if isinstance(one, package.PatternRecognizer)]

    def analyze(text: str, entities: list[str] | None, language: str) -> list[Any]:
        asked = [one for one in recognizers if one.supported_language == language]
        return [result for one in asked for result in one.analyze(text, entities or one.supported_entities, None) or ()]

    return analyze
