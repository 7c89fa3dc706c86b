//! Properties of every text: random texts and random identifiers, with a generator of our own and fixed seeds.

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::spans::{Span, Spans};
use super::*;

const SEED: u64 = 0x5EED;

/// `SplitMix64` (Steele, Lea, Flood, 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    fn text(&mut self, pieces: &[&str], most: usize) -> String {
        let count = self.below(most);
        (0..count).map(|_| self.pick(pieces)).collect()
    }
}

fn document(text: &str) -> Analysis {
    let mut out = Analysis::default();
    Analyzer::new().document(text, SEED, &mut out);
    out
}

fn query(text: &str) -> Query {
    Analyzer::new().query(text, SEED)
}

fn holds(document: &Analysis, hash: u64) -> bool {
    document.terms.binary_search_by_key(&hash, |t| t.hash).is_ok()
}

const ASCII_PIECES: [&str; 62] = [
    " ", " ", " ", " ", "\n", "\t", "\0", "\x7f", "a", "b", "z", "the", "running", "Words", "APIs", "HTTP", "s", "S", "x", "A", "B", "Q",
    "1", "42", "443", "8443", ".", ".", ",", "-", "-", "_", "/", "\\", ":", "@", "#", "$", "+", "~", "&", "=", "?", "%", "!", "'", "'",
    "\"", "`", "*", "(", ")", "[", "]", "{", "}", "<", ">", "|", "^", ";", "://",
];

const UNICODE_PIECES: [&str; 48] = [
    " ",
    " ",
    " ",
    "\u{a0}",
    "\u{3000}",
    "a",
    "Z",
    "é",
    "e\u{301}",
    "ß",
    "ẞ",
    "İ",
    "ı",
    "ø",
    "ﬁ",
    "ǆ",
    "σ",
    "Σ",
    "ς",
    "ΐ",
    "ᾳ",
    "й",
    "Ё",
    "ق",
    "أ",
    "َ",
    "ש",
    "ְ",
    "हि",
    "क्",
    "が",
    "か\u{3099}",
    "カ",
    "ｶﾞ",
    "ー",
    "漢",
    "字",
    "서",
    "버",
    "ก",
    "ำ",
    "ា",
    "’",
    "·",
    "—",
    "\u{200b}",
    "🔥",
    "٣",
];

fn mixed_pieces() -> Vec<&'static str> {
    ASCII_PIECES
        .into_iter()
        .chain(UNICODE_PIECES)
        .chain(["\u{301}", "\u{345}", "\u{1F3FD}", "𝒳", "²", "½", "㎏", "\u{FDFA}", "\u{10FFFF}"])
        .collect()
}

/// The differential oracle: without the fast path every chunk goes the long way.
#[test]
fn the_fast_path_equals_the_slow_path() {
    let mut random = Random(1);
    let (mut fast, mut slow) = (Analyzer::new(), Analyzer::slow());
    let (mut a, mut b) = (Analysis::default(), Analysis::default());
    for _ in 0..20_000 {
        let text = random.text(&ASCII_PIECES, 24);
        fast.document(&text, SEED, &mut a);
        slow.document(&text, SEED, &mut b);
        assert_eq!(a, b, "{text:?}");
        assert_eq!(fast.query(&text, SEED), slow.query(&text, SEED), "{text:?}");
    }
}

#[test]
fn every_text_is_found_by_itself() {
    let mut random = Random(2);
    let pieces = mixed_pieces();
    for _ in 0..10_000 {
        let text = random.text(&pieces, 30);
        let (document, query) = (document(&text), query(&text));
        for term in query.terms.iter().filter(|t| t.role != Role::Stem) {
            assert!(holds(&document, term.hash), "{text:?}: {term:?}");
        }
        assert!(query.identifiers.iter().all(|id| query.terms.iter().any(|t| t.hash == *id && t.role == Role::Whole)));
    }
}

