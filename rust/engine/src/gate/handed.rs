//! Texts that somebody hands over to be worked on, as they are pasted: below a request that ends its line ("summarise this for me:", an
//! empty line, several paragraphs), above one that is the last line of the message ("tl;dr"), and letters, from the salutation to the name
//! below "Kind regards". `tasks` reads the requests, and `others` has texts that stand in the paragraph of what announces them.

use super::lexicon::{FIRST, SECOND};
use super::lists::lists;
use super::others::{self, Part};
use super::quoted::is_from;
use super::tasks::{self, Task};
use super::words::{Span, Word, among, has, starts, within};
use super::{Utterance, guards};

lists! { "handed":
    /// Words with which a letter begins.
    SALUTATIONS,
    /// Words for those whom a letter is to, which have no capital.
    ADDRESSED,
    /// Names of models: what begins "Hi Claude" is said to it.
    MODELS,
    /// Words with which a letter ends, before the name.
    SIGN_OFFS,
    /// First words of the lines above a mail.
    HEADERS,
    /// Phrases of a paragraph in which somebody speaks for themselves again.
    RETURNS,
    /// First words of a sentence in which they do, in the middle of a paragraph.
    ASIDES,
    /// First words of a request at the end of a message.
    REQUESTS,
    /// First words of a paragraph that says why somebody asks, before "I" or "my".
    CONTEXTS,
    /// Phrases of somebody who wrote the letter that they show.
    WRITTEN,
    /// Phrases of somebody who got a letter.
    GOT,
}

/// Words of a sentence beside a request, at most: "Thanks!", "Keep it under 100 words."
const MOST_BESIDE: usize = 8;
/// Words of the name below a letter, at most, and of the one at its beginning.
const MOST_NAME: usize = 5;

/// The parts of a message that were handed over.
pub(super) fn parts(said: &Utterance<'_>, sentences: &[Span], own: &[Word]) -> Vec<Part> {
    if sentences.is_empty() || said.text.contains("```") {
        return Vec::new();
    }
    let message = Message { text: said.text, is_first: said.before.trim().is_empty(), sentences, own };
    let mut out = message.letters();
    out.extend(message.above());
    out.extend(message.below());
    out
}

/// A message, sentence by sentence.
struct Message<'a> {
    text: &'a str,
    /// Whether nobody said anything before it.
    is_first: bool,
    sentences: &'a [Span],
    own: &'a [Word],
}

/// Where a text begins that a request hands over.
struct Opened {
    /// Its first sentence.
    begin: usize,
    /// Whether it may have several paragraphs.
    is_long: bool,
    /// Whether it is certain that it is somebody else's.
    announced: bool,
}

