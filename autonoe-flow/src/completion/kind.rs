//! [`CompletionKind`]: what each kind of completion condition decides; [`Rule`]: conditions on
//! progress alone.

use async_trait::async_trait;

use super::dependencies::CompletionDependencies;
use crate::error::FlowError;
use crate::port::{CompletionContext, CompletionHandler, CompletionResult};
use crate::progress::{FlowProgress, Triggers};
use crate::walk::Formula;

/// A kind of completion condition.
///
/// No function has a default: each kind decides about each of them.
pub(crate) trait CompletionKind {
    /// Builds the handler that decides whether the condition holds.
    ///
    /// # Errors
    ///
    /// A dependency is missing. The message names it.
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError>;

    /// Returns the mistakes in its settings.
    fn mistakes(&self) -> Vec<Mistake>;

    /// Returns the condition as far as the graph determines it.
    fn formula(&self) -> Formula;

    /// Describes that no path reaches the condition; `None` if this is not reported.
    fn unreachable(&self) -> Option<Unreachable>;

    /// Returns what it needs from the flow and the project.
    fn needs(&self) -> Needs;
}

/// A mistake in the settings of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The place, as a JSON pointer into the settings.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

impl Mistake {
    pub(crate) fn new(
        pointer: impl Into<String>,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self {
            pointer: pointer.into(),
            message: message.into(),
            hint,
        }
    }

    /// Returns the mistake with `at` in front of its pointer.
    pub(crate) fn below(mut self, at: &str) -> Self {
        self.pointer.insert_str(0, at);
        self
    }
}

/// A condition that no path through the steps reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unreachable {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

/// The parts of the flow and the project that conditions need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) reads_ledger: bool,
    pub(crate) runs_command: bool,
    /// The keywords and signals that they wait for.
    pub(crate) triggers: Triggers,
}

impl Needs {
    pub(crate) fn keywords(words: &[String]) -> Self {
        Self {
            triggers: Triggers::from_keywords(words),
            ..Self::default()
        }
    }

    /// Adds the needs of another condition.
    pub(crate) fn merge(&mut self, other: Self) {
        self.reads_ledger |= other.reads_ledger;
        self.runs_command |= other.runs_command;
        self.triggers.merge(other.triggers);
    }
}

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
