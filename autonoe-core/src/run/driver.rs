//! [`RunDriver`], the driver that performs the actions of a [`RunMachine`].

use std::sync::Arc;

use futures::{FutureExt, future};
use jiff::Timestamp;

use super::budget_watch::BudgetWatch;
use super::prepare::{PreparedRun, catch_panic};
use super::run_context::RunContext;
use super::runner::{RunInputs, SessionRunner};
use super::session_task::{SessionOverrides, SessionResources, SessionTask};
use super::{
    Durability, JournalLine, LimitOverrides, RunAction, RunControl, RunFact, RunLimits, RunMachine,
    SessionPlan,
};
use crate::agent::SessionReport;
use crate::event::RunEventKind;
use crate::event::{Failure, InstructionName};
use crate::ledger::LedgerView;
use crate::run::InstructionSource;
use crate::run::{ExitReason, RunReport};
use crate::time::RunId;
use crate::time::timestamp::between;

const LEDGER_MISSING: &str =
    "the ledger was removed while the run was in progress; put it back and start again";

/// A run in progress.
pub(crate) struct RunDriver {
    pub(crate) context: RunContext,
    pub(crate) work: RunInputs,
    pub(crate) machine: RunMachine,
    start_mode: RunStartMode,
    budget_watch: BudgetWatch,
}

/// The way a run starts in this process.
pub(super) enum RunStartMode {
    New,
    /// The run was interrupted; `overrides` are the limits of this start.
    Resumed {
        overrides: LimitOverrides,
    },
}

impl RunDriver {
    pub(super) fn new(
        runner: &SessionRunner,
        control: &RunControl,
        run: RunId,
        machine: RunMachine,
        start_mode: RunStartMode,
    ) -> Self {
        Self {
            context: RunContext::new(runner.parts.clone(), control.clone(), run),
            work: runner.work.clone(),
            machine,
            start_mode,
            budget_watch: BudgetWatch::default(),
        }
    }

    /// Runs to the end and returns the report.
    pub(crate) async fn run(mut self) -> RunReport {
        let mode = self.machine.limits().mode;
        tracing::info!(run = %self.context.run, %mode, "run started");
        self.context.events.emit(RunEventKind::RunStarted {
            run: &self.context.run,
            mode,
        });
        let started = self.now();
        let prepared = self.prepare().await;
        let could_start = prepared.is_ok();
        let exit = match prepared {
            Ok((prepared_run, ledger)) => {
                let first = self.begin(&prepared_run, started, ledger).await;
                self.perform_actions(&prepared_run, first).await
            }
            Err(exit) => exit,
        };
        tracing::info!(run = %self.context.run, exit = exit.code(), "run ended");
        if let ExitReason::BudgetExceeded { budget } = exit {
            self.context
                .events
                .emit(RunEventKind::BudgetSpent { budget });
        }
        let mut report = self.machine.report(&self.context.run, exit, self.now());
        // The machine has no start time for a run that could not start.
        report.elapsed = report.elapsed.max(between(started, self.now()));
        if could_start {
            self.record_end(&report);
        }
        self.context
            .events
            .emit(RunEventKind::RunEnded { report: &report });
        report
    }

    /// Records the end. A run that could not start or resume is not recorded: it can be tried
    /// again.
    fn record_end(&self, report: &RunReport) {
        let ended = JournalLine::RunEnded {
            report: report.clone(),
        };
        if let Err(error) = self.context.record(&ended, Durability::Synced) {
            self.context.warn(&format!(
                "the end of the run is not in the journal: {}",
                Failure::from(&error)
            ));
        }
    }

    /// Records the start or resumption of the run and returns its first action.
    async fn begin(
        &mut self,
        prepared_run: &PreparedRun,
        started: Timestamp,
        ledger: LedgerView,
    ) -> RunAction {
        let epoch = prepared_run.store.epoch();
        let limits = self.machine.limits().clone();
        let line = match self.start_mode {
            RunStartMode::New => JournalLine::RunStarted { limits, epoch },
            RunStartMode::Resumed { .. } => JournalLine::RunResumed { epoch },
        };
        let written = self.context.record(&line, Durability::Synced);
        let PreparedRun {
            store,
            ledger_history,
            ..
        } = prepared_run;
        let recorded = match written {
            Ok(()) => {
                let history = ledger_history.as_ref();
                self.context.record_found_ledger(store, history).await
            }
            failed => failed,
        };
        if let Err(error) = recorded {
            let error = Failure::from(&error);
            return self.machine.apply(RunFact::Failed { error });
        }
        if let RunStartMode::Resumed { overrides } = &self.start_mode
            && let Some(fact) = overrides.as_fact(self.machine.limits(), started, ledger)
            && let end @ RunAction::Finish { .. } = self.apply(fact)
        {
            return end;
        }
        if self.is_resumed() {
            let (budget, spent) = (self.machine.limits().budget, self.machine.spent(started));
            self.budget_watch = BudgetWatch::resumed(&budget, &spent);
        }
        if self.is_resumed()
            && let Some(number) = self.machine.running_session()
        {
            return self.apply(RunFact::SessionLost { number });
        }
        match self.machine.action() {
            // The run has not started yet: it is new, or was interrupted before its first decision.
            RunAction::Continue => {
                self.apply_requests();
                self.apply(RunFact::Started {
                    at: started,
                    ledger,
                })
            }
            under_way => under_way,
        }
    }

