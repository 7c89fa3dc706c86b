"""The conversations that the ranking is fitted to: every one can be read, and what answers a question is there."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TOOLS = ROOT / "tools" / "transcripts"
sys.path.insert(0, str(TOOLS))

import evidence  # noqa: E402  the tools are scripts, not a package

FILES = sorted(evidence.WRITTEN.glob("*.txt"))


def speakers(path: Path) -> list[str]:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    assert first.startswith("# speakers: ")
    return first.removeprefix("# speakers: ").split(", ")


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_written_conversation(path: Path) -> None:
    talk, names = evidence.written(path), speakers(path)
    assert [session["n"] for session in talk["sessions"]] == list(range(1, len(talk["sessions"]) + 1))
    assert (times := [session["at"] for session in talk["sessions"]]) == sorted(times)
    for session in talk["sessions"]:
        assert [turn for turn, _, _ in session["turns"]] == [f"D{session['n']}:{at}" for at in range(1, len(session["turns"]) + 1)]
        assert {speaker for _, speaker, _ in session["turns"]} <= set(names)
    known = {turn for session in talk["sessions"] for turn, _, _ in session["turns"]}
    for text, _, answers, _ in talk["questions"]:
        assert answers, text
        assert set(answers) <= known, text
        assert len(set(answers)) == len(answers), text
    assert len({text for text, _, _, _ in talk["questions"]}) == len(talk["questions"])


def test_there_are_as_many_as_their_readme_says() -> None:
    talks = [evidence.written(path) for path in FILES]
    assert Counter(talk["source"] for talk in talks) == {"Talks": 12, "Assistants": 4}
    turns = sum(len(session["turns"]) for talk in talks for session in talk["sessions"])
    questions = sum(len(talk["questions"]) for talk in talks)
    assert f"{turns:,} messages, with {questions:,} questions" in (evidence.WRITTEN / "README.md").read_text()
