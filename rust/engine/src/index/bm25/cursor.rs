//! A cursor over the postings of one term: forward only, run by run, decoding no run that it can pass over.

use super::block::List;
use super::formula::Formula;
use super::layout::{BlockKeys, NO_NUMBER, malformed};
use super::lengths::Lengths;
use super::list::{Run, RunHead};
use super::lookup::{self, Met};
use super::window::Window;
use crate::Result;
use crate::store::pages::Pages;

/// The part of a list that one block holds.
#[derive(Clone)]
struct Piece<'p> {
    key: &'p [u8],
    first: u32,
    max_count: u8,
    min_length: u32,
    list: List<'p>,
}

#[derive(Clone)]
pub(super) struct Cursor<'p> {
    pieces: Vec<Piece<'p>>,
    postings: u64,
    piece: usize,
    run: usize,
    /// The first document of the run at `piece`, `run`, and of the one behind it.
    first: u32,
    next_first: u32,
    head: Option<RunHead>,
    decoded: bool,
    /// The next posting of the decoded run.
    at: usize,
    buffer: Box<Run>,
}

impl<'p> Cursor<'p> {
    /// A cursor before the first posting of `term` in blocks that follow each other in the order of documents. Each has what was met.
    pub fn open<P: Pages>(pages: &'p P, blocks: &mut [(BlockKeys, Met<'p>)], term: u64) -> Result<Self> {
        let mut cursor = Self::over_nothing();
        for (keys, met) in blocks {
            lookup::lists(pages, *keys, term, met, |key, list| cursor.push(key, list))?;
        }
        cursor.enter()?;
        Ok(cursor)
    }

    /// A cursor over lists that were looked up, with the keys of their blocks.
    pub fn over(lists: &[(&'p [u8], List<'p>)]) -> Result<Self> {
        let mut cursor = Self::over_nothing();
        for (key, list) in lists {
            cursor.push(key, *list)?;
        }
        cursor.enter()?;
        Ok(cursor)
    }

    fn over_nothing() -> Self {
        Self {
            pieces: Vec::new(),
            postings: 0,
            piece: 0,
            run: 0,
            first: NO_NUMBER,
            next_first: 0,
            head: None,
            decoded: false,
            at: 0,
            buffer: Box::new(Run::new()),
        }
    }

    fn push(&mut self, key: &'p [u8], list: List<'p>) -> Result<()> {
        let (postings, first, max_count, min_length) = match list {
            List::Packed(packed) => (packed.postings, packed.head(0)?.first, packed.max_count, packed.min_length),
            List::Short(bytes) => {
                self.buffer.decode_short(bytes).ok_or_else(|| malformed(key))?;
                let max_count = self.buffer.counts[..self.buffer.len].iter().copied().max().unwrap_or(0);
                (self.buffer.len as u32, self.buffer.numbers[0], max_count, 0)
            }
        };
        self.postings += postings as u64;
        self.pieces.push(Piece { key, first, max_count, min_length, list });
        Ok(())
    }

    /// How many postings the blocks hold.
    pub fn postings(&self) -> u64 {
        self.postings
    }

    /// No document before this one is left; `None` at the end.
    pub fn next(&self) -> Option<u32> {
        let decoded = self.buffer.numbers[..self.buffer.len].get(self.at).filter(|_| self.decoded).copied();
        (self.piece < self.pieces.len()).then_some(decoded.unwrap_or(self.first))
    }

    /// Reads the head of the run at `piece`, `run`.
    fn enter(&mut self) -> Result<()> {
        let Some(piece) = self.pieces.get(self.piece) else {
            self.first = NO_NUMBER;
            return Ok(());
        };
        let after = self.pieces.get(self.piece + 1).map_or(NO_NUMBER, |next| next.first);
        (self.first, self.next_first, self.head) = match piece.list {
            List::Short(_) => (piece.first, after, None),
            List::Packed(packed) => {
                let head = packed.head(self.run)?;
                let next = if self.run + 1 < packed.runs() { packed.head(self.run + 1)?.first } else { after };
                (head.first, next, Some(head))
            }
        };
        self.decoded = false;
        self.at = 0;
        if self.first < self.next_first { Ok(()) } else { Err(malformed(piece.key)) }
    }

    fn advance(&mut self) -> Result<()> {
        let runs = self.pieces.get(self.piece).map_or(0, Piece::runs);
        self.run += 1;
        if self.run >= runs {
            self.piece += 1;
            self.run = 0;
        }
        self.enter()
    }

    /// Moves towards `number`: to the run that would hold it, and within a decoded run to the first posting at or behind it.
    ///
    /// The last run is decoded, or nobody would ever know that it is over.
    pub fn seek(&mut self, number: u32) -> Result<()> {
        while self.piece < self.pieces.len() {
            if self.next_first > number {
                if self.first >= number || (!self.decoded && self.next_first != NO_NUMBER) {
                    break;
                }
                self.decode()?;
                self.step(number);
                if self.at < self.buffer.len {
                    break;
                }
            }
            self.advance()?;
        }
        Ok(())
    }

    fn decode(&mut self) -> Result<()> {
        if self.decoded {
            return Ok(());
        }
        let piece = &self.pieces[self.piece];
        let decoded = match (piece.list, &self.head) {
            (List::Short(bytes), _) => self.buffer.decode_short(bytes),
            (List::Packed(packed), Some(head)) => head.decode(packed.bytes_from(self.run)?, &mut self.buffer),
            (List::Packed(_), None) => None,
        };
        let last = decoded.and_then(|()| self.buffer.numbers[..self.buffer.len].last());
        match last {
            Some(&last) if last < self.next_first => self.decoded = true,
            _ => return Err(malformed(piece.key)),
        }
        Ok(())
    }

    /// Moves within the decoded run to the first posting at or behind `number`.
    fn step(&mut self, number: u32) {
        self.at += self.buffer.numbers[self.at..self.buffer.len].partition_point(|&n| n < number);
    }

    /// How often document `number` has the term; `None` if it has not. Numbers must be asked for in order.
    pub fn count_at(&mut self, number: u32) -> Result<Option<u8>> {
        self.seek(number)?;
        if self.first > number || self.piece >= self.pieces.len() {
            return Ok(None);
        }
        self.decode()?;
        self.step(number);
        let found = self.at < self.buffer.len && self.buffer.numbers[self.at] == number;
        Ok(found.then(|| self.buffer.counts[self.at]))
    }

    /// Calls `visit` with every document that is left.
    pub fn each(&mut self, mut visit: impl FnMut(u32)) -> Result<()> {
        while self.piece < self.pieces.len() {
            self.decode()?;
            self.buffer.numbers[self.at..self.buffer.len].iter().for_each(|number| visit(*number));
            self.advance()?;
        }
        Ok(())
    }

    /// The most that the term adds to any document from `start` up to `end`.
    pub fn bound(&mut self, start: u32, end: u32, formula: &Formula, factor: f64) -> Result<i64> {
        self.seek(start)?;
        let (mut max_count, mut min_length, mut run) = (0, u32::MAX, self.run);
        for piece in self.pieces[self.piece.min(self.pieces.len())..].iter().take_while(|piece| piece.first < end) {
            match piece.list {
                List::Short(_) => {
                    max_count = max_count.max(piece.max_count);
                    min_length = min_length.min(piece.min_length);
                }
                List::Packed(packed) => {
                    for run in run..packed.runs() {
                        let head = packed.head(run)?;
                        if head.first >= end {
                            break;
                        }
                        max_count = max_count.max(head.max_count);
                        min_length = min_length.min(head.min_length());
                    }
                }
            }
            run = 0;
        }
        Ok(formula.bound(factor, max_count, min_length))
    }

    /// Adds what the term gives to every document of `window`.
    pub fn accumulate(&mut self, window: &mut Window, formula: &Formula, factor: f64, lengths: &mut impl Lengths) -> Result<()> {
        self.seek(window.start)?;
        while self.piece < self.pieces.len() && self.first < window.end {
            self.decode()?;
            self.step(window.start);
            let end = self.at + self.buffer.numbers[self.at..self.buffer.len].partition_point(|&n| n < window.end);
            window.score(&self.buffer.numbers[self.at..end], &self.buffer.counts[self.at..end], formula, factor, lengths)?;
            self.at = end;
            if end < self.buffer.len {
                break;
            }
            self.advance()?;
        }
        Ok(())
    }
}

impl Piece<'_> {
    fn runs(&self) -> usize {
        match self.list {
            List::Short(_) => 1,
            List::Packed(packed) => packed.runs(),
        }
    }
}
