//! How a commit comes to the disk: its pages in the log at once, the data file when the log is full.

use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering::Relaxed;

use super::{Environment, page_size};
use crate::Result;
use crate::store::folder::io_error;
use crate::store::log::{Commit, Log, Place};
use crate::store::meta_pages::{MetaPages, RawMeta};
use crate::store::progress::{Progress, Standing};
use crate::store::tree::changed::{Roots, Run, changed};

/// The pages that a log is asked to have where nothing says that it should grow.
const AS_IT_IS: u32 = 0;

impl Environment {
    /// The record of `newest`, the transaction before the one that begins. It is on disk when this returns: a commit that the
    /// log lacks must not be two commits old, because a third one writes over pages of the tree before it.
    pub(super) fn standing(&self, newest: u64) -> Result<Option<Standing>> {
        let Some(progress) = self.progress() else { return Ok(None) };
        let mut standing = progress.standing(newest, || self.checksum_of(newest))?;
        let Some(log) = self.log() else { return Ok(Some(standing)) };
        match standing.place() {
            Some(_) if standing.is_durable() => {}
            Some(place) if log.finish_sync(place) => standing = standing.durable(),
            _ => self.checkpoint(log, progress, &mut standing, AS_IT_IS)?,
        }
        Ok(Some(standing))
    }

    /// Whether the log, where there is one, has the newest commit.
    pub(in crate::store) fn is_logged(&self) -> Result<bool> {
        let newest = self.log().map_or(Ok(None), Log::newest)?;
        Ok(newest.is_none_or(|logged| logged == self.newest()))
    }

    pub(super) fn announce(&self, standing: Option<&Standing>) -> Result<()> {
        let Some((progress, standing)) = self.progress().zip(standing) else { return Ok(()) };
        progress.announce(standing)
    }

    /// Brings a commit to the disk, unless it is relaxed, and says that it is there. `base` is what was committed before it.
    pub(super) fn committed(&self, transaction: u64, base: Roots<'_>, standing: Option<Standing>) -> Result<()> {
        let Some((progress, standing)) = self.progress().zip(standing) else { return Ok(()) };
        let (Some(log), Some(place)) = (self.log(), standing.place()) else {
            if let Ok(checksum) = self.checksum_of(transaction) {
                progress.committed(&standing, checksum, true, None);
            }
            return Ok(());
        };
        let checksum = self.checksum_of(transaction)?;
        // A commit that cannot be logged, whatever the reason, is synced where it is.
        let Ok(Some(next)) = self.append(log, place, transaction, base) else {
            let wanted = log.wanted(self.data_pages()?)?;
            return self.checkpoint(log, progress, &mut standing.behind(checksum), wanted);
        };
        let relaxed = self.relaxed.load(Relaxed);
        if relaxed {
            log.begin_sync(next);
        } else {
            log.sync()?;
        }
        progress.committed(&standing, checksum, !relaxed, Some(next));
        Ok(())
    }

    fn append(&self, log: &Log, place: Place, transaction: u64, base: Roots<'_>) -> Result<Option<Place>> {
        let tree = self.tree_of(transaction, self.pages.check_length()?)?;
        let Some((tree, free)) = tree else { return Ok(None) };
        let runs = changed(Roots { values: &tree, free }, base)?;
        let commit = Commit { transaction, meta: self.raw_meta(transaction & 1)?, runs: &runs };
        log.append(place, &commit, |run| tree.run(run))
    }

    /// Syncs the data file, and begins the log anew. Not until then does `progress` say that the newest transaction was acknowledged: where
    /// this process dies before, the log does not have it.
    fn checkpoint(&self, log: &Log, progress: &Progress, standing: &mut Standing, wanted: u32) -> Result<()> {
        progress.forget_place()?;
        if standing.has_failed() {
            self.write_again(log)?;
        }
        self.data.sync_data().map_err(|e| {
            progress.failed();
            io_error("syncing the store", &self.path, &e)
        })?;
        let place = log.restart(self.metas()?, wanted)?;
        progress.settled(standing, Some(place))
    }

    /// Writes the pages once more that a failed sync may have left unwritten: those of the log, and those of the newest commit.
    fn write_again(&self, log: &Log) -> Result<()> {
        let failed = |e: &std::io::Error| io_error("writing to the store", &self.path, e);
        log.write_again(&self.data).map_err(|e| failed(&e))?;
        let (length, newest) = (self.pages.check_length()?, self.newest());
        let trees = (self.tree_of(newest, length)?, self.tree_of(newest.saturating_sub(1), length)?);
        let (Some((values, free)), Some((before, free_before))) = trees else { return Ok(()) };
        for run in changed(Roots { values: &values, free }, Roots { values: &before, free: free_before })? {
            let Run { first, .. } = run;
            self.data.write_all_at(values.run(run)?, first * u64::from(page_size())).map_err(|e| failed(&e))?;
        }
        self.metas()?.iter().try_for_each(|meta| meta.write(&self.data, u64::from(page_size()))).map_err(|e| failed(&e))
    }

    /// Writes down that all of it was read and found whole.
    pub(super) fn record_as_whole(&self) -> Result<()> {
        let Some(progress) = self.progress() else { return Ok(()) };
        let restart = |log: &Log| {
            progress.forget_place()?;
            self.data.sync_data().map_err(|e| io_error("syncing the store", &self.path, &e))?;
            log.restart(self.metas()?, AS_IT_IS)
        };
        let place = self.log().map(restart).transpose()?;
        progress.vouch(&MetaPages::read(&self.data, u64::from(page_size()), &self.path)?, place)
    }

    /// Brings everything into the data file, where the log has anything.
    pub(in crate::store) fn empty_log(&self) -> Result<()> {
        let newest = self.newest();
        let Some((progress, log)) = self.progress().zip(self.log()) else { return Ok(()) };
        let mut standing = progress.standing(newest, || self.checksum_of(newest))?;
        match standing.place() {
            Some(place) if place.is_first() => Ok(()),
            _ => self.checkpoint(log, progress, &mut standing, AS_IT_IS),
        }
    }

    /// Gives some pages of the log back to the disk, for a commit that found no room there; `false` where it has none to give. The caller holds
    /// the writer lock.
    pub(in crate::store) fn give_room(&self) -> Result<bool> {
        let Some(log) = self.log() else { return Ok(false) };
        self.empty_log()?; // nothing depends on its records then
        log.give_room()
    }

    fn data_pages(&self) -> Result<u64> {
        Ok(self.sizes()?.0 / u64::from(page_size()))
    }

    fn raw_meta(&self, which: u64) -> Result<RawMeta> {
        RawMeta::read(&self.data, u64::from(page_size()), which).map_err(|e| io_error("reading the store", &self.path, &e))
    }

    /// The two meta pages, the newest first.
    pub(super) fn metas(&self) -> Result<[RawMeta; 2]> {
        let (even, odd) = (self.raw_meta(0)?, self.raw_meta(1)?);
        Ok(if odd.transaction() > even.transaction() { [odd, even] } else { [even, odd] })
    }
}
