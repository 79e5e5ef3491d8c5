//! Carries out what the run machine asks for.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, future};
use jiff::Timestamp;

use super::control::Command;
use super::journal_observer::JournalObserver;
use super::preflight::{Demands, refuse};
use super::runner::Parts;
use super::takeover::take_over;
use super::{
    Durability, JournalError, JournalLine, RecordedRun, RunAction, RunControl, RunFact, RunMachine,
    SessionPlan,
};
use crate::domain::quota::between;
use crate::domain::{BudgetKind, ExitReason, Failure, LedgerView, RunId, RunReport, SessionResult};
use crate::port::{Capabilities, Delivery, Events, RunEventKind, WaitReason};
use crate::tools::LedgerBook;

/// How often observers are told how long a wait for quota still takes.
const TICK: Duration = Duration::from_secs(1);

/// One run under way.
pub(super) struct Drive {
    pub(super) parts: Arc<Parts>,
    pub(super) control: RunControl,
    pub(super) run: RunId,
    events: Events,
    machine: RunMachine,
    /// For a run that goes on: the fact that its session was lost, if one was under way.
    resumed: Option<Option<RunFact>>,
}

/// What is known once the backend was looked at and the ledger taken over.
pub(super) struct Ground {
    pub(super) capabilities: Capabilities,
    pub(super) book: LedgerBook,
}

impl Drive {
    pub(super) fn new(parts: Arc<Parts>, control: RunControl) -> Self {
        let run = parts.ids.run_id();
        let machine = RunMachine::new(parts.limits.clone());
        Self::of(parts, control, run, machine, None)
    }

    pub(super) fn resuming(parts: Arc<Parts>, control: RunControl, recorded: RecordedRun) -> Self {
        let lost = recorded.lost_session();
        let RecordedRun { run, machine } = recorded;
        Self::of(parts, control, run, machine, Some(lost))
    }

    fn of(
        parts: Arc<Parts>,
        control: RunControl,
        run: RunId,
        machine: RunMachine,
        resumed: Option<Option<RunFact>>,
    ) -> Self {
        let mut observers = parts.observers.clone();
        observers.push(Arc::new(JournalObserver::new(
            parts.journal.clone(),
            run.clone(),
        )));
        let events = Events::new(observers, parts.clock.clone(), parts.ids.clone());
        Self {
            parts,
            control,
            run,
            events,
            machine,
            resumed,
        }
    }

    /// Runs to the end and reports.
    pub(super) async fn run(mut self) -> RunReport {
        let mode = self.machine.limits().mode;
        tracing::info!(run = %self.run, %mode, "run started");
        self.events.emit(RunEventKind::RunStarted {
            run: &self.run,
            mode,
        });
        let started = self.now();
        let exit = match self.prepare().await {
            Ok((ground, ledger)) => {
                let first = self.begin(&ground, started, ledger);
                self.carry_out(&ground, first).await
            }
            Err(exit) => exit,
        };
        tracing::info!(run = %self.run, exit = exit.code(), "run ended");
        if let ExitReason::BudgetExceeded { budget } = exit {
            self.events.emit(RunEventKind::BudgetSpent { budget });
        }
        let mut report = self.machine.report(&self.run, exit, self.now());
        // The machine does not know of a run that could not start.
        report.elapsed = report.elapsed.max(between(started, self.now()));
        let ended = JournalLine::RunEnded {
            report: report.clone(),
        };
        if let Err(error) = self.write_down(&ended, Durability::Synced) {
            tracing::error!(%error, "the end of the run is not in the journal");
        }
        self.events.emit(RunEventKind::RunEnded { report: &report });
        report
    }

    /// Tells the machine that the run begins, or goes on.
    fn begin(&mut self, ground: &Ground, started: Timestamp, ledger: LedgerView) -> RunAction {
        let epoch = ground.book.epoch();
        let limits = self.machine.limits().clone();
        let line = match self.resumed {
            None => JournalLine::RunStarted { limits, epoch },
            Some(_) => JournalLine::RunResumed { epoch },
        };
        if let Err(error) = self.write_down(&line, Durability::Synced) {
            let error = Failure::from(&error);
            return self.machine.apply(RunFact::Failed { error });
        }
        self.catch_up();
        match self.resumed.take().flatten() {
            Some(lost) => self.apply(lost),
            None => match self.machine.action() {
                // It has not begun: it broke off before its first decision, or is new.
                RunAction::Continue => self.apply(RunFact::Started {
                    at: started,
                    ledger,
                }),
                under_way => under_way,
            },
        }
    }

    /// Tells the machine a fact and writes both the fact and the decision down.
    fn apply(&mut self, fact: RunFact) -> RunAction {
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
        match self.write_down(&line, durability) {
            Ok(()) => action,
            Err(error) => {
                let error = Failure::from(&error);
                self.machine.apply(RunFact::Failed { error })
            }
        }
    }

    fn write_down(&self, line: &JournalLine, durability: Durability) -> Result<(), JournalError> {
        let journal = &self.parts.journal;
        journal.append(&self.run, self.now(), line, durability)
    }

