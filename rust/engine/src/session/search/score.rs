//! The score of a message: a weighted sum of what is known of it and of its neighbours.
//!
//! ```text
//! words            BM25 / the best BM25 of the question
//! window           the same without names, with half the words of the message before and three tenths of those of the one behind
//! before, after    the words of the message before it and behind it in its session; before_two, after_two: two places away
//! answers          `before`, where that message ends with a question mark
//! meaning          cosine of the built-in embedding with the question's content, 0 where it is negative
//! meaning_around   that, with a share of those of the messages beside it
//! closeness        `embedding::Wanted`, token by token; closeness_around: of the message and those beside it together
//! exact            the share of the question's tokens that it has themselves
//! phrase           what stands together in the question does so in it; phrase_before: in the message before it
//! speaker          1 where the question names who speaks
//! first_person     share of "I", "my"; own_words: the same where the question names the speaker; second_person: of "you"
//! time             1 where it names a time; time_asked: the same where the question asks for one
//! opening          1 for the first two messages of a session; place: where in its session it stands, 0 to 1
//! near_best        how near it stands, in its session, to one of the three best by `cheap`
//! session          1 for the session of the best by `cheap`, 1/2 for the next, ...
//! within, behind   1 where it was said when the question asks about; in the ten days from the beginning of that on
//! asks             1 where it ends with a question mark
//! length           logarithm of its distinct tokens: "Sure!" answers nothing
//! identified       1 where it holds every identifier of the question
//! ```
//!
//! The weights are those of a softmax over the candidates of each question, fitted by `tools/transcripts/fit.py`, which has the figures;
//! that of identifiers is set, so that what holds them comes first.

/// What a score is made of, in the order of [`Features`].
pub const FEATURES: [&str; COUNT] = [
    "words",
    "window",
    "before",
    "after",
    "before_two",
    "after_two",
    "answers",
    "meaning",
    "meaning_around",
    "closeness",
    "closeness_around",
    "exact",
    "phrase",
    "phrase_before",
    "speaker",
    "name",
    "first_person",
    "own_words",
    "second_person",
    "time",
    "time_asked",
    "opening",
    "place",
    "near_best",
    "session",
    "within",
    "behind",
    "asks",
    "length",
    "recent",
    "identified",
];

const COUNT: usize = 31;
/// The weight of each.
const WEIGHTS: [f64; COUNT] = [
    0.0, 1.6, -0.6, -0.2, 1.3, 0.5, 1.7, 0.0, 1.7, 3.3, 2.1, -1.3, 1.0, 0.5, 1.2, 0.0, 0.0, 3.9, -2.8, 0.1, 1.3, 0.6, -0.5, 0.4, 1.5, 2.6,
    2.3, 0.0, 0.0, 0.0, 9.0,
];

/// What speaks for a message before its row is read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Sight {
    pub words: f64,
    pub window: f64,
    pub meaning: f64,
    pub name: f64,
    pub before2: f64,
    pub after2: f64,
    pub within: f64,
    pub behind: f64,
    pub identified: f64,
}

/// The weight of each at first sight.
pub(super) const SIGHT: Sight =
    Sight { words: 0.9, window: 3.9, meaning: 3.4, name: 1.9, before2: 2.0, after2: 1.4, within: 6.1, behind: 3.0, identified: 40.0 };

impl Sight {
    pub fn sum(&self, weights: &Self) -> f64 {
        self.words * weights.words
            + self.window * weights.window
            + self.meaning * weights.meaning
            + self.name * weights.name
            + self.before2 * weights.before2
            + self.after2 * weights.after2
            + self.within * weights.within
            + self.behind * weights.behind
            + self.identified * weights.identified
    }
}

/// Units of a score in 1.0.
pub const SCORE_ONE: i64 = 1 << 30;
/// From so many distinct tokens on a message does not count as longer.
const LONG: usize = 64;
/// What the logarithm of a length is divided by.
const LENGTH_UNIT: f64 = 5.0;
/// Messages that a share of pronouns is smoothed by.
const PRONOUNS_BESIDE: f64 = 3.0;

/// What is known of a message, each from 0 to about 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features {
    pub words: f64,
    pub window: f64,
    pub before: f64,
    pub after: f64,
    pub before_two: f64,
    pub after_two: f64,
    pub answers: f64,
    pub meaning: f64,
    pub meaning_around: f64,
    pub closeness: f64,
    pub closeness_around: f64,
    pub exact: f64,
    pub phrase: f64,
    pub phrase_before: f64,
    pub speaker: f64,
    pub name: f64,
    pub first_person: f64,
    pub own_words: f64,
    pub second_person: f64,
    pub time: f64,
    pub time_asked: f64,
    pub opening: f64,
    pub place: f64,
    pub near_best: f64,
    pub session: f64,
    pub within: f64,
    pub behind: f64,
    pub asks: f64,
    pub length: f64,
    pub recent: f64,
    pub identified: f64,
}

impl Features {
    /// In the order of [`FEATURES`].
    #[must_use]
    pub fn values(&self) -> [f64; COUNT] {
        [
            self.words,
            self.window,
            self.before,
            self.after,
            self.before_two,
            self.after_two,
            self.answers,
            self.meaning,
            self.meaning_around,
            self.closeness,
            self.closeness_around,
            self.exact,
            self.phrase,
            self.phrase_before,
            self.speaker,
            self.name,
            self.first_person,
            self.own_words,
            self.second_person,
            self.time,
            self.time_asked,
            self.opening,
            self.place,
            self.near_best,
            self.session,
            self.within,
            self.behind,
            self.asks,
            self.length,
            self.recent,
            self.identified,
        ]
    }

    /// From 0 (nothing speaks for it) to [`SCORE_ONE`], in whole numbers, so that they compare alike everywhere.
    #[must_use]
    pub fn score(&self) -> i64 {
        let sum: f64 = self.values().iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum();
        let least: f64 = WEIGHTS.iter().filter(|weight| **weight < 0.0).sum();
        let most: f64 = WEIGHTS.iter().filter(|weight| **weight > 0.0).sum();
        (((sum - least) / (most - least)).clamp(0.0, 1.0) * SCORE_ONE as f64) as i64
    }

    /// A score that is known before the sessions are: what ranks them, and finds the three best.
    #[must_use]
    pub(super) fn cheap(&self, own: f64) -> f64 {
        own + 0.5 * self.before + 1.5 * self.closeness + self.meaning + 0.6 * self.speaker
    }

    /// From 0 to 1: how sure it is that the message answers; as of a memory, the mean of what it has of the question and its cosine.
    #[must_use]
    pub fn sureness(&self) -> f64 {
        f64::midpoint(self.closeness, self.meaning)
    }

    /// The feature of a message with `tokens` distinct tokens.
    #[must_use]
    pub(super) fn length_of(tokens: usize) -> f64 {
        libm::log(tokens.clamp(1, LONG) as f64) / LENGTH_UNIT
    }

    /// The share of `count` pronouns in `tokens` distinct tokens.
    #[must_use]
    pub(super) fn share(count: usize, tokens: usize) -> f64 {
        count as f64 / (tokens as f64 + PRONOUNS_BESIDE)
    }
}