impl Message<'_> {
    fn words(&self, at: usize) -> &[Word] {
        within(self.own, self.sentences[at])
    }

    /// The text before a sentence, up to the one before.
    fn gap(&self, at: usize) -> &str {
        let before = at.checked_sub(1).map_or(0, |before| self.sentences[before].end);
        &self.text[before..self.sentences[at].start]
    }

    fn begins_line(&self, at: usize) -> bool {
        at == 0 || self.gap(at).contains('\n')
    }

    fn begins_paragraph(&self, at: usize) -> bool {
        at == 0 || self.gap(at).matches('\n').count() > 1
    }

    /// The sentence behind the line, or the paragraph, that a sentence stands in.
    fn next(&self, at: usize, begins: fn(&Self, usize) -> bool) -> usize {
        (at + 1..self.sentences.len()).find(|at| begins(self, *at)).unwrap_or(self.sentences.len())
    }

    fn has_first(&self, at: usize) -> bool {
        self.words(at).iter().any(|word| among(&FIRST, &word.lower))
    }

    fn ends(&self, at: usize, sign: char) -> bool {
        let span = self.sentences[at];
        self.text[span.start..span.end].ends_with(sign)
    }

    fn task(&self, at: usize) -> Option<Task> {
        tasks::of(self.text, self.words(at))
    }

    fn part(&self, from: usize, to: usize, announced: bool) -> Part {
        Part { span: Span { start: self.sentences[from].start, end: self.sentences[to - 1].end }, announced }
    }

    /// The texts that stand below a request, or behind it.
    fn below(&self) -> Vec<Part> {
        let (mut out, mut at) = (Vec::new(), 0);
        while at < self.sentences.len() {
            let place = at;
            at += 1;
            let Some(Opened { begin, is_long, announced }) = self.opens(place) else { continue };
            if !self.ends(place, '?') {
                out.push(self.part(place, place + 1, announced));
            }
            if begin == self.sentences.len() || !is_long && self.begins_paragraph(begin) {
                continue;
            }
            let behind = self.behind_own(begin, self.sentences.len());
            let (begin, is_long) = (behind, is_long || behind > begin);
            let (end, unsure) = self.end(begin, is_long);
            // "Translate this", and one sentence: it may be what somebody wants to say of themselves.
            let is_one = end == begin + 1 && !self.ends(begin - 1, ':') && !self.ends(begin - 1, '?');
            out.push(self.part(begin, unsure, announced && !is_one));
            if unsure < end {
                out.push(self.part(unsure, end, false));
            }
            at = end;
        }
        out
    }

    /// Where the text begins that a sentence hands over.
    fn opens(&self, at: usize) -> Option<Opened> {
        let words = self.words(at);
        let colon = (1..words.len()).find(|at| self.text[words[at - 1].end..words[*at].start].starts_with(": "));
        if let Some(colon) = colon {
            let task = tasks::of(self.text, &words[..colon])?;
            let opens = !matches!(task, Task::Summary | Task::Thought);
            let is_long = self.is_salutation(&words[colon..]);
            return opens.then_some(Opened { begin: at + 1, is_long, announced: task != Task::It });
        }
        let over = self.next(at, Self::begins_line);
        let has_colon = self.ends(at, ':');
        let Some(task) = self.task(at) else {
            // "From the newspaper:"
            if !has_colon || over > at + 1 || others::tells_of_oneself(words) {
                return None;
            }
            let own = || words.iter().any(|word| ["my", "our"].contains(&word.lower.as_str()));
            let passed_on = || (0..words.len()).any(|at| others::is_passed_on(words, at));
            let from = || words.first().is_some_and(|from| from.lower == "from") && tasks::named(words).is_some();
            let is_text = is_from(words) || from() || !own() && passed_on();
            return is_text.then_some(Opened { begin: over, is_long: true, announced: true });
        };
        if (at + 1..over).all(|beside| self.is_beside(beside)) && over < self.sentences.len() {
            let opens = match task {
                Task::It | Task::Reply => has_colon || self.is_first,
                Task::Summary => at == 0,
                _ => true,
            };
            return opens.then_some(Opened { begin: over, is_long: true, announced: task != Task::Thought });
        }
        let opens = task == Task::Text || self.is_first && matches!(task, Task::Question | Task::Reply);
        let is_long = at + 1 < self.sentences.len() && self.is_salutation(self.words(at + 1));
        opens.then_some(Opened { begin: at + 1, is_long, announced: is_long })
    }

    /// Whether a sentence beside a request says nothing of its speaker: "how should I answer?", "Thanks!"
    fn is_beside(&self, at: usize) -> bool {
        self.task(at).is_some() || self.ends(at, '?') || self.words(at).len() <= MOST_BESIDE && !self.has_first(at)
    }

    /// Where a text is over, and from where on it may be the user's own.
    fn end(&self, begin: usize, is_long: bool) -> (usize, usize) {
        if let Some(end) = self.letter(begin).filter(|_| is_long) {
            return (end, end);
        }
        let (mut at, mut of_somebody, mut paragraph) = (begin + 1, self.has_first(begin), begin);
        while at < self.sentences.len() && !self.comes_back(at, is_long, of_somebody) {
            of_somebody |= self.has_first(at);
            if self.begins_paragraph(at) {
                paragraph = at;
            }
            at += 1;
        }
        let is_last = at == self.sentences.len() && paragraph > begin;
        (at, if is_last { paragraph } else { at })
    }

    /// Whether the user speaks for themselves again from a sentence on. `of_somebody` says whether the text speaks in the first person.
    fn comes_back(&self, at: usize, is_long: bool, of_somebody: bool) -> bool {
        let (words, parted) = (self.words(at), self.begins_paragraph(at));
        let aside = ASIDES.iter().any(|aside| starts(words, 0, aside).is_some());
        let breaks = !is_long && parted && self.signed(at).is_none();
        let comes_back = || {
            is_long && parted && (self.is_behind_name(at) || self.is_own(at, self.sentences.len()) || !of_somebody && self.opens_own(at))
        };
        aside || (!is_long || self.begins_line(at)) && others::is_aside(self.own, self.sentences[at]) || breaks || comes_back()
    }

    /// Whether a paragraph begins with the user's own words: "I need it for ...", "Also, I ...", "A bit about me: I ..."
    fn opens_own(&self, at: usize) -> bool {
        let words = self.words(at);
        let own = |word: &Word| among(&FIRST, &word.lower);
        let opens = |at: usize| match &self.text[words[at - 1].end..words[at].start] {
            ", " => at == 1,
            ": " => words[..at].iter().any(own),
            _ => false,
        };
        let behind = || (1..words.len().min(MOST_BESIDE)).any(|at| own(&words[at]) && opens(at));
        words.first().is_some_and(own) || self.says_why(at) || behind()
    }

    /// Whether a paragraph says why its user asks: "For context, I ...", "Some background on me: I ..."
    fn says_why(&self, at: usize) -> bool {
        let words = self.words(at);
        let own = |at: usize| words.get(at).is_some_and(|word| among(&FIRST, &word.lower));
        CONTEXTS.iter().filter_map(|opening| starts(words, 0, opening)).any(own)
    }

    /// Where a text begins, behind a paragraph of the user's own that stands above it: at a whole letter, or behind what says why they ask.
    fn behind_own(&self, begin: usize, to: usize) -> usize {
        if begin >= to || !self.opens_own(begin) {
            return begin;
        }
        let letter = (begin + 1..to).find(|at| self.begins_paragraph(*at) && self.letter(*at).is_some());
        let over = self.next(begin, Self::begins_paragraph);
        letter.or_else(|| (over < to && self.says_why(begin)).then_some(over)).unwrap_or(begin)
    }

    /// Whether a paragraph up to a sentence is the user's own: it asks for something, or says how it is to be kept.
    fn is_own(&self, at: usize, end: usize) -> bool {
        let over = self.next(at, Self::begins_paragraph).min(end);
        let words = within(self.own, Span { start: self.sentences[at].start, end: self.sentences[over - 1].end });
        let asks = || REQUESTS.iter().any(|request| starts(words, 0, request).is_some()) || self.ends(over - 1, '?');
        RETURNS.iter().any(|phrase| has(words, phrase))
            || self.says_why(at)
            || self.task(at).is_some()
            || over == self.sentences.len() && asks()
    }

    /// The text that stands above a request that is the last line of a message.
    fn above(&self) -> Option<Part> {
        let count = self.sentences.len();
        let last = (1..count).rev().find(|at| self.begins_line(*at))?;
        let task = (last..count).find_map(|at| self.task(at))?;
        let words = within(self.own, Span { start: self.sentences[last].start, end: self.text.len() });
        let is_told = |name: &str| self.own.iter().take_while(|word| word.start < words[0].start).any(|word| word.lower == name);
        let is_named = || tasks::named(words).is_some_and(is_told) && self.letter(0).is_none();
        let opens = match task {
            Task::It => self.is_first,
            Task::Question | Task::Reply => !is_named(),
            Task::Thought => false,
            Task::Text | Task::Alone | Task::Summary => true,
        };
        if !opens || !(last..count).all(|at| self.is_beside(at)) || guards::is_lasting(words) {
            return None;
        }
        let begin = self.begin_above(last);
        (last >= begin + 2).then(|| self.part(begin, last, true))
    }

    /// The first sentence of the text above a request: it stands behind what the user says for themselves.
    fn begin_above(&self, last: usize) -> usize {
        let announces = |at: usize| {
            let span = self.sentences[at];
            let is_line = self.ends(at, ':') && self.begins_line(at + 1);
            is_line && (others::is_announced(&self.text[span.start..span.end]) || self.task(at).is_some() || self.tells(at))
        };
        let paragraph = |at: &usize| self.begins_paragraph(*at);
        let own = |at: usize| {
            self.begins_paragraph(at)
                && !self.is_postscript(at)
                && (self.is_own(at, last) || others::is_aside(self.own, self.sentences[at]))
        };
        let told = (0..last).rev().find(|at| announces(*at)).map_or(0, |at| at + 1);
        let aside = (0..last).rev().find(|at| own(*at)).map_or(0, |at| self.next(at, Self::begins_paragraph));
        let begin = self.behind_own(told.max(aside).min(last), last);
        // "I moved to Ghent." stands above an article in which nobody says "I".
        let is_text = |at: &usize| self.signed(*at).is_none() && (*at..last).all(|at| !self.has_first(at));
        let behind = (begin + 1..last).filter(paragraph).find(is_text);
        behind.filter(|at| self.opens_own(begin) && at + 1 < last).unwrap_or(begin)
    }

    fn tells(&self, at: usize) -> bool {
        others::tells_of_oneself(self.words(at))
    }

    /// The letters that somebody shows, or asks about. Any other letter is the user's own.
    fn letters(&self) -> Vec<Part> {
        let mut out: Vec<Part> = Vec::new();
        for at in 0..self.sentences.len() {
            let is_read = out.last().is_some_and(|last| self.sentences[at].start < last.span.end);
            let Some(end) = self.letter(at).filter(|_| !is_read) else { continue };
            let shows = (0..at).rev().find_map(|at| self.shows(at));
            if shows.unwrap_or_else(|| self.answers(end)) {
                out.push(self.part(at, end, true));
            }
        }
        out
    }

    /// Whether a sentence above a letter shows one of somebody else ("my landlord sent me this", "summarise this"), or the user's own: "I
    /// wrote this to my landlord". `None` where it does neither, as a subject does: "Ticket 4411".
    fn shows(&self, at: usize) -> Option<bool> {
        let words = self.words(at);
        if words.first().is_some_and(|word| among(&HEADERS, &word.lower)) {
            return None;
        }
        if (0..words.len()).any(|at| others::is_passed_on(words, at)) {
            return Some(true);
        }
        if WRITTEN.iter().any(|phrase| has(words, phrase)) {
            return Some(false);
        }
        let span = self.sentences[at];
        let announces = || self.ends(at, ':') && others::is_announced(&self.text[span.start..span.end]);
        (is_from(words) || self.asks_about(at) || announces()).then_some(true)
    }

    /// Whether what stands below a letter asks about it, and nothing else does: "what does she want?"
    fn answers(&self, begin: usize) -> bool {
        begin < self.sentences.len() && (begin..self.sentences.len()).all(|at| self.asks_about(at))
    }

    /// Whether a sentence asks about a letter that somebody got. Those of its writer speak to whom it is for: "Can you reply today?"
    fn asks_about(&self, at: usize) -> bool {
        let words = self.words(at);
        let any = |list: &[&str]| words.iter().any(|word| among(list, &word.lower));
        let asks = || self.ends(at, '?') && any(&["he", "she", "this", "reply", "respond", "answer"]) && !any(&SECOND);
        self.task(at).is_some() || GOT.iter().any(|phrase| has(words, phrase)) || asks()
    }

    /// Behind the last sentence of a letter that begins with one: its name, or its postscript.
    fn letter(&self, begin: usize) -> Option<usize> {
        if !self.is_salutation(self.words(begin)) {
            return None;
        }
        let end = (begin + 1..self.sentences.len()).find_map(|at| self.signed(at))?;
        let is_postscript = end < self.sentences.len() && self.is_postscript(end);
        Some(if is_postscript { self.next(end, Self::begins_paragraph) } else { end })
    }

    /// Whether a sentence behind the name of a letter belongs to it.
    fn is_postscript(&self, at: usize) -> bool {
        ["ps", "p.s"].iter().any(|ps| starts(self.words(at), 0, ps).is_some()) && self.is_behind_name(at)
    }

    /// Whether the name of a letter stands right before a sentence.
    fn is_behind_name(&self, at: usize) -> bool {
        (at.saturating_sub(2)..at).any(|before| self.signed(before) == Some(at))
    }

    /// "Dear Ms Hall," "Hi Pat, it was ...": somebody is greeted by name.
    fn is_salutation(&self, words: &[Word]) -> bool {
        let Some(at) = SALUTATIONS.iter().filter_map(|greeting| starts(words, 0, greeting)).max() else { return false };
        let is_name = |word: &&Word| (word.capital || among(&ADDRESSED, &word.lower)) && !among(&FIRST, &word.lower);
        let over = at + words[at..].iter().take_while(is_name).count();
        let named = over > at && over <= at + MOST_NAME || at > 2;
        let ends =
            words.get(over).is_none_or(|next| next.is_mark() || self.text[words[over - 1].end..next.start].contains([',', ':', '\n']));
        named && ends && !words[at..over].iter().any(|word| among(&MODELS, &word.lower))
    }

    /// Behind the name that signs a letter, where a sentence begins to: "Kind regards, | Aoife Brennan".
    fn signed(&self, at: usize) -> Option<usize> {
        let words = self.words(at);
        let over = SIGN_OFFS.iter().filter_map(|phrase| starts(words, 0, phrase)).max().filter(|_| self.begins_line(at))?;
        let is_name =
            |name: &[Word]| (1..MOST_NAME).contains(&name.len()) && name.iter().all(|word| word.capital && !among(&FIRST, &word.lower));
        let ends = |at: usize| at == self.sentences.len() || self.begins_line(at);
        let next = at + 1;
        if over < words.len() {
            return (is_name(&words[over..]) && ends(next)).then_some(next);
        }
        let named = next < self.sentences.len() && !self.begins_paragraph(next) && is_name(self.words(next)) && ends(next + 1);
        named.then_some(next + 1)
    }
}
