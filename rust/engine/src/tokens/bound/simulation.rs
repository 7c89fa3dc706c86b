//! Never over the window: an agent's requests, filled up to what the bound allows, against a truth that the bound does not know.
//!
//! The truth is another tokenizer's count, times a factor, plus tokens of its own for each message; the prior is above it for every
//! class, as a prior must be. Content is of four classes, and the topic of a conversation shifts every few turns. A turn is a request with
//! retrieved texts beside the history, which leave when the next turn begins, then rounds of tools that only append.

use super::super::fuzz::Fuzz;
use super::super::{Encoding, count};
use super::{Anchor, Class, Learned, Tally, bound};
use crate::tokens::Factor;

const WINDOW: u64 = 12_000;
/// Tokens that are counted for the frame of a message; the truth's may be fewer.
const FRAME: u64 = 5;

/// The closed tokenizer.
struct Truth {
    encoding: Encoding,
    per_mille: u64,
    frame: u64,
}

impl Truth {
    fn count(&self, text: &str) -> u64 {
        (count(self.encoding, text) as u64 * self.per_mille).div_ceil(1_000) + self.frame
    }
}

#[derive(Clone, Copy, Default)]
struct Message {
    counted: Tally,
    truth: u64,
}

/// Messages, with what was counted of all of them and of none but the last.
#[derive(Default)]
struct Messages {
    all: Vec<Message>,
    counted: Tally,
    before: Tally,
}

impl Messages {
    fn of(messages: &[Message]) -> Self {
        let counted = messages.iter().fold(Tally::default(), |sum, message| sum.plus(&message.counted));
        Self { all: messages.to_vec(), counted, before: counted }
    }

    fn push(&mut self, message: Message) {
        self.before = self.counted;
        self.counted = self.counted.plus(&message.counted);
        self.all.push(message);
    }

    /// Takes the one back that was pushed last.
    fn pop(&mut self) {
        self.all.pop();
        self.counted = self.before;
    }

    fn truth(&self) -> u64 {
        self.all.iter().map(|message| message.truth).sum()
    }
}

/// A conversation with a model that has a closed tokenizer.
struct Agent {
    learned: Learned,
    source: Fuzz,
    /// Messages to choose from, of each class.
    pool: [Vec<Message>; Class::ALL.len()],
    about: Class,
    history: Messages,
    retrieved: Messages,
    last: Option<Anchor>,
    /// The history as far as it was sent, bounded by what turns added to it.
    sent: Option<Anchor>,
    seen: Seen,
}

/// The requests that were sent.
#[derive(Default)]
struct Seen {
    requests: u64,
    over: u64,
    /// Requests that were filled until nothing more was to fit, and the truth of all of them.
    filled: u64,
    used: u64,
}

impl Agent {
    fn new(truth: &Truth, prior: u32, seed: u64) -> Self {
        let mut source = Fuzz::new(seed);
        let pool = Class::ALL.map(|class| (0..100).map(|_| message(&mut source, truth, class)).collect());
        let learned = Learned::new(Factor::new(prior));
        let (history, retrieved) = (Messages::default(), Messages::default());
        Self { learned, source, pool, about: Class::Prose, history, retrieved, last: None, sent: None, seen: Seen::default() }
    }

    /// Mostly of what the conversation is about.
    fn message(&mut self) -> Message {
        let class = if self.source.below(10) < 8 { self.about } else { Class::ALL[self.source.below(4)] };
        let pool = &self.pool[class as usize];
        pool[self.source.below(pool.len())]
    }

    /// A turn: the history is cut if it is long, texts are retrieved, tools are called.
    fn turn(&mut self) {
        if self.source.below(6) == 0 {
            self.about = Class::ALL[self.source.below(4)];
        }
        let gone = std::mem::take(&mut self.retrieved).counted;
        let shortened = self.last.take().and_then(|last| self.learned.shortened(&last, &gone));
        let mut anchor = shortened.map(|shortened| shortened.nearer(self.sent));
        if anchor.is_some_and(|anchor| anchor.truth > WINDOW * 3 / 4) {
            self.history = Messages::of(&self.history.all[self.history.all.len() / 2..]);
            anchor = None;
        }
        let question = self.message();
        self.history.push(question);
        self.fill(anchor.as_ref());
        self.send(None);
        let first = self.last;
        let factors = self.learned.factors();
        let counted = self.history.counted;
        let history = Anchor { counted, truth: bound(&counted, anchor.as_ref(), &factors) };
        for _ in 0..self.source.below(4) {
            let before = self.last;
            for _ in 0..=self.source.below(4) {
                let result = self.message();
                self.history.push(result);
                if self.bound(before.as_ref()) > WINDOW {
                    self.history.pop();
                    break;
                }
            }
            self.send(before.as_ref());
        }
        // The cost that the rounds added is known exactly: the difference of two truths.
        self.sent = first
            .zip(self.last)
            .and_then(|(first, last)| Some(history.extended(&last.counted.beyond(&first.counted)?, last.truth - first.truth)));
    }

    /// Retrieves until one more does not fit.
    fn fill(&mut self, anchor: Option<&Anchor>) {
        while self.bound(anchor) <= WINDOW {
            let next = self.message();
            self.retrieved.push(next);
        }
        self.retrieved.pop();
        self.seen.filled += 1;
        self.seen.used += self.truth();
    }

