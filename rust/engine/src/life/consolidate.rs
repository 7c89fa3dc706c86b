//! Consolidation: memories that say nearly the same become one, which supersedes the originals and never destroys them.
//!
//! A scope's vectors are clustered ([`super::cluster`]). The caller says what a cluster becomes (a model's text), or else the rules: the
//! most informative of those of its memories that are kept longest, where they do not differ in an identifier, a number, a name or a
//! denial. Which words say nothing and which endings do not count is known of English alone: texts of other languages are merged where no
//! word of theirs differs. One transaction a cluster: a process that dies between two has merged some clusters and none by half. A merged
//! memory is no longer a candidate.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::cluster::{Points, dbscan};
use crate::Result;
use crate::embedding::has_word;
use crate::memory::{Core, Kind, Memory, Named, record};
use crate::scope::{Head, Scope};
use crate::text::{duplicate_key, is_abroad};

/// Memories of a scope that are clustered at most, the newest.
pub const MAX_MEMORIES: usize = 20_000;

/// How clusters are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The cosine from which on two memories are neighbours.
    pub closeness: f64,
    /// Neighbours of a core, itself counted.
    pub min_points: usize,
}

/// Memories that are near each other, and what rules make of them.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The memories, in the order of numbers.
    pub memories: Vec<Arc<Named>>,
    /// Those that say the same.
    pub groups: Vec<Group>,
}

/// Memories of a cluster that say the same, by their places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The places.
    pub places: Vec<usize>,
    /// The place of the one that stands for all.
    pub stands: usize,
}

/// The clusters of a scope's memories with their groups, as the merging code reads them.
pub fn clusters(engine: &Core, scope: &Scope, rule: Rule, now: i64) -> Result<Vec<Cluster>> {
    let of = |cluster: Vec<Memory>| {
        let groups = groups(&cluster);
        Ok(Cluster { groups, memories: engine.named(scope, cluster)?.into_iter().map(Arc::new).collect() })
    };
    near_each_other(engine, scope, rule, now)?.into_iter().map(of).collect()
}

/// Kinds that are merged: constraints, the profile and decisions stay as they were said.
fn merges(kind: Kind) -> bool {
    matches!(kind, Kind::Episodic | Kind::Semantic | Kind::Preference | Kind::TaskOutcome)
}

/// The clusters of a scope's memories, each in the order of numbers; of one kind, without a slot. One snapshot.
fn near_each_other(engine: &Core, scope: &Scope, rule: Rule, now: i64) -> Result<Vec<Vec<Memory>>> {
    let (memories, points) = engine.store().read(|snapshot| {
        let Some(partition) = scope.find(snapshot)? else { return Ok((Vec::new(), Points::default())) };
        let mut memories = Vec::new();
        record::each_current(snapshot, partition, 0, &mut |memory| {
            if merges(memory.kind) && memory.slot.is_none() && !memory.is_expired(now) && memory.trust > 0 {
                memories.push(memory);
            }
            ControlFlow::Continue(())
        })?;
        let surplus = memories.len().saturating_sub(MAX_MEMORIES);
        memories.drain(..surplus);
        let head = Head::read(snapshot, partition)?;
        let set = engine.vector_set(snapshot, partition)?.filter(|(number, _)| *number == head.embedding);
        let Some((_, set)) = set else { return Ok((Vec::new(), Points::default())) };
        let mut points = Points::new(set.dims());
        let mut kept = Vec::with_capacity(memories.len());
        for memory in memories {
            if let Some(vector) = set.get(snapshot, memory.number)? {
                points.push(&vector);
                kept.push(memory);
            }
        }
        Ok((kept, points))
    })?;
    let labels = dbscan(&points, rule.closeness, rule.min_points)?;
    let count = labels.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut clusters: Vec<Vec<Memory>> = vec![Vec::new(); count];
    for (memory, label) in memories.into_iter().zip(labels) {
        if let Some(label) = label {
            clusters[label as usize].push(memory);
        }
    }
    Ok(clusters.into_iter().flat_map(by_kind).filter(|cluster| cluster.len() >= 2).collect())
}

