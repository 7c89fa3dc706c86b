//! Messages that told a value which was replaced since: beside the current memory they would say otherwise, and mostly in the very words of
//! the question.

use super::pinned::LEAST_TRUST;
use crate::Result;
use crate::compaction::units::sentences;
use crate::context::{MemoryRef, Message, Role};
use crate::memory::superseded::ByMessage;
use crate::memory::{Memory, Provenance, State, record};
use crate::session::key::SessionKey;
use crate::session::transcript::message::MessageRecord;
use crate::session::transcript::words::text_of;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::{is_filler, speech, with_stem};

/// So many values of one slot are looked at, the newest first.
const MOST_VALUES: usize = 8;
/// Bytes by which a message may be longer than the value that was learnt from it, and say little else.
const ABOUT: usize = 40;
/// The same for the reply right behind: two or three sentences. Set.
const ABOUT_A_REPLY: usize = 160;
/// How a sentence begins that only offers help.
const OFFERS: [&str; 4] = ["Let me know", "Just let me know", "Feel free", "I'm here"];

/// A message that told what does not hold any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::session) struct Replaced {
    partition: Partition,
    /// The session and the message that the value was learnt from.
    source: Source,
    /// The same of the current one: a message that tells both values tells the current one.
    current: Source,
    /// The words of the value that the current one lacks, in small letters.
    words: Vec<Box<str>>,
    /// The words that the current one has and the value lacks.
    newer: Vec<Box<str>>,
    /// All words of the value, in order, where it is another than the current one; none where only its wording is.
    value: Vec<Box<str>>,
    /// The name of its slot; empty where it has none.
    slot: Box<str>,
    /// The bytes of the value.
    length: usize,
    /// A message that was said from then on is not marked for its words, microseconds since 1970 (UTC).
    until: i64,
    /// When what holds now began to hold, microseconds since 1970 (UTC).
    pub newer_at: i64,
}

/// So many memories that took one slot after another are followed.
const MOST_SUCCESSORS: usize = 256;

/// The current memory that took the place of one that was replaced, where there is one that somebody vouches for; `None` of one that is
/// current itself.
pub(super) fn successor<P: Pages>(pages: &P, memory: MemoryRef, now: i64) -> Result<Option<Memory>> {
    let (partition, mut number) = (memory.partition as Partition, memory.memory as u32);
    for _ in 0..MOST_SUCCESSORS {
        if let Some(current) = record::current(pages, partition, number)? {
            let is_other = (current.number, current.revision) != (memory.memory as u32, memory.revision as u32);
            return Ok(Some(current).filter(|current| is_other && current.trust >= LEAST_TRUST && !current.is_expired(now)));
        }
        let last = record::history(pages, partition, number)?.pop();
        let Some(next) = last.and_then(|last| last.ending).and_then(|ending| ending.superseded_by) else { break };
        number = next;
    }
    Ok(None)
}

/// The session and the message that a value was learnt from.
type Source = Option<(Box<str>, u64)>;

fn source(memory: &Memory) -> Source {
    let Provenance { session, message, .. } = &memory.provenance;
    session.as_deref().zip(*message).map(|(session, message)| (session.into(), message))
}

/// A message that may have told it.
pub(in crate::session) struct Said<'m> {
    pub partition: Partition,
    pub session: &'m str,
    pub index: u64,
    pub at: i64,
    /// Who speaks, where nobody else is named; read only where its words are compared.
    pub by: &'m dyn Fn() -> Result<Option<Role>>,
    /// The words of the user right before it, which are read only where they may ask for it.
    pub behind: &'m dyn Fn() -> Result<Option<String>>,
}

impl Said<'_> {
    /// By how many messages it stands behind a source in one session; `None` where it does not.
    fn behind(&self, source: &Source) -> Option<u64> {
        source.as_ref().filter(|(session, _)| **session == *self.session).and_then(|(_, at)| self.index.checked_sub(*at))
    }
}

