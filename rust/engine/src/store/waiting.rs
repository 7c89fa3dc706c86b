//! Waiting for other processes: in short tries, until a deadline, and never for ever.
//!
//! `flock` itself would wait without end and deaf to signals. So whoever needs a lock tries, sleeps a little, and tries again. In
//! between, about every 100 ms, it asks what [`ask_while_waiting`] was given: the binding's way to let Ctrl-C through.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// Between two tries. Short: whoever polls rarely starves beside a process that takes the lock again at once.
const LONGEST_PAUSE: Duration = Duration::from_micros(200);

/// Between two questions whether to go on.
const SLICE: Duration = Duration::from_millis(100);

static QUESTION: OnceLock<fn() -> Result<()>> = OnceLock::new();

/// Has every long wait call `question` on the waiting thread, about every 100 ms; an error ends the wait. The first call counts.
pub fn ask_while_waiting(question: fn() -> Result<()>) {
    let _ = QUESTION.set(question);
}

/// Calls `attempt` until it gives something, fails, or `deadline` has passed: `None` then. It is called once at least.
pub fn until<T>(deadline: Instant, mut attempt: impl FnMut() -> Result<Option<T>>) -> Result<Option<T>> {
    let (mut pause, mut asked) = (Duration::from_micros(20), Instant::now());
    loop {
        if let Some(value) = attempt()? {
            return Ok(Some(value));
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(None);
        }
        if now - asked >= SLICE {
            QUESTION.get().map_or(Ok(()), |question| question())?;
            asked = now;
        }
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
