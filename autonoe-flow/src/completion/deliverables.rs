//! The completion condition that deliverables have passed.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::DeliverableStatus;
use autonoe_core::ledger::{Ledger, LedgerStore};

use super::rules::LastResult;
use crate::definition::Deliverables;
use crate::error::{FlowError, FlowErrorKind};
use crate::port::{CompletionContext, CompletionHandler, CompletionResult};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Provides the current ledger. [`LedgerStore`] implements it.
#[async_trait]
pub trait LedgerSource: Send + Sync {
    /// Reads the ledger. Returns `None` if nothing has been saved.
    async fn ledger(&self) -> Result<Option<Ledger>, BoxError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: LedgerSource + ?Sized> LedgerSource for Arc<S> {
    async fn ledger(&self) -> Result<Option<Ledger>, BoxError> {
        (**self).ledger().await
    }
}

#[async_trait]
impl LedgerSource for LedgerStore {
    async fn ledger(&self) -> Result<Option<Ledger>, BoxError> {
        Ok(self.read().await?.map(|state| state.ledger))
    }
}

/// The condition that deliverables have passed.
pub(super) struct DeliverablesPassed {
    wanted: Deliverables,
    source: Arc<dyn LedgerSource>,
    last: LastResult,
}

impl DeliverablesPassed {
    pub(super) fn new(wanted: Deliverables, source: Arc<dyn LedgerSource>) -> Self {
        Self {
            wanted,
            source,
            last: LastResult::default(),
        }
    }
}

#[async_trait]
impl CompletionHandler for DeliverablesPassed {
    async fn check(&mut self, _: &CompletionContext<'_>) -> Result<CompletionResult, FlowError> {
        self.last.reset();
        let ledger = self.source.ledger().await.map_err(|error| {
            let message = "cannot read the ledger";
            FlowError::new(FlowErrorKind::CompletionCheck, message).because(error)
        })?;
        let reason = ledger.and_then(|ledger| passed(&self.wanted, &ledger));
        Ok(self.last.set(reason))
    }

    fn is_complete(&self) -> bool {
        self.last.is_complete()
    }

    fn reason(&self) -> &str {
        self.last.reason()
    }
}

/// Returns which deliverables have passed, if all wanted ones have.
fn passed(wanted: &Deliverables, ledger: &Ledger) -> Option<String> {
    if wanted.ids.is_empty() {
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
    wanted.ids.iter().all(has_passed).then(|| {
        let ids: Vec<String> = wanted.ids.iter().map(ToString::to_string).collect();
        format!("passed: {}", ids.join(", "))
    })
}
