//! From documents that are worth reading to the best messages: their rows, those of the messages beside them, and the features.

use std::cell::OnceCell;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use xxhash_rust::xxh3::xxh3_64;

use super::super::key::{SessionKey, SessionsHead};
use super::super::metadata;
use super::super::record::{SessionRecord, SessionState};
use super::super::transcript::words::vectors;
use super::beside::{Beside, Far, Finder, ReadRows};
use super::dated::{Dated, extended, newest_at, said_at};
use super::places::{may_be_crowded, surplus};
use super::question::{Meaning, Question};
use super::row::{self, Row};
use super::score::{Features, moved_by_name};
use super::sight::Field;
use super::{Asking, Found, Request, forks, stored_message};
use crate::Result;
use crate::embedding::count_forms;
use crate::index::bm25::QueryTerm;
use crate::index::bm25::runs::{Prepared, Snapshot};
use crate::memory::has_metadata;
use crate::recall::ranking::{BEST, BEYOND, COMPLETE_BEYOND, CROWDED_UP_TO, MEANING_BESIDE, OPENING, SPEAKERS_FROM, share_of_pronouns};
use crate::recall::when::{self, Range};
use crate::store::envelope::damaged;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::speech::acknowledges;

/// The scores of all messages by the words of a question, and the speakers that the question names.
pub(super) struct Words {
    partition: Partition,
    head: SessionsHead,
    field: Field,
    speakers: Vec<String>,
    /// The terms that name them.
    names: Vec<u64>,
}

impl Words {
    /// `terms` are those of the question.
    pub fn enter<P: Pages>(
        pages: &P,
        partition: Partition,
        (snapshot, terms): (&Snapshot<'_, P>, &Prepared<'_>),
        question: &Question<'_>,
    ) -> Result<Self> {
        let head = SessionsHead::read(pages, partition)?;
        let mut field = Field::new(head.last_document);
        let first = field.enter_words(|visit| snapshot.score_each(terms, visit), SPEAKERS_FROM)?;
        let (speakers, names) = named(pages, partition, question, &first)?;
        Ok(Self { partition, head, field, speakers, names })
    }

    /// Whether the question names somebody who speaks.
    pub fn name_a_speaker(&self) -> bool {
        !self.speakers.is_empty()
    }
}

/// One search of one snapshot.
pub(super) struct Ranking<'r, P> {
    pages: &'r P,
    partition: Partition,
    head: SessionsHead,
    question: &'r Question<'r>,
    request: &'r Request,
    field: Field,
    /// The share of the question's words that the message with most of them has; reckoned where they alone tell how sure an answer is.
    share_of_best: f64,
    meaning: Meaning,
    /// The same without the time that the question asks about, where it asks about one: a message of that time need not name it.
    beside_time: Option<Meaning>,
    speakers: Vec<String>,
    /// Whether the question speaks to the model.
    speaks_to_model: bool,
    /// Whether the question has no word but those of courtesy, so that courtesies answer it; read where a message is one.
    asks_courtesies: OnceCell<bool>,
    /// The time that the question asks about.
    asked: Option<Range>,
}

/// The facts about a session whose messages are ranked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub is_visible: bool,
    messages: u64,
}

/// Facts of a session of which these conditions are asked. One that is being deleted or copied is in no answer: its messages go, or
/// come, step by step.
pub(super) fn glance<P: Pages>(pages: &P, place: SessionKey, conditions: &[(String, Vec<Vec<u8>>)]) -> Result<Known> {
    let Some((state, messages)) = SessionRecord::glance(pages, place)? else { return Ok(Known { is_visible: false, messages: 0 }) };
    let is_visible = state != SessionState::Hidden && (conditions.is_empty() || has_metadata(conditions, &metadata::read(pages, place)?));
    Ok(Known { is_visible, messages })
}

/// Whether candidates that take places of others stood among the best.
struct Among {
    /// There seem to be copies of some.
    has_copies: bool,
    /// Messages of no use have more than half of the places, since there were too few others.
    is_crowded: bool,
}

/// A candidate, and what ranks its session.
struct Ranked {
    found: Found,
    cheap: f64,
}

