"""A transcript played through a session: the prompts it would have had, and the part of each that a provider's cache would have held."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from memspan._session.transcript import bare
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memspan.short_term import Session
    from memspan.working import Prompt

__all__ = ["Replay", "Shown", "read_transcript", "replay"]


@dataclass(frozen=True)
class Shown:
    """One turn that was asked for.

    Attributes:
        turn: Its number.
        prompt: The first prompt that the model would have been sent in it.
        same_bytes: Leading bytes that it has in common with the prompt before.
        same_tokens: Leading tokens that it has in common with the prompt before.
        broken_by: The first segment that differs.
    """

    turn: int
    prompt: Prompt
    same_bytes: int
    same_tokens: int
    broken_by: str | None


@dataclass()
class Replay:
    """The sums of a replay.

    Attributes:
        messages: Messages played.
        prompts: Prompts assembled: one before each reply.
        tokens: Tokens of all prompts together.
        before_boundary: Of these, tokens before the cache boundary.
        same_as_before: Of these, tokens that are the same bytes as in the prompt before.
        turns: Turns up to the last that has a reply.
        epochs: Turns at which a new epoch began.
        shown: The turns that were asked for.
    """

    messages: int = 0
    prompts: int = 0
    tokens: int = 0
    before_boundary: int = 0
    same_as_before: int = 0
    turns: int = 0
    epochs: list[int] = field(default_factory=list[int])
    shown: list[Shown] = field(default_factory=list[Shown])


def read_transcript(path: Path) -> Iterator[dict[str, Any]]:
    """The messages of a file of JSON lines: a message each, or an object with a list of `messages`.

    Raises:
        InvalidInput: A line is neither.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            where = f"{path}, line {number}"
            try:
                text = line.decode()
            except UnicodeDecodeError as error:
                raise InvalidInput(f"reading a transcript: the file must be UTF-8 ({where}): {error}: save it as UTF-8") from None
            if text.strip():
                yield from _messages(text, where)


def _messages(line: str, where: str) -> list[dict[str, Any]]:
    try:
        value: Any = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"reading a transcript: each line must be JSON, got {line.strip()[:60]!r} ({where}): {error}") from None
    rows: Any = cast("dict[str, Any]", value).get("messages", [value]) if isinstance(value, dict) else value
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "role" in row for row in rows):  # pyright: ignore[reportUnknownVariableType]
        raise InvalidInput(
            f"reading a transcript: each line must be a message with a role, or an object with a list of messages, "
            f"got {line.strip()[:60]!r} ({where}): write one message a line, as the chat API takes it"
        )
    return rows  # pyright: ignore[reportUnknownVariableType]


def replay(session: Session, messages: Iterator[dict[str, Any]], turns: Sequence[int] = ()) -> Replay:
    """Adds every message in order, with a prompt before each reply of an assistant.

    Args:
        session: An empty session.
        messages: As the chat API takes them.
        turns: Numbers of turns whose first prompt is to be shown; negative ones count from the end.
    """
    done, before = Replay(), None
    wanted: dict[int, Shown] = {}
    for message in messages:
        if message["role"] != "assistant":
            session.add(bare(message))
        else:
            prompt = session.assemble()
            turn = session.add_response(message, prompt=prompt).number
            _note(done, turn, prompt, before, wanted)
            before = prompt
        done.messages += 1
    done.turns = max(wanted, default=-1) + 1
    done.shown = [wanted[turn] for turn in sorted({at if at >= 0 else done.turns + at for at in turns}) if turn in wanted]
    return done


def _note(done: Replay, turn: int, prompt: Prompt, before: Prompt | None, wanted: dict[int, Shown]) -> None:
    same = None if before is None else prompt.shared_prefix(before)
    done.prompts += 1
    done.tokens += prompt.total_tokens
    done.before_boundary += prompt.prefix_tokens
    done.same_as_before += 0 if same is None else same.tokens
    if before is not None and prompt.epoch != before.epoch:
        done.epochs.append(turn)
    if turn not in wanted:
        wanted[turn] = Shown(turn, prompt, *((0, 0, None) if same is None else (same.bytes, same.tokens, same.broken_by)))
