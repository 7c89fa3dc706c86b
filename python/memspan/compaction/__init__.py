"""Compaction: what old turns become when they leave a prompt.

`values.py` has what is returned, `writing.py` asks a model and falls back to the rules, `storeless.py` is `memspan.compact`;
`prompts/` holds the versioned prompts, one file each. The rules, the checks and the sections are the engine's
(`rust/engine/src/compaction`); nothing here decides what a summary keeps.
"""

from __future__ import annotations

from memspan.compaction.storeless import compact
from memspan.compaction.values import (
    Brief,
    Compaction,
    Identifiers,
    RefusedLine,
    Summary,
    SummaryIdentifier,
    SummaryLine,
    SummarySection,
)
from memspan.compaction.writing import Writer

__all__ = [
    "Brief",
    "Compaction",
    "Identifiers",
    "RefusedLine",
    "Summary",
    "SummaryIdentifier",
    "SummaryLine",
    "SummarySection",
    "Writer",
    "compact",
]
