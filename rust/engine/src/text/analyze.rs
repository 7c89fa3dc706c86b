//! The analyzer of a thread: its scratch memory is used again.

use std::cell::RefCell;

use super::{Analysis, Analyzer};
use crate::units::term_key::TermKey;

/// The terms of a text that is stored.
pub(crate) fn analyze(text: &str, key: impl Into<TermKey>) -> Analysis {
    let mut analysis = Analysis::default();
    with_analyzer(|analyzer| analyzer.document(text, key, &mut analysis));
    analysis
}

/// Runs `work` with this thread's analyzer, whose scratch memory is used again.
pub(crate) fn with_analyzer<T>(work: impl FnOnce(&mut Analyzer) -> T) -> T {
    thread_local! {
        static ANALYZER: RefCell<Analyzer> = RefCell::new(Analyzer::new());
    }
    ANALYZER.with_borrow_mut(work)
}
