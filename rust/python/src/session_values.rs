//! The values of sessions, as Python has them.

use memspan_engine::context::Grant;
use memspan_engine::session::{self, Added, Call, CallUsage, Committed, Fill, InstructionsVersion, Lease, Listed, OpenCall, PartialReply};
use memspan_engine::session::{Policy, Replied, ResultText, SessionBudget, Status, SwitchPlan, TurnView, UsageTokens};

use crate::value::{Attached, Json, Moment, Tuple, shows};

shows! {
    Added as Added |it| { index, tokens, action = it.action.name(), turn }
    Replied as Replied |it| { turn = it.added.turn, call, usage_ignored, is_last }
    Lease as LeaseHolder |it| { holder, since = Moment(it.since), until = Moment(it.until) }
    ResultText as ToolText |it| { text, next_offset, total_characters }
    InstructionsVersion as StoredVersion |it| { is_tools, number, epoch, since = Moment(it.since), text }
    Fill as Fill |it| { epoch, tokens, window }
    session::Reached as Reached |it| { fraction = it.percent as f64 / 100.0, tokens, window }
    Status as SessionStatus |it| {
        model = it.epoch.model.name.to_string(), ended = it.record.is_ended(), messages = it.record.tally.messages,
        turns = it.record.tally.turns, epoch = it.record.epoch, created_at = Moment(it.record.created_at),
        last_added_at = Moment(it.record.last_added_at())
    }
    Listed as SessionInfo |it| {
        id = it.record.id.clone(), model, messages = it.record.tally.messages, turns = it.record.tally.turns, epoch = it.record.epoch,
        created_at = Moment(it.record.created_at), last_added_at = Moment(it.record.last_added_at()), ended = it.record.is_ended(),
        metadata = Attached(it.metadata)
    }
    (SessionBudget, Policy) as StoredBudget |it| {
        max_input_tokens = it.0.max_input_tokens, order = it.0.sections.order.name(), fill = it.0.fill.as_f64(),
        output_tokens = it.0.output_tokens, cut_step = it.0.sections.cut_step.as_f64(),
        sections = it.0.sections.grants.into_iter().map(|(name, grant)| Granted(name, grant)).collect::<Vec<_>>(),
        compact_at = it.1.compact_at(), compact_every_turns = it.1.compact_every_turns(), result_tokens = it.1.most_of_result(),
        keep_rounds = it.0.sections.keep_rounds
    }
    Granted as StoredGrant |it| { section = it.0, floor = it.1.floor, weight = it.1.weight, ceiling = it.1.most() }
    CallUsage as StoredUsage |it| { turn, call, model, planned, counted, billed = it.billed.map(|tokens| Billed(tokens, None)) }
    TurnView as StoredTurn |it| { number, start, end, mark, first, calls = Tuple(it.calls) }
    Call as StoredCall |it| {
        number, reply, added_at = Moment(it.added_at), response_id, model, finish, sent = it.sent.is_some(),
        usage = it.usage_tokens.map(|tokens| Billed(tokens, it.usage.and_then(|raw| String::from_utf8(raw).ok())))
    }
    Billed as Usage |it| {
        input_tokens = it.0.input_tokens, output_tokens = it.0.output_tokens, cached_tokens = it.0.cached_tokens,
        cache_write_tokens = it.0.cache_write_tokens, raw = it.1.map(Json)
    }
    PartialReply as StoredPartial |it| {
        messages, began_at = Moment(it.began_at), written_at = Moment(it.written_at), error, response = Json(it.response)
    }
    OpenCall as PendingCall |it| { id = it.call.id, name = it.call.name, arguments = it.call.arguments, message_index = it.message }
    Committed as CommittedCompaction |it| { epoch, version, tokens_before = it.tokens.0, tokens_after = it.tokens.1 }
    SwitchPlan as PlannedSwitch |it| {
        from_model = it.from.name, to_model = it.to.name, max_input_tokens = it.limit, kept_messages = it.kept.kept,
        left_out_messages = it.kept.left_out, tokens = it.kept.tokens, first_message = it.kept.origin, fixed_tokens
    }
}

/// A provider's bill for a call, and its own words for it.
struct Billed(UsageTokens, Option<String>);

/// The grant of a section.
struct Granted(Box<str>, Grant);
