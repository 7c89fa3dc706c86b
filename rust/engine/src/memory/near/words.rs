//! The words by which statements are compared: without what adds nothing (articles, "really", a plural's or a verb's s), "the user" and
//! "I" as one, a denial as a word of its own, and an allergy always told in one way.

use crate::gate;

/// Words that change nothing.
const LIGHT: [&str; 26] = [
    "a",
    "an",
    "the",
    "really",
    "very",
    "just",
    "also",
    "actually",
    "please",
    "now",
    "currently",
    "quite",
    "so",
    "well",
    "oh",
    "hey",
    "hi",
    "yes",
    "btw",
    "today",
    "still",
    "definitely",
    "basically",
    "always",
    "usually",
    "much",
];
/// Words that limit what is denied: who is "not just allergic to nuts" is allergic to nuts.
const LIMITS: [&str; 3] = ["just", "always", "usually"];
/// Words that deny.
const DENIALS: [&str; 6] = ["not", "never", "no", "without", "nor", "neither"];
/// Verbs that are cut short before "n't", and their whole forms.
const CUT: [(&str, &str); 4] = [("ca", "can"), ("wo", "will"), ("sha", "shall"), ("ai", "is")];

/// How somebody is who has an illness, and the illness.
const ILL: [(&str, &str); 9] = [
    ("asthmatic", "asthma"),
    ("diabetic", "diabetes"),
    ("epileptic", "epilepsy"),
    ("anaemic", "anaemia"),
    ("anemic", "anemia"),
    ("dyslexic", "dyslexia"),
    ("autistic", "autism"),
    ("coeliac", "coeliac"),
    ("celiac", "celiac"),
];

/// Words of an attribute's name at most, and before what a sentence says of its subject.
pub(super) const MOST_NAME: usize = 4;

/// A word with what matters of it: its form without an ending, and whether it carries a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub form: String,
    pub value: bool,
}

/// The words of a text, as they are compared.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    for chunk in text.split_whitespace() {
        let word =
            chunk.trim_matches(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '+' | '#' | '/' | '-' | '_' | '$' | '%'));
        if word.is_empty() {
            continue;
        }
        let word = &*word.replace('\u{2019}', "'");
        let lower = word.to_lowercase();
        let lower = gate::contraction(&lower).map_or(lower, str::to_owned);
        let plain = word.chars().all(|letter| letter.is_alphabetic() || letter == '\'')
            && word.chars().skip(1).all(|letter| !letter.is_uppercase());
        if !plain {
            out.push(Token { form: word.to_owned(), value: true });
        } else if let Some(verb) = denied_verb(&lower) {
            out.push(Token { form: stem(verb), value: false });
            out.push(Token { form: "not".to_owned(), value: false });
        } else if let Some(subject) = lower.strip_suffix("'m") {
            out.push(Token { form: person(subject), value: false });
            out.push(Token { form: "is".to_owned(), value: false });
        } else if !LIGHT.contains(&lower.as_str()) || LIMITS.contains(&&*lower) && out.last().is_some_and(is_denial) {
            let capital = word.chars().next().is_some_and(char::is_uppercase) && !out.is_empty();
            out.push(Token { form: person(&lower), value: capital });
        }
    }
    without_present(&mut out);
    as_allergic(&mut out);
    as_ill(&mut out);
    if out.ends_with(&[Token { form: "after".to_owned(), value: false }, Token { form: "all".to_owned(), value: false }]) {
        out.truncate(out.len() - 2);
    }
    out
}

/// Says of who is ill that they have the illness: "I'm asthmatic" is "I have asthma" then, and "I have coeliac disease" is "I have coeliac".
fn as_ill(tokens: &mut Vec<Token>) {
    let Some(verb) = tokens.iter().position(|token| ["is", "have"].contains(&token.form.as_str())) else { return };
    let is_how = |token: &&Token| gate::is_degree(&token.form) || is_denial(token) || token.form == "longer";
    let named = verb + 1 + tokens[verb + 1..].iter().take_while(is_how).count();
    let Some((_, illness)) = ILL.iter().find(|(how, _)| tokens.get(named).is_some_and(|token| token.form == *how)) else { return };
    "have".clone_into(&mut tokens[verb].form);
    tokens[named].form = stem(illness);
    if tokens.get(named + 1).is_some_and(|token| token.form == "disease") {
        tokens.remove(named + 1);
    }
}

