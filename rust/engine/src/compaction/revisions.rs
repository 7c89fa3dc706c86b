//! Later statements of users against earlier ones: a line that is said again, reversed or corrected must not stand alone or last.
//!
//! Terms do not tell "A is done" from "A is not done", "before" from "after", or "A, then B" from "B, then A". So a user's statement is
//! held against earlier candidates, term by term without the words of [`Sign`]. Where it has all terms of an earlier one, it is taken
//! first. Where both have the same words in the same order, but for a denial, only the later stays. Otherwise both may hold, so both
//! stay, and the later stands behind. An order, a permission or a correction that takes back a binding line stands in the section of that
//! line. It has no room of its own there: a report that was taken for one must not push a rule out. A constraint that is reversed as a
//! whole has none any more, and one that is said again in other words gives way to all other lines. Users whose messages have different
//! names replace nothing by a denial, and revise nothing that the other says of himself. Not here: whether two statements of different
//! words disagree.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::check::negates;
use super::cues::{Correction, Cue, correction, words};
use super::rules::{By, Candidate};
use super::stated::{Sense, Stated, bare, behind_answer, denies, rearranges, reverses, small_words};
use super::summary::Section;
use super::terms::{Beside, Reader, filler};
use super::units::sentences;
use super::wording::{names_another, orders, shares_words, tells_of_past};
use crate::interrupt;

/// How many of the last candidates that have a term are looked at.
const MOST_OF_TERM: usize = 16;
/// A rule that was said again has so much less of its score.
const SAID_AGAIN: i64 = 64;
/// A correction shares at least one of so many terms with what it corrects.
const ONE_TERM_OF: usize = 3;
/// Words of answers, thanks and permissions, which are about nothing.
const POLITE: &str = "yes yeah yep yup nope ok okay sure thanks thank cheers great good fine perfect nice cool sounds alright right \
    all that's it's you're we're they're much lot so very help else need nothing anything now instead anyway allowed \
    permitted actually sorry wait oops let's";
/// A verb that denies what it stands before.
const STOP: &str = "stop";
/// More words that forbid. They are not left out of terms: "Avoid nuts" would have one left.
const FORBIDS: [&str; 4] = ["avoid", "forbidden", "prohibited", "verboten"];
/// Signs that deny in scripts without spaces.
const DENYING_SIGNS: [&str; 4] = ["\u{4e0d}", "\u{6ca1}", "\u{6c92}", "\u{306a}\u{3044}"];
/// Words of which one turns round what the other says.
const POLES: [[&str; 2]; 8] = [
    ["on", "off"],
    ["up", "down"],
    ["before", "after"],
    ["first", "last"],
    ["earlier", "later"],
    ["more", "less"],
    ["vor", "nach"],
    ["avant", "apr\u{e8}s"],
];

/// The small words that turn a statement round.
#[derive(Debug, Default, Clone, Copy)]
struct Sign {
    denies: bool,
    /// Bit 2k and 2k + 1: the words of the pair k.
    poles: u32,
}

impl Sign {
    fn of(text: &str) -> Self {
        let text = behind_answer(text);
        let mut sign = Self { denies: negates(text) || DENYING_SIGNS.iter().any(|one| text.contains(one)), poles: 0 };
        for word in words(text) {
            let word = word.as_str();
            sign.denies |= denies(word) || word == STOP || FORBIDS.contains(&word);
            for (at, pole) in POLES.iter().flatten().enumerate() {
                sign.poles |= u32::from(*pole == word) << at;
            }
        }
        sign
    }

    fn is_against(self, other: Self) -> bool {
        let turned = |pair: usize| {
            let [one, two] = [self.poles >> (2 * pair) & 3, other.poles >> (2 * pair) & 3];
            one | two == 3 && one & two == 0 && one != 0 && two != 0
        };
        self.denies != other.denies || (0..POLES.len()).any(turned)
    }
}

/// Whether a sentence of a text reverses one of an earlier text.
fn lifts(text: &str, before: &str) -> bool {
    let before = sentences(before);
    sentences(text).into_iter().any(|sentence| reverses(sentence, &before))
}

/// How a statement stands to an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    /// It says the same in the same words, or denies it: the earlier one goes.
    Replaces,
    /// It speaks of the same otherwise, or binds less than the earlier one: both stay, it stands behind.
    StandsBehind,
    /// It has all that the earlier one has, or differs by a word: it is taken first.
    Outdoes,
    /// It denies a part of the earlier one.
    Denies,
    /// It says the same rule in other words: the earlier one gives way to all others.
    Repeats,
    /// Both speak of themselves, and are not one person: both stay.
    IsAnothers,
}

