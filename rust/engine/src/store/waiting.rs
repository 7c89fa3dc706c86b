//! Waiting for other processes: in short tries, until a deadline, and never for ever.
//!
//! `flock` itself would wait without end and deaf to signals. So a call that needs a lock tries, sleeps a little, and tries again, unless
//! its caller was interrupted ([`crate::interrupt`]).

use std::thread;
use std::time::{Duration, Instant};

use crate::{Result, interrupt};

/// Between two tries. Short, because a process that polls rarely starves beside one that takes the lock again at once.
const LONGEST_PAUSE: Duration = Duration::from_micros(200);

/// Calls `attempt` until it gives something, fails, or `deadline` has passed: `None` then. It is called once at least.
pub fn until<T>(deadline: Instant, mut attempt: impl FnMut() -> Result<Option<T>>) -> Result<Option<T>> {
    let mut pause = Duration::from_micros(20);
    loop {
        if let Some(value) = attempt()? {
            return Ok(Some(value));
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(None);
        }
        interrupt::check()?;
        thread::sleep(pause.min(deadline - now));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_what_it_waits_for_or_at_its_deadline() {
        let mut tries = 0;
        let mut third = || {
            tries += 1;
            Ok((tries == 3).then_some("here"))
        };
        assert_eq!(until(Instant::now() + Duration::from_secs(5), &mut third).expect("no error"), Some("here"));
        let started = Instant::now();
        assert_eq!(until(started + Duration::from_millis(20), || Ok(None::<()>)).expect("no error"), None);
        assert!(started.elapsed() >= Duration::from_millis(20));
        assert_eq!(until(started, || Ok(Some(1))).expect("no error"), Some(1), "a deadline that is over allows one try");
    }
}
