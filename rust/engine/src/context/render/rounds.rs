//! The order of tool rounds on the wire: the results of a round stand together, directly behind their calls.
//!
//! A message may hand over one result and say something while other calls are still open. Every vendor refuses a request that has
//! anything between a call and its results, so its words wait until each call of the round has its result.

use super::super::message::Message;
use super::super::segment::{Body, Segment};

/// A step of a request.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    /// A segment as it stands.
    Whole(&'a Segment),
    /// The results that a message hands over.
    Results(&'a Message),
    /// Everything else that such a message says.
    Rest(&'a Message),
}

/// The steps of segments in the order of the wire. Words that still wait at the end are left out: more results may come before them. A
/// whole prompt has none, since each call that is open has a result there that says so.
pub(super) fn steps(segments: &[Segment]) -> Vec<Step<'_>> {
    let (mut steps, mut waiting, mut open) = (Vec::with_capacity(segments.len()), Vec::new(), 0_usize);
    for segment in segments {
        let Body::Message(_, stored) = &segment.body else {
            steps.push(Step::Whole(segment));
            continue;
        };
        let message = &stored.message;
        let results = message.tool_results().count();
        if results == 0 {
            open = message.tool_calls().count();
            steps.push(Step::Whole(segment));
            continue;
        }
        open = open.saturating_sub(results);
        steps.push(Step::Results(message));
        if results < message.parts.len() {
            waiting.push(Step::Rest(message));
        }
        if open == 0 {
            steps.append(&mut waiting);
        }
    }
    steps
}
