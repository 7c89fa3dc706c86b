//! Where a provider should keep the prefix: at most four places, so that the next call finds one within 20 blocks.
//!
//! In the order of their worth: the cache boundary, the end of the prompt (if tool rounds may follow while the volatile block stands
//! still), the place where the previous call ended (if more than 20 blocks were added since), the end of the fixed sections, and the end of
//! the system prompt, which sessions share. A marker is not part of what is cached (Anthropic, "Prompt caching": 4 breakpoints, each looks
//! back 20 blocks), so moving it costs nothing.

use super::prompt::{Breakpoint, Scale};
use super::segment::{Body, Segment, SegmentKind};

/// The most a provider takes.
const MOST: usize = 4;
/// How many blocks a breakpoint looks back.
const LOOK_BACK: usize = 20;

/// Positions between segments that the layout knows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Landmarks {
    /// After the system prompt.
    pub(super) system: usize,
    /// After the last fixed section.
    pub(super) fixed: usize,
    /// Before the turn before the newest.
    pub(super) previous_turn: usize,
    /// Before the newest turn and its block.
    pub(super) turn: usize,
    /// Before the newest assistant message: the previous call ended there.
    pub(super) before_reply: usize,
    /// Behind the newest message, before what stands for the results of calls that still wait: a result takes its place.
    pub(super) end: usize,
    /// The prompt lasts to its end: nothing volatile is in it, or nothing that is sent may change; and nothing was shortened
    /// for this call alone.
    pub(super) lasts: bool,
    /// Where the prefix ends that lasts, before what the positions above say: a block will stand there from the next turn on.
    pub(super) until: Option<usize>,
    /// Tool rounds may follow, or did.
    pub(super) rounds: bool,
    /// Only the system prompt comes first for certain.
    pub(super) classic: bool,
}

/// The breakpoints of a prompt.
pub(super) fn place(segments: &[Segment], chain: &[u128], marks: Landmarks, scale: Scale) -> Vec<Breakpoint> {
    let mut positions = positions(segments, marks);
    positions.sort_by_key(|(at, _)| *at);
    let mut breakpoints = Vec::with_capacity(positions.len());
    let (mut tokens, mut next) = (0, 0);
    for (at, lasting) in positions {
        tokens += segments[next..at].iter().map(|segment| segment.tokens).sum::<u64>();
        next = at;
        breakpoints.push(Breakpoint { segments: at, tokens: scale.of(tokens), hash: chain[at], lasting });
    }
    breakpoints
}

fn positions(segments: &[Segment], marks: Landmarks) -> Vec<(usize, bool)> {
    let mut positions: Vec<(usize, bool)> = Vec::with_capacity(MOST);
    let mut add = |at: usize, lasting: bool| {
        if at > 0 && positions.len() < MOST && !positions.iter().any(|(known, _)| *known == at) {
            positions.push((at, lasting));
        }
    };
    if marks.classic {
        add(marks.system, true);
        return positions;
    }
    let boundary = marks.until.unwrap_or(if marks.lasts { marks.end } else { marks.turn });
    add(boundary, true);
    if marks.rounds {
        add(marks.end, false);
    }
    let (before, last) =
        if marks.lasts || marks.before_reply > marks.turn { (marks.before_reply, marks.end) } else { (marks.previous_turn, boundary) };
    if before < last && blocks(&segments[before..last]) >= LOOK_BACK {
        add(before, before <= boundary);
    }
    add(marks.fixed, true);
    add(marks.system, true);
    positions
}

/// Content blocks as Anthropic counts them.
fn blocks(segments: &[Segment]) -> usize {
    let of = |segment: &Segment| match (&segment.body, segment.kind) {
        (Body::Message(_, stored), SegmentKind::Message) => stored.message.parts.len().max(1),
        _ => 1,
    };
    segments.iter().map(of).sum()
}
