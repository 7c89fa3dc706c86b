//! How two statements stand to each other: the same, one against the other, in doubt, or about different things.
//!
//! They are compared as runs of words without what adds nothing ([`words`]). The same is only what is equal then: two texts that differ in
//! an identifier, a number, a negation or a date are never the same. A negation more, or another value at one place of the same sentence,
//! is a contradiction where the place holds one value at a time. [`ends`] says which of what is known a statement ends.

mod attribute;
mod ends;
mod habits;
mod links;
mod moved;
mod tastes;
mod words;

use self::attribute::attribute;
pub(crate) use self::attribute::{holds_beside, is_of_another_thing};
pub use self::ends::Named;
pub use self::moved::Moved;
use self::words::{Token, affirmed, forms, is_denial, tokens};
use super::kind::Kind;
use super::occasion::Occasion;
use crate::gate::{self, Limits, Tool};
use crate::text::slot_key;
use crate::units::calendar::is_named;

/// How a new statement stands to an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They say the same.
    Same,
    /// The new one takes the old one's place.
    Contradicts,
    /// They may not both hold.
    Disputes,
    /// They have nothing to do with each other.
    Different,
}

/// Verbs that give one value at a time.
const ONE_VALUE: [&str; 14] =
    ["is", "are", "listen", "run", "live", "cost", "point", "expire", "start", "end", "belong", "equal", "use", "be"];
/// Verbs of what a server does on a number.
const SERVES: [&str; 4] = ["listen", "run", "serve", "is"];

/// A text, read once to be compared with many.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
pub struct Statement {
    tokens: Vec<Token>,
    /// Whether one of them denies something.
    denies: bool,
    /// Whether it says what the user themselves do or are.
    is_own: bool,
    /// Whether its kind says what holds, and not what happened.
    lasts: bool,
    /// The attribute that it gives a value to in plain words, as a slot is called.
    pub attribute: Option<String>,
    /// That value.
    value: String,
    /// Whether it begins as an order: what it names is one of many things to do.
    is_order: bool,
    /// Whether it says that it is so from now on.
    pub is_of_now: bool,
    /// Whether it begins with a name, of whose bearer it may say many things.
    is_named: bool,
    /// For how long it is so, and what for.
    pub limits: Limits,
    /// The facts of an occasion that it names.
    pub occasion: Occasion,
    /// The one tool that it says the user has.
    pub tool: Option<Tool>,
}

impl Statement {
    pub fn of(text: &str, kind: Kind) -> Self {
        let lasts = !matches!(kind, Kind::Episodic | Kind::TaskOutcome | Kind::Decision);
        let (attribute, value) = if lasts { attribute(text) } else { None }.unzip();
        let attribute = attribute.map(|name| slot_key(&name));
        let is_order = matches!(kind, Kind::Constraint | Kind::Preference) && gate::begins_as_order(text);
        let (value, is_of_now) = (value.unwrap_or_default(), habits::is_of_now(text));
        let tokens = tokens(text);
        let (denies, is_own) = (tokens.iter().any(is_denial), affirmed(&tokens).next() == Some("i"));
        Self {
            tokens,
            denies,
            is_own,
            lasts,
            attribute,
            value,
            is_order,
            is_of_now,
            is_named: gate::begins_with_name(text),
            limits: Limits::of(text),
            occasion: Occasion::of(text),
            tool: if lasts { Tool::of(text) } else { None },
        }
    }

    /// Its first two words, a denial not counted: those that say the same, the contrary or another value begin with them, too.
    pub fn begin(&self) -> String {
        // "I love coffee" and "I hate coffee", "I'm vegan" and "I eat meat" are compared, too.
        if tastes::taste(&self.tokens).is_some() {
            return "i like".to_owned();
        }
        if tastes::is_diet(&self.tokens) {
            return "i eat".to_owned();
        }
        affirmed(&self.tokens).take(2).collect::<Vec<_>>().join(" ")
    }