#[test]
fn equal_under_nfc_and_nfd() {
    let mut random = Random(3);
    let pieces = mixed_pieces();
    for _ in 0..10_000 {
        let text = random.text(&pieces, 20);
        let (nfc, nfd): (String, String) = (text.nfc().collect(), text.nfd().collect());
        assert_eq!(document(&nfc), document(&nfd), "{text:?}");
        assert_eq!(document(&text), document(&nfd), "{text:?}");
        assert_eq!(query(&nfc), query(&nfd), "{text:?}");
        assert_eq!(slot_key(&nfc), slot_key(&nfd), "{text:?}");
        assert_eq!(duplicate_key(&nfc), duplicate_key(&nfd), "{text:?}");
    }
}

#[test]
fn case_never_matters_to_words() {
    let mut random = Random(4);
    let pieces = ["word", "straße", "café", "Σίσυφος", "йод", " ", " ", ".", "don't", "!"];
    for _ in 0..3_000 {
        let text = random.text(&pieces, 12).to_lowercase();
        assert_eq!(document(&text), document(&text.to_uppercase()), "{text:?}");
    }
}

/// Remains of one text in the scratch must not reach the next.
#[test]
fn used_scratch_changes_nothing() {
    let mut random = Random(5);
    let pieces = mixed_pieces();
    let (mut analyzer, mut out) = (Analyzer::new(), Analysis::default());
    for _ in 0..5_000 {
        let text = random.text(&pieces, 30);
        analyzer.document(&text, SEED, &mut out);
        assert_eq!(out, document(&text));
        assert_eq!(analyzer.query(&text, SEED), query(&text));
        assert!(out.terms.is_sorted_by(|a, b| a.hash < b.hash));
    }
}

/// Words are those of UAX#29 where the tailoring of the table does not speak: no connectors, no scripts that become bigrams.
#[test]
fn words_are_those_of_uax_29() {
    let letters = ["a", "B", "é", "e\u{301}", "я", "й", "λ", "ش", "م\u{64e}", "א", "हि", "ก\u{e31}", "ʔ", "ª", "ⅷ", "𐐀", "ა", "ⴰ", "ꭰ"];
    let others = [" ", " ", "🔥", "—", "!", "«", "”", "€", "|", "(", "°"];
    let mut random = Random(6);
    for (extra, _) in [("7", "digits"), ("'", "apostrophes")] {
        for _ in 0..10_000 {
            let alphabet: Vec<&str> = letters.into_iter().filter(|l| !l.contains('ก')).chain(others).chain([extra]).collect();
            let text: String = random.text(&alphabet, 24).nfkc().collect();
            let ours: Vec<&str> = Spans::new(&text).map(|(Span::Run(r) | Span::Grams(r))| &text[r]).collect();
            let theirs = text.unicode_words().map(|w| w.trim_end_matches('\'')); // WB7a keeps a geresh; ours is trimmed as a quote
            assert_eq!(ours, theirs.collect::<Vec<_>>(), "{text:?}");
        }
    }
}

fn hex(random: &mut Random, digits: usize) -> String {
    (0..digits).map(|_| char::from_digit(random.below(16) as u32, 16).expect("a hex digit")).collect()
}

