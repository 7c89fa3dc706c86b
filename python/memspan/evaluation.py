"""Measures a memory by your own questions: which memories are found, stale or duplicated. `memspan.evaluate`, `memspan eval`.

Nothing is judged by a model. Where a question says what answers it, precision and coverage are exact; the rest needs no labels.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import time
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from memspan import _core
from memspan._fence import guarded, is_mapping
from memspan._flags import check_several, shown
from memspan._values import asdict, dataclass
from memspan.exceptions import InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date

    from memspan._kept import Memory
    from memspan.engine import Engine
    from memspan.long_term import Scope

__all__ = ["Evaluation", "evaluate"]

_WORD = re.compile(r"\w+")
_ARTICLES = frozenset({"a", "an", "the"})
_PERSONAL = frozenset({"preference", "profile", "constraint"})
_EVENTS = frozenset({"episodic", "task_outcome"})


@dataclass(frozen=True)
class Evaluation:
    """The results of the questions. Shares are 0 to 1; `None` where no question can tell.

    Attributes:
        questions: How many were asked.
        labelled: Those that say what answers them.
        precision: Share of the recalled memories that answer, the mean over labelled questions; 0 for one that recalled nothing.
        coverage: Share of the answers that were recalled, the mean over labelled questions.
        freshness: Share of the recalled memories that no other memory disputes. Of two that dispute each other neither counts.
        duplicates: Share of current memories that say the same as another of their scope, word for word but for articles and case; of
            events, on the same day.
        bloat: Current memories for each that a question recalled; 1 is a memory of which everything was asked for.
        personal: Share of the questions whose answer has a preference, a constraint or something of the profile.
        empty: Share of the questions that recalled nothing.
        recall_ms: The median time of a recall, in milliseconds.
        consolidation: Share of the merged memories that keep every number, date and identifier of those that they were made of.
        newest_first: Share of the questions with a "newest" whose first memory says it.
        gate_f1: F1 of the write gate, over messages that say whether they inform.
        gate_auroc: Share of pairs of such messages in which the one that informs is more important to the gate; ties count half.
        sensitive_found: Share of the messages marked as sensitive in which screening found something.
        false_alarms: The same of those marked as not sensitive.
    """

    questions: int
    labelled: int
    precision: float | None
    coverage: float | None
    freshness: float | None
    duplicates: float
    bloat: float | None
    personal: float
    empty: float
    recall_ms: float
    consolidation: float | None = None
    newest_first: float | None = None
    gate_f1: float | None = None
    gate_auroc: float | None = None
    sensitive_found: float | None = None
    false_alarms: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Every figure by name."""
        return asdict(self)

    def __str__(self) -> str:
        rows = [
            (name, "-" if value is None else f"{value:.3f}" if isinstance(value, float) else f"{value:,}")
            for name, value in self.to_dict().items()
        ]
        return "\n".join(f"{name:<15} {value:>10}" for name, value in rows)


