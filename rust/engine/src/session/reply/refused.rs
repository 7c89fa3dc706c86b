//! After a provider refused a prompt as too long: a smaller one, and a limit for those that come after it.
//!
//! `python/memspan/refusals.py` reads the provider's words: they come here as numbers, or as none. The learned limit is kept for the
//! session and its model. Where a message alone is larger, the session's own limit counts again, because the provider may have been wrong.

use crate::context::{Factor, Inputs, Prompt, compose};
use crate::session::key::SessionKey;
use crate::session::responses::check_prompt;
use crate::session::session::Session;
use crate::session::window::assemble::{Ask, Assembled};
use crate::store::envelope::{self, Codec};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, ErrorKind, Result};

const SCHEMA: u8 = 1;

/// The figures of a refusal; `None` where it does not name one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The true tokens of the prompt.
    pub input_tokens: Option<u64>,
    /// The most tokens of prompt and reply, or of the prompt.
    pub limit_tokens: Option<u64>,
    /// The most tokens of the reply, where the reply must shrink.
    pub output_tokens: Option<u64>,
}

/// The limit of a session's prompts, as learned from refusals.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Limit {
    model: String,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl Limit {
    fn read<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        let key = place.refused_limit();
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let model = r.text()?.to_owned();
        let mut tokens = || Ok::<_, Error>(r.maybe_int()?.and_then(|tokens| u64::try_from(tokens).ok()));
        Ok(Some(Self { model, input_tokens: tokens()?, output_tokens: tokens()? }))
    }

    fn write(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        let (key, mut w) = (place.refused_limit(), Writer::array(3));
        w.text(&self.model);
        for tokens in [self.input_tokens, self.output_tokens] {
            w.maybe_int(tokens.map(|tokens| tokens as i64));
        }
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), SCHEMA, Codec::MessagePack, w.bytes()))
    }
}

/// The most that the session's prompts may have: `limit`, or less where as much was refused.
pub(in crate::session) fn limit<P: Pages>(pages: &P, place: SessionKey, model: &str, limit: u64) -> Result<u64> {
    let learned = Limit::read(pages, place)?.filter(|learned| learned.model == model);
    Ok(learned.and_then(|learned| learned.input_tokens).map_or(limit, |most| most.min(limit)))
}

/// Composes a prompt within the learned limits of its session. Returns the prompt and the tokens of its reply.
pub(in crate::session) fn compose_within<P: Pages>(
    pages: &P,
    place: SessionKey,
    model: &str,
    inputs: &Inputs<'_>,
) -> Result<(Prompt, u64)> {
    let Some(learned) = Limit::read(pages, place)?.filter(|limit| limit.model == model) else {
        return Ok((compose(inputs)?, inputs.output_tokens));
    };
    let output_tokens = learned.output_tokens.map_or(inputs.output_tokens, |most| inputs.output_tokens.min(most));
    let limit = learned.input_tokens.map_or(inputs.limit, |most| inputs.limit.min(most));
    match compose(&Inputs { limit, output_tokens, ..*inputs }) {
        Err(error) if error.kind() == ErrorKind::BudgetExceeded && limit < inputs.limit => {
            Ok((compose(&Inputs { output_tokens, ..*inputs })?, output_tokens))
        }
        composed => Ok((composed?, output_tokens)),
    }
}

impl Session<'_> {
    /// Asks again what a prompt was asked for, of the session as it is now. A limit that was named for one model says nothing of another.
    pub fn again(&self, prompt: &Assembled, now: i64) -> Result<Assembled> {
        self.assemble(&Ask { max_input_tokens: None, max_output_tokens: None, now, ..Ask::clone(&prompt.ask) })
    }

    /// Another prompt for what `prompt` was for, after a provider refused it as too long: smaller, by what the refusal says; where it
    /// says nothing, by a third. The learned limit is kept for the session's next prompts.
    ///
    /// # Errors
    /// `SessionMoved` where the session went on; `BudgetExceeded` where nothing is left to leave out.
    pub fn refused(&self, prompt: &Assembled, refusal: Refusal, now: i64) -> Result<Assembled> {
        let learned = refusal.input_tokens.map_or(Ok(false), |tokens| self.learn_cost(prompt, tokens, now))?;
        let max_input_tokens =
            if refusal.output_tokens.is_some() { prompt.ask.max_input_tokens } else { Some(smaller(prompt, refusal, learned)) };
        let ask = Ask {
            max_input_tokens,
            max_output_tokens: refusal.output_tokens.or(prompt.ask.max_output_tokens),
            now,
            ..Ask::clone(&prompt.ask)
        };
        let next = self.assemble(&ask)?;
        let same = next.prompt.chain.last() == prompt.prompt.chain.last();
        if same && next.prompt.max_output_tokens >= prompt.prompt.max_output_tokens {
            return Err(self.nothing_left(prompt, refusal));
        }
        let limit = Limit {
            model: prompt.model.name.to_string(),
            input_tokens: refusal.output_tokens.is_none().then_some(next.prompt.max_input_tokens),
            output_tokens: refusal.output_tokens,
        };
        let sent = std::sync::Arc::clone(&prompt.sent);
        let place = prompt.place;
        self.edit("keeping what was refused", now, move |writer| {
            check_prompt(writer, place, &sent)?;
            let known = Limit::read(&*writer.pages, place)?.filter(|known| known.model == limit.model);
            let least = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
            let limit = Limit {
                input_tokens: least(limit.input_tokens, known.as_ref().and_then(|known| known.input_tokens)),
                output_tokens: least(limit.output_tokens, known.as_ref().and_then(|known| known.output_tokens)),
                ..limit.clone()
            };
            limit.write(writer.pages, place)
        })?;
        Ok(next)
    }

    fn nothing_left(&self, prompt: &Assembled, refusal: Refusal) -> Error {
        let tokens = refusal.input_tokens.unwrap_or(prompt.prompt.total_tokens);
        let limit = refusal.limit_tokens.unwrap_or(tokens.saturating_sub(1));
        Error::new(
            ErrorKind::BudgetExceeded,
            format!(
                "making a prompt smaller: the provider refused one of {tokens} tokens for a limit of {limit}, and nothing of it can be left out (session {:?}): shorten the newest message or the system prompt",
                self.id
            ),
        )
        .with("needed_tokens", tokens as i64)
        .with("limit_tokens", limit as i64)
    }
}

/// The limit of the next prompt; `learned` where a bound has learned from the refusal.
fn smaller(prompt: &Assembled, refusal: Refusal, learned: bool) -> u64 {
    let planned = prompt.prompt.total_tokens.max(1);
    let third_less = planned - planned.div_ceil(3);
    let Some(limit) = refusal.limit_tokens else { return third_less };
    let limit = prompt.prompt.max_input_tokens.min(limit);
    match refusal.input_tokens {
        // A count that was too low is so again: by as much.
        Some(tokens) if prompt.model.factor == Factor::EXACT && tokens > planned && prompt.can_cost(tokens) => {
            u64::try_from(u128::from(limit) * u128::from(planned) / u128::from(tokens.max(1))).unwrap_or(limit)
        }
        // A number that nobody believes says as little as none.
        Some(tokens) if tokens > planned && !learned => limit.min(third_less),
        None if limit >= planned => third_less,
        _ => limit,
    }
}
