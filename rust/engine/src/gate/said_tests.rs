//! A count of the sentences that are kept as a careful reader would keep them, of the 60 in `tests/data/said.tsv`. docs/life.md names the figures.

use super::{Category, Heard, judge_among};

const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

/// Whether the believed claims of the last of these messages are what a line of the table says.
fn is_as_said(messages: &str, says: &str, never: &str) -> bool {
    let heard: Vec<Heard> = (0..).zip(messages.split(" => ")).map(|(index, text)| Heard::new(index, "user", text, Some(AT))).collect();
    let claims = judge_among(&heard, heard.len() - 1, AT);
    let believed = claims.into_iter().filter(|claim| claim.category != Category::Discard && claim.doubt.is_none());
    let texts: Vec<String> = believed.map(|claim| claim.text.to_lowercase()).collect();
    let has = |text: &String, piece: &str| piece.split('/').any(|form| text.contains(&form.to_lowercase()));
    let is_said = match says {
        "-" => texts.is_empty() || never != "-",
        _ => texts.iter().any(|text| says.split('|').all(|piece| has(text, piece))),
    };
    is_said && (never == "-" || !texts.iter().any(|text| never.split('|').any(|piece| text.contains(&piece.to_lowercase()))))
}

/// `cargo test -p memspan-engine said_tests -- --nocapture` prints the figures.
#[test]
fn what_people_say_is_kept_as_said() {
    let table = include_str!("../../../../tests/data/said.tsv");
    for (half, floor) in [("mended", 28), ("kept", 24)] {
        let (mut count, mut missed) = (0, Vec::new());
        for line in table.lines().filter(|line| line.starts_with(half)) {
            let [_, _, messages, says, never] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("five fields: {line}") };
            count += 1;
            // Of the half that is kept back only the number is shown. A sentence that was seen gets a rule.
            if !is_as_said(messages, says, never) {
                missed.push(if half == "kept" { "" } else { messages });
            }
        }
        println!("{half}: {} of {count} as said; missed: {missed:?}", count - missed.len());
        assert_eq!(count, 30, "{half}");
        assert!(count - missed.len() >= floor, "{half}: {} of {count}, at least {floor}; missed: {missed:?}", count - missed.len());
    }
}