@guarded
def evaluate(engine: Engine, questions: str | os.PathLike[str] | Iterable[Mapping[str, Any]], *, limit: int = 5) -> Evaluation:
    """Asks questions and measures what comes back.

    Args:
        engine: The store. Its recalls are noted as any others.
        questions: A file of JSON lines, or mappings: "user" (or "shared"), "question", and, where it is known, "answers": ids of memories,
            or texts of which one must be in a memory for it to answer, whatever their case and Unicode form ("44" is not in "8443", and an
            answer that is the id of a current memory names that one alone), and "newest": a text of the value that holds now. "tenant"
            where there is one. A row with a "message" in place of the question measures the gate and the screening, and stores nothing: it
            has "informs" and "sensitive", true or false.
        limit: Memories that a question recalls at most.

    Raises:
        InvalidInput: A question has no user or no text, or the file is not JSON lines, or has none.
        NotFound: Nothing was ever written to the scope of a question.

    Examples:
        >>> _ = user.remember("payments-api listens on port 8443")
        >>> done = memspan.evaluate(engine, [{"user": "u-42", "question": "which port does payments-api use?", "answers": ["8443"]}])
        >>> done.precision, done.coverage
        (1.0, 1.0)
    """
    if not isinstance(questions, os.PathLike):
        check_several("evaluating", "a file or several mappings", questions=questions)
    rows = list(_questions(questions))
    asked, messages = [row for row in rows if "message" not in row], [row for row in rows if "message" in row]
    found: list[tuple[float, float]] = []
    fresh: list[bool] = []
    newest: list[bool] = []
    recalled: set[tuple[str, str]] = set()
    personal = empty = 0
    times: list[float] = []
    scopes: dict[str, Scope] = {}
    ids: dict[str, set[str]] = {}
    known = set(engine.scopes())
    for row in asked:
        scope = _scope(engine, row)
        if scope not in known:
            raise NotFound(
                f"evaluating: a question is asked of a scope that was written to, and {scope!r} was not: check its user and tenant"
            )
        scopes[repr(scope)] = scope
        begin = time.perf_counter()
        hits = [hit.memory for hit in scope.recall(row["question"], limit)]
        times.append((time.perf_counter() - begin) * 1000)
        recalled.update((repr(scope), memory.id) for memory in hits)
        personal += any(memory.kind in _PERSONAL for memory in hits)
        empty += not hits
        fresh += [not memory.disputes for memory in hits]
        if row.get("newest") is not None:
            newest.append(bool(hits) and _says(hits[0], row["newest"]))
        if answers := row.get("answers"):
            if (named := ids.get(repr(scope))) is None:
                named = ids[repr(scope)] = {memory.id for memory in scope.memories()}
            answering = [[memory.id == one if one in named else _says(memory, one) for memory in hits] for one in answers]
            right = [any(of_one) for of_one in zip(*answering, strict=True)]
            covered = sum(map(any, answering))
            found.append((sum(right) / len(hits) if hits else 0.0, covered / len(answers)))
    total, double = _doubles(scopes.values())
    return Evaluation(
        questions=len(asked),
        labelled=len(found),
        precision=_mean(one for one, _ in found),
        coverage=_mean(one for _, one in found),
        freshness=_mean(fresh),
        duplicates=double / total if total else 0.0,
        bloat=total / len(recalled) if recalled else None,
        personal=personal / len(asked) if asked else 0.0,
        empty=empty / len(asked) if asked else 0.0,
        recall_ms=statistics.median(times) if times else 0.0,
        consolidation=_mean(_kept_all(scope, memory) for scope in scopes.values() for memory in scope.memories() if memory.derived_from),
        newest_first=_mean(newest),
        **_of_messages(engine, messages),
    )


def _mean(values: Iterable[float]) -> float | None:
    """`None` of none."""
    given = list(values)
    return statistics.fmean(given) if given else None


def _kept_all(scope: Scope, memory: Memory) -> bool:
    """Whether a merged memory has every number, date and identifier of those that it was made of."""

    def marks(text: str) -> set[str]:
        return {word.strip(".,;:!?()") for word in text.split() if any(letter.isdigit() or letter in "-_/" for letter in word.strip("-"))}

    def marks_of(memory_id: str) -> set[str]:
        try:
            return marks(scope.get(memory_id).text)
        except NotFound:  # forgotten since
            return set()

    return all(marks_of(one) <= marks(memory.text) for one in memory.derived_from)