impl Replaced {
    /// The messages that told the values before that of a current memory, or older ones that it disputes. Costs a look-up for each.
    pub fn by<P: Pages>(pages: &P, partition: Partition, current: &Memory, found: &mut Vec<Self>) -> Result<()> {
        if current.revision > 1 {
            Self::by_revision(pages, partition, current, found)?;
        }
        let mut before = current.supersedes;
        for _ in 0..MOST_VALUES {
            let Some(number) = before else { break };
            let Some(older) = record::history(pages, partition, number)?.pop() else { break };
            let newer_at = current.occurred_at;
            let until = newer_at.min(written_at(current));
            found.push(Self::new(partition, &older, current, (newer_at, until)));
            before = older.supersedes;
        }
        for number in current.provenance.disputes.iter().take(MOST_VALUES) {
            let older = record::current(pages, partition, *number)?;
            if let Some(older) = older.filter(|older| older.occurred_at < current.occurred_at && older.trust <= current.trust) {
                // Undecided: the message that told it is marked, and none by its words.
                let newer_at = current.occurred_at;
                found.push(Self { value: Vec::new(), ..Self::new(partition, &older, current, (newer_at, newer_at)) });
            }
        }
        Ok(())
    }

    /// The same for the values that it had itself.
    fn by_revision<P: Pages>(pages: &P, partition: Partition, current: &Memory, found: &mut Vec<Self>) -> Result<()> {
        let (mut newer_at, mut is_there) = (written_at(current), false);
        for older in record::history(pages, partition, current.number)?.iter().rev().take(MOST_VALUES) {
            is_there |= older.text != current.text;
            if !is_there {
                newer_at = written_at(older);
                continue;
            }
            let replaced = Self::new(partition, older, current, (newer_at, newer_at));
            // A revision has no message of its own: the source stays that of the first text.
            let told = replaced.current.clone().filter(|_| replaced.current != replaced.source);
            let replaced = Self { current: told, ..replaced };
            if !replaced.value.is_empty() {
                found.push(replaced);
            }
        }
        Ok(())
    }

    /// Those of superseded memories that this message taught, whatever the question finds of what took their place.
    pub fn taught<P: Pages>(pages: &P, superseded: &ByMessage, said: &Said<'_>, now: i64) -> Result<Vec<Self>> {
        let mut found = Vec::new();
        for number in superseded.get(&(Box::from(said.session), said.index)).into_iter().flatten() {
            let older = record::history(pages, said.partition, *number)?.pop().filter(|older| older.state() == State::Superseded);
            let Some(older) = older.filter(|older| said.behind(&source(older)) == Some(0)) else { continue };
            let memory = MemoryRef { partition: said.partition.into(), memory: u64::from(*number), revision: older.revision.into() };
            if let Some(current) = successor(pages, memory, now)? {
                let newer_at = current.occurred_at;
                found.push(Self::new(said.partition, &older, &current, (newer_at, newer_at.min(written_at(&current)))));
            }
        }
        Ok(found)
    }

    fn new(partition: Partition, older: &Memory, current: &Memory, times: (i64, i64)) -> Self {
        let slot = current.slot.as_deref().unwrap_or_default();
        let replaced = Self::of((partition, source(older)), (&older.text, &current.text), slot, times);
        Self { current: source(current), ..replaced }
    }

    fn of((partition, source): (Partition, Source), (older, current): (&str, &str), slot: &str, (newer_at, until): (i64, i64)) -> Self {
        let (then, now): (Vec<_>, Vec<_>) = (words(older).collect(), words(current).collect());
        let lacking = |these: &[Box<str>], those: &[Box<str>]| these.iter().filter(|word| !those.contains(word)).cloned().collect();
        let (gone, newer): (Vec<Box<str>>, Vec<Box<str>>) = (lacking(&then, &now), lacking(&now, &then));
        let value = if is_reworded((&then, &gone), (&now, &newer)) { Vec::new() } else { all_words(older).collect() };
        Self { partition, source, current: None, words: gone, newer, value, slot: slot.into(), length: older.len(), until, newer_at }
    }

