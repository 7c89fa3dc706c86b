"""The command that prints a user's sessions, the turns of one, or what the model saw at a turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import memspan
from memspan._cli.opening import open_store, scope_of
from memspan._cli.printing import cell, table_printer
from memspan._cli.prompts import no_turn, show_prompt

if TYPE_CHECKING:
    import argparse

    from memspan._cli.printing import Table

__all__ = ["show"]


def show(options: argparse.Namespace) -> int:
    """A user's sessions, the turns of one, or what the model saw at a turn."""
    if options.session is None and (options.turn is not None or options.text):
        raise memspan.InvalidInput("showing a turn: --turn and --text are of one session, and none was named: give SESSION behind the user")
    table = table_printer(options)
    with open_store(options, read_only=True) as engine:
        scope = scope_of(engine, options)
        if options.session is None:
            return _show_sessions(scope, table)
        try:
            session = scope.session(options.session)
        except memspan.NotFound as error:
            raise memspan.NotFound(
                f"showing session {options.session!r}: {scope!r} has none of that id: `memspan show` without one lists them"
            ) from error
        if options.turn is None:
            return _show_turns(session, table)
        turns = len(session.turns)
        if not -turns <= options.turn < turns:
            raise no_turn(f"showing session {options.session!r}", options.turn, turns)
        turn = session.turn(options.turn % turns)
        prompt = turn.prompt
    if prompt is None:
        raise memspan.NotFound(
            f"showing turn {turn.number} of session {options.session!r}: its replies were added without prompt=, so that nobody "
            "knows what was sent: give add_response() the prompt",
            turn=turn.number,
        )
    show_prompt(options, turn.number, prompt, {})
    return 0


def _show_sessions(user: memspan.Scope, table: Table) -> int:
    rows: list[dict[str, Any]] = [
        {"session": info.id, "model": info.model, "messages": info.messages, "turns": info.turns, "epoch": info.epoch}
        for info in user.sessions()
    ]
    table(rows, ("session", "model", "messages", "turns", "epoch"), (tuple(row.values()) for row in rows))
    return 0


def _show_turns(session: memspan.Session, table: Table) -> int:
    rows: list[dict[str, Any]] = []
    for turn in session.turns:
        prompt, usage = turn.prompt, turn.usage
        rows.append(
            {
                "turn": turn.number,
                "messages": f"{turn.start}..{turn.end}",
                "calls": len(turn.calls),
                "model": turn.model,
                "prompt_tokens": prompt and prompt.total_tokens,
                "epoch": prompt and prompt.epoch,
                "billed_tokens": usage and usage.input_tokens,
                "cached_tokens": usage and usage.cached_tokens,
            }
        )
    table(
        rows,
        ("turn", "messages", "calls", "model", "prompt", "epoch", "billed", "cached"),
        (tuple(map(cell, row.values())) for row in rows),
    )
    return 0
