//! Conformance suites for validators of Bash commands.

mod corpus;
mod stricter;
mod texts;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use autonoe_core::gate::policy::{BashSecurity, Denial, Verdict};

use self::texts::Text;
use super::checks::{CheckOutcome, Checks, Conformance, Flaw, panic_text};

pub use corpus::bash_security;
pub use stricter::bash_stricter;

/// Checks a [`BashSecurity`] against its contract, with unexpected texts.
///
/// A policy is free to choose what it allows and denies, with one exception: a text that is not
/// valid Bash cannot be understood and must be denied. Use [`bash_security_cases`] for a policy's
/// own verdicts, and [`bash_security`] for a validator that follows the project's rules.
///
/// Every text is checked on a thread with a deadline in real time. A validator that overflows its
/// stack ends the whole test program: no text may cause that.
///
/// ```
/// use autonoe_core::gate::policy::{Denial, Layer, Verdict};
/// use autonoe_testkit::conformance;
///
/// let only_ls = |command: &str| match command {
///     "ls" => Verdict::Allow,
///     _ => Verdict::Deny(Denial::new("only-ls", Layer::User, "only ls may run").at(0..command.len())),
/// };
///
/// conformance::bash_contract(only_ls).assert();
/// ```
pub fn bash_contract(security: impl BashSecurity + 'static) -> Conformance {
    let security: Arc<dyn BashSecurity> = Arc::new(security);
    let not_bash = texts::not_bash();
    let mut texts = texts::hostile();
    texts.extend_from_slice(&not_bash);
    let mut checks = Checks::new("bash security");

    let first = start_judging(&security, &texts).answers();
    let answers = || texts.iter().zip(&first);
    checks.each(
        "no text makes it panic",
        answers(),
        |(text, answer)| match answer {
            Answer::Panicked(message) => Err(Flaw::Failed(format!("{}: {message}", text.label))),
            _ => Ok(()),
        },
    );
    checks.each("every text is answered", answers(), |(text, answer)| {
        ensure!(
            *answer != Answer::TooLate,
            "{}: no answer after {LIMIT:?}",
            text.label
        );
        Ok(())
    });
    checks.each(
        "invalid Bash is denied",
        answers().skip(texts.len() - not_bash.len()),
        |(text, answer)| {
            ensure!(
                *answer != Answer::Verdict(Verdict::Allow),
                "{}: it is allowed",
                text.label
            );
            Ok(())
        },
    );
    checks.each(
        "a denial names its rule, its reason and a place in the text",
        answers(),
        |(text, answer)| match answer {
            Answer::Verdict(Verdict::Deny(denial)) => flaw_of(denial, text),
            _ => Ok(()),
        },
    );

    // A validator that gave no answer is not called again.
    let answering = !first.contains(&Answer::TooLate);
    // In another order: the result must not depend on earlier calls.
    let backwards: Vec<Text> = texts.iter().rev().cloned().collect();
    let repeated = if answering {
        start_judging(&security, &backwards).answers()
    } else {
        Vec::new()
    };
    checks.each(
        "the same text gets the same verdict",
        answers().rev().zip(&repeated),
        same,
    );
    let threads: Vec<_> = if answering {
        (0..4).map(|_| start_judging(&security, &texts)).collect()
    } else {
        Vec::new()
    };
    let at_once: Vec<_> = threads.into_iter().map(PendingVerdicts::answers).collect();
    let pairs = at_once
        .iter()
        .flat_map(|answers_of_one| answers().zip(answers_of_one));
    checks.each("several threads get the same verdict", pairs, same);
    checks.finish()
}

/// Checks the denial of `text`.
fn flaw_of(denial: &Denial, Text { label, text }: &Text) -> CheckOutcome {
    ensure!(!denial.rule.trim().is_empty(), "{label}: the rule is blank");
    ensure!(
        !denial.reason.trim().is_empty(),
        "{label}: the reason is blank"
    );
    let instead = denial.instead.as_deref();
    ensure!(
        !instead.is_some_and(|instead| instead.trim().is_empty()),
        "{label}: the alternative is blank"
    );
    let remedy = denial.remedy.as_deref();
    ensure!(
        !remedy.is_some_and(|remedy| remedy.trim().is_empty()),
        "{label}: the remedy is blank"
    );
    if let Some(span) = &denial.span {
        ensure!(
            text.get(span.clone()).is_some(),
            "{label}: {span:?} is no part of a text of {} bytes",
            text.len()
        );
    }
    Ok(())
}

