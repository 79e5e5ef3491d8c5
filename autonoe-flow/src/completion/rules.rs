//! Conditions that look at what a flow has reached, and at nothing else.

use async_trait::async_trait;

use crate::definition::{
    CheckBudget, IterationBudget, KeywordSignal, PhaseCompletion, StepMachine, StructuredSignal,
};
use crate::error::FlowError;
use crate::port::{CompletionContext, CompletionHandler, CompletionResult};
use crate::progress::FlowProgress;

/// Says why a condition holds, or `None` while it does not.
pub(super) trait Rule: Send + Sync {
    fn reason(&self, progress: &FlowProgress) -> Option<String>;
}

/// A condition that follows a rule.
#[derive(Debug)]
pub(super) struct Ruled<R> {
    rule: R,
    last: Reached,
}

impl<R> Ruled<R> {
    pub(super) fn by(rule: R) -> Self {
        Self {
            rule,
            last: Reached::default(),
        }
    }
}

#[async_trait]
impl<R: Rule> CompletionHandler for Ruled<R> {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let reason = self.rule.reason(now.progress);
        Ok(self.last.found(reason))
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
            .then(|| "the steps have come to their end".to_owned())
    }
}

impl Rule for IterationBudget {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let limit = self.max_iterations;
        // A limit of zero is refused before the start; nothing is complete by it.
        (limit > 0 && progress.iterations >= u64::from(limit))
            .then(|| format!("the iterations so far: {}", progress.iterations))
    }
}

impl Rule for CheckBudget {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let limit = self.max_checks;
        (limit > 0 && progress.checks >= u64::from(limit))
            .then(|| format!("the checks so far: {}", progress.checks))
    }
}

impl Rule for KeywordSignal {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let is_said = |word: &str| progress.keywords_seen.contains(word);
        if !self.mode.holds(&self.keywords, is_said) {
            return None;
        }
        let said = self.keywords.iter().filter(|word| is_said(word));
        let said: Vec<String> = said.map(|word| format!("`{word}`")).collect();
        Some(format!("the agent said {}", said.join(", ")))
    }
}

impl Rule for StructuredSignal {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let is_given = progress.signals.iter().any(|signal| self.fits(signal));
        is_given.then(|| format!("the agent gave the signal `{}`", self.signal))
    }
}

impl Rule for PhaseCompletion {
    fn reason(&self, progress: &FlowProgress) -> Option<String> {
        let mut phases = self.terminal_phases.iter();
        let phase = phases.find(|phase| progress.phases.contains(*phase))?;
        Some(format!("a step of the phase `{phase}` has passed"))
    }
}

/// What the last check of a condition found: the reason, if it holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reached(Option<String>);

impl Reached {
    /// Keeps what a check found.
    pub(super) fn found(&mut self, reason: Option<String>) -> CompletionResult {
        self.0 = reason;
        self.result()
    }

    /// Forgets what was found, before something looks that may fail.
    pub(super) fn forget(&mut self) {
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
