//! Rules for what something of the user's is: "my timezone is CET", "timezone: CET". The words between are the slot.

use super::Category;
use super::beings::is_living;
use super::lexicon::{NO_ATTRIBUTE, PROFILE};
use super::lists::lists;
use super::reading::Reading;
use super::sentence::Sentence;
use super::signs::straight;
use super::values::{PREPOSITIONS, identifies, present, spelled};
use super::words::{Word, among};

lists! { "attribute":
    /// Attributes of which somebody has several at a time.
    MANY,
    /// Words before a colon behind which several things of the user's are listed.
    LISTED,
    /// Words before a colon behind which several things of the user's are listed, where "my" or "our" stands before them.
    OWN_LISTS,
    /// Words that no list of things has: those of sentences, and of texts about them.
    NO_LIST,
}

/// Whether somebody has several of an attribute at a time: "my allergy is shellfish".
#[must_use]
pub fn has_several(attribute: &str) -> bool {
    among(&MANY, attribute)
}

/// "my timezone is CET", "our staging cluster is eu-2": the words between are the slot.
pub(super) fn attribute(s: &Sentence<'_>) -> Option<Reading> {
    let mine = ["my", "our"].contains(&s.word(0));
    if !mine {
        return titled(s);
    }
    let (named, verb, value) = named(s)?;
    let first = s.word(1);
    let is_employed = named.to_lowercase() == "new job" && s.word(0) == "my" && s.word(value) == "at";
    if is_employed && s.words.get(value + 1).is_some_and(|word| word.capital) {
        let (company, end) = s.value(value + 1)?;
        let reading = Reading::new(Category::Profile, "employer").text(format!("The user works for {company}."));
        let is_name = company.split(' ').all(|word| word.starts_with(char::is_uppercase));
        return (is_name && !s.says_more(end)).then(|| reading.slot("employer"));
    }
    if s.word(verb) == "was"
        || NO_ATTRIBUTE.contains(&first)
        || s.negated(value)
        || ["that", "to", "how", "why", "if", "whether", "what"].contains(&s.word(value))
    {
        return None;
    }
    let is = if s.word(verb) == "are" { "are" } else { "is" };
    let begin = value + usize::from(["now", "currently"].contains(&s.word(value)));
    let (value, end) = s.value(begin)?;
    // "My budget is 500 again", and not "my dog is healthy again"
    let again = value.strip_suffix(" again").filter(|value| value.bytes().any(|byte| byte.is_ascii_digit()));
    let value = again.unwrap_or(&value).to_owned();
    if s.word(begin).ends_with("ing") || end - begin > 7 && !(begin + 1..end).any(|at| s.parted(at)) {
        return None;
    }
    let whole = named.to_lowercase();
    let identifies = identifies(&present(&named).to_lowercase(), &value) && identifies(&whole, &value);
    // How something is for now is said of the new one alone: "my new boss is strict".
    let named = if identifies { present(&named) } else { &named };
    let owner = if s.word(0) == "my" { "The user's" } else { "Our" };
    let (named, text) = match named.strip_suffix("'s name").filter(|bearer| identifies && is_living(&bearer.to_lowercase())) {
        Some(bearer) => (bearer, format!("{owner} {bearer} is called {value}.")),
        None => (named, format!("{owner} {named} {is} {value}.")),
    };
    let attribute = named.to_lowercase();
    let category = category_of(s.word(0) == "my", &attribute);
    // How something is for now stands beside what it is, and tells nothing of who somebody is.
    let category = if !identifies && category == Category::Profile && !is_living(&attribute) { Category::Semantic } else { category };
    let reading = Reading::new(category, "attribute").told(text, !s.says_more(end));
    if has_several(&attribute) {
        // "My allergy is shellfish" says nothing of another one.
        let category = if attribute.starts_with("allerg") { Category::Constraint } else { reading.category };
        return Some(Reading { category, text: None, ..reading });
    }
    Some(if identifies { reading.slot(spelled(&attribute)) } else { reading })
}

/// The category of an attribute's value: "my" says that it is the user's own, and "our" does not.
pub(super) fn category_of(mine: bool, attribute: &str) -> Category {
    let favourite = ["favorite ", "favourite ", "preferred ", "usual ", "default "].iter().any(|word| attribute.starts_with(word));
    if favourite {
        Category::Preference
    } else if mine && PROFILE.contains(&attribute) {
        Category::Profile
    } else {
        Category::Semantic
    }
}

