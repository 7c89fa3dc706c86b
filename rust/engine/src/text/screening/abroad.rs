//! The surroundings of a secret in other languages and scripts: letters that belong to its word, white space, quotation marks, colons; names
//! of passwords in other scripts; cards in other digits.
//!
//! The names in Latin letters stand beside the English ones ([`super::secrets`]).

use super::personal::named_card;
use super::secrets::{said_value, valued};
use super::validators::is_card;
use super::{Finding, Sensitive};
use crate::text::chars::ascii_digit;

/// Names of passwords in Latin letters, without accents and signs: Spanish, Portuguese, Dutch, Polish, Swedish, Norwegian, Turkish, French,
/// Italian, Romanian, and what such a name is as two or three words.
pub const NAMES: [&str; 19] = [
    "contrasena",
    "senha",
    "palavrapasse",
    "wachtwoord",
    "haslo",
    "losenord",
    "losenordet",
    "passord",
    "passordet",
    "sifre",
    "sifrem",
    "sifresi",
    "sifremiz",
    "sifreniz",
    "motdepasse",
    "mdp",
    "paroladordine",
    "zugangscode",
    PAROLA,
];
/// Turkish and Romanian have it for a password, and Italian for a word.
pub const PAROLA: &str = "parola";
/// Names of several words, by the first of them, and what follows it.
pub const PHRASES: [(&str, &str); 3] = [("mot", " de passe"), ("parola", " d'ordine"), ("palavra", " passe")];

/// A letter of a name in lowest case without its accent; `None` for signs and accents by themselves.
pub fn plain_letter(letter: char) -> Option<char> {
    match letter {
        _ if letter.is_ascii_alphanumeric() => Some(letter.to_ascii_lowercase()),
        'ñ' | 'Ñ' => Some('n'),
        'ł' | 'Ł' => Some('l'),
        'ö' | 'Ö' => Some('o'),
        'ş' | 'Ş' => Some('s'),
        'İ' => Some('i'),
        _ => None,
    }
}

/// Names of passwords in other scripts.
const SCRIPTS: [&str; 10] = ["пароль", "Пароль", "ПАРОЛЬ", "密码", "密碼", "パスワード", "비밀번호", "كلمة المرور", "كلمة السر", "पासवर्ड"];
/// Words between such a name and its value, in place of a colon.
const VERBS: [&str; 11] = ["是", "为", "為", "は", "는", "은", "هي", "है", "—", "–", "это "];
/// Words that may follow at once on a value in a script without spaces: "is" at the end of a sentence, and "was changed to".
const ENDS: [&str; 6] = ["です", "だ", "に変", "입니다", "이에요", "예요"];
/// Verbs between a name in Latin letters and its value.
const COPULAS: [&[u8]; 8] = [b"ist ", b"lautet ", b"es ", b"est ", "è ".as_bytes(), "é ".as_bytes(), "är ".as_bytes(), b"hai "];

/// The bytes of a verb of another language with the space behind it; 0 where there is none.
pub fn copula(bytes: &[u8]) -> usize {
    COPULAS.iter().find(|verb| bytes.starts_with(verb)).map_or(0, |verb| verb.len())
}

/// Whether a letter of Latin script or an accent of one, beyond ASCII, ends here. Nothing else joins a word of ASCII: neither a quotation
/// mark nor a letter of a script that is written without spaces.
pub fn ends_latin(bytes: &[u8]) -> bool {
    match bytes {
        [.., 0xC3, 0x97 | 0xB7] => false, // signs of arithmetic
        [.., 0xC3..=0xCD, 0x80..=0xBF] | [.., 0xE1, 0xB8..=0xBB, _] => true,
        _ => false,
    }
}

/// Whether one begins here.
pub fn begins_latin(bytes: &[u8]) -> bool {
    match bytes {
        [0xC3, 0x97 | 0xB7, ..] => false,
        [0xC3..=0xCD, ..] | [0xE1, 0xB8..=0xBB, ..] => true,
        _ => false,
    }
}

/// Whether the sign of a currency ends here that is written before its number.
pub fn ends_currency(bytes: &[u8]) -> bool {
    ["£", "¥", "€", "₹", "₩", "₽", "￥"].iter().any(|sign| bytes.ends_with(sign.as_bytes()))
}

