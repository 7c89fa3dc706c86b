//! The analyzer's output, pinned. A change here is a change of output: raise `ANALYZER_VERSION` with it.

use super::scan::{Scratch, scan};
use super::terms::{Role, Sink, Term, TermClass};
use super::*;

/// Writes the terms of a document down, in the order in which they are found.
#[derive(Default)]
struct Recorder(Vec<String>);

impl Recorder {
    fn note(&mut self, class: TermClass, term: &Term) {
        let prefix = match class {
            TermClass::Word => "",
            TermClass::Whole => "=",
            TermClass::Stem => "~",
            TermClass::Gram => "|",
            TermClass::Accent => "^",
            TermClass::Key => "!",
        };
        self.0.push(prefix.to_owned() + std::str::from_utf8(term.bytes()).expect("terms are UTF-8"));
    }
}

impl Sink for Recorder {
    const SINGLES: bool = true;

    fn term(&mut self, _: Role, class: TermClass, term: &mut Term) {
        self.note(class, term);
    }

    fn word(&mut self, term: &mut Term) {
        self.note(TermClass::Word, term);
        if let Some(stem) = stem::stem(term.bytes()) {
            term.truncate(stem.keep);
            term.push(stem.end);
            self.note(TermClass::Stem, term);
        }
    }

    fn advance(&mut self, _: usize) {}
}

fn document_terms(text: &str) -> String {
    let mut recorder = Recorder::default();
    scan(text, &mut Scratch::default(), &mut recorder);
    recorder.0.join(" ")
}

fn query_terms(text: &str) -> String {
    let terms = Analyzer::new().query(text, 0).terms;
    terms.iter().map(|t| format!("{}*{}", t.text, t.weight)).collect::<Vec<_>>().join(" ")
}

/// Text of a document, its terms: plain ones are words, `=` wholes, `~` stems, `|` bigrams, `^` accented forms.
const DOCUMENTS: [(&str, &str); 58] = [
    ("Prefers Go for scripting", "prefers ~prefer go for scripting ~script"),
    ("see payments-api.", "see =payments-api payments api"),
    ("`payments-api`", "=payments-api payments api"),
    ("PR #4521 (merged)", "pr 4521 merged ~merg"),
    ("4521", "4521"),
    ("fix/auth-timeout", "=fix/auth-timeout =auth-timeout fix auth timeout"),
    ("prod-eu-west-1", "=prod-eu-west-1 prod eu west 1"),
    (":8443", "8443"),
    ("localhost:8443", "=localhost:8443 localhost 8443"),
    ("getUserById", "getuserbyid get user by id"),
    ("HTTPServer", "httpserver http server"),
    ("the APIs of S3Bucket", "the apis of s3bucket 3 s3 bucket"),
    ("FOO_BAR", "=foo_bar foo bar"),
    ("$HOME and ${FOO_BAR}", "home and =foo_bar foo bar"),
    ("foo.bar()", "=foo.bar foo bar"),
    ("connect() failed", "connect failed ~fail"),
    (
        "src/auth/login_form.rs:120",
        "=src/auth/login_form.rs:120 =login_form.rs:120 =src/auth/login_form.rs =login_form.rs =login_form src auth login form rs 120",
    ),
    ("C:\\Users\\bob\\file.txt", "=c:/users/bob/file.txt =users/bob/file.txt =file.txt c users bob file txt"),
    ("C:/Users/bob/file.txt", "=c:/users/bob/file.txt =users/bob/file.txt =file.txt c users bob file txt"),
    ("/etc/hosts", "=etc/hosts etc hosts"),
    (
        "https://payments-api.internal:8443/v1/health?full=1#top",
        "https =payments-api.internal:8443/v1/health?full=1#top =payments-api.internal:8443 =health?full=1#top =payments-api.internal =payments-api =8443/v1/health payments api internal 8443 v1 1 health full 1 top",
    ),
    ("http://localhost/", "http localhost"),
    ("alice.smith+tag@example.com", "=alice.smith+tag@example.com =alice.smith =example.com alice smith tag example com"),
    (
        "git@github.com:org/repo.git",
        "=git@github.com:org/repo.git =git@github.com:org =github.com =org/repo.git =repo.git git github com org repo git",
    ),
    ("550e8400-e29b-41d4-a716-446655440000", "=550e8400-e29b-41d4-a716-446655440000 550e8400 e29b 41d4 a716 716 446655440000"),
    ("9f86d081884c7d65", "9f86d081884c7d65"),
    ("v1.2.3", "=1.2.3 v1 1 2 3"),
    ("release-v1.2.3", "=release-v1.2.3 =release-v1 =1.2.3 release v1 1 2 3"),
    ("1.2.3", "=1.2.3 1 2 3"),
    ("gpt-4o", "=gpt-4o gpt 4o"),
    ("JIRA-4521", "=jira-4521 jira 4521"),
    ("CVE-2024-12345", "=cve-2024-12345 cve 2024 12345"),
    ("2024-05-12", "=2024-05-12 2024 05 12"),
    ("2024-05-12T10:30:00Z", "=2024-05-12t10:30:00z =2024-05-12t10 =2024-05-12 2024 05 12t10 30 00z"),
    ("10.0.0.1", "=10.0.0.1 10 0 0 1"),
    ("$1,200.50", "=1200.50 1200 1 200 50"),
    ("1,200", "1200 1 200"),
    ("k8s 2nd 5pm 10k python3 OAuth2", "k8s 2nd 5pm 10k python3 3 python oauth2 2 auth"),
    ("C++ and C#", "=c++ c and =c# c"),
    ("e.g. the U.S.A.", "eg the usa"),
    ("don't we'll user's O'Brien", "dont we user obrien"),
    ("l’école", "^école ecole ~ecol"),
    ("Straße STRASSE", "strasse ~strass strasse ~strass"),
    ("café cafe\u{301}", "^café cafe ^café cafe"),
    ("Łódź", "^łódź lodz"),
    ("año", "^año ano"),
    ("ёлка", "^ёлка елка"),
    ("数据库端口", "|数 |据 |数据 |库 |据库 |端 |库端 |口 |端口"),
    ("サーバーは8443です", "|サ |ー |サー |バ |ーバ |ー |バー |は |ーは 8443 |で |す |です"),
    ("서버는", "|서 |버 |서버 |는 |버는"),
    ("สวัสดี", "|ส |วั |สวั |ส |วัส |ดี |สดี"),
    ("قرّاء ٨٤٤٣", "^قرّاء قراء 8443"),
    ("--dry-run -v", "=dry-run dry run v"),
    ("@alice in #incidents", "alice in incidents"),
    ("std::sync::Arc", "=std::sync::arc std sync arc"),
    ("AT&T R&D and/or well-known", "=at&t at t =r&d r d =and/or and or =well-known well known"),
    ("**bold** _it_ [link](https://a.io/x).", "bold it link https =a.io/x =a.io a io x"),
    ("wait...what--now", "wait what now"),
];

