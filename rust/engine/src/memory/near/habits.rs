//! Whether a habit of now takes the place of an older one: "I drive a Tesla now" that of "I drive a Golf", "we deploy on Tuesdays now" that of
//! "we deploy on Fridays". A habit without "now" or "again" takes none: who drives a Tesla may drive a Golf as well.

use super::links::joined;
use super::words::{Token, forms, is_denial};
use crate::units::calendar::WEEKDAYS;

/// Verbs of what is mostly done in one way at a time.
const ONE_WAY: [&str; 8] = ["drive", "commute", "deploy", "ship", "release", "bank", "park", "shop"];
/// Words that say of which kind the way is.
const HOW: [&str; 9] = ["on", "by", "with", "at", "in", "from", "to", "every", "via"];
/// Last words of where one works.
const AT_WORK: [&str; 5] = ["home", "office", "remote", "remotely", "hq"];
/// Last words of what one is on, one at a time.
const PLANS: [&str; 4] = ["plan", "tier", "subscription", "shift"];
/// Plans of what somebody does and eats, which are none of what they pay for.
const OF_LIFE: [&str; 14] = [
    "keto",
    "paleo",
    "vegan",
    "diet",
    "meal",
    "training",
    "workout",
    "fitness",
    "study",
    "payment",
    "pension",
    "treatment",
    "health",
    "dental",
];
/// Stems of verbs with what leads to their value, of which somebody or something has one at a time.
const ONE_AT_A_TIME: [(&str, &str); 7] =
    [("work", "at"), ("work", "for"), ("live", "in"), ("run", "on"), ("listen", "on"), ("deploy", "to"), ("point", "to")];
/// Words of such a way at most.
const MOST_WORDS: usize = 3;

/// Whether a text says that it is so from now on, or again.
pub(super) fn is_of_now(text: &str) -> bool {
    let is_now = |word: &str| ["now", "again", "nowadays"].contains(&word.trim_matches(['.', '!', ',']).to_lowercase().as_str());
    let words: Vec<&str> = text.split_whitespace().collect();
    // "I'm also reading Ulysses now" leaves what was so.
    let is_beside = |word: &&str| ["also", "too", "well"].contains(&word.trim_matches(['.', '!', ',']));
    !words.iter().any(is_beside) && words.iter().take(2).chain(words.last()).any(|word| is_now(word))
}

/// Whether a habit of now is another one than an older one of the same kind.
pub(super) fn takes_over(new: &[Token], old: &[Token]) -> bool {
    if [new, old].iter().any(|tokens| tokens.iter().any(is_denial)) {
        return false;
    }
    let (new, old) = (without_again(new), without_again(old));
    is_other_way(new, old) || is_other_plan(new, old) || is_other_work(new, old) || is_other_place(new, old) || is_other_value(new, old)
}

/// The keys of the kinds of habits that it may tell of.
pub(super) fn links(tokens: &[Token]) -> Vec<String> {
    let tokens = without_again(tokens);
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return Vec::new() };
    let word = |at: usize| tokens.get(at).map_or("", |token| token.form.as_str());
    let who = first.form.split('\'').next().unwrap_or_default();
    let mut out = Vec::new();
    if ONE_WAY.contains(&word(1)) || word(1) == "work" {
        out.push(format!("way {} {}", word(0), word(1)));
    }
    if PLANS.contains(&last.form.as_str()) {
        out.push(format!("plan {who} {}", last.form));
    }
    if word(1) == "is" && ["reading", "watching"].contains(&word(2)) {
        out.push(format!("work {} {}", word(0), word(2)));
    }
    let is_verb = |at: &usize| ONE_AT_A_TIME.contains(&(word(*at), word(at + 1)));
    out.extend((1..=MOST_WORDS).find(is_verb).map(|verb| format!("at {}", joined(forms(&tokens[..verb + 2])).to_lowercase())));
    out
}

fn without_again(tokens: &[Token]) -> &[Token] {
    tokens.strip_suffix(&[Token { form: "again".to_owned(), value: false }]).unwrap_or(tokens)
}

