//! The part of a long text that answers a question: the run of its lines and sentences that has most of the question.
//!
//! ```text
//! pieces   lines, long ones cut at sentences, longer ones within PIECE bytes: behind a "}", else a "," or ";", else a space
//! worth    of a run: what its distinct terms of the question weigh, rare ones more, and its closest piece by meaning; for a question
//!          about a failure also that it tells of one, where few pieces do
//! run      the worthiest within the room; of equals the shortest, then the first; then what a cut tore from it, two pieces at most on
//!          either side; then the rest of its record, by indentation; then its neighbours, while they fit
//! ```
//!
//! It reads one text. A question that matches nothing in it gives its beginning. Sums are whole numbers, so a text has one answer
//! everywhere.

use std::cmp::Reverse;

use super::failures;
use crate::embedding::{Content, Cut, Wanted, distinct_tokens};
use crate::interrupt;
use crate::text::{Query, analyze, with_analyzer};
use crate::units::clusters::{border_at_or_before, border_at_or_behind, cut_at_or_before};
use crate::units::term_key::TermKey;

/// The longest piece, in bytes.
const PIECE: usize = 240;
/// How much of a text is looked through.
const MOST_BYTES: usize = 1 << 20;
/// Up to so many pieces are compared by meaning.
const MOST_COMPARED: usize = 400;
/// The tokens of a piece that are compared.
const TOKENS: usize = 64;
/// The tokens of a part that are compared: more than it has.
const TOKENS_OF_PART: usize = 1 << 11;
/// Neighbours of the run are added up to so many bytes.
const WITH_NEIGHBOURS: usize = 400;
/// Units of worth in one term of weight 1 that one piece of two has.
const UNIT: f64 = 1e6;
/// The weight of the closest piece of a run, as a share of all terms.
const MEANING: f64 = 0.5;

/// The weight of a piece that alone tells of a failure, as a share of all terms.
const FAILURE: f64 = 1.0;

/// Levels of indentation that a record may have around the part that answers.
const LEVELS: usize = 2;
/// Pieces on either side that complete one that was torn.
const TORN: usize = 2;

/// A piece of a text: its bytes, whether its end was cut within a line, a sentence and a record, the terms of the question that it has, and
/// how close it is.
struct Piece {
    start: usize,
    end: usize,
    is_torn: bool,
    terms: Vec<usize>,
    closeness: f64,
}

/// A question as parts of texts are compared with it.
pub(in crate::session) struct Excerpts {
    query: Query,
    key: TermKey,
    wanted: Wanted,
    /// It is about a failure.
    is_of_failure: bool,
}

impl Excerpts {
    pub fn of(question: &str, key: TermKey) -> Self {
        let query = with_analyzer(|analyzer| analyzer.query(question, key));
        let content = Content::of(&Cut::of(question), &[]);
        let wanted = Wanted::new(&content, &vec![1.0; content.words.len()]);
        Self { query, key, wanted, is_of_failure: failures::asks(question) }
    }

