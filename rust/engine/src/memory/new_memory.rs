//! A memory that a caller wants to be remembered, and what of it is checked before any transaction begins.

use xxhash_rust::xxh3::Xxh3;

use super::kind::Kind;
use super::learn::Learning;
use super::provenance::Provenance;
use crate::index::vectors::UnitVector;
use crate::limits::{MAX_METADATA_BYTES, MAX_NAME_BYTES, MAX_TEXT_BYTES, MAX_TRUST};
use crate::text;
use crate::text::screening::{Detected, Screened, Screening};
use crate::{Error, Result};

/// The importance of a memory that is given none.
pub(super) const IMPORTANCE: f64 = 0.5;
/// The confidence of a memory that is given none.
pub(super) const CONFIDENCE: f64 = 1.0;

/// A memory that a caller wants to be remembered.
#[derive(Debug, Clone)]
pub struct NewMemory {
    /// 1 byte to [`MAX_TEXT_BYTES`].
    pub text: String,
    /// Its kind: what it is about.
    pub kind: Kind,
    /// The attribute it gives a value to.
    pub slot: Option<String>,
    /// 0 to 1.
    pub importance: f64,
    /// 0 to 1.
    pub confidence: f64,
    /// 0 to 3; by source where it is not given.
    pub trust: Option<u8>,
    /// Who said it.
    pub source: String,
    /// Makes a retry harmless: unique in the scope.
    pub id: Option<String>,
    /// Microseconds from now until it is forgotten.
    pub ttl: Option<i64>,
    /// When it happened, microseconds since 1970 (UTC); now where it is not given.
    pub occurred_at: Option<i64>,
    /// MessagePack of a mapping; empty where there is none.
    pub metadata: Vec<u8>,
    /// Its embedding; `None` leaves it to the built-in one, or pending where that is not the store's.
    pub vector: Option<UnitVector>,
    /// Who made that: the place of the embedder among those of the engine.
    pub made_by: u32,
    /// Where it comes from.
    pub provenance: Provenance,
    /// The part that makes it a claim, which is compared with what is known; `None` for a memory that a caller just remembers.
    pub learning: Option<Box<Learning>>,
    /// Microseconds from now until it is forgotten where `ttl` says nothing: the rule of its kind.
    pub default_ttl: Option<i64>,
    /// Findings of the caller's own detectors in the text.
    pub detected: Vec<Detected>,
    /// The verdict of screening on it.
    pub screened: Verdict,
}

/// The verdict of screening on a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Verdict {
    /// It was not screened yet.
    #[default]
    Open,
    /// Nothing was found that the policy minds.
    Clean,
    /// These were taken out.
    Redacted(Vec<String>),
    /// It is not stored, for these.
    Refused(Vec<String>),
}

impl NewMemory {
    /// Applies a policy to the text, once. A memory that is refused keeps no text.
    pub fn screen(&mut self, policy: Screening) {
        if self.screened != Verdict::Open {
            return;
        }
        self.screened = match policy.apply(&self.text, &self.detected) {
            Screened::Clean => Verdict::Clean,
            Screened::Redacted(text, types) => {
                self.text = text;
                self.vector = None;
                Verdict::Redacted(types)
            }
            Screened::Rejected(types) => {
                "-".clone_into(&mut self.text);
                self.vector = None;
                Verdict::Refused(types)
            }
        };
    }

    /// A memory with the defaults of the API.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            kind: Kind::Semantic,
            slot: None,
            importance: IMPORTANCE,
            confidence: CONFIDENCE,
            trust: None,
            source: "user".to_owned(),
            id: None,
            ttl: None,
            occurred_at: None,
            metadata: Vec::new(),
            vector: None,
            made_by: 0,
            provenance: Provenance::default(),
            learning: None,
            default_ttl: None,
            detected: Vec::new(),
            screened: Verdict::Open,
        }
    }

    /// The text to embed; `None` where it brings its vector, or may not be stored.
    #[must_use]
    pub fn to_embed(&self) -> Option<&str> {
        (self.vector.is_none() && !matches!(self.screened, Verdict::Refused(_))).then_some(self.text.as_str())
    }

    /// Checks what needs no transaction: lengths and ranges.
    pub fn check(&self) -> Result<()> {
        let doing = "remembering";
        check_text(doing, &self.text)?;
        check_fraction(doing, "importance", self.importance)?;
        check_fraction(doing, "confidence", self.confidence)?;
        check_trust(self.trust)?;
        for (what, name) in [("id", self.id.as_deref()), ("slot", self.slot.as_deref()), ("source", Some(self.source.as_str()))] {
            name.map_or(Ok(()), |name| check_name(doing, what, name))?;
        }
        if self.ttl.is_some_and(|ttl| ttl <= 0) {
            return Err(Error::invalid("remembering: ttl_seconds must be above 0: leave it out to keep the memory"));
        }
        self.slot.as_deref().map_or(Ok(()), |slot| normal_slot(slot).map(drop))?;
        check_metadata(doing, &self.metadata)
    }
}

