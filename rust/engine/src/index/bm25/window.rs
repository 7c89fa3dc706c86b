//! A window of document numbers, with a score for each: what one step of a search works on.

/// Documents of a window: 32 KiB of scores.
pub(super) const WINDOW: usize = 4096;

pub(super) struct Window {
    /// The first document.
    pub start: u32,
    /// The first document that is not in it any more.
    pub end: u32,
    scores: Vec<i64>,
    /// One bit for each document that has a score.
    matched: Vec<u64>,
}

impl Window {
    /// A window for numbers that probably stay below `documents`.
    pub fn new(documents: u64) -> Self {
        let size = (documents as usize).clamp(64, WINDOW).next_multiple_of(64);
        Self { start: 0, end: 0, scores: vec![0; size], matched: vec![0; size / 64] }
    }

    /// Moves the window, which is empty.
    pub fn move_to(&mut self, start: u32) {
        self.start = start;
        self.end = start.saturating_add(self.scores.len() as u32);
    }

    /// Adds to the score of `number`, which is in the window.
    #[inline]
    pub fn add(&mut self, number: u32, score: i64) {
        let at = number.wrapping_sub(self.start) as usize;
        if let Some(sum) = self.scores.get_mut(at) {
            *sum += score;
            self.matched[at / 64] |= 1 << (at % 64);
        }
    }

    /// Empties the window into `visit`, in the order of numbers.
    pub fn drain<E>(&mut self, mut visit: impl FnMut(u32, i64) -> Result<(), E>) -> Result<(), E> {
        for (word, matched) in self.matched.iter_mut().enumerate() {
            let mut bits = std::mem::take(matched);
            while bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                visit(self.start + at as u32, std::mem::take(&mut self.scores[at]))?;
            }
        }
        Ok(())
    }
}
