//! Canonical JSON (RFC 8785): one spelling for all texts that mean the same, so that a hash of a tool schema is of its meaning.
//!
//! Keys sorted by UTF-16 code units, no whitespace, strings with the least escaping, numbers as ECMAScript prints a double. It is for
//! hashing only. The bytes are sent as they were given. Of duplicate keys, which RFC 8785 forbids, the last counts.

use serde_json::Value;

use super::json::write_text;
use crate::{Error, Result};

/// The canonical form of one JSON value.
pub fn canonical_json(raw: &str) -> Result<Vec<u8>> {
    let value: Value = serde_json::from_str(raw).map_err(|error| {
        Error::invalid(format!(
            "cannot canonicalise JSON: a schema must be one JSON value, got {} bytes that are not ({error}): encode it with json.dumps",
            raw.len()
        ))
    })?;
    let mut out = Vec::with_capacity(raw.len());
    write_value(&mut out, &value);
    Ok(out)
}

fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(flag) => out.extend_from_slice(if *flag { b"true" } else { b"false" }),
        Value::Number(number) => write_number(out, number.as_f64().unwrap_or_default()),
        Value::String(text) => write_text(out, text),
        Value::Array(items) => write_list(out, b'[', b']', items.iter(), write_value),
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
            write_list(out, b'{', b'}', sorted.into_iter(), |out, (key, value)| {
                write_text(out, key);
                out.push(b':');
                write_value(out, value);
            });
        }
    }
}

fn write_list<T>(out: &mut Vec<u8>, open: u8, close: u8, items: impl Iterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(open);
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(close);
}

/// A double as ECMAScript's `Number::toString` prints it (ECMA-262, 6.1.6.1.20): shortest digits, exponents from 1e21 and 1e-7.
fn write_number(out: &mut Vec<u8>, number: f64) {
    if number == 0.0 {
        return out.push(b'0');
    }
    let scientific = format!("{:e}", number.abs());
    let (digits, exponent) = scientific.split_once('e').expect("{:e} always prints an exponent");
    let digits: String = digits.chars().filter(|digit| *digit != '.').collect();
    let point = exponent.parse::<i32>().expect("{:e} prints the exponent as an integer") + 1;
    if number < 0.0 {
        out.push(b'-');
    }
    out.extend_from_slice(layout_digits(&digits, point).as_bytes());
}

/// `digits` with the decimal point after `point` of them.
fn layout_digits(digits: &str, point: i32) -> String {
    let count = digits.len() as i32;
    match point {
        _ if count <= point && point <= 21 => format!("{digits}{}", "0".repeat((point - count) as usize)),
        1..=21 => format!("{}.{}", &digits[..point as usize], &digits[point as usize..]),
        -5..=0 => format!("0.{}{digits}", "0".repeat(-point as usize)),
        _ => {
            let fraction = if count > 1 { format!(".{}", &digits[1..]) } else { String::new() };
            format!("{}{fraction}e{:+}", &digits[..1], point - 1)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(raw: &str) -> String {
        String::from_utf8(canonical_json(raw).unwrap()).unwrap()
    }

    /// RFC 8785, section 3.2.2 to 3.2.4 and appendix B.
    #[test]
    fn the_examples_of_the_rfc_hold() {
        let numbers = r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"literals":[null,true,false]}"#;
        assert_eq!(canonical(numbers), r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27]}"#);
        let text = r#"{"s":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/"}"#;
        assert_eq!(canonical(text), "{\"s\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
        let keys = r#"{"\u20ac":"Euro","\r":"CR","\ufb33":"Dalet","1":"One","\ud83d\ude00":"Emoji","\u0080":"Control","\u00f6":"o"}"#;
        assert_eq!(
            canonical(keys),
            "{\"\\r\":\"CR\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"o\",\"€\":\"Euro\",\"😀\":\"Emoji\",\"\u{fb33}\":\"Dalet\"}"
        );
    }

    #[test]
    fn doubles_print_as_in_appendix_b() {
        let table: &[(u64, &str)] = &[
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        ];
        for (bits, expected) in table {
            let mut out = Vec::new();
            write_number(&mut out, f64::from_bits(*bits));
            assert_eq!(String::from_utf8(out).unwrap(), *expected);
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(canonical("{ \"b\" : 1.0, \"a\":[ ] }"), canonical("{\"a\":[],\"b\":1}"));
        assert!(canonical_json("{").is_err());
    }
}
