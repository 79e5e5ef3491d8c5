//! Completion conditions that depend only on the progress of a flow.

use async_trait::async_trait;

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
