//! Which names a wrong one may have meant.

/// How many are told.
const TOLD: usize = 4;

/// The names that differ least from `name`, nearest first; of those alike, in their own order.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // A name of any length may be given: its first characters say what was meant.
    let name: Vec<char> = name.chars().take(64).flat_map(char::to_lowercase).collect();
    let mut ranked: Vec<(usize, &str)> = known.into_iter().map(|known| (distance(&name, known), known)).collect();
    ranked.sort_unstable();
    ranked.into_iter().take(TOLD).map(|(_, known)| known).collect()
}

/// Levenshtein's distance: the fewest characters to insert, delete or replace.
fn distance(name: &[char], known: &str) -> usize {
    let mut row: Vec<usize> = (0..=name.len()).collect();
    for (line, wanted) in known.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (at, given) in name.iter().enumerate() {
            let replaced = diagonal + usize::from(*given != wanted);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_textbook() {
        for (name, known, expected) in [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("gpt-4o", "gpt-4o", 0), ("ab", "ba", 2)]
        {
            assert_eq!(distance(&name.chars().collect::<Vec<_>>(), known), expected, "{name} {known}");
        }
    }

    #[test]
    fn the_nearest_come_first() {
        let known = ["claude-opus-4-1", "gpt-4", "gpt-4o", "gpt-4o-mini", "gpt-5"];
        assert_eq!(nearest("GPT4o", known)[0], "gpt-4o");
        assert_eq!(nearest(&"x".repeat(1 << 20), known).len(), TOLD);
    }
}
