//! [`Deliverables`], the completion condition that is met when deliverables of the ledger have passed.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::DeliverableStatus;
use autonoe_core::ledger::{DeliverableId, Ledger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CompletionKind, CompletionNeeds, Mistake, Unreachable};
use crate::completion::dependencies::unresolved;
use crate::completion::{
    CompletionContext, CompletionDependencies, CompletionHandler, CompletionResult, LedgerSource,
};
use crate::error::{FlowError, FlowErrorKind};
use crate::walk::Formula;

/// Complete when the deliverables of the ledger have passed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deliverables {
    /// The ids of the required deliverables. By default they are all achievable ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<DeliverableId>,
}

impl CompletionKind for Deliverables {
    fn build(
        &self,
        needed: &CompletionDependencies,
    ) -> Result<Box<dyn CompletionHandler>, FlowError> {
        let source = needed
            .ledger
            .clone()
            .ok_or_else(|| unresolved("the project has no ledger of deliverables"))?;
        Ok(Box::new(DeliverablesPassed {
            required: self.clone(),
            source,
        }))
    }

    fn mistakes(&self) -> Vec<Mistake> {
        Vec::new()
    }

    fn formula(&self) -> Formula {
        Formula::Free
    }

    fn unreachable(&self) -> Option<Unreachable> {
        None
    }

    fn needs(&self) -> CompletionNeeds {
        CompletionNeeds {
            reads_ledger: true,
            ..CompletionNeeds::default()
        }
    }
}

/// The condition that deliverables have passed.
struct DeliverablesPassed {
    required: Deliverables,
    source: Arc<dyn LedgerSource>,
}

#[async_trait]
impl CompletionHandler for DeliverablesPassed {
    async fn check(&mut self, _: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        let ledger = self.source.ledger().await.map_err(|error| {
            let message = "cannot read the ledger";
            FlowError::new(FlowErrorKind::CompletionCheck, message).with_cause(error)
        })?;
        let reason = ledger.and_then(|ledger| passed(&self.required, &ledger));
        Ok(reason.into())
    }
}

/// Returns which deliverables have passed, if all required ones have.
fn passed(required: &Deliverables, ledger: &Ledger) -> Option<String> {
    if required.ids.is_empty() {
        let counts = ledger.counts();
        return counts.all_achievable_passed().then(|| {
            format!(
                "{} of {} deliverables have passed, and the others cannot pass",
                counts.passed, counts.total
            )
        });
    }
    // An inactive deliverable has not passed.
    let has_passed = |id| {
        let known = ledger.get(id);
        known.is_some_and(|it| it.is_active() && it.status() == DeliverableStatus::Passed)
    };
    required.ids.iter().all(has_passed).then(|| {
        let ids: Vec<String> = required.ids.iter().map(ToString::to_string).collect();
        format!("passed: {}", ids.join(", "))
    })
}
