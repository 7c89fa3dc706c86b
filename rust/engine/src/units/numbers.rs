//! Whole numbers in English words, from zero to ninety-nine.

const ONES: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The number that a word in small letters is: "fifteen", "thirty", "twenty-one".
#[must_use]
pub fn in_words(word: &str) -> Option<u32> {
    let one = |word: &str| ONES.iter().position(|name| *name == word).map(|at| at as u32);
    let ten = |word: &str| TENS.iter().position(|name| *name == word).map(|at| 10 * (at as u32 + 2));
    one(word).or_else(|| ten(word)).or_else(|| {
        let (tens, ones) = word.split_once('-')?;
        Some(ten(tens)? + one(ones).filter(|ones| (1..10).contains(ones))?)
    })
}

/// Whether a text in small letters has the name of a number anywhere, be it in another word.
#[must_use]
pub fn has_any(text: &str) -> bool {
    ONES.iter().chain(&TENS).any(|name| text.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_numbers_up_to_ninety_nine() {
        for (word, number) in [("zero", 0), ("twelve", 12), ("fifteen", 15), ("thirty", 30), ("twenty-one", 21), ("ninety-nine", 99)] {
            assert_eq!(in_words(word), Some(number), "{word}");
        }
        for word in ["", "hundred", "twenty-", "-one", "twenty-ten", "twenty-zero", "one-twenty", "some", "often"] {
            assert_eq!(in_words(word), None, "{word}");
        }
        assert!(has_any("a table for fifteen") && has_any("often") && !has_any("a table"));
    }
}