    /// How this one stands to an older one; both are current.
    pub fn stands_to(&self, old: &Self) -> Relation {
        let (a, b) = (&self.tokens, &old.tokens);
        if a.is_empty() || b.is_empty() {
            return Relation::Different;
        }
        if forms(a).eq(forms(b)) {
            return Relation::Same;
        }
        if self.takes_over(old) || self.denies && !old.denies && corrects_in_place(a, b) {
            return Relation::Contradicts;
        }
        let otherwise = if has_another_number(a, b) { Relation::Disputes } else { Relation::Different };
        if !self.lasts || !old.lasts {
            return otherwise;
        }
        let both_own = self.is_own && old.is_own;
        if both_own && tastes::are_opposed(a, b) {
            return Relation::Contradicts;
        }
        if both_own && !self.denies && !old.denies && is_other_dose(a, b) {
            return Relation::Contradicts;
        }
        let (denial, said) = if self.denies { (a, b) } else { (b, a) };
        if self.denies != old.denies && denies_all(denial, said) {
            return Relation::Contradicts;
        }
        if both_own && tastes::break_a_diet(a, b) {
            return Relation::Disputes;
        }
        if self.denies != old.denies {
            return Relation::Different;
        }
        if self.is_order && old.is_order && !self.denies && counts_otherwise(a, b) {
            return Relation::Contradicts;
        }
        match self.changed_value(old) {
            Relation::Different => otherwise,
            relation => relation,
        }
    }

    /// Whether it denies of "Oscar" or of "my son" what an older one says of "my son Oscar": another one may be called so.
    pub fn denies_by_name(&self, old: &Self) -> bool {
        self.denies
            && !old.denies
            && denies_all(&self.tokens, &old.tokens)
            && !affirmed(&self.tokens).eq(affirmed(&old.tokens).filter(|word| !gate::is_degree(word)))
    }

    /// Whether it is a habit of now that takes the place of an older one.
    pub fn takes_over(&self, old: &Self) -> bool {
        self.is_of_now && self.lasts && habits::takes_over(&self.tokens, &old.tokens)
    }

    /// Whether it says that the user went to a tool, or has it now, of the class of the one that they have by the older one.
    pub fn has_instead(&self, old: &Self) -> bool {
        let both = self.tool.as_ref().zip(old.tool.as_ref());
        both.is_some_and(|(new, old)| new.class == old.class && new.of_us == old.of_us && (new.switched || self.is_of_now))
            && !self.denies
            && !old.denies
    }