    /// Start and length of the part of `text` that answers, at most `most` bytes; `None` where all of it fits.
    pub fn answering(&self, text: &str, most: usize) -> Option<(u64, u64)> {
        if text.len() <= most {
            return None;
        }
        let terms = &self.query.terms;
        let mut pieces = cut(text, most);
        let mut counts = vec![0_usize; terms.len() + 1]; // the last is of pieces that tell of a failure
        for piece in &mut pieces {
            interrupt::step();
            let part = &text[piece.start..piece.end];
            if part.trim_start().is_empty() {
                continue; // as most are of a megabyte of short lines
            }
            let words = analyze(part, self.key);
            let has = |hash: u64| words.terms.binary_search_by_key(&hash, |term| term.hash).is_ok();
            piece.terms = (0..terms.len()).filter(|at| has(terms[*at].hash)).collect();
            piece.terms.extend((self.is_of_failure && failures::tells(part)).then_some(terms.len()));
            piece.terms.iter().for_each(|at| counts[*at] += 1);
        }
        if pieces.len() <= MOST_COMPARED {
            for piece in &mut pieces {
                piece.closeness = self.close(&text[piece.start..piece.end], TOKENS);
            }
        }
        let rarity = |at: usize| libm::log(1.0 + pieces.len() as f64 / counts[at].max(1) as f64);
        let mut worths: Vec<i64> = (0..terms.len()).map(|at| (f64::from(terms[at].weight) * rarity(at) * UNIT) as i64).collect();
        let all = worths.iter().sum::<i64>().max(UNIT as i64) as f64;
        let rarest = libm::log(1.0 + pieces.len() as f64);
        worths.push((FAILURE * all * rarity(terms.len()) / rarest) as i64);
        let (first, last) = best_run(&pieces, &worths, most);
        let (first, last) = whole(&pieces, first, last, most);
        let worth = |piece: &Piece| piece.terms.iter().map(|term| worths[*term]).sum::<i64>();
        let best = (first..=last).rev().max_by_key(|at| pieces.get(*at).map(worth)).unwrap_or(first);
        let (first, last) = of_one_record(text, &pieces, (first, last), best, most);
        let (first, last) = (0..LEVELS).fold((first, last), |(first, last), _| with_record(text, &pieces, first, last, most));
        let (start, end) = with_neighbours(&pieces, first, last, most.min(WITH_NEIGHBOURS));
        Some(trimmed(text, start, end))
    }

    /// How close a part of a text is to the question, from 0 to 1: all of it without a span.
    pub fn closeness(&self, text: &str, span: Option<(u64, u64)>) -> f64 {
        let range = span.map_or(0..text.len(), |(start, length)| start as usize..(start + length) as usize);
        self.close(text.get(range).unwrap_or_default(), TOKENS_OF_PART)
    }

    fn close(&self, part: &str, tokens: usize) -> f64 {
        self.wanted.closeness(&self.wanted.nearness(&distinct_tokens(part, tokens)))
    }
}

/// Start and length of the beginning of a text, at most `most` bytes; `None` where all of it fits.
pub(super) fn beginning(text: &str, most: usize) -> Option<(u64, u64)> {
    (text.len() > most).then(|| (0, cut_at_or_before(text, most) as u64))
}

/// Lines and sentences.
fn cut(text: &str, most: usize) -> Vec<Piece> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    let longest = PIECE.min(most).max(4);
    let mut push = |start: usize, end: usize, is_torn: bool| pieces.push(Piece { start, end, is_torn, terms: Vec::new(), closeness: 0.0 });
    let mut characters = text.char_indices().peekable();
    while let Some((at, one)) = characters.next() {
        if at >= MOST_BYTES {
            break;
        }
        let end = at + one.len_utf8();
        let space = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        let sentence = matches!(one, '.' | '!' | '?') && space || matches!(one, '\u{3002}' | '\u{ff1f}' | '\u{ff01}');
        if one == '\n' || sentence {
            push(start, end, false);
            start = end;
        } else if end - start + 4 > longest {
            let (length, is_torn) = forced(&text[start..end]);
            push(start, start + length, is_torn);
            start += length;
        }
    }
    let end = text.len().min(start + longest);
    if start < end && text.is_char_boundary(end) && start < MOST_BYTES {
        push(start, end, false);
    }
    pieces
}

/// Where a piece that is full is cut, and whether that tears something: behind the last "}" that ends a record, else behind the last "," or
/// ";", else behind the last space, in its second half; else at its end.
fn forced(piece: &str) -> (usize, bool) {
    let least = piece.len() / 2;
    let behind = |marks: &[u8]| piece.bytes().rposition(|byte| marks.contains(&byte)).map(|at| at + 1).filter(|end| *end > least);
    let records = piece.match_indices('}').map(|(at, _)| at + 1).rev().take_while(|end| *end > least);
    if let Some(end) = records.into_iter().find_map(|end| behind_record(piece, end)) {
        return (end, false);
    }
    (behind(b",;").or_else(|| behind(b" \t")).unwrap_or(piece.len()), true)
}