    /// Whether a message told it in the part that is shown: it is the one that the value was learnt from, the reply to it that takes it up,
    /// or another one that says the value and no more.
    pub fn is_told(&self, said: &Said<'_>, part: &str) -> Result<bool> {
        if self.partition != said.partition || said.behind(&self.current) == Some(0) {
            return Ok(false);
        }
        let is_short = part.len() <= self.length + ABOUT;
        let behind = said.behind(&self.source);
        if behind == Some(0) {
            // A short message says nothing else: "My GP is Dr. Hall." behind "Dr. Ames now, Dr. Hall retired".
            return Ok(is_short || words(part).any(|word| self.words.contains(&word)));
        }
        if self.value.is_empty() || said.at >= self.until || part.len() > self.length + ABOUT_A_REPLY {
            return Ok(false);
        }
        let told: Vec<Box<str>> = all_words(part).collect();
        let is_there = |word: &str| told.iter().any(|other| is_same(word, other));
        if self.newer.iter().any(|word| is_there(word)) {
            return Ok(false);
        }
        if !self.words.iter().all(|word| is_there(word)) || !is_short && behind != Some(1) {
            return self.is_answer(said, &told, part);
        }
        let says_so = is_short && !part.contains('?');
        Ok(match (said.by)()? {
            Some(Role::Assistant) if behind == Some(1) && (says_so && self.content().all(is_there) || self.is_taken_up(part)) => true,
            Some(Role::Assistant) => says_so && self.is_repeated(&told, &TO_THE_USER) || self.is_answer(said, &told, part)?,
            Some(Role::User) => says_so && self.is_repeated(&told, &OF_ONESELF),
            _ => false,
        })
    }

    /// Whether a reply takes up the value and states nothing else: a sentence that does not ask has it, all others only ask or offer, and no
    /// word besides is a number or a name. "Lisbon has two clubs, Benfica and Sporting" holds wherever the user lives.
    fn is_taken_up(&self, reply: &str) -> bool {
        let is_known = |word: &str| self.value.iter().any(|other| is_same(other, word)) || SAID_AGAIN.contains(&word) || word == "i";
        let has_it = |sentence: &str| {
            let told: Vec<Box<str>> = all_words(sentence).collect();
            !sentence.contains('?') && self.words.iter().all(|word| told.iter().any(|other| is_same(word, other)))
        };
        let says_little = |sentence: &str| {
            let said = sentence.trim();
            said.is_empty() || said.contains('?') || speech::acknowledges(said) || OFFERS.iter().any(|offer| said.starts_with(offer))
        };
        reply.len() <= self.length + ABOUT_A_REPLY
            && reply.lines().flat_map(sentences).any(has_it)
            && reply.lines().flat_map(sentences).all(|sentence| has_it(sentence) || says_little(sentence))
            && reply.lines().flat_map(sentences).flat_map(specific).all(|word| is_known(&word.to_lowercase()))
    }

    /// Whether it is a reply that gave the value to a question for it: "You have a Golf." behind "Which car do I have?". The question has no
    /// word of anything else, and a sentence of the reply has all words that are gone, but for those that the question has, and no other number
    /// or name: "Rex is 4 years old." gives no name of a dog. It is no less outdated where the reply says more ("so you have three weeks left").
    fn is_answer(&self, said: &Said<'_>, told: &[Box<str>], part: &str) -> Result<bool> {
        let is_there = |word: &str| told.iter().any(|other| is_same(word, other));
        let is_of_another = |words: &[Box<str>]| words.iter().any(|word| OF_ANOTHER.contains(&&**word));
        if !self.words.iter().any(|word| is_there(word)) || (said.by)()? != Some(Role::Assistant) {
            return Ok(false);
        }
        let Some(question) = (said.behind)()?.filter(|question| question.contains('?')) else { return Ok(false) };
        let asked: Vec<Box<str>> = all_words(&question).collect();
        let is_own = asked.iter().any(|word| OF_ONESELF.contains(&&**word) || OF_US.contains(&&**word));
        let of_user = self.value.iter().any(|word| **word == *USER || OF_ONESELF.contains(&&**word));
        let topic: Vec<Box<str>> =
            self.value.iter().chain(&self.newer).map(|word| stem(word)).chain(words(&self.slot).map(|word| stem(&word))).collect();
        let has = |word: &str| topic.contains(&stem(word));
        let content = || asked.iter().map(|word| &**word).filter(|word| !is_filler(word.as_bytes()) && *word != "s");
        let is_asked = content().any(has) && content().all(|word| has(word) || ASKING.iter().any(|asking| is_same(asking, word)));
        if !is_asked || is_of_another(&asked) || of_user && !is_own {
            return Ok(false);
        }
        let in_question = |word: &str| asked.iter().any(|other| stem(other) == stem(word));
        let has_all = self.words.iter().all(|word| in_question(word));
        Ok(part.lines().flat_map(sentences).filter(|sentence| !sentence.contains('?')).any(|sentence| {
            let told: Vec<Box<str>> = all_words(sentence).collect();
            let mut gone = self.words.iter().filter(|word| has_all || !in_question(word));
            let is_known = |word: &str| has(&word.to_lowercase()) || in_question(&word.to_lowercase());
            gone.all(|word| told.iter().any(|other| is_same(word, other)))
                && !is_of_another(&told)
                && specific(sentence).all(|word| all_words(word).all(|part| is_known(&part)))
        }))
    }

