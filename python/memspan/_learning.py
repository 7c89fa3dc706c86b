"""Learning from a conversation: reads what is new, has it judged, asks a model where one is given, stores it in one transaction a page."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING, Any, cast, get_args

from memspan import _core, _records
from memspan._borne_out import borne_out
from memspan._fence import is_mapping, kind_of
from memspan._flags import shown
from memspan._kept import Role
from memspan._refining import Asked, refined
from memspan._results import short
from memspan._values import dataclass, field
from memspan.exceptions import InvalidInput, StateError
from memspan.life import Decision, Learned

if TYPE_CHECKING:
    from memspan._store import OpenStore
    from memspan.life import LanguageModel, Policy
    from memspan.long_term import Scope
    from memspan.short_term import Session

PAGE = 500
"""Messages of one transaction: most sessions are learnt from in one, and other writers wait for none of them for long."""

BEFORE = 6
"""Messages that are read along for what they ask."""


class Heard:
    """A message on its way to the gate. There are thousands of them in a call, so it is a plain class."""

    __slots__ = ("at", "by", "id", "index", "role", "text")

    def __init__(
        self,
        index: int,
        role: str,
        text: str,
        at: datetime | None,
        id: str | None = None,  # noqa: A002  as messages call it
        *,
        by: str | None = None,
    ) -> None:
        self.index, self.role, self.text, self.at, self.id, self.by = index, role, text, at, id, by


@dataclass()
class Work:
    """One call of `Scope.learn`."""

    scope: Scope
    core: _core.ScopeCore
    store: OpenStore
    llm: LanguageModel | None
    timeout_seconds: float
    dry_run: bool
    zone: tzinfo | None = None
    asked: Asked = field(default_factory=Asked)

    @property
    def policy(self) -> Policy:
        return self.store.policy

    @property
    def discards_doubt(self) -> bool:
        return self.policy.unconfirmed == "discard"


def learn(work: Work, source: Session | Iterable[Mapping[str, Any]]) -> Learned:
    """Learns from a session what is new in it, or from messages."""
    from memspan.short_term import Session  # noqa: PLC0415  which knows scopes, and they this

    if isinstance(source, Session):
        decisions, read = _from_session(work, source)
    elif isinstance(source, str | bytes | Mapping) or not isinstance(source, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"learning: it takes a session or several messages, and this is one {kind_of(source)}: put it into a list")  # pyright: ignore[reportUnknownArgumentType]  it asks for its type alone
    else:
        heard = [_given(index, message) for index, message in enumerate(source)]
        decisions, read = list[Decision](), len(heard)
        pages = [(heard[max(0, begin - BEFORE) : begin + PAGE], min(begin, BEFORE)) for begin in range(0, len(heard), PAGE)]
        # All are judged first: a scope that is erased while a model refines one of them learns none of those behind it.
        read_as = [(page, first, _local(work, work.core.judge(page, first, work.discards_doubt))) for page, first in pages]
        for page, first, by_rules in read_as:
            judged = _refined(work, first, by_rules)
            ids = [
                _identity(None if page[one.place].id is None else f"message\0{page[one.place].id}", one.begin) for one in judged.wanted()
            ]
            decisions.extend(_stored(work, judged, ids, None, None) or ())
    asked = work.asked
    return Learned(tuple(decisions), read, asked.calls, asked.failed, asked.tokens, asked.refused)


def _from_session(work: Work, session: Session) -> tuple[list[Decision], int]:
    if session.scope != work.scope:
        raise InvalidInput(f"learning: the session belongs to {session.scope!r}, and this is {work.scope!r}: call learn() of that scope")
    decisions: list[Decision] = []
    read = 0
    planned: int | None = None
    for _ in range(1_000_000):
        state = work.core.learn_mark(session.id)
        first = state.first if planned is None else planned
        end = min(state.now.next, first + PAGE)
        if first >= end:
            return decisions, read
        begin = max(0, first - BEFORE)
        judged = _local(work, work.core.judge_session(session.id, begin, end, first - begin, work.discards_doubt))
        judged = _refined(work, first - begin, _unrepeated(work, session.id, judged))
        ids = [_identity(_said_in(session.id, one), one.begin) for one in judged.wanted()]
        mark = _records.LearnedFrom(session.id, state.before, _records.Mark(end, state.now.edits, state.now.created_at))
        done = _stored(work, judged, ids, session.id, None if work.dry_run else mark)
        if done is None:
            continue  # somebody learnt from it or took something back meanwhile: what is left is read now
        decisions, read, planned = decisions + done, read + end - first, end if work.dry_run else None
    raise StateError("learning: the session is being learnt from by others all the time: try again later")


def _local(work: Work, judged: _core.Judged) -> _core.Judged:
    """The same with days as the clocks of the zone show them. Without a zone they are those of UTC."""
    zone = work.zone
    return judged if zone is None else judged.by_clocks([_shown(at, zone) for at in judged.times()])


def _shown(at: datetime, zone: tzinfo) -> datetime:
    """The time that a clock of a zone showed then, as if that were UTC; at the ends of the calendar, the time that one of UTC showed."""
    try:
        return at.astimezone(zone).replace(tzinfo=UTC)
    except OverflowError:
        return at


def _refined(work: Work, first: int, judged: _core.Judged) -> _core.Judged:
    return judged if work.llm is None else refined(work, first, judged)


def _stored(
    work: Work, judged: _core.Judged, ids: list[str | None], session: str | None, mark: _records.LearnedFrom | None
) -> list[Decision] | None:
    """The result of a page; `None` where its session was learnt from or changed meanwhile, and nothing was stored."""
    if work.dry_run:
        return judged.decisions()
    found = [work.store.found_in(text) for text in judged.wanted_texts()] if work.policy.detectors else []
    drafts = work.core.drafts(judged, ids, session, found)
    if mark is None and not drafts:
        return judged.decisions()
    return work.core.learn(judged, drafts, mark, work.store.vectors_of(drafts, work.scope))


def _unrepeated(work: Work, session_id: str, judged: _core.Judged) -> _core.Judged:
    """The same without what an assistant repeats of its prompt: memory must not feed on itself."""
    spoken = judged.of_assistant()
    if not spoken:
        return judged
    decisions = judged.decisions()
    turns = work.core.shown_texts(session_id, decisions[spoken[0]].index, decisions[spoken[-1]].index + 1)

    def repeats(one: Decision) -> bool:
        texts = next((texts for start, texts in turns if start <= one.index), list[str]())
        said = _DAYS.sub("", one.text)
        return any(borne_out(said, text) for text in texts)

    return judged.without([at for at in spoken if repeats(decisions[at])], "it repeats what the prompt showed")


def _said_in(session_id: str, one: _records.Wanted) -> str:
    """The name of a message. A fork's copy has that of the message it was copied from: what was forgotten of one stays forgotten."""
    return f"{one.origin or session_id}\0{one.index}\0{cast('datetime', one.added_at).isoformat()}"


