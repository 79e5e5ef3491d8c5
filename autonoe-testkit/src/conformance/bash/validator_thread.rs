//! Calls a validator on another thread with a time limit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use autonoe_core::gate::policy::{BashSecurity, Verdict};

use super::texts::Text;
use crate::conformance::checks::panic_text;

/// Far more than any text needs; it only prevents a hanging validator from blocking the test.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// The answer of a validator.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Verdict(Verdict),
    Panicked(String),
    TooLate,
}

/// A validator that is running on its own thread.
pub(super) struct PendingVerdicts {
    answers: Receiver<Answer>,
    texts: usize,
}

/// Starts judging the texts one after the other.
pub(super) fn start_judging(security: &Arc<dyn BashSecurity>, texts: &[Text]) -> PendingVerdicts {
    let (tell, answers) = channel();
    let (security, asked) = (security.clone(), texts.to_vec());
    // Not joined: a hanging thread is abandoned.
    std::thread::spawn(move || {
        for Text { text, .. } in asked {
            let answer = match catch_unwind(AssertUnwindSafe(|| security.check(&text))) {
                Ok(verdict) => Answer::Verdict(verdict),
                Err(panic) => Answer::Panicked(panic_text(panic)),
            };
            if tell.send(answer).is_err() {
                return;
            }
        }
    });
    PendingVerdicts {
        answers,
        texts: texts.len(),
    }
}

impl PendingVerdicts {
    /// Waits for the answers, up to the first text without one.
    pub(super) fn answers(self) -> Vec<Answer> {
        self.answers_within(LIMIT)
    }

    fn answers_within(self, limit: Duration) -> Vec<Answer> {
        let mut answers = Vec::new();
        while answers.len() < self.texts {
            match self.answers.recv_timeout(limit) {
                Ok(answer) => answers.push(answer),
                Err(_) => {
                    answers.push(Answer::TooLate);
                    break;
                }
            }
        }
        answers
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::gate::policy::DenyAll;

    use super::*;

    #[test]
    fn a_validator_that_hangs_is_left_alone() {
        let security: Arc<dyn BashSecurity> = Arc::new(|command: &str| {
            if command == "hang" {
                loop {
                    std::thread::park();
                }
            }
            DenyAll.check(command)
        });
        let texts = ["ls", "hang", "never asked"].map(|text| Text {
            label: text.to_owned(),
            text: text.to_owned(),
        });

        let answers = start_judging(&security, &texts).answers_within(Duration::from_millis(10));

        // On a busy machine even the first answer may be late.
        assert_eq!(answers.last(), Some(&Answer::TooLate));
        assert!(answers.len() < texts.len());
    }
}
