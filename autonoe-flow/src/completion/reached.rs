//! What the last check of a condition found.

use crate::port::CompletionResult;

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
