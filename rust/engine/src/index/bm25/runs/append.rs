//! Adding a document: to the tail while it has room; else the tail is sealed first, and a document longer than a tail with it.

use super::super::layout::NO_NUMBER;
use super::super::merge::{self as blocks, Change, Changes, Write};
use super::super::tail::{Appended, Kind, Record};
use super::super::{TermCount, layout};
use super::catalog::SealedRun;
use super::lengths::{MAX_LENGTH, RunLengths};
use super::{Document, Runs};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

impl Runs {
    /// Adds a document behind all others, and goes on with a merge that is under way.
    ///
    /// Costs a page or two of the tail. Every few dozen messages the tail is sealed, which writes about as many pages as it
    /// had; a step of a merge writes some 40. A document longer than the tail writes its own pages, and twice as many of merges.
    pub fn append<P: PagesMut>(&mut self, pages: &mut P, document: &Document<'_>) -> Result<()> {
        let end = self.end_of_tail(pages)?;
        check(document, end.lowest)?;
        let written = match self.to_tail(document, &end) {
            Some(writes) => {
                apply(pages, &writes)?;
                0
            }
            None => self.make_room(pages, document)?,
        };
        self.advance(pages, 2 * written)
    }

    fn end_of_tail<'p, P: Pages>(&self, pages: &'p P) -> Result<End<'p>> {
        let mut end = End { page: 0, body: &[], lowest: self.catalog.next_number };
        if let Some((page, body)) = self.last_page(pages)? {
            (end.page, end.body) = (page, body);
            for record in Record::all(body) {
                let record = record.ok_or_else(|| layout::malformed(self.index.tail(page).as_slice()))?;
                end.lowest = record.number.saturating_add(1);
            }
        }
        Ok(end)
    }

    fn last_page<'p, P: Pages>(&self, pages: &'p P) -> Result<Option<(usize, &'p [u8])>> {
        let Some((key, value)) = pages.floor(self.index.tail(u8::MAX as usize).as_slice())? else { return Ok(None) };
        let page = match key.strip_prefix(self.index.tail(0).as_slice()) {
            Some([]) => 0,
            Some(&[page]) => page as usize,
            _ => return Ok(None),
        };
        Ok(Some((page, layout::body(key, value)?)))
    }

    /// The pages of the tail that change; `None` if there would be too many.
    fn to_tail(&self, document: &Document<'_>, end: &End<'_>) -> Option<Vec<Write>> {
        if !self.may_fit(document) {
            return None;
        }
        let mut appended = Appended { capacity: self.shape.layout.body_bytes(), pages: vec![end.body.to_vec()] };
        push(&mut appended, document);
        // A page that has no room for the document's head stays as it is.
        let unchanged = usize::from(appended.pages[0].len() == end.body.len());
        let writes = || appended.writes(self.index, end.page).split_off(unchanged);
        (end.page + appended.pages.len() <= self.shape.tail_pages).then(writes)
    }

    /// Whether a tail could hold the document, going by its hashes alone.
    fn may_fit(&self, document: &Document<'_>) -> bool {
        document.terms.len() * 8 <= self.shape.tail_pages * self.shape.layout.body_bytes()
    }

    /// Seals the tail, and puts the document in a new one; or seals it too, if it is longer than a tail. Returns pages written.
    fn make_room<P: PagesMut>(&mut self, pages: &mut P, document: &Document<'_>) -> Result<usize> {
        let mut alone = Appended { capacity: self.shape.layout.body_bytes(), pages: vec![Vec::new()] };
        let fits = self.may_fit(document) && {
            push(&mut alone, document);
            alone.pages.len() <= self.shape.tail_pages
        };
        if !fits {
            return self.seal(pages, Some(document));
        }
        let written = self.seal(pages, None)?;
        apply(pages, &alone.writes(self.index, 0))?;
        Ok(written)
    }

    /// Makes a run of the tail, and of `long` behind it. Returns pages written.
    fn seal<P: PagesMut>(&mut self, pages: &mut P, long: Option<&Document<'_>>) -> Result<usize> {
        let mut sealing = self.sealing(pages, long)?;
        let id = self.catalog.take_run()?;
        let mut written = apply(pages, &sealing.writes)?;
        let terms = long.map_or(&[][..], |document| document.terms);
        let number = long.map_or(NO_NUMBER, |document| document.number);
        for slice in Slices::new(&sealing.changes, terms, number, self.shape.slice_terms) {
            sealing.writes.clear();
            let mut lengths = RunLengths::new(pages, self.index);
            blocks::plan(self.shape.layout, pages, self.index.run(id), &mut lengths, &slice, &mut sealing.writes)?;
            written += apply(pages, &sealing.writes)?;
        }
        let postings = (sealing.changes.len() + terms.len()) as u64;
        if postings > 0 {
            self.catalog.runs.push(SealedRun { id, first: sealing.first, last: sealing.last, postings });
        }
        self.catalog.next_number = sealing.last.saturating_add(1).max(self.catalog.next_number);
        self.catalog.write(pages, self.index)?;
        Ok(written)
    }

    /// The first step of sealing: the postings of the tail, lengths written, the tail removed.
    fn sealing<P: Pages>(&mut self, pages: &P, long: Option<&Document<'_>>) -> Result<Sealing> {
        let tail = self.tail(pages)?;
        let mut lengths = RunLengths::new(pages, self.index);
        let mut changes = Changes::default();
        for record in &tail.records {
            if record.kind == Kind::Document {
                lengths.set(record.number, Some(record.length));
            }
            changes.push(record.number, true, record.terms());
        }
        self.catalog.statistics = self.statistics_with(&tail);
        if let Some(long) = long {
            lengths.set(long.number, Some(long.length));
            self.catalog.statistics.count(long.length);
        }
        let numbers = || tail.records.iter().map(|record| record.number).chain(long.map(|long| long.number));
        let mut writes = lengths.writes()?;
        writes.extend((0..tail.pages()).map(|page| Write::Delete(self.index.tail(page))));
        Ok(Sealing { first: numbers().min().unwrap_or(0), last: numbers().max().unwrap_or(0), changes: changes.sorted()?, writes })
    }
}

