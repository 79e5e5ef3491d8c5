//! Several conditions, of which one or all must hold.

use async_trait::async_trait;

use super::rules::Reached;
use crate::definition::CompositeMode;
use crate::error::FlowError;
use crate::port::{CompletionContext, CompletionHandler, CompletionResult, ConditionStates};

/// Several conditions, asked in their order.
///
/// With `any`, what comes after the first that holds is not asked, and keeps the state that
/// it had. With `all`, every one is asked, so that the state of each is known. A condition
/// that cannot tell ends the check with its error.
pub(super) struct Several {
    mode: CompositeMode,
    parts: Vec<Part>,
    last: Reached,
}

pub(super) struct Part {
    pub(super) name: String,
    pub(super) handler: Box<dyn CompletionHandler>,
}

impl Several {
    pub(super) fn new(mode: CompositeMode, parts: Vec<Part>) -> Self {
        Self {
            mode,
            parts,
            last: Reached::default(),
        }
    }

    /// Says why all hold, if they do.
    fn all(&self) -> Option<String> {
        let mut parts = self.parts.iter();
        let hold = !self.parts.is_empty() && parts.all(|part| part.handler.is_complete());
        hold.then(|| {
            let told: Vec<String> = self.parts.iter().map(Part::told).collect();
            told.join("; ")
        })
    }
}

impl Part {
    fn told(&self) -> String {
        format!("{}: {}", self.name, self.handler.reason())
    }
}

#[async_trait]
impl CompletionHandler for Several {
    async fn check(&mut self, now: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        self.last.forget();
        let mut first = None;
        for part in &mut self.parts {
            part.handler.check(now).await?;
            if self.mode == CompositeMode::Any && part.handler.is_complete() {
                first = Some(part.told());
                break;
            }
        }
        let reason = match self.mode {
            CompositeMode::Any => first,
            CompositeMode::All => self.all(),
        };
        Ok(self.last.found(reason))
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