/// A query, its terms and weights.
const QUERIES: [(&str, &str); 10] = [
    ("which port does payments-api use?", "payments-api*3 port*1 use*1 payments*0.5 api*0.5 port*0.5 use*0.5"),
    ("what is #4521?", "4521*3 what*1 is*1 what*0.5 is*0.5"),
    ("fix/auth-timeout", "fix/auth-timeout*3 auth-timeout*1 fix*0.5 auth*0.5 timeout*0.5"),
    ("Who configured getUserById?", "getuserbyid*3 configured*1 get*0.5 user*0.5 by*0.5 id*0.5 configur*0.5 configur*0.5"),
    ("payments payment", "payments*1 payment*1 payment*0.5"),
    ("año nuevo", "ano*1 nuevo*1 año*0.5 ano*0.5 nuevo*0.5"),
    ("数据库", "数据*1 据库*1"),
    ("猫", "猫*1"),
    (
        "src/auth/login.rs:120",
        "src/auth/login.rs:120*3 login.rs:120*1 src/auth/login.rs*1 login.rs*1 120*1 src*0.5 auth*0.5 login*0.5 rs*0.5",
    ),
    ("what did we say about PR #4521 in the last meeting?", "4521*3 say*1 pr*1 last*1 meeting*1 say*0.5 pr*0.5 last*0.5 meet*0.5 meet*0.5"),
];

#[test]
fn documents() {
    for (text, terms) in DOCUMENTS {
        assert_eq!(document_terms(text), terms, "{text}");
    }
}

#[test]
fn queries() {
    for (text, terms) in QUERIES {
        assert_eq!(query_terms(text), terms, "{text}");
    }
}

/// The hashes themselves: the classes' bytes, the seed, xxh3.
#[test]
fn hashes() {
    let mut out = Analysis::default();
    Analyzer::new().document("payments-api café 数据 8443", 42, &mut out);
    let sum = out.terms.iter().fold(0u64, |sum, t| sum.rotate_left(7) ^ t.hash.wrapping_add(t.count.into()));
    assert_eq!((out.terms.len(), out.length, sum), (9, 6, 9_184_731_619_489_219_447));
    assert_eq!(ANALYZER_VERSION, 1);
}
