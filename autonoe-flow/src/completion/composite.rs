//! Composite completion conditions at run time: any or all of several parts.

use async_trait::async_trait;

use super::rules::LastResult;
use crate::definition::CompositeMode;
use crate::error::FlowError;
use crate::port::{CompletionContext, CompletionHandler, CompletionResult, ConditionStates};

/// Several conditions, checked in order.
///
/// With `any`, conditions after the first that holds are not checked and keep their previous state.
/// With `all`, every condition is checked, so that the state of each is known. A condition that
/// fails ends the check with its error.
pub(super) struct CompositeHandler {
    mode: CompositeMode,
    parts: Vec<Part>,
    last: LastResult,
}

pub(super) struct Part {
    pub(super) name: String,
    pub(super) handler: Box<dyn CompletionHandler>,
}

impl CompositeHandler {
    pub(super) fn new(mode: CompositeMode, parts: Vec<Part>) -> Self {
        Self {
            mode,
            parts,
            last: LastResult::default(),
        }
    }

    /// Returns the reason if all conditions hold.
    fn all(&self) -> Option<String> {
        let mut parts = self.parts.iter();
        let hold = !self.parts.is_empty() && parts.all(|part| part.handler.is_complete());
        hold.then(|| {
            let reasons: Vec<String> = self.parts.iter().map(Part::reason).collect();
            reasons.join("; ")
        })
    }
}

impl Part {
    fn reason(&self) -> String {
        format!("{}: {}", self.name, self.handler.reason())
    }
}

#[async_trait]
impl CompletionHandler for CompositeHandler {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        self.last.reset();
        let mut first = None;
        for part in &mut self.parts {
            part.handler.check(now).await?;
            if self.mode == CompositeMode::Any && part.handler.is_complete() {
                first = Some(part.reason());
                break;
            }
        }
        let reason = match self.mode {
            CompositeMode::Any => first,
            CompositeMode::All => self.all(),
        };
        Ok(self.last.set(reason))
    }

    fn is_complete(&self) -> bool {
        self.last.is_complete()
    }

    fn reason(&self) -> &str {
        self.last.reason()
    }

    fn condition_states(&self) -> ConditionStates {
        let mut states = ConditionStates::new();
        for Part { name, handler } in &self.parts {
            states.insert(name.clone(), handler.is_complete());
            for (inner, holds) in handler.condition_states() {
                states.insert(format!("{name}/{inner}"), holds);
            }
        }
        states
    }
}