def _identity(key: str | None, begin: int) -> str | None:
    return None if key is None else "learned-" + hashlib.blake2s(f"{key}\0{begin}".encode(), digest_size=12).hexdigest()


# A day that learning puts behind its words, "on Monday (2025-05-05)": no speaker has said it.
_DAYS = re.compile(r" \((?:week of )?\d{4}-\d\d[-\d]*(?: [a-z]+ [-\d]+)?\)")
_ROLES: tuple[str, ...] = get_args(Role)
_WITHOUT_CONTENT = ("tool_calls", "function_call", "refusal", "audio")
"""What a message may have in the place of a content: an assistant's, as OpenAI's API gives it."""


def _given(index: int, message: Mapping[str, Any]) -> Heard:
    if not is_mapping(message) or not isinstance(message.get("role"), str):
        raise InvalidInput(f"learning: message {index} is a mapping with a role and a content, and it is {shown(message)}: correct it")
    if message["role"] not in _ROLES:
        raise InvalidInput(
            f'learning: "role" of message {index} must be one of {", ".join(_ROLES)}, and it is {short(message["role"])}: correct it',
            index=index,
        )
    content = message.get("content")
    if not (content is None or isinstance(content, Iterable)):
        raise InvalidInput(
            f"learning: the content of message {index} is a text or a list of parts, and it is of type {kind_of(content)}: make it text",
            index=index,
        )
    if content is None and not any(message.get(key) for key in _WITHOUT_CONTENT):
        raise InvalidInput(
            f'learning: message {index} has a content, and it has none, only {sorted(map(str, message))}: pass "content" '
            '(for an assistant "tool_calls" will do)',
            index=index,
        )
    named, said = message.get("id"), message.get("created_at")
    if not (said is None or isinstance(said, datetime)):
        raise InvalidInput(
            f"learning: created_at of message {index} is a datetime.datetime, and it is of type {kind_of(said)}: make one, "
            "datetime.fromisoformat(text) for instance",
            index=index,
        )
    return Heard(
        index,
        message["role"],
        _spoken(message.get("content")),
        said,
        named if isinstance(named, str) else None,
        by=by if isinstance(by := message.get("name"), str) and by else None,
    )


def _spoken(content: object) -> str:
    """The words that somebody said, without calls of tools and their results."""
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return ""
    parts = [cast("Mapping[str, Any]", part) for part in cast("Iterable[object]", content) if isinstance(part, Mapping)]
    spoken = (part for part in parts if part.get("type") in ("text", "input_text", "output_text"))  # a tuple: a type may have no hash
    return "\n".join(str(part.get("text", "")) for part in spoken)


__all__ = ["Heard", "Work", "learn"]