    /// Looks at the backend and takes over the ledger; or says why the run cannot start.
    async fn prepare(&self) -> Result<(Ground, LedgerView), ExitReason> {
        let parts = &self.parts;
        let limits = self.machine.limits();
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
            let (book, ledger) = take_over(&parts.repository, &parts.clock, limits.mode).await?;
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

    async fn carry_out(&mut self, ground: &Ground, mut action: RunAction) -> ExitReason {
        loop {
            action = match action {
                RunAction::Finish { exit } => return exit,
                RunAction::StartSession(plan) => self.session(ground, &plan).await,
                RunAction::Wait { reason, until } => self.wait(ground, reason, until).await,
                RunAction::Hold => self.hold(ground).await,
                // Nothing is under way here that could go on or be stopped.
                RunAction::Continue | RunAction::StopSession => {
                    let error = Failure::permanent("internal", "the run came to a stand-still");
                    self.apply(RunFact::Failed { error })
                }
            };
        }
    }

    async fn session(&mut self, ground: &Ground, plan: &SessionPlan) -> RunAction {
        let events = self.events.child();
        tracing::info!(run = %self.run, session = plan.number, instruction = %plan.instruction,
            "session started");
        events.emit(RunEventKind::SessionStarted {
            number: plan.number,
            instruction: &plan.instruction,
            model: self.parts.models.for_phase(plan.instruction.phase()),
        });
        let result = self.perform(ground, plan, &events).await;
        tracing::info!(run = %self.run, session = plan.number, end = ?result.end, "session ended");
        events.emit(RunEventKind::SessionEnded {
            number: plan.number,
            result: &result,
        });
        let ledger = self.look_at_ledger(ground).await;
        self.session_over(plan.number, result, ledger)
    }

    /// Returns the numbers of the ledger now; those that are known when the run was cancelled.
    async fn look_at_ledger(&self, ground: &Ground) -> Result<LedgerView, Failure> {
        let read = async {
            let state = ground.book.read().await;
            let state = state.map_err(|error| Failure::from(&error))?;
            Ok(state.map(|state| state.view()).unwrap_or_default())
        };
        tokio::select! {
            biased;
            ledger = caught(read) => ledger,
            () = self.control.cancelled() => Ok(self.machine.ledger()),
        }
    }

    fn session_over(
        &mut self,
        number: u32,
        result: SessionResult,
        ledger: Result<LedgerView, Failure>,
    ) -> RunAction {
        self.catch_up();
        let at = self.now();
        self.apply(RunFact::SessionEnded {
            at,
            number,
            result,
            ledger,
        })
    }

    async fn wait(&mut self, ground: &Ground, reason: WaitReason, until: Timestamp) -> RunAction {
        self.events
            .emit(RunEventKind::WaitStarted { reason, until });
        let ticks = matches!(reason, WaitReason::Quota | WaitReason::QuotaBackoff);
        let action = loop {
            let remaining = between(self.now(), until);
            if remaining.is_zero() {
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                break self.apply(RunFact::WaitOver { at, ledger });
            }
            if ticks {
                self.events.emit(RunEventKind::WaitTick {
                    reason,
                    until,
                    remaining,
                });
            }
            // The wall clock is read again after each nap: who slept through
            // the wait does not wait twice.
            let nap = self.parts.clock.sleep(remaining.min(TICK));
            let control = self.control.clone();
            tokio::select! {
                biased;
                () = control.cancelled() => break self.apply(RunFact::Cancelled),
                () = self.serve_commands() => {}
                () = nap => {}
            }
        };
        self.events.emit(RunEventKind::WaitEnded { reason });
        action
    }

    /// Takes commands as they come, without an end.
    async fn serve_commands(&mut self) {
        loop {
            let command = self.control.next_command().await;
            // While waiting, no command asks for anything but to go on waiting.
            let _ = self.take(command);
        }
    }

    async fn hold(&mut self, ground: &Ground) -> RunAction {
        self.events.emit(RunEventKind::Paused);
        let control = self.control.clone();
        loop {
            let command = tokio::select! {
                biased;
                () = control.cancelled() => return self.apply(RunFact::Cancelled),
                command = control.next_command() => command,
            };
            if command == Command::Resume {
                self.events.emit(RunEventKind::Resumed);
                let ledger = self.look_at_ledger(ground).await;
                self.catch_up();
                let at = self.now();
                return self.apply(RunFact::ResumeRequested { at, ledger });
            }
            let _ = self.take(command);
        }
    }

    /// Tells the machine what persons have asked for since it was last told.
    fn catch_up(&mut self) {
        while let Some(command) = self.control.waiting_command() {
            let _ = self.take(command);
        }
        if self.control.is_cancelled() {
            let _ = self.apply(RunFact::Cancelled);
        }
    }

    pub(super) fn take(&mut self, command: Command) -> RunAction {
        let fact = match command {
            Command::Pause => RunFact::PauseRequested,
            // Only a hold waits for this, and it looks at the ledger itself.
            Command::Resume => RunFact::ResumeRequested {
                at: self.now(),
                ledger: Ok(self.machine.ledger()),
            },
            Command::Instruct(text) => {
                let delivery = Delivery::Queued;
                self.events.emit(RunEventKind::Instructed {
                    text: &text,
                    delivery,
                });
                RunFact::Instructed { text }
            }
        };
        self.apply(fact)
    }

    /// Takes notice of a message that the running session took, or did not.
    pub(super) fn steered(&mut self, text: String, delivered: bool) {
        if !delivered {
            let _ = self.take(Command::Instruct(text));
            return;
        }
        let delivery = Delivery::Steered;
        self.events.emit(RunEventKind::Instructed {
            text: &text,
            delivery,
        });
        let _ = self.apply(RunFact::Steered { text });
    }

    fn now(&self) -> Timestamp {
        self.parts.clock.now()
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