/// Whether a name in another script, or one that begins with an accent, or a number in other digits may begin here.
pub fn may_begin(bytes: &[u8], at: usize) -> bool {
    match bytes[at..] {
        [0xC5, 0x9E | 0x9F, ..] => !ends_latin(&bytes[..at]) && !at.checked_sub(1).is_some_and(|before| super::is_word(bytes[before])),
        [0xD0, 0x9F | 0xBF, ..]
        | [0xD9, 0x83 | 0xA0..=0xA9, ..]
        | [0xDB, 0xB0..=0xB9, ..]
        | [0xE0, 0xA4, 0xAA, ..]
        | [0xE0, 0xA5, 0xA6..=0xAF, ..]
        | [0xE3, 0x83, 0x91, ..]
        | [0xE5, 0xAF, 0x86, ..]
        | [0xEB, 0xB9, 0x84, ..]
        | [0xEF, 0xBC, 0x90..=0x99, ..] => true,
        _ => false,
    }
}

/// The bytes of the space here: that of ASCII, those that do not break, narrow ones, and the wide one; 0 where there is none.
pub fn blank(bytes: &[u8]) -> usize {
    match bytes {
        [b' ', ..] => 1,
        [0xC2, 0xA0, ..] => 2,
        [0xE2, 0x80, 0x87 | 0x89 | 0xAF, ..] | [0xE3, 0x80, 0x80, ..] => 3,
        _ => 0,
    }
}

/// The bytes of several of them.
pub fn blanks(bytes: &[u8], most: usize) -> usize {
    let mut length = 0;
    for _ in 0..most {
        match blank(&bytes[length..]) {
            0 => break,
            one => length += one,
        }
    }
    length
}

/// The bytes of a colon or a sign of equality of full width; 0 where there is none.
pub fn wide_sign(bytes: &[u8]) -> usize {
    if matches!(bytes, [0xEF, 0xBC, 0x9A | 0x9D, ..]) { 3 } else { 0 }
}

/// Quotation marks beyond ASCII.
const QUOTES: [&str; 14] = ["“", "”", "„", "‟", "‘", "’", "‚", "«", "»", "‹", "›", "「", "『", "【"];

/// The bytes of a quotation mark; 0 where there is none.
pub fn quote(bytes: &[u8]) -> usize {
    match bytes.first() {
        Some(b'"' | b'\'' | b'`') => 1,
        Some(0x80..) => QUOTES.iter().find(|mark| bytes.starts_with(mark.as_bytes())).map_or(0, |mark| mark.len()),
        _ => 0,
    }
}

/// Whether one ends here.
pub fn ends_quote(bytes: &[u8]) -> bool {
    match bytes.last() {
        Some(b'"' | b'\'' | b'`') => true,
        Some(0x80..) => QUOTES.iter().any(|mark| bytes.ends_with(mark.as_bytes())),
        _ => false,
    }
}

/// The bytes of a value that is not ASCII, of those that may be: it ends before a mark or a space of another script, and where ASCII goes
/// over into a script without spaces.
pub fn value_length(value: &str) -> usize {
    let mut has_ascii = false;
    for (at, sign) in value.char_indices() {
        has_ascii |= sign.is_ascii();
        let is_mark = matches!(sign, '\u{A0}' | '«' | '»' | '،' | '؛' | '؟' | '।' | '॥' | '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{303F}'
            | '\u{FF00}'..='\u{FF0F}' | '\u{FF1A}'..='\u{FF20}');
        if is_mark || has_ascii && is_without_spaces(sign) {
            return at;
        }
    }
    value.len()
}

/// Letters of scripts that put no spaces between words.
fn is_without_spaces(sign: char) -> bool {
    sign >= '\u{E00}' && sign.is_alphanumeric() && !('\u{1E00}'..='\u{1EFF}').contains(&sign)
}

/// Algorithms and encodings.
const ALGORITHMS: [&str; 21] = [
    "base64", "base32", "utf8", "utf-8", "utf16", "utf-16", "md5", "sha1", "sha2", "sha3", "sha224", "sha256", "sha384", "sha512", "sha-",
    "wpa2", "wpa3", "wpa-", "aes128", "aes256", "aes-",
];

/// Whether a value begins with an algorithm or an encoding: "base64-kodiert", "WPA2-PSK". No digit follows, as it does in "Sha2024!".
pub fn is_algorithm(value: &[u8]) -> bool {
    let goes_on = |name: &&str| !value.get(name.len()).is_some_and(|next| next.is_ascii_digit() && !name.ends_with('-'));
    ALGORITHMS.iter().any(|name| begins(value, name) && goes_on(name))
}

