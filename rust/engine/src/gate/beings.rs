//! People and animals that somebody has. A sentence says who they are only where it gives a name.

use super::lists::lists;
use super::words::{Beginnings, among};
use crate::process::Lazy;

lists! { "beings":
    /// Relatives, and those with whom somebody lives.
    RELATIVES,
    /// Others whom somebody knows or is cared for by.
    OTHERS,
    /// Animals that live with people.
    ANIMALS,
}

/// How all of them begin.
static BEGINNINGS: Beginnings = Beginnings::of(&[&RELATIVES, &OTHERS, &ANIMALS]);
/// All of them, in order: a recall looks for hundreds of words among them.
static SORTED: Lazy<Vec<&str>> = Lazy::new(|| {
    let mut all = [&RELATIVES[..], &OTHERS, &ANIMALS].concat();
    all.sort_unstable();
    all
});

/// Whether a word, in large letters or small, may be one for somebody, or for an animal: most begin otherwise.
#[must_use]
pub fn may_be_being(word: &str) -> bool {
    !word.is_ascii() || BEGINNINGS.may_have(word)
}

/// Whether a word is for somebody, or for an animal.
#[must_use]
pub fn is_being(word: &str) -> bool {
    BEGINNINGS.may_have(word) && SORTED.binary_search(&word).is_ok()
}

/// Whether a word is for one of those whom somebody has at home or in the family.
pub(super) fn is_kin(word: &str) -> bool {
    among(&RELATIVES, word) || among(&ANIMALS, word)
}

/// Whether an attribute is somebody, or an animal.
#[must_use]
pub fn is_living(attribute: &str) -> bool {
    attribute.rsplit(' ').next().is_some_and(is_being)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_tells_whether_somebody_lives() {
        for living in
            ["wife", "grandma", "older brother", "stepmum", "hamsters", "guinea pig", "boss", "in-laws", "step-dad", "fianc\u{e9}e"]
        {
            assert!(is_living(living), "{living}");
        }
        for thing in ["wife's car", "mouse", "server", "client", "house", "grandfather clock", "dog food", ""] {
            assert!(!is_living(thing), "{thing}");
        }
        for being in SORTED.iter() {
            assert!(is_being(being) && may_be_being(being) && may_be_being(&being.to_uppercase()), "{being}");
        }
        assert!(is_kin("kitten") && is_kin("nan") && !is_kin("dentist") && !is_kin("friend"));
    }
}
