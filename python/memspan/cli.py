"""The `memspan` command: looks into a store, backs it up, maintains it; plays a transcript.

Commands that only read open the store read-only. An error is one line on standard error and exit code 2. Damage found by `check` is exit
code 1.
Tables are plain text, or `rich`'s where that package is installed (`pip install 'memspan[cli]'`); `--json` prints one JSON value.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import memspan
from memspan._characters import visible
from memspan._cli import EXIT_ERROR, checking, contents, copies, playing, sessions, upkeep
from memspan._fence import system_error
from memspan.encryption import ENVIRONMENT, ENVIRONMENT_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Command = Callable[[argparse.Namespace], int]

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command.

    Args:
        arguments: Without the program's name; the process's own by default.

    Returns:
        The exit code: 0, 1 when `check` found damage, 2 for an error that was printed.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    command: Command | None = options.command
    if command is None:
        parser.print_help()
        return 0
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison]  it was closed by who started the process
        print(f"memspan: running `memspan {options.called}`: it prints to standard output, which is closed: open it", file=sys.stderr)
        return EXIT_ERROR
    try:
        code = command(options)
        sys.stdout.flush()  # a reader that is gone is noticed here, not when the interpreter ends
        return code  # noqa: TRY300
    except BrokenPipeError:  # `memspan stats STORE | head`: the reader has what it wanted
        _print_no_more()
        return 0
    except (memspan.Error, OSError, UnicodeEncodeError) as error:
        print("memspan:", visible(" ".join(_words(options.called, error).split())), file=sys.stderr)
        try:
            sys.stdout.flush()
        except OSError:  # what is left would end the interpreter with an error of its own
            _print_no_more()
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _print_no_more() -> None:
    """Discards the output that was not written yet, and all that follows."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _words(called: str, error: Exception) -> str:
    """The message of an error. Where it names an argument of Python, the option to type stands in its place."""
    if isinstance(error, UnicodeEncodeError):
        sign = ascii(error.object[error.start])
        rule = f"the encoding of standard output must have every character, and {error.encoding} has no {sign}"
        return f"printing what `memspan {called}` found: {rule}: set PYTHONIOENCODING=utf-8"
    if isinstance(error, OSError) and not isinstance(error, memspan.Error):
        return str(system_error(f"running `memspan {called}`", error))
    if not isinstance(error, memspan.WrongKey):
        return str(error)
    what, _, _ = str(error).rpartition(": ")
    keys = f"--key-file FILE, {ENVIRONMENT_FILE} or {ENVIRONMENT}"
    cures = {"missing": f"give it by {keys}", "not encrypted": f"leave out {keys}, or encrypt the store with `memspan rekey`"}
    return f"{what}: {cures.get(error.reason, f'give the right one by {keys}')}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memspan", description="Look into a memspan store, back it up, maintain it.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"memspan {memspan.__version__}")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="COMMAND", dest="called")

    def add(command: Command, name: str, help_text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help_text, description=help_text, allow_abbrev=False)
        sub.set_defaults(command=command)
        sub.add_argument("store", metavar="STORE", type=Path, help="the store's folder")
        sub.add_argument("--json", action="store_true", help="print one JSON value instead of a table")
        _add_key(sub)
        return sub

    _add_commands(add)
    _add_chat(commands.add_parser)
    _add_replay(commands.add_parser)
    return parser


def _add_key(sub: argparse.ArgumentParser) -> None:
    sub.add_argument(
        "--key-file",
        type=Path,
        metavar="FILE",
        help=f"the key of an encrypted store; else {ENVIRONMENT_FILE} names it, or {ENVIRONMENT} has it",
    )