/// One identifier of each kind, and parts by which it must be found.
fn identifiers(random: &mut Random) -> Vec<(String, Vec<String>)> {
    let mut word = || random.pick(&["auth", "payments", "timeout", "ledger", "gateway", "staging", "cart", "invoice"]).to_owned();
    let [a, b, c] = [word(), word(), word()];
    let upper = |w: &str| w[..1].to_uppercase() + &w[1..];
    let n = (100 + random.below(9_900)).to_string();
    let m = (random.below(90) + 1).to_string();
    let sha = "7a".to_owned() + &hex(random, 38);
    let uuid = [8, 4, 4, 4, 12].map(|d| "0".to_owned() + &hex(random, d - 1)).join("-");
    let first_group = uuid[..8].to_owned();
    let of = |id: String, parts: &[&String]| (id, parts.iter().map(|p| (*p).clone()).collect());
    vec![
        of(format!("{a}/{b}-{c}"), &[&a, &b, &c, &format!("{b}-{c}")]),
        of(format!("{a}-eu-west-{m}"), &[&a, &format!("{a}-eu-west-{m}")]),
        of(format!("#{n}"), &[&n]),
        of(n.clone(), &[&n]),
        of(format!("{a}-api"), &[&a]),
        of(format!("{a}{}By{}", upper(&b), upper(&c)), &[&a, &b, &c]),
        of(format!("{a}_{b}_{c}"), &[&a, &b, &c]),
        of(format!("src/{a}/{b}_{c}.rs:{n}"), &[&a, &b, &n, &format!("{b}_{c}.rs"), &format!("src/{a}/{b}_{c}.rs")]),
        of(format!("C:\\Users\\{a}\\{b}.txt"), &[&a, &b, &format!("{b}.txt")]),
        of(
            format!("https://{a}-api.{b}.internal:{n}/v1/{c}?id={m}#top"),
            &[&a, &b, &c, &n, &format!("{a}-api.{b}.internal"), &format!("{a}-api")],
        ),
        of(format!("{a}.{b}+{c}@example.com"), &[&a, &b, &c, &"example.com".to_owned(), &format!("{a}.{b}")]),
        of(uuid, &[&first_group]),
        of(sha, &[]),
        of(format!("v{m}.{n}.0"), &[&n, &format!("{m}.{n}.0")]),
        of(format!(":{n}"), &[&n]),
        of(format!("${}_{}", a.to_uppercase(), b.to_uppercase()), &[&a, &b, &format!("{a}_{b}")]),
        of(format!("{a}.{b}()"), &[&a, &b, &format!("{a}.{b}")]),
        of(format!("std::{a}::{}", upper(&b)), &[&a, &b]),
        of(format!("{}-{n}", a.to_uppercase()), &[&a, &n]),
        of(format!("--{a}-{b}"), &[&a, &b]),
    ]
}

#[test]
fn identifiers_are_found_whole_and_by_part_in_any_surroundings() {
    let mut random = Random(7);
    let around = [
        "see X.",
        "`X`",
        "(X)",
        "\"X\",",
        "**X**:",
        "X",
        "“X”…",
        "What about X?",
        "[X]",
        "PR X!",
        "— X;",
        "«X»",
        "在X里",
        "X's owner",
        "‘X’",
    ];
    for _ in 0..100 {
        for (id, parts) in identifiers(&mut random) {
            let asked = query(&id);
            assert_eq!(asked.identifiers.len(), 1, "{id}: {asked:?}");
            for frame in around {
                let document = document(&frame.replace('X', &id));
                assert!(holds(&document, asked.identifiers[0]), "{id} in {frame}: {asked:?}");
                for part in &parts {
                    let found = query(part).terms.iter().any(|t| matches!(t.role, Role::Whole | Role::Word) && holds(&document, t.hash));
                    assert!(found, "{part} of {id} in {frame}");
                }
                assert_eq!(query(&frame.replace('X', &id)).identifiers, asked.identifiers, "{id} in {frame}");
            }
            assert_eq!(query(&id.to_uppercase()).terms[0].hash, query(&id.to_lowercase()).terms[0].hash, "{id}");
        }
    }
}

#[test]
fn another_scope_has_other_hashes() {
    let (mut a, mut b) = (Analysis::default(), Analysis::default());
    Analyzer::new().document("payments-api listens on 8443", 1, &mut a);
    Analyzer::new().document("payments-api listens on 8443", 2, &mut b);
    assert_eq!(a.terms.len(), b.terms.len());
    assert!(a.terms.iter().all(|t| !holds(&b, t.hash)));
}

#[test]
fn counts_saturate_and_length_does_not() {
    let analysis = document(&"port ".repeat(1_000));
    assert_eq!((analysis.terms[0].count, analysis.terms.len(), analysis.length), (255, 1, 1_000));
}

#[test]
fn filler_is_dropped_where_two_content_words_remain() {
    let words = |text| query(text).terms.into_iter().filter(|t| t.weight >= 1.0).map(|t| t.text).collect::<Vec<_>>();
    assert_eq!(words("which port does payments-api use?"), ["payments-api", "port", "use"]);
    assert_eq!(words("What is the port?"), ["what", "is", "the", "port"]);
    assert_eq!(words("who are you"), ["who", "are", "you"]);
    assert_eq!(words("the port, the port"), ["the", "port"]);
    assert!(query("what did it do to the port of getUserById").terms.iter().any(|t| t.text == "by"), "a part is no filler");
}

