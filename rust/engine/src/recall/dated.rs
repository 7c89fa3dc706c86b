//! Memories that name a day of the time that a question asks about, as learning writes it: "on Friday (2026-12-04)". They are of that day,
//! whenever they were told: "What do I have next week?"

use std::collections::BTreeMap;

use super::when::Range;
use crate::Result;
use crate::index::bm25::Reader;
use crate::store::pages::Pages;
use crate::text::with_analyzer;
use crate::units::calendar::{DAY, date, iso_date};
use crate::units::term_key::TermKey;

/// The numbers of those of one scope, each with the first such day. A month that is asked for whole is looked for by its name as well:
/// "next month (2026-12)". A time of more than a month names none.
pub(super) fn named<P: Pages>(reader: &Reader<'_, P>, range: Option<Range>, key: TermKey) -> Result<BTreeMap<u32, i64>> {
    let mut found = BTreeMap::new();
    let days = range.map_or(0..0, |range| range.days());
    let month = (date(days.start).2 == 1 && date(days.end).2 == 1 && !days.is_empty()).then_some(days.start);
    let names = days.clone().map(|day| (day, iso_date(day * DAY))).chain(month.map(|day| (day, iso_date(day * DAY)[..7].to_owned())));
    for (day, name) in names {
        let query = with_analyzer(|analyzer| analyzer.query(&name, key));
        let Some(hash) = query.identifiers.first() else { continue };
        for number in reader.find(*hash)? {
            found.entry(number).or_insert(day);
        }
    }
    Ok(found)
}
