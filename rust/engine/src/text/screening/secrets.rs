//! Secrets: keys by their vendor's prefix, tokens and keys by their shape, passwords by the words before them.
//!
//! The whole is linear in the text, whatever stands in it: a rule looks no further than the longest that counts, or notes in [`Seen`] what
//! it read in vain, so that it does not read that again from each word in it.

use std::ops::Range;

use super::validators::entropy;
use super::{Finding, Sensitive, abroad, has_cue, is_word};

/// The alphabet of the rest of a vendor's key.
#[derive(Clone, Copy)]
enum Rest {
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits.
    Upper,
    /// Hexadecimal digits.
    Hex,
    /// Letters, digits, `-`, `_`.
    UrlSafe,
    /// Letters, digits, `-`, `_` and `.`.
    Dotted,
}

impl Rest {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Self::UrlSafe => byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_',
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
        }
    }
}

/// Prefix, what follows, and how many at least. Longer prefixes stand before those that they begin with.
const VENDORS: [(&str, Rest, usize); 46] = [
    ("AKIA", Rest::Upper, 16),      // AWS
    ("ASIA", Rest::Upper, 16),      // AWS, temporary
    ("AIza", Rest::UrlSafe, 35),    // Google
    ("ya29.", Rest::UrlSafe, 30),   // Google OAuth
    ("GOCSPX-", Rest::UrlSafe, 28), // Google OAuth client
    ("ghp_", Rest::Alnum, 36),      // GitHub
    ("gho_", Rest::Alnum, 36),
    ("ghu_", Rest::Alnum, 36),
    ("ghs_", Rest::Alnum, 36),
    ("ghr_", Rest::Alnum, 36),
    ("github_pat_", Rest::UrlSafe, 22),
    ("glpat-", Rest::UrlSafe, 20), // GitLab
    ("xoxb-", Rest::UrlSafe, 10),  // Slack
    ("xoxp-", Rest::UrlSafe, 10),
    ("xoxa-", Rest::UrlSafe, 10),
    ("xoxr-", Rest::UrlSafe, 10),
    ("xoxs-", Rest::UrlSafe, 10),
    ("xapp-", Rest::UrlSafe, 10),
    ("sk-ant-", Rest::UrlSafe, 20),  // Anthropic
    ("sk-proj-", Rest::UrlSafe, 20), // OpenAI
    ("sk-or-v1-", Rest::Hex, 40),    // OpenRouter
    ("sk-", Rest::Alnum, 20),
    ("sk_live_", Rest::Alnum, 16), // Stripe
    ("sk_test_", Rest::Alnum, 16),
    ("rk_live_", Rest::Alnum, 16),
    ("whsec_", Rest::Alnum, 24),
    ("hf_", Rest::Alnum, 30),      // Hugging Face
    ("gsk_", Rest::Alnum, 40),     // Groq
    ("xai-", Rest::Alnum, 40),     // xAI
    ("r8_", Rest::Alnum, 36),      // Replicate
    ("nvapi-", Rest::UrlSafe, 40), // NVIDIA
    ("pplx-", Rest::Alnum, 32),    // Perplexity
    ("npm_", Rest::Alnum, 36),
    ("pypi-AgE", Rest::UrlSafe, 40),
    ("SG.", Rest::Dotted, 60),  // SendGrid
    ("dop_v1_", Rest::Hex, 64), // DigitalOcean
    ("shpat_", Rest::Hex, 32),  // Shopify
    ("shpss_", Rest::Hex, 32),
    ("sq0atp-", Rest::UrlSafe, 22),        // Square
    ("hvs.", Rest::UrlSafe, 24),           // Vault
    ("lin_api_", Rest::Alnum, 32),         // Linear
    ("dapi", Rest::Hex, 32),               // Databricks
    ("tfp_", Rest::UrlSafe, 40),           // Typeform
    ("AGE-SECRET-KEY-1", Rest::Upper, 50), // age
    ("EAACEdEose0cBA", Rest::Alnum, 8),    // Facebook
    ("rubygems_", Rest::Hex, 48),
];

