"""The `memspan` command: looks into a store, backs it up, maintains it; plays a transcript.

Commands that only read open the store read-only. An error is one line on standard error and exit code 2. Damage found by `check` is exit
code 1.
Tables are plain text, or `rich`'s where that package is installed (`pip install 'memspan[cli]'`); `--json` prints one JSON value.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import memspan
from memspan.encryption import ENVIRONMENT, ENVIRONMENT_FILE, key_of_environment, read_key_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Command = Callable[[argparse.Namespace], int]
    _Table = Callable[[object, Sequence[str], Iterable[Sequence[object]]], None]

__all__ = ["main"]

EXIT_DAMAGED = 1
EXIT_ERROR = 2

_CONTENTS = ("generation", "file_bytes", "scopes", "memories", "vectors", "to_embed", "collections", "documents", "chunks", "chunk_vectors")
"""The entries of `Engine.metrics` that describe a store. The others count the work of this process, which has just begun."""


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
    try:
        code = command(options)
        sys.stdout.flush()  # a reader that is gone is noticed here, not when the interpreter ends
        return code  # noqa: TRY300
    except BrokenPipeError:  # `memspan stats STORE | head`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (memspan.Error, OSError) as error:
        print("memspan:", " ".join(_words(error).split()), file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _words(error: Exception) -> str:
    """The message of an error. Where it names an argument of Python, the option to type stands in its place."""
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
    commands = parser.add_subparsers(metavar="COMMAND")

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
    sub.add_argument("--tenant", help="the tenant that the user belongs to")
    sub.add_argument("--shared", action="store_true", help="USER is the id of a shared scope")


def _add_commands(add: Callable[[Command, str, str], argparse.ArgumentParser]) -> None:
    """The commands that take a store, in the order of the help."""
    add(_stats, "stats", "Print what a store holds.")
    add(_users, "users", "List the users and shared scopes of a store.")
    recall = add(_recall, "recall", "Print what a user's memory answers to a query, and why.")
    _add_scope(recall)
    recall.add_argument("query", metavar="QUERY")
    recall.add_argument("--limit", type=int, default=10, metavar="N", help="the most memories to return (default 10)")
    backup = add(_backup, "backup", "Write a compacted, verified copy while the store is in use.")
    backup.add_argument("target", metavar="TARGET", type=Path, help="a folder that does not exist yet")
    export = add(_export, "export", "Write everything that a store holds to a file of JSON lines.")
    export.add_argument("file", metavar="FILE", type=Path, help="the file to be written")
    load = add(_load, "load", "Read a file that `export` wrote into a new store.")
    load.add_argument("file", metavar="FILE", type=Path, help="the file to be read")
    maintain = add(_maintain, "maintain", "Fill in pending vectors, merge, remove what expired.")
    maintain.add_argument("--every", metavar="TIME", help="run until interrupted, every 90s, 30m, 24h or 7d")
    maintain.add_argument("--compact", action="store_true", help="also rewrite the store into a new, smaller generation")
    evaluation = add(_eval, "eval", "Ask questions of a file and print what recall found: precision, coverage, freshness, duplicates.")
    evaluation.add_argument(
        "questions", metavar="QUESTIONS.jsonl", type=Path, help='"user", "question" and "answers" (ids or texts) a line'
    )
    evaluation.add_argument("--limit", type=int, default=5, metavar="N", help="memories that a question recalls (default 5)")
    rekey = add(
        _rekey,
        "rekey",
        "Give a store another key, encrypt a plain one, or make it plain; the store is rewritten. Keep both keys until it is done: an "
        "error, and Ctrl-C, say which one is in force.",
    )
    new_key = rekey.add_mutually_exclusive_group(required=True)
    new_key.add_argument("--new-key-file", type=Path, metavar="FILE", help="the new key: 32 bytes, or 64 hexadecimal digits")
    new_key.add_argument("--plain", action="store_true", help="remove the key: values are stored in plain text")
    add(_reembed, "reembed", "Replace the vectors of other embedders by those of the built-in embedding; can be interrupted.")
    show = add(_show, "show", "Print a user's sessions, the turns of one, or what the model saw at a turn.")
    _add_scope(show)
    show.add_argument("session", metavar="SESSION", nargs="?", help="a session; without it, all of them are listed")
    show.add_argument("--turn", type=int, metavar="N", help="what the model saw at this turn; -1 is the last")
    show.add_argument("--text", action="store_true", help="also print the prompt as text")
    check = add(_check, "check", "Read everything, compare it with its checksums and with itself, and report what is damaged.")
    check.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    check.add_argument(
        "--repair",
        type=Path,
        metavar="NEW",
        help="save what is intact in a new store there, and list what was lost",
    )


def _add_chat(add_parser: Callable[..., argparse.ArgumentParser]) -> None:
    chat = add_parser("chat", help=(text := "Talk to a model in the terminal, with a memory. /help lists the commands."), description=text)
    chat.set_defaults(command=_chat)
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
    replay.set_defaults(command=_replay)
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


def _stats(options: argparse.Namespace) -> int:
    table = _table_printer(options)
    with _open(options, read_only=True, embedder=None) as engine:
        metrics = dict(engine.metrics())
        users, sessions, messages = 0, 0, 0
        for scope in engine.scopes():
            users += scope.type == "user"
            for info in scope.sessions():
                sessions += 1
                messages += info.messages
        learned = {f"tokens.{name}": str(factors) for name, factors in engine.token_factors.items()}
    facts = {
        "store": str(options.store),
        "users": users,
        **{name: metrics[name] for name in _CONTENTS},
        "sessions": sessions,
        "messages": messages,
        **learned,
        **{f"build.{k}": v for k, v in memspan.build_info().items()},
    }
    table(facts, ("name", "value"), facts.items())
    return 0


def _users(options: argparse.Namespace) -> int:
    table = _table_printer(options)
    with _open(options, read_only=True, embedder=None) as engine:
        rows = [{"type": scope.type, "id": scope.id, "tenant": scope.tenant} for scope in engine.scopes()]
    table(rows, ("type", "id", "tenant"), (tuple(map(_cell, row.values())) for row in rows))
    return 0


def _recall(options: argparse.Namespace) -> int:
    table = _table_printer(options)
    with _open(options, read_only=True) as engine:
        recall = _scope(engine, options).recall(options.query, limit=options.limit)
        rows = [
            {"score": hit.score, "kind": hit.memory.kind, "text": hit.memory.text, "id": str(hit.memory.id), "why": str(hit.explain())}
            for hit in recall
        ]
        degraded = recall.degraded_reason
    table(
        {"degraded": degraded, "memories": rows},
        ("score", "kind", "memory", "why"),
        ((f"{row['score']:.3f}", row["kind"], row["text"], row["why"]) for row in rows),
    )
    if degraded and not options.json:
        print(f"degraded: {degraded}", file=sys.stderr)
    return 0


def _scope(engine: memspan.Engine, options: argparse.Namespace) -> memspan.Scope:
    """The scope that was named. A scope that was never written to is taken for a typing mistake."""
    scope = (engine.shared if options.shared else engine.user)(options.user, tenant=options.tenant)
    if scope not in engine.scopes():
        raise memspan.NotFound(
            f"looking for {scope!r}: it must have been written to, and this store has none of that name: `memspan users` lists them, with "
            "their tenants, and --shared names those of type shared"
        )
    return scope


def _show(options: argparse.Namespace) -> int:
    table = _table_printer(options)
    with _open(options, read_only=True) as engine:
        scope = _scope(engine, options)
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
            raise _no_turn(f"showing session {options.session!r}", options.turn, turns)
        turn = session.turn(options.turn % turns)
        prompt = turn.prompt
    if prompt is None:
        raise memspan.NotFound(
            f"showing turn {turn.number} of session {options.session!r}: its replies were added without prompt=, so that nobody "
            "knows what was sent: give add_response() the prompt",
            turn=turn.number,
        )
    _show_prompt(options, turn.number, prompt, {})
    return 0


def _no_turn(doing: str, turn: int, turns: int) -> memspan.NotFound:
    which = f"a turn with a reply is one of 0 to {turns - 1:,}, or -1 for the last" if turns else "no turn has a reply"
    return memspan.NotFound(f"{doing}: {which}, and --turn is {turn:,}: name another", turn=turn)


def _show_sessions(user: memspan.Scope, table: _Table) -> int:
    rows: list[dict[str, Any]] = [
        {"session": info.id, "model": info.model, "messages": info.messages, "turns": info.turns, "epoch": info.epoch}
        for info in user.sessions()
    ]
    table(rows, ("session", "model", "messages", "turns", "epoch"), (tuple(row.values()) for row in rows))
    return 0


def _show_turns(session: memspan.Session, table: _Table) -> int:
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
        (tuple(map(_cell, row.values())) for row in rows),
    )
    return 0


def _simulated(options: argparse.Namespace) -> memspan.cache.Simulation | None:
    """The transcript under the providers' cache rules that were asked for."""
    if not options.provider:
        return None
    from memspan._replay import read_transcript  # noqa: PLC0415  needed by this command alone

    return memspan.cache.simulate(
        read_transcript(options.file), model=options.model, providers=options.provider, max_input_tokens=options.max_input_tokens
    )


