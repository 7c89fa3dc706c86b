//! A prompt's neutral segments and the chain of hashes over them: the first differing link names what broke a cache.
//!
//! `c_0 = H(renderer version)`, `c_i = H(c_(i-1), kind, length, H(segment_i))`. A link costs the same whatever the segment's
//! size, because messages bring their digest. Equal chains render to equal bytes.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_128;

use super::block::Block;
use super::fixed::{FixedText, FixedTools};
use super::history::Stored;
use super::message::Digest;

/// The kind of a segment. It is part of the segment's link, so the numbers never change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentKind {
    /// Tool schemas.
    Tools = 1,
    /// The system prompt.
    System = 2,
    /// Pinned memory.
    Pinned = 3,
    /// The summary.
    Summary = 4,
    /// A message, or the result rendered for a call that has none.
    Message = 5,
    /// A volatile block: before the user message it travels with, or last.
    Block = 6,
}

/// The content of a segment, shared by its holders.
#[derive(Debug, Clone)]
pub enum Body {
    /// Tool schemas.
    Tools(Arc<FixedTools>),
    /// System prompt, pinned memory or summary.
    Text(Arc<FixedText>),
    /// A message, with its index in the session; an interrupted result has none.
    Message(Option<u64>, Arc<Stored>),
    /// A volatile block.
    Block(Arc<Block>),
}

/// One segment.
#[derive(Debug, Clone)]
pub struct Segment {
    /// Its kind.
    pub kind: SegmentKind,
    /// Its content.
    pub body: Body,
    /// Its count, frame included.
    pub tokens: u64,
}

impl Segment {
    /// Its name where prompts are compared.
    #[must_use]
    pub fn name(&self) -> String {
        match (self.kind, &self.body) {
            (SegmentKind::Tools, _) => "tools".to_owned(),
            (SegmentKind::System, _) => "system".to_owned(),
            (SegmentKind::Pinned, _) => "pinned".to_owned(),
            (SegmentKind::Summary, _) => "summary".to_owned(),
            (SegmentKind::Block, _) => "block".to_owned(),
            (SegmentKind::Message, Body::Message(index, _)) => message_name(*index),
            (SegmentKind::Message, _) => message_name(None),
        }
    }

    /// Hash and length of the content.
    #[must_use]
    pub fn digest(&self) -> Digest {
        match &self.body {
            Body::Tools(tools) => tools.tools.digest,
            Body::Text(text) => text.digest,
            Body::Message(_, stored) => stored.digest,
            Body::Block(block) => block.digest,
        }
    }

    /// Whether its count is exact for the counter it was made with.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        if let Body::Message(_, stored) = &self.body { stored.cost.exact } else { true }
    }
}

/// The name of a message of a prompt; one without an index stands for a result that never came.
#[must_use]
pub fn message_name(index: Option<u64>) -> String {
    index.map_or_else(|| "interrupted result".to_owned(), |index| format!("message {index}"))
}

/// The link after `segment`.
#[must_use]
pub fn link(before: u128, segment: &Segment) -> u128 {
    let digest = segment.digest();
    let mut bytes = [0u8; 41];
    bytes[..16].copy_from_slice(&before.to_le_bytes());
    bytes[16] = segment.kind as u8;
    bytes[17..25].copy_from_slice(&digest.length.to_le_bytes());
    bytes[25..].copy_from_slice(&digest.hash.to_le_bytes());
    xxh3_128(&bytes)
}

/// All links: one more than segments, the first before any of them, of the version of the renderer that the epoch began with.
#[must_use]
pub fn chain(segments: &[Segment], renderer_version: u32) -> Vec<u128> {
    let mut links = Vec::with_capacity(segments.len() + 1);
    links.push(xxh3_128(&renderer_version.to_le_bytes()));
    for (index, segment) in segments.iter().enumerate() {
        links.push(link(links[index], segment));
    }
    links
}

/// How many leading segments two chains share.
#[must_use]
pub fn shared_segments(one: &[u128], other: &[u128]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::super::framing::Framing;
    use super::super::message::{Message, Role};
    use super::super::testing::WordCounter;
    use super::*;

    fn segment(text: &str) -> Segment {
        let stored = Stored::new(Message::text(Role::User, text), &Framing::GPT_4O, &WordCounter);
        Segment { kind: SegmentKind::Message, tokens: stored.cost.tokens, body: Body::Message(None, Arc::new(stored)) }
    }

    #[test]
    fn the_first_differing_link_names_the_segment() {
        let one: Vec<Segment> = ["a", "b", "c", "d"].map(segment).into();
        let other: Vec<Segment> = ["a", "b", "x", "d"].map(segment).into();
        assert_eq!(shared_segments(&chain(&one, 1), &chain(&other, 1)), 2);
        assert_eq!(shared_segments(&chain(&one, 1), &chain(&one, 1)), 4);
        let block = Segment { kind: SegmentKind::Block, ..segment("a") };
        assert_eq!(shared_segments(&chain(&one, 1), &chain(&[block], 1)), 0, "the kind counts");
    }
}