/// The parts of a text that rules read in vain.
#[derive(Debug, Default)]
pub struct Seen {
    /// Up to here no web token begins.
    tokens_end: usize,
    /// For each class the last run that has no digit.
    digitless: [Range<usize>; 5],
    /// Where an authority begins that has no credentials.
    plain_authority: usize,
}

/// The secret that begins where a token begins. A text is read from its beginning to its end, with one `seen`.
pub fn at(text: &str, at: usize, seen: &mut Seen) -> Option<Finding> {
    let bytes = text.as_bytes();
    let rest = &bytes[at..];
    let finding = |what, length: usize| Finding { what, start: at, end: at + length };
    match rest[0] {
        b'-' => pem(rest).map(|length| finding(Sensitive::PrivateKey, length)),
        b'e' if rest.starts_with(b"eyJ") => web_token(bytes, at, seen).map(|length| finding(Sensitive::WebToken, length)),
        first if first.is_ascii_alphabetic() => vendor_key(bytes, at, seen)
            .map(|length| finding(Sensitive::VendorKey, length))
            .or_else(|| url_credentials(text, at, seen))
            .or_else(|| password(text, at)),
        0x80.. => password(text, at).or_else(|| abroad::password(text, at)),
        _ => None,
    }
}

fn run(bytes: &[u8], class: impl Fn(u8) -> bool) -> usize {
    let length = bytes.iter().take_while(|byte| class(**byte)).count();
    #[cfg(test)]
    super::tests::LOOKED.set(super::tests::LOOKED.get() + length + 1);
    length
}

/// The length of a run within the first bytes alone.
fn run_of(bytes: &[u8], most: usize, class: impl Fn(u8) -> bool) -> usize {
    run(&bytes[..bytes.len().min(most)], class)
}

fn vendor_key(bytes: &[u8], at: usize, seen: &mut Seen) -> Option<usize> {
    let rest = &bytes[at..];
    // Every prefix ends with a sign, but for those of which the second letter is checked with it.
    VENDORS.iter().find_map(|(prefix, class, least)| {
        let prefix = prefix.as_bytes();
        if rest[0] != prefix[0] || !rest.starts_with(prefix) {
            return None;
        }
        let (from, seen) = (at + prefix.len(), &mut seen.digitless[*class as usize]);
        if seen.contains(&from) {
            return None;
        }
        let length = run(&bytes[from..], |byte| class.has(byte));
        // `sk-learn-compatible-estimators` has no digit: a key has one.
        let has_digit = bytes[from..from + length].iter().any(u8::is_ascii_digit);
        if !has_digit {
            *seen = from..from + length;
        }
        (length >= *least && has_digit).then_some(prefix.len() + length)
    })
}

/// Three parts of base64url, the first of which is a JSON object (`eyJ` is `{"`).
fn web_token(bytes: &[u8], at: usize, seen: &mut Seen) -> Option<usize> {
    if at < seen.tokens_end {
        return None; // it would end where the one before ended, with no more parts
    }
    let rest = &bytes[at..];
    let (mut length, mut parts) = (0, 0);
    loop {
        let part = run(&rest[length..], |byte| Rest::UrlSafe.has(byte));
        (length, parts) = (length + part, parts + usize::from(part >= 10));
        if rest.get(length) != Some(&b'.') || parts == 3 {
            break;
        }
        length += 1;
    }
    if parts < 3 {
        seen.tokens_end = at + length;
    }
    (parts == 3).then_some(length)
}

/// From `-----BEGIN ... PRIVATE KEY` to its end, or to that of the text.
fn pem(rest: &[u8]) -> Option<usize> {
    let head = rest.strip_prefix(b"-----BEGIN ")?;
    let line = &head[..head.len().min(60)];
    let name = line.windows(5).position(|at| at == b"-----")?;
    if !line[..name].ends_with(b"PRIVATE KEY") && !line[..name].ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    let end = rest.windows(9).position(|at| at == b"-----END ");
    let Some(end) = end else { return Some(rest.len()) };
    let close = rest[end + 9..].windows(5).position(|at| at == b"-----").map(|at| end + 9 + at + 5);
    Some(close.unwrap_or(rest.len()))
}