    /// How a sentence relates to an older one that is the same but for the value at one place.
    fn changed_value(&self, old: &Self) -> Relation {
        let (a, b) = (&self.tokens, &old.tokens);
        let prefix = a.iter().zip(b).take_while(|(a, b)| a.form == b.form).count();
        let most = a.len().min(b.len()) - prefix;
        let suffix = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a.form == b.form).count();
        let (mine, theirs) = (&a[prefix..a.len() - suffix], &b[prefix..b.len() - suffix]);
        let verb = a[..prefix].iter().position(|token| ONE_VALUE.contains(&token.form.as_str()));
        let subject = verb.is_some_and(|verb| names_subject(&a[..verb]));
        // "You must be brief" asks for one manner, "you must run tests" for one of many acts.
        let acts = self.is_order && verb.is_some_and(|verb| a[verb].form != "be");
        // "Our cost on the free tier is 2 dollars" and "... on the pro tier is 3" differ in more than a value.
        let states = |middle: &[Token]| middle.iter().any(|token| ["is", "are"].contains(&token.form.as_str()));
        let short = |middle: &[Token]| (1..=4).contains(&middle.len()) && !states(middle);
        let several = self.attribute.as_deref().is_some_and(gate::has_several);
        let many = several || prefix > 2 && gate::takes_many(&a[prefix - 2].form, &a[prefix - 1].form);
        if !subject || !short(mine) || !short(theirs) || prefix + suffix < 2 || suffix > 3 || many || acts {
            return Relation::Different;
        }
        let valued = |middle: &[Token]| middle.iter().any(|token| token.value);
        // "Leo's swimming is at 5pm" says nothing otherwise than "... is on Wednesdays", and "INV-2031 is due to Acme" than "... May 3".
        if self.is_named && !(of_one_kind(mine, theirs) && (self.is_of_now || mine.len() == 1 && is_counted(&mine[0]))) {
            return Relation::Different;
        }
        // "9443" beside "8443 in eu-1": one says where.
        let says_where = |middle: &[Token]| middle.iter().skip(1).any(|token| ["in", "at", "on", "for"].contains(&token.form.as_str()));
        if says_where(mine) != says_where(theirs) {
            return Relation::Disputes;
        }
        match (valued(mine), valued(theirs)) {
            (true, true) => Relation::Contradicts,
            _ if ["my", "our"].contains(&a[0].form.as_str()) && self.excludes(old) => Relation::Contradicts,
            _ => Relation::Disputes,
        }
    }

    /// Whether its value and an older one of the same attribute cannot both hold. Of how something is, both mostly do.
    fn excludes(&self, old: &Self) -> bool {
        let same = self.attribute.as_ref().filter(|name| old.attribute.as_ref() == Some(*name));
        same.is_none_or(|name| gate::exclude(name, &self.value, &old.value))
    }

    /// Whether it gives its attribute a value, and does not only say how it is.
    pub fn identifies(&self) -> bool {
        self.attribute.as_ref().is_some_and(|name| gate::identifies(name, &self.value))
    }

    /// Whether its value may take the place of an older one: both say which one something is, or both how it is. "The flight is delayed."
    /// takes nothing from "The flight is TP1234.".
    pub fn may_follow(&self, old: &Self) -> bool {
        let same = self.attribute.as_ref().filter(|name| old.attribute.as_ref() == Some(*name));
        same.is_none_or(|name| gate::may_follow(name, &self.value, &old.value))
    }

    /// Whether a name of it stands in another one, too.
    pub fn shares_name(&self, other: &Self) -> bool {
        let is_there = |token: &Token| forms(&other.tokens).any(|form| form.eq_ignore_ascii_case(&token.form));
        self.tokens.iter().any(|token| token.value && is_there(token))
    }

    /// Whether it gives an attribute a value whose words another one's value has all: "Ana" beside "Ana Lima".
    pub fn is_part_of(&self, other: &Self) -> bool {
        let (mine, theirs) = (tokens(&self.value), tokens(&other.value));
        let has = |form: &str| forms(&theirs).any(|other| other.eq_ignore_ascii_case(form));
        self.attribute.is_some() && self.attribute == other.attribute && !mine.is_empty() && forms(&mine).all(has)
    }
}

/// Whether the words before a verb name what has the value. "I still" and "we no longer" name nobody who has one at a time.
fn names_subject(before: &[Token]) -> bool {
    let mut words = affirmed(before).peekable();
    let is_who = words.peek().is_some_and(|first| ["i", "we", "it", "they"].contains(first));
    !is_who && words.any(|word| !["that", "this"].contains(&word))
}

/// Whether a sentence is another one with a value that it puts in the place of that one's: "The bug is in lexer.py, not parser.py" and "the
/// bug is in parser.py". That one denies nothing.
fn corrects_in_place(new: &[Token], old: &[Token]) -> bool {
    let Some(not) = new.iter().position(is_denial).filter(|not| new[*not].form == "not") else { return false };
    let same = new[..not].iter().zip(old).take_while(|(a, b)| a.form == b.form).count();
    let (wrong, rest) = (&new[not + 1..], &old[same..]);
    let is_it = rest.iter().zip(wrong).filter(|(a, b)| a.form == b.form).count() == wrong.len();
    // "My son does not have asthma" puts nothing in the place of it.
    let gives = new[same.min(not)..not].iter().any(|token| !["do", "is", "are", "have", "can", "will"].contains(&token.form.as_str()));
    same > 1 && same < not && gives && !wrong.is_empty() && is_it
}

