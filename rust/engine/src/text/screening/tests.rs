//! Screening against generated secrets and personal data with valid check digits, and against texts that have none.

use std::cell::Cell;

use super::validators::luhn;
use super::*;

thread_local! {
    /// Bytes that the rules for secrets looked at.
    pub static LOOKED: Cell<usize> = const { Cell::new(0) };
}

/// A small generator (SplitMix64): the same texts in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    fn from(&mut self, alphabet: &str, count: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..count).map(|_| letters[self.below(letters.len())] as char).collect()
    }
}

const DIGITS: &str = "0123456789";
const HEX: &str = "0123456789abcdef";
const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn card(random: &mut Random) -> String {
    let (prefix, length) = [("4", 16), ("51", 16), ("55", 16), ("34", 15), ("37", 15), ("6011", 16), ("2221", 16)][random.below(7)];
    let mut digits = format!("{prefix}{}", random.from(DIGITS, length - prefix.len() - 1));
    let check = (b'0'..=b'9').find(|check| luhn(format!("{digits}{}", *check as char).as_bytes())).unwrap();
    digits.push(check as char);
    let sign = random.pick(&["", " ", "-"]);
    if length == 16 { digits.as_bytes().chunks(4).map(|c| std::str::from_utf8(c).unwrap()).collect::<Vec<_>>().join(sign) } else { digits }
}

fn iban(random: &mut Random) -> String {
    let (country, length) = [("DE", 22), ("FR", 27), ("GB", 22), ("NL", 18), ("ES", 24), ("CH", 21)][random.below(6)];
    let letters = if country == "GB" || country == "NL" { "WEST" } else { "" };
    let account = format!("{letters}{}", random.from(DIGITS, length - 4 - letters.len()));
    let check = (2..=98).find(|check| super::validators::mod97(format!("{country}{check:02}{account}").as_bytes())).unwrap();
    let whole = format!("{country}{check:02}{account}");
    if random.below(2) == 0 {
        whole
    } else {
        whole.as_bytes().chunks(4).map(|c| std::str::from_utf8(c).unwrap()).collect::<Vec<_>>().join(" ")
    }
}

fn vendor_key(random: &mut Random) -> String {
    // A key without any digit is one in 10^3 or rarer: the generators put one in.
    match random.below(8) {
        0 => format!("AKIA{}7", random.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 15)),
        1 => format!("ghp_{}1", random.from(ALNUM, 35)),
        2 => format!("xoxb-{}-{}", random.from(DIGITS, 11), random.from(ALNUM, 24)),
        3 => format!("sk-proj-{}4", random.from(ALNUM, 47)),
        4 => format!("sk-ant-api03-{}", random.from(ALNUM, 90)),
        5 => format!("AIza{}9", random.from(ALNUM, 34)),
        6 => format!("sk_live_{}2", random.from(ALNUM, 24)),
        _ => format!("glpat-{}3", random.from(ALNUM, 19)),
    }
}

fn web_token(random: &mut Random) -> String {
    format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", random.from(ALNUM, 40), random.from(ALNUM, 43))
}

const FRAMES: [&str; 6] = ["{}", "my one is {}, keep it", "please use {}.", "It's ({}) I think", "Here: {}\nthanks", "\"{}\""];

fn in_frame(random: &mut Random, value: &str) -> String {
    random.pick(&FRAMES).replace("{}", value)
}

/// Recall of a generator over `count` texts; the finding must cover the value whole.
fn recall(what: Sensitive, count: usize, mut make: impl FnMut(&mut Random) -> String) -> f64 {
    let mut random = Random(what as u64 + 1);
    let found = (0..count).filter(|_| {
        let value = make(&mut random);
        let text = in_frame(&mut random, &value);
        screen(&text).iter().any(|finding| finding.what == what && text[finding.start..finding.end] == value)
    });
    found.count() as f64 / count as f64
}

#[test]
fn checked_types_are_found_wherever_they_stand() {
    for (what, make) in [
        (Sensitive::PaymentCard, card as fn(&mut Random) -> String),
        (Sensitive::Iban, iban),
        (Sensitive::VendorKey, vendor_key),
        (Sensitive::WebToken, web_token),
    ] {
        let recall = recall(what, 5_000, make);
        assert!(recall >= 0.999, "{what:?}: {recall}");
    }
}