/// Where the text goes on behind a record of JSON whose "}" is the byte before `end`; `None` where that ends an object within a record,
/// behind which its next key stands.
fn behind_record(piece: &str, end: usize) -> Option<usize> {
    let rest = piece[end..].trim_start();
    let next = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    let is_over = next.is_empty() || next.starts_with(['{', '[']);
    (is_over && !rest.starts_with(['}', ']'])).then(|| end + usize::from(piece[end..].starts_with(',')))
}

/// The run with what was torn from its end and its beginning, up to `most` bytes.
fn whole(pieces: &[Piece], mut first: usize, mut last: usize, most: usize) -> (usize, usize) {
    let bytes = |first: usize, last: usize| pieces[last].end - pieces[first].start;
    for _ in 0..TORN {
        if pieces.get(last).is_some_and(|piece| piece.is_torn) && last + 1 < pieces.len() && bytes(first, last + 1) <= most {
            last += 1;
        }
        if first > 0 && pieces[first - 1].is_torn && bytes(first - 1, last) <= most {
            first -= 1;
        }
    }
    (first, last)
}

/// By how much a piece is indented; `None` of blank ones, and of those that begin within a line.
fn indent(text: &str, piece: &Piece) -> Option<usize> {
    let line = &text[piece.start..piece.end];
    let begins = piece.start == 0 || text[..piece.start].ends_with('\n');
    (begins && !line.trim().is_empty()).then(|| line.len() - line.trim_start_matches([' ', '\t']).len())
}

/// The record of the best piece of a run, where the run reaches into another one ("badge" of the record before) and the record fits.
fn of_one_record(text: &str, pieces: &[Piece], run: (usize, usize), best: usize, most: usize) -> (usize, usize) {
    let indents = (run.0..=run.1).filter_map(|at| indent(text, pieces.get(at)?));
    let crosses = pieces.get(best).and_then(|piece| indent(text, piece)).is_some_and(|own| indents.min() < Some(own));
    let record = if crosses { with_record(text, pieces, best, best, most) } else { run };
    if record == (best, best) { run } else { record }
}

/// The run with the rest of the record that it stands in, by indentation, where all of it fits: from the line that opens it, which is
/// indented less, to the one that closes it.
fn with_record(text: &str, pieces: &[Piece], first: usize, last: usize, most: usize) -> (usize, usize) {
    let indent = |at: usize| indent(text, pieces.get(at)?);
    let Some(own) = (first..=last).filter_map(indent).min().filter(|own| *own > 0) else { return (first, last) };
    let is_outside = |at: &usize| indent(*at).is_some_and(|indent| indent < own);
    let begin = (0..first).rev().find(is_outside).unwrap_or(first);
    let end = (last + 1..pieces.len()).find(is_outside).unwrap_or(last);
    if pieces[end].end - pieces[begin].start <= most { (begin, end) } else { (first, last) }
}