def _of_messages(engine: Engine, rows: list[Mapping[str, Any]]) -> dict[str, float | None]:
    """The results of the gate and the screening on messages with known labels."""
    from memspan._learning import Heard  # noqa: PLC0415  few evaluations have such rows

    gate: list[tuple[bool, float, bool]] = []
    flagged: dict[bool, list[bool]] = {True: [], False: []}
    for row in rows:
        if isinstance(row.get("informs"), bool):
            core = _scope(engine, row)._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  the rules alone: no model of the engine's is asked
            learned = core.judge([Heard(0, "user", row["message"], None)], 0, False).decisions()
            stored = any(one.category != "discard" for one in learned)
            gate.append((stored, max((one.importance for one in learned), default=0.0), row["informs"]))
        if isinstance(row.get("sensitive"), bool):
            flagged[row["sensitive"]].append(bool(_core.screen(row["message"])))
    both = sum(stored and informs for stored, _, informs in gate)
    either = sum(stored for stored, _, _ in gate) + sum(informs for _, _, informs in gate)
    pairs = [(yes > no) + (yes == no) / 2 for _, yes, informs in gate if informs for _, no, other in gate if not other]
    return {
        "gate_f1": 2 * both / either if either else None,
        "gate_auroc": _mean(pairs),
        "sensitive_found": _mean(flagged[True]),
        "false_alarms": _mean(flagged[False]),
    }


def _questions(given: str | os.PathLike[str] | Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
    rows: Iterable[Any] = _lines(Path(given)) if isinstance(given, str | os.PathLike) else given
    for number, row in enumerate(rows, 1):
        asked = row if is_mapping(row) else dict[str, Any]()
        text = asked.get("message", asked.get("question"))
        if not isinstance(text, str) or not isinstance(asked.get("user", asked.get("shared")), str):
            rule = f'question {number} is a mapping with "user" (or "shared") and "question" (or "message")'
            raise InvalidInput(f"evaluating: {rule}, and it is {shown(row)}: correct it")
        answers = asked.get("answers")
        if answers is not None and not _are_texts(answers):
            raise InvalidInput(
                f'evaluating: "answers" is a list of texts or ids, none of them empty, and in question {number} it is {answers!r:.80}: '
                "correct it"
            )
        if asked.get("newest") is not None and not _are_texts([asked["newest"]]):
            raise InvalidInput(
                f'evaluating: "newest" is a text and not empty, and in question {number} it is {shown(asked["newest"])}: correct it'
            )
        yield row


def _are_texts(given: Any) -> bool:
    return isinstance(given, list | tuple) and all(isinstance(one, str) and one for one in cast("Iterable[object]", given))


def _lines(path: Path) -> Iterable[Any]:
    found = False
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line.strip():
            found = True
            try:
                yield json.loads(line.decode("utf-8"))
            except ValueError:
                rule = f"each line of {path} must be a JSON object in UTF-8"
                raise InvalidInput(f"evaluating: {rule}, and line {number} is not: correct it") from None
    if not found:
        raise InvalidInput(f"evaluating: {path} must have questions, and it is empty: write one a line")


def _scope(engine: Engine, row: Mapping[str, Any]) -> Scope:
    tenant = row.get("tenant")
    return engine.user(row["user"], tenant=tenant) if "user" in row else engine.shared(row["shared"], tenant=tenant)


def _says(memory: Memory, answer: str) -> bool:
    """Whether a text has another, which begins and ends with whole numbers."""
    text, wanted = (unicodedata.normalize("NFC", one).casefold() for one in (memory.text, answer))
    before, behind = (r"(?<!\d)" if wanted[0].isdigit() else ""), (r"(?!\d)" if wanted[-1].isdigit() else "")
    return re.search(before + re.escape(wanted) + behind, text) is not None


def _doubles(scopes: Iterable[Scope]) -> tuple[int, int]:
    """Current memories, and those that say what another of their scope says."""
    total = double = 0
    for scope in scopes:
        seen: set[tuple[date | None, tuple[str, ...]]] = set()
        for memory in scope.memories():
            words = tuple(word for word in _WORD.findall(memory.text.casefold()) if word not in _ARTICLES)
            key = (memory.occurred_at.date() if memory.kind in _EVENTS else None, words)
            total, double = total + 1, double + (key in seen)
            seen.add(key)
    return total, double
