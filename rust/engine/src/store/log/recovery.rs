//! Recovery: the data file as the log says that it must be.
//!
//! A process that opens a generation while nobody else has it open does this first, before anything of it is mapped. In most cases nothing
//! differs, because the system's cache has all that was written. Behind a power cut the data file has any part of what was written since the
//! epoch began. Each page that the epoch wrote is in the log, and every other page of its trees is as it was when the epoch began.
//! A commit behind the last record was not acknowledged, and is undone.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::Log;
use super::content::Content;
use crate::store::files::own;
use crate::store::folder::io_error;
use crate::store::meta_pages::{MetaPage, RawMeta};
use crate::{Error, ErrorKind, Result};

/// The state of the data file by its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovered {
    /// The data file is what the log says.
    Whole,
    /// The data file lacks what the log has.
    Behind,
    /// There is no log, or no head of it is whole.
    Missing,
    /// It is not the log of this data file, or it is damaged.
    Foreign,
}

/// Whether nobody has the generation in `folder` open: nobody holds LMDB's lock on its table of readers. The caller holds the door, and
/// has not opened it yet in this process.
pub fn is_alone(folder: &Path) -> Result<bool> {
    let path = folder.join("lock.mdb");
    let file = match own().read(true).open(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(true),
        other => other.map_err(|e| io_error("opening the store", &path, &e))?,
    };
    // SAFETY: all zeros is a flock from the file's beginning, with the process id that such a query must have.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = libc::F_WRLCK as i16;
    range.l_whence = libc::SEEK_SET as i16;
    range.l_len = 1; // as LMDB's
    // SAFETY: the descriptor belongs to `file`, and `range` outlives the call.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut range) } != 0 {
        return Err(io_error("opening the store", &path, &std::io::Error::last_os_error()));
    }
    Ok(range.l_type == libc::F_UNLCK as i16)
}

impl Log {
    /// Compares the data file, open as `data` and in `folder`, with what the log says, and where it `writes` makes it that. The caller is
    /// alone then, and holds the writer lock. A log that ends before the transaction that was `acknowledged` has lost its end.
    pub fn recover(&self, folder: &Path, data: &File, acknowledged: u64, writes: bool) -> Result<Recovered> {
        let Some(content) = self.content()? else { return Ok(Recovered::Missing) };
        let wanted = Wanted::of(&content, self.page_size);
        let failed = |e: &std::io::Error| io_error("recovering the store", folder, e);
        let read = |which| match RawMeta::read(data, self.page_size as u64, which) {
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
            other => other.map(Some).map_err(|e| failed(&e)),
        };
        let found = [read(0)?, read(1)?];
        let is_sound = !wanted.is_damaged && wanted.stays_within_tree(self.page_size as u64);
        if !is_sound || wanted.metas[0].transaction() < acknowledged || !wanted.is_of(&found, self.page_size as u64) {
            return Ok(Recovered::Foreign);
        }
        // All that was on disk when the epoch began is there, or somebody cut the file off.
        let synced = content.head.metas[0].page(self.page_size as u64).end(self.page_size as u64);
        if data.metadata().map_err(|e| failed(&e))?.len() < synced {
            return Ok(Recovered::Foreign);
        }
        let pages = wanted.differing(data, self.page_size).map_err(|e| failed(&e))?;
        let end = wanted.metas[0].page(self.page_size as u64).end(self.page_size as u64);
        let is_short = data.metadata().map_err(|e| failed(&e))?.len() < end;
        let is_same = wanted.metas.iter().all(|meta| found.contains(&Some(*meta)));
        if is_same && pages.is_empty() && !is_short {
            return Ok(Recovered::Whole);
        }
        if !writes {
            return Ok(Recovered::Behind);
        }
        let write = || {
            if is_short {
                data.set_len(end)?; // pages that no tree leads to
            }
            // The meta pages come first: a reader of a half of this must not walk the tree of a commit that the log lacks, whose pages are
            // written over here. After a power cut nobody reads before a recovery has come to its end.
            wanted.metas.iter().try_for_each(|meta| meta.write(data, self.page_size as u64))?;
            for (number, page) in pages {
                data.write_all_at(page, number * self.page_size as u64)?;
            }
            data.sync_all()
        };
        write().map_err(|e| failed(&e))?;
        Ok(Recovered::Whole)
    }

