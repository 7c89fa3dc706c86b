"""Asks the detectors of a policy, and trusts none of them: the promises of `memspan.detectors` are kept here."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from memspan._fence import is_whole, text_of
from memspan._flags import shown
from memspan._patience import answered
from memspan._threads import GET_THREADS, NO_THREAD
from memspan.detectors import DetectorError, Found
from memspan.exceptions import StateError

if TYPE_CHECKING:
    from memspan.detectors import Detector
    from memspan.life import Policy

__all__ = ["found_in"]

MOST_PARTS = 10_000
LONGEST_NAME = 64


def found_in(text: str, policy: Policy) -> list[Found] | None:
    """The findings of a policy's detectors in a text; `None` where the policy has no detectors.

    Raises:
        DetectorError: One of them failed.
    """
    if not policy.detectors or policy.detected == "allow":
        return None
    return [part for detector in policy.detectors for part in _checked(detector, text, _asked(detector, text, policy.detector_seconds))]


def _asked(detector: Detector, text: str, seconds: float) -> object:
    try:
        outcome = answered(detector, lambda: list(islice(detector(text), MOST_PARTS + 1)), seconds)
    except StateError as short:  # of threads: what the detector raises is in the outcome
        raise _failed(detector, NO_THREAD, GET_THREADS) from short
    if not outcome:
        raise _failed(detector, f"it answers within {seconds:g} seconds, and it did not", "make it faster, or raise detector_seconds")
    if isinstance(outcome[0], BaseException):
        error = outcome[0]
        rule = f"it returns the parts that it finds, and it raised {type(error).__name__}: {text_of(error)}"
        raise _failed(detector, rule, "mend it, or leave it out") from error
    return outcome[0]


def _checked(detector: Detector, text: str, given: object) -> list[Found]:
    rule = f"it returns at most {MOST_PARTS:,} parts, each Found(start, end, what) with 0 <= start < end <= {len(text)}"
    if not isinstance(given, list) or len(given) > MOST_PARTS:  # pyright: ignore[reportUnknownArgumentType]
        raise _failed(detector, f"{rule}, and it returned more", "return fewer")
    parts: list[Found] = []
    for one in given:  # pyright: ignore[reportUnknownVariableType]
        start, end, what = (one.start, one.end, one.what) if isinstance(one, Found) else _three(one)  # pyright: ignore[reportUnknownArgumentType]
        is_name = isinstance(what, str) and 0 < len(what) <= LONGEST_NAME and what.isprintable() and what.strip() == what
        if not (is_whole(start) and is_whole(end) and 0 <= start < end <= len(text) and is_name):
            raise _failed(detector, f"{rule} and a name of 1 to {LONGEST_NAME} characters, and one is {shown(one)}", "correct it")  # pyright: ignore[reportUnknownArgumentType]
        parts.append(Found(start, end, what))
    return parts


def _three(one: object) -> tuple[Any, Any, Any]:
    return one if isinstance(one, tuple) and len(one) == 3 else (None, None, None)  # pyright: ignore  # noqa: PLR2004


def _failed(detector: Detector, rule: str, remedy: str) -> DetectorError:
    name = getattr(detector, "__qualname__", type(detector).__name__)
    return DetectorError(f"screening a text with the detector {name}: {rule}; nothing was stored: {remedy}", detector=name)
