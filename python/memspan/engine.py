"""The engine: one open store, and what can be done with all of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Self

from memspan import _core
from memspan._core import Limits
from memspan._embedding import Embedding, Reporter, note_unused
from memspan._fence import fenced, guarded, is_mapping
from memspan._store import OpenStore
from memspan._twins import async_iterable, awaitable
from memspan._values import dataclass
from memspan.embedding import BuiltIn
from memspan.encryption import key_bytes
from memspan.exceptions import EmbedderError, InvalidInput
from memspan.life import KindRule, Policy
from memspan.long_term import Scope
from memspan.reports import BuildInfo, CheckReport, ImportReport, MaintenanceReport, ReembedReport
from memspan.usage import TokenFactors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime, timedelta
    from pathlib import Path
    from types import TracebackType

    from memspan.embedding import Embedder, Event
    from memspan.encryption import Key
    from memspan.erasure import Retention
    from memspan.exceptions import Error
    from memspan.life import LanguageModel
    from memspan.long_term import NewMemory
    from memspan.maintenance import Maintenance

__all__ = [
    "BuildInfo",
    "CheckReport",
    "Engine",
    "GraphOptions",
    "ImportReport",
    "MaintenanceReport",
    "ReembedReport",
    "aopen",
    "build_info",
    "open",
]

_PAGE = 256
_NO_FILE = frozenset({"", ":memory:", "file::memory:", "file::memory:?cache=shared"})


def build_info() -> BuildInfo:
    """What was built, and what it runs on: for reports of errors and of measurements."""
    return _core.build_info()


@dataclass(frozen=True)
class GraphOptions:
    """How a scope of very many memories gets a graph over its vectors (HNSW), which `Engine.maintain` builds.

    Below the threshold, and until it is built, all vectors of a scope are compared. A graph answers sooner and approximately: it finds
    99 of 100 of the nearest, or more with a greater `ef_search`. Memories that were added or changed since are compared exactly, and
    filters lose nothing. The bench `crossover` measures from where on it pays on a machine.

    Attributes:
        threshold: Memories with a vector from which on a scope gets a graph.
        m: Links of a node, M, 4 to 64. More find more and take more memory: 384 bytes a memory for 16, at 256 dimensions.
        ef_construction: Nodes kept in sight while one is linked in, `m` to 4,096. More make a better graph, slower.
        ef_search: Nodes kept in sight by a search, 1 to 65,535. More find more, slower.
        rebuild_share: Share of added and changed memories from which on the graph is built anew, above 0 and at most 1.
    """

    threshold: int = 200_000
    m: int = 16
    ef_construction: int = 200
    ef_search: int = 128
    rebuild_share: float = 0.2


def _now() -> datetime:
    from datetime import UTC, datetime  # noqa: PLC0415  the engine has a clock of its own: this is for what Python does by itself

    return datetime.now(UTC)


@fenced
class Engine:
    """One open store. Made by `memspan.open`; closed by `close` or at the end of a `with` block.

    All methods may be called from any thread, and from both sides of a fork.
    """

    __slots__ = ("__weakref__", "_clock", "_core", "_store", "_timeout_seconds")

    def __init__(self, store: OpenStore, timeout_seconds: float | None = None, clock: Callable[[], datetime] | None = None) -> None:
        self._clock = clock or _now
        self._store = store
        self._core = store.core
        self._timeout_seconds = timeout_seconds

    @property
    def path(self) -> Path:
        """The store's folder, with symbolic links resolved."""
        return self._core.path

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._core.closed

    def user(self, user_id: str, *, tenant: str | None = None) -> Scope:
        """The memory of a user. Reads and writes nothing.

        Args:
            user_id: 1 to 1,024 bytes of UTF-8.
            tenant: The same. One tenant's "u-42" is not another's, and neither is that without a tenant.

        Raises:
            InvalidInput: An id is empty or too long.

        Examples:
            >>> engine.user("u-42", tenant="acme")
            Scope(user 'u-42', tenant='acme')
        """
        return Scope(self._store, self._core.scope("user", user_id, tenant))

    def shared(self, shared_id: str, *, tenant: str | None = None) -> Scope:
        """The memory of an organisation, a team, an agent: like `user`, of another type."""
        return Scope(self._store, self._core.scope("shared", shared_id, tenant))

    def users(self) -> Iterator[Scope]:
        """Every user that was ever written to, of all tenants, in that order. Reads 256 at a time and holds no transaction between.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> list(engine.users())
            [Scope(user 'u-42')]
        """
        return (scope for scope in self.scopes() if scope.type == "user")

    def scopes(self) -> Iterator[Scope]:
        """Every scope that was ever written to: `users` and what is shared."""
        after = 0
        while page := self._core.scopes(after, _PAGE):
            for after, core in page:  # noqa: B007  the last one is where the next page begins
                yield Scope(self._store, core)

    def remember_many(self, rows: Iterable[NewMemory | Mapping[str, Any]], *, on_error: Literal["raise", "skip"] = "raise") -> ImportReport:
        """Remembers rows of many scopes. The rows are read as they are written, never all of them at once.

        1,000 rows or 256 KB of text are one transaction, whose rows are written scope by scope. To go on after an interruption, run it
        again with the same ids: what was written is a duplicate.

        Args:
            rows: `NewMemory` objects, or mappings with the arguments of `Scope.remember` and the key "scope".
            on_error: "raise" stops at the first row that cannot be written, whose transaction is undone; the error's attribute `row` is its
                index. "skip" goes on, and the report has the error.

        Raises:
            Error: Of the first row that cannot be written, or of the store.

        Examples:
            >>> rows = [{"scope": engine.user(f"u-{n}"), "text": "Prefers tea", "id": "tea"} for n in range(3)]
            >>> engine.remember_many(rows).added, engine.remember_many(rows).duplicates
            (3, 3)
        """
        if on_error not in {"raise", "skip"}:
            raise InvalidInput(
                f"remembering rows: on_error is 'raise' or 'skip', and it is {on_error!r}: choose one", on_error=repr(on_error)
            )
        actions = {"added": 0, "superseded": 0, "duplicate": 0, "rejected": 0, "redacted": 0, "quarantined": 0}
        errors: list[tuple[int, str | None, Error]] = []
        total = chunks = 0
        for failed, outcomes, transactions in self._store.import_rows(rows, scope=None, skip=on_error == "skip"):
            errors.extend(failed)
            total += len(failed) + len(outcomes)
            chunks += transactions
            for outcome in outcomes:
                actions[outcome.action] += 1
        return ImportReport(
            total,
            actions["added"],
            actions["superseded"],
            actions["duplicate"],
            actions["rejected"],
            tuple(sorted(errors, key=_index)),
            chunks,
            actions["redacted"],
            actions["quarantined"],
        )

    def backup(self, path: str | os.PathLike[str]) -> int:
        """Writes a whole, compacted copy while the store is in use; every value's checksum is verified on the way.

        Args:
            path: A folder that does not exist yet or is empty. `memspan.open` opens it.

        Returns:
            How many values the copy has.

        Raises:
            InvalidInput: The folder holds something.
            StoreCorrupt: A value is damaged.
        """
        return self._core.backup(_folder("backing up", path))

    @property
    def encrypted(self) -> bool:
        """Whether the values of the store are encrypted."""
        return self._core.is_encrypted()

    def rekey(self, key: Key | None) -> None:
        """Gives the store another key, encrypts one that is plain, or makes it plain with `None`; the store is rewritten on the way.

        Writers wait while it runs. Nothing of the old key, or of what was plain, stays in the store's files; backups keep theirs. Other
        processes that have the store open get `WrongKey` at their next call, and open it again with the new key.

        Args:
            key: 32 bytes, or a function that returns them.

        Raises:
            InvalidInput: The key is not 32 bytes.
            ReadOnly: The engine was opened with `read_only=True`.

        Examples:
            >>> import secrets
            >>> engine.rekey(secrets.token_bytes(32))
            >>> engine.encrypted
            True
        """
        self._core.rekey(key_bytes("changing the key of a store", key))

    def export(self, path: str | os.PathLike[str]) -> int:
        """Writes everything that the store holds to a file of JSON lines, which `load` reads back.

        One value a line, in the order of the store's keys: scopes, memories with every revision, slots, relations, quarantine, sessions
        with messages, turns, ledgers, summaries and notes, documents with their texts, vectors, indexes. docs/format.md says what each
        line has. Nothing forgotten, redacted or erased is in it. Keep the file as safe as the store: it has what everybody said, and what
        the store's hashes are keyed with. The export of an encrypted store is not encrypted; loading it into a store with a key is.

        The file appears whole or not at all, readable by its owner alone. Cost: one read transaction, and one line in memory at a time.

        Args:
            path: The file. One that is there is replaced.

        Returns:
            How many values it has.

        Raises:
            InvalidInput: The path names no file.
            StoreCorrupt: A value is damaged.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> lines = engine.export("all.jsonl")
            >>> with memspan.open("copy.memspan") as copy:
            ...     copy.load("all.jsonl") == lines, copy.user("u-42").recall("tea")[0].text
            (True, 'Prefers tea')
        """
        return self._core.export(_folder("exporting the store", path))

    def load(self, path: str | os.PathLike[str]) -> int:
        """Reads what `export` wrote into this store, which must be empty. Exporting it again gives the same bytes.

        All of it is there when this returns, or nothing: the lines become a new generation, which is read by `check` and then takes the
        place of the empty one. Cost: the size of the store once more on disk, and one line in memory at a time.

        Args:
            path: The file.

        Returns:
            How many values the store has.

        Raises:
            InvalidInput: A line is missing, malformed or was changed (`error.line` says which), the store is not empty, or another
                embedder than this engine's made the file's vectors. Nothing was loaded.
            StoreVersion: The file was exported by a memspan whose stores have another format.
        """
        return self._core.load(_folder("loading an export", path))

    def maintain(self, *, compact: bool = False, retention: Retention | None = None) -> MaintenanceReport:
        """Does what can wait: forgets what expired, makes missing vectors, stores buffered recalls, clears up after interrupted deletes.

        Many short transactions; other writers come between. To be called now and then, for instance once a day. It also builds graphs over
        the vectors of very large scopes (`GraphOptions`): half a minute or more for 100,000 memories, while all else goes on.

        Args:
            compact: Also rewrite the store into a new, smaller file, without the bytes of what was forgotten. Writers wait while it
                does, and every process moves over by itself.
            retention: How long sessions and memories are kept: what is older goes first.

        Examples:
            >>> engine.maintain().expired
            0
        """
        sessions, memories = self._delete_old(retention)
        over = self._core.forget_over_cap()
        done = self._core.maintain(self._store.embed)  # an embedder that failed was logged, and what is left is in the report
        if compact:
            self._core.compact()
        contents = self._core.metrics()
        lacking, size = contents["to_embed"], contents["file_bytes"]
        return MaintenanceReport(
            done.expired,
            done.made,
            lacking,
            done.recalls,
            done.sessions,
            compact,
            size,
            done.collections,
            done.graphs,
            over,
            sessions,
            memories,
        )

    def _delete_old(self, retention: Retention | None) -> tuple[int, int]:
        if retention is None:
            return 0, 0
        from memspan.erasure import Retention, delete_old  # noqa: PLC0415  what few calls need is not paid for at import

        if not isinstance(retention, Retention):  # pyright: ignore[reportUnnecessaryIsInstance]  callers without types
            raise InvalidInput(f"maintaining a store: retention must be a memspan.Retention, not a {type(retention).__name__}: make one")
        return delete_old(self.scopes(), retention, self._clock())

    def maintenance(self, every: timedelta | float = 86_400.0, *, compact: bool = False, retention: Retention | None = None) -> Maintenance:
        """Maintains the store again and again in a thread of its own, while a `with` block runs.

        One maintainer at a time over all processes: who comes while another is at it, or less than `every` after it, does nothing.

        Args:
            every: From the end of one to the begin of the next: a `timedelta`, or seconds; a second at least.
            compact: As of `maintain`.
            retention: The same.

        Raises:
            InvalidInput: `every` is less than a second.

        Examples:
            >>> with engine.maintenance(every=3600) as running:
            ...     running.wait_for_report(timeout_seconds=30).expired
            0
        """
        from memspan.maintenance import Maintenance  # noqa: PLC0415  it takes logging along

        return Maintenance(self, every, compact=compact, retention=retention)

    def reembed(self, embedder: Embedder | None = None, *, progress: Callable[[int, int], object] | None = None) -> ReembedReport:
        """Makes the vectors of another embedding, scope by scope, while the store is in use.

        The new vectors of a scope are made beside the old ones, by which its questions are answered meanwhile (with the embedder that
        this engine had before, or the built-in one; else by words alone, marked degraded). When they are whole, one short transaction
        makes them those that are searched, and the old ones are removed in steps. When the call is interrupted or the process dies,
        finished vectors stay, and the next call continues from there. `maintain` does the same without a report.

        May be run in a thread or a process of its own; `areembed` waits for it without blocking an event loop.

        Args:
            embedder: The new one, which this engine uses from now on; by default that of `memspan.open`. Other engines and the next
                `memspan.open` must be given it too.
            progress: Called with how many vectors were made, and how many were missing at the begin, after each step of at most 256.

        Raises:
            InvalidInput: The engine has no embedder and none is given, or the object given is not an embedder.
            EmbedderError: It failed, as its attribute `reason` says; `made` says how far it came. The old vectors serve on.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> engine.reembed(memspan.testing.FakeEmbedder())
            ReembedReport(made=1, missing=0)
            >>> user.recall("tea").mode
            'hybrid'
        """
        if embedder is not None:
            self._store.exchange(Embedding(embedder, self._timeout_seconds), built_in=type(embedder) is BuiltIn)
        if self._core.space is None:
            raise InvalidInput(
                "reembedding a store: it needs an embedder, and this engine was opened without one: pass one, for instance "
                "memspan.embedding.BuiltIn()"
            )
        made, missing = 0, self._core.metrics()["to_embed"]

        def made_more(step: int) -> None:
            nonlocal made
            made += step
            if progress is not None:
                progress(made, missing)

        try:
            self._core.reembed(self._store.embed, made_more)
        except EmbedderError as error:
            raise EmbedderError(
                f"reembedding {self!r}: {made:,} of {missing:,} vectors were made, and then the embedder failed ({error.reason}): the old "
                "vectors stay in use: call reembed() again to continue",
                reason=error.reason,
                made=made,
                missing=missing,
            ) from error
        return ReembedReport(made, self._core.metrics()["to_embed"])

    def metrics(self) -> dict[str, int]:
        """What is in the store, and what happened since this process opened it; the counters are shared by its engines.

        Cost: one read for each scope.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> {name: engine.metrics()[name] for name in ("scopes", "memories", "commits")}
            {'scopes': 1, 'memories': 1, 'commits': 1}
        """
        return self._core.metrics()

    @property
    def token_factors(self) -> TokenFactors:
        """What this store has learned of closed tokenizers, by the name of the model; `token_factors.reset(model)` forgets it.

        Learned from the usage of replies, from refusals that name a count, and from `Session.assemble(count=)`.

        Examples:
            >>> session = user.session("s-1", model="claude-sonnet-4-5")
            >>> _ = session.add({"role": "user", "content": "a question of some length, asked again and again " * 60})
            >>> prompt = session.assemble()
            >>> _ = session.add_response(memspan.testing.anthropic_response("so it is", input_tokens=750), prompt=prompt)
            >>> list(engine.token_factors), engine.token_factors["claude-sonnet-4-5"].exceeded
            (['claude-sonnet-4-5'], 0)
            >>> engine.token_factors.reset("claude-sonnet-4-5")
            True
        """
        return TokenFactors(self._core)

    def check(self) -> CheckReport:
        """Reads the whole store: every value against its checksum, a scope's index, vectors, slots and counters against its records.

        Repairs nothing: what is damaged comes back from a backup. Cost: the whole store, under one read transaction; writers go on. A
        damaged page of LMDB's own can end the process; `memspan check` does the same in a process of its own.

        Examples:
            >>> _ = user.remember("Prefers tea")
            >>> engine.check().sound
            True
        """
        counted, findings = self._core.check()
        return CheckReport(**counted, findings=tuple(findings))

    def close(self) -> None:
        """Stores buffered recalls and closes the store, unless another engine of this process uses it. A second time does nothing."""
        self._core.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"Engine({str(self.path)!r}{', closed' if self.closed else ''})"

    ausers = async_iterable(users)
    ascopes = async_iterable(scopes)
    aremember_many = awaitable(remember_many)
    abackup = awaitable(backup)
    arekey = awaitable(rekey)
    aexport = awaitable(export)
    aload = awaitable(load)
    amaintain = awaitable(maintain)
    areembed = awaitable(reembed)
    ametrics = awaitable(metrics)
    acheck = awaitable(check)
    aclose = awaitable(close)