    /// The newest transaction that it has; none where no head of it is whole.
    pub fn newest(&self) -> Result<Option<u64>> {
        let newest = |content: Content| content.records().0.last().map_or(content.head.metas[0].transaction(), |record| record.transaction);
        Ok(self.content()?.map(newest))
    }

    /// Writes every page of the epoch to the data file once more: a sync of it failed, and the system has forgotten which it still has to
    /// write. A log that names pages outside of the tree was damaged, and nothing of it is written.
    pub fn write_again(&self, data: &File) -> std::io::Result<()> {
        let Ok(Some(content)) = self.content() else { return Ok(()) };
        let wanted = Wanted::of(&content, self.page_size);
        if !wanted.stays_within_tree(self.page_size as u64) {
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidData, "the log of the store is damaged"));
        }
        wanted.pages.iter().try_for_each(|(number, page)| data.write_all_at(page, number * self.page_size as u64))
    }
}

/// The data file as the log has it.
struct Wanted<'b> {
    /// Its newest meta page, and the older one.
    metas: [RawMeta; 2],
    /// All that the epoch had; the newest with which it began is the second.
    known: Vec<RawMeta>,
    /// The pages that were written in the epoch, as the last commit left them.
    pages: BTreeMap<u64, &'b [u8]>,
    is_damaged: bool,
}

impl<'b> Wanted<'b> {
    fn of(content: &'b Content, page_size: usize) -> Self {
        let (records, is_damaged) = content.records();
        let [began, before] = content.head.metas;
        let (mut metas, mut known, mut pages) = ([began, before], vec![before, began], BTreeMap::new());
        for record in records {
            metas = [record.meta, metas[0]];
            known.push(record.meta);
            pages.extend(record.pages(page_size));
        }
        Self { metas, known, pages, is_damaged }
    }

    /// Whether a data file with these meta pages is the one that the epoch began with, or went on from there: a meta page of the epoch
    /// stands in it, and it is not older than the epoch. The other meta page may be that of a commit which the log lacks, or damaged.
    fn is_of(&self, found: &[Option<RawMeta>; 2], page_size: u64) -> bool {
        let transaction = |meta: RawMeta| Some(meta.page(page_size)).filter(MetaPage::is_sound).map(|page| page.transaction);
        let transactions = found.each_ref().map(|meta| meta.and_then(transaction));
        let newest = transactions.iter().flatten().max();
        let is_known = found.iter().flatten().any(|meta| self.known.contains(meta));
        let may_be_the_last = transactions.contains(&None) || newest >= Some(&self.known[1].transaction());
        is_known && may_be_the_last && newest <= Some(&self.metas[0].transaction().saturating_add(1))
    }

    /// Whether no page lies outside of the pages that the newest commit counts.
    fn stays_within_tree(&self, page_size: u64) -> bool {
        let newest = self.metas[0].page(page_size);
        newest.is_sound() && self.pages.keys().all(|number| (2..=newest.last_page).contains(number))
    }

    /// The pages that the data file has otherwise, or not at all.
    fn differing(&self, data: &File, page_size: usize) -> std::io::Result<Vec<(u64, &'b [u8])>> {
        let mut found = vec![0; page_size];
        let mut differing = Vec::new();
        for (&number, &page) in &self.pages {
            let is_same = match data.read_exact_at(&mut found, number * page_size as u64) {
                Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => false,
                other => other.map(|()| found == page)?,
            };
            if !is_same {
                differing.push((number, page));
            }
        }
        Ok(differing)
    }
}

/// The error of a data file that lacks what its log has, where nothing may be written.
#[must_use]
pub fn unrecovered(folder: &Path) -> Error {
    Error::new(
        ErrorKind::ReadOnly,
        format!(
            "opening {} read-only: its data file lacks the last writes, which its log has, because the machine, or a process, \
             stopped while it was in use; nothing was changed: open it once without read_only",
            folder.display()
        ),
    )
}