const LONGEST_SCHEME: usize = 20;

/// `scheme://user:password@host`: the user and the password.
fn url_credentials(text: &str, at: usize, seen: &mut Seen) -> Option<Finding> {
    let rest = &text.as_bytes()[at..];
    let scheme = run_of(rest, LONGEST_SCHEME + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'+');
    if scheme > LONGEST_SCHEME || !rest[scheme..].starts_with(b"://") {
        return None;
    }
    let start = scheme + 3;
    if seen.plain_authority == at + start {
        return None;
    }
    seen.plain_authority = at + start; // where there are some, the search goes on behind them
    let authority =
        run(&rest[start..], |byte| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>'));
    let authority = &rest[start..start + authority];
    let sign = authority.iter().rposition(|byte| *byte == b'@')?;
    let colon = authority[..sign].iter().position(|byte| *byte == b':')?;
    let secret = &authority[colon + 1..sign];
    let is_placeholder = secret.is_empty() || secret[0] == b'$' || secret[0] == b'{' || secret.iter().all(|byte| *byte == b'*');
    (!is_placeholder).then_some(Finding { what: Sensitive::UrlCredentials, start: at + start, end: at + start + sign })
}

/// Names of values that open something, as words or joined by `_`, `-` or nothing.
const STRONG: [&str; 8] = ["password", "passwd", "pwd", "passphrase", "passcode", "pass", "kennwort", "passwort"];
const KEYS: [&str; 13] = [
    "apikey",
    "secret",
    "token",
    "secretkey",
    "accesskey",
    "accesstoken",
    "authtoken",
    "clientsecret",
    "bearer",
    "privatekey",
    "secretaccesskey",
    "refreshtoken",
    "accountkey",
];

const LONGEST_NAME: usize = 40;
/// The longest value; what looks like a password is shorter yet.
const LONGEST_VALUE: usize = 400;

/// The value behind a name: after `=` or `:`, after "is", and for "bearer" after a space.
fn password(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let (name, end) = secret_name(text, at)?;
    let is_abroad = abroad::NAMES.contains(&name.as_str());
    let strong = is_abroad || STRONG.contains(&name.as_str()) || STRONG.iter().any(|cue| cue.len() > 4 && name.ends_with(cue));
    let known = strong || KEYS.iter().any(|key| name.ends_with(key));
    if !known {
        return None;
    }
    let plain = value_start(bytes, end, name.ends_with("bearer"));
    if let Some((start, lead)) = plain.filter(|(_, lead)| is_abroad || *lead == Lead::Abroad) {
        let (is_sign, is_word) = (lead == Lead::Sign, name == abroad::PAROLA);
        let found = valued(text, (start, is_sign && !is_word), strong)?;
        let value = &bytes[found.start..found.end];
        let is_told = if is_sign { is_abroad && abroad::is_algorithm(value) } else { is_word || abroad::is_form(value) };
        return (!is_told).then_some(found);
    }
    let plain = plain.and_then(|(start, lead)| valued(text, (start, lead == Lead::Sign), strong));
    // A pass is a ticket as well, of which people say what it costs.
    let said = || said_value(&bytes[end..]).filter(|_| name != "pass").and_then(|start| valued(text, (end + start, false), strong));
    // "The passcode on my phone is 6-digit", "the password's min-length=12"
    let is_form = |found: &Finding| {
        let value = &bytes[found.start..found.end];
        value.contains(&b'=')
            || ["digit", "digits", "chars", "characters"].iter().any(|form| value.ends_with(form.as_bytes()))
            || !value.iter().all(u8::is_ascii_alphanumeric) && abroad::is_form(value)
    };
    plain.or_else(|| said().filter(|found| !is_form(found)))
}

/// The secret whose value begins at a place; `explicit` where a sign says that it is one.
pub fn valued(text: &str, (start, explicit): (usize, bool), strong: bool) -> Option<Finding> {
    let bytes = text.as_bytes();
    if start >= bytes.len() {
        return None;
    }
    let quoted = abroad::ends_quote(&bytes[..start]);
    let mut length = run_of(&bytes[start..], LONGEST_VALUE + 1, is_of_value);
    if !bytes[start..start + length].is_ascii() {
        while length > 0 && !text.is_char_boundary(start + length) {
            length -= 1;
        }
        length = abroad::value_length(text.get(start..start + length)?);
    }
    let rest = &bytes[start + length..];
    if length + 3 > LONGEST_VALUE && rest.get(run(rest, ends_sentence)).copied().is_some_and(is_of_value) {
        return None; // it is longer than any that counts, and not by signs alone
    }
    let mut value = &bytes[start..start + length];
    while let [head @ .., b'.' | b'!' | b'?'] = value {
        if quoted {
            break;
        }
        value = head;
    }
    let secret = if strong { looks_like_password(value, explicit) } else { looks_random(value) };
    let finding = Finding { what: Sensitive::Password, start, end: start + value.len() };
    let is_found = secret && text.is_char_boundary(finding.end);
    (is_found && !(strong && abroad::is_reference(text, start, finding.end))).then_some(finding)
}

fn is_of_value(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'<' | b'>' | b'&' | b')')
}