/// A cluster's memories of each kind.
fn by_kind(cluster: Vec<Memory>) -> Vec<Vec<Memory>> {
    let mut kinds: Vec<Vec<Memory>> = Kind::ALL.iter().map(|_| Vec::new()).collect();
    for memory in cluster {
        kinds[memory.kind as usize].push(memory);
    }
    kinds
}

/// The groups of a cluster by rules: groups of memories with the same names, numbers and denials, of events also the day, each with the
/// place of the one that stands for it. A group of one stays as it is.
fn groups(cluster: &[Memory]) -> Vec<Group> {
    let (mut groups, mut known) = (Vec::<Vec<usize>>::new(), HashMap::<Vec<String>, usize>::new());
    for (at, memory) in cluster.iter().enumerate() {
        let mut marks = marks(&memory.text);
        marks.extend(memory.kind.day(memory.occurred_at).map(|day| format!("day {day}"))); // no word has a space
        let group = *known.entry(marks).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(at);
    }
    let best = |places: &[usize]| {
        let end = |at: &usize| cluster[*at].expires_at.unwrap_or(i64::MAX);
        let value = |at: &usize| (end(at), cluster[*at].importance.to_bits(), cluster[*at].text.len(), cluster[*at].number);
        places.iter().copied().max_by_key(value).unwrap_or_default()
    };
    groups.into_iter().filter(|places| places.len() >= 2).map(|places| Group { stands: best(&places), places }).collect()
}

/// More words than these are compared as they stand.
const MOST_TURNED: usize = 64;

/// The parts in which two texts may not differ to be one, and the words that carry their meaning: all but function words, in their order, but
/// that the end may stand first ("On Fridays we deploy", "We deploy on Fridays"). "Ana reports to Bo" is not "Bo reports to Ana". A text of
/// another language has all of its words.
fn marks(text: &str) -> Vec<String> {
    const LIGHT: [&str; 34] = [
        "a", "an", "the", "i", "user", "is", "are", "was", "really", "very", "just", "also", "and", "it", "that", "this", "my", "of", "so",
        "now", "do", "be", "been", "have", "has", "had", "would", "will", "too", "quite", "please", "we", "our", "am",
    ];
    if !may_be_english(text) {
        return as_it_stands(text);
    }
    let trimmed = |word: &str| {
        word.trim_matches(|letter: char| letter.is_ascii_punctuation() && !matches!(letter, '-' | '_' | '/' | '#' | '+' | '$' | '%'))
            .to_owned()
    };
    let marks: Vec<String> = text
        .split_whitespace()
        .map(trimmed)
        .filter(|word| !word.is_empty() && !LIGHT.contains(&word.to_lowercase().as_str()))
        .map(|word| if word.chars().skip(1).any(char::is_uppercase) { word } else { stem(&word.to_lowercase()) })
        .collect();
    let turned = |at: usize| marks[at..].iter().chain(&marks[..at]);
    let first = (0..marks.len()).filter(|_| marks.len() <= MOST_TURNED).min_by(|one, other| turned(*one).cmp(turned(*other)));
    turned(first.unwrap_or(0)).cloned().collect()
}

/// Whether a text may be English: small words of other languages are not more, and the vocabulary has half or more of its words in small
/// letters, perhaps with its first one, and without those that other languages have as well. Where there is none, it is English in ASCII
/// ("Olga", "GPT-4").
fn may_be_english(text: &str) -> bool {
    const SHARED: [&str; 23] = [
        "a", "am", "an", "are", "as", "at", "do", "had", "has", "have", "he", "i", "in", "is", "me", "my", "no", "of", "on", "so", "was",
        "we", "will",
    ];
    let mut words = text.split(|letter: char| !letter.is_alphabetic()).filter(|word| !word.is_empty()).take(MOST_TURNED);
    let tells = |word: &&str| !SHARED.contains(&word.to_ascii_lowercase().as_str());
    let is_known = |word: &str| word.is_ascii() && (has_word(word) || has_word(&stem(&word.to_ascii_lowercase())));
    let first = usize::from(words.next().is_some_and(|word| tells(&word) && is_known(word)));
    let small: Vec<&str> = words.filter(|word| word.starts_with(char::is_lowercase) && tells(word)).collect();
    let known = small.iter().filter(|word| is_known(word)).count();
    let has_half = known * 2 >= small.len() || (known + first) * 2 > small.len();
    !is_abroad(text) && if small.is_empty() { text.is_ascii() } else { has_half }
}

