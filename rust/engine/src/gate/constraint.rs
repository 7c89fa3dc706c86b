//! Rules that a user gives for each time: "never deploy on Fridays", "from now on write all comments in English". "Never tried it" and
//! "always the same error" have the form and are none.

use super::Category;
use super::guards::is_lasting;
use super::lexicon::PAST;
use super::lists::lists;
use super::manner::names_answers;
use super::others::TEXTS;
use super::reading::Reading;
use super::rules::preamble;
use super::sentence::Sentence;
use super::values::PRAISE;
use super::words::{Word, among, starts, words};

lists! { "constraint":
    /// How a rule of the user begins.
    RULE_OPENINGS,
    /// Parts of what is written: an answer's, a text's, a program's.
    PARTS,
    /// How an instruction to a model begins that holds where it says "always", "from now on", ...
    pub(super) INSTRUCTS,
    /// More verbs with which only an order begins that says so: "skip the disclaimers from now on".
    ASKED_FOR,
}

/// Whether a text begins as an order: "never use ...", "from now on write ...".
#[must_use]
pub fn begins_as_order(text: &str) -> bool {
    let words = words(text);
    let at = preamble(&Sentence { text, words: &words });
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    RULE_OPENINGS.iter().any(|opening| starts(&words, at, opening).is_some())
        || among(&INSTRUCTS, word(at)) && !["is", "are", "was"].contains(&word(at + 1))
}

/// "never deploy on Fridays", "you must ...".
pub(super) fn constraint(s: &Sentence<'_>) -> Option<Reading> {
    let is_rule = RULE_OPENINGS.iter().any(|opening| starts(s.words, 0, opening).is_some()) && s.words.len() >= 3;
    let idle = ["never mind", "never mind that", "always happy", "never heard", "always good", "never been"]
        .iter()
        .any(|phrase| starts(s.words, 0, phrase).is_some());
    // "We never found him" tells what was not.
    if is_rule && ["we", "i"].contains(&s.word(0)) && is_past(&s.words[1..]) {
        return None;
    }
    if is_rule && is_past(s.words) {
        // "Never had the time to visit": an event of the user's, who leaves out the "I".
        return (!idle && s.words.len() > 3).then(|| Reading::new(Category::Episodic, "what never was"));
    }
    (is_rule && !idle && !is_complaint(s)).then(|| Reading::new(Category::Constraint, "rule"))
}

/// "Never tried ...": "never" or "always" with a verb in the past, which orders nothing.
pub(super) fn is_past(words: &[Word]) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let next = word(1);
    ["never", "always"].contains(&word(0)) && (ends_in_past(next) || among(&PAST, next) || ["seen", "heard", "done", "saw"].contains(&next))
}

/// Whether the "ed" of a word is the ending of a past. "Exceed" and "shred" end so themselves: one has an "e" before it, the other no vowel.
pub(super) fn ends_in_past(word: &str) -> bool {
    const OF_EE: [&str; 6] = ["agreed", "disagreed", "freed", "guaranteed", "decreed", "refereed"];
    let Some(root) = word.strip_suffix("ed").filter(|root| root.len() > 1) else { return false };
    let plain = root.ends_with('e') && !among(&OF_EE, word) || ["embed", "imbed"].iter().any(|verb| word.ends_with(verb));
    !plain && root.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// "Always the same error...": how something always is, and no order. An order has a verb in its plain form, or says where a part of an
/// answer is to stand.
fn is_complaint(s: &Sentence<'_>) -> bool {
    const NO_VERB: [&str; 18] =
        ["the", "a", "an", "my", "our", "your", "this", "that", "these", "those", "it", "i", "you", "same", "been", "again", "too", "so"];
    ["never", "always"].contains(&s.word(0)) && among(&NO_VERB, s.word(1)) && !places_a_part(s)
}

/// "Always a short summary at the end", "never the word synergy": an order without a verb, about a part of what is written.
fn places_a_part(s: &Sentence<'_>) -> bool {
    const BESIDE: [&str; 8] = ["in", "on", "before", "after", "behind", "between", "above", "below"];
    let is_part = |at: &usize| among(&PARTS, s.word(*at));
    let Some(part) = (2..s.words.len().min(5)).find(is_part).filter(|_| ["the", "a", "an"].contains(&s.word(1))) else { return false };
    let judged = s.words[2..part].iter().any(|word| among(&PRAISE, &word.lower) || ["same", "other", "different"].contains(&&*word.lower));
    let behind = s.word(part + 1);
    let over = |at: usize| s.words.get(at).is_none_or(Word::is_mark);
    let ends = ["end", "beginning", "start", "top", "bottom", "front"].iter().any(|end| s.word(part + 3) == *end);
    let placed = behind == "at" && s.word(part + 2) == "the" && ends
        || among(&BESIDE, behind) && (part + 2..part + 5).any(|at| is_part(&at) || among(&TEXTS, s.word(at)));
    let named = part == 2 && ["word", "words", "phrase", "term"].contains(&s.word(part)) && !over(part + 1) && over(part + 2);
    !judged && (placed || named || ["first", "last"].contains(&behind) && over(part + 2))
}

/// "From now on write all comments in English", "answer in German, always".
pub(super) fn lasting(whole: &Sentence<'_>, s: &Sentence<'_>) -> Option<Reading> {
    let at = starts(s.words, 0, "please").unwrap_or(0);
    let each =
        |from: usize| ["for each", "in each", "when i ask", "whenever i ask"].iter().any(|each| starts(s.words, from, each).is_some());
    let of_answers = || names_answers(&s.words[at + 1..]) || (at + 1..s.words.len()).any(each); // "skip breakfast" is of no answer
    let asks = || among(&INSTRUCTS, s.word(at)) || among(&ASKED_FOR, s.word(at)) && of_answers();
    (asks() && s.words.len() >= 3 && is_lasting(whole.words)).then(|| Reading::new(Category::Constraint, "rule"))
}

#[cfg(test)]
mod tests {
    use crate::gate::Category;
    use crate::gate::tests::stored;

    #[test]
    fn what_is_skipped_from_now_on_binds_where_it_is_of_answers() {
        for (text, binds) in [
            ("skip the disclaimers from now on", true),
            ("omit the tables from now on", true),
            ("cite your sources from now on", true),
            ("skip breakfast from now on", false),
            ("skip the gym from now on", false),
            ("omit sugar from now on", false),
            ("suggest a wine from now on", false),
        ] {
            let claims = stored(text);
            assert_eq!(claims.iter().any(|claim| claim.category == Category::Constraint), binds, "{text}: {claims:?}");
        }
    }
}
