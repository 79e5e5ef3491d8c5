//! Collected failures of a whole run.

use std::fmt::Debug;

/// Failures of one run, reported together: a run is expensive, and one cause often has many effects.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<String>);

impl Findings {
    pub(crate) fn add(&mut self, finding: impl Into<String>) {
        self.0.push(finding.into());
    }

    /// Records a difference between two values.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers build the values on the spot"
    )]
    pub(crate) fn same<A: Debug + PartialEq<E>, E: Debug>(
        &mut self,
        subject: &str,
        actual: A,
        expected: E,
    ) {
        if actual != expected {
            self.add(format!("{subject}: {actual:?} instead of {expected:?}"));
        }
    }

    /// Records that `text` lacks a part.
    pub(crate) fn contains(&mut self, subject: &str, text: &str, part: &str) {
        if !text.contains(part) {
            self.add(format!("{subject} has no {part:?}: {text}"));
        }
    }

    /// Fails the test if there is a finding. `context` is printed with them.
    pub(crate) fn report(self, context: &str) {
        let findings = self.0.join("\n- ");
        assert!(findings.is_empty(), "\n- {findings}\n{context}");
    }
}