/// Whether two say on which number one server is: "payments-api runs on port 9443" and "payments-api listens on port 8443 in eu-1". They may
/// be about two places.
fn has_another_number(new: &[Token], old: &[Token]) -> bool {
    let (Some(new), Some(old)) = (numbered(new), numbered(old)) else { return false };
    new.0 == old.0 && new.1 == old.1 && new.2 != old.2
}

/// The server, the noun and the number of "payments-api runs on port 9443".
fn numbered(tokens: &[Token]) -> Option<(&str, &str, &str)> {
    let (subject, verb) = (tokens.first()?, tokens.get(1)?);
    let [on, noun, number] = tokens.get(2..5)? else { return None };
    let serves = subject.value && SERVES.contains(&verb.form.as_str()) && on.form == "on" && !noun.value;
    let digits = number.form.bytes().all(|byte| byte.is_ascii_digit());
    (serves && digits).then_some((subject.form.as_str(), noun.form.as_str(), number.form.as_str()))
}

/// Whether two orders differ in how much of one thing they ask for: "use 2 spaces from now on" and "use 4 spaces".
fn counts_otherwise(new: &[Token], old: &[Token]) -> bool {
    const BEFORE: [&str; 9] = ["under", "over", "with", "least", "most", "than", "within", "about", "to"]; // not "run step 2 first"
    let (new, old) = (without_lasting(new), without_lasting(old));
    let same = new.iter().zip(old).take_while(|(a, b)| a.form == b.form).count();
    let counted = |tokens: &[Token]| tokens.get(same).is_some_and(is_counted);
    let (Some(behind), Some(other)) = (new.get(same + 1..), old.get(same + 1..)) else { return false };
    let is_unit = |token: &Token| !token.value && token.form.len() > 2;
    let is_amount = same == 1 || same > 1 && BEFORE.contains(&new[same - 1].form.as_str());
    is_amount && counted(new) && counted(old) && forms(behind).eq(forms(other)) && behind.first().is_some_and(is_unit)
}

/// An order without "from now on" at its end.
fn without_lasting(tokens: &[Token]) -> &[Token] {
    let ends = |words: [&str; 2]| matches!(tokens, [.., one, other] if one.form == words[0] && other.form == words[1]);
    if ends(["from", "on"]) || ends(["going", "forward"]) { &tokens[..tokens.len() - 2] } else { tokens }
}