    fn bound(&self, anchor: Option<&Anchor>) -> u64 {
        bound(&self.request(), anchor, &self.learned.factors())
    }

    fn request(&self) -> Tally {
        self.history.counted.plus(&self.retrieved.counted)
    }

    fn truth(&self) -> u64 {
        self.history.truth() + self.retrieved.truth()
    }

    /// The provider answers with the truth.
    fn send(&mut self, before: Option<&Anchor>) {
        let now = Anchor { counted: self.request(), truth: self.truth() };
        self.seen.requests += 1;
        self.seen.over += u64::from(now.truth > WINDOW);
        // A turn's first request has other retrieved texts than the last one: it teaches as a whole.
        self.learned.observe(before, &now);
        self.last = Some(now);
    }
}

fn message(source: &mut Fuzz, truth: &Truth, class: Class) -> Message {
    let size = 100 + source.below(300);
    let text = text(source, class, size);
    let mut counted = Tally::default();
    counted.text(Encoding::O200k, &text);
    counted.frame(FRAME);
    Message { counted, truth: truth.count(&text) }
}

/// Content of a class, of about so many bytes.
fn text(source: &mut Fuzz, class: Class, size: usize) -> String {
    const WORDS: &str = "the of and to in that memory window session which because prompt tokens answer question user service between \
        deployment morning several whether Berlin naturally considered reviewing yesterday infrastructure";
    const CODE: &str = "fn\u{20}main() {|    let mut total = 0;|    for item in &self.items {|        total += item.len();|    }|    Ok(total)|}|\
        def handler(event, context):|    return {\"status\": 200}|if (x !== null && y >= 0) {|  console.log(`${x}`);|<div class=\"row\">|</div>|\
        SELECT id, name FROM users WHERE age > 21;";
    const CJK: &str = "今天天气很好我们去公园散步吧明日は会議がありますので資料を準備してください한국어문장도있습니다的一是不了人在有他这为之大来以个中上";
    let (words, lines): (Vec<&str>, Vec<&str>) = (WORDS.split(' ').collect(), CODE.split('|').collect());
    let characters: Vec<char> = CJK.chars().collect();
    let mut out = String::new();
    while out.len() < size {
        match class {
            Class::Prose => out += &(words[source.below(words.len())].to_owned() + if source.below(9) == 0 { ". " } else { " " }),
            Class::Code => out += &(lines[source.below(lines.len())].to_owned() + "\n"),
            Class::Dense => out += &identifier(source),
            Class::Cjk => out.push(characters[source.below(characters.len())]),
        }
    }
    out
}

/// `payments_api-3fa9c17e04 `.
fn identifier(source: &mut Fuzz) -> String {
    const PARTS: [&str; 8] = ["payments", "prod_eu", "getUserById", "auth-timeout", "X-Request", "TOKEN", "s3", "v2"];
    let (part, sign) = (PARTS[source.below(PARTS.len())], ["-", "_", "/", "="][source.below(4)]);
    format!("{part}{sign}{:08x} ", source.below(1 << 30))
}

#[test]
fn no_request_is_over_the_window_and_nine_tenths_of_it_are_used() {
    let truths = [
        (Truth { encoding: Encoding::Qwen2, per_mille: 1_250, frame: 4 }, 2_500),
        (Truth { encoding: Encoding::Cl100k, per_mille: 1_300, frame: 4 }, 2_500),
        (Truth { encoding: Encoding::Tekken, per_mille: 1_000, frame: 4 }, 2_500),
        (Truth { encoding: Encoding::DeepSeekV3, per_mille: 1_100, frame: 4 }, 1_700),
    ];
    for (seed, (truth, prior)) in truths.into_iter().enumerate() {
        let mut agent = Agent::new(&truth, prior, seed as u64 + 1);
        while agent.seen.requests < 5_000 {
            agent.turn();
        }
        let (name, Seen { requests, over, filled, used }) = (truth.encoding.name(), agent.seen);
        let used = used * 1_000 / (filled * WINDOW);
        println!("{name}: {requests} requests, {over} over, {used} per mille used, {:?}", agent.learned.factors());
        assert_eq!(over, 0, "{name}");
        assert!(used >= 900, "{name}: {used} per mille of the window used");
    }
}

/// The common guess, a tenth more than the reference counts, is over the window most of the time: the test has teeth.
#[test]
fn a_common_guess_is_over_the_window() {
    let mut agent = Agent::new(&Truth { encoding: Encoding::Qwen2, per_mille: 1_250, frame: 4 }, 1_100, 9);
    let (guess, mut over) = ([Factor::new(1_100); Class::ALL.len()], 0);
    for _ in 0..200 {
        agent.about = Class::ALL[agent.source.below(4)];
        agent.retrieved = Messages::default();
        while bound(&agent.request(), None, &guess) <= WINDOW {
            let next = agent.message();
            agent.retrieved.push(next);
        }
        agent.retrieved.pop();
        over += u64::from(agent.truth() > WINDOW);
    }
    assert!(over >= 190, "{over} of 200");
}