def _chat(options: argparse.Namespace) -> int:
    from memspan.chat import chat  # noqa: PLC0415  needed by this command alone

    prompt = "> " if sys.stdin.isatty() else ""
    with memspan.open(options.store, key=_key(options)) as engine:
        about = {name: getattr(options, name) for name in ("user", "session", "model", "base_url", "api_key", "window", "system")}
        chat(engine, iter(lambda: _line(prompt), None), sys.stdout, **about)
    return 0


def _line(prompt: str) -> str | None:
    try:
        return input(prompt)
    except EOFError:
        return None


def _replay(options: argparse.Namespace) -> int:
    from memspan._replay import read_transcript, replay  # noqa: PLC0415  needed by this command alone

    table = _table_printer(options)
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
        done = replay(session, messages if is_system else chain([first], messages), options.turn or [-1])
    for turn in options.turn:
        if (turn if turn >= 0 else done.turns + turn) not in {one.turn for one in done.shown}:
            raise _no_turn(f"replaying {options.file}", turn, done.turns)
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
        shown = [{"turn": one.turn, **_prompt_facts(one.prompt), "same_bytes": one.same_bytes} for one in done.shown]
        told = [] if caches is None else [{**dataclasses.asdict(one), "cached_share": one.cached_share} for one in caches]
        _print_json({**{name.replace(" ", "_"): value for name, value in facts.items()}, "shown": shown, "caches": told})
        return 0
    shares = {name: _share(facts[name], done.tokens) for name in ("before the cache boundary", "the same as in the prompt before")}
    epochs = {"epochs begun at turns": ", ".join(map(str, done.epochs)) or "none"}
    table(facts, ("what", "value"), ((name, _cell(value)) for name, value in (facts | shares | epochs).items()))
    if caches is not None:
        print(caches)
    for one in done.shown:
        same = {"same as before": f"{one.same_bytes:,} bytes, {one.same_tokens:,} tokens; then: {one.broken_by}"}
        _show_prompt(options, one.turn, one.prompt, same)
    return 0