def open(  # noqa: A001  `memspan.open` reads like what it does
    path: str | os.PathLike[str],
    *,
    embedder: Embedder | Literal["default"] | None = "default",
    durability: Literal["full", "relaxed"] = "full",
    clock: Callable[[], datetime] | None = None,
    read_only: bool = False,
    key: Key | None = None,
    busy_timeout_seconds: float = Limits.DEFAULT_BUSY_TIMEOUT_SECONDS,
    embed_timeout_seconds: float | None = None,
    on_event: Callable[[Event], object] | None = None,
    graph: GraphOptions | None = None,
    policy: Policy | None = None,
    kinds: Mapping[str, KindRule] | None = None,
    llm: LanguageModel | None = None,
) -> Engine:
    """Opens a store, or makes one. Any number of processes may have it open; within one, engines on the same path share it.

    Args:
        path: A folder, on a file system of this machine.
        embedder: Makes vectors. "default" is `memspan.embedding.BuiltIn`, which works inside the engine, unless the store has met another
            embedder: it is then opened without one, and the log says so, because the vectors that are there would otherwise be given up.
            `None`: recall goes by words alone.
        durability: "full": what a write acknowledged is on disk. "relaxed": a power cut may undo the last commit; the death of the process
            loses nothing.
        clock: Returns the time now, as an aware `datetime`; the system's clock by default.
        read_only: Refuse every write, and make no store.
        key: Encrypts every value of the store: 32 bytes that whoever opens it must give, or a function that returns them, as a client of a
            key service is. A new store is encrypted if there is one; `Engine.rekey` changes it. Nobody can read the store without it.
        busy_timeout_seconds: How long a write may wait for other writers, 0 to 86,400.
        embed_timeout_seconds: How long a call of the embedder may take; what takes longer has failed. `None` waits for ever.
        on_event: Called with an `Event` when a recall is degraded, a memory stays without a vector, a session reaches 70 % or 85 % of its
            model's window, or a provider's usage cannot be: on the thread of the call, when that is done. Its exceptions are logged.
        policy: What is never stored and what waits for approval; by default a `Policy()`, which refuses texts with secrets.
        kinds: How long memories of a kind live, for instance `{"episodic": KindRule(ttl_days=90)}`.
        llm: What `Scope.learn` and `Scope.consolidate` may ask where they are given no other: called with messages and `max_tokens`, it
            returns the reply's text. `None`: rules alone.
        graph: From where on and how a scope's vectors get a graph; the defaults of `GraphOptions` where it is `None`.

    Raises:
        InvalidInput: An option breaks one of these rules.
        NotFound: `read_only=True`, and there is no store.
        StoreCorrupt: The path is something else than a store, or a damaged one.
        StoreVersion: The store was written by a newer memspan.
        WrongKey: The key is not the store's, or is missing; or the store is not encrypted.
        StoreNotShareable: Its locks cannot be shared from here: a network file system, another container.

    Examples:
        >>> with memspan.open("assistant.memspan") as opened:
        ...     opened.user("u-42").remember("Prefers tea").action
        'added'
    """
    _check_rules(policy, kinds, llm)
    folder = _folder("opening a store", path)
    reporter = Reporter(on_event)
    by_default = isinstance(embedder, str) and embedder == "default"
    embedding = None if embedder is None or by_default else Embedding(embedder, embed_timeout_seconds)
    policy = Policy() if policy is None else policy
    core = _core.EngineCore(
        folder,
        {
            "durability": durability,
            "read_only": read_only,
            "busy_timeout_seconds": busy_timeout_seconds,
            "clock": clock,
            "embedding": embedding,
            "by_default": by_default,
            "graph": graph,
            "policy": policy,
            "kinds": None if kinds is None else dict(kinds),
            "key": key_bytes("opening a store", key),
        },
    )
    if by_default and core.space is None:
        note_unused(folder, core.embeddings())
    return Engine(OpenStore(core, None if type(embedder) is BuiltIn else embedding, reporter, policy, llm), embed_timeout_seconds, clock)