/// Says of who has an allergy that they are allergic: "I have a severe nut allergy" is "I am severe allergic to nut" then.
fn as_allergic(tokens: &mut Vec<Token>) {
    let Some(have) = tokens.iter().position(|token| token.form == "have") else { return };
    let added = |form: &str| Token { form: form.to_owned(), value: false };
    let is_how = |token: &&Token| gate::is_degree(&token.form) || is_denial(token);
    let how = tokens[have + 1..].iter().take_while(is_how).count();
    let (named, allergy) = (have + 1 + how, |token: &Token| token.form == "allergy");
    let Some(first) = tokens.get(named) else { return };
    if allergy(first) && tokens.get(named + 1).is_some_and(|next| next.form == "to") {
        tokens[named] = added("allergic");
    } else if !allergy(first) && tokens.last().is_some_and(allergy) && tokens.len() <= named + MOST_NAME + 1 {
        tokens.pop();
        tokens.splice(named..named, [added("allergic"), added("to")]);
    } else {
        return;
    }
    tokens[have] = added("is");
}

/// The verb that a word denies: "can" of "can't" and of "cannot".
fn denied_verb(word: &str) -> Option<&str> {
    let verb = word.strip_suffix("n't").or_else(|| word.strip_suffix("not").filter(|verb| *verb == "can"))?;
    Some(CUT.iter().find(|(cut, _)| *cut == verb).map_or(verb, |(_, whole)| whole))
}

/// Takes out the word by which a sentence calls what it is about the one of now: "The new deadline is May 10" is about the deadline.
fn without_present(tokens: &mut Vec<Token>) {
    let at = tokens.iter().take_while(|token| ["my", "our"].contains(&token.form.as_str())).count();
    let Some([named, behind @ ..]) = tokens.get(at..) else { return };
    let Some(next) = behind.first().filter(|_| !named.value) else { return };
    let is_about = behind.iter().take(MOST_NAME + 1).skip(1).any(|token| ["is", "are"].contains(&token.form.as_str()));
    if is_about && gate::is_present(&named.form, &next.form) {
        tokens.remove(at);
    }
}

/// "the user", "I" and "me" are one, as are "my" and "the user's".
fn person(word: &str) -> String {
    match word {
        "user" | "i" | "me" => "i".to_owned(),
        "user's" | "my" => "my".to_owned(),
        "am" => "is".to_owned(),
        _ => stem(gate::spelling(word)),
    }
}

/// A word without the ending of a plural or of a verb behind "she". The past stays: who lived somewhere does not say that they live there.
/// "Study" and "studies" are one then, as are "watch" and "watches", "movie" and "movies".
fn stem(word: &str) -> String {
    let singular = match word {
        "has" => return "have".to_owned(),
        "does" => return "do".to_owned(),
        _ => match word.strip_suffix('s') {
            Some(rest) if rest.len() > 2 && !rest.ends_with(['s', 'u', 'i']) => rest,
            _ => word,
        },
    };
    if let Some(root) = singular.strip_suffix("ie").filter(|root| root.len() > 2) {
        return format!("{root}y");
    }
    let hisses = |root: &&str| root.len() > 1 && ["ch", "sh", "ss", "x", "zz", "o"].iter().any(|end| root.ends_with(end));
    singular.strip_suffix('e').filter(hisses).unwrap_or(singular).to_owned()
}

pub(super) fn is_denial(token: &Token) -> bool {
    DENIALS.contains(&token.form.as_str())
}

pub(super) fn forms(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().map(|token| token.form.as_str())
}

/// The words of a sentence, without those that say whether it is denied.
pub(super) fn affirmed(tokens: &[Token]) -> impl Iterator<Item = &str> {
    let adds = |token: &&Token| !is_denial(token) && !matches!(token.form.as_str(), "do" | "any" | "more" | "anymore" | "longer" | "again");
    tokens.iter().filter(adds).map(|token| token.form.as_str())
}

/// Tokens in small letters.
pub(super) fn lowered(tokens: &[Token]) -> Vec<String> {
    forms(tokens).map(str::to_lowercase).collect()
}
