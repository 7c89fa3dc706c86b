//! A prompt as the request that its server takes, by what is known of the model and of the server.

use super::assemble::Assembled;
use crate::Result;
use crate::context::Format;
use crate::context::render::{self, RequestOptions};
use crate::models;

impl Assembled {
    /// The request as JSON. `dialect` names the rules of a server that is compatible with OpenAI's; by default those of the model's vendor.
    pub fn request(&self, format: Format, dialect: Option<&str>, stream: bool) -> Result<Vec<u8>> {
        let name = &self.model.name;
        let profile = models::get(name).ok();
        let can = |what: &str| profile.as_ref().is_some_and(|profile| profile.capabilities.iter().any(|one| &**one == what));
        let dialect = match dialect {
            Some(name) => models::dialect(name)?,
            None => profile.as_ref().map_or_else(|| &models::dialects()[0], |profile| models::dialect_of(profile)),
        };
        let is_anthropics = profile.as_ref().is_some_and(|one| &*one.vendor == "anthropic");
        let options = RequestOptions {
            model: Some(name),
            stream,
            dialect: Some(dialect),
            ends_with_user: format == Format::Anthropic && !can("prefill") && is_anthropics,
            reasons: can("reasoning"),
        };
        let write = match format {
            Format::OpenAi => render::to_openai,
            Format::Anthropic => render::to_anthropic,
            Format::Responses => render::to_responses,
            Format::Gemini => render::to_gemini,
        };
        Ok(write(&self.prompt, options))
    }
}
