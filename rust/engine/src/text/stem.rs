//! Light English stemming: steps 1a, 1b and 5 of Porter (1980) on lower-case ASCII words of four and more letters.
//!
//! Plurals, `-ed`, `-ing`, final `e`; `-ies` and `-ied` become `y`, so that step 1c (final `y` to `i`) is not needed. Derivations (`-ness`, `-ation`) are left alone: they change the meaning more often
//! than they hide the word. It is not a lemmatiser: a stem need not be a word.

/// The shortest word that is stemmed.
const SHORTEST: usize = 4;

/// The stem of a word: the first `keep` bytes of it, then `end`. `None` where the stem is the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stem {
    pub(super) keep: usize,
    pub(super) end: &'static [u8],
}

/// Calls `of` with the stem of a folded word, in two parts.
pub(crate) fn with_stem<R>(word: &[u8], of: impl FnOnce([&[u8]; 2]) -> R) -> R {
    match stem(word) {
        Some(Stem { keep, end }) => of([&word[..keep], end]),
        None => of([word, b""]),
    }
}

/// The stem of a folded word, if it differs from the word.
pub(super) fn stem(word: &[u8]) -> Option<Stem> {
    let last = *word.last()?;
    let may_change = match last {
        b's' | b'e' => true,
        b'd' => matches!(word, [.., b'e', _]),
        b'g' => matches!(word, [.., b'i', b'n', _]),
        b'l' => matches!(word, [.., b'l', _]),
        _ => false,
    };
    if !may_change || word.len() < SHORTEST || !word.iter().all(u8::is_ascii_lowercase) {
        return None;
    }
    if word.len() > SHORTEST && matches!(word, [.., b'i', b'e', b's' | b'd']) {
        return Some(Stem { keep: word.len() - 3, end: b"y" });
    }
    let singular = plural(word);
    let (base, restored) = past_or_gerund(&word[..singular]);
    let stem = if restored { Stem { keep: base, end: b"e" } } else { Stem { keep: base, end: b"" } };
    let stem = finish(word, stem);
    (stem.keep + stem.end.len() != word.len() || !word.ends_with(stem.end)).then_some(stem)
}

/// Length of the word without its plural ending.
fn plural(word: &[u8]) -> usize {
    match word {
        [.., b's' | b'u' | b'i', b's'] => word.len(),
        [.., b's', b's', b'e', b's']
        | [.., b'x' | b'o', b'e', b's']
        | [.., b'c' | b's', b'h', b'e', b's']
        | [.., b'z', b'z', b'e', b's'] => word.len() - 2,
        [.., b's'] => word.len() - 1,
        _ => word.len(),
    }
}

/// Length without `-ed` or `-ing`, and whether a final `e` is to be restored (`moved`, `created`).
fn past_or_gerund(word: &[u8]) -> (usize, bool) {
    let base = match word {
        [.., b'e', b'e', b'd'] => return (word.len(), false),
        [base @ .., b'i', b'n', b'g'] | [base @ .., b'e', b'd'] => base,
        _ => return (word.len(), false),
    };
    if base.len() < 2 || !(0..base.len()).any(|at| is_vowel(base, at)) {
        return (word.len(), false);
    }
    if matches!(base, [.., b'a', b't'] | [.., b'b', b'l'] | [.., b'i', b'z']) {
        return (base.len(), true);
    }
    if ends_double(base) && !matches!(base[base.len() - 1], b'l' | b's' | b'z') {
        return (base.len() - 1, false);
    }
    (base.len(), measure(base) == 1 && is_short(base))
}

/// Final `e` goes where enough is left, `ll` is `l`.
fn finish(word: &[u8], stem: Stem) -> Stem {
    let base = &word[..stem.keep];
    match base.last() {
        Some(_) if !stem.end.is_empty() => drop_e(base, stem),
        Some(b'e') => drop_e(&base[..base.len() - 1], stem),
        Some(b'l') if ends_double(base) && measure(base) > 1 => Stem { keep: stem.keep - 1, ..stem },
        _ => stem,
    }
}

/// `base` is the stem without its final `e`.
fn drop_e(base: &[u8], stem: Stem) -> Stem {
    let goes = measure(base) > 1 || measure(base) == 1 && !is_short(base);
    if goes { Stem { keep: base.len(), end: b"" } } else { stem }
}

fn is_vowel(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => true,
        b'y' => at > 0 && !matches!(word[at - 1], b'a' | b'e' | b'i' | b'o' | b'u'),
        _ => false,
    }
}

/// Porter's m: how often a consonant follows a vowel.
fn measure(word: &[u8]) -> usize {
    (1..word.len()).filter(|at| !is_vowel(word, *at) && is_vowel(word, at - 1)).count()
}

/// Porter's *o: consonant, vowel, consonant at the end, the last not `w`, `x` or `y`.
fn is_short(word: &[u8]) -> bool {
    let len = word.len();
    len >= 3
        && !is_vowel(word, len - 3)
        && is_vowel(word, len - 2)
        && !is_vowel(word, len - 1)
        && !matches!(word[len - 1], b'w' | b'x' | b'y')
}

fn ends_double(word: &[u8]) -> bool {
    let len = word.len();
    len >= 2 && word[len - 1] == word[len - 2] && !is_vowel(word, len - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stemmed(word: &str) -> String {
        stem(word.as_bytes())
            .map_or(word.to_owned(), |s| word[..s.keep].to_owned() + std::str::from_utf8(s.end).expect("an ending is ASCII"))
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["payment", "payments"][..],
            &["prefer", "prefers", "preferred", "preferring"],
            &["configure", "configured", "configures", "configuring"],
            &["move", "moved", "moving", "moves"],
            &["hope", "hoped", "hoping", "hopes"],
            &["hop", "hopped", "hopping", "hops"],
            &["run", "running", "runs"],
            &["create", "created", "creating", "creates"],
            &["query", "queries"],
            &["box", "boxes"],
            &["watch", "watches", "watched", "watching"],
            &["decide", "decided", "deciding"],
            &["house", "houses"],
            &["travel", "travelled", "travelling", "travels"],
            &["try", "tries", "tried", "trying"],
            &["class", "classes"],
        ] {
            for form in forms {
                assert_eq!(stemmed(form), stemmed(forms[0]), "{form}");
            }
        }
    }

    #[test]
    fn what_is_no_ending_stays() {
        for word in ["this", "bus", "sing", "red", "need", "class", "status", "bed", "string", "café", "as", "port"] {
            assert_eq!(stemmed(word), word);
        }
    }

    #[test]
    fn a_stem_is_never_empty() {
        for word in ["eees", "ssss", "inging", "eded", "yyyy", "sses", "ings", "aeed", "llll", "eeee"] {
            assert!(!stemmed(word).is_empty(), "{word}");
        }
    }
}
