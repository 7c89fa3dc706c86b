"""Another prompt for one that does not do: a provider counted more than its limit, refused it, or could not answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from memspan._flags import shown
from memspan.embedding import Event
from memspan.exceptions import BudgetExceeded, Error, InvalidInput
from memspan.refusals import Refusal, is_answer
from memspan.working import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from memspan import _core
    from memspan._store import OpenStore
    from memspan.compaction.values import Compaction
    from memspan.model import Model
    from memspan.short_term import Session

__all__ = ["count_by", "recover"]

_MOST_COUNTS = 4
_MAX_REASON = 500
_ELSEWHERE = frozenset({"overloaded", "rate_limited", "outage"})
_CURES = {
    "auth": "the provider refuses the key, its rights or the account: correct them, because no other prompt helps",
    "bad_request": "the provider refuses the request itself: its message says what to change",
    "overloaded": "the provider has no room now, and no other model is left: try again later, or name more models (models=)",
    "rate_limited": "the provider's rate limit is reached, and no other model is left: wait, or name more models (models=)",
    "outage": "the provider does not answer, and no other model is left: try again later, or name more models (models=)",
    "": "memspan.Refusal does not know this error: handle it, or assemble again with another max_input_tokens=",
}
_OF_A_CALL = frozenset({"max_tokens", "max_completion_tokens", "stream", "stream_options"})


def count_by(
    count: Callable[[dict[str, Any]], int], prompt: Prompt, session: Session, session_core: _core.SessionCore, store: OpenStore
) -> Prompt:
    """The prompt with the count that a provider's endpoint gives it; a smaller one where that is above the limit."""
    for _ in range(_MOST_COUNTS):
        core = prompt._core  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  its core is the engine's
        try:
            request = {name: value for name, value in prompt.render().items() if name not in _OF_A_CALL}
            tokens = count(request)
            counted = core.costing(tokens)
        except Exception as error:  # noqa: BLE001  whatever a client raises: the prompt is good without it
            reason = f"counting a prompt: count= failed, {type(error).__name__}: {_words(error)[:_MAX_REASON]}"
            store.reporter.report(Event("count", reason, session.scope, session=session.id))
            return prompt
        if tokens > prompt.max_input_tokens:
            prompt = Prompt(session_core.refused(core, tokens, prompt.max_input_tokens, None))
            continue
        try:
            session_core.learn_cost(core, tokens)
        except Error as error:  # the session went on, or nobody may write: the count is right all the same
            store.reporter.report(Event("count", f"learning a count: {error}", session.scope, session=session.id))
        return Prompt(counted)
    raise BudgetExceeded(
        f"assembling a prompt of session {session.id!r}: count= must settle below {prompt.max_input_tokens:,} tokens, and it said more of "
        f"{_MOST_COUNTS} prompts, each smaller than the one before: see whether it counts the request that it is given",
        limit_tokens=prompt.max_input_tokens,
    )


def recover(
    core: _core.SessionCore,
    session: Session,
    store: OpenStore,
    prompt: Prompt,
    error: BaseException | str | Mapping[str, Any],
    *,
    models: Iterable[str | Model],
    compact: Callable[[Session], Compaction] | None,
) -> Prompt:
    """The result of `Session.recover`."""
    if not isinstance(prompt, Prompt):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"recovering: prompt is what assemble() returned, got a {type(prompt).__name__}: pass the Prompt itself")
    if isinstance(models, str) or not isinstance(models, Iterable):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"recovering: models are several, and this is one {type(models).__name__}: put it into a list")
    refusal = Refusal.of(error)
    if refusal is not None and refusal.kind == "too_long":
        numbers = (refusal.input_tokens, refusal.limit_tokens, refusal.output_tokens)
        smaller = Prompt(core.refused(prompt._core, *numbers))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  its core is the engine's
        return smaller if compact is None or refusal.shrink == "reply" else _compacted(core, session, store, smaller, compact)
    if refusal is not None and refusal.kind in _ELSEWHERE:
        for following in _models_after(prompt.model, tuple(models)):
            if session.model == prompt.model:
                try:
                    session.switch_model(following)
                except BudgetExceeded:  # its window is too small for what the session must show
                    continue
            return Prompt(core.again(prompt._core))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
    raise _unrecovered(error, refusal)


def _compacted(
    core: _core.SessionCore, session: Session, store: OpenStore, smaller: Prompt, compact: Callable[[Session], Compaction]
) -> Prompt:
    """A smaller prompt with a summary of what it leaves out; the smaller one itself where there is nothing to sum up."""
    try:
        epoch = compact(session).epoch
    except Exception as error:  # noqa: BLE001  whatever a compactor raises: the smaller prompt is good without it
        reason = f"recovering: compact= failed, {type(error).__name__}: {_words(error)[:_MAX_REASON]}"
        store.reporter.report(Event("compact", reason, session.scope, session=session.id))
        return smaller
    return Prompt(core.again(smaller._core)) if epoch is not None else smaller  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]


def _words(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001  an exception that cannot say what it is says nothing
        return ""


def _models_after(failed: str, models: tuple[str | Model, ...]) -> tuple[str | Model, ...]:
    names = [model if isinstance(model, str) else model.name for model in models]
    return models[names.index(failed) + 1 :] if failed in names else models


def _unrecovered(error: object, refusal: Refusal | None) -> BaseException:
    cure = _CURES.get("" if refusal is None else refusal.kind, _CURES[""])
    if isinstance(error, BaseException):
        if refusal is not None or is_answer(error):  # of any other error, memspan knows no more than its words say
            error.add_note(f"memspan: {cure}")
        return error
    return InvalidInput(
        f"recovering from a refusal: a smaller prompt or another model must help, got {shown(error, 200)}: {cure}", refusal=refusal
    )