/// "timezone: CET", "new address: 2 High Street": an attribute of the user by its name alone, in small letters and a message of one line.
fn titled(s: &Sentence<'_>) -> Option<Reading> {
    let colon = (0..s.words.len().min(4)).find(|at| s.text[s.words[*at].end..].starts_with(": "))?;
    let named = straight(&s.between(0, colon + 1)?);
    let attribute = present(&named).to_owned();
    let is_config = among(&["name", "title", "role", "language"], &attribute); // keys of any file
    let alone = !s.text.trim_end().contains('\n')
        && !is_talk(s.word(colon + 1))
        && !s.words[0].capital
        && !is_config
        && PROFILE.contains(&attribute.as_str());
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let value = s.between(colon + 1, last).filter(|value| alone && last - colon <= 8 && identifies(&attribute, value))?;
    let text = format!("The user's {attribute} is {value}.");
    Some(Reading::new(Category::Profile, "attribute").text(text).slot(spelled(&attribute)))
}

/// "Allergies: peanuts, shellfish", "our kids: Mia (7), Oscar (4)": several of the user's by their name alone, in a message of one line.
pub(super) fn listed(s: &Sentence<'_>) -> Option<Reading> {
    let colon = usize::from(["my", "our"].contains(&s.word(0)));
    let named = s.word(colon);
    let known = among(&LISTED, named) || colon > 0 && among(&OWN_LISTS, named);
    if !known || !s.text[s.words[colon].end..].starts_with(": ") || s.text.trim_end().contains('\n') {
        return None;
    }
    let last = s.words.iter().rposition(|word| !word.is_mark())? + 1;
    let values = s.words.get(colon + 1..)?;
    let says = |word: &Word| among(&NO_LIST, &word.lower) || word.lower == "?";
    if !(1..=MOST_LISTED).contains(&(last - colon - 1)) || values.iter().any(says) {
        return None;
    }
    // Things stand apart: no run between two signs is a sentence.
    let parts = (colon + 2..last).filter(|at| s.parted(*at) || s.word(*at) == "and" || s.words[*at].is_number()).count() + 1;
    let is_health = named.starts_with("allerg") || named.starts_with("intoleran");
    let none = ["none", "no", "n/a", "nothing"].contains(&s.word(colon + 1));
    let category = if is_health { Category::Constraint } else { Category::Semantic };
    let rule = if is_health { "allergy" } else { "a list" };
    // "Our team: tired, overworked" names nothing.
    let names = |word: &Word| word.capital || word.lower.bytes().any(|byte| byte.is_ascii_digit());
    let is_named = is_health || named.starts_with("med") || values.iter().any(names);
    let is_list = is_named && !none && last - colon - 1 <= parts * MOST_OF_ONE && (parts > 1 || is_health);
    is_list.then(|| Reading { importance: if is_health { 800 } else { 600 }, ..Reading::new(category, rule) })
}

/// Words of a list at most, and of one of its things.
const MOST_LISTED: usize = 30;
const MOST_OF_ONE: usize = 3;

/// Whether a word behind a colon begins a sentence, and no value: "team: we need to talk".
fn is_talk(word: &str) -> bool {
    ["i", "i'm", "we", "we're", "you", "let's", "please", "what", "how", "why", "when", "where", "who"].contains(&word)
}

/// The name of an attribute behind "my" or "our", its verb, and where its value begins: "my birthday's on May 3" has both in one word.
fn named(s: &Sentence<'_>) -> Option<(String, usize, usize)> {
    let most = s.words.len().min(7);
    if let Some(verb) = (2..most).find(|at| ["is", "are", "was"].contains(&s.word(*at))) {
        // "My husband Paulo thinks the pictures are too dark" says nothing of him.
        let begins =
            |at: usize| ["the", "that", "this"].contains(&s.word(at)) && !among(&PREPOSITIONS, s.word(at - 1)) && s.word(at - 1) != "of";
        if (2..verb).any(begins) {
            return None;
        }
        return Some((straight(&s.between(1, verb)?), verb, verb + 1));
    }
    let is_when = |at: usize| ["on", "at", "in"].contains(&s.word(at)) || s.words[at].is_number();
    let last = (1..most.saturating_sub(1)).find(|at| s.word(*at).ends_with("'s")).filter(|at| is_when(at + 1))?;
    Some((straight(&s.between(1, last + 1)?).strip_suffix("'s")?.to_owned(), last, last + 1))
}
