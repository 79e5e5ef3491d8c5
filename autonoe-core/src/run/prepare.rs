//! Checks the backend and takes over the ledger before a run starts.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures::FutureExt;

use super::LedgerHistory;
use super::budget_preflight::{refuse_cost_limit, refuse_token_limit};
use super::driver::RunDriver;
use super::preflight::refuse;
use super::run_context::RunContext;
use super::takeover::{take_over, take_over_resumed};
use crate::agent::{Budget, BudgetKind};
use crate::agent::{Capabilities, SessionSpec};
use crate::event::{Failure, Phase};
use crate::gate::{Gate, Grants};
use crate::ledger::LedgerStore;
use crate::ledger::LedgerView;
use crate::run::ExitReason;
use crate::time::SessionKey;
use crate::tool::Toolbox;

/// The backend's capabilities and the ledger of a run that is ready to start.
pub(crate) struct PreparedRun {
    pub(crate) capabilities: Capabilities,
    pub(crate) store: LedgerStore,
    /// The journal's records of the ledger before this start.
    pub(crate) ledger_history: Option<LedgerHistory>,
}

/// The reason why a run or a flow cannot start.
pub(crate) enum StartError {
    Cancelled,
    TimeBudgetSpent,
    Failed(Failure),
}

impl RunContext {
    /// Checks the backend, then runs `acquire` to take over the work. Returns the reason if the run
    /// or flow cannot start.
    pub(crate) async fn prepare<T>(
        &self,
        budget: &Budget,
        time_left: Option<Duration>,
        acquire: impl Future<Output = Result<T, Failure>>,
    ) -> Result<(Capabilities, T), StartError> {
        let parts = &self.parts;
        let spec = self.planned_session();
        let check = async {
            let capabilities = parts
                .agents
                .probe()
                .await
                .map_err(|error| Failure::from(&error))?;
            refuse(&capabilities, &spec, parts.tool_server.is_some()).map_or(Ok(()), Err)?;
            if budget.cost_usd.is_some() {
                let cost_of = |model: &str| parts.agents.cost_of(model);
                let refusal = refuse_cost_limit(&capabilities, &parts.models, cost_of);
                refusal.map_or(Ok(()), Err)?;
            }
            if budget.tokens.is_some() {
                refuse_token_limit(&capabilities).map_or(Ok(()), Err)?;
            }
            Ok((capabilities, acquire.await?))
        };
        tokio::select! {
            biased;
            () = self.control.cancelled() => Err(StartError::Cancelled),
            found = catch_panic(check) => found.map_err(StartError::Failed),
            () = self.timed_out(time_left) => Err(StartError::TimeBudgetSpent),
        }
    }

    /// Returns a session with every field that sessions of this run set, whatever their
    /// instruction.
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

impl RunDriver {
    /// Checks the backend and takes over the ledger. Returns the exit reason if the run cannot
    /// start.
    pub(crate) async fn prepare(&self) -> Result<(PreparedRun, LedgerView), ExitReason> {
        let parts = &self.context.parts;
        let limits = self.limits();
        if limits.mode != parts.limits.mode {
            let message = format!(
                "a {} cannot be resumed as a {}",
                limits.mode, parts.limits.mode
            );
            let error = Failure::permanent("wrong_mode", message);
            return Err(ExitReason::Failed { error });
        }
        let acquire = async {
            let (repository, clock) = (&self.work.repository, &parts.clock);
            let history = self.context.ledger_history().await?;
            let (repository, clock) = (repository.clone(), clock.clone());
            let (store, ledger) = if self.is_resumed() {
                take_over_resumed(repository, clock).await?
            } else {
                take_over(repository, clock, limits.mode).await?
            };
            Ok((store, ledger, history))
        };
        let prepared = self
            .context
            .prepare(&limits.budget, limits.budget.time, acquire)
            .await;
        match prepared {
            Ok((capabilities, (store, ledger, ledger_history))) => {
                let prepared_run = PreparedRun {
                    capabilities,
                    store: self.context.watch_ledger(store, ledger_history.as_ref()),
                    ledger_history,
                };
                Ok((prepared_run, ledger))
            }
            Err(StartError::Cancelled) => Err(ExitReason::Interrupted),
            Err(StartError::TimeBudgetSpent) => Err(ExitReason::BudgetExceeded {
                budget: BudgetKind::Time,
            }),
            Err(StartError::Failed(error)) => Err(ExitReason::Failed { error }),
        }
    }
}

/// Turns a panic of a plugin into a failure.
pub(crate) async fn catch_panic<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(|_panic| {
            Err(Failure::permanent(
                "plugin_panicked",
                "a component of the run panicked",
            ))
        })
}
