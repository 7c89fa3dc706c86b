"""The engine: one open store, and the operations on all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from memspan import _core
from memspan._copies import of_engine
from memspan._core import Limits
from memspan._embedding import Embedding, Reporter, check_timeout, note_unused
from memspan._engine.copies import Copies
from memspan._engine.paths import local_path
from memspan._engine.upkeep import Upkeep
from memspan._fence import fenced, guarded, is_mapping, kind_of
from memspan._flags import check_flags, shown
from memspan._store import OpenStore
from memspan._twins import async_iterable, awaitable
from memspan.embedding import BuiltIn
from memspan.encryption import key_bytes
from memspan.exceptions import InvalidInput
from memspan.graph import GraphOptions
from memspan.life import KindRule, Policy
from memspan.long_term import Scope
from memspan.reports import BuildInfo, CheckReport, ImportReport, MaintenanceReport, ReembedReport
from memspan.usage import TokenFactors

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime
    from types import TracebackType

    from memspan.embedding import Embedder, Event
    from memspan.encryption import Key
    from memspan.exceptions import Error
    from memspan.life import LanguageModel
    from memspan.long_term import NewMemory

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


def build_info() -> BuildInfo:
    """The build, and the machine it runs on: for reports of errors and of measurements."""
    return _core.build_info()


@of_engine("open the store by its path there")
@fenced
class Engine(Copies, Upkeep):
    """One open store. Made by `memspan.open`; closed by `close` or at the end of a `with` block.

    All methods may be called from any thread, and from both sides of a fork.
    """

    __slots__ = ()

    def user(self, user_id: str, *, tenant: str | None = None) -> Scope:
        """The memory of a user. Reads and writes nothing.

        Args:
            user_id: 1 to 1,024 bytes of UTF-8.
            tenant: The same. "u-42" of one tenant, of another, and without a tenant are three users.

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
        again with the same ids: rows that were written are duplicates.

        Args:
            rows: `NewMemory` objects, or mappings with the arguments of `Scope.remember` and the key "scope".
            on_error: "raise" stops at the first row that cannot be written, whose transaction is undone; the error's attribute `row` is its
                index. "skip" goes on, and the report has the error. A row that the policy refuses, or whose id belongs to a memory that was
                forgotten or has expired, is not an error: with either, the report names it in `refused`, and the other rows are written.

        Raises:
            Error: Of the first row that cannot be written, or of the store.

        Examples:
            >>> rows = [{"scope": engine.user(f"u-{n}"), "text": "Prefers tea", "id": "tea"} for n in range(3)]
            >>> engine.remember_many(rows).added, engine.remember_many(rows).duplicates
            (3, 3)
        """
        if on_error not in ("raise", "skip"):  # a tuple: what was given may have no hash
            raise InvalidInput(
                f"remembering rows: on_error is 'raise' or 'skip', and it is {shown(on_error)}: choose one", on_error=shown(on_error)
            )
        actions = {"added": 0, "superseded": 0, "duplicate": 0, "rejected": 0, "redacted": 0, "quarantined": 0}
        errors: list[tuple[int, str | None, Error]] = []
        refused: list[tuple[int, str | None, str]] = []
        total = chunks = 0
        for failed, outcomes, transactions in self._store.import_rows(rows, scope=None, skip=on_error == "skip"):
            errors.extend(failed)
            total += len(failed) + len(outcomes)
            chunks += transactions
            for index, row_id, outcome in outcomes:
                actions[outcome.action] += 1
                if outcome.action == "rejected":
                    refused.append((index, row_id, outcome.reason or ""))
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
            tuple(refused),
        )

    @property
    def token_factors(self) -> TokenFactors:
        """The factors learned for closed tokenizers, by the name of the model; `token_factors.reset(model)` forgets them.

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

    def close(self) -> None:
        """Stores buffered recalls and closes the store, unless another engine of this process uses it. A second time does nothing.

        A thread that `maintenance` began ends behind what it is at.

        Where the store's folder was removed or replaced meanwhile, the buffered recalls are lost without an error.
        """
        try:
            self._core.close()
        finally:
            if self.closed:
                for stop in list(self._store.maintaining):
                    stop.open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.aclose()

    ausers = async_iterable(users)
    ascopes = async_iterable(scopes)
    aremember_many = awaitable(remember_many, waits=True)
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
        durability: "full": an acknowledged write is on disk. "relaxed": a commit does not wait for the disk, and the next one waits for
            it. A power cut may undo the last commit, and the death of the process loses nothing.
        clock: Returns the time now, as an aware `datetime` of 1970 or later; the system's clock by default.
        read_only: Refuse every write, and make no store. A reader has a lock all the same, which it writes beside the data: it needs the
            right to. On a read-only mount it does without, and keeps writers out for as long as it has the store open. It is refused there
            while a process has the store open by another mount, and writes of later ones wait for it, and end with `StoreBusy`.
        key: Encrypts every value of the store: 32 bytes that every caller of `open` must give, or a function that returns them, such as a
            client of a key service. A new store is encrypted if there is one. `Engine.rekey` changes it. Without it nothing is readable.
        busy_timeout_seconds: How long a write may wait for other writers, 0 to 86,400.
        embed_timeout_seconds: How long a call of the embedder may take. A longer one has failed. `None` waits for ever.
        on_event: Called with an `Event` when a recall is degraded, a memory stays without a vector, a session reaches 70 % or 85 % of its
            model's window, or a provider's usage contradicts itself. It is called synchronously, on the call's thread, after it: an
            `async def` function is refused. Its exceptions are logged.
        policy: Says what is never stored and what waits for approval; by default a `Policy()`, which refuses texts with secrets.
        kinds: How long memories of a kind live, as in `{"episodic": KindRule(ttl_days=90)}`.
        llm: The model that `Scope.learn` and `Scope.consolidate` ask by default. Called with messages and `max_tokens`, it
            returns the reply's text, synchronous or not. `None`: rules alone.
        graph: From where on and how a scope's vectors get a graph; the defaults of `GraphOptions` where it is `None`.

    Raises:
        InvalidInput: An option breaks one of these rules.
        NotFound: `read_only=True`, and there is no store.
        ReadOnly: This process may not write to the store's folder, or not to its files. `read_only=True` needs that for a reader's lock.
        StoreCorrupt: The folder holds something other than a store, or a damaged one.
        StoreVersion: The store was written by a newer memspan.
        WrongKey: The key is not the store's, or is missing; or the store is not encrypted.
        StoreNotShareable: Its locks cannot be shared from here: a network file system, another container, a read-only mount of a store
            that another process has open.

    Examples:
        >>> with memspan.open("assistant.memspan") as opened:
        ...     opened.user("u-42").remember("Prefers tea").action
        'added'
    """
    _check_rules(policy, kinds, llm, graph)
    if not (clock is None or callable(clock)):
        raise InvalidInput(f"opening a store: clock is a function, or None, and it is of type {kind_of(clock)}: pass one")
    check_flags("opening a store", read_only=read_only)
    check_timeout(embed_timeout_seconds)
    folder = local_path("opening a store", path)
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


def _check_rules(policy: object, kinds: object, llm: object, graph: object) -> None:
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
    if not (graph is None or isinstance(graph, GraphOptions)):
        raise InvalidInput(f"opening a store: graph must be a memspan.GraphOptions, and it is a {type(graph).__name__}: pass GraphOptions")


def _index(failed: tuple[int, str | None, Error]) -> int:
    return failed[0]
