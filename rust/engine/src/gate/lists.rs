//! Lists of words: data in tables (`lists/`), which the compiler reads, so that a list costs what an array costs.
//!
//! A row begins with the name of a list, or with a tab where the list of the row above goes on. Words are parted by tabs. Their order is
//! kept: where several openings fit a sentence, the first of them counts.

/// Declares lists that a table has, by their names there.
macro_rules! lists {
    ($table:literal: $($(#[$doc:meta])* $scope:vis $name:ident,)+) => {
        const TABLE: &str = include_str!(concat!("lists/", $table, ".tsv"));
        $(
            $(#[$doc])*
            $scope static $name: [&str; $crate::gate::lists::count(TABLE, stringify!($name))] =
                $crate::gate::lists::list(TABLE, stringify!($name));
        )+
        /// The table, and the lists that are declared of it.
        #[cfg(test)]
        pub(in crate::gate) const LISTS: (&str, &[&str]) = (TABLE, &[$(stringify!($name)),+]);
    };
}
pub(in crate::gate) use lists;

/// How many words a list of a table has.
pub const fn count(table: &str, name: &str) -> usize {
    let (mut at, mut count) = (begin(table.as_bytes(), name.as_bytes()), 0);
    while let Some((_, end)) = next(table.as_bytes(), at) {
        (at, count) = (end, count + 1);
    }
    count
}

/// The words of a list of a table.
pub const fn list<const N: usize>(table: &'static str, name: &str) -> [&'static str; N] {
    let (mut at, mut count, mut words) = (begin(table.as_bytes(), name.as_bytes()), 0, [""; N]);
    while let Some((start, end)) = next(table.as_bytes(), at) {
        words[count] = match str::from_utf8(table.as_bytes().split_at(end).0.split_at(start).1) {
            Ok(word) => word,
            Err(_) => panic!("a tab parts two characters"),
        };
        (at, count) = (end, count + 1);
    }
    words
}

/// The tab behind the name of a list.
const fn begin(table: &[u8], name: &[u8]) -> usize {
    let mut row = 0;
    while row < table.len() {
        let mut same = 0;
        while same < name.len() && row + same < table.len() && table[row + same] == name[same] {
            same += 1;
        }
        if same == name.len() && row + same < table.len() && table[row + same] == b'\t' {
            return row + same;
        }
        while row < table.len() && table[row] != b'\n' {
            row += 1;
        }
        row += 1;
    }
    panic!("the table has no list of this name")
}

/// Where the word begins and ends that the tab at `at` parts from what is before it; `None` behind the last of a list.
const fn next(table: &[u8], at: usize) -> Option<(usize, usize)> {
    let goes_on = at + 1 < table.len() && table[at] == b'\n' && table[at + 1] == b'\t';
    let tab = if goes_on { at + 1 } else { at };
    if tab >= table.len() || table[tab] != b'\t' {
        return None;
    }
    let mut end = tab + 1;
    while end < table.len() && table[end] != b'\t' && table[end] != b'\n' {
        end += 1;
    }
    Some((tab + 1, end))
}

#[cfg(test)]
mod tests {
    use crate::gate::{
        answers, assign, attribute, beings, beside, by_name, changes, constraint, corrects, dates, elsewhere, frames, greeted, guards,
        habits, handed, health, introduction, languages, left, lexicon, limit, manner, medicine, named, off_record, orders, others,
        otherwise, over, pastes, person, plain, prefers, question, relates, relatives, rest, rules, sentence, shift, states, taken_back,
        tasks, things, together, told, tools, values,
    };

    /// A list that nothing declares is read by nobody, and a word that stands twice in one counts once.
    #[test]
    fn tables_have_lists_that_are_declared_and_words_once() {
        let tables = [
            answers::LISTS,
            assign::LISTS,
            attribute::LISTS,
            beings::LISTS,
            beside::LISTS,
            by_name::LISTS,
            changes::LISTS,
            constraint::LISTS,
            corrects::LISTS,
            dates::LISTS,
            elsewhere::LISTS,
            frames::LISTS,
            greeted::LISTS,
            guards::LISTS,
            habits::LISTS,
            handed::LISTS,
            health::LISTS,
            introduction::LISTS,
            languages::LISTS,
            left::LISTS,
            lexicon::LISTS,
            limit::LISTS,
            manner::LISTS,
            medicine::LISTS,
            named::LISTS,
            off_record::LISTS,
            orders::LISTS,
            others::LISTS,
            otherwise::LISTS,
            over::LISTS,
            pastes::LISTS,
            person::LISTS,
            plain::LISTS,
            prefers::LISTS,
            question::LISTS,
            relates::LISTS,
            relatives::LISTS,
            rest::LISTS,
            rules::LISTS,
            sentence::LISTS,
            shift::LISTS,
            states::LISTS,
            taken_back::LISTS,
            tasks::LISTS,
            together::LISTS,
            things::LISTS,
            told::LISTS,
            tools::LISTS,
            values::LISTS,
        ];
        for (table, declared) in tables {
            let (mut names, mut words) = (Vec::new(), Vec::new());
            for row in table.lines() {
                let mut fields = row.split('\t');
                let name = fields.next().unwrap();
                if !name.is_empty() {
                    names.push(name);
                    words.clear();
                }
                for word in fields {
                    assert!(!word.is_empty() && word.trim() == word && !words.contains(&word), "{names:?}: {word:?}");
                    words.push(word);
                }
            }
            assert_eq!(names, declared, "the lists of a table, in the order in which they are declared");
        }
    }
}
