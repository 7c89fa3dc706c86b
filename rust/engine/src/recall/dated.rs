//! Memories that name a day of the time that a question asks about, as learning writes it: "on Friday (2026-12-04)", "December 20 to 24
//! (2026-12-20 to 2026-12-24)". They are of that day, whenever they were told: "What do I have next week?"

use std::collections::BTreeMap;

use super::when::Range;
use crate::Result;
use crate::index::bm25::Reader;
use crate::memory::Stored;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::with_analyzer;
use crate::units::calendar::{DAY, date, iso_date};
use crate::units::days::ranges;
use crate::units::term_key::TermKey;

/// Something that goes on in the time that is asked about begins at most so many days before the first day of that, and ends at most so many
/// days behind it.
const LONGEST: i64 = 31;

/// The numbers of those of one scope, each with the first such day. A month that is asked for whole is looked for by its name as well:
/// "next month (2026-12)". A time of more than a month names none.
pub(super) fn named<P: Pages>(
    pages: &P,
    reader: &Reader<'_, P>,
    partition: Partition,
    key: TermKey,
    asked: Option<Range>,
) -> Result<BTreeMap<u32, i64>> {
    let mut found = BTreeMap::new();
    let days = asked.map_or(0..0, |range| range.days());
    if days.is_empty() {
        return Ok(found);
    }
    let named = |name: &str| {
        let query = with_analyzer(|analyzer| analyzer.query(name, key));
        query.identifiers.first().map_or(Ok(Vec::new()), |hash| reader.find(*hash))
    };
    let mut begun = Vec::new();
    for day in days.start - LONGEST..days.start {
        begun.extend(named(&iso_date(day * DAY))?);
    }
    begun.sort_unstable();
    // Only of those that name a day on both sides is the text read.
    let mut both = Vec::new();
    for day in days.start..days.end.max(days.start + LONGEST) {
        for number in named(&iso_date(day * DAY))? {
            if day < days.end {
                found.entry(number).or_insert(day);
            }
            both.extend(begun.binary_search(&number).is_ok().then_some(number));
        }
    }
    for number in both {
        let Some(stored) = Stored::find(pages, partition, number)? else { continue };
        if ranges(stored.outline()?.text).iter().any(|one| one.start < days.start && one.end > days.start) {
            found.insert(number, days.start);
        }
    }
    if date(days.start).2 == 1 && date(days.end).2 == 1 {
        for number in named(&iso_date(days.start * DAY)[..7])? {
            found.entry(number).or_insert(days.start);
        }
    }
    Ok(found)
}
