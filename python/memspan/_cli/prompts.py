"""A prompt as a model saw it: its sections, and every candidate with its reason."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import memspan
from memspan._characters import visible
from memspan._cli.printing import print_json, table_printer

if TYPE_CHECKING:
    import argparse

__all__ = ["no_turn", "prompt_facts", "show_prompt"]


def show_prompt(options: argparse.Namespace, turn: int, prompt: memspan.Prompt, more: dict[str, str]) -> None:
    """Prints the prompt that a model saw: the sections, every candidate with its reason, and on demand the text."""
    if options.json:
        print_json({"turn": turn, **prompt_facts(prompt), "text": prompt.text})
        return
    table = table_printer(options)
    about = {"turn": turn, "prompt": repr(prompt), "prefix hash": prompt.prefix_hash, **more}
    table(about, ("what", "value"), about.items())
    sections = [(one.name, *(f"{number:,}" for number in (one.tokens, one.granted, one.asked, one.items))) for one in prompt.sections]
    table(sections, ("section", "tokens", "granted", "asked", "items"), sections)
    explained = [
        (one.section, one.id, "in" if one.included else "out", f"{one.tokens:,}", "" if one.score is None else f"{one.score:.3f}", one.why)
        for one in prompt.explain()
    ]
    table(explained, ("section", "what", "", "tokens", "score", "why"), explained)
    if getattr(options, "text", False):
        print(visible(prompt.text) if sys.stdout.isatty() else prompt.text)  # a file gets the bytes themselves


def prompt_facts(prompt: memspan.Prompt) -> dict[str, Any]:
    """The figures of a prompt, as JSON has them."""
    return {
        "model": prompt.model,
        "epoch": prompt.epoch,
        "total_tokens": prompt.total_tokens,
        "max_input_tokens": prompt.max_input_tokens,
        "prefix_tokens": prompt.prefix_tokens,
        "prefix_hash": prompt.prefix_hash,
        "sections": [
            {"name": one.name, "tokens": one.tokens, "granted": one.granted, "asked": one.asked, "items": one.items}
            for one in prompt.sections
        ],
        "explained": [str(one) for one in prompt.explain()],
        "erased": list(prompt.erased),
    }


def no_turn(doing: str, turn: int, turns: int) -> memspan.NotFound:
    """The error for a turn that a session does not have."""
    which = f"a turn with a reply is one of 0 to {turns - 1:,}, or -1 for the last" if turns else "no turn has a reply"
    return memspan.NotFound(f"{doing}: {which}, and --turn is {turn:,}: name another", turn=turn)