    /// The words of the value that say something, but for the user's own.
    fn content(&self) -> impl Iterator<Item = &str> {
        self.value.iter().map(|word| &**word).filter(|word| !is_filler(word.as_bytes()) && *word != USER && !SAID_AGAIN.contains(word))
    }

    /// Whether words say the value, in its order, and no more. "My wife's locker number is 14" is about somebody else.
    fn is_repeated(&self, told: &[Box<str>], own: &[&str]) -> bool {
        let is_known = |word: &str| self.value.iter().any(|other| &**other == word);
        let (mut content, mut names_user, of_user) = (self.content(), false, is_known(USER));
        for word in told.iter().map(|word| &**word) {
            let is_own = own.contains(&word);
            names_user |= is_own;
            if is_own && of_user || SAID_AGAIN.contains(&word) || is_filler(word.as_bytes()) && (is_known(word) || PLAIN.contains(&word)) {
                continue;
            }
            if is_filler(word.as_bytes()) || !content.next().is_some_and(|expected| is_same(expected, word)) {
                return false;
            }
        }
        content.next().is_none() && self.content().nth(1).is_some() && (names_user || !of_user)
    }
}

/// Who the user is in a memory.
const USER: &str = "user";
/// How the user speaks of themselves, and the model of them.
const OF_ONESELF: [&str; 4] = ["i", "my", "me", "mine"];
const TO_THE_USER: [&str; 3] = ["you", "your", "yours"];
const OF_US: [&str; 3] = ["we", "our", "us"];
/// Words by which a question or its answer is about somebody else, or denies something.
const OF_ANOTHER: [&str; 14] =
    ["he", "she", "they", "him", "his", "her", "hers", "their", "them", "not", "t", "never", "longer", "anymore"];
/// Words that a question for a value has beside those that name it.
const ASKING: [&str; 14] =
    ["re", "again", "now", "currently", "time", "day", "date", "name", "called", "kind", "sort", "go", "leave", "use"];
/// Words that say no more than that it is said again, and what an apostrophe leaves.
const SAID_AGAIN: [&str; 14] =
    ["said", "told", "mentioned", "already", "note", "noted", "remember", "got", "ok", "okay", "yes", "s", "m", "re"];
/// Filler that makes no other thing of what it stands beside.
const PLAIN: [&str; 12] = ["the", "a", "an", "is", "are", "am", "as", "so", "and", "it", "that", "please"];

/// When a memory was written by the clock.
fn written_at(memory: &Memory) -> i64 {
    memory.clock.unwrap_or(memory.known_from)
}

/// Whether a newer text says the value of an older one in other words, as far as can be told: nothing is gone, their numbers are the same, or
/// each word that is gone is there in a longer or shorter form ("prod", "production"). Each side is its words and those that the other lacks.
fn is_reworded((then, gone): (&[Box<str>], &[Box<str>]), (now, newer): (&[Box<str>], &[Box<str>])) -> bool {
    let numbers = |words: &[Box<str>]| -> Vec<Box<str>> {
        let mut numbers: Vec<_> = words.iter().filter(|word| word.contains(|one: char| one.is_ascii_digit())).cloned().collect();
        numbers.sort_unstable();
        numbers
    };
    let has_the_same_numbers = || {
        let numbers_then = numbers(then);
        !numbers_then.is_empty() && numbers_then == numbers(now)
    };
    has_the_same_numbers() || gone.iter().all(|old| newer.iter().any(|new| is_grown(old, new) || is_grown(new, old)))
}

