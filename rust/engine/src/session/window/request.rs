//! A prompt as the request that its server takes, by what is known of the model and of the server.

use super::assemble::Assembled;
use crate::context::Format;
use crate::context::Responses;
use crate::context::render::{self, RequestOptions};
use crate::context::segment::message_name;
use crate::plain::make::{Make, Maker};
use crate::units::score::SCORE_UNIT;
use crate::{Result, models};

/// One candidate for a prompt, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The section that it was a candidate for.
    pub section: String,
    /// Its id. For a memory of another scope than the session's, the id of that scope and a slash stand before it.
    pub id: String,
    /// Whether it is in the prompt.
    pub included: bool,
    /// Why, in words.
    pub why: String,
    /// Its tokens; 0 where it was left out before it was counted.
    pub tokens: u64,
    /// Its relevance, where it has one.
    pub score: Option<f64>,
    /// The id of the memory, if it is one.
    pub memory: Option<String>,
    /// Which revision of it.
    pub revision: Option<u64>,
}

impl Assembled {
    /// The fate of every candidate, and the messages that are sent as a text which names media that the model does not take.
    #[must_use]
    pub fn candidates(&self) -> Vec<Candidate> {
        let whose = |one: &crate::context::Explained| {
            let memory = one.memory?;
            self.others.iter().find(|(partition, _)| u64::from(*partition) == memory.partition).map(|(_, scope)| &**scope)
        };
        let candidate = |one: &crate::context::Explained| Candidate {
            section: one.section.to_string(),
            id: whose(one).map_or_else(|| one.id.to_string(), |scope| format!("{scope}/{}", one.id)),
            included: one.why.is_included(),
            why: one.reason(),
            tokens: one.tokens,
            score: one.score.map(|score| score as f64 / SCORE_UNIT),
            memory: one.memory.map(|_| one.id.to_string()),
            revision: one.memory.map(|memory| memory.revision),
        };
        let named = |index: Option<u64>, what: &str, takers: &str| Candidate {
            section: "history".to_owned(),
            id: message_name(index),
            included: true,
            why: format!("{what} is sent as a text that names it: {takers}"),
            tokens: 0,
            score: None,
            memory: None,
            revision: None,
        };
        let none = format!("{} takes none", self.model.name);
        let of_model = self.prompt.as_text().into_iter().map(|(index, what)| named(index, &what.join(", "), &none));
        let not_it = match self.model.framing.format {
            Format::Anthropic => "Anthropic's messages do not take that",
            Format::OpenAi => "chat completions do not take that",
            Format::Responses => "OpenAI's responses do not take that",
            Format::Gemini => "Gemini does not take that",
        };
        let of_api = self.prompt.of_other_types().into_iter().map(|(index, what)| named(index, &what.join(", "), not_it));
        self.prompt.explained.iter().map(candidate).chain(of_model).chain(of_api).collect()
    }

    /// The request as JSON. `format` is the model's own by default; `dialect` names the rules of a server that is compatible with OpenAI's, by
    /// default those of the model's vendor.
    pub fn request(&self, format: Option<Format>, dialect: Option<&str>, stream: bool) -> Result<Vec<u8>> {
        let (format, options) = self.sent_as(format, dialect, stream)?;
        Ok(render::to_json(&self.prompt, format, options))
    }

    /// The same as a value of the caller's language.
    pub fn request_made<M: Make>(
        &self,
        format: Option<Format>,
        dialect: Option<&str>,
        stream: bool,
        make: &M,
    ) -> Result<M::Value, M::Error> {
        let (format, options) = self.sent_as(format, dialect, stream)?;
        let mut maker = Maker::new(make);
        render::say(&self.prompt, format, options, &mut maker);
        maker.finish()
    }

    /// The bytes of an OpenAI request up to the end of so many segments.
    #[must_use]
    pub fn prefix(&self, segments: usize) -> Vec<u8> {
        let segments = &self.prompt.segments[..segments.min(self.prompt.segments.len())];
        render::openai_prefix(segments, Some(&self.model.name), self.prompt.shape)
    }

    fn sent_as(&self, format: Option<Format>, dialect: Option<&str>, stream: bool) -> Result<(Format, RequestOptions<'_>)> {
        let name = &self.model.name;
        let profile = models::get(name).ok();
        let can = |what: &str| profile.as_ref().is_some_and(|profile| profile.capabilities.iter().any(|one| &**one == what));
        let dialect = match dialect {
            Some(name) => models::dialect(name)?,
            None => profile.as_ref().map_or_else(|| &models::dialects()[0], |profile| models::dialect_of(profile)),
        };
        let is_anthropics = profile.as_ref().is_some_and(|one| &*one.vendor == "anthropic");
        let format = format.unwrap_or(self.model.framing.format);
        let options = RequestOptions {
            model: Some(name),
            stream,
            dialect: Some(dialect),
            ends_with_user: format == Format::Anthropic && !can("prefill") && is_anthropics,
            reasons: can("reasoning"),
            responses: profile.as_ref().map_or(Responses::ALL, |profile| profile.responses()),
        };
        Ok((format, options))
    }
}
