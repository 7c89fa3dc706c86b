//! A request as JSON text.

use super::super::json;
use super::super::segment::Segment;
use crate::plain::make::Parts;

/// The bytes of a request. A comma stands behind every value until what it is in ends.
pub(super) struct Body(Vec<u8>);

impl Body {
    /// The body of some segments.
    pub(super) fn of(segments: &[Segment], say: impl FnOnce(&mut Self)) -> Vec<u8> {
        let text: usize = segments.iter().map(|segment| segment.digest().length as usize).sum();
        let mut body = Self(Vec::with_capacity(1024 + text * 9 / 8));
        say(&mut body);
        body.0.pop();
        body.0
    }

    fn enclosed(&mut self, open: u8, close: u8, fill: impl FnOnce(&mut Self)) {
        self.0.push(open);
        fill(self);
        if self.0.last() == Some(&b',') {
            self.0.pop();
        }
        self.0.extend_from_slice(&[close, b',']);
    }

    fn quoted(&mut self, word: &str, mark: u8) {
        self.0.push(b'"');
        self.0.extend_from_slice(word.as_bytes());
        self.0.extend_from_slice(&[b'"', mark]);
    }
}

impl Parts for Body {
    fn text(&mut self, text: &str) {
        json::write_text(&mut self.0, text);
        self.0.push(b',');
    }

    fn word(&mut self, word: &'static str) {
        self.quoted(word, b',');
    }

    fn json(&mut self, json: &str) {
        self.0.extend_from_slice(json.as_bytes());
        self.0.push(b',');
    }

    fn key(&mut self, key: &'static str) {
        self.quoted(key, b':');
    }

    fn list(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclosed(b'[', b']', fill);
    }

    fn map(&mut self, fill: impl FnOnce(&mut Self)) {
        self.enclosed(b'{', b'}', fill);
    }
}
