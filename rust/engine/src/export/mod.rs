//! A whole store as a file of JSON lines, and back into an empty one.
//!
//! ```text
//! {"memspan":"export","version":1,"format":5,"created_at":...,"secret":"<base64>","keyed":true}
//! {"table":"ScopeByName","partition":0,...}                  one line for each value, in the order of the keys
//! ...
//! {"end":{"lines":1234,"crc32":"89abcdef"}}                  of all lines before this one
//! ```
//!
//! Every value of every table is there, indexes too. Nothing need be derived again, and an answer is the same to the bit. The lines are a
//! function of the stored values, so a loaded store exports to the same bytes, but for a plain one that a key was given on the way. Left out are the records of a generation
//! about itself, whose part that matters is the first line. `line` says how a value is written, `schema` what its fields are called;
//! docs/format.md has both for readers without memspan.
//!
//! Deliberately not here: where the lines come from and go to (`engine/export.rs`), and the switch to what was loaded (`store/load.rs`).

mod json;
mod line;
mod read;
mod schema;
mod write;

pub use read::Loading;
pub use write::write;

use self::line::Fields;
use crate::store::identity::Secret;
use crate::store::meta::Meta;
use crate::units::base64;

/// The version of the lines.
pub const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Header {
    version: u32,
    /// The format of the store: of its keys and bodies.
    format: u32,
    created_at: i64,
    /// The key of the hashes in its keys.
    secret: Secret,
}

impl Header {
    fn of(meta: &Meta) -> Self {
        Self { version: VERSION, format: meta.format, created_at: meta.created_at, secret: meta.secret }
    }

    fn write(&self) -> String {
        let mut secret = String::new();
        base64::encode(&self.secret.key, &mut secret);
        let terms = if self.secret.terms_keyed { ",\"terms_keyed\":true" } else { "" };
        format!(
            "{{\"memspan\":\"export\",\"version\":{},\"format\":{},\"created_at\":{},\"secret\":\"{secret}\",\"keyed\":{}{terms}}}",
            self.version, self.format, self.created_at, self.secret.keyed
        )
    }

    /// The fields of a first line; of a later version only that it is one.
    fn read(line: &str) -> Result<Self, String> {
        let fields: Fields<'_> = serde_json::from_str(line).map_err(|error| error.to_string())?;
        if fields.value::<&str>("memspan")? != "export" {
            return Err("it is none".to_owned());
        }
        let (version, format) = (fields.value("version")?, fields.value("format")?);
        if version > VERSION {
            return Ok(Self { version, format, ..Self::default() });
        }
        let key = base64::decode(fields.value("secret")?).and_then(|key| key.try_into().ok());
        let key = key.ok_or("its secret is not 16 bytes in base64")?;
        let terms_keyed = fields.get("terms_keyed").is_some_and(|json| json == "true");
        let secret = Secret { key, keyed: fields.value("keyed")?, terms_keyed };
        Ok(Self { version, format, created_at: fields.value("created_at")?, secret })
    }
}

/// The last line: what vouches for those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Trailer {
    lines: u64,
    crc32: u32,
}

impl Trailer {
    const BEGIN: &'static str = "{\"end\":";

    fn write(self) -> String {
        format!("{}{{\"lines\":{},\"crc32\":\"{:08x}\"}}}}", Self::BEGIN, self.lines, self.crc32)
    }

    fn read(line: &str) -> Option<Self> {
        let inner = line.strip_prefix(Self::BEGIN)?.strip_suffix('}')?;
        let fields: Fields<'_> = serde_json::from_str(inner).ok()?;
        let crc32 = u32::from_str_radix(fields.value("crc32").ok()?, 16).ok()?;
        Some(Self { lines: fields.value("lines").ok()?, crc32 }).filter(|read| read.write() == line)
    }
}
