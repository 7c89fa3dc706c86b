//! Tests that the work on a message grows as its length does. Each counts work, or has a text of which nobody saw the end before.

use super::blocks::without_blocks;
use super::sentence::Sentence;
use super::words::{sentences, words};
use super::{Heard, Speaker, Utterance, judge, judge_among, rules};
use crate::ErrorKind;
use crate::interrupt::counted::after;

const MANY: usize = usize::MAX - 1;

fn corrections(messages: u64, of: usize) -> Vec<Heard> {
    let said = (0..of).map(|n| format!("Sorry, I meant Porto{n}.")).collect::<Vec<_>>().join(" ");
    (0..messages).map(|at| Heard::new(at, "user", &said, Some(0))).collect()
}

#[test]
fn a_message_of_corrections_has_each_message_before_it_judged_once() {
    let heard = corrections(4, 18);
    let looks = |place: usize| after(MANY, || Ok(judge_among(&heard, place, 0))).1;
    assert!(looks(3) <= 4 * looks(0), "{} looks, and {} at the first message", looks(3), looks(0));
}

#[test]
fn judging_looks_at_each_sentence_whether_it_is_to_end() {
    let heard = corrections(1, 18);
    let judged = |looks| after(looks, || Ok(judge_among(&heard, 0, 0)));
    let (whole, looks) = judged(MANY);
    assert!(whole.is_ok() && looks >= 18, "{looks} looks");
    for looks in [0, 1, looks - 1] {
        let (ended, looked) = judged(looks);
        assert!(ended.is_err_and(|error| error.kind() == ErrorKind::Interrupted) && looked <= looks + 1, "it went on after {looks}");
    }
    let (text, signs) = ("tea and toast ".repeat(1 << 16), "<a> ".repeat(1 << 18) + "</a>");
    let ways: [(&str, &dyn Fn() -> usize); 3] = [
        ("words", &|| words(&text).len()),
        ("sentences", &|| sentences(&text.replace(" and", ".")).len()),
        ("blocks", &|| without_blocks(&signs).len()),
    ];
    for (name, way) in ways {
        let (done, looks) = after(MANY, || Ok(way()));
        assert!(done.is_ok() && looks >= 10, "{name}: {looks} looks");
    }
}

#[test]
fn blocks_that_nobody_closes_are_looked_for_once() {
    let many = 1 << 18;
    for text in [
        "<memory>".repeat(many) + "</",
        "<memory ".repeat(many) + "</",
        "<memory ".repeat(many) + "</memory>",
        "<memory <b>a</b>".repeat(many / 2),
        "<memory><items>".repeat(many / 2) + "</summary>",
    ] {
        assert_eq!(without_blocks(&text), text);
    }
    assert_eq!(without_blocks(&"<items>a</items>".repeat(many)).trim(), "");
}

#[test]
fn a_sentence_is_read_within_itself_a_few_times_alone() {
    for unit in ["Ana ", "in May (", "for the report, "] {
        let text = unit.repeat(2_000 / words(unit).len());
        let (_, readings) = after(MANY, || Ok(rules::read(&Sentence { text: &text, words: &words(&text) })));
        assert!(readings < 100, "{unit}: {readings} readings");
    }
    let nested = "for the report, in the summary, for clients, in French, use no bullet points from now on";
    assert!(rules::read(&Sentence { text: nested, words: &words(nested) }).is_some_and(|reading| reading.is_order()));
}

#[test]
fn a_sentence_has_no_end_of_parts() {
    let judged = |times: usize| {
        let text = "I live in Porto and I'm Ana, ".repeat(times);
        judge(&Utterance { text: &text, speaker: Speaker::User, before: "", after: "", at: 0 }).len()
    };
    assert!(judged(10) >= 20, "{} claims", judged(10));
    assert!(judged(130) <= 128, "{} claims", judged(130));
}

#[test]
fn ends_of_sentences_are_told_by_few_letters_beside_them() {
    assert_eq!(sentences("It is Dr. med. Weber. He left.").len(), 2);
    assert_eq!(sentences(&"Dr. med. ".repeat(1 << 18)).len(), 1);
    assert_eq!(sentences(&("It is on the 3. ".to_owned() + &"of ".repeat(1 << 20))).len(), 2);
}
