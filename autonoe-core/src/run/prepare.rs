//! Looks at what a run stands on before it begins.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;

use super::LedgerHistory;
use super::drive::Drive;
use super::preflight::refuse;
use super::setting::Setting;
use super::takeover::{take_over, take_over_again};
use super::uncounted::{refuse_money_limit, refuse_token_limit};
use crate::domain::{Budget, BudgetKind, ExitReason, Failure, LedgerView, Phase, SessionKey};
use crate::port::{Capabilities, Gate, Grants, SessionSpec, Toolbox};
use crate::tools::LedgerBook;

/// What is known once the backend was looked at and the ledger taken over.
pub(super) struct Ground {
    pub(super) capabilities: Capabilities,
    pub(super) book: LedgerBook,
    /// What the journal recorded of the ledger before this start.
    pub(super) ledger_history: Option<LedgerHistory>,
}

/// Why nothing can begin.
pub(super) enum NotReady {
    Cancelled,
    TimeIsUp,
    Failed(Failure),
}

impl Setting {
    /// Looks at the backend, then takes hold of what is to be worked on; or says why nothing can
    /// begin.
    pub(super) async fn prepare<T>(
        &self,
        budget: &Budget,
        time_left: Option<Duration>,
        take_hold: impl Future<Output = Result<T, Failure>>,
    ) -> Result<(Capabilities, T), NotReady> {
        let parts = &self.parts;
        let spec = self.planned_session();
        let look = async {
            let capabilities = parts
                .agents
                .probe()
                .await
                .map_err(|error| Failure::from(&error))?;
            refuse(&capabilities, &spec, parts.tool_server.is_some()).map_or(Ok(()), Err)?;
            if budget.cost_usd.is_some() {
                let cost_of = |model: &str| parts.agents.cost_of(model);
                let refusal = refuse_money_limit(&capabilities, &parts.models, cost_of);
                refusal.map_or(Ok(()), Err)?;
            }
            if budget.tokens.is_some() {
                refuse_token_limit(&capabilities).map_or(Ok(()), Err)?;
            }
            Ok((capabilities, take_hold.await?))
        };
        tokio::select! {
            biased;
            () = self.control.cancelled() => Err(NotReady::Cancelled),
            found = caught(look) => found.map_err(NotReady::Failed),
            () = self.time_is_up(time_left) => Err(NotReady::TimeIsUp),
        }
    }

    /// Returns a session with every field that sessions of this run set, whatever their instruction.
    fn planned_session(&self) -> SessionSpec {
        let parts = &self.parts;
        let key = SessionKey {
            run: self.run.clone(),
            number: 0,
        };
        let gate = Gate::new(parts.project_paths.clone(), Grants::none());
        let mut spec = parts.session_spec(key, gate, Toolbox::new([]));
        spec.model = parts.models.for_phase(Phase::Planning).map(str::to_owned);
        let optional = &self.optional_servers;
        spec.mcp_servers.retain(|name, _| !optional.contains(name));
        spec
    }
}

impl Drive {
    /// Looks at the backend and takes over the ledger; or says why the run cannot start.
    pub(super) async fn prepare(&self) -> Result<(Ground, LedgerView), ExitReason> {
        let parts = &self.setting.parts;
        let limits = self.limits();
        if limits.mode != parts.limits.mode {
            let message = format!(
                "a {} cannot be resumed as a {}",
                limits.mode, parts.limits.mode
            );
            let error = Failure::permanent("wrong_mode", message);
            return Err(ExitReason::Failed { error });
        }
        let take_hold = async {
            let (repository, clock) = (&self.work.repository, &parts.clock);
            let history = self.setting.ledger_history().await?;
            let (repository, clock) = (repository.clone(), clock.clone());
            let (book, ledger) = if self.goes_on() {
                take_over_again(repository, clock).await?
            } else {
                take_over(repository, clock, limits.mode).await?
            };
            Ok((book, ledger, history))
        };
        let prepared = self
            .setting
            .prepare(&limits.budget, limits.budget.time, take_hold)
            .await;
        match prepared {
            Ok((capabilities, (book, ledger, ledger_history))) => {
                let ground = Ground {
                    capabilities,
                    book: self.setting.watch_ledger(book, ledger_history.as_ref()),
                    ledger_history,
                };
                Ok((ground, ledger))
            }
            Err(NotReady::Cancelled) => Err(ExitReason::Interrupted),
            Err(NotReady::TimeIsUp) => Err(ExitReason::BudgetExceeded {
                budget: BudgetKind::Time,
            }),
            Err(NotReady::Failed(error)) => Err(ExitReason::Failed { error }),
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
