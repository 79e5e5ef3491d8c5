//! Conditions that look at what a flow has reached, and at nothing else.

use async_trait::async_trait;

use super::reached::Reached;
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
