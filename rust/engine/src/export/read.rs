//! Reading an export: line by line, each checked before it is believed, none kept.

use std::io::{BufRead, Read};

use super::line;
use super::{Header, Trailer, VERSION};
use crate::interrupt;
use crate::store::identity::Secret;
use crate::{Error, ErrorKind, Result};

/// A first line is shorter; what else a file begins with is not read to its end.
const MAX_HEADER_BYTES: u64 = 4096;
/// No value is longer as a line.
const MAX_LINE_BYTES: u64 = 1 << 29;
/// The beginning of what `Scope.export(everything=True)` and `memspan export --user` write.
const OF_ONE: &str = "{\"row\":\"scope\",";

/// An export that is being read.
pub struct Loading<R> {
    input: R,
    /// Its name in errors.
    name: String,
    header: Header,
    line: Vec<u8>,
    number: u64,
    crc: crc32fast::Hasher,
    last_key: Vec<u8>,
}

impl<R: BufRead> Loading<R> {
    /// Reads the first line of an export of a store of `format`.
    pub fn begin(input: R, name: &str, format: u32) -> Result<Self> {
        let (header, crc, line, last_key) = (Header::default(), crc32fast::Hasher::new(), Vec::new(), Vec::new());
        let mut loading = Self { input, name: name.to_owned(), header, line, number: 0, crc, last_key };
        let first = loading.next_line(MAX_HEADER_BYTES)?.unwrap_or_default();
        let header = Header::read(&first).map_err(|why| {
            let (is, next) = if first.starts_with(OF_ONE) {
                ("the export of one user or scope, not of a store", "docs/import.md has the program that moves a user to another store")
            } else {
                ("not an export of a store", "give a file that engine.export() or `memspan export` wrote")
            };
            loading.wrong(&format!("it is {is} ({why}): {next}"))
        })?;
        if header.version > VERSION || header.format > format {
            return Err(loading.of_another_version(&header, format, "newer", "upgrade memspan"));
        }
        if header.version < VERSION || header.format < format {
            return Err(loading.of_another_version(&header, format, "older", "load it with that version and open the store with this one"));
        }
        loading.header = header;
        Ok(loading)
    }

    fn of_another_version(&self, header: &Header, format: u32, age: &str, next: &str) -> Error {
        Error::new(
            ErrorKind::StoreVersion,
            format!(
                "loading {}: its store has format {} (version {} of the lines), and this memspan writes format {format} (version \
                 {VERSION}): it was exported by a {age} memspan: {next}",
                self.name, header.format, header.version
            ),
        )
        .with("line", 1_i64)
    }

    /// When its store was made.
    pub fn created_at(&self) -> i64 {
        self.header.created_at
    }

    /// The key of its store's hashes.
    pub fn secret(&self) -> Secret {
        self.header.secret
    }

    /// Gives the values of the next line to `put`; whether there was one. The last line is compared with all others.
    pub fn next(&mut self, put: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<bool> {
        interrupt::check()?;
        let crc = self.crc.clone().finalize();
        let Some(text) = self.next_line(MAX_LINE_BYTES)? else {
            return Err(self.wrong("the file ends before its last line: it was cut off; copy it again, or export the store again"));
        };
        if text.starts_with(Trailer::BEGIN) {
            return self.end(&text, crc).map(|()| false);
        }
        let stored = line::read(&text).map_err(|why| self.wrong(&format!("{why}: export the store again")))?;
        if stored.key <= self.last_key {
            return Err(self.wrong("it stands behind a line that comes after it: lines keep their order; export the store again"));
        }
        self.last_key.clone_from(&stored.key);
        line::values(&stored, put)?;
        Ok(true)
    }

    fn end(&mut self, text: &str, crc: u32) -> Result<()> {
        let end = Trailer::read(text).ok_or_else(|| self.wrong("the last line is damaged: export the store again"))?;
        if end.lines != self.number - 2 || end.crc32 != crc {
            return Err(self.wrong(&format!(
                "the last line vouches for {} lines with checksum {:08x}, and {} with checksum {crc:08x} are there: the file was changed; copy \
                 it again, or export the store again",
                end.lines,
                end.crc32,
                self.number - 2
            )));
        }
        match self.next_line(MAX_LINE_BYTES)? {
            None => Ok(()),
            Some(_) => Err(self.wrong("something stands behind the last line: two files were joined; give one")),
        }
    }

    /// The next line without its line feed; `None` at the end of the file.
    fn next_line(&mut self, most: u64) -> Result<Option<String>> {
        self.line.clear();
        self.number += 1;
        let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.line);
        read.map_err(|error| crate::store::folder::io_error("loading an export", std::path::Path::new(&self.name), &error))?;
        self.crc.update(&self.line);
        if self.line.is_empty() {
            return Ok(None);
        }
        if self.line.pop() != Some(b'\n') {
            let why = if self.number == 1 { "it is not an export of a store" } else { "the line has no end: the file was cut off" };
            return Err(self.wrong(&format!("{why}: give a file that engine.export() or `memspan export` wrote, whole")));
        }
        let text = std::str::from_utf8(&self.line).map(str::to_owned);
        text.map(Some).map_err(|_| self.wrong("it is not UTF-8 text: the file was changed; export the store again"))
    }

    fn wrong(&self, why: &str) -> Error {
        Error::invalid(format!("loading {}: line {}: {why}; nothing was loaded", self.name, self.number))
            .with("line", self.number as i64)
            .with("path", self.name.as_str())
    }
}
