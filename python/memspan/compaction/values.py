"""The values of compaction: a `Summary` by sections, and a `Compaction`, which is its report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memspan import _core, _records
from memspan._results import RefusedLine, SummaryIdentifier
from memspan._values import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Brief",
    "Compaction",
    "Identifiers",
    "ModelSwitch",
    "RefusedLine",
    "Summary",
    "SummaryIdentifier",
    "SummaryLine",
    "SummarySection",
    "summary_of",
]

_TITLES = {
    "summary": "Summary",
    "decisions": "Decisions Made",
    "identifiers": "Exact Identifiers",
    "constraints": "Constraints & Requirements",
    "open_questions": "Open Questions",
}


@dataclass(frozen=True)
class SummaryLine:
    """A line of a summary.

    Attributes:
        text: Its text.
        messages: Indices of the messages that it comes from; none of a note, task state or a memory in a brief.
        by_model: Whether a model wrote it. A model's lines are checked against those messages.
    """

    text: str
    messages: tuple[int, ...]
    by_model: bool = False


@dataclass(frozen=True)
class SummarySection:
    """A section of a summary.

    Attributes:
        name: "summary", "decisions", "identifiers", "constraints" or "open_questions".
        title: Its heading.
        lines: Its lines, oldest first.
    """

    name: str
    title: str
    lines: tuple[SummaryLine, ...]


@dataclass(frozen=True, eq=False)
class Summary:
    """The summary of messages that left the prompt.

    Frozen; two are equal if their lines and what they cover are.

    Attributes:
        text: The summary by sections, as a prompt shows it before it is escaped.
        sections: Its sections that have a line, in order.
        identifiers: Its identifiers, each once.
        covers: Indices of the messages that it stands for.
        tokens: Tokens of `text`, as `count_tokens(text, model)` counts them.
        left_out: Identifiers of those messages that found no room. They are in the transcript.
        recent: Of a summary without a store: the newest messages, which stay as they are.
        model: The model whose tokens were counted.

    Examples:
        >>> talk = [{"role": "user", "content": "We go with Postgres 15 on port 8443."}, {"role": "assistant", "content": "Noted."}]
        >>> summary = memspan.compact(talk, keep_exchanges=0)
        >>> print(summary.text)
        ## Summary
        - Noted.
        ## Decisions Made
        - We go with Postgres 15 on port 8443.
        >>> summary.sections[1].lines[0].messages, [one.text for one in summary.identifiers]
        ((0,), ['15', '8443'])
    """

    text: str
    sections: tuple[SummarySection, ...]
    identifiers: tuple[SummaryIdentifier, ...]
    covers: range
    tokens: int
    left_out: int
    model: str
    recent: tuple[Any, ...] = ()
    _json: str = field(default="", repr=False)
    _shown: str = field(default="", repr=False)

    def messages(self) -> list[Any]:
        """The messages that a model is sent instead of the conversation: the summary as a system message, then the recent messages."""
        head: list[Any] = [{"role": "system", "content": self._shown}] if self.text else []
        return [*head, *self.recent]

    def to_json(self) -> str:
        """The summary as JSON, for `Summary.from_json`. `recent` is not part of it."""
        return self._json

    @staticmethod
    def from_json(text: str, *, model: str = "gpt-4o") -> Summary:
        """Reads what `to_json` wrote.

        Raises:
            InvalidInput: It is something else.
        """
        return summary_of(_core.read_summary(text, model), model)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        lines = sum(len(section.lines) for section in self.sections)
        return f"Summary(messages {self.covers.start}..{self.covers.stop}, {lines} lines, {self.tokens:,} tokens)"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class ModelSwitch(_records.PlannedSwitch):
    """The effect of a switch of models.

    Attributes:
        from_model: The model before.
        to_model: The model after.
        max_input_tokens: The limit of prompts for it.
        kept_messages: Messages that stay in prompts.
        left_out_messages: Messages before them: out of prompts, still in the transcript, still found by `search_transcripts`.
        tokens: Tokens of those that stay, counted for the new model.
        first_message: Index of the first that stays.
        fixed_tokens: Tokens of the tools, the system prompt, pinned memory, the summary and the reply's frame with the new model.
        summary: The summary of the messages before; `None` where all of them stay, or an older summary does.
        refused: As in `Compaction`.
        checked: As in `Compaction`.
    """

    summary: Summary | None = None
    refused: tuple[RefusedLine, ...] = ()
    checked: str = "rules"


def summary_of(made: _records.SummaryText, model: str, recent: tuple[Any, ...] = ()) -> Summary:
    """A summary from what the engine says of it."""
    value: Mapping[str, Any] = json.loads(made.json)
    sections = tuple(section for name in _TITLES if (section := _section(name, value["lines"])).lines)
    covers, left_out = range(*value["covers"]), value["left_out"]
    return Summary(made.text, sections, made.identifiers, covers, made.tokens, left_out, model, recent, made.json, made.shown)


def _section(name: str, lines: list[Mapping[str, Any]]) -> SummarySection:
    own = (line for line in lines if line["section"] == name)
    return SummarySection(name, _TITLES[name], tuple(SummaryLine(line["text"], tuple(line["sources"]), line["by_model"]) for line in own))


@dataclass(frozen=True)
class Identifiers:
    """The identifiers of a compaction, and their fate.

    Attributes:
        total: Different identifiers of the messages and of the summary before.
        kept: Of these, in the summary.
        restored: Of these, left out by the model and put back.
        left_out: In the transcript only; a question that names what they belong to brings their message back.
    """

    total: int
    kept: int
    restored: int = 0

    @property
    def left_out(self) -> int:
        """In the transcript only."""
        return self.total - self.kept


@dataclass(frozen=True)
class Compaction:
    """The report of a compaction.

    Attributes:
        summary: The summary that prompts show from now on; `None` where there is none.
        covers: Indices of the messages that left with this compaction; empty where no turn was old enough, or the newest message left a
            summary too little room. Nothing was written then, unless the summary had to become smaller, which began an epoch.
        tokens_before: Tokens of the fixed sections and the window before it.
        tokens_after: The same after it.
        identifiers: The fate of the identifiers.
        refused: Lines of the model that say what their messages do not.
        checked: "rules", or "model" where a model wrote and was checked. Where the model failed, "rules: " and why.
        learned: The result of the flush to memory before it.
        epoch: The epoch that began; `None` where nothing was written.
        prompt: Which prompt the model was given, by file name and hash; "" without one.
    """

    summary: Summary | None
    covers: range
    tokens_before: int
    tokens_after: int
    identifiers: Identifiers
    refused: tuple[RefusedLine, ...] = ()
    checked: str = "rules"
    learned: int = 0
    epoch: int | None = None
    prompt: str = ""

    def __str__(self) -> str:
        if self.epoch is None:
            return "nothing to compact: no turn is old enough, or the newest message leaves a summary too little room"
        counts = self.identifiers
        done = f"messages {self.covers.start}..{self.covers.stop} compacted" if self.covers else "the summary became smaller"
        rows = [
            f"{done}: {self.tokens_before:,} tokens -> {self.tokens_after:,}",
            f"identifiers: {counts.kept:,} of {counts.total:,} kept, {counts.restored:,} restored, {counts.left_out:,} not shown",
            f"refused lines: {len(self.refused)}; memories: {self.learned}; checked: {self.checked}",
        ]
        sections = () if self.summary is None else self.summary.sections
        return "\n".join([*rows, *(f"{section.title}: {len(section.lines)} lines" for section in sections)])


@dataclass(frozen=True)
class Brief:
    """A handoff to another agent: the facts of a session that it needs for a task.

    Attributes:
        task: The task.
        text: The brief.
        tokens: Its tokens, never above what was asked for.
        summary: Its source, line by line.
        checked: How it was made, as in `Compaction.checked`.
        refused: Lines of the model that say what their messages do not.
    """

    task: str
    text: str
    tokens: int
    summary: Summary
    checked: str = "rules"
    refused: tuple[RefusedLine, ...] = ()

    def __str__(self) -> str:
        return self.text
