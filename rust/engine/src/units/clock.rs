//! Two times of a write: the store's own, which never goes back, and what the clock said.

/// How far the store's time may be ahead of the clock before the clock counts as one that went back: a second, in microseconds. Writes of
/// one instant, and a clock that is adjusted by a little, keep their order.
pub const AHEAD: i64 = 1_000_000;

/// The time that a write tells people: the clock's, where the store's own time `now` ran ahead of it; else `now`.
#[must_use]
pub fn told(now: i64, clock: i64) -> i64 {
    if now.saturating_sub(clock) > AHEAD { clock } else { now }
}