/// A candidate without its signs, which are read where something shares its terms.
struct Core {
    at: usize,
    /// Its text, if it is read otherwise than it stands.
    bare: Option<String>,
    terms: Vec<u64>,
    sign: OnceCell<Sign>,
    stated: OnceCell<Stated>,
}

impl Core {
    fn text<'a>(&'a self, candidates: &'a [Candidate]) -> &'a str {
        self.bare.as_deref().unwrap_or(&candidates[self.at].line.text)
    }

    fn sign(&self, candidates: &[Candidate]) -> Sign {
        *self.sign.get_or_init(|| Sign::of(self.text(candidates)))
    }

    fn stated(&self, candidates: &[Candidate]) -> &Stated {
        self.stated.get_or_init(|| Stated::of(self.text(candidates)))
    }

    /// How it says what another one says in the same words, if it does.
    fn sense(&self, other: &Self, candidates: &[Candidate]) -> Option<Sense> {
        self.stated(candidates).sense(other.stated(candidates))
    }

    fn is_against(&self, other: &Self, candidates: &[Candidate]) -> bool {
        self.sign(candidates).is_against(other.sign(candidates))
    }
}

/// Holds each user's statement against what was said before it.
pub(super) fn revise(candidates: &mut Vec<Candidate>, reader: &mut Reader) {
    let signs = sign_terms(reader);
    let mut cores: Vec<Core> = Vec::new();
    let mut of_term: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut goes = vec![false; candidates.len()];
    for at in 0..candidates.len() {
        interrupt::step();
        let one = &candidates[at];
        let bare = if one.by == By::Other { None } else { bare(&one.line.text) };
        let mut terms = bare.as_ref().map_or_else(|| one.terms.clone(), |text| reader.terms(text).all);
        terms.retain(|term| !signs.contains(term));
        if terms.is_empty() || one.rank > 0 || one.line.section == Section::Questions {
            continue;
        }
        let core = Core { at, bare, terms, sign: OnceCell::new(), stated: OnceCell::new() };
        if one.by == By::User {
            let mut shared = shared(&core, &of_term);
            shared.retain(|(earlier, _)| is_earlier(&candidates[cores[*earlier].at], &candidates[at]));
            for (earlier, common) in &shared {
                let earlier = &cores[*earlier];
                if !goes[earlier.at]
                    && let Some(relation) = relation(candidates, &core, earlier, *common)
                {
                    goes[earlier.at] = apply(candidates, (&core, earlier), *common, relation);
                }
            }
            correct(candidates, &core, &cores, &shared);
        }
        for term in &core.terms {
            of_term.entry(*term).or_default().push(cores.len());
        }
        cores.push(core);
    }
    let mut goes = goes.into_iter();
    candidates.retain(|_| !goes.next().unwrap_or(false));
}

/// Lines of the summary before stand by section.
fn is_earlier(old: &Candidate, new: &Candidate) -> bool {
    old.line.sources.last() <= new.line.sources.first()
}

/// The terms of the words that [`Sign`] reads, and of words that are about nothing.
fn sign_terms(reader: &mut Reader) -> HashSet<u64> {
    let small: Vec<&str> = small_words().chain(["none", "nothing", "without", "nor", "always", STOP]).collect();
    let all = [POLITE, &small.join(" "), &POLES.as_flattened().join(" ")].join(" ");
    reader.every(&all).into_iter().collect()
}

/// The latest candidates that share terms, by place, and how many.
fn shared(core: &Core, of_term: &HashMap<u64, Vec<usize>>) -> Vec<(usize, usize)> {
    let last = |term| of_term.get(term).into_iter().flat_map(|all: &Vec<usize>| all.iter().rev().take(MOST_OF_TERM));
    let mut places: Vec<usize> = core.terms.iter().flat_map(last).copied().collect();
    places.sort_unstable();
    places.chunk_by(|one, other| one == other).map(|same| (same[0], same.len())).collect()
}