/// A slot's name in normal form; one of white space only is none.
pub(super) fn normal_slot(name: &str) -> Result<String> {
    let key = text::slot_key(name);
    if key.is_empty() {
        Err(Error::invalid(format!("naming a slot: a slot's name must have a letter, and {name:?} has none: give it a name")))
    } else {
        Ok(key)
    }
}

pub(super) fn check_text(doing: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::invalid(format!("{doing}: the text of a memory must not be empty: leave the call out")));
    }
    if text.len() > MAX_TEXT_BYTES {
        return Err(Error::invalid(format!(
            "{doing}: the text of a memory has at most {MAX_TEXT_BYTES} bytes of UTF-8, and this one has {}: split it, or add it to a collection",
            text.len()
        ))
        .with("size_bytes", text.len()));
    }
    Ok(())
}

pub(super) fn check_fraction(doing: &str, what: &str, value: f64) -> Result<()> {
    if (0.0..=1.0).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(format!("{doing}: {what} is a number from 0 to 1, and it is {value}: scale it")).with("value", value))
}

fn check_trust(trust: Option<u8>) -> Result<()> {
    match trust {
        Some(trust) if trust > MAX_TRUST => {
            Err(Error::invalid(format!("remembering: trust is 0 to {MAX_TRUST}, and it is {trust}: the user's own word is 3")))
        }
        _ => Ok(()),
    }
}

/// Checks a name that may be left out.
pub(super) fn check_name(doing: &str, what: &str, name: &str) -> Result<()> {
    check_length(doing, what, name, ", or leave it out")
}

/// Checks a name; `otherwise` is what else to do than to give another.
pub(super) fn check_length(doing: &str, what: &str, name: &str, otherwise: &str) -> Result<()> {
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        let next = if name.is_empty() { "give at least one character" } else { "shorten it" };
        return Err(Error::invalid(format!(
            "{doing}: {what} has 1 to {MAX_NAME_BYTES} bytes of UTF-8, and it has {}: {next}{otherwise}",
            name.len()
        ))
        .with("size_bytes", name.len()));
    }
    Ok(())
}

pub(super) fn check_metadata(doing: &str, metadata: &[u8]) -> Result<()> {
    if metadata.len() > MAX_METADATA_BYTES {
        return Err(Error::invalid(format!(
            "{doing}: metadata has at most {MAX_METADATA_BYTES} bytes as MessagePack, and it has {}: keep large things elsewhere and a reference here",
            metadata.len()
        ))
        .with("size_bytes", metadata.len()));
    }
    Ok(())
}

/// The hash that tells a retry from a conflict: it covers everything the caller said, but not the vector, which need not be the same twice.
pub(super) fn request_hash(new: &NewMemory) -> u64 {
    let mut hash = Xxh3::new();
    let mut part = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(new.text.as_bytes());
    part(new.kind.name().as_bytes());
    part(new.slot.as_deref().unwrap_or_default().as_bytes());
    part(&new.importance.to_bits().to_le_bytes());
    part(&new.confidence.to_bits().to_le_bytes());
    part(&[new.trust.unwrap_or(u8::MAX)]);
    part(new.source.as_bytes());
    part(&new.ttl.unwrap_or(0).to_le_bytes());
    part(&new.occurred_at.unwrap_or(i64::MIN).to_le_bytes());
    part(&new.metadata);
    hash.digest()
}