#[test]
fn every_other_type_is_found_by_its_shape_or_its_cue() {
    for (text, what, value) in [
        ("my password is hunter2!", Sensitive::Password, "hunter2"),
        ("our wifi password's Sunny2026", Sensitive::Password, "Sunny2026"),
        ("my password for netflix is Sunny2026.", Sensitive::Password, "Sunny2026"),
        ("the password to the alarm was changed to Sunny2026", Sensitive::Password, "Sunny2026"),
        ("my password is still Sunny2026", Sensitive::Password, "Sunny2026"),
        ("the wifi password has been reset to Sunny2026", Sensitive::Password, "Sunny2026"),
        ("I changed the wifi password to Hunter2024 because the old one was weak.", Sensitive::Password, "Hunter2024"),
        ("the password: 'Tr0ub4dor&3'", Sensitive::Password, "Tr0ub4dor"),
        ("DB_PASSWORD=s3cr3t-pw", Sensitive::Password, "s3cr3t-pw"),
        ("\"api_key\": \"9aF3kLm2Qx7Zp0Tt4Vb8\"", Sensitive::Password, "9aF3kLm2Qx7Zp0Tt4Vb8"),
        ("Authorization: Bearer 8f14e45fceea167a5a36dedd4bea2543", Sensitive::Password, "8f14e45fceea167a5a36dedd4bea2543"),
        ("my PIN passcode: 493817", Sensitive::Password, "493817"),
        ("postgres://admin:pa55@db.internal/x", Sensitive::UrlCredentials, "admin:pa55"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
            Sensitive::PrivateKey,
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl", Sensitive::PrivateKey, "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl"),
        ("my SSN is 536-90-4399", Sensitive::SocialSecurity, "536-90-4399"),
        ("call me at 408-971-8523.", Sensitive::Phone, "408-971-8523"),
        ("My cell: (415) 555-0132", Sensitive::Phone, "(415) 555-0132"),
        ("phone 415.555.0132", Sensitive::Phone, "415.555.0132"),
        ("reach me on +49 30 901820-0", Sensitive::Phone, "+49 30 901820-0"),
        ("write to ana.b+x@mail.example.org!", Sensitive::Email, "ana.b+x@mail.example.org"),
        ("I live at 221B Baker Street", Sensitive::Address, ""),
        ("I live at 12 Baker Street, London", Sensitive::Address, "12 Baker Street"),
        ("My address is 1600 North Amphitheatre Pkwy", Sensitive::Address, "1600 North Amphitheatre Pkwy"),
    ] {
        let findings = screen(text);
        let texts: Vec<_> = findings.iter().map(|one| (one.what, &text[one.start..one.end])).collect();
        assert_eq!(texts.iter().any(|(kind, found)| *kind == what && *found == value), !value.is_empty(), "{text}: {texts:?}");
    }
}

/// A sentence as somebody writes one, with what only looks like a secret.
fn benign(random: &mut Random) -> String {
    let (d, h) = (random.from(DIGITS, 12), random.from(HEX, 40));
    let (year, month, day) = (2000 + random.below(40), 1 + random.below(12), 1 + random.below(28));
    let number = random.below(100_000);
    match random.below(40) {
        0 => format!("The release was on {year}-{month:02}-{day:02} at {:02}:{:02}", number % 24, number % 60),
        1 => format!("It costs ${}.{:02}, down from ${}", number, number % 100, number * 2),
        2 => format!("commit {h} broke the build"),
        3 => format!("We run version {}.{}.{}-rc{}", number % 10, number % 40, number % 100, number % 7),
        4 => format!("Order {d} was shipped on {day}/{month}/{year}"),
        5 => format!("sha256:{}{}", random.from(HEX, 64), ""),
        6 => format!("request id {}-{}-4{}-a{}-{}", &h[..8], &h[8..12], &h[12..15], &h[15..18], &h[18..30]),
        7 => format!("The server is at 10.{}.{}.{}:{}", number % 256, number % 200, number % 100, 1024 + number % 60_000),
        8 => format!("timestamp 17{}", random.from(DIGITS, 11)),
        9 => format!("tracking number 1Z{}", random.from("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", 16)),
        10 => format!("Ticket PAY-{number} is about token refresh and password reset"),
        11 => "The password is wrong, please reset the password to continue".to_owned(),
        12 => format!("Set the token limit to {number} and the key to primary"),
        13 => format!("image sha256 digest {h} of build {d}"),
        14 => format!("Meeting moved to {month}/{day}/{year} in room {}", number % 500),
        15 => format!("population of {},{:03},{:03}", number % 99, number % 1000, (number * 7) % 1000),
        16 => format!("ISBN 978-0-{}-{}-{}", random.from(DIGITS, 3), random.from(DIGITS, 5), random.from(DIGITS, 1)),
        17 => format!("git@github.com:owner/name-{number}.git"),
        18 => format!("npm install left-pad@{}.{}.0 --save", number % 5, number % 9),
        19 => format!("see https://example.com/a/b?c={number}&page={day}#l{d}"),
        20 => format!("order {}", random.from(DIGITS, 16)),
        21 => format!("trace {} span {}", &h[..32], &h[24..40]),
        22 => format!("invoice 4{} is overdue", random.from(DIGITS, 15)),
        23 => format!("latitude {}.{d}, longitude -{}.{}", number % 90, number % 180, &d[..6]),
        24 => "I prefer a key-value store to a secret manager; the API key page explains tokens".to_owned(),
        25 => format!("etag \"{}\" max-age={number}", &h[..32]),
        26 => format!("MAC 00:1b:{}:{}:{}:{}", &h[..2], &h[2..4], &h[4..6], &h[6..8]),
        27 => format!("call the function with {number} items, it returns {}", number * 3),
        28 => format!("password: required, token: string, secret: optional, version {}", number % 9),
        29 => format!("score +{number}, revenue +{}000000", number % 90 + 10),
        30 => format!("model gpt-4o-{year}-{month:02}-{day:02} with {number} tokens"),
        31 => format!("arn:aws:iam::{}:role/deploy-{number}", &d),
        32 => format!("checksum {} for {}", random.from(HEX, 8), random.from(HEX, 64)),
        33 => format!("sk-learn-compatible estimators, build {d}"),
        34 => format!("We sold {} units at {} each in Q{} {year}", number, number % 77, number % 4 + 1),
        35 => format!("UTC+0{}:30, ratio {}:{}", number % 9, number % 16, number % 9),
        36 => format!("primary_key={number} foreign_key={} cache_key={}", number + 1, &h[..20]),
        37 => format!("The flight {} leaves at {}:{:02} from gate {}", random.pick(&["LH", "UA", "BA"]), day, number % 60, number % 40),
        38 => format!("password = os.environ[\"DB_PASSWORD\"] and token = get_token({number})"),
        _ => format!("job {} finished in {}.{}s after {} retries", &h[..12], number % 99, number % 9, number % 5),
    }
}

#[test]
fn ten_thousand_texts_of_dates_prices_hashes_and_ids_have_nothing() {
    let mut random = Random(7);
    let wrong: Vec<_> = (0..10_000).map(|_| benign(&mut random)).filter(|text| !screen(text).is_empty()).collect();
    assert!(wrong.is_empty(), "{}: {:?}", wrong.len(), wrong.iter().map(|text| (text, screen(text))).take(5).collect::<Vec<_>>());
}

#[test]
fn a_policy_rejects_redacts_or_allows_by_kind() {
    let text = "write to ana@example.org, password=hunter22";
    let policy = |secrets, personal_data| Screening { secrets, personal_data, detected: Treatment::Redact };
    let redacted = "write to [e-mail address removed], password=[password removed]".to_owned();
    let types = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        policy(Treatment::Redact, Treatment::Redact).apply(text, &[]),
        Screened::Redacted(redacted, types(&["e-mail address", "password"]))
    );
    assert_eq!(policy(Treatment::Reject, Treatment::Allow).apply(text, &[]), Screened::Rejected(types(&["password"])));
    assert_eq!(policy(Treatment::Allow, Treatment::Allow).apply(text, &[]), Screened::Clean);
    assert_eq!(policy(Treatment::Reject, Treatment::Reject).apply("Prefers tea", &[]), Screened::Clean);
}

