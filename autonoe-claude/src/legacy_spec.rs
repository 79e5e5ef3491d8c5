//! The former type name `claude-code` of the spec.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::BackendProbe;
use autonoe_core::spec::{BackendSpec, SpecContext, SpecError};
use autonoe_core::{AgentClientFactory, Capabilities};
use serde::{Deserialize, Serialize};

use crate::backend_spec::ClaudeSpec;

/// Spec `{"type": "claude-code", ..}`, which is read as `{"type": "claude", ..}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct ClaudeCode(ClaudeSpec);

#[typetag::serde(name = "claude-code")]
#[async_trait]
impl BackendSpec for ClaudeCode {
    fn build(&self, context: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        self.0.build(context)
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        self.0.probe(context).await
    }

    fn claims(&self) -> Option<Capabilities> {
        self.0.claims()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_former_name_is_understood_and_its_mistakes_are_too() {
        for (text, is_fine) in [
            (r#"{"type": "claude-code", "model": "opus"}"#, true),
            (r#"{"type": "claude-code"}"#, true),
            (r#"{"type": "claude-code", "modle": "opus"}"#, false),
        ] {
            let read = serde_json::from_str::<Box<dyn BackendSpec>>(text);
            assert_eq!(read.is_ok(), is_fine, "{text}: {read:?}");
        }
    }
}