/// Whether a word of letters is another one with some put in at one place.
fn is_grown(short: &str, long: &str) -> bool {
    let beginning = short.bytes().zip(long.bytes()).take_while(|(one, other)| one == other).count();
    let end = short.bytes().rev().zip(long.bytes().rev()).take_while(|(one, other)| one == other).count();
    short.len() >= SHORTEST_GROWN && short.chars().all(char::is_alphabetic) && beginning + end >= short.len()
}

const SHORTEST_GROWN: usize = 3;

/// The stem of a word.
fn stem(word: &str) -> Box<str> {
    with_stem(word.as_bytes(), |[begin, end]| String::from_utf8_lossy(&[begin, end].concat()).into())
}

/// Whether two words are one, but for the "s" of a verb or a plural.
fn is_same(one: &str, other: &str) -> bool {
    let stem = |word: &str| if word.len() > SHORTEST_GROWN { word.strip_suffix('s').map_or(word.len(), str::len) } else { word.len() };
    one == other || one[..stem(one)] == other[..stem(other)]
}

/// The words of a text in small letters, numbers among them, but for filler, which tells nothing of a value.
fn words(text: &str) -> impl Iterator<Item = Box<str>> {
    all_words(text).filter(|word| !is_filler(word.as_bytes()))
}

/// The same with filler.
fn all_words(text: &str) -> impl Iterator<Item = Box<str>> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty()).map(Into::into)
}

/// The words of a sentence that are a number or a name: those with a digit, and those with a capital that stand behind another word.
fn specific(sentence: &str) -> impl Iterator<Item = &str> {
    let mut goes_on = false;
    sentence.split_inclusive(|letter: char| !letter.is_alphanumeric()).filter_map(move |piece| {
        let word = piece.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let is_specific = word.contains(|one: char| one.is_ascii_digit()) || goes_on && word.starts_with(char::is_uppercase);
        goes_on = (goes_on || !word.is_empty()) && !piece.ends_with([':', '\u{2013}', '\u{2014}']);
        is_specific.then_some(word)
    })
}

/// The words of the user in the message before one; `None` where somebody else spoke, or they are gone.
pub(in crate::session) fn said_before<P: Pages>(pages: &P, place: SessionKey, index: u64) -> Result<Option<String>> {
    let Some(before) = index.checked_sub(1) else { return Ok(None) };
    let Some(record) = MessageRecord::read(pages, place, before)? else { return Ok(None) };
    let message = record.whole(pages, place)?;
    Ok((speaker_of(&message, &record) == Some(Role::User)).then(|| text_of(&message)))
}