/// "I commute by train" and "I commute by bike".
fn is_other_way(new: &[Token], old: &[Token]) -> bool {
    let ([who, verb, way @ ..], [other, same, old_way @ ..]) = (new, old) else { return false };
    let own = who == other && ["i", "we"].contains(&who.form.as_str());
    let short = |way: &[Token]| (1..=MOST_WORDS).contains(&way.len());
    // A day as a number tells of once.
    let once = old_way.iter().any(|token| token.form.starts_with(|first: char| first.is_ascii_digit()));
    if !own || verb.form != same.form || !ONE_WAY.contains(&verb.form.as_str()) || !short(way) || !short(old_way) || once {
        return false;
    }
    let how = |way: &[Token]| HOW.into_iter().find(|how| way[0].form == *how);
    let named = |way: &[Token]| way.last().is_some_and(|token| token.value);
    // "I drive Max to Ghent", "I drive trucks for DHL"
    let parts = |way: &[Token]| way.iter().any(|token| HOW.contains(&token.form.as_str()) || token.form == "for");
    let days = |way: &[Token]| way[1..].iter().all(|token| WEEKDAYS.contains(&token.form.to_lowercase().trim_end_matches('s')));
    // "I drive to Bonn" and "I drive kids", "we deploy on AWS" and "on Tuesdays" name what may both be so.
    let is_of_one_sort = match how(way) {
        None => verb.form == "drive" && named(way) && named(old_way) && !parts(way) && !parts(old_way),
        Some("by") => true,
        Some("on" | "every") => days(way) && days(old_way),
        Some(_) => false,
    };
    let forms = |way: &[Token]| way.iter().map(|token| token.form.to_lowercase()).collect::<Vec<_>>();
    is_of_one_sort && how(way) == how(old_way) && forms(way) != forms(old_way)
}

/// "I'm on the Pro plan" and "I'm on the free plan".
fn is_other_plan(new: &[Token], old: &[Token]) -> bool {
    let (Some(last), Some(same)) = (new.last(), old.last()) else { return false };
    let on =
        |tokens: &[Token]| tokens.iter().position(|token| token.form == "on").filter(|on| *on <= 2 && tokens.len() <= on + 1 + MOST_WORDS);
    let (Some(new_on), Some(old_on)) = (on(new), on(old)) else { return false };
    let who = |token: &Token| token.form.split('\'').next().unwrap_or_default().to_owned();
    // "The Netflix premium plan" is one of several.
    let one_word = new.len() == new_on + 3 && old.len() == old_on + 3;
    let is_paid = |token: &Token| !OF_LIFE.contains(&token.form.to_lowercase().as_str());
    one_word
        && is_paid(&new[new_on + 1])
        && is_paid(&old[old_on + 1])
        && last.form == same.form
        && PLANS.contains(&last.form.as_str())
        && ["i", "we"].contains(&who(&new[0]).as_str())
        && who(&new[0]) == who(&old[0])
        && new[new_on..] != old[old_on..]
}

/// "I'm reading Ulysses" and "I'm reading Emma". "I'm reading Emma to the kids" says more of it.
fn is_other_work(new: &[Token], old: &[Token]) -> bool {
    let ([who, is, verb, work @ ..], [other, also, same, old_work @ ..]) = (new, old) else { return false };
    let both_own = who == other && ["i", "we"].contains(&who.form.as_str()) && is.form == "is" && also.form == "is";
    let one_verb = verb.form == same.form && ["reading", "watching"].contains(&verb.form.as_str());
    let names = |work: &[Token]| {
        let ends = work.first().zip(work.last()).is_some_and(|(first, last)| first.value && last.value);
        ends && work.len() <= MOST_WORDS + 2
            && work.iter().all(|token| token.value || ["of", "in", "and", "for"].contains(&token.form.as_str()))
    };
    both_own && one_verb && names(work) && names(old_work) && work != old_work
}

/// "Anna works at Globex" and "Anna works at Acme", "CI runs on Jenkins" and "CI runs on GitHub Actions".
fn is_other_value(new: &[Token], old: &[Token]) -> bool {
    let same = new.iter().zip(old).take_while(|(new, old)| new.form.eq_ignore_ascii_case(&old.form)).count();
    let is_verb =
        |at: usize| ONE_AT_A_TIME.iter().any(|(verb, how)| new[at].form == *verb && new.get(at + 1).is_some_and(|next| next.form == *how));
    let verb = (1..same.min(MOST_WORDS + 1)).find(|at| is_verb(*at)).filter(|verb| same == verb + 2);
    let short = |tail: &[Token]| (1..=MOST_WORDS).contains(&tail.len()) && tail[0].value;
    // "On port 80" and "on Kubernetes", "on vega-05" and "on Java" are of two kinds.
    let kind = |tail: &[Token]| {
        let has = |is: fn(char) -> bool| tail.iter().any(|token| token.form.contains(is));
        (has(|sign| sign.is_ascii_digit()), has(|sign| matches!(sign, '-' | '_' | '.' | '/')))
    };
    verb.is_some_and(|_| short(&new[same..]) && short(&old[same..]) && kind(&new[same..]) == kind(&old[same..]))
}

