//! How much may travel.
//!
//! The server refuses what is larger than two megabytes, and says so in a way that nobody can make
//! something of: a run whose result it refuses seems to have lost its worker. So it is refused here,
//! with words.

use std::io;

use autonoe_core::{Failure, RunOutcome};
use serde::Serialize;
use serde_json::Value;

/// The most bytes of one value. What a run is to do is twice in what its workflow begins with, and
/// once beside it.
pub(crate) const MOST: usize = 768 * 1024;

/// The most bytes that a run is told before it has heard them: they go into one session.
pub(crate) const MOST_UNHEARD: usize = 256 * 1024;

/// Says that something is too large to travel, if it is.
pub(crate) fn too_large(what: &str, value: &impl Serialize) -> Option<String> {
    let size = size(value);
    (size > MOST).then(|| {
        format!("{what} has {size} bytes, and at most {MOST} travel: name large things, do not send them")
    })
}

/// Returns an outcome that can travel. Work whose result cannot be told is not done for who waits
/// for it.
pub(crate) fn bounded(outcome: RunOutcome) -> RunOutcome {
    let Some(why) = too_large("what the run came to", &outcome) else {
        return outcome;
    };
    let failed = Failure::permanent("output_too_large", why);
    let without_output = outcome.with_output(Value::Null);
    match without_output.is_success() || size(&without_output) > MOST {
        true => {
            let mut told = RunOutcome::failed(failed).with_spent(without_output.spent);
            told.sessions = without_output.sessions;
            told
        }
        // That it failed or was cancelled, and why, is more than what it gave.
        false => without_output,
    }
}

fn size(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        // What is no JSON is refused where it is sent.
        Err(_) => 0,
    }
}

/// Counts what is written.
struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::{RunEnding, Spent};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_small_travels_as_it_is() {
        let outcome = RunOutcome::succeeded(json!("done"));

        assert_eq!(bounded(outcome.clone()), outcome);
    }

    #[test]
    fn a_run_that_gave_too_much_has_failed_and_says_so() {
        let spent = Spent {
            time: std::time::Duration::from_secs(7),
            ..Spent::default()
        };
        let much = RunOutcome::succeeded(json!("x".repeat(MOST)));

        let told = bounded(much.with_spent(spent).with_sessions(3));

        let RunEnding::Failed { failure } = &told.ending else {
            panic!("{told:?}");
        };
        assert_eq!(failure.code, "output_too_large");
        assert!(failure.message.contains("786432"), "{}", failure.message);
        assert_eq!((told.spent, told.sessions), (spent, Some(3)));
        assert!(size(&told) < 1000);
    }

    #[test]
    fn that_a_run_was_cancelled_is_told_without_what_it_gave() {
        let much = json!("x".repeat(MOST));

        let told = bounded(RunOutcome::cancelled("enough").with_output(much));

        assert_eq!(told, RunOutcome::cancelled("enough"));
    }

    #[test]
    fn what_is_counted_is_what_would_be_sent() {
        let value = json!({"a": [1, 2], "b": "ä\n"});

        assert_eq!(
            size(&value),
            serde_json::to_vec(&value).expect("JSON").len()
        );
    }
}