def _show_prompt(options: argparse.Namespace, turn: int, prompt: memspan.Prompt, more: dict[str, str]) -> None:
    """Prints the prompt that a model saw: the sections, every candidate with its reason, and on demand the text."""
    if options.json:
        _print_json({"turn": turn, **_prompt_facts(prompt), "text": prompt.text})
        return
    table = _table_printer(options)
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
        print(prompt.text)


def _prompt_facts(prompt: memspan.Prompt) -> dict[str, Any]:
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


def _share(part: int, whole: int) -> str:
    return f"{part:,} ({part / whole:.1%})" if whole else "0"


def _cell(value: object) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _backup(options: argparse.Namespace) -> int:
    with _open(options, read_only=True, embedder=None) as engine:
        engine.backup(options.target)
    size = sum(file.stat().st_size for file in options.target.rglob("*") if file.is_file())
    _say(options, {"target": str(options.target), "size_bytes": size}, f"{options.target}: {size:,} bytes")
    return 0


def _export(options: argparse.Namespace) -> int:
    with _open(options, read_only=False, embedder=None) as engine:
        values = engine.export(options.file)
    size = options.file.stat().st_size
    _say(options, {"file": str(options.file), "values": values, "size_bytes": size}, f"{options.file}: {values:,} values, {size:,} bytes")
    return 0