fn relation(candidates: &[Candidate], new: &Core, old: &Core, common: usize) -> Option<Relation> {
    let (one, other) = (&candidates[new.at], &candidates[old.at]);
    let (text, before) = (new.text(candidates), old.text(candidates));
    let against = || new.is_against(old, candidates);
    if other.by == By::Other {
        let covers = common > 1 && (common == new.terms.len() || common == old.terms.len());
        return (covers && against()).then_some(Relation::Denies);
    }
    let others = one.speaker != other.speaker;
    if others && [text, before].into_iter().all(speaks_of_oneself) {
        return (common == new.terms.len().min(old.terms.len())).then_some(Relation::IsAnothers);
    }
    let weaker = strength(one.cue) < strength(other.cue).max(strength_of(other.line.section));
    let (has_all, same) = (common == old.terms.len(), new.terms.len() == old.terms.len());
    let beside = |core: &Core| core.terms.len() - common;
    let near = |most: usize| beside(new) <= most && beside(old) <= most;
    // "works" has two terms, of which "work" has none.
    match if near(2) { new.sense(old, candidates) } else { None } {
        Some(_) if in_one_message(one, other) => return None,
        Some(Sense::Turned) if others => return Some(Relation::StandsBehind),
        Some(_) if !weaker => return Some(Relation::Replaces),
        // A statement of what somebody cannot do binds only as long as it is so.
        Some(Sense::Turned) if !other.strict => return Some(Relation::Replaces),
        Some(Sense::Turned) => return Some(Relation::StandsBehind),
        _ => {}
    }
    if has_all && (common > 1 || same && other.binds) {
        let rules = [one, other].iter().all(|one| one.line.section == Section::Constraints) && !in_one_message(one, other);
        return match (weaker, same) {
            (false, true) if rules && !against() && rearranges(text, before) => Some(Relation::Repeats),
            (false, true) => Some(Relation::StandsBehind),
            (false, false) => Some(Relation::Outdoes),
            (true, _) => (against() || same && is_turned(text, before)).then_some(Relation::StandsBehind),
        };
    }
    if common > 1 && common == new.terms.len() && against() {
        return Some(Relation::Denies);
    }
    (!weaker && common > 1 && near(1)).then_some(Relation::Outdoes)
}

fn in_one_message(one: &Candidate, other: &Candidate) -> bool {
    one.line.sources == other.line.sources
}

/// Has its effect; says whether the earlier one goes.
fn apply(candidates: &mut [Candidate], (new, old): (&Core, &Core), common: usize, relation: Relation) -> bool {
    let (one, other) = (&candidates[new.at], &candidates[old.at]);
    let in_one = in_one_message(one, other);
    let (section, score) = (other.line.section, other.line.score);
    let (has_all, adds) = (common == old.terms.len(), common < new.terms.len());
    let (lifts, takes_back) = takes_back(candidates, (new, old), (has_all, adds), relation);
    let together = in_one && relation == Relation::StandsBehind;
    candidates[new.at].stands_apart(if together { Beside::None } else { Beside::Later });
    let before = &mut candidates[old.at];
    if before.by == By::Other {
        return false;
    }
    // A rule is not said by a narrower one.
    let is_rule = section == Section::Constraints && has_all && relation == Relation::Outdoes;
    if is_rule || matches!(relation, Relation::StandsBehind | Relation::Repeats | Relation::IsAnothers) {
        before.stands_apart(if in_one { Beside::None } else { Beside::Older });
    }
    before.strict &= !lifts; // it must not outlive what lifts it
    if relation == Relation::Repeats {
        (before.strict, before.binds) = (false, false);
        before.line.score = (score / SAID_AGAIN).max(1);
    }
    if relation == Relation::IsAnothers {
        return false;
    }
    if takes_back {
        stand_in(&mut candidates[new.at], section);
    }
    let line = &mut candidates[new.at].line;
    if section <= line.section {
        line.score = line.score.max(score.saturating_add(1));
    }
    relation == Relation::Replaces
}

/// Whether a statement lifts all of an earlier constraint, and whether it stands in the section of an earlier line.
fn takes_back(candidates: &[Candidate], (new, old): (&Core, &Core), (has_all, adds): (bool, bool), relation: Relation) -> (bool, bool) {
    let (one, other) = (&candidates[new.at], &candidates[old.at]);
    let (section, text, before) = (other.line.section, new.text(candidates), old.text(candidates));
    let lifts = section == Section::Constraints
        && has_all
        && other.by != By::Other
        && relation != Relation::IsAnothers
        && new.is_against(old, candidates)
        && (lifts(text, before) || !adds && orders(text, before, false));
    let takes_back = section > one.line.section
        && match relation {
            Relation::StandsBehind | Relation::Denies => lifts || !adds && section == Section::Decisions || orders(text, before, adds),
            Relation::Replaces => true,
            _ => false,
        };
    (lifts, takes_back)
}

