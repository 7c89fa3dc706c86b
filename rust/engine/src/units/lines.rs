//! The lines of a text, each with its place.

/// The lines of a text with where they begin, line ends left out.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.trim_end_matches(['\n', '\r']))
    })
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_stand_where_they_begin() {
        assert_eq!(lines("a\r\n\nbc").collect::<Vec<_>>(), [(0, "a"), (3, ""), (4, "bc")]);
        assert_eq!(lines("").count(), 0);
    }
}
