//! What counting costs: five kinds of text that were not counted before, texts made to be slow, and the cache.
//!
//! ```text
//! cargo bench -p memspan-engine --bench count                    a table
//! cargo bench -p memspan-engine --bench count -- --write FOLDER  the texts, for tools/bench_tiktoken.py
//! ```
//!
//! The texts are generated, each round from another seed, in messages of about 1,000 bytes. A figure is the median over all
//! messages of all rounds; the kinds alternate, so that a slow moment of the machine hits all alike.

use std::fmt::Write as _;
use std::time::Instant;

use memspan_engine::tokens::{CountCache, Encoding, TokenCounter, count};

const ROUNDS: u64 = 5;
const MESSAGES: usize = 200;
const MESSAGE_BYTES: usize = 1_000;
const MEGABYTE: usize = 1_000_000;

fn main() {
    let arguments: Vec<_> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == "--write") {
        return write_texts(arguments.get(at + 1).map_or(".", |folder| folder));
    }
    if cfg!(debug_assertions) {
        return eprintln!("timing a debug build says nothing: use cargo bench");
    }
    first_use();
    kinds();
    slow_texts();
    cached();
    appended();
}

/// A text generator of one kind: appends a few words.
type Kind = (&'static str, fn(&mut Random, &mut String));

const KINDS: [Kind; 5] = [("prose", prose), ("code", code), ("chat", chat), ("identifiers", identifiers), ("cjk", cjk)];

fn messages(kind: Kind, seed: u64) -> Vec<String> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut message = || {
        let mut text = String::new();
        while text.len() < MESSAGE_BYTES {
            kind.1(&mut random, &mut text);
        }
        text
    };
    (0..MESSAGES).map(|_| message()).collect()
}

fn write_texts(folder: &str) {
    for kind in KINDS {
        let texts: Vec<_> = (1..=ROUNDS).flat_map(|seed| messages(kind, seed)).collect();
        std::fs::write(format!("{folder}/{}.txt", kind.0), texts.join("\0")).expect("the folder can be written");
    }
    for (name, text) in slow() {
        std::fs::write(format!("{folder}/slow_{name}.txt"), text).expect("the folder can be written");
    }
}

fn first_use() {
    for encoding in Encoding::ALL {
        let start = Instant::now();
        assert_eq!(count(encoding, "x"), 1);
        println!("first use  {:12} {:8.1} ms", encoding.name(), start.elapsed().as_secs_f64() * 1e3);
    }
}

fn kinds() {
    let sides = Encoding::ALL.len();
    let mut costs = vec![Vec::new(); KINDS.len() * sides];
    for seed in 1..=ROUNDS {
        for (kind, &generator) in KINDS.iter().enumerate() {
            let texts = messages(generator, seed);
            for (side, encoding) in Encoding::ALL.into_iter().enumerate() {
                costs[kind * sides + side].extend(texts.iter().map(|text| nanoseconds(|| count(encoding, text)) / text.len() as f64));
            }
        }
    }
    for (index, cost) in costs.iter_mut().enumerate() {
        println!("unseen     {:12} {:12} {:8.2} ns/byte", Encoding::ALL[index % sides].name(), KINDS[index / sides].0, median(cost));
    }
}

fn slow_texts() {
    for (name, text) in slow() {
        for encoding in Encoding::ALL {
            let mut costs: Vec<_> = (0..3).map(|_| nanoseconds(|| count(encoding, &text)) / 1e6).collect();
            println!("1 MB       {:12} {name:12} {:8.1} ms", encoding.name(), median(&mut costs));
        }
    }
}

fn cached() {
    let cache = CountCache::new(65_536);
    for size in [256, 1_024, 4_096, 65_536] {
        let text = messages(KINDS[0], 9).concat()[..size].to_owned();
        let first = cache.count(Encoding::O200k, &text);
        let again = || (0..1_000).map(|_| cache.count(Encoding::O200k, &text)).fold(0, usize::max);
        assert_eq!(again(), first);
        let mut costs: Vec<_> = (0..21).map(|_| nanoseconds(again) / 1e3).collect();
        println!("cached     {:12} {size:<12} {:8.1} ns", "o200k_base", median(&mut costs));
    }
}

