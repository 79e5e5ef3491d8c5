//! Checks the backend and takes over the ledger before a run starts.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use jiff::tz::TimeZone;

use super::LedgerHistory;
use super::driver::RunDriver;
use super::preflight::{refuse, refuse_cost_limit, refuse_token_limit};
use super::run_context::RunContext;
use crate::agent::{Budget, BudgetKind, Capabilities, SessionSpec};
use crate::event::{Failure, Phase};
use crate::gate::{Gate, Grants};
use crate::ledger::{
    DeliverableRepository, Fence, LedgerState, LedgerStore, LedgerView, RepositoryError,
    RepositoryErrorKind, Snapshot,
};
use crate::run::ExitReason;
use crate::time::{Clock, Epoch, Mode, SessionKey};
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
            refuse(&capabilities, &spec, parts.settings.tool_server.is_some())
                .map_or(Ok(()), Err)?;
            if budget.cost_usd.is_some() {
                let cost_of = |model: &str| parts.agents.cost_of(model);
                let refusal = refuse_cost_limit(&capabilities, &parts.settings.models, cost_of);
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
        let gate = Gate::new(parts.settings.project_paths.clone(), Grants::none());
        let mut spec = parts.settings.session_spec(key, gate, Toolbox::new([]));
        spec.model = parts
            .settings
            .models
            .for_phase(Phase::Planning)
            .map(str::to_owned);
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
        if limits.mode != parts.settings.limits.mode {
            let message = format!(
                "a {} cannot be resumed as a {}",
                limits.mode, parts.settings.limits.mode
            );
            let error = Failure::permanent("wrong_mode", message);
            return Err(ExitReason::Failed { error });
        }
        let acquire = async {
            let (repository, clock) = (&self.work.repository, &parts.settings.clock);
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

/// The maximum number of tries. Another writer may save between our load and our save, but not this
/// often in a row.
const TRIES: usize = 32;

/// Raises the epoch of the ledger, which fences off all earlier writers.
///
/// Returns the ledger to write to and its counts. A project without a ledger gets an empty one,
/// because an epoch that is not stored fences nobody off. The same write discards obsolete
/// verification progress: before a run, which changes the code, and after a finished sync. For a
/// resumed run, call [`take_over_resumed`].
///
/// [`SessionRunner`](crate::SessionRunner) calls it itself; call it to drive a
/// [`RunMachine`](crate::run::RunMachine) in another way.
///
/// # Errors
///
/// The ledger cannot be read or written, or its epoch cannot be raised any further.
pub async fn take_over(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
    mode: Mode,
) -> Result<(LedgerStore, LedgerView), Failure> {
    raise_epoch(repository, clock, None, MissingLedger::Create, Some(mode)).await
}

/// The reaction of a takeover to a missing ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingLedger {
    /// Creates an empty one.
    Create,
    /// Fails: the caller has seen a ledger.
    Fail,
}

/// Raises the epoch of the ledger as [`take_over`] does, for a resumed run.
///
/// It keeps the run's verification progress, even if it is complete: a sync that was killed in its
/// last session has nothing left to verify.
///
/// # Errors
///
/// The ledger cannot be read or written, or its epoch cannot be raised any further.
pub async fn take_over_resumed(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
) -> Result<(LedgerStore, LedgerView), Failure> {
    raise_epoch(repository, clock, None, MissingLedger::Create, None).await
}

/// Discards the verification progress that is obsolete when a run of `mode` starts.
fn discard_verification(state: &mut LedgerState, mode: Mode) {
    match mode {
        Mode::Run => state.verification.clear(),
        Mode::Sync => {
            state.verification.reset_if_finished(&state.ledger);
        }
    }
}

/// Takes over the ledger as [`take_over`] does for a `new_run` of that mode, and as
/// [`take_over_resumed`] does without one.
///
/// The caller may have `chosen` the epoch. A run that already holds the ledger under that epoch
/// keeps it.
pub(crate) async fn raise_epoch(
    repository: impl DeliverableRepository + 'static,
    clock: impl Clock + 'static,
    chosen: Option<Epoch>,
    missing: MissingLedger,
    new_run: Option<Mode>,
) -> Result<(LedgerStore, LedgerView), Failure> {
    let fail = |error: &RepositoryError| Failure::from(error);
    let mut tries = 1;
    loop {
        let snapshot = repository.load().await.map_err(|error| fail(&error))?;
        if snapshot.is_none() && missing == MissingLedger::Fail {
            let message = "the ledger was removed during the takeover; put it back and try again";
            let error = RepositoryError::new(RepositoryErrorKind::Missing, message);
            return Err(fail(&error));
        }
        let epoch = match (&snapshot, chosen) {
            (Some(Snapshot { epoch, .. }), Some(chosen)) if *epoch > chosen => {
                let message = "another run has taken over the ledger";
                let error = RepositoryError::new(RepositoryErrorKind::Fenced, message);
                return Err(fail(&error));
            }
            (_, Some(chosen)) => chosen,
            (Some(snapshot), None) => snapshot.next_epoch().map_err(|error| fail(&error))?,
            (None, None) => Epoch(1),
        };
        let base = snapshot.as_ref().map(|snapshot| snapshot.revision.clone());
        let mut state = match snapshot {
            Some(snapshot) => snapshot.state,
            None => LedgerState::new(clock.now().to_zoned(TimeZone::UTC).date()),
        };
        if let Some(mode) = new_run {
            discard_verification(&mut state, mode);
        }
        match repository.save(&state, Fence { base, epoch }).await {
            Ok(revision) => {
                let view = state.view();
                let last = Snapshot {
                    state,
                    revision,
                    epoch,
                };
                let store = LedgerStore::open_owned(Arc::new(repository), Arc::new(clock), last);
                return Ok((store, view));
            }
            Err(error) if error.kind() == RepositoryErrorKind::Conflict && tries < TRIES => {
                tries += 1;
                tokio::task::yield_now().await;
            }
            Err(error) => return Err(fail(&error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::MemoryRepository;
    use crate::time::SystemClock;

    #[test]
    fn a_missing_ledger_is_created_only_on_request() {
        let repository = Arc::new(MemoryRepository::new());
        let take_over = |missing| {
            let epoch = Some(Epoch(1));
            let taking = raise_epoch(repository.clone(), SystemClock, epoch, missing, None);
            futures::executor::block_on(taking).map(|(store, _)| store.epoch())
        };

        let refused = take_over(MissingLedger::Fail).expect_err("there is none");
        let found = futures::executor::block_on(repository.load());
        let created = take_over(MissingLedger::Create);

        assert_eq!(refused.code, "ledger_missing");
        assert_eq!(found.expect("readable"), None);
        assert_eq!(created, Ok(Epoch(1)));
    }
}