def _load(options: argparse.Namespace) -> int:
    with memspan.open(options.store, embedder=None, key=_key(options)) as engine:
        values = engine.load(options.file)
    _say(options, {"store": str(options.store), "values": values}, f"{options.store}: {values:,} values")
    return 0


def _maintain(options: argparse.Namespace) -> int:
    if options.every is not None:
        return _maintain_every(options, _seconds(options.every))
    with _open(options, read_only=False) as engine:
        report = engine.maintain(compact=options.compact)
    _say(options, vars(report), "\n".join(f"{name}: {value:,}" for name, value in vars(report).items()))
    return 0


def _seconds(text: str) -> float:
    """A time such as 90s, 30m, 24h or 7d."""
    units = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
    number, unit = text[:-1], text[-1:]
    if unit in units and number.isdecimal() and int(number) > 0:
        return int(number) * units[unit]
    raise memspan.InvalidInput(f"maintaining a store: --every is a whole number with s, m, h or d behind it, and it is {text!r}: write 24h")


def _maintain_every(options: argparse.Namespace, seconds: float) -> int:
    """Maintains until it is interrupted; each report is a line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with _open(options, read_only=False) as engine, engine.maintenance(seconds, compact=options.compact) as running:
        reported = None
        while True:
            time.sleep(0.2)
            if running.report is not None and running.report is not reported:
                reported = running.report
                print(json.dumps(vars(reported)), flush=True)


def _eval(options: argparse.Namespace) -> int:
    with _open(options, read_only=True) as engine:
        done = memspan.evaluate(engine, options.questions, limit=options.limit)
    _say(options, done.to_dict(), str(done))
    return 0


def _reembed(options: argparse.Namespace) -> int:
    def progress(made: int, missing: int) -> None:
        if sys.stderr.isatty():
            print(f"\r{made:,} of {missing:,}", end="" if made < missing else "\n", file=sys.stderr, flush=True)

    _check_folder(options.store)
    with memspan.open(options.store, embedder=memspan.embedding.BuiltIn(), key=_key(options)) as engine:
        report = engine.reembed(progress=progress)
    _say(options, vars(report), "\n".join(f"{name}: {value:,}" for name, value in vars(report).items()))
    return 0


def _rekey(options: argparse.Namespace) -> int:
    new = None if options.plain else read_key_file(options.new_key_file)
    with _open(options, read_only=False, embedder=None) as engine:
        try:
            engine.rekey(new)
        except KeyboardInterrupt as ended:
            done = getattr(ended, "outcome", None) == "done"
            force = "the new key is in force" if done else "one of the two keys is in force: try the new one first"
            print(f"memspan: changing the key of {options.store} was interrupted, and {force}", file=sys.stderr)
            raise
        encrypted = engine.encrypted
    _say(options, {"encrypted": encrypted}, f"{options.store}: {'encrypted with the new key' if encrypted else 'not encrypted any more'}")
    return 0


def _key(options: argparse.Namespace) -> bytes | None:
    return key_of_environment() if options.key_file is None else read_key_file(options.key_file)


def _check(options: argparse.Namespace) -> int:
    if options.in_process:
        return _read_everything(options)
    _check_folder(options.store)
    if options.repair is not None:
        return _repair(options)
    # A page that the file no longer has ends the process that touches it: so another process does the reading.
    child = [sys.executable, "-m", "memspan.cli", "check", "--in-process", "--json", str(options.store)]
    if options.key_file is not None:
        child += ["--key-file", str(options.key_file)]
    done = subprocess.run(child, capture_output=True, text=True, check=False)  # noqa: S603  our own module, no shell
    if done.returncode < 0:
        died = signal.Signals(-done.returncode).name
        damage = [f"reading ended with {died}: pages of the data file are missing or damaged; restore a backup"]
        report: dict[str, Any] = {"scopes": None, "users": None, "memories": None, "values": None, "damage": damage}
    elif done.returncode in (0, EXIT_DAMAGED):
        report = json.loads(done.stdout)
    else:
        sys.stderr.write(done.stderr)
        return EXIT_ERROR
    found = "\n".join(report["damage"]) or (
        f"sound: {report['values']:,} values compared with their checksums; scopes: {report['scopes']:,}, memories: {report['memories']:,}"
    )
    _say(options, report, found)
    return EXIT_DAMAGED if report["damage"] else 0


def _repair(options: argparse.Namespace) -> int:
    from memspan import _core  # noqa: PLC0415  what one command needs

    saved, lost = _core.repair(options.store, options.repair)
    with memspan.open(options.repair, embedder=None, key=_key(options)) as engine:
        findings = engine.check().findings
    report = {"saved": saved, "lost": lost, "to_look_at": list(findings)}
    lines = [f"saved {saved:,} values in {options.repair}", *(f"lost: {one}" for one in lost), *(f"to look at: {one}" for one in findings)]
    _say(options, report, "\n".join(lines))
    return EXIT_DAMAGED if lost or findings else 0


def _read_everything(options: argparse.Namespace) -> int:
    """Every value goes through its checksum, and every scope's index through its records."""
    try:
        with _open(options, read_only=True, embedder=None) as engine:
            report = engine.check()
            users = sum(1 for _ in engine.users())
            scopes, memories, values, damage = report.scopes, report.memories, report.values, list(report.findings)
    except memspan.StoreCorrupt as error:  # so damaged that it cannot be opened, or its scopes not be listed
        scopes = users = memories = values = 0
        damage = [str(error)]
    print(json.dumps({"scopes": scopes, "users": users, "memories": memories, "values": values, "damage": damage}))
    return EXIT_DAMAGED if damage else 0