fn same(((text, first), repeated): ((&Text, &Answer), &Answer)) -> CheckOutcome {
    // Another check reports panics.
    let comparable = !matches!(
        (first, repeated),
        (Answer::Panicked(_), Answer::Panicked(_))
    );
    ensure!(
        !comparable || first == repeated,
        "{}: first {first:?}, then {repeated:?}",
        text.label
    );
    Ok(())
}

/// A command and the verdict that a policy must return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BashCase {
    command: String,
    expected: Expected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Allowed,
    Denied,
}

impl BashCase {
    /// Expects the policy to allow `command`.
    pub fn allowed(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            expected: Expected::Allowed,
        }
    }

    /// Expects the policy to deny `command`.
    pub fn denied(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            expected: Expected::Denied,
        }
    }
}

/// Checks a policy against its own table, one check per case.
///
/// ```
/// use autonoe_core::gate::policy::DenyAll;
/// use autonoe_testkit::conformance::{BashCase, bash_security_cases};
///
/// bash_security_cases(DenyAll, &[BashCase::denied("rm -rf /")]).assert();
/// ```
pub fn bash_security_cases(
    security: impl BashSecurity + 'static,
    cases: &[BashCase],
) -> Conformance {
    let security: Arc<dyn BashSecurity> = Arc::new(security);
    let mut checks = Checks::new("bash security cases");
    for BashCase { command, expected } in cases {
        let text = Text {
            label: format!("{command:?}"),
            text: command.clone(),
        };
        let answer = start_judging(&security, std::slice::from_ref(&text))
            .answers()
            .pop();
        let name = match expected {
            Expected::Allowed => format!("{command:?} is allowed"),
            Expected::Denied => format!("{command:?} is denied"),
        };
        checks.run_sync(&name, || match (answer, expected) {
            (Some(Answer::Verdict(Verdict::Allow)), Expected::Allowed) => Ok(()),
            (Some(Answer::Verdict(Verdict::Deny(denial))), Expected::Denied) => {
                flaw_of(&denial, &text)
            }
            (Some(Answer::Verdict(Verdict::Allow)), _) => Err(Flaw::Failed("it is allowed".into())),
            (Some(Answer::Verdict(Verdict::Deny(denial))), _) => {
                Err(Flaw::Failed(format!("it is denied: {denial}")))
            }
            (answer, _) => Err(Flaw::Failed(format!("there is no verdict: {answer:?}"))),
        });
    }
    checks.finish()
}

/// Far more than any text needs; it only prevents a hanging validator from blocking the test.
const LIMIT: Duration = Duration::from_secs(10);

/// The answer of a validator.
#[derive(Debug, PartialEq)]
enum Answer {
    Verdict(Verdict),
    Panicked(String),
    TooLate,
}

/// A validator that is running on its own thread.
struct PendingVerdicts {
    answers: Receiver<Answer>,
    texts: usize,
}

/// Starts judging the texts one after the other.
fn start_judging(security: &Arc<dyn BashSecurity>, texts: &[Text]) -> PendingVerdicts {
    let (sender, answers) = channel();
    let (security, queue) = (security.clone(), texts.to_vec());
    // Not joined: a hanging thread is abandoned.
    std::thread::spawn(move || {
        for Text { text, .. } in queue {
            let answer = match catch_unwind(AssertUnwindSafe(|| security.check(&text))) {
                Ok(verdict) => Answer::Verdict(verdict),
                Err(panic) => Answer::Panicked(panic_text(panic)),
            };
            if sender.send(answer).is_err() {
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
    fn answers(self) -> Vec<Answer> {
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