impl<'r, P: Pages> Ranking<'r, P> {
    /// `terms` are those of the question, and `words` what they say of the messages.
    pub fn new(
        pages: &'r P,
        (snapshot, terms): (&Snapshot<'_, P>, &Prepared<'_>),
        words: Words,
        question: &'r Question<'r>,
        request: &'r Request,
    ) -> Result<Self> {
        let Words { partition, head, mut field, speakers, names } = words;
        field.near_from(request.near);
        let is_other = |term: &QueryTerm| !names.contains(&term.hash);
        // A question that has nothing but names is about them.
        if !names.is_empty() && question.terms.iter().any(is_other) {
            field.enter_names(&snapshot.score(terms, |hash| names.contains(&hash))?);
        }
        field.settle();
        field.identify((snapshot, terms), question)?;
        // A message that asks is the best itself.
        let asks_itself = request.asking != Asking::ByCaller;
        let share_of_best = if question.is_known() || asks_itself {
            1.0
        } else {
            field.share_of_best(terms.of_all(&question.terms, |at| question.asks_for(at)))
        };
        let rarity = terms.rarity();
        let meaning = question.meaning(&speakers, &rarity);
        let (asks_courtesies, speaks_to_model) = (OnceCell::new(), question.speaks_to_model());
        let mut ranking = Self {
            pages,
            partition,
            head,
            question,
            request,
            field,
            share_of_best,
            meaning,
            beside_time: None,
            speakers,
            speaks_to_model,
            asks_courtesies,
            asked: None,
        };
        ranking.read_time()?;
        ranking.beside_time = ranking.asked.is_some().then(|| question.meaning_beside_time(&ranking.speakers, &rarity));
        Ok(ranking)
    }

    /// The best `limit` messages: score descending, of equals the newest document. `seed` is that of the scope.
    pub fn best(&mut self, limit: usize, seed: Seed) -> Result<Vec<Found>> {
        let (mut wanted, mut sessions, mut knows_forks) = (limit, BTreeMap::new(), false);
        let vectors = vectors(self.partition);
        loop {
            let (numbers, all) = self.field.promising(self.pages, &vectors, &self.meaning, wanted.saturating_add(BEYOND))?;
            let (found, among) = self.score(numbers, limit, wanted.saturating_add(COMPLETE_BEYOND), &mut sessions)?;
            if among.has_copies && !std::mem::replace(&mut knows_forks, true) && self.leave_out_copies(seed)? {
                continue;
            }
            if all || found.len() >= limit && (!among.is_crowded || wanted >= CROWDED_UP_TO) {
                return Ok(found);
            }
            wanted = wanted.saturating_mul(4); // what is hidden, was said at another time, or only asks, had some of the best places
        }
    }

    fn score(
        &mut self,
        mut numbers: Vec<u32>,
        limit: usize,
        complete: usize,
        sessions: &mut BTreeMap<u32, Known>,
    ) -> Result<(Vec<Found>, Among)> {
        let rows = self.rows(&mut numbers, complete, sessions)?;
        let mut ranked = Vec::with_capacity(numbers.len());
        for number in numbers {
            let Some(at) = rows.find(number) else {
                if self.field.words(number) > 0.0 {
                    let key = row::key(self.partition, number);
                    return Err(damaged(key.as_slice(), "the transcript index refers to it and it is missing"));
                }
                continue; // what follows a message was taken back
            };
            let row = &rows.at(at).row;
            let known = self.session(row.session, sessions)?;
            if !known.is_visible || row.is_courtesy && !self.asks_courtesies() || !self.is_said_then(row)? {
                continue;
            }
            let beside = rows.beside(at);
            if !self.field.is_near(number) && !beside.has_words(&self.field) {
                continue;
            }
            let features = self.features(&beside, number, row, known)?;
            let place = SessionKey { partition: self.partition, session: row.session };
            let (is_cut, is_apart) = (row.is_cut(), self.field.is_apart(number));
            let follows = self.nearness_of_asked(&beside);
            let found = Found { is_empty: row.is_empty, follows, features, is_cut, is_apart, ..Found::of(place, row.index, number) };
            ranked.push(Ranked { cheap: features.cheap(self.field.own(number)), found });
        }
        self.finish(ranked, &rows, limit)
    }