aopen = awaitable(open)
open, aopen = guarded(open), guarded(aopen)  # noqa: A001


def _check_rules(policy: object, kinds: object, llm: object) -> None:
    if not (policy is None or isinstance(policy, Policy)):
        raise InvalidInput(f"opening a store: policy must be a memspan.Policy, and it is a {type(policy).__name__}: pass a Policy")
    if kinds is not None and not (is_mapping(kinds) and all(isinstance(rule, KindRule) for rule in kinds.values())):
        raise InvalidInput(
            'opening a store: kinds must map kinds to memspan.KindRule, as in kinds={"episodic": KindRule(cap=100)}: change it'
        )
    if llm is not None and not callable(llm):
        raise InvalidInput(
            f"opening a store: llm must be a function of messages and max_tokens that returns a str, and it is a {type(llm).__name__}: "
            "wrap the client's call in one"
        )


def _folder(doing: str, path: object) -> Path:
    if isinstance(path, str | os.PathLike):
        text = os.fspath(path)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(text, str):
            _check_path(doing, text)
            from pathlib import Path  # noqa: PLC0415  what `open` needs is not paid for at import

            return Path(text)
    kind = type(path).__name__  # pyright: ignore[reportUnknownArgumentType]
    raise InvalidInput(
        f"{doing}: the path must be that of a folder on this machine, a str or a pathlib.Path, and it is {kind}: pass one of them"
    )


def _check_path(doing: str, text: str) -> None:
    """Refuses what other databases take for a store and would be a folder of an odd name here."""
    if text.strip().casefold() in _NO_FILE:
        raise InvalidInput(
            f"{doing}: a store is a folder on this machine, and {text!r} names none: nothing is kept in memory alone; pass a path, or "
            "use memspan.testing.temporary_engine(), whose folder is deleted at its end",
            path=text,
        )
    if "://" in text or "\0" in text or text.startswith("file:"):
        raise InvalidInput(
            f"{doing}: the path must be that of a folder on this machine, and {text!r} is a URL: URLs are not available in this version, "
            "pass a path",
            path=text,
        )


def _index(failed: tuple[int, str | None, Error]) -> int:
    return failed[0]
