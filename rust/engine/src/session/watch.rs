//! When the prompts of a session reach a share of its model's window: told once for each share in an epoch, as far as one watch has seen.
//!
//! A prompt is what a window holds. The transcript grows for ever, and says nothing of it once the window has moved.

use std::collections::HashMap;
use std::sync::Mutex;

use super::ledger::usage::Fill;
use super::session::Session;
use crate::Result;
use crate::limits::WINDOW_SHARES;
use crate::process::lock;
use crate::scope::Scope;

/// Sessions that a watch remembers; of more it forgets the half that nobody looked at for longest.
const MOST_SESSIONS: usize = 10_000;

/// A share that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The share, in per cent of the window.
    pub percent: u64,
    /// Tokens of the prompt.
    pub tokens: u64,
    /// The model's window.
    pub window: u64,
}

/// The thresholds reached in a session's epoch.
#[derive(Debug, Clone, Copy)]
struct Seen {
    epoch: u64,
    shares: usize,
    look: u64,
}

/// Remembers what was told of which session.
#[derive(Debug, Default)]
pub struct WindowWatch(Mutex<(u64, SeenBySession)>);

type SeenBySession = HashMap<(Scope, String), Seen>;

impl WindowWatch {
    /// Looks at a session after something was added to it, or a prompt of so many tokens was made: the shares that it reaches for the
    /// first time in its epoch. Cost: one read transaction.
    pub fn look(&self, session: &Session<'_>, prompt_tokens: Option<u64>) -> Result<Vec<Reached>> {
        let fill = session.fill()?;
        let fill = Fill { tokens: prompt_tokens.unwrap_or(fill.tokens), ..fill };
        let (key, store) = ((session.scope.clone(), session.id.to_owned()), session.engine.store());
        Ok(store.unforked(|| self.note(key, fill)))
    }

    fn note(&self, key: (Scope, String), fill: Fill) -> Vec<Reached> {
        let (looks, sessions) = &mut *lock(&self.0);
        *looks += 1;
        let shares = WINDOW_SHARES.iter().filter(|percent| fill.tokens * 100 >= **percent * fill.window).count();
        let known = sessions.get(&key).filter(|seen| seen.epoch == fill.epoch).map_or(0, |seen| seen.shares);
        sessions.insert(key, Seen { epoch: fill.epoch, shares: shares.max(known), look: *looks });
        if sessions.len() > MOST_SESSIONS {
            let mut ages: Vec<u64> = sessions.values().map(|seen| seen.look).collect();
            ages.sort_unstable();
            let middle = ages[ages.len() / 2];
            sessions.retain(|_, seen| seen.look >= middle);
        }
        let new = WINDOW_SHARES.get(known..shares).unwrap_or_default();
        new.iter().map(|percent| Reached { percent: *percent, tokens: fill.tokens, window: fill.window }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeType;

    fn told(watch: &WindowWatch, id: usize, epoch: u64, tokens: u64) -> Vec<u64> {
        let scope = Scope::new(None, ScopeType::User, "u").expect("scope");
        watch.note((scope, id.to_string()), Fill { epoch, tokens, window: 1_000 }).iter().map(|one| one.percent).collect()
    }

    #[test]
    fn each_share_is_told_once_in_an_epoch() {
        let watch = WindowWatch::default();
        let looks = [(0, 699), (0, 700), (0, 699), (0, 720), (0, 850), (0, 999), (1, 900), (1, 100), (1, 900), (2, 700)];
        let all: Vec<Vec<u64>> = looks.into_iter().map(|(epoch, tokens)| told(&watch, 1, epoch, tokens)).collect();
        let none = Vec::new;
        assert_eq!(all, [none(), vec![70], none(), none(), vec![85], none(), vec![70, 85], none(), none(), vec![70]]);
    }

    #[test]
    fn what_it_remembers_is_bounded() {
        let watch = WindowWatch::default();
        for id in 0..3 * MOST_SESSIONS {
            told(&watch, id, 0, 900);
            assert!(lock(&watch.0).1.len() <= MOST_SESSIONS);
        }
        assert_eq!(told(&watch, 3 * MOST_SESSIONS - 1, 0, 900), Vec::<u64>::new(), "the newest are remembered");
        assert_eq!(told(&watch, 0, 0, 900), [70, 85], "the oldest are told again");
    }
}
