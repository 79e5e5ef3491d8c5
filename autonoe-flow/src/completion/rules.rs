//! Completion conditions that depend only on the progress of a flow.

use async_trait::async_trait;

use crate::definition::{
    CheckBudget, IterationBudget, KeywordSignal, PhaseCompletion, StepMachine, StructuredSignal,
};
use crate::error::FlowError;
use crate::port::{CompletionContext, CompletionHandler, CompletionResult};
use crate::progress::FlowProgress;

/// Decides whether a condition holds. Returns the reason, or `None` while it does not hold.
pub(super) trait Rule: Send + Sync {
    fn reason(&self, progress: &FlowProgress) -> Option<String>;
}

/// A condition that follows a [`Rule`].
#[derive(Debug)]
pub(super) struct RuleHandler<R> {
    rule: R,
    last: LastResult,
}

impl<R> RuleHandler<R> {
    pub(super) fn new(rule: R) -> Self {
        Self {
            rule,
            last: LastResult::default(),
        }
    }
}

#[async_trait]
impl<R: Rule> CompletionHandler for RuleHandler<R> {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let reason = self.rule.reason(now.progress);
        Ok(self.last.set(reason))
    }

    fn is_complete(&self) -> bool {
        self.last.is_complete()
    }

    fn reason(&self) -> &str {
        self.last.reason()
    }
}

impl Rule for StepMachine {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        progress
            .at_end
            .then(|| "the flow reached the end of its steps".to_owned())
    }
}

impl Rule for IterationBudget {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let limit = self.max_iterations;
        // Validation rejects a limit of zero before the start, so it never completes a flow.
        (limit > 0 && progress.iterations >= u64::from(limit))
            .then(|| format!("iterations so far: {}", progress.iterations))
    }
}

impl Rule for CheckBudget {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let limit = self.max_checks;
        (limit > 0 && progress.checks >= u64::from(limit))
            .then(|| format!("checks so far: {}", progress.checks))
    }
}

impl Rule for KeywordSignal {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let is_seen = |word: &str| progress.keywords_seen.contains(word);
        if !self.mode.holds(&self.keywords, is_seen) {
            return None;
        }
        let seen = self.keywords.iter().filter(|word| is_seen(word));
        let seen: Vec<String> = seen.map(|word| format!("`{word}`")).collect();
        Some(format!("the agent said {}", seen.join(", ")))
    }
}

impl Rule for StructuredSignal {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let is_given = progress.signals.iter().any(|signal| self.matches(signal));
        is_given.then(|| format!("the agent sent the signal `{}`", self.signal))
    }
}

impl Rule for PhaseCompletion {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let mut phases = self.terminal_phases.iter();
        let phase = phases.find(|phase| progress.phases.contains(*phase))?;
        Some(format!("a step of the phase `{phase}` has passed"))
    }
}

/// Result of the last check of a condition: the reason, if it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct LastResult(Option<String>);

impl LastResult {
    /// Stores the result of a check.
    pub(super) fn set(&mut self, reason: Option<String>) -> CompletionResult {
        self.0 = reason;
        self.result()
    }

    /// Resets the result, before a check that may fail.
    pub(super) fn reset(&mut self) {
        self.0 = None;
    }

    pub(super) fn is_complete(&self) -> bool {
        self.0.is_some()
    }

    pub(super) fn reason(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    fn result(&self) -> CompletionResult {
        match &self.0 {
            Some(reason) => CompletionResult::Complete {
                reason: reason.clone(),
            },
            None => CompletionResult::Incomplete,
        }
    }
}