fn ends_sentence(byte: u8) -> bool {
    matches!(byte, b'.' | b'!' | b'?')
}

/// Whether a name of a secret, or the first word of one, may end with these letters. Most words do not, and are read no further.
fn could_name_secret(last: [u8; 2]) -> bool {
    matches!(
        &last.map(|byte| byte.to_ascii_lowercase()),
        b"rd" | b"wd" | b"se" | b"de" | b"ss" | b"rt" // those of passwords
            | b"ey" | b"et" | b"en" | b"er" | b"pi" | b"th" | b"nt" | b"sh" // of keys
            | b"na" | b"ha" | b"lo" | b"re" | b"em" | b"si" | b"iz" | b"dp" | b"la" | b"ot" | b"ra" // abroad
    ) || last[0] >= 0x80 && matches!(last[1].to_ascii_lowercase(), b'o' | b'a') // "hasło", "contraseña"
}

/// The word here in lowest case without its signs and accents ("API key", `api_key`, `apiKey` are "apikey"), and where it ends.
fn secret_name(text: &str, at: usize) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let first = run_of(&bytes[at..], LONGEST_NAME + 2, |byte| is_word(byte) || byte == b'-' || matches!(byte, 0x80..=0xBF | 0xC3..=0xCD));
    let last = bytes[at..at + first].iter().rposition(|byte| !matches!(byte, b'-' | b'_'))?;
    if !(3..=LONGEST_NAME).contains(&first) || last == 0 || !could_name_secret([bytes[at + last - 1], bytes[at + last]]) {
        return None;
    }
    let mut name: String = text[at..at + first].chars().filter_map(abroad::plain_letter).collect();
    let mut end = at + first;
    if let Some((_, rest)) = abroad::PHRASES.iter().find(|(first, rest)| name == *first && bytes[end..].starts_with(rest.as_bytes())) {
        name.extend(rest.chars().filter_map(abroad::plain_letter));
        end += rest.len();
    }
    // "API key", "access token", "client secret": two words, of which the first says nothing alone.
    while ["api", "access", "auth", "client", "secret", "refresh", "account", "accessapi", "secretaccess"].contains(&name.as_str()) {
        let Some(b' ') = bytes.get(end) else { break };
        let next = run_of(&bytes[end + 1..], "access".len() + 1, |byte| byte.is_ascii_alphabetic());
        let word = String::from_utf8_lossy(&bytes[end + 1..end + 1 + next]).to_lowercase();
        if !["key", "token", "secret", "access"].contains(&word.as_str()) {
            break;
        }
        name.push_str(&word);
        end += 1 + next;
    }
    Some((name, end))
}

/// That which stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lead {
    /// A sign, which says that it is one.
    Sign,
    /// A verb of English, or nothing.
    English,
    /// A verb of another language.
    Abroad,
}