fn appended() {
    let text = messages(KINDS[0], 10).concat();
    let mut counter = TokenCounter::new(Encoding::O200k);
    counter.append(&text[..100_000]);
    let mut costs: Vec<_> = (0..1_000).map(|i| nanoseconds(|| counter.append(&text[100_000 + 20 * i..100_020 + 20 * i]))).collect();
    let mut whole: Vec<_> = (0..5).map(|_| nanoseconds(|| count(Encoding::O200k, &text[..100_000]))).collect();
    println!("append 20  {:12} {:12} {:8.1} ns (counting 100 KB: {:.0} ns)", "o200k_base", "", median(&mut costs), median(&mut whole));
}

fn nanoseconds(work: impl FnOnce() -> usize) -> f64 {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed().as_nanos() as f64
}

fn median(costs: &mut [f64]) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}

/// A megabyte each of what naive tokenizers take quadratic time for.
fn slow() -> Vec<(&'static str, String)> {
    let mut random = Random(7);
    let mut of = |alphabet: &str| -> String { (0..MEGABYTE).map(|_| char::from(random.pick(alphabet.as_bytes()))).collect() };
    vec![
        ("letters", of("abcdefghijklmnopqrstuvwxyz")),
        ("base64", of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")),
        ("punctuation", of("!@#$%^&*()-=_+[]{};:,.<>?|")),
        ("ab", of("ab")),
        ("one_letter", "a".repeat(MEGABYTE)),
        ("spaces", " ".repeat(MEGABYTE)),
        ("newlines", "\n".repeat(MEGABYTE)),
        ("dashes", "-".repeat(MEGABYTE)),
        ("emoji", "😀".repeat(MEGABYTE / 4)),
        ("han", "的一是不了".repeat(MEGABYTE / 15)),
    ]
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A word by Zipf's law: the n-th is drawn about 1/n as often as the first.
    fn word(&mut self, from: &'static str) -> &'static str {
        let words = from.split(' ').count();
        let uniform = self.below(1 << 20) as f64 / (1 << 20) as f64;
        let rank = ((words as f64 + 1.0).powf(uniform) - 1.0) as usize;
        from.split(' ').nth(rank).unwrap_or("the")
    }

    /// A word that no vocabulary has: a name, a rare or a misspelt word.
    fn rare(&mut self) -> String {
        let syllables = self.below(3) + 2;
        (0..syllables)
            .map(|_| {
                self.pick(&["ka", "ren", "to", "vis", "lem", "or", "pha", "dri", "sen", "ulo", "mar", "tek", "ith", "bo", "gan", "ess"])
            })
            .collect()
    }
}

const COMMON: &str = "the of and to a in is that it was for on are as with his they at be this from have or by one had not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now people my made over did down only way find use may water long little very after words called just where most know get through back much before go good new write our me man too any day same right look think also around another came come work three word must because does part even place well such here take why things help put years different away again off went old number great tell men say small every found still between name should home big give air line set own under read last never us left end along while might next sound below saw something thought both few those always looked show large often together asked house world going want school important until form food keep children feet land side without boy once animals life enough took four head above kind began almost live page got earth need far hand high year mother light country father let night following picture being study second eyes soon times story boys since white days ever paper hard near sentence better best across during today others however sure means knew try told young miles sun ways thing whole hear example heard several change answer room sea against top turned learn point city play toward five using himself usually government development information particularly international environment understanding relationship";
const CHATTY: &str = "I you to the a and it is that so yeah just my me what do can't it's like have don't of in was for on really I'm know about are we but not that's oh be got think with this up go good no get your ok haha how out at time thanks one want need would when there here sure let's see going if later great could they please tomorrow work been maybe right sorry he she meeting check did back still lol nice too we'll didn't you're actually send make pretty week someone something";
const HAN: &str = "的 是 我们 在 了 不 有 和 人 这 中国 大 为 上 个 国家 到 说 时间 要 就 出 会 可以 也 你 对 生 能 而 子 那 得 于 着 下 自己 之 年 过 发展 后 作 里 用 道 行 所 然 家 种 事 成 方法 多 经济 么 去 法律 学习 如 都 同 现在 当 没有 动 面 起 看 定 天 分 还 进行 好 小 部分 其 些 主要 样 理解 心 她 本 前 开始 但 因为 只 从 想 实际 日 军 者 意义 无 力 它 与 长 把 机器 十 民主 第 公司 此 已经 工作 使 情况 明 性能 知道 全 三 又 关系 点 正 业务 外 将 两 高 间 由 问题 很 最 重要 并 物 手 应该 战 向 头 文 体 政府 美 相 见 被 利用 什么 二 等 产品 或 新 己 制度 身 果 加 西 斯 月 话 合作 回 特别 代表 内 信息 表 化 老 给 世界 位 次 度 门 任何 常 先 海 通过 教育";
const KANA: &str = "です ます という こと から まで ため システム データ ユーザー について できる サーバー お願い もの";

fn prose(random: &mut Random, text: &mut String) {
    let rare = random.below(100) < 8;
    let word = if rare { random.rare() } else { random.word(COMMON).to_owned() };
    text.push_str(&word);
    text.push_str(random.pick(&[" ", " ", " ", " ", " ", " ", " ", " ", " ", ", ", ". The ", ".\n\n", " (", ") ", "'s "]));
}

fn chat(random: &mut Random, text: &mut String) {
    let rare = random.below(100) < 3;
    let word = if rare { random.rare() } else { random.word(CHATTY).to_owned() };
    text.push_str(&word);
    text.push_str(random.pick(&[" ", " ", " ", " ", " ", " ", " ", " ", ", ", "! ", "? ", ".\n", " 😀 ", "... "]));
}

fn identifier(random: &mut Random) -> String {
    let (one, other) = (random.word(COMMON), random.word(COMMON));
    match random.below(4) {
        0 => format!("{one}_{other}"),
        1 => format!("{one}{}{}", other[..1].to_uppercase(), &other[1..]),
        2 => format!("{}_{one}", random.rare()),
        _ => one.to_owned(),
    }
}

fn code(random: &mut Random, text: &mut String) {
    let (one, two, three) = (identifier(random), identifier(random), identifier(random));
    let number = random.below(1_000);
    let _ = match random.below(7) {
        0 => write!(text, "    def {one}(self, {two}: str, {three}=None) -> int:\n        \"\"\"Returns the {two}.\"\"\"\n"),
        1 => write!(text, "        if {one} is not None and {two} > {number}:\n            return self.{three}\n"),
        2 => write!(text, "        for i, {one} in enumerate({two}):\n            {three}.append({one} + {number})\n\n"),
        3 => writeln!(text, "pub fn {one}(&self, {two}: &[u8]) -> Result<{three}> {{\n    let x = {two}.len() as u32;\n}}"),
        4 => writeln!(text, "\t\t\tthis.{one} = {two} || []; // {three}"),
        5 => writeln!(text, "        {one}[\"{two}\"] = {three}({number}, 0x{number:04X})"),
        _ => writeln!(text, "        # {one} {two} {three}"),
    };
}

fn identifiers(random: &mut Random, text: &mut String) {
    let (one, two) = (identifier(random), random.rare());
    let (wide, narrow) = (random.below(1 << 31), random.below(1 << 16));
    let _ = match random.below(6) {
        0 => write!(text, "{one}-{wide:08x} "),
        1 => write!(text, "{wide:08x}-{narrow:04x}-4{narrow:03x} "),
        2 => write!(text, "/srv/{one}/{two}.py:{narrow} "),
        3 => write!(text, "fix/{two}-{one} #{narrow} "),
        4 => write!(text, "{}{one}{narrow} ", two[..1].to_uppercase()),
        _ => write!(text, "{one}.{two} "),
    };
}

fn cjk(random: &mut Random, text: &mut String) {
    let kana = random.below(8) == 0;
    text.push_str(random.word(if kana { KANA } else { HAN }));
    if random.below(9) == 0 {
        text.push_str(random.pick(&["，", "。", "、", "\n", "：", " GPT ", "2024"]));
    }
}
