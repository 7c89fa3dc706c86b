//! The models of this process: the built-in ones, and those that the program registered, which go before them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Model;
use super::nearest::nearest;
use super::{Profile, catalogue};
use crate::limits::MAX_TOKENS;
use crate::process::Shared;
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

const MAX_NAME: usize = 256;
const MAX_BASE_URL: usize = 2_048;

static REGISTERED: Shared<BTreeMap<Arc<str>, Arc<Profile>>> = Shared::new(BTreeMap::new());

/// How often a model was registered: a name that was found before may mean another model now.
static REGISTRATIONS: AtomicU64 = AtomicU64::new(0);

/// The model of a name after so many registrations.
struct Lookup {
    registrations: u64,
    name: Box<str>,
    profile: Arc<Profile>,
}

thread_local! {
    /// The model that this thread found last. A program counts by one model for a long time.
    static LAST: RefCell<Option<Lookup>> = const { RefCell::new(None) };
}

/// The model of a name: a registered one of exactly that name, else a built-in one; a dated name (`gpt-4o-2024-08-06`) is its
/// family's.
pub fn get(name: &str) -> Result<Arc<Profile>> {
    let now = REGISTRATIONS.load(Ordering::Acquire);
    let same = |last: &&Lookup| last.registrations == now && &*last.name == name;
    let last = LAST.try_with(|last| last.borrow().as_ref().filter(same).map(|last| Arc::clone(&last.profile)));
    if let Ok(Some(profile)) = last {
        return Ok(profile);
    }
    let profile = find(name)?;
    // A thread that is ending remembers nothing.
    let _ = LAST.try_with(|last| last.replace(Some(Lookup { registrations: now, name: name.into(), profile: Arc::clone(&profile) })));
    Ok(profile)
}

fn find(name: &str) -> Result<Arc<Profile>> {
    let registered = REGISTERED.with(|registered| registered.get(name).cloned());
    registered.or_else(|| catalogue::find(name)).ok_or_else(|| unknown(name))
}

/// Adds a model, or replaces the one of that name, for this process.
pub fn register(profile: Profile) -> Result<()> {
    check(&profile.model)?;
    let name = Arc::clone(&profile.model.name);
    REGISTERED.with(|registered| registered.insert(name, Arc::new(profile)));
    REGISTRATIONS.fetch_add(1, Ordering::Release);
    Ok(())
}

/// All names, sorted.
#[must_use]
pub fn names() -> Vec<Arc<str>> {
    let mut all: BTreeSet<Arc<str>> = REGISTERED.with(|registered| registered.keys().cloned().collect());
    all.extend(catalogue::profiles().map(|profile| Arc::clone(&profile.model.name)));
    all.into_iter().collect()
}

fn unknown(name: &str) -> Error {
    let names = names();
    let near = nearest(name, names.iter().map(|name| &**name)).join(", ");
    Error::new(
        ErrorKind::UnknownModel,
        format!(
            "choosing a model: the name must be in the registry (memspan.models), got {:?} (nearest: {near}): name one of these, or register it with \
             memspan.models.register(memspan.Model(name=..., context_window=..., max_output_tokens=..., encoding=...))",
            shown(name)
        ),
    )
    .with("model", shown(name))
    .with("nearest", near)
}

fn shown(name: &str) -> String {
    first_chars(name, MAX_NAME).to_owned()
}

/// Checks the fields of a model, before it is registered or a session keeps it.
pub fn check(model: &Model) -> Result<()> {
    let wrong = |rule: &str, field: &'static str, value: String, next: &str| {
        Error::invalid(format!("registering a model: {rule}, got {value} (model {:?}): {next}", shown(&model.name))).with(field, value)
    };
    let name = &*model.name;
    if name.is_empty() || name.len() > MAX_NAME || name.chars().any(|character| character.is_control() || character.is_whitespace()) {
        let rule = "the name must have 1 to 256 bytes, none of them white space";
        return Err(wrong(rule, "name", format!("{:?}", shown(name)), "give the name that requests are sent with"));
    }
    if !(1..=MAX_TOKENS).contains(&model.context_window) {
        let rule = "context_window must be from 1 to 2**40 tokens";
        return Err(wrong(rule, "context_window", model.context_window.to_string(), "look it up on the vendor's model page"));
    }
    if !(1..=model.context_window).contains(&model.max_output_tokens) {
        let rule = format!("max_output_tokens must be from 1 to context_window ({})", model.context_window);
        return Err(wrong(&rule, "max_output_tokens", model.max_output_tokens.to_string(), "look it up on the vendor's model page"));
    }
    if !(1..=model.context_window).contains(&model.max_input_tokens) {
        let rule = format!("max_input_tokens must be from 1 to context_window ({})", model.context_window);
        return Err(wrong(&rule, "max_input_tokens", model.max_input_tokens.to_string(), "look it up on the vendor's model page"));
    }
    if model.base_url.len() > MAX_BASE_URL || model.base_url.chars().any(char::is_control) {
        let rule = "base_url must have at most 2,048 bytes and no control characters";
        return Err(wrong(rule, "base_url", format!("{:?}", shown(&model.base_url)), "give the address that requests are sent to"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(name: &str) -> Profile {
        Profile::of(Model { name: name.into(), ..Model::named("gpt-4").unwrap() })
    }

    fn with_window(name: &str, context_window: u64) -> Profile {
        Profile::of(Model { context_window, max_input_tokens: context_window, ..own(name).model })
    }

    #[test]
    fn every_built_in_model_is_found_and_valid() {
        for name in names() {
            let profile = get(&name).unwrap();
            assert_eq!(profile.model.name, name);
            check(&profile.model).unwrap();
        }
    }

    #[test]
    fn a_dated_name_is_its_familys_and_keeps_its_own() {
        let dated = Model::named("gpt-4o-mini-2024-07-18").unwrap();
        assert_eq!(&*dated.name, "gpt-4o-mini-2024-07-18");
        assert_eq!(Model { name: "gpt-4o-mini".into(), ..dated }, Model::named("gpt-4o-mini").unwrap());
    }

    #[test]
    fn registered_models_are_found_by_their_exact_name_and_can_be_replaced() {
        register(own("registry-test")).unwrap();
        assert_eq!(get("registry-test").unwrap().model.context_window, 8_192);
        assert!(get("registry-test-large").is_err());
        assert!(names().iter().any(|name| &**name == "registry-test"));
        register(with_window("registry-test", 50_000)).unwrap();
        assert_eq!(get("registry-test").unwrap().model.context_window, 50_000);
    }

    #[test]
    fn an_unknown_name_names_the_nearest() {
        let error = get("gpt4o").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnknownModel);
        assert!(error.message().contains("gpt-4o,") && error.message().contains("memspan.models.register"), "{error}");
        assert!(get("gpt-4omni").is_err() && get("").is_err());
        assert!(get(&"x".repeat(1 << 20)).unwrap_err().message().len() < 2_000);
    }

    #[test]
    fn what_cannot_be_is_not_registered() {
        for bad in [
            own(""),
            own("a b"),
            own(&"x".repeat(257)),
            with_window("bad", 0),
            with_window("bad", MAX_TOKENS + 1),
            Profile::of(Model { max_output_tokens: 0, ..own("bad").model }),
            Profile::of(Model { max_output_tokens: 8_193, ..own("bad").model }),
            Profile::of(Model { max_input_tokens: 0, ..own("bad").model }),
            Profile::of(Model { max_input_tokens: 8_193, ..own("bad").model }),
        ] {
            assert_eq!(register(bad).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        assert!(get("bad").is_err());
    }
}
