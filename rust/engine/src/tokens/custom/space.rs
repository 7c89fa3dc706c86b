//! How `SentencePiece` shows spaces: as U+2581, and one before the text where the file says so.

use std::borrow::Cow;

/// The settings of a file for spaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Space {
    /// Each space becomes U+2581.
    pub(super) replaced: bool,
    /// Where U+2581 stands before a text.
    pub(super) prepended: Prepended,
    /// Each U+2581 begins a pretoken.
    pub(super) splits: bool,
}

/// Where one stands before a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Prepended {
    /// Nowhere.
    #[default]
    Never,
    /// Before every part that is not empty.
    Always,
    /// Before every part that does not begin with a space or with U+2581.
    Unless,
    /// Before the first part only, where it does not begin with a space or with U+2581.
    First,
}

const SHOWN: char = '\u{2581}';

impl Space {
    /// A part of a text as it is merged.
    pub(super) fn shown(self, text: &str, first: bool) -> Cow<'_, str> {
        if text.is_empty() {
            return Cow::Borrowed(text);
        }
        let begins = text.starts_with(SHOWN) || self.replaced && text.starts_with(' ');
        let prepend = match self.prepended {
            Prepended::Never => false,
            Prepended::Always => true,
            Prepended::Unless => !begins,
            Prepended::First => first && !begins,
        };
        let mut shown = String::with_capacity(text.len() + text.len() / 2 + 3);
        shown.extend(prepend.then_some(SHOWN));
        shown.extend(text.chars().map(|character| if self.replaced && character == ' ' { SHOWN } else { character }));
        Cow::Owned(shown)
    }

    /// The pretokens of a text as it is merged.
    pub(super) fn pretokens(self, shown: &str) -> impl Iterator<Item = &str> {
        let (mut rest, splits) = (shown, self.splits);
        std::iter::from_fn(move || {
            let first = rest.chars().next()?.len_utf8();
            let end = if splits { rest[first..].find(SHOWN).map_or(rest.len(), |at| at + first) } else { rest.len() };
            let (pretoken, behind) = rest.split_at(end);
            rest = behind;
            Some(pretoken)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_shown_as_the_file_says() {
        let space = |prepended| Space { replaced: true, prepended, splits: true };
        assert_eq!(space(Prepended::Always).shown(" a b", true), "▁▁a▁b");
        assert_eq!(space(Prepended::Unless).shown(" a b", false), "▁a▁b");
        assert_eq!(space(Prepended::First).shown("a", false), "a");
        assert_eq!(space(Prepended::Always).shown("", true), "");
        assert_eq!(space(Prepended::Never).pretokens("a▁▁bc▁d").collect::<Vec<_>>(), ["a", "▁", "▁bc", "▁d"]);
        assert_eq!(Space::default().pretokens("a▁b").collect::<Vec<_>>(), ["a▁b"]);
    }
}
