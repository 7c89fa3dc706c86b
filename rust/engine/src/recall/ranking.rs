//! Every constant of the ranking, in one place, each with its origin. docs/ranking.md has the measurements.
//!
//! A constant is FITTED by `tools/transcripts/fit.py` and `tools/ranking/fit.py` on `FriendsQA`, `RealMemBench` and conversations that were
//! written for it (these print the values below), MEASURED, that is chosen by a table in docs/ranking.md, or SET, because no data has it.
//! Nothing is fitted to `LoCoMo`. The constants are applied in
//! [`super::fusion`] and [`super::priors`] (memories), `session/search` (transcripts), `collection/search` (passages) and
//! `session/window` (the block of a prompt). Those of BM25 itself stand in `index/bm25/formula.rs`, and how a long message is shortened in
//! `session/window/excerpt.rs`.

/// Names, weights and values of what a score is made of, from one list.
macro_rules! features {
    ($($(#[$meaning:meta])* $name:ident: $weight:expr,)*) => {
        /// The features of a text, each from 0 to about 1.
        #[derive(Debug, Clone, Copy, PartialEq, Default)]
        pub struct Features { $($(#[$meaning])* pub $name: f64,)* }

        /// The parts of a text's score, in the order of [`Features::values`].
        pub const FEATURES: [&str; COUNT] = [$(stringify!($name)),*];
        const COUNT: usize = [$(stringify!($name)),*].len();
        /// The weight of each in a score.
        pub(crate) const WEIGHTS: [f64; COUNT] = [$($weight),*];

        impl Features {
            /// In the order of [`FEATURES`].
            #[must_use]
            pub fn values(&self) -> [f64; COUNT] { [$(self.$name),*] }

            /// All of them by their weights.
            #[must_use]
            pub fn weighed(&self, weights: &[f64; COUNT]) -> f64 {
                self.values().iter().zip(weights).map(|(value, weight)| value * weight).sum()
            }
        }
    };
}

// Fitted, but for those that are said to be set.
features! {
    /// BM25 over that of the best message: all words of the question.
    words: 1.13,
    /// The same without names, with half the words of the message before and three tenths of those of the one behind.
    window: 0.50,
    /// The words of the message before it in its session.
    before: 0.00,
    /// Of the message two places before it.
    before_two: 1.06,
    /// Of the message two places behind it.
    after_two: 0.16,
    /// `before`, where that message ends with a question mark.
    answers: 0.88,
    /// Cosine of the built-in embedding with the question's content words, 0 where it is negative.
    meaning: 2.28,
    /// That, with half of it of the message before and three tenths of the one behind, as a mean.
    meaning_around: 0.87,
    /// How close its tokens are to the question's (`embedding/closeness.rs`).
    closeness: 1.72,
    /// The same of it and the messages beside it together.
    closeness_around: 2.37,
    /// The share of the question's tokens that it has themselves.
    exact: -1.54,
    /// Neighbouring words of the question are neighbours in the text too.
    phrase: 0.47,
    /// The same of the message before it.
    phrase_before: 0.53,
    /// 1 where the question names who speaks.
    speaker: 0.68,
    /// 1 where it has the name of somebody who spoke and whom the question names.
    name: 0.83,
    /// The share of "I" and "my" among its words.
    first_person: -0.07,
    /// The same where the question names who speaks.
    own_words: 3.86,
    /// The share of "you" among its words.
    second_person: -8.68,
    /// 1 where the model said it, and the question does not speak to the model ("Which tyres did you recommend?").
    by_model: -1.59,
    /// 1 where the question asks for a time and it names one.
    time_asked: 0.85,
    /// 1 for the first two messages of a session.
    opening: 0.57,
    /// Where it stands in its session, from 0 to 1.
    place: -0.45,
    /// How near it stands, in its session, to one of the three best.
    near_best: 0.36,
    /// One over the rank of its session by its best message.
    session: 1.35,
    /// 1 where it was said when the question asks about. Set, beside `behind`: of equals the very day comes first. Fitted, it is -.13.
    within: 0.50,
    /// 1 where it was said then or in the ten days behind: people tell of a day later.
    behind: 2.71,
    /// Logarithm of its distinct tokens: "Sure!" answers nothing.
    length: 2.24,
    /// 1 where it holds every identifier of the question. Set, so that it comes first.
    identified: 12.00,
}

/// The features of a message before its row is read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Sight {
    pub words: f64,
    pub window: f64,
    pub meaning: f64,
    pub name: f64,
    pub before_two: f64,
    pub after_two: f64,
    pub within: f64,
    pub behind: f64,
    pub identified: f64,
}

/// The weight of each at first sight: fitted. The meaning is set (fitted, it is 5.28), since a search of a long history reads the more
/// vectors, the more they count, and so are the time itself and identifiers, as above.
pub(crate) const SIGHT: Sight = Sight {
    words: -0.29,
    window: 4.96,
    meaning: 3.5,
    name: 2.52,
    before_two: 1.44,
    after_two: 0.7,
    within: 0.5,
    behind: 2.91,
    identified: 40.0,
};

/// The weight of one unit of closeness by which the persons named in the question are ahead of others, in logarithms of odds that a message
/// answers: that of memories, so that both are comparable. `tools/transcripts/fit.py` prints what it tells apart.
pub(crate) const NAMED_CLOSER: f64 = memories::NAMED;
/// Messages with most words of the question: who spoke them is looked for in it. Measured: 16 find whom all would.
pub(crate) const SPEAKERS_FROM: usize = 16;
/// Messages whose rows are read, beyond those that are wanted: 64 for an answer of ten. Measured.
pub(crate) const BEYOND: usize = 54;
/// Messages, beyond those that are wanted, beside which those of the same session are looked up where other sessions went on in between.
pub(crate) const COMPLETE_BEYOND: usize = 12;
/// Where messages that answer nothing have more than half of the places, or memories that say the same leave an answer short, four times as many
/// candidates are looked at, until there are enough others or so many were asked for: set. All other answers cost what they did.
pub(crate) const CROWDED_UP_TO: usize = 1_024;
/// How far beside a message its words count.
pub(crate) const BESIDE: u32 = 2;
/// The first messages of a session, which say what it is about.
pub(crate) const OPENING: u64 = 2;
/// The best that others stand near to.
pub(crate) const BEST: usize = 3;
/// Messages over which nearness to one of the best falls to a third.
pub(crate) const NEAR_MESSAGES: f64 = 3.0;
/// Shares of the words of the messages beside one in its window, in tenths: its own, before it, behind it.
pub(crate) const WINDOW: [i64; 3] = [10, 5, 3];
/// Shares of the cosines of the messages beside one: before it, behind it.
pub(crate) const MEANING_BESIDE: [f64; 2] = [0.5, 0.3];
/// How long behind a time that is asked about what was said may be about it.
pub(crate) const BEHIND: i64 = 10 * 24 * 3600 * 1_000_000;
/// A message that has no word of the question and stands beside none that has is a hit from this cosine on: texts that have nothing to do
/// with each other stay below .25.
pub(crate) const NEAR: f64 = 0.3;
/// From so many distinct tokens on a message does not count as longer.
pub(crate) const LONG: usize = 64;
/// Tokens that a share of pronouns is smoothed by.
const PRONOUNS_BESIDE: f64 = 3.0;

/// The share of `count` pronouns in `tokens` distinct tokens, of a memory as of a message.
pub(crate) fn share_of_pronouns(count: usize, tokens: usize) -> f64 {
    count as f64 / (tokens as f64 + PRONOUNS_BESIDE)
}

/// The weights of a score that is known before the sessions are, beside 1 for its words and its meaning: set.
pub(crate) const CHEAP: Cheap = Cheap { before: 0.5, closeness: 1.5, speaker: 0.6 };

/// See [`CHEAP`].
pub(crate) struct Cheap {
    pub before: f64,
    pub closeness: f64,
    pub speaker: f64,
}

/// The greatest cosine that a search of a long history reckons with: texts that share few words with a question and are nearer than this are
/// almost none. Of 248 questions to 50,000 messages 245 have the ten hits and scores of a walk, and three have nine of the hits (2026-11-22).
pub(crate) const MOST_COSINE: f32 = 0.7;
/// The closest of many parts is closer by chance than one text is: of 24 questions that two texts of 12 KB do not answer, the best part
/// passed the gate of a prompt for six without this (2026-11-26). With twice as much a record of 18 KB of JSON that answers stayed below it,
/// so it is set between. The number of wrong ones that pass with it was not measured.
pub(crate) const CLOSER_BY_CHANCE: f64 = 0.05;
/// A message that answers nothing and is so sure is the question itself: set.
pub(crate) const ECHO: f64 = 0.8;
/// [`NEAR`] for a prompt that has room: behind all that shares a word with the question, the next nearest is worth more than nothing. Of 100
/// paraphrased questions about five users' lives the prompts of 2,000 tokens have the answer to 85 with it, to 79 from .15 on and to 56 from
/// .5 on; the evidence of `LoCoMo`'s questions stays the same (2026-11-28, docs/decisions/0111).
pub(crate) const FILLS: f64 = 0.1;
/// Where the best is less sure than this there is no answer, and prompts show nothing. For messages: of ten questions that a conversation of
/// `LoCoMo` knows nothing of none passes .2, and two pass .1 (2026-11-22). For memories, of the score times the answer's confidence: every third
/// question of `LoCoMo`'s development split shows 107 of the 115 evidence turns among its first twelve, and 1,029 turns; 0.2 shows 100 (the
/// same day).
pub(crate) const SURE_ENOUGH: f64 = 0.15;
/// Where the best message is less sure than this, those behind it must be [sure enough](SURE_ENOUGH) as well, by the share of its score that
/// they have. Set: a question that has nothing to do with the user mostly finds something that is about .2 sure.
pub(crate) const WELL_SURE: f64 = 0.3;
/// A message behind the best must be a quarter as sure. A tenth fills a prompt of 2,000 tokens to 1,818 and shows less of the evidence,
/// 86.2 % instead of 88.1 (docs/decisions/0026 has the figures).
pub(crate) const BEHIND_THE_BEST: f64 = 0.25;
/// A question that asks several things at once lowers the floor of a prompt to one part in so many: the answer to its second half has little
/// of its first. Set.
pub(crate) const SEVERAL_ASKED: u32 = 2;
/// A message that told what does not hold any more has one part in so many of its score: it stands behind the current memory. Set.
pub(crate) const BEHIND_THE_CURRENT: i64 = 4;
/// Later texts about the same (`recall/later.rs`, `session/search/later.rs`). Set, but for some that were chosen with the totals of
/// `tools/ranking/lives.py` and `LoCoMo`'s evidence in view: `STATEMENTS` was kept where 2 was measured (2026-11-29, docs/decisions/0116),
/// `MOST_WORDS` is of 6, 8 and all, `MOST_HAVING` of 8 and 16, and `ONE_IN` of 3 and 5 (2026-11-30, docs/decisions/0117).
pub(crate) mod later {
    /// Words of a statement that lead on, at most: those that tell most.
    pub const MOST_WORDS: usize = 6;
    /// Texts at most that have a word by which one leads to another.
    pub const MOST_HAVING: usize = 16;
    /// Later texts at most that one statement leads to.
    pub const MOST_OF_ONE: usize = 3;
    /// And texts that are looked at for them.
    pub const MOST_READ: usize = 16;
    /// Of the best memories of a prompt, and of its best messages, so many are followed.
    pub const STATEMENTS: usize = 3;
    /// Every so manieth place of an answer is for a memory that was told later of the same.
    pub const ONE_IN: usize = 5;
    /// Later messages at most that a prompt has.
    pub const MOST_SHOWN: usize = 6;
}
/// Hits that a search over several sources asks each of them for at least. Their order is not that of all together: with fewer, one that
/// comes to the front there would be missing.
pub(crate) const LEAST_ASKED: usize = 10;
/// Passages of collections that hold every identifier of the question and are nominated for it, at most. All other constants of passages
/// are those of memories.
pub(crate) const HOLDERS: usize = 16;

/// Memories.
pub mod memories {
    /// The cosine from which on a memory without a word of the question is a hit of an answer that is [sure enough](super::SURE_ENOUGH). Of
    /// 100 and 124 paraphrased questions about eleven users' lives the first five have the answer to 60 and 63 with it, and to 57 and 58
    /// without; twenty unrelated questions find 1.1 memories each instead of .8 (2026-11-28; both sets were seen).
    pub(crate) const FAIRLY_NEAR: f64 = 0.2;
    // The parts of a closer look at a memory (`recall/closer.rs`), with their weights before they are brought to scale. Fitted by
    // `tools/ranking/fit.py`.
    features! {
        /// BM25 over that of the best candidate.
        words: 0.102,
        /// Cosine over that of the nearest candidate, 0 where it is negative; of the question without the names in it.
        meaning: 0.113,
        /// Half of the words of the event told before it and three tenths of those of the one behind, over the best candidate's with its own.
        around: 0.241,
        /// How close its tokens are to the question's (`embedding/closeness.rs`).
        closeness: 0.106,
        /// Neighbouring words of the question are neighbours in the text too.
        phrase: 0.045,
        /// The share of the question's names that it has.
        name: 0.081,
        /// 1 where it begins with a name of the question.
        subject: 0.023,
        /// The share of "I" and "my" among its words, where it begins with a name of the question.
        own_words: 0.233,
        /// The share of "you" among its words.
        second_person: -0.685,
        /// 1 where the question asks for a time and it names one.
        time_asked: 0.054,
    }

    /// The test that a newer memory answers the question as an older one does (`recall/newest`): a logistic, fitted by
    /// `tools/ranking/newest.py` to facts that were written for it.
    pub mod newest {
        /// The weight of its cosine with the question, both without the names in the question, by the built-in embedding.
        pub const MEANING: f64 = 17.8;
        /// Of how close it is to the question.
        pub const CLOSENESS: f64 = 1.4;
        /// The sum that both must reach: .2 less than where it is as likely as not, since the right person is put in front before.
        pub const LEAST: f64 = 4.1;
        /// Where more candidates than these have something newer, they are what was said of one thing rather than its values, and only the
        /// newest is raised. Chosen on DEVELOPED (the newest first: .869/.781/.825 without a second one, .887/.819/.838 from 12 on, and
        /// .887/.831/.838 where both are always raised) and on LoCoMo's turns as facts (R@10 71.2 up to 12, 71.1 at 16, 69.9 always).
        pub const MOST_REPLACED: usize = 12;
        /// So many hundredths of the older one's score has what is newer, at least: set.
        pub const LEAST_SHARE: i64 = 10;
    }

    /// Evidence beside the first hit (`recall/sure.rs`). Set.
    pub mod sure {
        /// A text of so many words is a bare value.
        pub const BARE: usize = 2;
        /// The place that the first is compared with, from 0 on.
        pub const TENTH: usize = 9;
        /// Of two that have equally much of a question, the parts of words differ by no more.
        pub const EQUAL_WORDS: f64 = 0.1;
        /// And those of closeness by no more than this.
        pub const EQUAL_CLOSENESS: f64 = 0.15;
        /// Hits in which names are looked for that the question has in small letters.
        pub const ASKED_FOR_NAMES: usize = 20;
    }

    /// The share of how sure they are that the last of those keep in a prompt which are shown for the person that they name: enough for the
    /// floor. Set.
    pub const OF_LEAST: f64 = 0.95;
    /// In a prompt about the user's own life a memory that is newer than the surest, and shares a name with it, has at least one part in so
    /// many of its score: just enough to stand beside it. Set.
    pub const NEWER_BESIDE: i64 = 2;

    /// The change in the log odds of a confidence for one unit of margin. With [`NAMED`] the pair of a grid whose mean AUROC is highest
    /// over questions of `FriendsQA` and Talks: with and without the memories that answer them, which counts twice, and with another's name,
    /// which nothing answers (`tools/ranking/fit.py`). The grid ends here: greater ones tell the wrong person a little better and a missing
    /// answer worse, and move confidences to 0 and 1.
    pub const MARGIN: f64 = 5.0;
    /// The margin that moves nothing: the mean of those questions.
    pub const USUAL_MARGIN: f64 = 0.422;
    /// Their change for one unit of closeness by which the persons named in the question are ahead.
    pub const NAMED: f64 = 5.0;

    /// The same as [`newest::LEAST_SHARE`] of two memories that dispute each other: set.
    pub const DISPUTED_SHARE: i64 = 33;
    /// A vouched-for candidate with one part in so many of the best score is about as good as what nobody vouches for: set.
    pub const REACH: i64 = 4;
    /// How sure an answer is to a question that has no content: what lies in a time, or who the user is. Set: it is what was asked for, but
    /// for what the words of time and the kinds of memories get wrong.
    pub const OVERVIEW: f64 = 0.9;
    /// The share that is left of how sure a hit is, where it lacks an identifier of the question. Set: "order 48812" is close to "order 48899" and answers
    /// nothing, while "the payments service" may answer for `payments-api`.
    pub const OF_ANOTHER: f64 = 0.5;
    /// How sure a memory is at least that has a name of the question, or that is of the few days that it names: just enough to be shown where nothing surer is there (`SURE_ENOUGH`). Set.
    pub const ABOUT_NAMED: f64 = 0.16;
    /// So many of a scope's newest memories may answer it. Their rows are read for each such question, 32 bytes each.
    pub const OVERVIEW_OF: u32 = 1 << 16;

    /// The weight of the words; the vectors have the rest. Measured.
    pub const LEXICAL: f64 = 0.5;
    /// The least weight of the words where a memory holds every identifier that the question names. A vector knows little of an identifier;
    /// over 6,000 generated memories the one that was asked for ranked first for 88 % of the questions at weight 0.5 and for all 500 at this
    /// one, and the rest of the question still decides among several that hold it (2026-11-22).
    pub const IDENTIFIED_LEXICAL: f64 = 0.85;
    /// Where a memory holds every identifier of the question, the relevance of what lacks one is at most this share of the least of those
    /// that hold them. Set: more than recency, importance and use can make up for.
    pub const BEHIND_IDENTIFIED: f64 = 0.75;
    /// Smaller limits have the candidates of this one: `recall(limit=3)` is the beginning of `recall(limit=10)`, where all is vouched for.
    pub const SAME_UP_TO: usize = 10;
    /// Of the limits above, each so many have the same candidates. Set: as many as a prompt recalls unless it is told otherwise.
    pub const SAME_BY: usize = 12;
    /// Candidates beyond the limit that are looked at closer. On LoCoMo (development split) R@10 of turns is 77.2 at 30 and 77.0 at 16,
    /// which costs a recall a seventh less (2026-11-22).
    pub const BEYOND: usize = 16;
    /// Hits among which one is looked for that disputes another, also where fewer are asked for: all that are looked at closer for ten. Set.
    pub const DISPUTED_AMONG: usize = SAME_UP_TO + BEYOND;
    /// The loss of a memory just outside the asked time: enough to come behind its like from within.
    pub const TIME_STEP: f64 = 0.1;
    /// The loss of one far from it. On LoCoMo (development split, the 35 questions with a date) R@10 is 82.9 at 0, 85.7 at .3, 88.6 from
    /// .4 on, with a soft edge; with a hard one 85.7 at best (2026-11-22).
    pub const TIME_WEIGHT: f64 = 0.5;
    /// Days from the range at which half of the rest is lost: events of a day are mostly told in the week after it.
    pub const TIME_EDGE_DAYS: f64 = 7.0;
    /// The most that an event loses by its age. On LoCoMo R@10 of turns is 69.1 at 0, 69.8 at .05, 69.3 at .1, 68.8 at .15, 68.4 at .2.
    pub const RECENCY_WEIGHT: f64 = 0.1;
    /// The same of a kind to which the program gives a half-life. Set: memories that are old by their own measure stand behind new ones.
    pub const OWN_RECENCY_WEIGHT: f64 = 0.5;
    /// The loss of a memory that is wholly doubted. Set: less than relevance tells apart, as much as a high age.
    pub const CERTAINTY_WEIGHT: f64 = 0.1;
    /// How relevant a memory is for the relation that it says: at one step from what the question names, at two. Set: less than the best
    /// by words, more than what shares a common word with it.
    pub const RELATED: [f64; 2] = [0.5, 0.4];
    /// The same for the value of a slot whose name is all that the question asks for. Set: before what is merely near in meaning, of which
    /// the best has 1 where no memory has a word of the question, and behind the best by words.
    pub const SLOTTED: f64 = 0.9;

    /// When a question asks for the value of a slot (`recall/slotted.rs`): all set.
    pub mod slotted {
        /// A question asks for a slot by so much of its name.
        pub const OF_NAME: f64 = 0.5;
        /// The name has so much of the letters of the question: "what is the size of Texas?" asks for no "size".
        pub const OF_QUESTION: f64 = 0.7;
        /// The same where the question is about the user, whose slots they are: "which city do I live in?".
        pub const OF_OWN_QUESTION: f64 = 0.25;
        /// The same where words do not stand apart.
        pub const OF_TEXT: f64 = 1.0 / 3.0;
    }
    /// A month: people mostly ask for events within a few weeks.
    pub const EVENT_HALF_LIFE_DAYS: f64 = 30.0;
    /// A quarter: how a task ended is asked for when it, or one like it, comes up again.
    pub const OUTCOME_HALF_LIFE_DAYS: f64 = 90.0;
    /// The gain of the highest importance, and the loss of the lowest: the order among memories that are about equally relevant.
    pub const IMPORTANCE_WEIGHT: f64 = 0.05;
    /// The most that use adds. It is less than importance, because a recalled memory is recalled more easily, and must not feed on itself.
    pub const USE_WEIGHT: f64 = 0.03;
    /// log2 of how many recalls add all of it: 63.
    pub const USE_SATURATION: f64 = 6.0;
    /// Nominated by words, and as many by vectors, for each memory that is asked for; not fewer than the next.
    pub const PER_ANSWER: usize = 3;
    /// Nominated by each at least.
    pub const FEWEST: usize = 40;
}
