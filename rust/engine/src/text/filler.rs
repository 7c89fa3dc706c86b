//! Question filler: the words that make a sentence a question and say nothing about what is looked for.

/// Only English: the short words of one language are content in another (`die`, `was`, `do`), and nothing here guesses languages.
/// Negations are content. Eight letters at most: a word is compared as one number.
const FILLER: [&str; 101] = [
    "a", "an", "the", "this", "that", "these", "those", "there", "here", "what", "which", "who", "whom", "whose", "when", "where", "why",
    "how", "is", "are", "was", "were", "be", "been", "being", "am", "isnt", "arent", "wasnt", "werent", "do", "does", "did", "done",
    "dont", "doesnt", "didnt", "have", "has", "had", "havent", "hasnt", "hadnt", "can", "could", "will", "would", "shall", "should", "may",
    "might", "must", "i", "me", "my", "mine", "we", "us", "our", "ours", "you", "your", "yours", "he", "him", "his", "she", "her", "hers",
    "it", "its", "they", "them", "their", "theirs", "of", "in", "on", "at", "to", "for", "from", "by", "with", "about", "as", "into",
    "and", "or", "but", "if", "than", "then", "so", "also", "any", "some", "please", "tell", "again", "ever",
];

pub(super) static PACKED: [u64; FILLER.len()] = packed(&FILLER);

/// Each of some words as a number, in order. None has more than eight bytes.
pub(super) const fn packed<const COUNT: usize>(words: &[&str; COUNT]) -> [u64; COUNT] {
    let mut all = [0; COUNT];
    let mut count = 0;
    while count < COUNT {
        assert!(words[count].len() <= size_of::<u64>());
        let (number, mut at) = (pack(words[count].as_bytes()), count);
        while at > 0 && all[at - 1] > number {
            all[at] = all[at - 1];
            at -= 1;
        }
        all[at] = number;
        count += 1;
    }
    all
}

const fn pack(word: &[u8]) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < word.len() {
        number = number << 8 | word[at] as u64;
        at += 1;
    }
    number
}

/// Whether a folded word is filler of an English question.
pub(crate) fn is_filler(word: &[u8]) -> bool {
    word.len() <= size_of::<u64>() && PACKED.binary_search(&pack(word)).is_ok()
}

/// Whether a word is filler, as it is written, in large letters or small.
pub(crate) fn is_filler_written(word: &str) -> bool {
    if !word.is_ascii() {
        return is_filler(word.to_lowercase().as_bytes());
    }
    number_of(word).is_some_and(|number| PACKED.binary_search(&number).is_ok())
}

/// The number of a word, its letters of ASCII in small ones, by which it is found among those that were [`packed`]; `None` where it is
/// longer than any of them.
#[inline]
pub(super) fn number_of(word: &str) -> Option<u64> {
    let number = || word.bytes().fold(0, |number, byte| number << 8 | u64::from(byte.to_ascii_lowercase()));
    (word.len() <= size_of::<u64>()).then(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filler_is_filler_and_nothing_else() {
        assert!(FILLER.iter().all(|word| word.len() <= 8 && is_filler(word.as_bytes())));
        assert!(FILLER.iter().all(|word| is_filler_written(word) && is_filler_written(&word.to_uppercase())));
        for content in ["", "port", "whatever", "not", "no", "xthe", "the\0", "aaaaaaaaaaaaa"] {
            assert!(!is_filler(content.as_bytes()) && !is_filler_written(content), "{content}");
        }
    }
}
