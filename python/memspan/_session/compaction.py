"""Summaries of a session that is too long for its model, notes that every prompt shows, and switches of models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from memspan import _core
from memspan._fence import is_whole, kind_of
from memspan._flags import check_kinds
from memspan._session.part import SessionPart
from memspan._twins import awaitable
from memspan.compaction.flush import check_flush, flush
from memspan.compaction.values import Brief, Compaction, Identifiers, ModelSwitch, Summary, summary_of
from memspan.compaction.writing import Written, check_writer, write
from memspan.exceptions import BudgetExceeded, InvalidInput
from memspan.versions import Version, text_of, tools_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memspan import _records
    from memspan.compaction.flush import Flush
    from memspan.compaction.writing import Writer
    from memspan.model import Model


class Compacting(SessionPart):
    """Old turns become a summary, and the session moves to another model."""

    __slots__ = ()

    @property
    def summary(self) -> Summary | None:
        """The summary that prompts show for compacted messages; `None` where none were compacted."""
        found = self._core.summary()
        return None if found is None else summary_of(found, self.model)

    @property
    def compaction_due(self) -> Literal["threshold", "turns", "task_end", "session_end"] | None:
        """Why the session should be compacted now, by its `Budget.compact`; `None` where it need not be. A pure read.

        Without a `Budget.compact`, which is the default, only a session that ended is due.
        "threshold": its prompts are as full as `Compact.at` says, or its summary leaves the newest message no room. "turns": as many turns
        went by as `Compact.every_turns` says. "task_end": a task ended since. "session_end": the session ended and was not compacted whole.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o", budget=memspan.Budget(compact=memspan.Compact(every_turns=5)))
            >>> _ = session.add_many([{"role": "user", "content": f"question {n}"} for n in range(6)])
            >>> session.compaction_due, session.compact().covers, session.compaction_due
            ('turns', range(0, 3), None)
        """
        return self._core.compaction_due()

    def compact(
        self,
        *,
        llm: Writer | None = None,
        keep_exchanges: int | None = None,
        max_tokens: int | None = None,
        learn: Flush = None,
        timeout_seconds: float | None = None,
    ) -> Compaction:
        """Replaces old turns by a summary in the prompts to come. The transcript stays as it is, and is searched as before.

        A newest turn that is too large by itself is compacted in part: its first tool rounds leave, and its user message stays.

        A snapshot is read, `learn` and `llm` are called outside of any transaction, and one epoch is committed. Messages that are added
        meanwhile stay behind the boundary, the beginning of a turn or of a round. Without `llm` the summary is made by rules and is
        deterministic. A model's lines are checked against the messages, and where it fails only the rules count. The cost is that of the
        messages since the last compaction, not of the history.

        Args:
            llm: Writes the summary: a function `(messages, *, max_tokens) -> str`, synchronous or not.
            keep_exchanges: Newest exchanges that stay whole; 0 leaves none but one that waits for its answer. By default at most 3, and no
                more than fit half of the prompt's limit, or half of `Compact.at`: of a larger newest one its user message and as many of
                its newest rounds. A session that ended is compacted whole.
            max_tokens: The most that the summary may have; by default an eighth of a prompt's limit, 200 to 2,000. It gets less where the
                newest message needs the room.
            learn: Flushes facts that should outlive the session to memory before its messages leave. `True` calls `Scope.learn`,
                which learns nothing twice. `None` does so where the policy says `learn="compaction"`.
                A function of the messages, as (index, role, text), returns memories
                as `Scope.remember_many` takes them, or nothing; without an id they get one of the session and their text. Its exceptions
                are raised, and then nothing is compacted.
            timeout_seconds: For each call of `llm`; 120 by default.

        Returns:
            The report. Where no turn is old enough nothing is written, and `covers` is empty. The same holds where a newest message that
            fits now leaves a summary less than a quarter of its tokens: old turns wait for a later compaction. Where a message that came
            since does not fit beside the summary, or the summary was made for a larger model, the summary becomes smaller.

        Raises:
            SessionMoved: The session was compacted, rewound, redacted or moved to another model meanwhile. Nothing was changed.
            BudgetExceeded: `max_tokens` is more than half of a prompt's limit, or a message that came meanwhile leaves a summary no room.
                Nothing was changed.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": f"Build {n} runs on host-{n}."} for n in range(8)])
            >>> compaction = session.compact()
            >>> compaction.covers, compaction.identifiers.left_out, "host-4" in session.summary.text
            (range(0, 5), 0, True)
        """
        check_writer(llm, timeout_seconds)
        check_flush(learn)
        draft = self._core.draft(keep_exchanges, max_tokens)
        if draft is None:
            tokens = self._core.fill().tokens
            return Compaction(self.summary, range(0), tokens, tokens, Identifiers(0, 0))
        learned = flush(self._session, draft, learn, policy=self._store.policy.learn)
        written = write(draft, llm, timeout_seconds)
        committed = self._core.commit(draft, written)
        made = draft.make()
        before, after, epoch = committed.tokens_before, committed.tokens_after, committed.epoch
        counts, summary = Identifiers(made.identifiers, made.kept, made.restored), summary_of(made.summary, self.model)
        return Compaction(
            summary, range(*draft.covers), before, after, counts, written.refused, written.reported, learned, epoch, written.prompt
        )

    def brief(self, task: str, *, max_tokens: int = 1_500, llm: Writer | None = None, timeout_seconds: float | None = None) -> Brief:
        """A brief for another agent that is to take over a task: state, decisions, identifiers, constraints, open questions.

        Made of the newest summary and all messages since, with the same checks as `compact`: what shares rare words with the task comes
        first. Notes, task state and the scope's constraints stand among the constraints, in up to half of the brief. A pure read.

        Args:
            task: The other agent's task.
            max_tokens: The most that the brief may have, the task included.
            llm: As for `compact`.
            timeout_seconds: As for `compact`.

        Raises:
            BudgetExceeded: The task alone has more than half of `max_tokens`.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add({"role": "user", "content": "Agreed: deploy.sh must run on host-7 before Friday."})
            >>> print(session.brief("review the deploy script").text)
            ## Task
            - review the deploy script
            ## Constraints & Requirements
            - Agreed: deploy.sh must run on host-7 before Friday.
        """
        check_kinds("making a brief", "a str", "pass a str", str, task=task)
        if not is_whole(max_tokens):
            raise InvalidInput(
                f"making a brief: max_tokens must be an int, and it is of type {kind_of(max_tokens)} (max_tokens=): pass an int"
            )
        check_writer(llm, timeout_seconds)
        model = self.model
        head = f"## Task\n- {' '.join(task.split())}\n"
        room = max_tokens - _core.count_tokens(head, model, None)
        if room < max_tokens / 2:
            raise BudgetExceeded(
                f"making a brief of session {self.id!r}: its task must leave half of max_tokens={max_tokens:,}, and it leaves {room:,}: "
                "shorten the task or raise max_tokens",
                limit_tokens=max_tokens,
            )
        draft = self._core.brief_draft(task, room)
        written = write(draft, llm, timeout_seconds)
        summary = summary_of(draft.make().summary, model)
        text = f"{head}{summary.text}".rstrip()
        return Brief(task, text, _core.count_tokens(text, model, None), summary, written.reported, written.refused)

    def note(self, text: str) -> int:
        """Adds a note that every prompt of this session shows, whatever leaves its window. It is deleted with the session.

        Where tool rounds of a turn go on, it is shown from the next turn on.

        Returns:
            Its number, for `remove_note`. A note that is there already is not added twice.

        Raises:
            InvalidInput: It is empty or has more than 16 KiB, or the session has 64 notes.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> session.note("The user is on a train: keep answers short."), session.notes
            (1, ((1, 'The user is on a train: keep answers short.'),))
        """
        return self._core.add_note(text)

    @property
    def notes(self) -> tuple[tuple[int, str], ...]:
        """Its notes with their numbers, in the order they were made."""
        return tuple(self._core.notes())

    def remove_note(self, number: int) -> bool:
        """Takes a note out; whether there was one of that number."""
        return self._core.remove_note(number)

    def plan_switch(self, model: str | Model) -> ModelSwitch:
        """The effect that `switch_model` would have without an `llm`. A pure read, exact to the token.

        Raises:
            UnknownModel: The model is not in the registry.
            BudgetExceeded: The system prompt, the tools and the newest message do not fit its window.
        """
        plan, draft = self._planned(model)
        return _switched(plan, draft, Written())

    def switch_model(
        self,
        model: str | Model,
        *,
        llm: Writer | None = None,
        system: str | Version | None = None,
        tools: Iterable[Any] | Version | None = None,
        timeout_seconds: float | None = None,
    ) -> ModelSwitch:
        """Moves the session to another model. Turns that do not fit are compacted, the rest recounted, under a new budget, in a new epoch.

        Messages that leave the prompt stay in the transcript, and `Scope.search_transcripts` still finds them. Summary and switch are one
        transaction.

        Args:
            model: Its name in `memspan.models`, or a `Model`.
            llm: Writes the summary of what does not fit; without it the rules do.
            system: Another system prompt, or one of `versions`; `None` keeps the one it has.
            tools: Other tools, or a version of them.
            timeout_seconds: For each call of `llm`; 120 by default.

        Raises:
            UnknownModel: The model is not in the registry.
            BudgetExceeded: The system prompt, the tools and the newest message do not fit its window. Nothing was written.
            SessionMoved: The session was compacted, rewound, redacted or switched meanwhile. Nothing was written.

        Examples:
            >>> session = user.session("s-1", model="gpt-4o")
            >>> _ = session.add_many([{"role": "user", "content": f"question {n} " * 100} for n in range(100)])
            >>> switch = session.switch_model("gpt-4")
            >>> switch.max_input_tokens, switch.kept_messages + switch.left_out_messages, session.model, switch.summary is not None
            (4096, 100, 'gpt-4', True)
        """
        check_writer(llm, timeout_seconds)
        system, tools = text_of(system), tools_of(tools)
        # Whether other instructions fit is known once they are there.
        draft = self._core.switch_draft(model) if system is not None or tools is not None else self._planned(model)[1]
        if draft is not None:
            flush(self._session, draft, None, policy=self._store.policy.learn)
        written = Written() if draft is None else write(draft, llm, timeout_seconds)
        return _switched(self._core.switch_model(model, system, tools, draft, written), draft, written)

    def _planned(self, model: str | Model) -> tuple[_records.PlannedSwitch, _core.CompactionDraft | None]:
        """The plan of a switch, and the draft of its summary; none where only the summary does not fit."""
        draft = self._core.switch_draft(model)
        try:
            return self._core.plan_switch(model, draft), draft
        except BudgetExceeded:
            if draft is None:
                raise
            return self._core.plan_switch(model, None), None

    acompact = awaitable(compact, waits=True)
    abrief = awaitable(brief, waits=True)
    anote = awaitable(note)
    aremove_note = awaitable(remove_note)
    aplan_switch = awaitable(plan_switch)
    aswitch_model = awaitable(switch_model, waits=True)


def _switched(plan: _records.PlannedSwitch, draft: _core.CompactionDraft | None, written: Written) -> ModelSwitch:
    summary = None if draft is None else summary_of(draft.make().summary, plan.to_model)
    return ModelSwitch(**vars(plan), summary=summary, refused=written.refused, checked=written.reported)