/// "I work from home" and "I work in the Ghent office".
fn is_other_place(new: &[Token], old: &[Token]) -> bool {
    let at_work = |tokens: &[Token]| {
        let works = ["i", "we"].contains(&tokens.first()?.form.as_str()) && tokens.get(1)?.form == "work";
        let how = ["from", "in", "at", "remote", "remotely"].contains(&tokens.get(2)?.form.as_str());
        let place = AT_WORK.contains(&tokens.last()?.form.as_str()) && tokens.len() <= 3 + MOST_WORDS;
        (works && how && place).then(|| (tokens[0].form.clone(), tokens[2..].to_vec()))
    };
    at_work(new).zip(at_work(old)).is_some_and(|((who, place), (other, old_place))| who == other && place != old_place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::near::words::tokens;

    fn follows(new: &str, old: &str) -> bool {
        is_of_now(new) && takes_over(&tokens(new), &tokens(old))
    }

    #[test]
    fn a_habit_of_now_takes_the_place_of_another_one_of_its_kind() {
        for (new, old) in [
            ("I drive a Tesla now.", "I drive a Golf."),
            ("I now drive a Tesla.", "I drive an old Golf"),
            ("Now I drive a Tesla.", "I drive a Golf."),
            ("I drive a Golf again.", "I drive a Tesla now."),
            ("We deploy on Tuesdays now.", "We deploy on Fridays."),
            ("I commute by train now.", "I commute by bike."),
            ("I work from home now.", "I work in the Ghent office."),
            ("I work remotely now.", "I work from the office."),
            ("I'm on the Pro plan now.", "I'm on the free plan."),
            ("We're on the Pro plan now.", "We are on the free plan."),
            ("I'm on the night shift now.", "I'm on the day shift"),
            ("Anna works at Globex now.", "Anna works at Acme."),
            ("CI runs on GitHub Actions now.", "CI runs on Jenkins"),
            ("I'm reading Ulysses now", "I'm reading Emma"),
            ("I'm now reading Lord of the Flies.", "I am reading The Dispossessed."),
        ] {
            assert!(follows(new, old), "{new} | {old}");
        }
        for (new, old) in [
            ("I drive a Tesla.", "I drive a Golf."),
            ("Anna works at Globex.", "Anna works at Acme."),
            ("Anna works at Globex now.", "Bob works at Acme."),
            ("The API runs on Kubernetes now.", "The API runs on port 80"),
            ("Anna works at night now.", "Anna works at Acme."),
            ("payments-api runs on Java now.", "payments-api runs on vega-05."),
            ("payments-api listens on TLS now.", "payments-api listens on 8443."),
            ("I drive a Tesla now.", "I drive to Rome."),
            ("I drive a Tesla now.", "I drive my kids to school."),
            ("I drive to Bonn now.", "I drive to Rome"),
            ("I drive a Tesla now.", "I don't drive a Golf."),
            ("I drive a Tesla now.", "We drive a Golf."),
            ("I drive a Tesla now.", "I drove a Golf."),
            ("We deploy on Tuesdays now.", "We deploy with Jenkins."),
            ("We deploy on Tuesdays now.", "We deploy on AWS"),
            ("We deploy with two reviewers now.", "We deploy with Terraform"),
            ("We release on Mondays now.", "We release on PyPI"),
            ("I'm on the Spotify family plan now.", "I'm on the Netflix premium plan"),
            ("I work from home now.", "I work in a lab"),
            ("We deploy prod on Tuesdays now.", "We deploy staging on Fridays"),
            ("We deploy Android every Tuesday now.", "We deploy iOS every Monday"),
            ("I drive Lea to Porto now.", "I drive Max to Ghent"),
            ("I drive a Golf now.", "I drive trucks for DHL"),
            ("We deploy on Tuesdays now.", "We deploy on Friday (2026-05-08)"),
            ("I play the cello now.", "I play the piano."),
            ("I work from home now.", "I work in IT."),
            ("I work from home now.", "I work at Acme."),
            ("I speak French now.", "I speak German."),
            ("I'm on the payments team now.", "I'm on the night shift."),
            ("I'm on the Pro plan now.", "I'm on the Pro plan."),
            ("I'm reading Ulysses", "I'm reading Emma"),
            ("I'm also reading Ulysses now", "I'm reading Emma"),
            ("I'm reading Ulysses now", "I'm reading Emma to the kids"),
            ("I'm reading Ulysses now", "I'm reading about Joyce"),
            ("I'm reading Ulysses now", "I'm watching Emma"),
            ("I'm learning Italian now", "I'm learning Spanish"),
        ] {
            assert!(!follows(new, old), "{new} | {old}");
        }
    }
}
