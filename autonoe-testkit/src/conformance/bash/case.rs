//! Suite for a policy's own table of commands.

use std::sync::Arc;

use autonoe_core::gate::policy::{BashSecurity, Verdict};

use super::flaw_of;
use super::texts::Text;
use super::validator_thread::{Answer, start_judging};
use crate::conformance::checks::{Checks, Flaw};
use crate::conformance::report::Conformance;

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