def _add_scope(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("user", metavar="USER", help="a user that `memspan users` lists")
    _add_owner(sub)


def _add_owner(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--tenant", help="the tenant that the user belongs to")
    sub.add_argument("--shared", action="store_true", help="USER is the id of a shared scope")


def _add_commands(add: Callable[[Command, str, str], argparse.ArgumentParser]) -> None:
    """The commands that take a store, in the order of the help."""
    add(contents.stats, "stats", "Print what a store holds.")
    add(contents.users, "users", "List the users and shared scopes of a store.")
    recall = add(contents.recall, "recall", "Print what a user's memory answers to a query, and why.")
    _add_scope(recall)
    recall.add_argument("query", metavar="QUERY")
    recall.add_argument("--limit", type=int, default=10, metavar="N", help="the most memories to return (default 10)")
    backup = add(copies.backup, "backup", "Write a compacted, verified copy while the store is in use.")
    backup.add_argument("target", metavar="TARGET", type=Path, help="a folder that does not exist yet")
    export = add(copies.export, "export", "Write everything that a store holds, or holds of one user, to a file of JSON lines.")
    export.add_argument("file", metavar="FILE", type=Path, help="the file to be written, not - for standard output")
    export.add_argument("--user", metavar="USER", help="only what it holds of this user, in rows for other programs: `load` reads none")
    _add_owner(export)
    load = add(copies.load, "load", "Read a file that `export` wrote into a new store.")
    load.add_argument("file", metavar="FILE", type=Path, help="the file to be read")
    maintain = add(upkeep.maintain, "maintain", "Fill in pending vectors and remove what expired.")
    maintain.add_argument("--every", metavar="TIME", help="run until interrupted, every 90s, 30m, 24h or 7d")
    maintain.add_argument("--compact", action="store_true", help="also rewrite the store into a new, smaller generation")
    evaluation = add(
        contents.evaluate, "eval", "Ask questions of a file and print what recall found: precision, coverage, freshness, duplicates."
    )
    evaluation.add_argument(
        "questions", metavar="QUESTIONS.jsonl", type=Path, help='"user", "question" and "answers" (ids or texts) a line'
    )
    evaluation.add_argument("--limit", type=int, default=5, metavar="N", help="memories that a question recalls (default 5)")
    rekey = add(
        copies.rekey,
        "rekey",
        "Give a store another key, encrypt a plain one, or make it plain; the store is rewritten. Keep both keys until it is done: an "
        "error, and Ctrl-C, say which one is in force.",
    )
    new_key = rekey.add_mutually_exclusive_group(required=True)
    new_key.add_argument("--new-key-file", type=Path, metavar="FILE", help="the new key: 32 bytes, or 64 hexadecimal digits")
    new_key.add_argument("--plain", action="store_true", help="remove the key: values are stored in plain text")
    add(upkeep.reembed, "reembed", "Replace the vectors of other embedders by those of the built-in embedding; can be interrupted.")
    show = add(sessions.show, "show", "Print a user's sessions, the turns of one, or what the model saw at a turn.")
    _add_scope(show)
    show.add_argument("session", metavar="SESSION", nargs="?", help="a session; without it, all of them are listed")
    show.add_argument("--turn", type=int, metavar="N", help="what the model saw at this turn; -1 is the last")
    show.add_argument("--text", action="store_true", help="also print the prompt as text")
    check = add(checking.check, "check", "Read everything, compare it with its checksums and with itself, and report what is damaged.")
    check.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    check.add_argument(
        "--repair",
        type=Path,
        metavar="NEW",
        help="save what is intact in a new store there, and list what was lost. A session whose own record is lost, or each of its "
        "epochs, is not saved: STORE keeps its messages. Values of an encrypted store are saved without its key as they are",
    )


def _add_chat(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    chat = add_parser("chat", help=(text := "Talk to a model in the terminal, with a memory. /help lists the commands."), description=text)
    chat.set_defaults(command=playing.chat)
    chat.add_argument("store", metavar="STORE", type=Path, help="the store's folder, which is created if it is missing")
    chat.add_argument("--model", required=True, help="the model, as its server calls it")
    _add_key(chat)
    chat.add_argument(
        "--base-url", metavar="URL", help="a server that speaks chat completions; by default the model's vendor, with the environment's key"
    )
    chat.add_argument("--api-key", metavar="KEY", help="of that server")
    chat.add_argument(
        "--window", type=int, default=32_768, metavar="N", help="the window of a model that the registry does not know (default 32,768)"
    )
    chat.add_argument("--user", default="me", help="the user whose memory it is (default me)")
    chat.add_argument("--session", default="chat", help="the conversation (default chat)")
    chat.add_argument("--system", help="the system prompt")


def _add_replay(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    replay = add_parser(
        "replay", help=(text := "Play a transcript through a session and print what each prompt would have been."), description=text
    )
    replay.set_defaults(command=playing.replay)
    replay.add_argument("file", metavar="FILE.jsonl", type=Path, help="one chat message per line, or an object with a list of messages")
    replay.add_argument("--model", required=True, help="the model that the prompts are for")
    replay.add_argument("--max-input-tokens", type=int, metavar="N", help="the limit of a prompt; by default the model's own")
    replay.add_argument(
        "--turn", type=int, action="append", default=[], metavar="N", help="show this turn (default -1, the last); may be repeated"
    )
    replay.add_argument(
        "--provider",
        action="append",
        metavar="NAME",
        help="also what this provider's cache rules make of it, in four layouts: anthropic, openai, gemini, deepseek (repeatable)",
    )
    replay.add_argument("--json", action="store_true", help="print one JSON value instead of tables")


if __name__ == "__main__":
    sys.exit(main())
