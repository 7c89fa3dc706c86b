//! Counters of one open store: plain atomics, read by `engine.metrics()`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! metrics {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// Counters since this process opened the store.
        #[derive(Debug, Default)]
        pub struct Metrics {
            $($(#[$doc])* pub $name: AtomicU64,)+
        }

        impl Metrics {
            /// Every counter with its name, in a fixed order.
            #[must_use]
            pub fn snapshot(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name.load(Relaxed)),)+]
            }
        }
    };
}

metrics! {
    /// Write transactions committed.
    commits,
    /// Operations that wrote something in them; more than `commits` where writers shared a sync.
    writes,
    /// Writes that gave up in the queue.
    writes_timed_out,
    /// Microseconds spent between the first page written and the sync's return.
    commit_microseconds,
    /// Read transactions begun.
    reads,
    /// Recalls answered.
    recalls,
    /// Recalls answered without the vectors that were expected.
    recalls_degraded,
    /// Memories written, whatever became of them.
    memories_written,
    /// Texts in which the policy found something that it refuses or takes out.
    texts_screened,
    /// Parts of messages that the write gate judged, those of dry runs included.
    gate_seen,
    /// Parts that the gate judged to be preferences.
    gate_preference,
    /// Parts that the gate judged to be decisions.
    gate_decision,
    /// Parts that the gate judged to be ends of tasks.
    gate_task_outcome,
    /// Parts that the gate judged to be constraints.
    gate_constraint,
    /// Parts that the gate judged to be facts.
    gate_semantic,
    /// Parts that the gate judged to be events.
    gate_episodic,
    /// Parts that the gate judged to be attributes of the user.
    gate_profile,
    /// Parts that the gate judged and that are not stored.
    gate_discard,
    /// Claims of which something new is stored, or what was known was reinforced.
    gate_stored,
    /// Claims that wait for approval.
    gate_quarantined,
    /// Vectors that could not be made when their memory was written.
    vectors_pending,
    /// Texts that an embedder of the caller's was asked to embed, questions and probes included.
    texts_embedded,
    /// Vectors for which it was not asked, because a current memory of the same text had them.
    vectors_reused,
    /// Questions for which it was not asked, because the same one had been asked before.
    questions_reused,
    /// Documents added to collections, duplicates left out.
    documents_written,
    /// Searches of collections.
    searches,
    /// Those answered without the vectors that were expected.
    searches_degraded,
    /// Tokens that prompts were planned to cost whose replies were added: counted, or bounded.
    tokens_planned,
    /// Input tokens that providers billed for them, cached ones included.
    tokens_billed,
    /// Billed input tokens that were read from a provider's cache.
    tokens_cached,
    /// Tokens of replies that were billed.
    tokens_output,
    /// Prompts that cost more than their bound.
    bounds_exceeded,
    /// Usages of replies that contradict themselves, or that cannot be: more tokens than bytes or than the window, under a quarter of what was counted.
    usages_ignored,
    /// Graphs over vectors that were built.
    graphs_built,
    /// Times another process compacted the store and this one moved on.
    generations_followed,
    /// Slots of the reader table taken back from processes that died.
    stale_readers_cleared,
}

/// Adds to a counter.
pub fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Relaxed);
}
