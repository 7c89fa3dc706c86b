//! English stems by the Snowball algorithm "english" (Porter2, M. F. Porter; version 3.1 of snowballstem.org): `connect`, `connected` and
//! `connections` are one term. For documents, whose analyzer ([`super::STEMS`]) has a word only as its stem.
//!
//! The steps have the names of its description; R1 and R2 begin at `p1` and `p2`. Only words of small ASCII letters have a stem. It is
//! never longer than the word, so it is made in place.

/// Whole words with a stem of their own.
const EXCEPTIONS: [(&str, &str); 15] = [
    ("andes", "andes"),
    ("atlas", "atlas"),
    ("bias", "bias"),
    ("cosmos", "cosmos"),
    ("early", "earli"),
    ("gently", "gentl"),
    ("howe", "howe"),
    ("idly", "idl"),
    ("news", "news"),
    ("only", "onli"),
    ("singly", "singl"),
    ("skies", "sky"),
    ("skis", "ski"),
    ("sky", "sky"),
    ("ugly", "ugli"),
];
/// Beginnings behind which R1 begins.
const BEGINNINGS: [&str; 9] = ["arsen", "commun", "emerg", "gener", "inter", "later", "organ", "past", "univers"];
/// Whole words before `-eed`, and before `-ing`, that keep it.
const KEEP_EED: [&str; 3] = ["succ", "proc", "exc"];
const KEEP_ING: [&str; 6] = ["even", "cann", "inn", "earr", "herr", "out"];
const DOUBLES: [&str; 9] = ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"];
/// Letters that may stand before `-li`.
const VALID_LI: &[u8] = b"cdeghkmnrt";

// Of endings where one ends with another the longer stands first.
const STEP_2: [(&str, &str); 25] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("lessli", "less"),
    ("fulli", "ful"),
    ("ousli", "ous"),
    ("entli", "ent"),
    ("biliti", "ble"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("abli", "able"),
    ("alli", "al"),
    ("bli", "ble"),
    ("alism", "al"),
    ("ogist", "og"),
    ("anci", "ance"),
    ("enci", "ence"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("ogi", "og"),
    ("li", ""),
];
const STEP_3: [(&str, &str); 9] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];
const STEP_4: [&str; 18] =
    ["ement", "ance", "ence", "able", "ible", "ment", "ate", "ive", "ize", "iti", "ism", "ion", "ous", "ant", "ent", "ic", "al", "er"];

/// Makes a word its stem, in place; the length of it.
pub(super) fn stem(letters: &mut [u8]) -> usize {
    if letters.len() < 3 || !letters.iter().all(u8::is_ascii_lowercase) {
        return letters.len();
    }
    let mut word = Word { len: letters.len(), p1: letters.len(), p2: letters.len(), letters };
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(whole, _)| word.is(whole)) {
        word.replace(word.len, stem);
        return word.len;
    }
    word.mark_consonants();
    word.mark_regions();
    word.step_1a();
    word.step_1b();
    word.step_1c();
    word.step_2();
    word.step_3();
    word.step_4();
    word.step_5();
    let len = word.len;
    letters[..len].make_ascii_lowercase();
    len
}

/// A word on the way to its stem. `Y` is a `y` that is not a vowel.
struct Word<'w> {
    letters: &'w mut [u8],
    len: usize,
    p1: usize,
    p2: usize,
}

