//! Looks at what a run stands on before it begins.

use std::panic::AssertUnwindSafe;

use futures::{FutureExt, future};

use super::drive::Drive;
use super::preflight::{Demands, refuse};
use super::takeover::{take_over, take_over_again};
use crate::domain::{BudgetKind, ExitReason, Failure, LedgerView};
use crate::port::Capabilities;
use crate::tools::LedgerBook;

/// What is known once the backend was looked at and the ledger taken over.
pub(super) struct Ground {
    pub(super) capabilities: Capabilities,
    pub(super) book: LedgerBook,
}

impl Drive {
    /// Looks at the backend and takes over the ledger; or says why the run cannot start.
    pub(super) async fn prepare(&self) -> Result<(Ground, LedgerView), ExitReason> {
        let parts = &self.parts;
        let limits = self.limits();
        if limits.mode != parts.limits.mode {
            let message = format!(
                "a {} cannot be resumed as a {}",
                limits.mode, parts.limits.mode
            );
            let error = Failure::permanent("wrong_mode", message);
            return Err(ExitReason::Failed { error });
        }
        let demands = Demands {
            sandbox: parts.sandbox,
            has_outer_sandbox: parts.outer_sandbox.is_some(),
            has_tool_server: parts.tool_server.is_some(),
            limits_money: limits.budget.cost_usd.is_some(),
        };
        let look = async {
            let capabilities = parts
                .agents
                .probe()
                .await
                .map_err(|error| Failure::from(&error))?;
            if let Some(refusal) = refuse(&capabilities, demands) {
                return Err(refusal);
            }
            let (repository, clock) = (&parts.repository, &parts.clock);
            let (book, ledger) = if self.goes_on() {
                take_over_again(repository, clock).await?
            } else {
                take_over(repository, clock, limits.mode).await?
            };
            Ok((Ground { capabilities, book }, ledger))
        };
        let time_is_up = async {
            match limits.budget.time {
                Some(time) => parts.clock.sleep(time).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.control.cancelled() => Err(ExitReason::Interrupted),
            found = caught(look) => found.map_err(|error| ExitReason::Failed { error }),
            () = time_is_up => Err(ExitReason::BudgetExceeded { budget: BudgetKind::Time }),
        }
    }
}

/// Turns a panic of a plugin into a failure.
pub(super) async fn caught<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(|_panic| {
            Err(Failure::permanent(
                "plugin_panicked",
                "a part that was plugged into the run panicked",
            ))
        })
}