/// The run of pieces of the greatest worth. Of equals the shortest counts, so that a run begins and ends with a piece that has something:
/// from each of these on, every run to another one that fits is looked at.
fn best_run(pieces: &[Piece], worths: &[i64], most: usize) -> (usize, usize) {
    let all: i64 = worths.iter().sum::<i64>().max(UNIT as i64);
    let has_something = |at: &usize| !pieces[*at].terms.is_empty() || pieces[*at].closeness > 0.0;
    let worthy: Vec<usize> = (0..pieces.len()).filter(has_something).collect();
    let (mut best, mut run) = (None, None);
    let mut had_from = vec![usize::MAX; worths.len()];
    for (from, &first) in worthy.iter().enumerate() {
        interrupt::step();
        let (mut worth, mut closest) = (0, -1.0_f64);
        for &last in &worthy[from..] {
            let (piece, bytes) = (&pieces[last], pieces[last].end - pieces[first].start);
            if bytes > most {
                break;
            }
            let new = |term: &&usize| std::mem::replace(&mut had_from[**term], first) != first;
            let more: i64 = piece.terms.iter().filter(new).map(|term| worths[*term]).sum();
            if more == 0 && piece.closeness <= closest {
                continue;
            }
            (worth, closest) = (worth + more, closest.max(piece.closeness));
            let total = worth + (closest * MEANING * all as f64) as i64;
            let key = (total, Reverse(bytes), Reverse(first));
            if total > 0 && best.is_none_or(|best| key > best) {
                (best, run) = (Some(key), Some((first, last)));
            }
        }
    }
    let shortest = || (0..pieces.len()).min_by_key(|at| pieces[*at].end - pieces[*at].start).unwrap_or_default();
    run.unwrap_or_else(|| (shortest(), shortest()))
}

/// The run with what stands behind and before it, in turn, up to `most` bytes.
fn with_neighbours(pieces: &[Piece], mut first: usize, mut last: usize, most: usize) -> (usize, usize) {
    let Some(piece) = pieces.get(first) else { return (0, 0) };
    let (mut start, mut end) = (piece.start, pieces[last].end);
    loop {
        let before = (start, end);
        if let Some(next) = pieces.get(last + 1).filter(|next| next.end - start <= most) {
            (last, end) = (last + 1, next.end);
        }
        if let Some(previous) = first.checked_sub(1).map(|at| &pieces[at]).filter(|previous| end - previous.start <= most) {
            (first, start) = (first - 1, previous.start);
        }
        if (start, end) == before {
            return before;
        }
    }
}

/// A part without the clusters that its ends tear, where anything else is in it, and without the white space at them.
fn trimmed(text: &str, start: usize, end: usize) -> (u64, u64) {
    let whole = (border_at_or_behind(text, start), border_at_or_before(text, end));
    let (start, end) = if whole.0 < whole.1 { whole } else { (start, end) };
    let part = &text[start..end];
    let inner = part.trim();
    let start = if inner.is_empty() { start } else { start + (part.len() - part.trim_start().len()) };
    (start as u64, inner.len() as u64)
}