/// A correction stands in the section of the binding line that shares most with it, or else with the decisions. Only a sure one, an
/// order, or one that names another value stands among the constraints.
fn correct(candidates: &mut [Candidate], core: &Core, cores: &[Core], shared: &[(usize, usize)]) {
    let text = core.text(candidates).to_owned();
    let Some(correction) = sentences(&text).into_iter().filter_map(correction).max() else { return };
    let (past, replaces) = (tells_of_past(&text), words(&text).iter().any(|word| word == "instead"));
    let is_near = |(at, common): &&(usize, usize)| {
        let before = &cores[*at];
        let (old, earlier, least) = (&candidates[before.at], before.text(candidates), core.terms.len().min(before.terms.len()));
        let (adds, of) = (*common < core.terms.len(), if replaces { least } else { core.terms.len() });
        let denies = [core, before].map(|core| core.sign(candidates).denies);
        let is_rule = old.line.section == Section::Constraints;
        let settled = old.binds && old.by != By::Other && !past;
        let corrects = match correction {
            Correction::First if is_rule || old.by == By::Other => *common > 1,
            Correction::Sure | Correction::First => true,
            Correction::Maybe => {
                let another = || denies == [false; 2] && names_another(&text, earlier);
                settled && shares_words(&text, earlier) > 1 && (!is_rule || orders(&text, earlier, adds) || another())
            }
            Correction::Anywhere => {
                let another = || 2 * *common >= of && names_another(&text, earlier);
                orders(&text, earlier, false) || settled && denies != [true; 2] && (shares_words(&text, earlier) > 1 || another())
            }
            Correction::Allows => orders(&text, earlier, adds),
        };
        corrects && *common * ONE_TERM_OF >= least
    };
    let near: Vec<&(usize, usize)> = shared.iter().filter(is_near).collect();
    let binding = near.iter().filter(|(at, _)| candidates[cores[*at].at].binds).max_by_key(|(at, common)| (*common, *at));
    let (section, score) = match binding {
        Some((at, _)) => (candidates[cores[*at].at].line.section, candidates[cores[*at].at].line.score),
        None if correction == Correction::Sure || !near.is_empty() => (Section::Decisions, 0),
        None => return,
    };
    let new = &mut candidates[core.at];
    new.stands_apart(Beside::Later);
    new.line.score = new.line.score.max(score.saturating_add(1));
    if section > new.line.section {
        stand_in(new, section);
    }
}

/// It stands among binding lines, and competes there by its score.
fn stand_in(new: &mut Candidate, section: Section) {
    new.line.section = section;
    new.binds = section != Section::Summary;
}

fn strength(cue: Cue) -> u8 {
    match cue {
        Cue::None | Cue::Goal => 0,
        Cue::Wish => 1,
        Cue::Decision => 2,
        Cue::Constraint => 3,
    }
}

/// The least strength that a line of a section has.
fn strength_of(section: Section) -> u8 {
    match section {
        Section::Decisions => 2,
        Section::Constraints => 1,
        _ => 0,
    }
}

/// Whether somebody speaks of himself.
fn speaks_of_oneself(text: &str) -> bool {
    words(text)
        .iter()
        .any(|word| matches!(&**word, "i" | "im" | "ive" | "id" | "ill" | "me" | "my" | "mine" | "ich" | "mein" | "je" | "yo"))
}

/// Whether two texts have the words that both have in another order.
fn is_turned(one: &str, other: &str) -> bool {
    let (one, other) = (words(one), words(other));
    let of = |words: &[String], all: &[String]| -> Vec<String> {
        words.iter().filter(|word| all.contains(word) && !filler(word)).cloned().collect()
    };
    of(&one, &other) != of(&other, &one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_are_whole_words() {
        for plain in [
            "Note the knot of another offer.",
            "Upload the official notes.",
            "No, thanks.",
            "Nope. Take the later one.",
            "\u{65e5}\u{672c}",
        ] {
            assert!(!Sign::of(plain).denies, "{plain}");
        }
        for denied in ["No force pushes.", "It isn't done.", "Das ist nicht fertig.", "\u{4e0d}\u{8981}", "Ne touche pas."] {
            assert!(Sign::of(denied).denies, "{denied}");
        }
        assert!(Sign::of("Turn it on.").is_against(Sign::of("Turn it off.")) && Sign::of("before 5").is_against(Sign::of("after 5")));
        assert!(!Sign::of("Dinner on Monday.").is_against(Sign::of("Dinner at seven.")), "one word alone turns nothing");
        assert!(!Sign::of("First A, last B.").is_against(Sign::of("First B.")));
    }
}