/// Where the value begins, and what leads to it.
fn value_start(bytes: &[u8], end: usize, bearer: bool) -> Option<(usize, Lead)> {
    let mut at = end + abroad::quote(&bytes[end..]);
    at += abroad::blanks(&bytes[at..], LONGEST_VALUE);
    let spaced = at > end;
    let lead = match bytes.get(at)? {
        b'=' | b':' => {
            at += 1 + usize::from(bytes.get(at + 1) == Some(&b'=')) + usize::from(bytes.get(at + 1) == Some(&b'>'));
            Lead::Sign
        }
        0x80.. if abroad::wide_sign(&bytes[at..]) > 0 => {
            at += abroad::wide_sign(&bytes[at..]);
            Lead::Sign
        }
        _ if spaced && (bytes[at..].starts_with(b"is ") || bytes[at..].starts_with(b"to ")) => {
            at += 3;
            Lead::English
        }
        _ if spaced && bearer => Lead::English,
        _ if spaced && abroad::copula(&bytes[at..]) > 0 => {
            at += abroad::copula(&bytes[at..]);
            Lead::Abroad
        }
        _ => return None,
    };
    at += abroad::blanks(&bytes[at..], LONGEST_VALUE);
    while abroad::quote(&bytes[at..]) > 0 {
        at += abroad::quote(&bytes[at..]);
    }
    (at < bytes.len()).then_some((at, lead))
}

/// Words between a name and its verb: what the secret opens.
const MOST_OPENED: usize = 6;

/// Where the value begins that a sentence gives, behind the name: "password | is X", "password's X", "password for the wifi is still X",
/// "password to Netflix was changed to X". The words behind the verb that only say since when are skipped.
pub fn said_value(bytes: &[u8]) -> Option<usize> {
    let (mut at, mut opened) = (0, 0);
    let word = |at: usize| run_of(&bytes[at..], LONGEST_NAME, |byte| is_word(byte) || matches!(byte, b'-' | b'.' | 0x80..));
    let spaces = |at: usize| abroad::blanks(&bytes[at..], 3);
    let colon = |at: usize| if bytes.get(at) == Some(&b':') { 1 } else { abroad::wide_sign(&bytes[at..]) };
    if let Some(rest) = ["'s ", "\u{2019}s "].iter().find(|verb| bytes.starts_with(verb.as_bytes())) {
        at = rest.len();
    } else {
        loop {
            let gap = spaces(at);
            if opened > 1 && colon(at + gap) > 0 {
                at += gap + colon(at + gap);
                break;
            }
            let length = word(at + gap);
            if gap == 0 || length == 0 || opened > MOST_OPENED {
                return None;
            }
            let read = &bytes[at + gap..at + gap + length];
            at += gap + length;
            let has_been = || read.eq_ignore_ascii_case(b"has") && bytes[at..].starts_with(b" been ");
            let is = IS.iter().any(|is| read.eq_ignore_ascii_case(is.as_bytes())) || IS_ABROAD.iter().any(|is| read == is.as_bytes());
            if is || has_been() {
                break;
            }
            let leads = OPENS.iter().any(|leads| read.eq_ignore_ascii_case(leads.as_bytes()));
            if opened == 0 && !leads {
                return None;
            }
            opened += 1;
        }
    }
    loop {
        let from = at + spaces(at);
        let length = word(from);
        let read = &bytes[from..from + length];
        let is = |list: &[&str]| list.iter().any(|one| read.eq_ignore_ascii_case(one.as_bytes()));
        // "Changed to X", and not "updated 3-Jan-2026"
        let becomes = || [&b" to "[..], b" as "].iter().any(|behind| bytes[from + length..].starts_with(behind));
        if !(is(&SINCE) || is(&BECOMES) && becomes()) {
            let mark = |from: usize| if bytes.get(from) == Some(&b':') { 1 } else { abroad::quote(&bytes[from..]) };
            let from = from + mark(from);
            let from = from + mark(from);
            return Some(from + spaces(from));
        }
        at = from + length;
    }
}