def _open(options: argparse.Namespace, *, read_only: bool, embedder: Literal["default"] | None = "default") -> memspan.Engine:
    _check_folder(options.store)
    return memspan.open(options.store, read_only=read_only, embedder=embedder, key=_key(options))


def _check_folder(store: Path) -> None:
    # `open` makes a store where there is none, which is never what a command means.
    if not store.is_dir() or not any(store.iterdir()):
        raise memspan.NotFound(f"{store}: no such store; a store is a folder that memspan.open() made", path=str(store))


def _table_printer(options: argparse.Namespace) -> _Table:
    """The function that prints a result: one JSON value, a table of `rich`'s, or plain text."""
    if options.json:
        return lambda value, _columns, _rows: _print_json(value)
    try:
        from rich.console import Console  # noqa: PLC0415  an optional extra
        from rich.table import Table  # noqa: PLC0415
        from rich.text import Text  # noqa: PLC0415
    except ImportError:
        return _show_plain

    def show(_value: object, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        table = Table(*columns)
        for row in rows:
            table.add_row(*(Text(str(cell)) for cell in row))  # Text: what a user wrote is no markup
        Console().print(table)

    return show


def _show_plain(_value: object, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns two blanks apart; the last one is not padded."""
    cells = [[" ".join(str(cell).split()) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print()


def _say(options: argparse.Namespace, value: object, text: str) -> None:
    if options.json:
        _print_json(value)
    else:
        print(text)


def _print_json(value: object) -> None:
    print(json.dumps(value, default=_plain, ensure_ascii=False))


def _plain(value: object) -> object:
    return dict(cast("Mapping[object, object]", value)) if isinstance(value, Mapping) else str(value)


if __name__ == "__main__":
    sys.exit(main())
