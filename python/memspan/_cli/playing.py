"""Commands that play a conversation: with a model in the terminal, or a transcript without one."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import memspan
from memspan._cli.opening import key_of
from memspan._cli.printing import cell, print_json, share, table_printer
from memspan._cli.prompts import no_turn, prompt_facts, show_prompt

if TYPE_CHECKING:
    import argparse

__all__ = ["chat", "replay"]


def chat(options: argparse.Namespace) -> int:
    """Talks to a model in the terminal."""
    from memspan.chat import chat as talk  # noqa: PLC0415  needed by this command alone

    prompt = "> " if sys.stdin.isatty() else ""
    with memspan.open(options.store, key=key_of(options)) as engine:
        about = {name: getattr(options, name) for name in ("user", "session", "model", "base_url", "api_key", "window", "system")}
        talk(engine, iter(lambda: _line(prompt), None), sys.stdout, **about)
    return 0


def _line(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        return None


def replay(options: argparse.Namespace) -> int:
    """Plays a transcript through a session."""
    from memspan._replay import read_transcript  # noqa: PLC0415  needed by this command alone
    from memspan._replay import replay as play  # noqa: PLC0415

    table = table_printer(options)
    messages = read_transcript(options.file)
    first = next(messages, None)
    if first is None:
        raise memspan.InvalidInput(
            f"replaying {options.file}: it must have messages, and it is empty: write one a line", path=str(options.file)
        )
    is_system = first["role"] in ("system", "developer") and isinstance(first.get("content"), str)
    with tempfile.TemporaryDirectory() as folder, memspan.open(Path(folder) / "replay.memspan", durability="relaxed") as engine:
        session = engine.user("replay").session(
            "replay",
            options.model,
            system=first["content"] if is_system else None,
            budget=memspan.Budget(max_input_tokens=options.max_input_tokens),
        )
        done = play(session, messages if is_system else chain([first], messages), options.turn or [-1])
    for turn in options.turn:
        if (turn if turn >= 0 else done.turns + turn) not in {one.turn for one in done.shown}:
            raise no_turn(f"replaying {options.file}", turn, done.turns)
    caches = _simulated(options)
    facts: dict[str, Any] = {
        "messages": done.messages,
        "prompts": done.prompts,
        "prompt tokens": done.tokens,
        "before the cache boundary": done.before_boundary,
        "the same as in the prompt before": done.same_as_before,
        "epochs begun at turns": done.epochs,
    }
    if options.json:
        shown = [{"turn": one.turn, **prompt_facts(one.prompt), "same_bytes": one.same_bytes} for one in done.shown]
        told = [] if caches is None else [{**dataclasses.asdict(one), "cached_share": one.cached_share} for one in caches]
        print_json({**{name.replace(" ", "_"): value for name, value in facts.items()}, "shown": shown, "caches": told})
        return 0
    shares = {name: share(facts[name], done.tokens) for name in ("before the cache boundary", "the same as in the prompt before")}
    epochs = {"epochs begun at turns": ", ".join(map(str, done.epochs)) or "none"}
    table(facts, ("what", "value"), ((name, cell(value)) for name, value in (facts | shares | epochs).items()))
    if caches is not None:
        print(caches)
    for one in done.shown:
        same = {"same as before": f"{one.same_bytes:,} bytes, {one.same_tokens:,} tokens; then: {one.broken_by}"}
        show_prompt(options, one.turn, one.prompt, same)
    return 0


def _simulated(options: argparse.Namespace) -> memspan.cache.Simulation | None:
    """The transcript under the providers' cache rules that were asked for."""
    if not options.provider:
        return None
    from memspan._replay import read_transcript  # noqa: PLC0415  needed by this command alone

    return memspan.cache.simulate(
        read_transcript(options.file), model=options.model, providers=options.provider, max_input_tokens=options.max_input_tokens
    )