/// The words of a text with the marks between them: "No, quiero" is not "No quiero", and "morgens" is not "morgen". Its first letter may be
/// small, and the full stop behind it is none of it.
fn as_it_stands(text: &str) -> Vec<String> {
    const ENDS: [char; 9] = ['.', '!', '\u{a1}', '\u{2026}', '\u{3002}', '\u{ff01}', '\u{ff61}', '\u{964}', '\u{6d4}'];
    let text = duplicate_key(text.trim_matches(|letter: char| ENDS.contains(&letter) || letter.is_whitespace()));
    let mut words: Vec<String> = text.split_whitespace().map(ToOwned::to_owned).collect();
    if let Some(first) = words.first_mut()
        && !first.chars().skip(1).any(char::is_uppercase)
    {
        *first = first.to_lowercase();
    }
    words
}

/// A word without its ending: "running", "runs" and "run" are one.
fn stem(word: &str) -> String {
    let plain = |rest: &&str| rest.len() >= 3 && rest.bytes().all(|byte| byte.is_ascii_lowercase());
    let rest = ["ing", "ed", "s"].iter().find_map(|ending| word.strip_suffix(ending).filter(plain)).unwrap_or(word);
    let doubled = rest.len() > 3 && rest.len() < word.len() && rest.as_bytes()[rest.len() - 1] == rest.as_bytes()[rest.len() - 2];
    if doubled { rest[..rest.len() - 1].to_owned() } else { rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::marks;

    #[test]
    fn who_does_it_to_whom_tells_two_texts_apart() {
        for (one, other) in [
            ("We replicate from fra-1 to ams-2", "We replicate from ams-2 to fra-1"),
            ("Ana reports to Bo", "Bo reports to Ana"),
            ("Room A is for Tom and room B for Lee", "Room B is for Tom and room A for Lee"),
            ("The train leaves Ghent for Brussels at 8", "The train leaves Brussels for Ghent at 8"),
            ("The bug is in lexer.py, not in parser.py", "The bug is in parser.py, not in lexer.py"),
        ] {
            assert_ne!(marks(one), marks(other), "{one} {other}");
        }
        for (one, other) in [
            ("We deploy on Fridays.", "On Friday we deploy"),
            ("The user really likes running", "Likes running"),
            ("To ams-2 we replicate from fra-1", "We replicate from fra-1 to ams-2"),
        ] {
            assert_eq!(marks(one), marks(other), "{one} {other}");
        }
        assert!(marks("").is_empty());
    }

    /// Two texts of a language, which differ in a word, an ending, an order or a comma that says something there.
    const OTHERS: [(&str, &str); 30] = [
        ("Das ist so gewollt", "Das ist gewollt"),
        ("Was ich mag: Kaffee", "Ich mag Kaffee"),
        ("Ich laufe morgens", "Ich laufe morgen"),
        ("Ich mag Kaffee", "Ich mag keinen Kaffee"),
        ("No, bebo leche", "No bebo leche"),
        ("Viene Ana, no viene Bo", "Bo viene, Ana no viene"),
        ("Mi jefe es Carlos", "Mi jefe es Carlo"),
        ("Odio a los gatos", "Odio los gatos"),
        ("Je mange du porc", "Je ne mange pas du porc"),
        ("Mes voisins dorment", "Mes voisin dorment"),
        ("So usare Python", "Usare Python"),
        ("Non, bevo latte", "Non bevo latte"),
        ("N\u{e3}o, bebo leite", "N\u{e3}o bebo leite"),
        ("Gosto do que vejo", "Gosto que vejo"),
        ("Jad\u{119} do Krakowa", "Jad\u{119} Krakowa"),
        ("Nie, lubi\u{119} kaw\u{119}", "Nie lubi\u{119} kaw\u{119}"),
        ("Ik was thuis", "Ik thuis"),
        ("Ik wil koffie of thee", "Ik wil koffie thee"),
        ("Jag \u{e4}r p\u{e5} is", "Jag \u{e4}r p\u{e5}"),
        ("Jeg vil have kaffe", "Jeg vil kaffe"),
        ("Et yiyorum", "Et yemiyorum"),
        (
            "\u{42f} \u{43f}\u{44c}\u{44e} \u{43a}\u{43e}\u{444}\u{435}",
            "\u{42f} \u{43d}\u{435} \u{43f}\u{44c}\u{44e} \u{43a}\u{43e}\u{444}\u{435}",
        ),
        (
            "\u{41d}\u{435} \u{427}\u{430}\u{439}, \u{41a}\u{43e}\u{444}\u{435}",
            "\u{427}\u{430}\u{439}, \u{41a}\u{43e}\u{444}\u{435} \u{41d}\u{435}",
        ),
        ("\u{8089}\u{3092}\u{98df}\u{3079}\u{308b}", "\u{8089}\u{3092}\u{98df}\u{3079}\u{306a}\u{3044}"),
        ("\u{6211}\u{559d}\u{5496}\u{5561}", "\u{6211}\u{4e0d}\u{559d}\u{5496}\u{5561}"),
        (
            "\u{b098}\u{b294} \u{cee4}\u{d53c}\u{b97c} \u{b9c8}\u{c154}",
            "\u{b098}\u{b294} \u{cee4}\u{d53c}\u{b97c} \u{c548} \u{b9c8}\u{c154}",
        ),
        (
            "\u{623}\u{634}\u{631}\u{628} \u{627}\u{644}\u{642}\u{647}\u{648}\u{629}",
            "\u{644}\u{627} \u{623}\u{634}\u{631}\u{628} \u{627}\u{644}\u{642}\u{647}\u{648}\u{629}",
        ),
        ("Saya suka kopi", "Saya tidak suka kopi"),
        ("Der gefangene Floh", "Der Gefangene floh"),
        ("T\u{f4}i th\u{ed}ch tr\u{e0}", "T\u{f4}i kh\u{f4}ng th\u{ed}ch tr\u{e0}"),
    ];

    #[test]
    fn words_of_other_languages_are_none_of_english() {
        for (one, other) in OTHERS {
            assert_ne!(marks(one), marks(other), "{one} {other}");
        }
        for text in OTHERS.into_iter().flat_map(|(one, other)| [one, other]) {
            let small: String = text.chars().take(1).flat_map(char::to_lowercase).chain(text.chars().skip(1)).collect();
            let end = if text.is_ascii() { '.' } else { '\u{3002}' };
            for same in [format!("{text}."), format!(" {text}!\n"), format!("{text}{end}"), text.replace(' ', "  "), small] {
                assert_eq!(marks(text), marks(&same), "{text}");
            }
        }
        assert_eq!(marks("Jose\u{301} vive aqu\u{ed}"), marks("Jos\u{e9} vive aqu\u{ed}."));
    }

    #[test]
    fn english_with_names_is_english() {
        for text in [
            "Jos\u{e9} likes M\u{e1}laga",
            "Lives in Los Angeles",
            "Uses kubectl",
            "payments-api listens on port 8443",
            "Drives a Citro\u{eb}n C3 to work",
            "GPT-4",
            "Deploys with kubectl and helm",
            "ana reports to bo",
            "Likes running",
            "Checkout runs on prod-1.",
        ] {
            assert!(super::may_be_english(text), "{text}");
        }
    }
}
