//! Conditions on a caller's metadata: keys with the values of which one must stand there.

use crate::store::msgpack::skip;
use crate::{Error, Result};

/// Whether metadata (MessagePack) has one of the wanted values under each wanted key.
pub(crate) fn has_metadata(wanted: &[(String, Vec<Vec<u8>>)], metadata: &[u8]) -> bool {
    wanted.iter().all(|(key, wanted)| lookup(metadata, key).is_some_and(|value| wanted.iter().any(|one| has_value(value, one))))
}

/// Whether a value is the wanted one, or a list with it.
fn has_value(value: &[u8], wanted: &[u8]) -> bool {
    let mut cursor = value;
    let Ok(items) = rmp::decode::read_array_len(&mut cursor) else { return same_value(wanted, value) };
    let mut at = value.len() - cursor.len();
    (0..items).any(|_| {
        let end = skip(value, at).unwrap_or(value.len());
        let item = value.get(at..end).unwrap_or_default();
        at = end;
        same_value(wanted, item)
    })
}

/// Refuses conditions that no equality can mean: operators, and values that hold others. `doing` begins the message.
pub(crate) fn check_conditions(doing: &str, conditions: &[(String, Vec<Vec<u8>>)]) -> Result<()> {
    for (key, values) in conditions {
        let operator = key.starts_with('$');
        if operator || values.iter().any(|value| holds_others(value)) {
            let got = if operator { format!("the operator {key:?}") } else { format!("a dict, or a list inside the list, for {key:?}") };
            return Err(Error::invalid(format!(
                "{doing}: where= gives each key the value that the metadata must have, or a list of such values, and it has {got}: name \
                 the values that are meant, or compare the metadata of what is found yourself"
            ))
            .with("key", key.as_str()));
        }
    }
    Ok(())
}

/// Whether a value (MessagePack) is a map or an array.
fn holds_others(value: &[u8]) -> bool {
    use rmp::Marker::{Array16, Array32, FixArray, FixMap, Map16, Map32};
    let marker = value.first().map(|byte| rmp::Marker::from_u8(*byte));
    matches!(marker, Some(FixMap(_) | Map16 | Map32 | FixArray(_) | Array16 | Array32))
}

/// Whether two values (MessagePack) are equal: the same bytes, or the same number, whether whole or not.
fn same_value(one: &[u8], other: &[u8]) -> bool {
    one == other || number(one).zip(number(other)).is_some_and(|(one, other)| one == other)
}

/// A number that is whole, or the bits of one that is not.
#[derive(PartialEq)]
enum Number {
    Whole(i128),
    Broken(u64),
}

fn number(value: &[u8]) -> Option<Number> {
    if let Ok(whole) = rmp::decode::read_int::<i128, _>(&mut &*value) {
        return Some(Number::Whole(whole));
    }
    let float = rmp::decode::read_f64(&mut &*value).ok()?;
    let whole = float.fract() == 0.0 && float.abs() < 2f64.powi(64);
    Some(if whole { Number::Whole(float as i128) } else { Number::Broken(float.to_bits()) })
}

/// The MessagePack of the value under `key` of a MessagePack map with text keys.
fn lookup<'m>(map: &'m [u8], key: &str) -> Option<&'m [u8]> {
    let mut cursor = map;
    let entries = rmp::decode::read_map_len(&mut cursor).ok()?;
    let mut at = map.len() - cursor.len();
    for _ in 0..entries {
        let value = skip(map, at)?;
        let end = skip(map, value)?;
        let mut name = &map[at..value];
        let length = rmp::decode::read_str_len(&mut name).ok();
        if length.is_some_and(|length| name.get(..length as usize) == Some(key.as_bytes())) {
            return Some(&map[value..end]);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_looked_up_by_key() {
        // {"a": [1, "x"], "project": "memspan", "n": 5}
        let map = [&b"\x83\xa1a\x92\x01\xa1x\xa7project\xa7memspan\xa1n\x05"[..]].concat();
        assert_eq!(lookup(&map, "project"), Some(&b"\xa7memspan"[..]));
        assert_eq!(lookup(&map, "n"), Some(&b"\x05"[..]));
        assert_eq!(lookup(&map, "x"), None);
        assert_eq!(lookup(b"", "x"), None);
        let wanted = [("n".to_owned(), vec![b"\x06".to_vec(), b"\x05".to_vec()])];
        assert!(has_metadata(&wanted, &map));
        assert!(!has_metadata(&wanted, b""));
        // {"a": [1, "x"]}: a list has its items, and no others.
        for (wanted, has) in
            [(&b"\xa1x"[..], true), (b"\x01", true), (b"\xcb\x3f\xf0\0\0\0\0\0\0", true), (b"\xa1y", false), (b"\x02", false)]
        {
            assert_eq!(has_metadata(&[("a".to_owned(), vec![wanted.to_vec()])], &map), has, "{wanted:?}");
        }
        assert!(!has_value(b"\x90", b"\xc0") && !has_value(b"\x92\x01", b"\x02"), "no items, and fewer than it says");
    }

    #[test]
    fn a_whole_number_equals_the_same_number_as_a_float() {
        let packed = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            bytes
        };
        let int = |n: i64| packed(&|bytes| drop(rmp::encode::write_sint(bytes, n)));
        let float = |x: f64| packed(&|bytes| drop(rmp::encode::write_f64(bytes, x)));
        for n in [0, 1, -1, 127, 128, -33, 65_536, 1 << 53, -(1 << 53)] {
            assert!(same_value(&int(n), &float(n as f64)) && same_value(&float(n as f64), &int(n)) && same_value(&int(n), &int(n)), "{n}");
            assert!(!same_value(&int(n), &float(n as f64 + 1024.0)) && !same_value(&int(n + 1), &int(n)), "{n}");
        }
        assert!(!same_value(&int((1 << 53) + 1), &float((1i64 << 53) as f64)), "no rounding");
        assert!(same_value(&float(0.5), &float(0.5)) && !same_value(&float(0.5), &int(0)) && !same_value(b"\xc3", &int(1)), "True is no 1");
    }
}