#[test]
fn a_stem_matches_other_forms_and_never_the_word_twice() {
    let matched = |asked: &str, text: &str| {
        let document = document(text);
        query(asked).terms.into_iter().filter(|t| holds(&document, t.hash)).map(|t| t.role).collect::<Vec<_>>()
    };
    assert_eq!(matched("payment", "payment"), [Role::Word]);
    assert_eq!(matched("payment", "payments"), [Role::Stem]);
    assert_eq!(matched("payments", "payment"), [Role::Stem]);
    assert_eq!(matched("configured", "configuring"), [Role::Stem]);
    assert_eq!(matched("payments", "the payments-api"), [Role::Word]);
    assert!(matched("payment", "the payments-api").is_empty(), "identifiers are not stemmed");
}

#[test]
fn of_too_many_terms_the_strongest_are_kept() {
    let word = |i: usize| "abcdefghij".repeat(2)[..i % 19].to_owned() + &"x".repeat(i / 19);
    let words: Vec<String> = (0..2_000).map(|i| format!("w{}", word(i))).collect();
    let ids: Vec<String> = (0..100).map(|i| format!("id-{i}")).collect();
    let query = query(&[words, ids].concat().join(" "));
    assert_eq!(query.terms.len(), MAX_QUERY_TERMS);
    assert_eq!(query.identifiers.len(), 100);
    assert!(query.terms[..100].iter().all(|t| t.role == Role::Whole));
    assert!(query.terms[100..].iter().all(|t| t.role == Role::Word));
    assert_eq!(query.terms[100].text, "w");
}

/// In a debug build a sixteenth of it.
const MEGABYTE: usize = if cfg!(debug_assertions) { 1 << 16 } else { 1 << 20 };

/// A megabyte of anything: no panic, bounded answers, and a time that would be hours if something were quadratic.
#[test]
fn a_megabyte_of_anything() {
    let pieces = [
        "a",
        "aB",
        "a1",
        "1,",
        "123,",
        "a-",
        "a.",
        "a/",
        "a:",
        "a'",
        "'",
        ".",
        "-",
        "://",
        "a://",
        "é",
        "e\u{301}",
        "\u{301}",
        "漢",
        "ก\u{e31}",
        "\u{e31}",
        "🔥",
        "\0",
        " ",
        "\u{200b}",
        "a@",
        "v1.",
        "ß-",
        "1-",
        "C#",
        "$",
        "()",
        "\u{FDFA}",
        "a\\",
        "a_B",
    ];
    for piece in pieces {
        let text = piece.repeat(MEGABYTE / piece.len());
        let query = query(&text);
        assert!(query.terms.len() <= MAX_QUERY_TERMS);
        assert!(query.terms.iter().all(|t| t.text.len() <= MAX_TEXT_BYTES));
        let document = document(&text);
        assert!(query.identifiers.iter().all(|id| holds(&document, *id)), "{piece}");
    }
}

#[test]
fn nothing_gives_nothing() {
    for text in ["", " ", "\0", "...", "?!", "🔥", "\u{301}", "\u{200b}", "'", "''", "$", "#", "://", "- - -", "()", "\u{10FFFF}"] {
        assert_eq!(document(text), Analysis::default(), "{text:?}");
        assert_eq!(query(text), Query::default(), "{text:?}");
    }
}

#[test]
fn one_character_finds_its_text() {
    for (asked, text) in [("猫", "私の猫です"), ("집", "우리집에서"), ("x", "plan x"), ("7", "room 7"), ("ก", "กขค")] {
        let document = document(text);
        assert!(query(asked).terms.iter().any(|t| holds(&document, t.hash)), "{asked}");
    }
}

#[test]
fn term_hash_is_what_the_analyzer_makes() {
    let asked = query("payments-api in café");
    for term in asked.terms {
        assert_eq!(term.hash, term_hash(term.class, &term.text, SEED));
    }
}
