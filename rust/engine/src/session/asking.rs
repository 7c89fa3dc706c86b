//! The part of a user's message that memory is asked: people paste logs, traces and code beside a question, and those have so many words
//! that nothing answers all of them.

use std::borrow::Cow;

use crate::text::{is_filler, speech};
use crate::units::clip::clip;

/// So many lines are a paste: fewer are a part of what somebody says.
const FEWEST: usize = 3;
/// A line with one number or mark of code for so many letters, or more of them, is pasted.
const LETTERS_A_MARK: usize = 8;
/// A line that is indented so far is pasted.
const INDENTED: usize = 4;
/// So many words beside filler say by themselves what is asked: "what is wrong here?" is about the lines below it.
const FEWEST_WORDS: usize = 2;
/// Letters of a script without spaces that are reckoned for a word.
const LETTERS_A_WORD: usize = 4;

/// The most bytes that memory is asked.
const MOST_BYTES: usize = 8 << 10;

/// A message without the lines that are pasted into it, at most 8 KiB.
pub(super) fn asking(text: &str) -> Cow<'_, str> {
    match without_pasted(text) {
        Cow::Borrowed(said) => Cow::Borrowed(clip(said, MOST_BYTES)),
        Cow::Owned(said) => Cow::Owned(clip(&said, MOST_BYTES).to_owned()),
    }
}

/// All of it where few lines are pasted, or where the others say too little.
fn without_pasted(text: &str) -> Cow<'_, str> {
    if text.lines().nth(FEWEST).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut said, mut pasted, mut is_fenced) = (Vec::new(), 0, false);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let is_fence = line.trim_start().starts_with("```");
        if is_fence || is_fenced || is_pasted(line) {
            pasted += 1;
        } else {
            said.push(line);
        }
        is_fenced ^= is_fence;
    }
    let words = || said.iter().flat_map(|line| line.split_whitespace()).map(words_of).sum::<usize>();
    if pasted < FEWEST || words() < FEWEST_WORDS { Cow::Borrowed(text) } else { Cow::Owned(said.join("\n")) }
}

/// Whether a line that does not ask is of code, a log or a table.
fn is_pasted(line: &str) -> bool {
    let indent = line.bytes().take_while(u8::is_ascii_whitespace).map(|byte| if byte == b'\t' { INDENTED } else { 1 }).sum::<usize>();
    if indent >= INDENTED {
        return true;
    }
    let (mut letters, mut marks, mut in_number) = (0, 0, false);
    for letter in line.chars() {
        let is_digit = letter.is_ascii_digit();
        letters += usize::from(letter.is_alphabetic());
        marks += usize::from(is_digit && !in_number || "(){}[]<>=_/\\|;#$%&*@`~^+".contains(letter));
        in_number = is_digit;
    }
    marks * LETTERS_A_MARK >= letters.max(1) && !(line.trim_end().ends_with(['?', '\u{ff1f}', '\u{61f}']) && speech::asks(line))
}

/// The words that a word counts for: none where it is filler.
fn words_of(word: &str) -> usize {
    let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    if bare.is_ascii() {
        usize::from(!bare.is_empty() && !is_filler(bare.to_ascii_lowercase().as_bytes()))
    } else {
        bare.chars().count().div_ceil(LETTERS_A_WORD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: &str = "Which team does the checkout service page?";
    const LOG: &str =
        "2026-06-01 10:00:00 INFO svc handled req 1\n2026-06-01 10:00:01 INFO svc handled req 2\n2026-06-01 10:00:02 WARN slow";
    const CODE: &str = "```python\ndef handle(request):\n    return render(request.args)\n```";
    const TRACE: &str = "  File \"/srv/app/mod.py\", line 7, in run\n    self.next(ctx)\nKeyError: 42";

    #[test]
    fn a_question_is_asked_without_what_is_pasted_beside_it() {
        for paste in [LOG, CODE, TRACE] {
            assert_eq!(asking(&format!("{QUESTION}\n\n{paste}")), QUESTION, "{paste}");
            assert_eq!(asking(&format!("{paste}\n{QUESTION}")), QUESTION, "{paste}");
        }
        assert_eq!(asking(&format!("{LOG}\nWhat did order #4512 (2026) cost?")), "What did order #4512 (2026) cost?");
        assert_eq!(asking(&format!("{LOG}\nチェックアウトのチームはどこですか？")), "チェックアウトのチームはどこですか？");
    }

    #[test]
    fn what_somebody_says_is_asked_whole() {
        for text in [
            QUESTION,
            "I fly to Porto in May 2026.\nMy budget is 1,200 euros for 2 people.\nI love fish.\nWhere should I eat?",
            "- call Ann\n- pay rent (900)\n- buy 2 tyres\nWhich of these did I plan for today?",
            "10:00 standup\n11:30 call\nWhat else is on today?",
            "",
        ] {
            assert_eq!(asking(text), text);
        }
        for text in [LOG.to_owned(), CODE.to_owned(), format!("{LOG}\nwhat is wrong here?"), format!("{TRACE}\nwhy?")] {
            assert_eq!(asking(&text), text, "the paste says what is asked");
        }
    }
}