/// Where the tail ends.
struct End<'p> {
    /// Its last page, or the first if there is none yet.
    page: usize,
    body: &'p [u8],
    /// The least number that the next document may have.
    lowest: u32,
}

struct Sealing {
    first: u32,
    last: u32,
    changes: Vec<Change>,
    writes: Vec<Write>,
}

/// The postings of a tail and those of one long document, in the order of terms, so many of the long one at a time: what
/// memory they take does not depend on how long it is.
struct Slices<'a> {
    tail: &'a [Change],
    terms: &'a [TermCount],
    number: u32,
    size: usize,
}

impl<'a> Slices<'a> {
    fn new(tail: &'a [Change], terms: &'a [TermCount], number: u32, size: usize) -> Self {
        Self { tail, terms, number, size }
    }
}

impl Iterator for Slices<'_> {
    type Item = Vec<Change>;

    fn next(&mut self) -> Option<Vec<Change>> {
        if self.tail.is_empty() && self.terms.is_empty() {
            return None;
        }
        let (terms, later) = self.terms.split_at(self.size.min(self.terms.len()));
        let end = later.first().map_or(self.tail.len(), |next| self.tail.partition_point(|change| change.term < next.hash));
        let mut slice = self.tail[..end].to_vec();
        slice.extend(terms.iter().map(|term| Change { term: term.hash, number: self.number, count: Some(term.count) }));
        slice.sort_unstable_by_key(|change| (change.term, change.number));
        (self.tail, self.terms) = (&self.tail[end..], later);
        Some(slice)
    }
}

/// The rules that a document must keep.
fn check(document: &Document<'_>, lowest: u32) -> Result<()> {
    let Document { number, length, terms } = *document;
    if number < lowest || number == NO_NUMBER {
        let message = format!(
            "indexing document {number}: its number must be from {lowest} to {}, as documents only come at the end: \
                 give it the next free number",
            NO_NUMBER - 1
        );
        return Err(Error::invalid(message).with("number", i64::from(number)));
    }
    if length >= MAX_LENGTH {
        let message = format!("indexing document {number}: its length must be below {MAX_LENGTH} words, got {length}: split it");
        return Err(Error::invalid(message).with("length", i64::from(length)));
    }
    check_terms(number, terms)
}

pub(super) fn check_terms(number: u32, terms: &[TermCount]) -> Result<()> {
    if terms.is_sorted_by(|a, b| a.hash < b.hash) && terms.iter().all(|term| term.count > 0) {
        return Ok(());
    }
    let message = format!(
        "indexing document {number}: its {} terms must ascend by hash, each once and with a count of at least 1: \
         give them as the analyzer does",
        terms.len()
    );
    Err(Error::invalid(message).with("number", i64::from(number)))
}

pub(super) fn push(appended: &mut Appended, document: &Document<'_>) {
    appended.push(Kind::Document, document.number, &document.length.to_le_bytes(), document.terms);
}

/// Returns how many values are put.
pub(super) fn apply<P: PagesMut>(pages: &mut P, writes: &[Write]) -> Result<usize> {
    for write in writes {
        write.apply(pages)?;
    }
    Ok(writes.iter().filter(|write| matches!(write, Write::Put(..))).count())
}
