//! The kind of word that a token is, where that tells who speaks of whom and whether a time is named. English words only, since only they
//! are tokens of their own; a text in another language has none of these.

use super::wordpiece::{self, Token};
use crate::process::Once;

/// "I", "my", "our".
pub(crate) const FIRST_PERSON: u8 = 1;
/// "you", "your".
pub(crate) const SECOND_PERSON: u8 = 2;
/// "yesterday", "May", "week".
pub(crate) const TIME: u8 = 4;
/// Every word by which somebody speaks of himself, or others of "the user".
pub(crate) const OWN: u8 = 8;
/// The mark that a possessive has.
pub(crate) const APOSTROPHE: u8 = 16;

const WORDS: [(u8, &str); 5] = [
    (FIRST_PERSON, "i me my mine we us our"),
    (SECOND_PERSON, "you your yours"),
    (
        TIME,
        "yesterday today tomorrow tonight week weeks weekend month months year years ago last next monday tuesday wednesday thursday \
         friday saturday sunday january february march april may june july august september october november december recently soon since \
         summer winter spring fall autumn morning evening night day days birthday anniversary christmas thanksgiving easter halloween",
    ),
    (OWN, "i me my mine we us our ours user"),
    (APOSTROPHE, "'"),
];

/// The kinds of each token of a text (as [`super::distinct_tokens`] has them).
pub(crate) fn forms(tokens: &[u8]) -> impl Iterator<Item = u8> {
    static FORMS: Once<Vec<u8>> = Once::new();
    by_token(FORMS.get_or_init(|| of_vocabulary(|forms, form| *forms |= form)), tokens)
}

fn by_token<T: Copy + Default>(table: &[T], tokens: &[u8]) -> impl Iterator<Item = T> {
    tokens.as_chunks::<2>().0.iter().map(|token| table.get(Token::from_le_bytes(*token) as usize).copied().unwrap_or_default())
}

/// How many tokens of a text are of the first person, of the second, and of time.
pub(crate) fn count_forms(tokens: &[u8]) -> [usize; 3] {
    static COUNTED: Once<Vec<u64>> = Once::new();
    let counted = COUNTED.get_or_init(|| of_vocabulary(|count, form| *count |= counted(form)));
    let sum: u64 = by_token(counted, tokens).sum();
    [0, 1, 2].map(|kind| (sum >> (kind * COUNT_BITS)) as usize & ((1 << COUNT_BITS) - 1))
}

/// Bits of one count in the sum of three.
const COUNT_BITS: u32 = 20;

/// One in the count of a kind; nothing of a kind that is not counted.
fn counted(form: u8) -> u64 {
    if form > TIME { 0 } else { 1 << (form.trailing_zeros() * COUNT_BITS) }
}

/// The kind of each token, of which few have one: `note` is called with each of these.
fn of_vocabulary<T: Copy + Default>(note: impl Fn(&mut T, u8)) -> Vec<T> {
    let mut known = vec![T::default(); wordpiece::count()];
    for (form, words) in WORDS {
        wordpiece::each_token(words, &mut |token| note(&mut known[token as usize], form));
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::distinct_tokens;

    #[test]
    fn every_word_is_one_token_with_its_kind() {
        for (form, words) in WORDS {
            for word in words.split_whitespace() {
                let forms: Vec<u8> = forms(&distinct_tokens(word, 8)).collect();
                assert!(forms.len() == 1 && forms[0] & form == form, "{word}");
            }
        }
        assert!(forms(&distinct_tokens("port of payments-api", 8)).all(|form| form == 0));
        assert_eq!(count_forms(&distinct_tokens("I told you in May: my user's", 16)), [2, 1, 1]);
    }
}