/// A part of a text as it is shown, with marks where something was left out; all of it where the part is none of it.
pub(super) fn part(text: &str, span: Option<(u64, u64)>) -> String {
    let Some((start, length)) = span else { return text.to_owned() };
    let (start, end) = (start as usize, (start + length) as usize);
    let Some(part) = text.get(start..end) else { return text.to_owned() };
    let (before, after) = (if start > 0 { "\u{2026} " } else { "" }, if end < text.len() { " \u{2026}" } else { "" });
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::testing::Random;

    fn shown(question: &str, text: &str, most: usize) -> String {
        part(text, Excerpts::of(question, 7.into()).answering(text, most))
    }

    fn log() -> String {
        (0..170)
            .map(|line| match line {
                150 => "ERROR code ZX-4471 while writing to disk on node-9\n".to_owned(),
                _ => format!("INFO request {line} served by node-{} in {} ms\n", line % 8, line * 7 % 90),
            })
            .collect()
    }

    #[test]
    fn a_question_about_a_failure_finds_the_line_that_tells_of_it() {
        let with = |line: &str, noise: fn(usize) -> String| {
            (0..300).map(|at| if at == 190 { format!("{line}\n") } else { noise(at) + "\n" }).collect::<String>()
        };
        let npm = with("npm ERR! ERESOLVE peer react@17", |at| format!("npm WARN deprecated pkg-{at}@1.{at}: not maintained"));
        let java =
            with("Caused by: java.lang.IllegalStateException: closed (LEDG-0091)", |at| format!("    at com.atlas.Class{at}.call{at}"));
        for (question, text, line) in [
            ("why did npm install fail?", &npm, "ERESOLVE"),
            ("what broke the install?", &npm, "ERESOLVE"),
            ("what was the root cause?", &java, "LEDG-0091"),
            ("why did it crash?", &java, "LEDG-0091"),
        ] {
            assert!(shown(question, text, 600).contains(line), "{question}: {}", shown(question, text, 600));
        }
        assert!(shown("which version of pkg-7 is deprecated?", &npm, 600).contains("pkg-7@"), "a question about something else");
        let all = with("ERROR at node-9", |at| format!("ERROR at node-{}", at % 8));
        assert!(shown("what failed at node-9?", &all, 300).contains("node-9"), "a log of nothing else is read by its terms");
    }

    #[test]
    fn the_line_that_answers_is_shown_and_not_the_head() {
        let shown = shown("what was the error code on node-9?", &log(), 1_200);
        assert!(shown.contains("ZX-4471"), "{shown}");
        assert!(shown.len() <= WITH_NEIGHBOURS + 8, "{}", shown.len());
        assert!(shown.starts_with('\u{2026}') && shown.ends_with('\u{2026}'));
    }

    /// Every run that fits, from each piece on.
    fn best_of_all_runs(pieces: &[Piece], worths: &[i64], most: usize) -> (usize, usize) {
        let all: i64 = worths.iter().sum::<i64>().max(UNIT as i64);
        let mut best = None;
        for first in 0..pieces.len() {
            for last in first..pieces.len() {
                let (run, bytes) = (&pieces[first..=last], pieces[last].end - pieces[first].start);
                let terms: std::collections::BTreeSet<usize> = run.iter().flat_map(|piece| piece.terms.iter().copied()).collect();
                let closest = run.iter().map(|piece| piece.closeness).fold(0.0, f64::max);
                let total = terms.iter().map(|term| worths[*term]).sum::<i64>() + (closest * MEANING * all as f64) as i64;
                let key = (total, Reverse(bytes), Reverse(first));
                if bytes <= most && best.is_none_or(|(best, _)| key > best) {
                    best = Some((key, (first, last)));
                }
            }
        }
        best.map_or((0, 0), |(_, run)| run)
    }

    #[test]
    fn the_best_run_is_that_of_all_runs() {
        let mut random = Random::new(1);
        for _ in 0..400 {
            let (terms, is_close, mut start) = (random.below(4) as usize, random.below(2) == 0, 0);
            let worths: Vec<i64> = (0..terms).map(|_| (random.below(3) * 1_000_000) as i64).collect();
            let mut pieces = Vec::new();
            for _ in 0..=random.below(30) {
                let end = start + 1 + random.below(20) as usize;
                let terms = (0..terms).filter(|_| random.below(4) == 0).collect();
                let closeness = if is_close && random.below(3) == 0 { random.below(5) as f64 / 5.0 } else { 0.0 };
                pieces.push(Piece { start, end, is_torn: false, terms, closeness });
                start = end;
            }
            let most = 20 + random.below(100) as usize;
            assert_eq!(best_run(&pieces, &worths, most), best_of_all_runs(&pieces, &worths, most));
        }
    }

    #[test]
    fn a_meaning_is_enough_where_no_word_is() {
        let text = format!("{}My puppy is called Biscuit. {}", "The weather was fine. ".repeat(40), "We sat inside. ".repeat(40));
        assert!(shown("what is the name of the dog?", &text, 300).contains("Biscuit"));
    }

    #[test]
    fn every_part_is_within_the_room_and_between_characters() {
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}".repeat(90);
        let texts = [
            family,
            "e\u{301}\u{323}".repeat(400),
            "\u{e9}".repeat(900),
            "x".repeat(5_000),
            "\n".repeat(2_000),
            log(),
            "\u{1f600} ok. ".repeat(300),
        ];
        let excerpts = Excerpts::of("code of node-9", 7.into());
        for text in &texts {
            for most in [16, 100, 399, 1_200] {
                let (start, length) = excerpts.answering(text, most).expect("it is longer");
                assert!(length as usize <= most, "{length} of {most}");
                let (start, end) = (start as usize, (start + length) as usize);
                assert!(text.get(start..end).is_some());
                let is_border = |at: usize| border_at_or_before(text, at) == at;
                assert!(is_border(start) && is_border(end) || most == 16, "{:?} of {most}", &text[start..end]);
            }
        }
        assert_eq!(excerpts.answering("short", 100), None);
    }

    fn fleet(of_each: &str) -> String {
        let one = |at: usize| {
            let owner = if at == 222 { "zoltan" } else { "ann" };
            format!(r#"{{"id": "srv-{at:03}", "ip": "10.0.{}.{}", "owner": "{owner}"{of_each}, "status": "ok-{at}"}}"#, at / 250, at % 250)
        };
        format!("[{}]", (0..300).map(one).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn a_record_on_one_line_is_shown_whole() {
        for of_each in ["", &format!(r#", "tags": "{}""#, "rack-17 ".repeat(22)), &format!(r#", "note": "{}""#, "x".repeat(300))] {
            let shown = shown("which server does zoltan own?", &fleet(of_each), 1_200);
            assert!(shown.contains(r#""id": "srv-222""#) && shown.contains(r#""status": "ok-222"}"#), "{shown}");
            assert!(shown.len() <= 1_208, "{}", shown.len());
        }
    }

    #[test]
    fn an_indented_record_is_shown_whole() {
        let one = |name: &str, badge: u32| {
            format!(
                "  {{\n    \"name\": \"{name}\",\n    \"team\": \"ops\",\n    \"note\": \"{}\",\n    \"badge\": {badge}\n  }}",
                "on call ".repeat(60)
            )
        };
        let all: Vec<String> = (0..30).map(|at| one(if at == 17 { "zoltan" } else { "ann" }, 4_000 + at)).collect();
        let shown = shown("what is the badge of zoltan?", &format!("[\n{}\n]\n", all.join(",\n")), 1_200);
        assert!(shown.contains("zoltan") && shown.contains("4017") && !shown.contains("4016"), "{shown}");
    }

    #[test]
    fn a_full_piece_is_cut_where_something_ends() {
        let cases = [
            ("aaaa {b}, {c", 9, false),
            ("aaaa {b} {c", 8, false),
            ("{b} aaaa, bbb", 9, true),
            ("{b}, aa; bbbb c", 8, true),
            (r#"{"a": {"b": 1}}, {"c": {"d": 2}, "e""#, 32, true),
            (r#""a": {"b": 1, "c": 2}, {"d""#, 22, false),
            (r#"{"a": 1, "b": {"c": 2}}, {"d""#, 24, false),
            (r#""aaaaaaaaaa": [{"c": 2}], "d": 1"#, 25, true),
            ("{b}, aaaaaaa c", 13, true),
            ("aaaaaaaaa", 9, true),
        ];
        for (piece, length, is_torn) in cases {
            let (end, torn) = forced(piece);
            assert_eq!((end, torn), (length, is_torn), "{piece}");
        }
    }

    #[test]
    fn a_part_is_as_close_as_what_stands_in_it() {
        let text = format!("{}My puppy is called Biscuit. {}", "The weather was fine. ".repeat(40), "We sat inside. ".repeat(40));
        let excerpts = Excerpts::of("what is the name of the dog?", 7.into());
        let (span, head) = (excerpts.answering(&text, 300), beginning(&text, 300));
        let closeness = |span| excerpts.closeness(&text, span);
        assert!(closeness(span) > closeness(head));
        assert_eq!(closeness(None).to_bits(), closeness(Some((0, text.len() as u64))).to_bits());
        assert!(closeness(Some((1 << 40, 1))) <= 0.0, "outside of the text");
    }
}