    /// Applies a fact to the machine and records both the fact and the decision.
    pub(crate) fn apply(&mut self, fact: RunFact) -> RunAction {
        let action = self.machine.apply(fact.clone());
        let decisive = matches!(fact, RunFact::SessionEnded { .. })
            || matches!(action, RunAction::Finish { .. });
        let durability = if decisive {
            Durability::Synced
        } else {
            Durability::Written
        };
        let line = JournalLine::Fact {
            fact,
            action: action.clone(),
        };
        match self.context.record(&line, durability) {
            Ok(()) => action,
            Err(error) => {
                let error = Failure::from(&error);
                self.machine.apply(RunFact::Failed { error })
            }
        }
    }

    async fn perform_actions(
        &mut self,
        prepared_run: &PreparedRun,
        mut action: RunAction,
    ) -> ExitReason {
        loop {
            action = match action {
                RunAction::Finish { exit } => return exit,
                RunAction::StartSession(plan) => self.session(prepared_run, plan).await,
                RunAction::Wait { reason, until } => self.wait(prepared_run, reason, until).await,
                RunAction::Hold => self.hold(prepared_run).await,
                // No session is running that could continue or be stopped.
                RunAction::Continue | RunAction::StopSession => {
                    let error = Failure::permanent(
                        "internal",
                        "the state machine requested an action that needs a running session, \
                         but no session is running; please report this bug",
                    );
                    self.apply(RunFact::Failed { error })
                }
            };
        }
    }

    async fn session(&mut self, prepared_run: &PreparedRun, mut plan: SessionPlan) -> RunAction {
        let context = self.context.clone();
        let instructions = self.work.instructions.clone();
        let selection = self.select_instruction(&plan).await;
        if let Ok(selected) = &selection
            && *selected != plan.instruction
        {
            let fact = RunFact::InstructionSelected {
                number: plan.number,
                instruction: selected.clone(),
            };
            if let end @ RunAction::Finish { .. } = self.apply(fact) {
                return end;
            }
            plan.instruction = selected.clone();
        }
        // A failed selection fails the session, so that observers receive its start and its end.
        let prompt = match selection {
            Ok(_) => resolve_text(instructions, &plan.instruction).boxed(),
            Err(error) => future::ready(Err(error)).boxed(),
        };
        let task = SessionTask {
            number: plan.number,
            instruction: &plan.instruction,
            prompt,
            messages: &plan.messages,
            ledger_tools: Some(&plan.instruction),
            budget: plan.budget,
            deadline: plan.deadline,
            overrides: &SessionOverrides::default(),
        };
        let resources = SessionResources {
            capabilities: &prepared_run.capabilities,
            store: Some(&prepared_run.store),
        };
        let ended = context.session(resources, task, self, &mut |_| {}).await;
        let ledger = self.read_ledger_view(prepared_run).await;
        let flaw = self
            .machine
            .normal_end_failure(plan.number, &ended.result, &ledger);
        let result = ended.emit(flaw);
        self.session_over(plan.number, result, ledger)
    }

    /// Calls the selector for the instruction of a session. Returns the planned instruction if the
    /// run is cancelled or out of time meanwhile: such a session ends before its agent starts.
    async fn select_instruction(&self, plan: &SessionPlan) -> Result<InstructionName, Failure> {
        let context = self.machine.selection_context(plan.number);
        let selection = async {
            let selected = self.work.instruction_selector.select(&context).await;
            selected.map_err(|error| Failure::from(&error))
        };
        tokio::select! {
            biased;
            () = self.context.control.cancelled() => Ok(plan.instruction.clone()),
            () = self.context.timed_out(plan.budget_at(self.now()).time) => {
                Ok(plan.instruction.clone())
            }
            selected = catch_panic(selection) => selected,
        }
    }

    /// Returns the current counts of the ledger. If the run is cancelled and the ledger does not
    /// answer in time, returns the last known counts.
    pub(crate) async fn read_ledger_view(
        &self,
        prepared_run: &PreparedRun,
    ) -> Result<LedgerView, Failure> {
        let read = async {
            let found = prepared_run.store.read().await;
            let state = found.map_err(|error| Failure::from(&error))?;
            // A run always starts with a ledger, even if an empty one. Continuing without one would
            // start over.
            let removed = || Failure::permanent("ledger_missing", LEDGER_MISSING);
            state.map(|state| state.view()).ok_or_else(removed)
        };
        tokio::select! {
            biased;
            ledger = catch_panic(read) => ledger,
            () = self.context.cancel_grace_period() => Ok(self.machine.ledger()),
        }
    }

    fn session_over(
        &mut self,
        number: u32,
        result: SessionReport,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        self.apply_requests();
        let at = self.now();
        let action = self.apply(RunFact::SessionEnded {
            at,
            number,
            result,
            ledger,
        });
        self.check_budget(&action);
        action
    }

    /// Reports the parts of the budget that are nearly spent, unless `next` ends the run.
    pub(crate) fn check_budget(&mut self, next: &RunAction) {
        if matches!(next, RunAction::Finish { .. }) {
            return;
        }
        let (budget, spent) = (self.machine.limits().budget, self.machine.spent(self.now()));
        self.budget_watch
            .check(&budget, &spent, &self.context.events);
    }

    /// Returns the limits that apply from now on.
    pub(crate) fn limits(&self) -> RunLimits {
        let limits = self.machine.limits();
        match &self.start_mode {
            RunStartMode::New => limits.clone(),
            RunStartMode::Resumed { overrides } => overrides.apply_to(limits),
        }
    }

    /// Returns whether this is a resumed run.
    pub(crate) fn is_resumed(&self) -> bool {
        matches!(self.start_mode, RunStartMode::Resumed { .. })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.context.now()
    }
}

/// Returns the text of an instruction.
async fn resolve_text(
    instructions: Arc<dyn InstructionSource>,
    name: &InstructionName,
) -> Result<String, Failure> {
    let text = instructions.resolve(name).await;
    text.map_err(|error| Failure::from(&error))
}