#[test]
fn what_detectors_find_is_treated_beside_what_rules_find() {
    let text = "Ana Perez writes to ana@example.org";
    let found = |start, end, what: &str| Detected { what: what.to_owned(), start, end };
    let policy = |detected| Screening { secrets: Treatment::Reject, personal_data: Treatment::Redact, detected };
    let names = [found(0, 9, "person"), found(4, 9, "name")];
    let Screened::Redacted(left, types) = policy(Treatment::Redact).apply(text, &names) else { panic!("it is redacted") };
    assert_eq!(left, "[person removed] writes to [e-mail address removed]");
    assert_eq!(types, ["person", "name", "e-mail address"]);
    assert_eq!(policy(Treatment::Reject).apply(text, &names), Screened::Rejected(vec!["person".to_owned(), "name".to_owned()]));
    let over = [found(20, 35, "contact"), found(10, 35, "phrase")];
    let Screened::Redacted(left, _) = policy(Treatment::Redact).apply(text, &over) else { panic!("it is redacted") };
    assert_eq!(left, "Ana Perez [phrase removed]", "what overlaps goes as a whole");
    let Screened::Redacted(left, _) = policy(Treatment::Allow).apply(text, &names) else { panic!("the address is redacted") };
    assert_eq!(left, "Ana Perez writes to [e-mail address removed]");
    let beyond = policy(Treatment::Redact).left("é Zoë".to_owned(), &[found(2, 99, "name")]);
    assert_eq!(beyond, (Some("é [name removed]".to_owned()), types_of("name")), "parts are counted in characters, and end with the text");
    assert_eq!(Detected::in_text("é ana@example.org"), [found(2, 17, "e-mail address")]);
}

