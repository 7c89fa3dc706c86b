//! Limits on the texts that a session's prompts recall: how many memories, messages and passages, of whom, and how sure they must be.
//!
//! They are kept with the session. This module neither searches nor ranks.

use super::codec;
use crate::context::{Budget, Message, Part, Role, Share};
use crate::limits::{MAX_RECALLS, within};
use crate::recall::ranking::SURE_ENOUGH;
use crate::store::msgpack::{Reader, Writer};
use crate::{Error, Result};

/// Who said what may be recalled, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles(u8);

impl Roles {
    /// Everybody.
    pub const ALL: Self = Self(7);
    const NAMES: [(&'static str, u8); 3] = [("user", 1), ("assistant", 2), ("tool", 4)];

    /// By their names.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is none of `user`, `assistant`, `tool`.
    pub fn named<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self> {
        names.into_iter().try_fold(Self(0), |roles, name| match Self::NAMES.iter().find(|(known, _)| *known == name) {
            Some((_, bit)) => Ok(Self(roles.0 | bit)),
            None => Err(Error::invalid(format!(
                "reading recalls: a role is \"user\", \"assistant\" or \"tool\", and it is {name:?}: leave it out"
            ))
            .with("role", name)),
        })
    }

    /// Their names.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(_, bit)| self.0 & bit != 0).map(|(name, _)| name)
    }

    /// Whether a message is of them: one that answers calls is a tool's, one that is neither the assistant's nor a tool's the user's.
    pub(in crate::session) fn have(self, message: &Message) -> bool {
        self.0 & role_of(message).1 != 0
    }
}

/// Who a message is of, as a prompt names them.
pub(in crate::session) fn role_of(message: &Message) -> (&'static str, u8) {
    let answers = message.parts.iter().any(|part| matches!(part, Part::ToolResult(_)));
    Roles::NAMES[if answers { 2 } else { usize::from(message.role == Role::Assistant) }]
}

/// Limits on the texts that prompts recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recalls {
    /// The most memories.
    pub memories: u64,
    /// The most messages; `None` is as many as there is room for.
    pub messages: Option<u64>,
    /// The most passages of collections.
    pub passages: u64,
    /// Whether messages of other sessions are recalled, or only those of this one that left the window.
    pub other_sessions: bool,
    /// Whose messages.
    pub roles: Roles,
    /// How sure an answer must be to be shown; `None` is the default of its source.
    pub min_confidence: Option<Share>,
}

impl Default for Recalls {
    fn default() -> Self {
        Self { memories: 12, messages: None, passages: 6, other_sessions: true, roles: Roles::ALL, min_confidence: None }
    }
}

impl Recalls {
    /// Checks how many are asked for.
    pub fn validate(&self) -> Result<()> {
        let asked = [("memories", Some(self.memories)), ("messages", self.messages), ("passages", Some(self.passages))];
        asked.into_iter().try_for_each(|(name, most)| within(name, most.unwrap_or(0), 0..=MAX_RECALLS as u64).map(drop))
    }

    /// A budget with the floor that is asked for.
    pub(in crate::session) fn floored(&self, mut budget: Budget) -> Budget {
        if let Some(least) = self.min_confidence {
            budget.relevance.min_score = (self.sure_enough(0.0) * crate::units::score::SCORE_UNIT) as i64;
            if least.millionths() == 0 {
                budget.relevance.of_best = Share::new(0);
            }
        }
        budget
    }

    /// How sure an answer must be, 0 to 1, where `default` is the source's own.
    pub(in crate::session) fn sure_enough(&self, default: f64) -> f64 {
        self.min_confidence.map_or(default, |least| f64::from(least.millionths()) / 1e6)
    }

    /// Whether a question about the user's own life takes the next nearest memories as well: not where the caller asks for surer ones.
    pub(in crate::session) fn fills(&self) -> bool {
        self.sure_enough(0.0) <= SURE_ENOUGH
    }

    /// `[memories, messages, passages, other sessions, roles, least]`.
    pub(in crate::session) fn write(&self, w: &mut Writer) {
        w.nested(6);
        w.uint(self.memories);
        w.maybe_int(self.messages.map(|messages| messages as i64));
        w.uint(self.passages);
        w.bool(self.other_sessions);
        w.uint(u64::from(self.roles.0));
        w.maybe_int(self.min_confidence.map(|least| i64::from(least.millionths())));
    }

    /// See [`Self::write`]; the defaults where nothing was written.
    pub(in crate::session) fn read<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Self> {
        let Some(mut r) = codec::maybe_inner(r, key)? else { return Ok(Self::default()) };
        Ok(Self {
            memories: r.uint()?,
            messages: r.maybe_int()?.map(|messages| messages as u64),
            passages: r.uint()?,
            other_sessions: r.bool()?,
            roles: Roles(r.uint()? as u8 & Roles::ALL.0),
            min_confidence: r.maybe_int()?.map(|least| Share::new(least as u32)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recalls_read_back_and_missing_ones_are_the_defaults() {
        let least = Some(Share::new(250_000));
        let own = Recalls {
            memories: 3,
            messages: Some(0),
            roles: Roles::named(["tool", "user"]).unwrap(),
            min_confidence: least,
            ..Recalls::default()
        };
        for recalls in [own, Recalls::default()] {
            let mut w = Writer::array(1);
            recalls.write(&mut w);
            let bytes = w.into_bytes();
            assert_eq!(Recalls::read(&mut Reader::array(b"k", &bytes).unwrap(), b"k").unwrap(), recalls);
        }
        let empty = Writer::array(0).into_bytes();
        assert_eq!(Recalls::read(&mut Reader::array(b"k", &empty).unwrap(), b"k").unwrap(), Recalls::default());
        assert_eq!(own.roles.names().collect::<Vec<_>>(), ["user", "tool"]);
        assert!(Roles::named(["system"]).unwrap_err().message().contains("\"system\""));
    }
}