/// Who speaks a message; `None` where that is a user who is named.
pub(in crate::session) fn speaker_of(message: &Message, record: &MessageRecord) -> Option<Role> {
    let role = message.speaker();
    (role == Role::Assistant || message.name.is_none() && record.author.is_none()).then_some(role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::envelope::damaged;

    fn is_told((older, current): (&str, &str), (index, at): (u64, i64), role: Role, text: &str) -> bool {
        let replaced = Replaced::of((1, Some(("s".into(), 4))), (older, current), "", (100, 100));
        replaced.is_told(&Said { partition: 1, session: "s", index, at, by: &|| Ok(Some(role)), behind: &|| Ok(None) }, text).unwrap()
    }

    #[test]
    fn damage_is_told_where_the_message_before_is_read() {
        let gym = ("The user's gym is Basic-Fit on Coupure.", "The user's gym is Oxygen in Mariakerke.");
        let replaced = Replaced::of((1, None), gym, "gym", (100, 100));
        let by = || Ok(Some(Role::Assistant));
        let behind = || Err(damaged(b"message 8", "its checksum does not match"));
        let said = Said { partition: 1, session: "s", index: 9, at: 50, by: &by, behind: &behind };
        assert!(replaced.is_told(&said, "It is Basic-Fit on Coupure, two streets from you.").is_err());
    }

    const LOCKER: (&str, &str) = ("The user's locker number is 14.", "The user's locker number is 92.");

    #[test]
    fn the_source_its_reply_and_what_says_the_same_again_told_it() {
        assert!(is_told(LOCKER, (4, 50), Role::User, "My locker number is 14."));
        assert!(is_told(LOCKER, (5, 50), Role::Assistant, "Noted! I saved locker number 14 for you."));
        let home = ("The user lives in Lisbon.", "The user lives in Porto.");
        for text in [
            "Nice, Lisbon!",
            "Lisbon is lovely in spring!",
            "Great, I have noted that you live in Lisbon. Would you like tips for the neighbourhood?",
            "OK, I will think of Lisbon from now on.",
            "Noted: You live in Lisbon.\n\nLet me know if there is anything else that I can help you with today!",
        ] {
            assert!(is_told(home, (5, 50), Role::Assistant, text), "{text}");
            assert!(!is_told(home, (6, 50), Role::Assistant, text), "not right behind: {text}");
            assert!(!is_told(home, (5, 50), Role::User, text), "of the user's own: {text}");
        }
        for text in ["As I said, my locker number is 14.", "my locker number is 14", "I told that my locker number's 14"] {
            assert!(is_told(LOCKER, (9, 50), Role::User, text), "{text}");
        }
        assert!(is_told(LOCKER, (9, 50), Role::Assistant, "Got it, your locker number is 14."));
        let rotated = ("API keys are rotated every 30 days", "API keys are rotated every 90 days");
        assert!(is_told(rotated, (9, 50), Role::User, "The API keys are rotated every 30 days."));
        assert!(is_told(("The user lives in Lisbon", "The user lives in Porto"), (9, 50), Role::User, "I live in Lisbon"));
    }

    #[test]
    fn an_answer_to_a_question_for_the_value_told_it() {
        let is_answer = |(older, current, slot): (&str, &str, &str), question: &str, reply: &str| {
            let replaced = Replaced::of((1, None), (older, current), slot, (100, 100));
            let (by, behind) = (|| Ok(Some(Role::Assistant)), || Ok(Some(question.to_owned())));
            replaced.is_told(&Said { partition: 1, session: "s", index: 9, at: 50, by: &by, behind: &behind }, reply).unwrap()
        };
        let gym = ("The user's gym is Basic-Fit on Coupure.", "The user's gym is Oxygen in Mariakerke.", "gym");
        let home = ("The user lives in Lisbon.", "The user lives in Porto.", "home");
        let work = ("The user works for Initech.", "The user works for Hooli.", "employer");
        let due = ("The deadline is June 21.", "The deadline is July 5.", "deadline");
        let flight = ("The user's flight is at 14:20.", "The user's flight is 16:45.", "flight");
        let scripts = ("I prefer Python for scripting", "I prefer Rust for scripting", "programming language for scripting");
        let dog = ("The user's dog is Rex.", "The user's dog is Max.", "dog");
        for (values, question, reply) in [
            (gym, "Which gym do I go to?", "You go to Basic-Fit on Coupure."),
            (home, "Where do I live?", "Lisbon."),
            (work, "Where do I work again?", "You work at Initech."),
            (work, "Do I work at Initech?", "Yes, you work at Initech."),
            (due, "When is the deadline?", "The deadline is June 21, so you have three weeks left."),
            (due, "what's the date of the deadline now?", "June 21!"),
            (flight, "When does my flight leave?", "Your flight leaves at 14:20. Leave home by 11:30."),
            (flight, "what time is my flight?", "At 14:20. Don't forget your passport!"),
            (scripts, "Which language do I prefer for scripts?", "You like Python for scripting."),
            (dog, "What's my dog called?", "Your dog is called Rex."),
        ] {
            assert!(is_answer(values, question, reply), "{question} {reply}");
        }
        for (values, question, reply) in [
            (gym, "Which gym does my wife go to?", "She goes to Basic-Fit on Coupure."),
            (gym, "Which gym does my wife go to?", "Basic-Fit on Coupure."),
            (gym, "Which gym is nearest?", "Basic-Fit on Coupure."),
            (gym, "Which gym do I go to?", "You do not go to Basic-Fit on Coupure."),
            (gym, "Which gym do I go to?", "You went to Basic-Fit on Coupure, and go to Oxygen."),
            (gym, "Which gym do I go to?", "Is it Basic-Fit on Coupure?"),
            (gym, "I go to a gym.", "Basic-Fit on Coupure has a sauna."),
            (home, "What is the weather in Lisbon?", "In Lisbon it is 24 degrees."),
            (home, "Where does she live?", "In Lisbon."),
            (home, "Where do you live?", "In Lisbon."),
            (work, "Where does Ana work?", "Ana works for Initech."),
            (work, "Do I work at Initech?", "Yes."),
            (work, "How long have I worked at Initech?", "Four years at Initech."),
            (work, "What do I like at Initech?", "The coffee at Initech."),
            (dog, "How old is my dog?", "Rex is 4 years old."),
            (dog, "What day did I get my dog?", "You got Rex on 3 May 2020."),
            (due, "When is the deadline of the tax office?", "June 21."),
        ] {
            assert!(!is_answer(values, question, reply), "{question} {reply}");
        }
    }

    #[test]
    fn what_is_about_another_says_more_or_was_said_later_did_not() {
        for text in [
            "My wife's locker number is 14.",
            "His locker number is 14.",
            "Our locker number is 14.",
            "Your locker number is 14.",
            "The locker number is 14.",
            "Is my locker number 14?",
            "My locker number is not 14.",
            "My locker number isn't 14.",
            "My locker number was 14, and is 92.",
            "My locker number is 92.",
            "14",
        ] {
            assert!(!is_told(LOCKER, (9, 50), Role::User, text), "{text}");
        }
        assert!(!is_told(LOCKER, (9, 100), Role::User, "My locker number is 14."), "said as the newer one holds");
        assert!(!is_told(LOCKER, (5, 50), Role::Assistant, "Your locker number was 14, now it is 92."));
        assert!(!is_told(LOCKER, (5, 50), Role::Tool, "locker number 14"));
        let long = "It has room for a coat and a bag. ".repeat(6);
        for text in [
            "Is it 14? I did not get it.",
            "Did you say 14, or another one?",
            "Got it, 14. Ana has 31, next to it.",
            "Noted, 14. By the way, the meeting with Ana moved to Friday.",
            "Saved: locker 14 and the gym called \"Basic\".",
            "14, got it. Your spare key is with the neighbour across the hall.",
            &format!("It is 14. {long}"),
        ] {
            assert!(!is_told(LOCKER, (5, 50), Role::Assistant, text), "{text}");
        }
        let home = ("The user lives in Lisbon.", "The user lives in Porto.");
        for text in
            ["Lisbon has two clubs, Benfica and Sporting.", "You can see the castle of Lisbon, built in 1147.", "From Lisbon to Porto?"]
        {
            assert!(!is_told(home, (5, 50), Role::Assistant, text), "{text}");
        }
        let managers = ("Bo manages Ana", "Bo manages Cy");
        assert!(!is_told(managers, (9, 50), Role::User, "Ana manages Bo"));
        assert!(!is_told(("42", "43"), (9, 50), Role::User, "42"), "a bare value is a value of anything");
    }

    #[test]
    fn another_wording_is_no_other_value() {
        for (older, newer) in [
            ("Uses Postgres in prod", "Uses Postgres in production"),
            ("Uses Postgres 14 there", "Postgres 14 is what the user runs"),
            ("The pasword is sunflower", "The password is sunflower"),
            ("The user has a dog", "The user has a dog called Rex"),
        ] {
            assert!(!is_told((older, newer), (9, 50), Role::User, older), "{older}");
        }
        assert!(is_told(("Meets on Monday", "Meets on Sunday"), (9, 50), Role::User, "Meets on Monday"));
    }
}