fn types_of(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

#[test]
fn any_text_is_screened_without_a_panic_and_redacting_leaves_nothing() {
    let mut random = Random(11);
    let parts = [
        "password=",
        "é",
        "@",
        "-----BEGIN ",
        "eyJ",
        "4111 1111 1111 1111",
        "+",
        "(",
        "://",
        ":",
        "ß@ß.de",
        " ",
        "\u{1F600}",
        "DE89",
        "a.b@c.org",
        "sk-",
        "is ",
    ];
    for _ in 0..20_000 {
        let text: String = (0..random.below(12))
            .map(|_| if random.below(3) == 0 { random.from(ALNUM, 5) } else { random.pick(&parts).to_owned() })
            .collect();
        let findings = screen(&text);
        assert!(findings.windows(2).all(|pair| pair[0].end <= pair[1].start), "{text:?} {findings:?}");
        let every = Screening { secrets: Treatment::Redact, personal_data: Treatment::Redact, detected: Treatment::Redact };
        let _ = every.apply(&text, &[]); // every finding ends between two letters
    }
}

/// How many bytes the rules for secrets look at in a text.
fn looked_at(text: &str) -> usize {
    LOOKED.set(0);
    let _ = screen(text);
    LOOKED.get()
}

#[test]
fn no_text_makes_a_rule_read_the_same_again_and_again() {
    let long = "x".repeat(30_000);
    for part in [
        "sk-",
        "sk-a",
        "sk-ant-",
        "xoxb-",
        "ghp_",
        "AKIA",
        "SG.",
        "glpat-",
        "eyJ.",
        "eyJ-",
        "eyJabcdefghijk.",
        "password=",
        "password=a.",
        "pass-",
        "pass ",
        "pwd:",
        "token=\u{e9}",
        "api ",
        "api key ",
        "a+",
        "a://",
        "https://a:b@",
        "//u:p@",
        "a-",
        "a.",
        "AIza-",
        "Bearer ",
    ] {
        for end in ["", &long, "://", ".....", "1"] {
            let text = |bytes: usize| part.repeat(bytes / part.len()) + end;
            let (small, large) = (looked_at(&text(20_000)), looked_at(&text(80_000)));
            assert!(large < 6 * small.max(20_000), "{part:?} and {:?}: {small}, then {large}", &end[..end.len().min(5)]);
        }
    }
}

#[test]
fn a_value_that_ends_with_many_signs_is_found_without_them() {
    for (value, signs, found) in [("hunter22", 5, true), ("hunter22", 5_000, true), (&*"a1".repeat(300), 5, false)] {
        let text = format!("the password is {value}{} I think", ".".repeat(signs));
        let parts: Vec<_> = screen(&text).into_iter().map(|one| text[one.start..one.end].to_owned()).collect();
        assert_eq!(parts, if found { vec![value.to_owned()] } else { vec![] }, "{} and {signs}", value.len());
    }
}

#[test]
fn places_are_told_in_characters_behind_any_number_of_findings() {
    let text = "\u{e9} ana@example.org \u{1F600} ".repeat(3);
    let places: Vec<_> = Detected::in_text(&text).into_iter().map(|one| (one.start, one.end)).collect();
    assert_eq!(places, [(2, 17), (22, 37), (42, 57)]);
}