/// Whether some bytes begin with a word in small letters, whatever their case.
fn begins(bytes: &[u8], word: &str) -> bool {
    bytes.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a value says where a password is kept: "见1Password", "seeKeePass", "Bitwarden", `KeePass参照`. The master password
/// of such a manager may hold its name, and more.
pub fn is_reference(text: &str, start: usize, end: usize) -> bool {
    const SEE: [&str; 4] = ["见", "見", "see", "See"];
    const MANAGERS: [&str; 6] = ["1password", "keepass", "bitwarden", "lastpass", "dashlane", "nordpass"];
    let value = &text[start..end];
    let seen = SEE.iter().find_map(|see| value.strip_prefix(see));
    let is_seen =
        seen.is_some_and(|rest| !value.is_ascii() || rest.starts_with(|next: char| next.is_ascii_uppercase() || "-_".contains(next)));
    let named = seen.unwrap_or(value).as_bytes();
    let only = |name: &&str| !named[name.len()..].iter().any(u8::is_ascii_punctuation) && named[name.len()..].len() < 2;
    is_seen
        || ["参照", "參照"].iter().any(|see| value.ends_with(see) || text[end..].starts_with(see))
        || MANAGERS.iter().filter(|name| begins(named, name)).any(only)
}

/// Whether a word right before a number calls it a number of something that is not a card and not of social security: "编号4111".
pub fn is_numbered(context: &str) -> bool {
    const LABELS: [&str; 6] = ["号", "號", "番号", "번호", "コード", "№"];
    /// Cards, accounts, and what is social.
    const OTHERWISE: [&str; 15] =
        ["卡", "カード", "クレジット", "카드", "карт", "Карт", "账", "帐", "帳", "口座", "社", "사회", "保险", "保險", "保険"];
    let label = context.trim_end_matches([' ', ':', '：', '\u{A0}', '\u{3000}', 'は', '是']);
    LABELS.iter().any(|word| label.ends_with(word)) && !OTHERWISE.iter().any(|word| label.contains(word))
}

/// Whether a value behind a verb of another language says what passwords are like: "8-stellig", "12stellig", "SHA256-gehasht", "8-12",
/// "base64-kodiert".
pub fn is_form(value: &[u8]) -> bool {
    if is_algorithm(value) {
        return true;
    }
    let Some(tail) = value.iter().rposition(|byte| !(byte.is_ascii_lowercase() || *byte >= 0x80)).map(|at| at + 1) else { return false };
    let (head, tail) = value.split_at(tail);
    let is_joined = head.iter().any(|byte| matches!(byte, b'-' | b':'));
    let is_number = head.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':'));
    let is_code = head.ends_with(b"-") && head.iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'-');
    is_number && head.len() <= if is_joined { 5 } else { 2 } || is_code && tail.len() > 3
}

/// The password behind a name in another script, which begins here.
pub fn password(text: &str, at: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    let name = SCRIPTS.iter().find(|name| bytes[at..].starts_with(name.as_bytes()))?;
    let end = at + name.len() + quote(&bytes[at + name.len()..]);
    let mut start = end + blanks(&bytes[end..], 3);
    let sign = if matches!(bytes.get(start), Some(b':' | b'=')) { 1 } else { wide_sign(&bytes[start..]) };
    if sign == 0 {
        let verb = VERBS.iter().find(|verb| bytes[start..].starts_with(verb.as_bytes()));
        start = verb.map(|verb| start + verb.len()).or_else(|| said_value(&bytes[end..]).map(|value| end + value))?;
    }
    start += sign;
    start += blanks(&bytes[start..], 3);
    start += quote(&bytes[start..]);
    let found = valued(text, (start, sign > 0), true)?;
    let behind = text[found.end..].trim_start_matches(['.', '!', '?']);
    let goes_on = behind.starts_with(is_without_spaces) && !ENDS.iter().any(|end| behind.starts_with(end));
    let value = &bytes[found.start..found.end];
    (if sign > 0 { !is_algorithm(value) } else { !goes_on && !is_form(value) }).then_some(found)
}