    /// Adds what only all candidates together tell; the best `limit` in order, each once, and what stood among them. A question that the
    /// built-in embedding does not know goes by words alone, and so does how sure its answers are.
    fn finish(&self, mut ranked: Vec<Ranked>, rows: &ReadRows<'_>, limit: usize) -> Result<(Vec<Found>, Among)> {
        let (ranks, best) = (session_ranks(&ranked), best_by_cheap(&ranked));
        for one in &mut ranked {
            let found = &mut one.found;
            let is_near = |place: &SessionKey, index: u64| *place == found.place && index != found.index && self.question.is_known();
            let near = best.iter().filter(|(place, index, _)| is_near(place, *index));
            found.features.near_best = near.map(|(_, index, cheap)| cheap * Features::nearness(*index, found.index)).fold(0.0, f64::max);
            found.features.session = ranks.get(&found.place.session).map_or(0.0, |rank| 1.0 / *rank as f64);
            found.score = found.features.score();
        }
        let named = if self.speakers.is_empty() { 0.0 } else { closest(&ranked, true) - closest(&ranked, false) };
        // Scores are put in order, and what they belong to, which is large, is moved once.
        let mut places: Vec<_> = ranked.iter().enumerate().map(|(at, one)| (Reverse((one.found.score, one.found.number)), at)).collect();
        first_in_order(&mut places, limit, Ord::cmp);
        let mut found: Vec<Found> = places.into_iter().map(|(_, at)| ranked[at].found).collect();
        let order = |a: &Found, b: &Found| (b.score, b.number).cmp(&(a.score, a.number));
        let has_copies = has_copies(&found, limit, rows);
        if has_copies {
            found.sort_unstable_by(order);
            found = self.without_copies(found, rows)?;
        }
        let weigh = |one: &mut Found| {
            one.named = named;
            let words = (one.features.words * self.share_of_best).min(1.0);
            one.confidence =
                if self.question.is_known() { one.features.confidence(named).max(self.sure_of_then(one, rows)) } else { words };
        };
        let mut is_crowded = false;
        if may_be_crowded(&found, limit) {
            found.iter_mut().for_each(weigh);
            found.sort_unstable_by(order);
            let waiting = surplus(&mut found, limit, |one| self.is_of_no_use(one));
            let free = limit.saturating_sub(found.len());
            is_crowded = free > 0 && !waiting.is_empty();
            found.extend(waiting.into_iter().take(free));
            found.sort_unstable_by(order);
        }
        found.truncate(limit);
        found.iter_mut().for_each(weigh);
        Ok((found, Among { has_copies, is_crowded }))
    }

    /// Whether a message answers nothing, and is found for that alone that it says the question again, or for nothing.
    fn is_of_no_use(&self, found: &Found) -> bool {
        found.is_echo() || self.request.answers_only && found.is_empty == Some(true)
    }

    /// How sure a message is without the words of the time that the question asks about, where it was said then; 0 of all others.
    fn sure_of_then(&self, found: &Found, rows: &ReadRows<'_>) -> f64 {
        let row = || rows.find(found.number).map(|at| &rows.at(at).row);
        let meaning = self.beside_time.as_ref().filter(|_| found.features.within > 0.0);
        meaning.zip(meaning.and_then(|_| row())).map_or(0.0, |(meaning, row)| moved_by_name(meaning.nearness(&row.tokens), found.named))
    }

    /// Leaves what forks have of other sessions out of the candidates; whether there is any.
    fn leave_out_copies(&mut self, seed: Seed) -> Result<bool> {
        let copies = forks::copied(self.pages, self.partition, seed, self.request)?;
        Ok(self.field.leave_out(&copies))
    }