impl Word<'_> {
    fn text(&self) -> &[u8] {
        &self.letters[..self.len]
    }

    fn is(&self, whole: &str) -> bool {
        self.text() == whole.as_bytes()
    }

    fn ends(&self, ending: &str) -> bool {
        self.text().ends_with(ending.as_bytes())
    }

    /// The first of these that it ends with.
    fn ending<'e>(&self, endings: &[&'e str]) -> Option<&'e str> {
        endings.iter().copied().find(|ending| self.ends(ending))
    }

    /// Puts `by` in the place of its last `count` letters.
    fn replace(&mut self, count: usize, by: &str) {
        let start = self.len - count;
        self.len = start + by.len();
        self.letters[start..self.len].copy_from_slice(by.as_bytes());
    }

    fn is_vowel(&self, at: usize) -> bool {
        matches!(self.letters[at], b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
    }

    fn has_vowel(&self, before: usize) -> bool {
        (0..before).any(|at| self.is_vowel(at))
    }

    fn mark_consonants(&mut self) {
        for at in 0..self.len {
            if self.letters[at] == b'y' && (at == 0 || self.is_vowel(at - 1)) {
                self.letters[at] = b'Y';
            }
        }
    }

    fn mark_regions(&mut self) {
        let beginning = BEGINNINGS.iter().find(|beginning| self.text().starts_with(beginning.as_bytes()));
        self.p1 = beginning.map_or_else(|| self.behind_syllable(0), |beginning| beginning.len());
        self.p2 = self.behind_syllable(self.p1);
    }

    /// Behind the first consonant that follows a vowel, from a place on.
    fn behind_syllable(&self, from: usize) -> usize {
        let vowel = (from..self.len).find(|at| self.is_vowel(*at));
        let consonant = vowel.and_then(|vowel| (vowel..self.len).find(|at| !self.is_vowel(*at)));
        consonant.map_or(self.len, |consonant| consonant + 1)
    }

    /// Whether what stands before a place ends with a short syllable.
    fn is_short(&self, end: usize) -> bool {
        let is_consonant = |back: usize| end >= back && !self.is_vowel(end - back);
        let is_vowel = |back: usize| end >= back && self.is_vowel(end - back);
        is_consonant(1) && !matches!(self.letters[end - 1], b'w' | b'x' | b'Y') && is_vowel(2) && is_consonant(3)
            || end == 2 && is_consonant(1) && is_vowel(2)
            || self.letters[..end].ends_with(b"past")
    }

    fn step_1a(&mut self) {
        match self.ending(&["sses", "ied", "ies", "ss", "us", "s"]) {
            Some("sses") => self.replace(2, ""),
            Some("ied" | "ies") => self.replace(3, if self.len > 4 { "i" } else { "ie" }),
            Some("s") if self.len > 2 && self.has_vowel(self.len - 2) => self.replace(1, ""),
            _ => {}
        }
    }

    fn step_1b(&mut self) {
        let Some(ending) = self.ending(&["eedly", "ingly", "edly", "eed", "ing", "ed"]) else { return };
        let start = self.len - ending.len();
        let before = &self.letters[..start];
        let is_kept = |words: &[&str]| words.iter().any(|word| word.as_bytes() == before);
        match ending {
            "eed" | "eedly" if start >= self.p1 && !is_kept(&KEEP_EED) => self.replace(ending.len(), "ee"),
            "ing" if start == 2 && before[1] == b'y' && !self.is_vowel(0) => self.replace(4, "ie"),
            "eed" | "eedly" => {}
            "ing" if is_kept(&KEEP_ING) => {}
            _ if self.has_vowel(start) => {
                self.replace(ending.len(), "");
                self.mend();
            }
            _ => {}
        }
    }

    /// The stem without `-ed` or `-ing` gets the end that it had before.
    fn mend(&mut self) {
        if self.ending(&["at", "bl", "iz"]).is_some() {
            self.replace(0, "e");
        } else if self.ending(&DOUBLES).is_some() {
            if !(self.len == 3 && matches!(self.letters[0], b'a' | b'e' | b'o')) {
                self.replace(1, "");
            }
        } else if self.len == self.p1 && self.is_short(self.len) {
            self.replace(0, "e");
        }
    }

    fn step_1c(&mut self) {
        if self.len > 2 && matches!(self.letters[self.len - 1], b'y' | b'Y') && !self.is_vowel(self.len - 2) {
            self.replace(1, "i");
        }
    }

    fn step_2(&mut self) {
        let Some((ending, by)) = STEP_2.iter().find(|(ending, _)| self.ends(ending)) else { return };
        let start = self.len - ending.len();
        let may_go = match *ending {
            "li" => start > 0 && VALID_LI.contains(&self.letters[start - 1]),
            "ogi" => start > 0 && self.letters[start - 1] == b'l',
            _ => true,
        };
        if start >= self.p1 && may_go {
            self.replace(ending.len(), by);
        }
    }

    fn step_3(&mut self) {
        let Some((ending, by)) = STEP_3.iter().find(|(ending, _)| self.ends(ending)) else { return };
        let start = self.len - ending.len();
        if start >= self.p1 && (*ending != "ative" || start >= self.p2) {
            self.replace(ending.len(), by);
        }
    }

    fn step_4(&mut self) {
        let Some(ending) = self.ending(&STEP_4) else { return };
        let start = self.len - ending.len();
        let may_go = ending != "ion" || start > 0 && matches!(self.letters[start - 1], b's' | b't');
        if start >= self.p2 && may_go {
            self.replace(ending.len(), "");
        }
    }

    fn step_5(&mut self) {
        let start = self.len - 1;
        let goes = match self.letters[start] {
            b'e' => start >= self.p2 || start >= self.p1 && !self.is_short(start),
            b'l' => start >= self.p2 && start > 0 && self.letters[start - 1] == b'l',
            _ => false,
        };
        if goes {
            self.replace(1, "");
        }
    }
}

#[cfg(test)]
mod tests {
    /// Words and their stems by the reference implementation, snowballstemmer 3.1.1: of its rules and exceptions each some.
    const REFERENCE: &str = include_str!("porter_words.txt");

    #[test]
    fn stems_are_those_of_the_reference() {
        for line in REFERENCE.lines() {
            let (word, expected) = line.split_once(' ').expect("a word and its stem");
            let mut letters = word.as_bytes().to_vec();
            let len = super::stem(&mut letters);
            assert_eq!(std::str::from_utf8(&letters[..len]), Ok(expected), "{word}");
        }
        assert!(REFERENCE.lines().count() > 700);
    }

    #[test]
    fn what_is_no_small_ascii_word_stays() {
        for word in ["caf\u{e9}s", "k8s", "ab", "", "Running", "don't"] {
            assert_eq!(super::stem(&mut word.as_bytes().to_vec()), word.len(), "{word}");
        }
    }
}