/// Verbs before a value.
const IS: [&str; 2] = ["is", "was"];
/// Verbs before a value in other languages, in small letters, and in Russian a dash. Polish "to" is a word before what a password opens,
/// too.
const IS_ABROAD: [&str; 9] = ["ist", "lautet", "es", "est", "è", "é", "är", "—", "–"];
/// Words behind the name of a secret that say what it opens.
const OPENS: [&str; 29] = [
    "for", "to", "of", "on", "at", "für", "fuer", "vom", "von", "zum", "zur", "beim", "de", "del", "di", "du", "da", "do", "della", "pour",
    "para", "per", "van", "voor", "för", "till", "til", "от", "для",
];
/// Words before the value.
const SINCE: [&str; 10] = ["still", "now", "been", "to", "as", "just", "currently", "again", "actually", "simply"];
/// Participles before "to" and the value.
const BECOMES: [&str; 4] = ["changed", "set", "reset", "updated"];

/// Letters with digits or signs, at least six; a word alone is a word ("password: required", "the password is wrong").
fn looks_like_password(value: &[u8], explicit: bool) -> bool {
    let letters = value.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let signs = value.iter().filter(|byte| byte.is_ascii_punctuation() && !matches!(byte, b'-' | b'_' | b'.' | b'/' | b':')).count();
    let mixed = letters > 0 && (digits > 0 || signs > 0);
    let is_reference =
        value.starts_with(b"$") || value.starts_with(b"{") || value.starts_with(b"[") || value.iter().all(|byte| *byte == b'*');
    let is_call = value.contains(&b'(') || value.contains(&b'[');
    if is_reference || is_call || value.len() > 200 {
        return false;
    }
    (value.len() >= 6 && mixed) || (explicit && value.len() >= 4 && letters == 0 && digits >= 4 && !is_date(value))
}

fn is_date(value: &[u8]) -> bool {
    value.iter().filter(|byte| matches!(byte, b'-' | b'/' | b'.' | b':')).count() >= 2
}

/// 16 bytes or more with letters and digits, and more than 3 bits a byte. A hash in hexadecimal is random too: behind
/// "token=" it is one.
fn looks_random(value: &[u8]) -> bool {
    let signs_of_text = value.iter().any(|byte| matches!(byte, b'(' | b'{' | b'[' | b'$' | b'*')) || value.contains(&b':');
    let has = |class: fn(&u8) -> bool| value.iter().any(class);
    value.len() >= 16
        && value.len() <= LONGEST_VALUE
        && !signs_of_text
        && value.iter().filter(|byte| matches!(byte, b'-' | b'/' | b'.')).count() <= value.len() / 8
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && entropy(value) >= 3 * 256
}

/// Whether the words before say that a number is an id of something.
pub fn is_an_id(context: &str) -> bool {
    /// Words of other languages for numbers that are ids of something.
    const ABROAD: [&str; 24] = [
        "bestellung",
        "bestellnummer",
        "auftrag",
        "auftragsnummer",
        "sendungsnummer",
        "rechnung",
        "rechnungsnummer",
        "pedido",
        "commande",
        "facture",
        "fattura",
        "ordine",
        "zam\u{f3}wienie",
        "订单",
        "订单号",
        "訂單",
        "单号",
        "單號",
        "注文",
        "伝票",
        "追跡",
        "주문",
        "заказ",
        "Заказ",
    ];
    const IDS: [&str; 36] = [
        "order",
        "orders",
        "invoice",
        "ticket",
        "tracking",
        "reference",
        "ref",
        "sku",
        "isbn",
        "serial",
        "build",
        "timestamp",
        "epoch",
        "hash",
        "transaction",
        "job",
        "request",
        "trace",
        "issue",
        "pr",
        "session",
        "id",
        "ids",
        "uuid",
        "commit",
        "version",
        "release",
        "part",
        "batch",
        "shipment",
        "case",
        "checksum",
        "revision",
        "run",
        "span",
        "parcel",
    ];
    has_cue(context, &IDS) || has_cue(context, &ABROAD)
}