    /// The first of the copies of each message. A message that seems to be one is read: of two that were dated by day one may have another sign.
    fn without_copies(&self, found: Vec<Found>, rows: &ReadRows<'_>) -> Result<Vec<Found>> {
        let (mut kept, mut known) = (Vec::with_capacity(found.len()), BTreeMap::<_, Vec<(Found, Option<_>)>>::new());
        let given = |one: &Found| Ok::<_, crate::Error>(stored_message(self.pages, one.place, one.index)?.given);
        'found: for one in found {
            if let Some(copied) = copied(&one, rows) {
                let alike = known.entry(copied).or_default();
                let mut own = None;
                for (other, of_other) in alike.iter_mut() {
                    // Each is read once, and the first of a kind only where another seems to be a copy of it.
                    if of_other.is_none() {
                        *of_other = Some(given(other)?);
                    }
                    if own.is_none() {
                        own = Some(given(&one)?);
                    }
                    if own == *of_other {
                        continue 'found;
                    }
                }
                alike.push((one, own));
            }
            kept.push(one);
        }
        Ok(kept)
    }

    fn asks_courtesies(&self) -> bool {
        *self.asks_courtesies.get_or_init(|| acknowledges(&self.request.text))
    }

    /// The rows of candidates, and of the messages beside them; the first `complete` are completed by those that are far. A message that is
    /// not a candidate because its document is far from that of one right beside it, which has words of the question, becomes one; where there is
    /// room, also one two places away. Candidates come best first and ascend afterwards.
    fn rows(&mut self, numbers: &mut Vec<u32>, complete: usize, sessions: &mut BTreeMap<u32, Known>) -> Result<ReadRows<'r>> {
        let (pages, partition) = (self.pages, self.partition);
        let first = numbers[..numbers.len().min(complete)].to_vec();
        numbers.sort_unstable();
        let (mut rows, mut finder) = (ReadRows::read(pages, partition, numbers, &self.meaning.wanted)?, Finder::new(pages, partition));
        let far = self.complete(&mut rows, &mut finder, (&first, true), sessions)?;
        let has_room = numbers.len() < complete;
        let may_be_hit = |one: &&Far| self.field.words(one.beside) > 0.0 && (one.by.abs() == 1 || has_room);
        let is_new = |number: &u32| numbers.binary_search(number).is_err() && !self.field.is_left_out(*number);
        let new: Vec<u32> = far.iter().filter(may_be_hit).map(|one| one.number).filter(is_new).collect();
        let beside = self.complete(&mut rows, &mut finder, (&new, has_room), sessions)?;
        numbers.extend(new);
        let mut all: Vec<u32> = numbers.iter().copied().chain(far.iter().chain(&beside).map(|one| one.number)).collect();
        for numbers in [numbers, &mut all] {
            numbers.sort_unstable();
            numbers.dedup();
        }
        self.field.complete(pages, &vectors(partition), &self.meaning, &all)?;
        Ok(rows)
    }

    /// Completes the rows of some documents by those of the messages beside them in sessions that can be seen: see [`Finder::complete`].
    fn complete(
        &self,
        rows: &mut ReadRows<'r>,
        finder: &mut Finder<'r, P>,
        (numbers, wide): (&[u32], bool),
        sessions: &mut BTreeMap<u32, Known>,
    ) -> Result<Vec<Far>> {
        let mut those = Vec::with_capacity(numbers.len());
        for at in numbers.iter().filter_map(|number| rows.find(*number)) {
            let known = self.session(rows.at(at).row.session, sessions)?;
            those.extend(known.is_visible.then_some((at, known.messages))); // of one that is being deleted a part is gone
        }
        finder.complete(rows, &those, wide, &self.meaning.wanted)
    }

    fn features(&self, at: &Beside<'_, 'r>, number: u32, row: &Row<'_>, known: Known) -> Result<Features> {
        let field = &self.field;
        let is = |is: bool| f64::from(u8::from(is));
        let own = |by: i64| at.other(by).map_or(0.0, |other| field.own(other.number));
        // Weighed beside a message's own meaning, of which nothing is known then.
        let own_of_far = |by: i64| if self.question.is_known() { own(by) } else { 0.0 };
        let meaning = |by: i64| at.other(by).map_or(0.0, |other| field.cosine(other.number));
        let (tokens, wanted) = (row.tokens.len() / 2, &self.meaning.wanted);
        let [first_persons, second_persons, times] = count_forms(&row.tokens);
        let (before, [of_before, of_after]) = (own(-1), MEANING_BESIDE);
        let asked_before = at.other(-1).is_some_and(|before| before.row.asks);
        let mine = at.nearness_of(0);
        let around = [mine, at.nearness_of(-1), at.nearness_of(1)];
        let speaks = self.speakers.iter().any(|speaker| **speaker == *row.speaker);
        let first_person = share_of_pronouns(first_persons, tokens);
        let (within, behind) = self.dates(row)?;
        Ok(Features {
            words: field.words(number),
            window: field.window_of([-1, 0, 1].map(|by| at.other(by).map(|other| other.number))),
            before,
            before_two: own_of_far(-2),
            after_two: own_of_far(2),
            answers: if asked_before { before } else { 0.0 },
            meaning: field.cosine(number),
            meaning_around: (meaning(0) + of_before * meaning(-1) + of_after * meaning(1)) / (1.0 + of_before + of_after),
            closeness: mine.map_or(0.0, |of| wanted.closeness(of)),
            closeness_around: wanted.closeness_of_all(around.into_iter().flatten()),
            exact: mine.map_or(0.0, |of| wanted.exact(of)),
            phrase: mine.map_or(0.0, |of| of.phrase),
            phrase_before: at.nearness_of(-1).map_or(0.0, |of| of.phrase),
            speaker: is(speaks),
            name: is(field.has_name(number)),
            first_person,
            own_words: if speaks { first_person } else { 0.0 },
            second_person: share_of_pronouns(second_persons, tokens),
            by_model: is(row.by_model == Some(true) && !self.speaks_to_model),
            time_asked: is(self.question.asks_when() && times > 0),
            opening: is(row.index < OPENING),
            place: row.index as f64 / known.messages.saturating_sub(1).max(1) as f64,
            near_best: 0.0,
            session: 0.0,
            within,
            behind,
            length: Features::length_of(tokens),
            identified: is(field.is_identified(number)),
        })
    }

    /// How near the message before one is, where that only asks: the mean of what it has of the question and its cosine.
    fn nearness_of_asked(&self, at: &Beside<'_, 'r>) -> f64 {
        let only_asks = |row: &Row<'_>| row.asks && row.is_empty == Some(true);
        let Some(asked) = at.other(-1).filter(|before| only_asks(&before.row)) else { return 0.0 };
        let closeness = at.nearness_of(-1).map_or(0.0, |of| self.meaning.wanted.closeness(of));
        f64::midpoint(closeness, self.field.cosine(asked.number))
    }

    fn session(&self, session: u32, known: &mut BTreeMap<u32, Known>) -> Result<Known> {
        if let Some(known) = known.get(&session) {
            return Ok(*known);
        }
        let made = glance(self.pages, SessionKey { partition: self.partition, session }, &self.request.metadata)?;
        known.insert(session, made);
        Ok(made)
    }

    fn said_at(&self, row: &Row<'_>) -> Result<i64> {
        said_at(self.pages, self.partition, row)
    }

    fn is_said_then(&self, row: &Row<'_>) -> Result<bool> {
        Ok(self.request.said == Range::default() || self.request.said.contains(self.said_at(row)?))
    }

    /// Whether a message was said when the question asks about, and whether in the days from then on.
    fn dates(&self, row: &Row<'_>) -> Result<(f64, f64)> {
        let Some(asked) = self.asked else { return Ok((0.0, 0.0)) };
        let at = self.said_at(row)?;
        let is = |is: bool| f64::from(u8::from(is));
        Ok((is(asked.contains(at)), is(extended(asked).contains(at))))
    }

    /// Reads the time that the question asks about: against the time now, or, where nothing was said then, against the newest message.
    fn read_time(&mut self) -> Result<()> {
        if self.request.said != Range::default() {
            return Ok(());
        }
        for against_now in [true, false] {
            let newest = || Ok(newest_at(self.pages, self.partition, &self.head)?.and_then(|at| when::read(&self.request.text, at, 0)));
            let Some(range) = (if against_now { self.request.preferred } else { newest()? }) else { return Ok(()) };
            let dated = Dated::of(self.pages, self.partition, &self.head, range)?;
            self.asked = Some(range);
            if !dated.within.is_empty() {
                self.field.dated = dated;
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Those who spoke one of these documents and whom the question names, and the terms that name them.
fn named<P: Pages>(pages: &P, partition: Partition, question: &Question<'_>, numbers: &[u32]) -> Result<(Vec<String>, Vec<u64>)> {
    let (mut met, mut names, mut hashes): (Vec<String>, Vec<String>, Vec<u64>) = (Vec::new(), Vec::new(), Vec::new());
    for &number in numbers {
        let unmet = |row: Row<'_>| (!met.iter().any(|known| *known == *row.speaker)).then(|| row.speaker.into_owned());
        let Some(speaker) = Row::expect(pages, partition, number, unmet)? else { continue };
        let own = question.named(&speaker);
        if !own.is_empty() {
            names.push(speaker.clone());
            hashes.extend(own);
        }
        met.push(speaker);
    }
    names.sort_unstable();
    Ok((names, hashes))
}

/// The marks that the copies of a message share which forks have: it was said at the same time and place of its session. `None` where nothing
/// more is known of it.
fn copied(found: &Found, rows: &ReadRows<'_>) -> Option<(i64, u64, u64, u64)> {
    let row = &rows.at(rows.find(found.number)?).row;
    let is_told = !row.tokens.is_empty() || found.features.words > 0.0;
    row.at.filter(|_| is_told).map(|at| (at, row.index, found.features.words.to_bits(), xxh3_64(&row.tokens)))
}

/// Whether there seem to be copies of the first `limit`.
fn has_copies(found: &[Found], limit: usize, rows: &ReadRows<'_>) -> bool {
    let mut places: Vec<u64> = found.iter().map(|one| one.index).collect();
    places.sort_unstable();
    if places.windows(2).all(|two| two[0] != two[1]) {
        return false; // a copy stands at the same place of another session, where no other message of its own does
    }
    let marked = |(at, one)| copied(one, rows).map(|marks| (marks, at >= limit));
    let mut known: Vec<_> = found.iter().enumerate().filter_map(marked).collect();
    known.sort_unstable();
    known.windows(2).any(|two| two[0].0 == two[1].0 && !two[0].1)
}

/// The candidate that has more before it is known how good its session is, of equals the newer.
fn by_cheap(a: &Ranked, b: &Ranked) -> Ordering {
    b.cheap.total_cmp(&a.cheap).then(b.found.number.cmp(&a.found.number))
}

/// The sessions of the candidates, each with its place among them by its best one, from 1 on.
fn session_ranks(ranked: &[Ranked]) -> BTreeMap<u32, usize> {
    let mut firsts: BTreeMap<u32, &Ranked> = BTreeMap::new();
    for one in ranked {
        let first = firsts.entry(one.found.place.session).or_insert(one);
        *first = if by_cheap(one, first).is_lt() { one } else { *first };
    }
    let mut order: Vec<&Ranked> = firsts.into_values().collect();
    order.sort_unstable_by(|a, b| by_cheap(a, b));
    order.iter().zip(1..).map(|(one, rank)| (one.found.place.session, rank)).collect()
}

/// The places of the best candidates, and the score of each as a share of the best of all.
fn best_by_cheap(ranked: &[Ranked]) -> Vec<(SessionKey, u64, f64)> {
    let mut order: Vec<&Ranked> = ranked.iter().collect();
    first_in_order(&mut order, BEST, |a, b| by_cheap(a, b));
    order.truncate(BEST);
    let most = order.first().map_or(0.0, |one| one.cheap).max(f64::MIN_POSITIVE);
    order.iter().map(|one| (one.found.place, one.found.index, one.cheap / most)).collect()
}

/// Puts the first `count` in order, and the others behind them in none.
fn first_in_order<T>(all: &mut [T], count: usize, mut by: impl FnMut(&T, &T) -> Ordering) {
    if count > 0 && count < all.len() {
        all.select_nth_unstable_by(count - 1, &mut by);
    }
    let count = count.min(all.len());
    all[..count].sort_unstable_by(by);
}

/// The greatest closeness of those whom the question names, or of the others. Messages that only ask are left out: the question itself
/// is as close as can be.
fn closest(ranked: &[Ranked], speaks: bool) -> f64 {
    let stated = ranked.iter().filter(|one| one.found.is_empty != Some(true));
    let those = stated.map(|one| &one.found.features).filter(|features| (features.speaker > 0.0) == speaks);
    those.map(|features| features.closeness).fold(0.0, f64::max)
}