/// Whether a word begins with a digit.
fn is_counted(token: &Token) -> bool {
    token.form.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether two values are of one kind: both behind one preposition or behind none, and both numbers, days or names.
fn of_one_kind(one: &[Token], other: &[Token]) -> bool {
    const PREPOSITIONS: [&str; 9] = ["in", "at", "on", "with", "to", "by", "from", "for", "of"];
    let preposition = |value: &[Token]| PREPOSITIONS.into_iter().find(|word| value[0].form == *word);
    let kind = |value: &[Token]| {
        let last = value.last().map(|token| token.form.to_lowercase()).unwrap_or_default();
        let day = value.iter().any(|token| is_named(token.form.to_lowercase().trim_end_matches('s')));
        (day, !day && value.iter().any(is_counted), last.contains(':') || last.ends_with("am") || last.ends_with("pm"))
    };
    preposition(one) == preposition(other) && kind(one) == kind(other)
}

/// Whether two say how much somebody takes of one medicine: "I take metformin 1000 mg" and "I take metformin 500 mg".
fn is_other_dose(new: &[Token], old: &[Token]) -> bool {
    let is_dose = |(new, old): (&Token, &Token)| new.form == old.form || is_counted(new) && is_counted(old);
    new.len() == old.len() && new.len() > 3 && new[1].form == "take" && new.iter().zip(old).all(is_dose)
}

/// Whether a sentence denies all that another one says. "Not allergic" denies "severely allergic", and "not severely allergic" denies no
/// allergy.
fn denies_all(denial: &[Token], said: &[Token]) -> bool {
    if affirmed(denial).any(gate::is_degree) {
        return false;
    }
    let said: Vec<&str> = affirmed(said).filter(|word| !gate::is_degree(word)).collect();
    let is_over = denial.iter().any(|token| token.form == "longer");
    affirmed(denial).eq(said.iter().copied())
        || is_over && called_otherwise(&said).into_iter().flatten().any(|said| affirmed(denial).eq(said))
}

/// A sentence about "my son Oscar" as one about "Oscar", and as one about "my son". "Oscar is no longer allergic to nuts" is about him, where
/// "Oscar is not allergic" may be about somebody else of that name.
fn called_otherwise<'w>(words: &[&'w str]) -> Option<[Vec<&'w str>; 2]> {
    const VERBS: [&str; 6] = ["is", "are", "have", "can", "eat", "take"];
    let [owner, who, name, verb, ..] = *words else { return None };
    let is_called = ["my", "our"].contains(&owner) && ![who, name].iter().any(|word| VERBS.contains(word)) && VERBS.contains(&verb);
    is_called.then(|| [words[2..].to_vec(), [&[owner, who], &words[3..]].concat()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(new: &str, old: &str) -> Relation {
        stands(new, old, Kind::Semantic)
    }

    fn stands(new: &str, old: &str, kind: Kind) -> Relation {
        Statement::of(new, kind).stands_to(&Statement::of(old, kind))
    }

    fn speaks_of(text: &str, named: &str) -> bool {
        Statement::of(text, Kind::Semantic).speaks_of(&Named::of(named))
    }

    #[test]
    fn an_order_that_asks_for_another_number_of_the_same_takes_the_place() {
        let of = |new, old| stands(new, old, Kind::Constraint);
        assert_eq!(of("Use 2 spaces from now on", "Use 4 spaces from now on."), Relation::Contradicts);
        assert_eq!(of("Use 2 spaces.", "Always use 4 spaces from now on."), Relation::Contradicts);
        assert_eq!(of("Keep lines under 120 characters.", "Keep lines under 100 characters."), Relation::Contradicts);
        for (new, old) in [
            ("Use 2 spaces in YAML.", "Use 4 spaces."),
            ("Run step 2 first.", "Run step 1 first."),
            ("Always use port 81.", "Always use port 80."),
            ("Never use 3 nested loops.", "Never use 2 nested loops."),
            ("Add 2 reviewers.", "Add 3 tests."),
        ] {
            assert_ne!(of(new, old), Relation::Contradicts, "{new}");
        }
    }

    #[test]
    fn a_tool_takes_the_place_of_one_of_its_class() {
        let instead = |new: &str, old: &str| {
            let of = |text| Statement::of(text, Kind::Semantic);
            of(new).has_instead(&of(old))
        };
        assert!(instead("I switched to Emacs.", "I use Vim as my editor.") && instead("We're on Fly.io now.", "We host on Heroku."));
        assert!(!instead("I switched to Emacs.", "We use Vim.") && !instead("I use Emacs.", "I use Vim."));
        assert!(!instead("I switched to Firefox.", "I use Vim.") && !instead("I switched to Emacs.", "I don't use Vim."));
    }

    #[test]
    fn what_says_the_same_is_the_same() {
        for (a, b) in [
            ("User prefers dark mode", "The user prefers dark mode."),
            ("I really prefer dark mode", "I prefer dark mode."),
            ("The user prefers dark mode.", "I prefer dark mode"),
            ("payments-api listens on port 8443", "The payments-api listens on port 8443!"),
            ("Ann can't eat nuts", "Ann cannot eat nuts."),
            ("Ann can not eat nuts", "Ann cannot eat nuts."),
            ("Ann doesn't watch films", "Ann does not watch films."),
            ("I don\u{2019}t like tea", "I don't like tea."),
            ("The user has a movie night", "I have movie nights"),
            ("I have a nut allergy", "The user is allergic to nuts."),
            ("Ann has an allergy to nuts", "Ann is allergic to nuts"),
            ("My aunts study law and watch the boxes", "My aunt studies law and watches the box"),
        ] {
            assert_eq!(of(a, b), Relation::Same, "{a} | {b}");
        }
    }

    #[test]
    fn what_differs_in_a_name_a_number_a_denial_or_a_day_is_never_the_same() {
        for (a, b) in [
            ("payments-api listens on port 8443", "payments-api listens on port 9443"),
            ("I like tea", "I do not like tea"),
            ("I don't like tea", "I like tea"),
            ("Ann pays Bob", "Bob pays Ann"),
            ("Release on 2025-01-02", "Release on 2025-01-03"),
            ("getUser is slow", "getuser is slow"),
            ("I moved to Berlin", "I moved from Berlin"),
            ("the US office", "the us office"),
            ("I lived in Oslo", "I live in Oslo"),
            ("Ann worked at Acme", "Ann works at Acme"),
            ("Ann can eat nuts", "Ann can't eat nuts"),
        ] {
            assert_ne!(of(a, b), Relation::Same, "{a} | {b}");
        }
    }

    #[test]
    fn a_changed_value_or_a_denial_contradicts_and_two_facts_do_not() {
        assert_eq!(of("The deploy region is us-east-2", "The deploy region is eu-west-1"), Relation::Contradicts);
        assert_eq!(of("payments-api listens on port 9443", "payments-api listens on port 8443"), Relation::Contradicts);
        assert_eq!(of("I don't like tea", "I like tea"), Relation::Contradicts);
        assert_eq!(of("The sky is vast", "The sky is blue"), Relation::Disputes);
        for (a, b) in [
            ("I like tea", "I like coffee"),
            ("I speak French", "I speak German"),
            ("Ana is tall", "Bob is tall"),
            ("I ran 5 miles", "I ran 7 miles"),
            ("I no longer use Chrome", "I no longer use Vim"),
            ("I no longer use Chrome, I use Firefox instead", "I no longer use Vim, I use Emacs instead"),
            ("We no longer run Windows", "We no longer run Ubuntu"),
            ("I still use Jira", "I still use Trello"),
            ("I'm not just allergic to nuts", "I'm allergic to nuts"),
            ("I'm not always allergic to nuts", "I am allergic to nuts."),
            ("I don't usually work from home", "I work from home"),
            ("They also use Jira", "They also use Trello"),
        ] {
            assert_eq!(of(a, b), Relation::Different, "{a} | {b}");
        }
        for (a, b) in [
            ("My son is allergic to soy", "My son is allergic to milk"),
            ("Our team is good at Go", "Our team is good at Rust"),
            ("Ana is afraid of Dobermans", "Ana is afraid of Pitbulls"),
        ] {
            assert_eq!(of(a, b), Relation::Different, "one has many such things: {a} | {b}");
        }
        assert_eq!(of("My train is slow", "My train is crowded"), Relation::Disputes, "both may be so");
        assert_eq!(of("My dog is healthy", "My dog is sick"), Relation::Contradicts);
        assert_eq!(stands("The race was 5 km", "The race was 7 km", Kind::Episodic), Relation::Different);
    }

    #[test]
    fn a_taste_or_a_habit_that_is_taken_back_contradicts() {
        for (new, old) in [
            ("I hate coffee now.", "I love coffee."),
            ("I love coffee.", "I can't stand coffee."),
            ("I don't like coffee any more.", "I love coffee."),
            ("I'm not a fan of jazz.", "I really enjoy jazz."),
            ("I eat meat again.", "I don't eat meat."),
            ("The user eats meat.", "I never eat meat."),
            ("I play tennis again.", "I don't play tennis."),
            ("I no longer smoke.", "I smoke."),
            ("I take metformin 1000 mg now.", "I take metformin 500 mg."),
        ] {
            assert_eq!(of(new, old), Relation::Contradicts, "{new} | {old}");
            let begin = |text| Statement::of(text, Kind::Semantic).begin();
            assert_eq!(begin(new), begin(old));
        }
        for (new, old) in [
            ("I hate tea now.", "I love coffee."),
            ("I like coffee.", "I love coffee."),
            ("I hate coffee in the morning.", "I love coffee."),
            ("I don't hate coffee.", "I like coffee."),
            ("My wife hates coffee.", "I love coffee."),
        ] {
            assert_ne!(of(new, old), Relation::Contradicts, "{new} | {old}");
        }
    }

    #[test]
    fn what_a_diet_leaves_out_disputes_it() {
        for (new, old) in [
            ("The user drinks wine.", "I don't drink alcohol."),
            ("I eat pork again.", "I never eat meat."),
            ("The user eats meat.", "I'm vegan."),
            ("I'm vegan now.", "The user eats cheese."),
            ("I can eat fish again.", "I'm vegetarian."),
        ] {
            assert_eq!(of(new, old), Relation::Disputes, "{new} | {old}");
        }
        for (new, old) in [
            ("The user drinks coffee.", "I don't drink alcohol."),
            ("The user eats alcohol-free beer.", "I don't drink alcohol."),
            ("The user eats cheese.", "I'm vegetarian."),
            ("My son eats meat.", "I'm vegan."),
            ("The user eats meat.", "I'm not vegan."),
        ] {
            assert_eq!(of(new, old), Relation::Different, "{new} | {old}");
        }
    }

    #[test]
    fn what_is_put_in_the_place_of_a_value_takes_it() {
        let told = "The bug is in lexer.py, not parser.py";
        for old in ["The bug is in parser.py", "The bug is in parser.py line 212"] {
            assert_eq!(of(told, old), Relation::Contradicts, "{old}");
        }
        for old in ["The bug is in parser.rs", "Tom owns parser.py", "The bug is not in parser.py", "The test is in parser.py"] {
            assert_ne!(of(told, old), Relation::Contradicts, "{old}");
        }
        let moved = |old: &str| stands("payments-api runs on port 9443 now", old, Kind::Semantic);
        assert_eq!(moved("payments-api listens on port 8443 in prod-eu-west-1"), Relation::Disputes);
        for old in
            ["orders-api listens on port 8443 in prod-eu-west-1", "payments-api listens on host 8443", "payments-api ran on port 8443"]
        {
            assert_eq!(moved(old), Relation::Different, "{old}");
        }
    }

    #[test]
    fn a_verb_and_its_denial_are_told_however_the_verb_is_inflected() {
        for (said, denials) in [
            (
                "Ann eats nuts",
                &["Ann doesn't eat nuts", "Ann does not eat nuts", "Ann never eats nuts", "Ann doesn\u{2019}t eat nuts any more"][..],
            ),
            ("Ann works at Acme", &["Ann doesn't work at Acme", "Ann no longer works at Acme"]),
            ("Ann uses Vim", &["Ann doesn't use Vim", "Ann does not use Vim anymore"]),
            ("Ann watches films", &["Ann does not watch films", "Ann doesn't watch films"]),
            ("Ann studies law", &["Ann doesn't study law"]),
            ("Ann has a dog", &["Ann doesn't have a dog", "Ann has no dog", "Ann does not have any dog"]),
            ("Ann goes to yoga", &["Ann doesn't go to yoga"]),
            ("Ann can eat nuts", &["Ann can't eat nuts", "Ann cannot eat nuts", "Ann can not eat nuts", "Ann can\u{2019}t eat nuts"]),
            ("Ann will come", &["Ann won't come", "Ann will not come"]),
            ("I like tea", &["I don\u{2019}t like tea", "I do not like tea"]),
            ("I have a severe nut allergy", &["I'm not allergic to nuts", "I have no nut allergy", "I don't have an allergy to nuts"]),
            ("i have asthma", &["i dont have asthma after all", "I'm not asthmatic"]),
            ("I'm diabetic", &["im not diabetic", "I don't have diabetes"]),
            ("i have coeliac disease", &["im not coeliac after all", "The user does not have coeliac"]),
            ("My son Leo has asthma", &["Leo no longer has asthma", "My son no longer has asthma", "My son Leo has no asthma"]),
            ("my son leo is allergic to nuts", &["Leo is no longer allergic to nuts"]),
            ("I'm severely allergic to nuts", &["I'm not allergic to nuts", "I am not allergic to nuts anymore"]),
        ] {
            for denial in denials {
                assert_eq!((of(denial, said), of(said, denial)), (Relation::Contradicts, Relation::Contradicts), "{said} | {denial}");
            }
        }
        for (a, b) in [
            ("I'm not severely allergic to nuts", "I'm allergic to nuts"),
            ("I'm not severely allergic to nuts", "I'm severely allergic to nuts"),
            ("Ann doesn't eat nuts", "Ann eats nuts at home"),
            ("Ann can't swim", "Ann swims"),
            ("Ann doesn't use Vim", "Ann used Vim"),
            ("My son Leo doesn't have asthma", "My son Max has asthma"),
            ("Leo doesn't have asthma", "My son Leo has asthma"),
            ("My son doesn't have asthma", "My son Leo has asthma"),
            ("My son does not have asthma", "My son has asthma and is allergic to nuts"),
            ("My daughter Leo doesn't have asthma", "My son Leo has asthma"),
            ("My daughter doesn't have asthma", "My son Leo has asthma"),
        ] {
            assert_eq!(of(a, b), Relation::Different, "{a} | {b}");
        }
    }

    #[test]
    fn a_name_is_part_of_a_longer_one() {
        let is_part = |text: &str, of: &str| Statement::of(text, Kind::Profile).is_part_of(&Statement::of(of, Kind::Profile));
        for part in ["Ana", "Lima", "ana lima", "Ana Lima"] {
            assert!(is_part(&format!("The user's name is {part}."), "The user's name is Ana Lima."), "{part}");
        }
        assert!(!is_part("The user's name is Ana Lima.", "The user's name is Ana."), "the longer one says more");
        assert!(!is_part("The user's name is Eva Lima.", "The user's name is Ana Lima."));
        assert!(!is_part("I'm Ana, a potter", "The user's name is Ana Lima.") && !is_part("My dog is Ana", "My name is Ana Lima"));
    }

    #[test]
    fn two_orders_stand_beside_each_other() {
        for (a, b) in [("never use eval in Python", "never use goto in C"), ("Never run jobs on CI", "Never run backups on Fridays")] {
            assert_eq!(stands(a, b, Kind::Constraint), Relation::Different, "{a} | {b}");
        }
        let same = stands("You should never run Helm", "You should never run Kustomize", Kind::Constraint);
        assert_eq!(same, Relation::Different, "a denial is not a subject");
        let manners = stands("You must be brief.", "You must be thorough.", Kind::Constraint);
        assert_eq!(manners, Relation::Disputes, "one answers in one manner");
    }

    #[test]
    fn what_a_user_names_is_looked_for_by_words() {
        assert!(speaks_of("I prefer Vim as my editor", "vim") && speaks_of("The user lives in New York.", "New York"));
        assert!(!speaks_of("I prefer Neovim", "Vim"));
    }
}