/// A card in digits of full width, of Arabic or of Devanagari.
pub fn card(text: &str, at: usize) -> Option<Finding> {
    if text[..at].chars().next_back().is_some_and(is_digit) {
        return None;
    }
    let (mut digits, mut end, mut separators) = (Vec::new(), at, 0);
    for (place, sign) in text[at..].char_indices() {
        match digit(sign) {
            Some(digit) if digits.len() < 24 => {
                digits.push(digit as u8);
                (end, separators) = (at + place + sign.len_utf8(), 0);
            }
            None if separators == 0 && matches!(sign, ' ' | '-' | '\u{A0}' | '\u{202F}' | '\u{3000}' | '\u{FF0D}') => separators = 1,
            _ => break,
        }
    }
    (is_card(&digits) && !text[end..].starts_with(is_digit) && named_card(text, at)).then_some(Finding {
        what: Sensitive::PaymentCard,
        start: at,
        end,
    })
}

/// A digit of ASCII, of full width or of another script as one of ASCII.
fn digit(sign: char) -> Option<char> {
    match sign {
        '0'..='9' => Some(sign),
        '\u{FF10}'..='\u{FF19}' => char::from_digit(sign as u32 - 0xFF10, 10),
        _ => ascii_digit(sign),
    }
}

fn is_digit(sign: char) -> bool {
    digit(sign).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::{Sensitive, screen};

    /// The findings of a text: kinds and parts.
    fn found(text: &str) -> Vec<(Sensitive, &str)> {
        screen(text).into_iter().map(|one| (one.what, &text[one.start..one.end])).collect()
    }

    #[test]
    fn a_secret_stands_beside_any_sign_but_a_letter_of_its_own_script() {
        for (what, value) in [
            (Sensitive::VendorKey, "AKIAIOSFODNN7EXAMPLE"),
            (Sensitive::VendorKey, "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
            (Sensitive::WebToken, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"),
            (Sensitive::PaymentCard, "4111111111111111"),
            (Sensitive::Phone, "+8613800138000"),
            (Sensitive::Phone, "408-971-8523"),
            (Sensitive::SocialSecurity, "536-90-4399"),
            (Sensitive::Iban, "DE89370400440532013000"),
        ] {
            for (before, behind) in [
                ("“", "”."),
                ("„", "“"),
                ("«\u{a0}", "\u{a0}»"),
                ("a\u{a0}", "\u{202f}b"),
                ("鍵は", "です"),
                ("密钥：", "。"),
                ("مفتاحي،", "،"),
                ("คีย์", "ครับ"),
                ("ключ—", "…"),
                ("\u{1F511}", "\u{1F511}"),
                ("•", "、"),
            ] {
                assert_eq!(found(&format!("{before}{value}{behind}")), [(what, value)], "{before} {behind}");
            }
            assert_eq!(found(&format!("é{value}")), [], "part of a word");
        }
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        assert_eq!(found(&format!("“{pem}”")), [(Sensitive::PrivateKey, pem)]);
        assert_eq!(found("url：postgres://u:Secr3tpw@db/x"), [(Sensitive::UrlCredentials, "u:Secr3tpw")]);
    }

    #[test]
    fn groups_and_digits_of_other_scripts_are_read() {
        for (text, what, value) in [
            ("Card 4111\u{a0}1111\u{a0}1111\u{a0}1111", Sensitive::PaymentCard, "4111\u{a0}1111\u{a0}1111\u{a0}1111"),
            ("4111\u{202f}1111\u{202f}1111\u{202f}1111.", Sensitive::PaymentCard, "4111\u{202f}1111\u{202f}1111\u{202f}1111"),
            (
                "IBAN DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00",
                Sensitive::Iban,
                "DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00",
            ),
            ("カード４１１１１１１１１１１１１１１１です", Sensitive::PaymentCard, "４１１１１１１１１１１１１１１１"),
            ("٤١١١ ١١١١ ١١١١ ١١١١", Sensitive::PaymentCard, "٤١١١ ١١١١ ١١١١ ١١١١"),
            ("कार्ड ४१११११११११११११११।", Sensitive::PaymentCard, "४१११११११११११११११"),
            ("+49\u{a0}30\u{a0}901820", Sensitive::Phone, "+49\u{a0}30\u{a0}901820"),
        ] {
            assert_eq!(found(text), [(what, value)], "{text}");
        }
        for text in
            ["４１１１１１１１１１１１１１１２", "１４１１１１１１１１１１１１１１１", "٢٠٢٦ ١٢ ٣٠", "注文４１１１１１１１１１１１１１１１"]
        {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn passwords_are_found_in_other_languages() {
        for text in [
            "Mein Passwort ist {}!",
            "Das WLAN-Passwort lautet {}!",
            "Das Passwort für Netflix ist {}",
            "Password für WLAN: {}",
            "The password for München is {}!",
            "the password for the wifi: {}",
            "Mon mot de passe est {}.",
            "Mot de passe\u{a0}: {}",
            "Le mdp est {}",
            "Mi contraseña es {}",
            "CONTRASEÑA: {}",
            "contrasen\u{303}a: {}",
            "contrasena: {}",
            "La password del wifi è {}!",
            "La password di Netflix: {}",
            "Parola d'ordine: {}",
            "Het wachtwoord van de wifi is {}",
            "Minha senha é {}",
            "Palavra-passe: {}",
            "Moje hasło to {}",
            "Hasło: {}",
            "Mitt lösenord är {}",
            "Lösenordet är {}",
            "Şifre: {}",
            "wifi şifresi: {}",
            "Parola: {}",
            "Пароль: {}",
            "Пароль от вайфая — {}",
            "Мой пароль: «{}»",
            "パスワードは{}です",
            "パスワード：{}",
            "WiFi密码是{}，别忘了",
            "密码:{}",
            "كلمة المرور: {}",
            "كلمة السر هي {}",
            "पासवर्ड: {}",
            "Mera password hai {}",
            "Password：{}",
            "the password is “{}”",
            "“password: {}”",
        ] {
            assert_eq!(found(&text.replace("{}", "Hund2024")), [(Sensitive::Password, "Hund2024")], "{text}");
        }
    }

    #[test]
    fn a_number_is_a_card_behind_its_own_label() {
        for text in ["信用卡号4111111111111111", "カード番号：4111111111111111", "카드번호 4111111111111111", "карта № 4111111111111111"]
        {
            assert_eq!(found(text), [(Sensitive::PaymentCard, "4111111111111111")], "{text}");
        }
        for text in ["社会保障番号：536-90-4399", "“536-90-4399”"] {
            assert_eq!(found(text), [(Sensitive::SocialSecurity, "536-90-4399")], "{text}");
        }
        assert_eq!(found("電話番号：408-971-8523"), [(Sensitive::Phone, "408-971-8523")]);
        for text in ["密码：Sha2024!", "password: seesaw99", "password: 1Password#2024", "密码是Keepass#77"] {
            assert_eq!(found(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_is_said_about_passwords_is_none() {
        for text in [
            "das Passwort ist falsch",
            "Das Passwort ist 8-stellig",
            "Das Passwort ist 12stellig und SHA256-gehasht",
            "Das Passwort ist SHA256-gehasht",
            "Das Passwort für den Router ist abgelaufen",
            "Das Passwort lautet anders als am 3.5.2024",
            "mi contraseña es segura",
            "mi contraseña es de 12 caracteres",
            "la contraseña: obligatoria",
            "le mot de passe est d'au moins 8 caractères",
            "le mot de passe : obligatoire",
            "il a donné le mot de la fin: v2.0",
            "la parola è Covid19",
            "la parola: 2024",
            "parola mea de onoare",
            "minha senha é forte",
            "Het wachtwoord is 8-cijferig",
            "hasło to podstawa",
            "lösenordet är 8-siffrigt",
            "şifre unutuldu",
            "пароль от почты забыт",
            "пароль: не менее 8 символов",
            "パスワードは8文字以上",
            "パスワードは1Passwordで管理しています",
            "パスワードはSHA256でハッシュ化",
            "密码是AES256加密的",
            "密码为必填项",
            "密码：至少8位",
            "كلمة المرور مطلوبة",
            "पासवर्ड गलत है",
            "Change the password for the team at 5: 10:30am is late",
            "password for step 2: 8-12 characters",
            "订单号：4111111111111111",
            "Das Passwort ist base64-kodiert",
            "Das Passwort ist MD5-Hash",
            "Пароль — WPA2-PSK",
            "senha: base64",
            "密码：SHA-256哈希",
            "密码: 见1Password",
            "パスワード: 1Password参照",
            "The password for the demo: see1Password",
            "password：LastPass2",
            "会員番号4111111111111111",
            "编号：4111111111111111",
            "商品コード：536-90-4399",
            "송장번호 4111111111111111",
            "накладная №4111111111111111",
            "Die Bestellung 4111111111111111 kam an",
            "价格¥4111111111111111",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
